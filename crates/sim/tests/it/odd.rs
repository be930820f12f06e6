//! Bodies and frames that no client should send: each gets a whole answer all the same.

use serde_json::{Value, json};

use crate::harness::Hall;

/// Values of every JSON type, nested where fields expect nesting.
fn odd_values() -> Vec<Value> {
    vec![
        json!(null),
        json!(true),
        json!(-1),
        json!(1.5),
        json!(u64::MAX),
        json!(""),
        json!("x"),
        json!([]),
        json!([null]),
        json!(["x"]),
        json!([[]]),
        json!([{}]),
        json!({}),
        json!({ "x": 1 }),
        json!({ "id": [], "parse": {}, "users": "x", "message_id": {}, "text": [] }),
        json!([{ "type": 1 }]),
        json!([{ "type": 1, "components": "x" }]),
        json!([{ "type": 2, "style": "x", "custom_id": 5, "label": [] }]),
        json!([{ "fields": ["x"], "footer": "x", "title": {} }]),
    ]
}

#[tokio::test]
async fn every_odd_body_gets_a_whole_answer() {
    let hall = Hall::open().await;
    let general = hall.channel("general");
    let sent = hall.post("general", json!({ "content": "x" })).await.json();
    let id = sent["id"].as_str().expect("an id");
    let message = format!("/channels/{general}/messages/{id}");
    let messages = format!("/channels/{general}/messages");
    let threads = format!("/channels/{general}/threads");
    let posts = format!("/channels/{}/threads", hall.channel("questions"));
    let commands = format!("/applications/{}/commands", hall.sim.application());
    let cases = [
        (
            "POST",
            messages.as_str(),
            "content nonce embeds components allowed_mentions message_reference flags poll sticker_ids attachments",
        ),
        (
            "PATCH",
            message.as_str(),
            "content embeds components allowed_mentions flags attachments",
        ),
        ("POST", threads.as_str(), "name type auto_archive_duration"),
        ("POST", posts.as_str(), "name message"),
        (
            "PATCH",
            &format!("/channels/{}", hall.channel("release notes")),
            "name archived locked",
        ),
        ("POST", "/users/@me/channels", "recipient_id"),
        ("PATCH", "/applications/@me", "flags"),
        ("POST", commands.as_str(), "name type description options"),
    ];
    for (method, path, keys) in cases {
        for key in keys.split(' ') {
            for value in odd_values() {
                let mut body = json!({ "content": "ok", "name": "ok", "description": "ok" });
                body[key] = value.clone();
                // The harness holds the answer against the description, whatever it is.
                let answer = hall.try_bot(method, path, Some(body.clone())).await;
                let answer = answer.unwrap_or_else(|lost| unreachable!("{path} {body}: {lost}"));
                assert!(
                    answer.status < 500,
                    "{method} {path} {body}: {}",
                    answer.text
                );
            }
        }
    }
}

#[tokio::test]
async fn bodies_that_are_no_objects_are_refused() {
    let hall = Hall::open().await;
    let path = format!("/channels/{}/messages", hall.channel("general"));
    for body in ["[]", "5", "\"x\"", "null", "{", "\u{0}", "{\"content\":"] {
        let answer = hall
            .try_bot_unchecked("POST", &path, body)
            .await
            .expect("a whole answer");
        assert_eq!(answer.status, 400, "{body}");
    }
}

#[tokio::test]
async fn every_odd_frame_gets_a_close_or_nothing() {
    let hall = Hall::open().await;
    for opcode in [1, 2, 3, 4, 6, 7, 8, 10, 31] {
        for data in odd_values() {
            let (mut gateway, _) = hall.login().await;
            gateway.send(json!({ "op": opcode, "d": data })).await;
            let mut fresh = hall.connect().await;
            fresh.send(json!({ "op": opcode, "d": data })).await;
        }
    }
    // Whatever became of those, the server is well.
    let (mut gateway, _) = hall.login().await;
    hall.say("general", "Ana", "still here?").await;
    assert_eq!(
        gateway.event("MESSAGE_CREATE").await["content"],
        "still here?"
    );
}
