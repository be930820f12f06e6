//! Sessions that are dropped, resumed, or gone.

use guildhall_sim::{Rules, Scenario};
use serde_json::{Value, json};

use crate::harness::{Hall, Heard};

/// Op 9 with what it says.
fn invalid(frame: &Value) -> Value {
    assert_eq!(frame["op"], 9, "{frame}");
    frame["d"].clone()
}

#[tokio::test]
async fn a_dropped_session_replays_what_was_missed_in_order() {
    let hall = Hall::open().await;
    let (mut gateway, ready) = hall.login().await;
    hall.say("general", "Ana", "heard").await;
    let heard = gateway.next().await;
    let seq = heard["s"].as_u64().expect("a number");
    hall.control("POST", "/gateway", json!({ "kind": "drop" }))
        .await;
    assert_eq!(gateway.hear().await, Heard::Lost);
    hall.say("general", "Ana", "missed one").await;
    hall.say("general", "Ben", "missed two").await;

    let mut again = hall.connect().await;
    again.resume(&ready["session_id"], seq).await;
    let contents: Vec<Value> = [again.next().await, again.next().await]
        .iter()
        .map(|frame| frame["d"]["content"].clone())
        .collect();
    assert_eq!(contents, ["missed one", "missed two"]);
    let resumed = again.next().await;
    assert_eq!(
        (&resumed["t"], &resumed["s"]),
        (&json!("RESUMED"), &json!(seq + 3))
    );
    let used = hall.get("/gateway/bot").await.json();
    assert_eq!(
        used["session_start_limit"]["remaining"], 999,
        "a resume costs nothing"
    );
}

#[tokio::test]
async fn a_session_ends_with_1000_and_1001_and_survives_other_codes() {
    let hall = Hall::open().await;
    for (code, survives) in [(1000, false), (1001, false), (4000, true), (4900, true)] {
        let (gateway, ready) = hall.login().await;
        gateway.close(code).await;
        let mut again = hall.connect().await;
        again.resume(&ready["session_id"], 2).await;
        let frame = again.next().await;
        if survives {
            assert_eq!(frame["t"], "RESUMED", "{code}");
        } else {
            assert_eq!(invalid(&frame), false, "{code}");
        }
    }
}

#[tokio::test]
async fn a_resume_that_cannot_be_is_refused_in_the_way_that_fits() {
    let hall = Hall::open().await;
    let (_gateway, ready) = hall.login().await;
    let session = &ready["session_id"];

    let mut unknown = hall.connect().await;
    unknown.resume(&json!("nobody"), 1).await;
    assert_eq!(invalid(&unknown.next().await), false);

    let mut ahead = hall.connect().await;
    ahead.resume(session, 1_000).await;
    assert_eq!(ahead.hear().await, Heard::Closed(4007));

    let mut wrong = hall.connect().await;
    wrong.token = "nobody".to_owned();
    wrong.resume(session, 1).await;
    assert_eq!(wrong.hear().await, Heard::Closed(4004));
}

#[tokio::test]
async fn a_session_that_is_too_old_cannot_be_resumed() {
    let hall = Hall::frozen(Scenario::for_tests()).await;
    let (gateway, ready) = hall.login().await;
    gateway.close(4_000).await;
    hall.advance(180_000).await;
    let mut again = hall.connect().await;
    again.resume(&ready["session_id"], 2).await;
    assert_eq!(invalid(&again.next().await), false);
}

#[tokio::test]
async fn a_session_that_missed_more_than_is_kept_cannot_be_resumed() {
    let rules = Rules {
        replay_frames: 3,
        ..Rules::lenient()
    };
    let hall = Hall::with(Scenario {
        rules,
        ..Scenario::for_tests()
    })
    .await;
    let (gateway, ready) = hall.login().await;
    gateway.close(4_000).await;
    for number in 0..4 {
        hall.say("general", "Ana", &number.to_string()).await;
    }
    let mut again = hall.connect().await;
    again.resume(&ready["session_id"], 2).await;
    assert_eq!(invalid(&again.next().await), false);
}

#[tokio::test]
async fn a_session_moves_to_the_connection_that_resumes_it() {
    let hall = Hall::open().await;
    let (mut gateway, ready) = hall.login().await;
    let mut again = hall.connect().await;
    again.resume(&ready["session_id"], 2).await;
    again.event("RESUMED").await;
    assert_eq!(gateway.hear().await, Heard::Closed(4000));
    hall.say("general", "Ana", "who hears this?").await;
    assert_eq!(
        again.event("MESSAGE_CREATE").await["content"],
        "who hears this?"
    );
}
