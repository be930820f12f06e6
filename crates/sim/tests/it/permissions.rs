//! Who may do what, as bots meet it.

use guildhall_sim::Scenario;
use serde_json::{Value, json};

use crate::harness::Hall;

async fn deny(hall: &Hall, channel: &str, deny: &[&str]) {
    let wish = json!({ "channel": channel, "target": "Seat", "deny": deny });
    hall.control("POST", "/overwrites", wish).await;
}

#[tokio::test]
async fn a_hidden_channel_is_no_access_and_a_visible_one_without_the_right_is_no_permission() {
    let hall = Hall::open().await;
    let (mut gateway, _) = hall.login().await;
    let general = hall.channel("general");
    deny(&hall, "general", &["SEND_MESSAGES"]).await;
    let text = json!({ "content": "x" });
    assert_eq!(
        hall.post("general", text.clone()).await.refusal(),
        (403, 50013)
    );
    let typing = hall
        .bot("POST", &format!("/channels/{general}/typing"), None)
        .await;
    assert_eq!(typing.refusal(), (403, 50013));

    deny(&hall, "general", &["VIEW_CHANNEL"]).await;
    assert_eq!(hall.post("general", text).await.refusal(), (403, 50001));
    assert_eq!(
        hall.get(&format!("/channels/{general}")).await.refusal(),
        (403, 50001)
    );
    gateway.drain().await;
    hall.say("general", "Ana", "unheard").await;
    assert_eq!(
        gateway.drain().await,
        Vec::<Value>::new(),
        "no event of a hidden channel"
    );
}

#[tokio::test]
async fn without_the_right_to_read_history_is_empty_and_a_reply_is_refused() {
    let hall = Hall::open().await;
    let said = hall.say("general", "Ana", "hello").await;
    deny(&hall, "general", &["READ_MESSAGE_HISTORY"]).await;
    let general = hall.channel("general");
    let list = hall.get(&format!("/channels/{general}/messages")).await;
    assert_eq!((list.status, list.json()), (200, json!([])));
    let body = json!({ "content": "re", "message_reference": { "message_id": said["id"] } });
    assert_eq!(hall.post("general", body).await.refusal(), (403, 160002));
}

#[tokio::test]
async fn a_thread_takes_its_parents_rights_with_its_own_right_to_write() {
    let hall = Hall::open().await;
    let text = json!({ "content": "x" });
    deny(&hall, "general", &["SEND_MESSAGES"]).await;
    assert_eq!(hall.post("release notes", text.clone()).await.status, 200);
    deny(&hall, "general", &["SEND_MESSAGES_IN_THREADS"]).await;
    assert_eq!(
        hall.post("release notes", text.clone()).await.refusal(),
        (403, 50013)
    );
    assert_eq!(hall.post("general", text).await.status, 200);
}

#[tokio::test]
async fn a_timed_out_member_keeps_only_seeing_and_reading() {
    let hall = Hall::frozen(Scenario::for_tests()).await;
    let wish = json!({ "user": "Seat", "timeout_ms": 60_000 });
    hall.control("POST", "/members", wish).await;
    let text = json!({ "content": "x" });
    assert_eq!(
        hall.post("general", text.clone()).await.refusal(),
        (403, 50013)
    );
    let general = hall.channel("general");
    assert_eq!(
        hall.get(&format!("/channels/{general}/messages"))
            .await
            .status,
        200
    );
    hall.advance(60_000).await;
    assert_eq!(hall.post("general", text).await.status, 200);
}

#[tokio::test]
async fn people_are_held_to_their_rights_unless_a_test_forces_it() {
    let hall = Hall::open().await;
    let wish = |force: bool| json!({ "channel": "operators", "author": "Eve", "content": "x", "force": force });
    let refused = hall.try_control("POST", "/messages", wish(false)).await;
    assert_eq!(refused.refusal(), (403, 50001));
    assert_eq!(
        hall.try_control("POST", "/messages", wish(true))
            .await
            .status,
        200
    );
}

#[tokio::test]
async fn requests_without_a_known_token_are_unauthorized() {
    let hall = Hall::open().await;
    let token = hall.sim.token();
    let cases = [
        None,
        Some("Bot nobody".to_owned()),
        Some(token.clone()),
        Some(format!("Bearer {token}")),
    ];
    for authorization in cases {
        let mut request = hyper::Request::get(format!("{}/api/v10/users/@me", hall.sim.origin()));
        if let Some(value) = &authorization {
            request = request.header("authorization", value);
        }
        let request = request.body(Default::default()).expect("a request");
        let answer = hall.request(request).await.expect("an answer");
        assert_eq!(answer.refusal(), (401, 0), "{authorization:?}");
    }
}

#[tokio::test]
async fn every_spelling_of_the_base_path_works() {
    let hall = Hall::open().await;
    for base in ["/api/v10", "/api/v9", "/api"] {
        let request = hyper::Request::get(format!("{}{base}/gateway", hall.sim.origin()))
            .body(Default::default())
            .expect("a request");
        assert_eq!(
            hall.request(request).await.expect("an answer").status,
            200,
            "{base}"
        );
    }
}
