//! A bot comes, hears, answers and goes.

use serde_json::json;

use crate::harness::Hall;

#[tokio::test]
async fn a_bot_logs_in_hears_a_message_and_answers_it() {
    let hall = Hall::open().await;
    let (mut gateway, ready) = hall.login().await;
    assert_eq!(ready["user"]["id"], hall.sim.bot().to_string());
    assert_ne!(ready["application"]["id"], ready["user"]["id"]);
    assert_eq!(
        ready["resume_gateway_url"],
        hall.sim.origin().replace("http", "ws")
    );

    let said = hall.say("general", "Ana", "hello").await;
    let heard = gateway.event("MESSAGE_CREATE").await;
    assert_eq!(
        (&heard["id"], &heard["content"]),
        (&said["id"], &json!("hello"))
    );
    assert_eq!(heard["author"]["global_name"], "Ana");
    assert_eq!(heard["guild_id"], hall.sim.guild().to_string());

    let body = json!({
        "content": "good day", "nonce": "n-1", "enforce_nonce": true,
        "message_reference": { "message_id": said["id"], "fail_if_not_exists": false },
        "allowed_mentions": { "parse": [] },
    });
    let sent = hall.post("general", body).await;
    assert_eq!(sent.status, 200);
    let sent = sent.json();
    assert_eq!(sent["type"], 19);
    assert_eq!(sent["nonce"], "n-1");
    assert_eq!(sent["referenced_message"]["id"], said["id"]);
    let echo = gateway.event("MESSAGE_CREATE").await;
    assert_eq!((&echo["id"], &echo["nonce"]), (&sent["id"], &json!("n-1")));
}

#[tokio::test]
async fn json_answers_have_exactly_the_json_content_type() {
    let hall = Hall::open().await;
    let guild = hall.sim.guild();
    for path in [
        "/gateway/bot",
        "/users/@me",
        "/applications/@me",
        &format!("/guilds/{guild}"),
    ] {
        let answer = hall.get(path).await;
        assert_eq!(answer.status, 200, "{path}");
        assert_eq!(
            answer.header("content-type"),
            Some("application/json"),
            "{path}"
        );
    }
}

#[tokio::test]
async fn what_a_bot_reads_at_start_fits_the_openapi_description() {
    let hall = Hall::open().await;
    let guild = hall.sim.guild();
    let (bot, general, thread) = (
        hall.sim.bot(),
        hall.channel("general"),
        hall.channel("release notes"),
    );
    hall.say("general", "Ana", "hello").await;
    let paths = [
        "/gateway".to_owned(),
        "/gateway/bot".to_owned(),
        "/users/@me".to_owned(),
        format!("/users/{bot}"),
        "/users/@me/guilds".to_owned(),
        "/applications/@me".to_owned(),
        "/oauth2/applications/@me".to_owned(),
        format!("/guilds/{guild}"),
        format!("/guilds/{guild}/channels"),
        format!("/guilds/{guild}/roles"),
        format!("/guilds/{guild}/threads/active"),
        format!("/guilds/{guild}/members?limit=100"),
        format!("/guilds/{guild}/members/search?query=a&limit=5"),
        format!("/guilds/{guild}/members/{bot}"),
        format!("/channels/{general}"),
        format!("/channels/{thread}"),
        format!("/channels/{general}/messages"),
        format!("/channels/{thread}/thread-members"),
    ];
    for path in paths {
        // The harness checks the body against the description.
        assert_eq!(hall.get(&path).await.status, 200, "{path}");
    }
}
