//! Buttons and what a bot may do with their tokens.

use guildhall_sim::Scenario;
use serde_json::{Value, json};

use crate::harness::{Answer, Gateway, Hall};

/// A message with a button, pressed by Ana. Gives the message and the interaction.
async fn pressed(hall: &Hall, gateway: &mut Gateway) -> (Value, Value) {
    let row = json!({ "type": 1, "components": [
        { "type": 2, "style": 3, "label": "Allow", "custom_id": "allow" },
        { "type": 2, "style": 4, "label": "Off", "custom_id": "off", "disabled": true },
    ] });
    let sent = hall
        .post("general", json!({ "content": "card", "components": [row] }))
        .await
        .json();
    let wish =
        json!({ "channel": "general", "message": sent["id"], "user": "Ana", "custom_id": "allow" });
    hall.control("POST", "/presses", wish).await;
    (sent, gateway.event("INTERACTION_CREATE").await)
}

async fn callback(hall: &Hall, interaction: &Value, query: &str, body: Value) -> Answer {
    let (id, token) = (&interaction["id"], &interaction["token"]);
    let path = format!(
        "/interactions/{}/{}/callback{query}",
        id.as_str().expect("an id"),
        token.as_str().expect("a token"),
    );
    hall.bot("POST", &path, Some(body)).await
}

fn webhook(interaction: &Value) -> String {
    let part = |key: &str| interaction[key].as_str().expect("a text").to_owned();
    format!("/webhooks/{}/{}", part("application_id"), part("token"))
}

#[tokio::test]
async fn a_press_tells_the_bot_who_pressed_what() {
    let hall = Hall::open().await;
    let (mut gateway, ready) = hall.login().await;
    let (sent, interaction) = pressed(&hall, &mut gateway).await;
    assert_eq!(interaction["type"], 3);
    assert_eq!(interaction["application_id"], ready["application"]["id"]);
    assert_eq!(interaction["data"]["custom_id"], "allow");
    assert_eq!(interaction["member"]["user"]["id"], hall.user("Ana"));
    assert_eq!(
        (
            &interaction["message"]["id"],
            &interaction["message"]["content"]
        ),
        (&sent["id"], &json!("card"))
    );
    assert_eq!(interaction["guild_id"], hall.sim.guild().to_string());
}

#[tokio::test]
async fn a_disabled_or_unknown_button_cannot_be_pressed() {
    let hall = Hall::open().await;
    let (mut gateway, _) = hall.login().await;
    let (sent, _) = pressed(&hall, &mut gateway).await;
    for custom_id in ["off", "nothing"] {
        let wish = json!({ "channel": "general", "message": sent["id"], "user": "Ana", "custom_id": custom_id });
        let answer = hall.try_control("POST", "/presses", wish).await;
        assert_eq!(answer.refusal(), (400, 50035), "{custom_id}");
    }
}

#[tokio::test]
async fn an_interaction_is_answered_once_and_in_time() {
    let hall = Hall::frozen(Scenario::for_tests()).await;
    let (mut gateway, _) = hall.login().await;
    let (_, interaction) = pressed(&hall, &mut gateway).await;
    let answer = callback(&hall, &interaction, "", json!({ "type": 6 })).await;
    assert_eq!((answer.status, answer.text.as_str()), (204, ""));
    let twice = callback(&hall, &interaction, "", json!({ "type": 6 })).await;
    assert_eq!(twice.refusal(), (400, 40060));

    let (_, late) = pressed(&hall, &mut gateway).await;
    hall.advance(3_000).await;
    assert_eq!(
        callback(&hall, &late, "", json!({ "type": 6 }))
            .await
            .refusal(),
        (404, 10062)
    );
}

#[tokio::test]
async fn an_answer_comes_with_a_body_when_it_is_asked_for() {
    let hall = Hall::open().await;
    let (mut gateway, _) = hall.login().await;
    for query in ["?with_response=true", "?with_response=1"] {
        let (_, interaction) = pressed(&hall, &mut gateway).await;
        let body = json!({ "type": 4, "data": { "content": "noted", "flags": 64 } });
        let answer = callback(&hall, &interaction, query, body).await;
        assert_eq!(answer.status, 200, "{query}");
        let answer = answer.json();
        assert_eq!(answer["interaction"]["id"], interaction["id"]);
        assert_eq!(answer["resource"]["message"]["content"], "noted");
    }
    let general = hall.channel("general");
    let history = hall
        .get(&format!("/channels/{general}/messages"))
        .await
        .json();
    let shown = history
        .as_array()
        .expect("a list")
        .iter()
        .any(|m| m["content"] == "noted");
    assert!(!shown, "an ephemeral message is in no history");
}

#[tokio::test]
async fn type_seven_changes_the_message_with_the_button() {
    let hall = Hall::open().await;
    let (mut gateway, _) = hall.login().await;
    let (sent, interaction) = pressed(&hall, &mut gateway).await;
    let data = json!({ "content": "allowed", "components": [] });
    callback(&hall, &interaction, "", json!({ "type": 7, "data": data })).await;
    let event = gateway.event("MESSAGE_UPDATE").await;
    assert_eq!(
        (&event["id"], &event["content"]),
        (&sent["id"], &json!("allowed"))
    );
    assert_eq!(event["components"], json!([]));
    let path = format!("{}/messages/@original", webhook(&interaction));
    let edited = hall
        .bot("PATCH", &path, Some(json!({ "content": "allowed by Ana" })))
        .await
        .json();
    assert_eq!(edited["id"], sent["id"]);
}

#[tokio::test]
async fn the_first_follow_up_fills_a_deferred_answer_and_the_next_are_new() {
    let hall = Hall::open().await;
    let (mut gateway, _) = hall.login().await;
    let (_, interaction) = pressed(&hall, &mut gateway).await;
    callback(&hall, &interaction, "", json!({ "type": 5 })).await;
    let spinner = gateway.event("MESSAGE_CREATE").await;
    let path = webhook(&interaction);
    let first = hall
        .bot("POST", &path, Some(json!({ "content": "one" })))
        .await
        .json();
    assert_eq!(
        (&first["id"], &first["content"]),
        (&spinner["id"], &json!("one"))
    );
    let second = hall
        .bot("POST", &path, Some(json!({ "content": "two" })))
        .await
        .json();
    assert_ne!(second["id"], first["id"]);
    assert_eq!(second["webhook_id"], interaction["application_id"]);
    let id = second["id"].as_str().expect("an id");
    assert_eq!(
        hall.bot("DELETE", &format!("{path}/messages/{id}"), None)
            .await
            .status,
        204
    );
    assert_eq!(
        hall.get(&format!("{path}/messages/{id}")).await.refusal(),
        (404, 10008)
    );
}

#[tokio::test]
async fn a_token_dies_after_fifteen_minutes() {
    let hall = Hall::frozen(Scenario::for_tests()).await;
    let (mut gateway, _) = hall.login().await;
    let (_, interaction) = pressed(&hall, &mut gateway).await;
    callback(&hall, &interaction, "", json!({ "type": 6 })).await;
    let path = webhook(&interaction);
    hall.advance(899_999).await;
    let text = json!({ "content": "still here" });
    assert_eq!(
        hall.bot("POST", &path, Some(text.clone())).await.status,
        200
    );
    hall.advance(1).await;
    assert_eq!(
        hall.bot("POST", &path, Some(text)).await.refusal(),
        (404, 10015)
    );
}
