//! Cards as bots make them: a post with buttons and a file, its edit, and who may press.

use serde_json::{Value, json};

use crate::harness::{Answer, Hall};

const DIFF: &str = "+ a line\n\u{1f600} ``` \r\n";

/// Posts a card with two buttons and a file.
async fn card(hall: &Hall, nonce: &str) -> Answer {
    let button = |label: &str, style: u8| {
        let id = format!("ask:1:{}", label.to_lowercase());
        json!({ "type": 2, "style": style, "label": label, "custom_id": id })
    };
    let payload = json!({
        "content": format!("<@{}> Create notes/today.md?", hall.user("Olga")),
        "nonce": nonce,
        "enforce_nonce": true,
        "allowed_mentions": { "parse": [], "users": [hall.user("Olga")] },
        "components": [{ "type": 1, "components": [button("Once", 3), button("Deny", 4)] }],
        "attachments": [{ "id": "0", "filename": "change.diff" }],
    });
    let body = format!(
        "--b\r\nContent-Disposition: form-data; name=\"payload_json\"\r\n\
         Content-Type: application/json\r\n\r\n{payload}\r\n\
         --b\r\nContent-Disposition: form-data; name=\"files[0]\"; filename=\"change.diff\"\r\n\
         Content-Type: text/plain; charset=utf-8\r\n\r\n{DIFF}\r\n--b--\r\n"
    );
    let path = format!("/channels/{}/messages", hall.channel("general"));
    let request = hyper::Request::post(format!("{}/api/v10{path}", hall.sim.origin()))
        .header("authorization", format!("Bot {}", hall.sim.token()))
        .header("content-type", "multipart/form-data; boundary=b")
        .body(body.into())
        .expect("a request");
    let answer = hall.request(request).await.expect("an answer");
    crate::schema::check("POST", &path, &answer);
    answer
}

async fn press(hall: &Hall, card: &Value, who: &str, custom_id: &str) -> Answer {
    let wish = json!({
        "channel": "general", "message": card["id"], "user": who, "custom_id": custom_id,
    });
    hall.try_control("POST", "/presses", wish).await
}

async fn shown(hall: &Hall, card: &Value) -> Value {
    let list = hall
        .control("GET", "/messages?channel=general", json!({}))
        .await;
    let list = list.as_array().expect("a list").clone();
    let found = list.into_iter().find(|one| one["id"] == card["id"]);
    found.expect("the card is there")
}

#[tokio::test]
async fn a_card_comes_with_its_buttons_mentions_and_a_file_that_can_be_read() {
    let hall = Hall::open().await;
    let sent = card(&hall, "one").await.json();
    assert_eq!(sent["nonce"], "one");
    assert_eq!(sent["mentions"][0]["id"], hall.user("Olga"));
    assert_eq!(sent["components"][0]["components"][0]["label"], "Once");
    let file = &sent["attachments"][0];
    assert_eq!(file["filename"], "change.diff");
    assert_eq!(file["size"], DIFF.len());
    let url = file["url"].as_str().expect("an address");
    let request = hyper::Request::get(url).body(Default::default());
    let read = hall.request(request.expect("a request")).await;
    let read = read.expect("an answer");
    assert_eq!((read.status, read.text.as_str()), (200, DIFF));
    assert_eq!(read.header("content-disposition"), Some("attachment"));
}

#[tokio::test]
async fn a_card_that_is_sent_again_is_the_same_card() {
    let hall = Hall::open().await;
    let (first, again, other) = (
        card(&hall, "one").await.json(),
        card(&hall, "one").await.json(),
        card(&hall, "two").await.json(),
    );
    assert_eq!(first["id"], again["id"]);
    assert_eq!(first["attachments"], again["attachments"]);
    assert_ne!(first["id"], other["id"]);
}

#[tokio::test]
async fn an_edited_card_has_no_buttons_keeps_its_file_and_takes_no_press() {
    let hall = Hall::open().await;
    let (mut gateway, _) = hall.login().await;
    let sent = card(&hall, "one").await.json();
    gateway.event("MESSAGE_CREATE").await;
    let id = sent["id"].as_str().expect("an id");
    let path = format!("/channels/{}/messages/{id}", hall.channel("general"));
    let edit = json!({
        "content": "Allowed once by Olga.", "components": [], "allowed_mentions": { "parse": [] },
    });
    let edited = hall.bot("PATCH", &path, Some(edit)).await;
    assert_eq!(edited.status, 200);
    let event = gateway.event("MESSAGE_UPDATE").await;
    for said in [edited.json(), event, shown(&hall, &sent).await] {
        assert_eq!(said["content"], "Allowed once by Olga.");
        assert_eq!(said["components"], json!([]));
        assert_eq!(said["mentions"], json!([]), "an edit pings nobody");
        assert_eq!(said["attachments"], sent["attachments"]);
    }
    let late = press(&hall, &sent, "Olga", "ask:1:once").await;
    assert_eq!(late.refusal(), (400, 50035));
}

#[tokio::test]
async fn anybody_who_sees_a_card_may_press_it_and_nobody_else() {
    let hall = Hall::open().await;
    let (mut gateway, _) = hall.login().await;
    let sent = card(&hall, "one").await.json();
    for (who, custom_id) in [("Olga", "ask:1:once"), ("Eve", "ask:1:deny")] {
        assert_eq!(press(&hall, &sent, who, custom_id).await.status, 200);
        let heard = gateway.event("INTERACTION_CREATE").await;
        assert_eq!(heard["member"]["user"]["id"], hall.user(who));
        assert_eq!(heard["data"]["custom_id"], custom_id);
        assert_eq!(heard["message"]["attachments"], sent["attachments"]);
        assert_eq!(heard["channel_id"], hall.channel("general"));
    }
    let id = hall.channel("operators");
    let hidden = json!({ "content": "x", "components": [{ "type": 1, "components": [
        { "type": 2, "style": 3, "label": "Once", "custom_id": "ask:2:once" }] }] });
    let sent = hall.post("operators", hidden).await.json();
    let wish = json!({
        "channel": id, "message": sent["id"], "user": "Eve", "custom_id": "ask:2:once",
    });
    let refused = hall.try_control("POST", "/presses", wish).await;
    assert_eq!(refused.refusal(), (403, 50001));
}

#[tokio::test]
async fn an_answer_for_the_presser_alone_is_marked_for_them_and_is_no_event() {
    let hall = Hall::open().await;
    let (mut gateway, _) = hall.login().await;
    let sent = card(&hall, "one").await.json();
    gateway.event("MESSAGE_CREATE").await;
    press(&hall, &sent, "Eve", "ask:1:once").await;
    let heard = gateway.event("INTERACTION_CREATE").await;
    let part = |key: &str| heard[key].as_str().expect("a text").to_owned();
    let path = format!("/interactions/{}/{}/callback", part("id"), part("token"));
    let line = json!({ "type": 4, "data": { "content": "Only an operator may.", "flags": 64 } });
    assert_eq!(hall.bot("POST", &path, Some(line)).await.status, 204);
    hall.say("general", "Ana", "marker").await;
    let next = gateway.event("MESSAGE_CREATE").await;
    assert_eq!(next["content"], "marker", "the line is in no event");
    let list = hall
        .control("GET", "/messages?channel=general", json!({}))
        .await;
    let list = list.as_array().expect("a list").clone();
    let private = list
        .iter()
        .find(|m| m["content"] == "Only an operator may.");
    assert_eq!(
        private.expect("the page has it")["only_for"],
        hall.user("Eve")
    );
}
