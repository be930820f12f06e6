//! IDENTIFY, intents, heartbeats and close codes.

use guildhall_sim::{Rules, Scenario, Switch};
use serde_json::{Value, json};

use crate::harness::{Hall, Heard, INTENTS};

const GUILD_MEMBERS: u64 = 1 << 1;
const GUILD_PRESENCES: u64 = 1 << 8;
const MESSAGE_CONTENT: u64 = 1 << 15;

fn identify(token: &str, changes: Value) -> Value {
    let mut data = json!({ "token": token, "intents": 1, "properties": {} });
    for (key, value) in changes.as_object().expect("changes") {
        data[key] = value.clone();
    }
    json!({ "op": 2, "d": data })
}

#[tokio::test]
async fn a_wrong_identify_is_closed_with_the_code_that_says_why() {
    let mut scenario = Scenario::for_tests();
    scenario.bots[0].portal.message_content = Switch::Off;
    let hall = Hall::with(scenario).await;
    let token = hall.sim.token();
    let cases = [
        ("an unknown token", identify("nobody", json!({})), 4004),
        (
            "no intents",
            json!({ "op": 2, "d": { "token": token } }),
            4002,
        ),
        (
            "an unknown intent",
            identify(&token, json!({ "intents": 1u64 << 40 })),
            4013,
        ),
        (
            "content is off",
            identify(&token, json!({ "intents": MESSAGE_CONTENT })),
            4014,
        ),
        (
            "presence is off",
            identify(&token, json!({ "intents": GUILD_PRESENCES })),
            4014,
        ),
        (
            "a shard beyond the count",
            identify(&token, json!({ "shard": [1, 1] })),
            4010,
        ),
        ("data that is no object", json!({ "op": 2, "d": 5 }), 4002),
        ("an unknown opcode", json!({ "op": 99, "d": null }), 4001),
        ("no opcode", json!({ "d": null }), 4002),
        (
            "presence before identify",
            json!({ "op": 3, "d": {} }),
            4003,
        ),
    ];
    for (name, frame, code) in cases {
        let mut gateway = hall.connect().await;
        gateway.send(frame).await;
        assert_eq!(gateway.hear().await, Heard::Closed(code), "{name}");
    }
}

#[tokio::test]
async fn identify_is_taken_in_every_form_that_clients_send() {
    let hall = Hall::open().await;
    let token = hall.sim.token();
    let cases = [
        ("bare", identify(&token, json!({}))),
        (
            "with Bot in front",
            identify(&format!("Bot {token}"), json!({})),
        ),
        ("with a shard", identify(&token, json!({ "shard": [0, 1] }))),
        (
            "with extra keys",
            identify(
                &token,
                json!({ "capabilities": 1, "large_threshold": 250, "presence": null, "compress": true }),
            ),
        ),
        (
            "members are on",
            identify(&token, json!({ "intents": 1 | GUILD_MEMBERS })),
        ),
    ];
    for (name, frame) in cases {
        let mut gateway = hall.connect().await;
        gateway.send(frame).await;
        let ready = gateway.event("READY").await;
        assert_eq!(ready["v"], 10, "{name}");
        assert_eq!(ready["guilds"][0]["unavailable"], true, "{name}");
    }
}

#[tokio::test]
async fn a_heartbeat_before_identify_is_acknowledged() {
    let hall = Hall::open().await;
    let mut gateway = hall.connect().await;
    assert_eq!(gateway.drain().await, Vec::<Value>::new());
}

#[tokio::test]
async fn identify_twice_and_resume_after_identify_are_closed() {
    let hall = Hall::open().await;
    for second in [
        identify(&hall.sim.token(), json!({})),
        json!({ "op": 6, "d": {} }),
    ] {
        let (mut gateway, _) = hall.login().await;
        gateway.send(second).await;
        assert_eq!(gateway.hear().await, Heard::Closed(4005));
    }
}

#[tokio::test]
async fn broken_and_oversize_frames_are_closed() {
    let hall = Hall::open().await;
    let large = format!("{{\"op\":1,\"d\":null,\"pad\":\"{}\"}}", "x".repeat(4_096));
    for (name, text) in [("broken", "{"), ("too large", large.as_str())] {
        let mut gateway = hall.connect().await;
        gateway.send_text(text).await;
        assert_eq!(gateway.hear().await, Heard::Closed(4002), "{name}");
    }
}

#[tokio::test]
async fn too_many_frames_in_a_minute_are_closed() {
    let hall = Hall::frozen(Scenario::for_tests()).await;
    let mut gateway = hall.connect().await;
    for _ in 0..120 {
        gateway.drain().await;
    }
    gateway.send(json!({ "op": 1, "d": null })).await;
    assert_eq!(gateway.hear().await, Heard::Closed(4008));
}

#[tokio::test]
async fn events_come_only_with_their_intents() {
    let hall = Hall::open().await;
    let cases = [
        (
            "messages and content",
            1 << 9 | MESSAGE_CONTENT,
            vec!["MESSAGE_CREATE"],
        ),
        ("typing", 1 << 11, vec!["TYPING_START"]),
        ("reactions", 1 << 10, vec!["MESSAGE_REACTION_ADD"]),
        ("guilds only", 1, vec![]),
        ("nothing", 0, vec![]),
    ];
    for (name, intents, want) in cases {
        let mut gateway = hall.connect().await;
        gateway.identify(intents).await;
        gateway.event("READY").await;
        gateway.drain().await;
        let said = hall.say("general", "Ana", "hello").await;
        let spot = json!({ "channel": "general", "user": "Ana" });
        hall.control("POST", "/typing", spot).await;
        let reaction =
            json!({ "channel": "general", "message": said["id"], "user": "Ben", "emoji": "👍" });
        hall.control("POST", "/reactions", reaction).await;
        let heard: Vec<_> = gateway
            .drain()
            .await
            .iter()
            .map(|f| f["t"].clone())
            .collect();
        assert_eq!(heard, want, "{name}");
    }
}

#[tokio::test]
async fn content_is_withheld_without_its_intent_unless_the_bot_is_meant() {
    let hall = Hall::open().await;
    let mut gateway = hall.connect().await;
    gateway.identify(INTENTS & !MESSAGE_CONTENT).await;
    gateway.event("GUILD_CREATE").await;
    let bot = hall.sim.bot();
    let direct = hall
        .control("POST", "/direct", json!({ "user": "Ana" }))
        .await;
    let direct = direct["id"].as_str().expect("an id").to_owned();
    let mention = format!("<@{bot}> hello");
    let cases = [
        ("plain", "general", "hello", ""),
        ("mention", "general", mention.as_str(), mention.as_str()),
        ("direct", direct.as_str(), "hello", "hello"),
    ];
    for (name, channel, said, heard) in cases {
        hall.say(channel, "Ana", said).await;
        let event = gateway.event("MESSAGE_CREATE").await;
        assert_eq!(event["content"], heard, "{name}");
        assert!(event["embeds"].is_array(), "{name}: empty, not absent");
    }
    hall.post("general", json!({ "content": "mine" })).await;
    assert_eq!(
        gateway.event("MESSAGE_CREATE").await["content"],
        "mine",
        "own message"
    );
}

#[tokio::test]
async fn the_identify_quota_counts_and_says_so() {
    let rules = Rules {
        max_concurrency: 1,
        identify_window_ms: 5_000,
        ..Rules::lenient()
    };
    let hall = Hall::frozen(Scenario {
        rules,
        ..Scenario::for_tests()
    })
    .await;
    let limit = |answer: Value| answer["session_start_limit"].clone();
    assert_eq!(
        limit(hall.get("/gateway/bot").await.json())["remaining"],
        1_000
    );
    let (_first, _) = hall.login().await;
    let left = limit(hall.get("/gateway/bot").await.json());
    assert_eq!(
        (&left["remaining"], &left["max_concurrency"]),
        (&json!(999), &json!(1))
    );
    assert_eq!(left["reset_after"], 86_400_000);

    let mut second = hall.connect().await;
    second.identify(1).await;
    let refused = second.next().await;
    assert_eq!((&refused["op"], &refused["d"]), (&json!(9), &json!(false)));
    hall.advance(5_000).await;
    second.identify(1).await;
    second.event("READY").await;
}

#[tokio::test]
async fn going_over_the_identify_quota_ends_every_session_and_resets_the_token() {
    let rules = Rules {
        identify_total: 1,
        ..Rules::lenient()
    };
    let hall = Hall::with(Scenario {
        rules,
        ..Scenario::for_tests()
    })
    .await;
    let before = hall.sim.token();
    let (_gateway, ready) = hall.login().await;
    let mut second = hall.connect().await;
    second.identify(1).await;
    assert_eq!(second.hear().await, Heard::Closed(4004));
    assert_ne!(hall.sim.token(), before);
    let mut third = hall.connect().await;
    third.resume(&ready["session_id"], 0).await;
    let refused = third.next().await;
    assert_eq!((&refused["op"], &refused["d"]), (&json!(9), &json!(false)));
}

#[tokio::test]
async fn a_silent_connection_is_closed_in_the_end() {
    let hall = Hall::frozen(Scenario::for_tests()).await;
    let (mut gateway, _) = hall.login().await;
    hall.advance(600_000).await;
    gateway.drain().await;
    let felt = json!({ "advance_ms": 600_000, "connections_feel_it": true });
    hall.control("POST", "/clock", felt).await;
    assert_eq!(gateway.hear().await, Heard::Closed(4009));
}

#[tokio::test]
async fn members_are_sent_on_request() {
    let hall = Hall::open().await;
    let (mut gateway, _) = hall.login().await;
    let guild = hall.sim.guild();
    let ana = hall.user("Ana");
    let cases = [
        (
            "by query",
            json!({ "guild_id": guild, "query": "an", "limit": 5, "nonce": "x" }),
        ),
        (
            "by id",
            json!({ "guild_id": guild, "user_ids": [ana], "nonce": "x" }),
        ),
    ];
    for (name, data) in cases {
        gateway.send(json!({ "op": 8, "d": data })).await;
        let chunk = gateway.event("GUILD_MEMBERS_CHUNK").await;
        assert_eq!(chunk["members"][0]["user"]["id"], ana, "{name}");
        assert_eq!(
            (&chunk["chunk_count"], &chunk["nonce"]),
            (&json!(1), &json!("x")),
            "{name}"
        );
    }
}
