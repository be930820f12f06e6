//! Reactions.

use serde_json::json;

use crate::harness::Hall;

const EYES: &str = "%F0%9F%91%80";

async fn path(hall: &Hall, emoji: &str) -> String {
    let said = hall.say("general", "Ana", "hello").await;
    let id = said["id"].as_str().expect("an id");
    format!(
        "/channels/{}/messages/{id}/reactions/{emoji}/@me",
        hall.channel("general")
    )
}

#[tokio::test]
async fn a_reaction_is_added_once_and_taken_back() {
    let hall = Hall::open().await;
    let (mut gateway, _) = hall.login().await;
    let path = path(&hall, EYES).await;
    assert_eq!(hall.bot("PUT", &path, None).await.status, 204);
    assert_eq!(hall.bot("PUT", &path, None).await.status, 204);
    let event = gateway.event("MESSAGE_REACTION_ADD").await;
    assert_eq!(
        (&event["emoji"]["name"], &event["user_id"]),
        (&json!("👀"), &json!(hall.sim.bot().to_string()))
    );
    let users = hall.get(path.trim_end_matches("/@me")).await.json();
    assert_eq!(users.as_array().map(Vec::len), Some(1));
    assert_eq!(hall.bot("DELETE", &path, None).await.status, 204);
    gateway.event("MESSAGE_REACTION_REMOVE").await;
    let users = hall.get(path.trim_end_matches("/@me")).await.json();
    assert_eq!(users, json!([]));
}

#[tokio::test]
async fn an_emoji_that_is_none_is_unknown() {
    let hall = Hall::open().await;
    for emoji in ["eyes", "%25F0%259F%2591%2580", "party:123"] {
        let path = path(&hall, emoji).await;
        assert_eq!(
            hall.bot("PUT", &path, None).await.refusal(),
            (400, 10014),
            "{emoji}"
        );
    }
}

#[tokio::test]
async fn a_message_takes_twenty_kinds_of_reaction() {
    let hall = Hall::open().await;
    let path = path(&hall, "EMOJI").await;
    for number in 0..=20u32 {
        let emoji = char::from_u32(0x1F600 + number)
            .expect("an emoji")
            .to_string();
        let escaped: String = emoji.bytes().map(|byte| format!("%{byte:02X}")).collect();
        let answer = hall
            .bot("PUT", &path.replace("EMOJI", &escaped), None)
            .await;
        let want = if number < 20 { (204, 0) } else { (400, 30010) };
        assert_eq!(answer.refusal(), want, "kind {number}");
    }
}

#[tokio::test]
async fn the_first_reaction_of_its_kind_needs_its_own_right() {
    let hall = Hall::open().await;
    let path = path(&hall, EYES).await;
    let id = path.split('/').nth(4).expect("an id").to_owned();
    let wish = json!({ "channel": "general", "target": "Seat", "deny": ["ADD_REACTIONS"] });
    hall.control("POST", "/overwrites", wish).await;
    assert_eq!(hall.bot("PUT", &path, None).await.refusal(), (403, 50013));
    let by_ana = json!({ "channel": "general", "message": id, "user": "Ana", "emoji": "👀" });
    hall.control("POST", "/reactions", by_ana).await;
    assert_eq!(hall.bot("PUT", &path, None).await.status, 204);
}
