//! One conversation that every client library has to get through.
//!
//! The bots know a few words; each makes them use another part of the API. A person says the
//! word, and what the bot posts shows whether its library was content with the answers.

use std::time::{Duration, Instant};

use guildhall_sim::{ChannelKindSpec, ChannelSpec, OverwriteSpec, Permissions, Rules, Scenario};
use serde_json::{Value, json};

use crate::harness::Hall;
use crate::tools;

/// Longest wait for a bot. Libraries wait up to some seconds before they reconnect.
const PATIENCE: Duration = Duration::from_secs(60);
const POLL: Duration = Duration::from_millis(50);
/// When a person says or presses the same again, because a bot may not have been listening yet.
const REPEAT: Duration = Duration::from_secs(2);

/// A server with Discord's own limits, but for the pause between two IDENTIFYs, and with a
/// channel that bots know of and cannot see.
fn server() -> Scenario {
    let rules = Rules {
        identify_window_ms: 0,
        ..Rules::default()
    };
    let mut scenario = Scenario {
        rules,
        ..Scenario::demo()
    };
    scenario.channels.push(ChannelSpec {
        overwrites: vec![OverwriteSpec {
            target: "@everyone".to_owned(),
            allow: Permissions::NONE,
            deny: Permissions::VIEW_CHANNEL,
        }],
        ..ChannelSpec::named("vault", ChannelKindSpec::Text)
    });
    scenario
}

/// Polls until `found` gives something.
async fn wait<T>(what: &str, mut found: impl AsyncFnMut() -> Option<T>) -> T {
    let deadline = Instant::now() + PATIENCE;
    loop {
        if let Some(value) = found().await {
            return value;
        }
        assert!(Instant::now() < deadline, "waited in vain: {what}");
        tokio::time::sleep(POLL).await;
    }
}

/// The first message of the bot in `channel` after `after` that begins with `text`.
async fn heard(hall: &Hall, channel: &str, after: &Value, text: &str) -> Value {
    let bot = hall.sim.bot().to_string();
    let after = after.as_str().expect("an id");
    let path = format!("/messages?channel={channel}&after={after}");
    wait(text, async || {
        let list = hall.control("GET", &path, json!({})).await;
        let mut list = list.as_array().expect("a list").clone().into_iter();
        list.find(|message| {
            let content = message["content"].as_str().unwrap_or_default();
            message["author"]["id"] == bot && content.starts_with(text)
        })
    })
    .await
}

/// Says `word` and waits for the bot's answer.
async fn ask(hall: &Hall, word: &str, answer: &str) -> Value {
    let said = hall.say("general", "Ana", word).await;
    heard(hall, "general", &said["id"], answer).await
}

async fn online(hall: &Hall) {
    wait("a connected session", async || {
        let bots = hall.control("GET", "/bots", json!({})).await;
        let sessions = bots["bots"][0]["sessions"]
            .as_array()
            .cloned()
            .unwrap_or_default();
        sessions
            .iter()
            .any(|session| session["state"] == "connected")
            .then_some(())
    })
    .await;
    // Libraries call themselves ready some time after READY; the first answer shows it.
    let first = hall.say("general", "Ana", "ping").await;
    let path = format!(
        "/messages?channel=general&after={}",
        first["id"].as_str().expect("an id")
    );
    let mut again = Instant::now() + REPEAT;
    wait("the first pong", async || {
        if Instant::now() > again {
            hall.say("general", "Ana", "ping").await;
            again = Instant::now() + REPEAT;
        }
        let list = hall.control("GET", &path, json!({})).await;
        list.as_array()?
            .iter()
            .any(|message| message["content"] == "pong")
            .then_some(())
    })
    .await;
}

async fn converse(hall: &Hall) {
    online(hall).await;
    let said = hall.say("general", "Ana", "ping").await;
    let pong = heard(hall, "general", &said["id"], "pong").await;
    assert_eq!(pong["type"], 19, "a reply");

    let said = hall.say("general", "Ana", "react").await;
    wait("a reaction", async || {
        let path = format!("/messages?channel=general&after={}", pong["id"].as_str()?);
        let list = hall.control("GET", &path, json!({})).await;
        let found = list
            .as_array()?
            .iter()
            .find(|m| m["id"] == said["id"])?
            .clone();
        (found["reactions"][0]["emoji"]["name"] == "👀").then_some(())
    })
    .await;

    ask(hall, "edit", "after").await;
    ask(hall, "history", "read 3").await;
    ask(hall, "search", "found Ana").await;
    ask(hall, "long", "refused 50035").await;
    ask(hall, "forbidden", "refused 50001").await;

    let said = hall.say("general", "Ana", "thread").await;
    wait("a message in the new thread", async || {
        let thread = said["id"].as_str()?;
        let path = format!("/messages?channel={thread}");
        let list = hall.try_control("GET", &path, json!({})).await;
        let list = list.json();
        list.as_array()?
            .iter()
            .any(|message| message["content"] == "first")
            .then_some(())
    })
    .await;

    press(hall).await;
    ask(hall, "forum", "posted").await;
    slash(hall).await;
}

async fn press(hall: &Hall) {
    let card = ask(hall, "card", "press me").await;
    let wish =
        json!({ "channel": "general", "message": card["id"], "user": "Ben", "custom_id": "go" });
    let mut again = Instant::now();
    wait("the pressed card", async || {
        if Instant::now() >= again {
            // The bot may not have the answer to its own message yet, and not know the button.
            hall.try_control("POST", "/presses", wish.clone()).await;
            again = Instant::now() + REPEAT;
        }
        let list = hall
            .control("GET", "/messages?channel=general", json!({}))
            .await;
        let found = list
            .as_array()?
            .iter()
            .find(|m| m["id"] == card["id"])?
            .clone();
        (found["content"] == "pressed by ben").then_some(())
    })
    .await;
}

async fn slash(hall: &Hall) {
    wait("a registered command", async || {
        let list = hall.control("GET", "/commands", json!({})).await;
        (list[0]["name"] == "greet").then_some(())
    })
    .await;
    let said = hall.say("general", "Ana", "now the command").await;
    let wish = json!({
        "channel": "general", "user": "Ana", "name": "greet", "options": { "who": "Ben" },
    });
    hall.control("POST", "/commands", wish).await;
    heard(hall, "general", &said["id"], "hello Ben").await;
}

/// What a bot must survive: each strike, and then it answers again.
async fn survive(hall: &Hall) {
    let strikes = [
        json!({ "kind": "drop" }),
        json!({ "kind": "reconnect" }),
        json!({ "kind": "tear" }),
        json!({ "kind": "close", "code": 4000 }),
        json!({ "kind": "invalid_session", "resumable": false }),
    ];
    for strike in strikes {
        hall.control("POST", "/gateway", strike.clone()).await;
        online(hall).await;
    }
    for scope in ["user", "shared", "global"] {
        let fault = json!({
            "on": "request", "kind": "rate_limit", "scope": scope, "retry_after_ms": 300,
            "method": "POST", "path": "/messages",
        });
        hall.arm(fault).await;
        ask(hall, "ping", "pong").await;
    }
    hall.arm(json!({
        "on": "request", "kind": "status", "status": 502, "html": "<h1>Bad gateway</h1>",
        "method": "POST", "path": "/messages",
    }))
    .await;
    ask(hall, "ping", "pong").await;
}

fn variables(hall: &Hall) -> Vec<(&'static str, String)> {
    vec![
        ("SIM_ORIGIN", hall.sim.origin()),
        ("SIM_TOKEN", hall.sim.token()),
    ]
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_discord_js_bot_lives_here_unchanged() {
    let modules = tools::variable("GUILDHALL_NODE_MODULES");
    let hall = Hall::with(server()).await;
    let mut variables = variables(&hall);
    variables.push(("GUILDHALL_NODE_MODULES", modules));
    let bot = tools::spawn(
        &tools::node(),
        &tools::script("discordjs/bot.mjs"),
        &variables,
    );
    converse(&hall).await;
    survive(&hall).await;
    drop(bot);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_discord_py_bot_lives_here_unchanged() {
    let python = tools::variable("GUILDHALL_PYTHON");
    let hall = Hall::with(server()).await;
    let bot = tools::spawn(
        &python,
        &tools::script("discordpy/bot.py"),
        &variables(&hall),
    );
    converse(&hall).await;
    survive(&hall).await;
    drop(bot);
}
