//! Faults on demand.

use serde_json::{Value, json};

use crate::harness::{Hall, Heard};

async fn contents(hall: &Hall, channel: &str) -> Vec<String> {
    let list = hall
        .control("GET", &format!("/messages?channel={channel}"), json!({}))
        .await;
    let list = list.as_array().expect("a list").clone();
    list.iter()
        .filter_map(|message| message["content"].as_str().map(str::to_owned))
        .collect()
}

#[tokio::test]
async fn requests_fail_as_often_as_asked_and_then_work() {
    let hall = Hall::open().await;
    hall.arm(json!({ "on": "request", "kind": "status", "status": 503, "times": 2, "path": "/messages" })).await;
    let text = json!({ "content": "x" });
    assert_eq!(hall.get("/users/@me").await.status, 200, "another path");
    let statuses = [
        hall.post("general", text.clone()).await.status,
        hall.post("general", text.clone()).await.status,
        hall.post("general", text).await.status,
    ];
    assert_eq!(statuses, [503, 503, 200]);
    assert_eq!(contents(&hall, "general").await, ["x"]);
}

#[tokio::test]
async fn a_lost_response_is_committed_and_a_lost_request_is_not() {
    let hall = Hall::open().await;
    let path = format!("/channels/{}/messages", hall.channel("general"));
    let cases = [
        ("lose_response", "committed", 1),
        ("lose_request", "vanished", 1),
    ];
    for (kind, content, count) in cases {
        // Twice: a client may try again by itself on a fresh connection.
        hall.arm(json!({ "on": "request", "kind": kind, "method": "POST" }))
            .await;
        let body = json!({ "content": content, "nonce": content, "enforce_nonce": true });
        let lost = hall.try_bot("POST", &path, Some(body.clone())).await;
        let stored = contents(&hall, "general").await;
        let there = stored.iter().filter(|text| *text == content).count();
        assert!(lost.is_err(), "{kind}: {lost:?}");
        assert_eq!(there, usize::from(kind == "lose_response"), "{kind}");
        let again = hall
            .try_bot("POST", &path, Some(body))
            .await
            .expect("an answer");
        assert_eq!(again.status, 200);
        let stored = contents(&hall, "general").await;
        assert_eq!(
            stored.iter().filter(|text| *text == content).count(),
            count,
            "{kind}"
        );
    }
}

#[tokio::test]
async fn an_error_after_the_deed_hides_a_message_that_stands() {
    let hall = Hall::open().await;
    for status in [500, 503] {
        let fault =
            json!({ "on": "request", "kind": "status_after", "status": status, "method": "POST" });
        hall.arm(fault).await;
        let text = format!("after {status}");
        let body = json!({ "content": text, "nonce": text, "enforce_nonce": true });
        let path = format!("/channels/{}/messages", hall.channel("general"));
        let answer = hall
            .try_bot_unchecked("POST", &path, &body.to_string())
            .await
            .expect("an answer");
        assert_eq!(answer.status, status);
        let again = hall.post("general", body).await;
        assert_eq!(again.status, 200);
        let stored = contents(&hall, "general").await;
        assert_eq!(stored.iter().filter(|one| **one == text).count(), 1);
    }
}

#[tokio::test]
async fn a_request_can_stall_before_or_after_its_deed_with_the_connection_open() {
    let hall = Hall::open().await;
    let path = format!("/channels/{}/messages", hall.channel("general"));
    for (kind, stands) in [("stall_response", true), ("stall_request", false)] {
        hall.arm(json!({ "on": "request", "kind": kind, "method": "POST" }))
            .await;
        let body = json!({ "content": kind });
        let stalled = hall.try_bot("POST", &path, Some(body));
        // The log has the request: from then on only the answer is missing.
        let seen = async {
            loop {
                let log = hall.control("GET", "/log?kind=request", json!({})).await;
                let log = log.to_string();
                if log.contains(&format!(
                    "\"lost\":\"{}\"",
                    kind.replace("stall", "stalled")
                )) {
                    return;
                }
                tokio::task::yield_now().await;
            }
        };
        let first = tokio::select! {
            answer = stalled => Err(answer),
            () = seen => Ok(()),
        };
        assert!(first.is_ok(), "{kind}: {first:?}");
        let stored = contents(&hall, "general").await;
        assert_eq!(stored.iter().any(|one| one == kind), stands, "{kind}");
    }
    assert_eq!(hall.get("/users/@me").await.status, 200);
}

#[tokio::test]
async fn every_kind_of_429_can_be_asked_for() {
    let hall = Hall::open().await;
    for (scope, header) in [
        ("user", Some("user")),
        ("shared", Some("shared")),
        ("global", Some("global")),
        ("cloudflare", None),
    ] {
        hall.arm(json!({ "on": "request", "kind": "rate_limit", "scope": scope, "retry_after_ms": 1500 })).await;
        let answer = hall.get("/users/@me").await;
        assert_eq!(answer.status, 429, "{scope}");
        assert_eq!(answer.header("x-ratelimit-scope"), header, "{scope}");
        assert_eq!(answer.header("retry-after"), Some("2"), "{scope}");
        if scope == "shared" {
            assert_eq!(answer.header("x-ratelimit-remaining"), Some("4"));
        }
    }
}

#[tokio::test]
async fn an_answer_can_be_late_or_slow_and_is_whole_all_the_same() {
    let hall = Hall::open().await;
    hall.arm(json!({ "on": "request", "kind": "delay", "ms": 50 }))
        .await;
    hall.arm(json!({ "on": "request", "kind": "slow_body", "ms": 50 }))
        .await;
    let answer = hall.get("/users/@me").await;
    assert_eq!(answer.json()["id"], hall.sim.bot().to_string());
}

#[tokio::test]
async fn a_connection_can_fail_before_hello() {
    let hall = Hall::open().await;
    hall.arm(json!({ "on": "connect", "kind": "reconnect" }))
        .await;
    assert_eq!(hall.dial().await.next().await["op"], 7);
    hall.arm(json!({ "on": "connect", "kind": "close", "code": 4000 }))
        .await;
    assert_eq!(hall.dial().await.hear().await, Heard::Closed(4000));
    hall.arm(json!({ "on": "connect", "kind": "drop" })).await;
    assert_eq!(hall.dial().await.hear().await, Heard::Lost);
    hall.arm(json!({ "on": "connect", "kind": "refuse", "status": 502 }))
        .await;
    let url = hall.sim.origin().replace("http", "ws");
    let refused = tokio_tungstenite::connect_async(url)
        .await
        .expect_err("no upgrade");
    assert!(refused.to_string().contains("502"), "{refused}");
    hall.arm(json!({ "on": "connect", "kind": "silence" }))
        .await;
    let mut silent = hall.dial().await;
    assert_eq!(
        silent.drain().await,
        Vec::<Value>::new(),
        "no HELLO, and an ACK all the same"
    );
    hall.connect().await;
}

#[tokio::test]
async fn identify_and_resume_can_be_answered_with_a_fault() {
    let hall = Hall::open().await;
    let (gateway, ready) = hall.login().await;
    gateway.close(4_000).await;
    hall.arm(json!({ "on": "identify", "kind": "invalid_session" }))
        .await;
    let mut fresh = hall.connect().await;
    fresh.identify(1).await;
    assert_eq!(fresh.next().await["op"], 9);
    let faults = [
        (
            json!({ "on": "resume", "kind": "close", "code": 4000 }),
            Heard::Closed(4000),
        ),
        (
            json!({ "on": "resume", "kind": "invalid_session", "resumable": true }),
            Heard::Frame(json!({ "op": 9, "s": null, "t": null, "d": true })),
        ),
        (json!({ "on": "resume", "kind": "drop" }), Heard::Lost),
        (
            json!({ "on": "resume", "kind": "close", "code": 4009 }),
            Heard::Closed(4009),
        ),
    ];
    for (fault, want) in faults {
        hall.arm(fault).await;
        let mut again = hall.connect().await;
        again.resume(&ready["session_id"], 2).await;
        assert_eq!(again.hear().await, want);
    }
    // All but the last left the session as it was.
    let mut gone = hall.connect().await;
    gone.resume(&ready["session_id"], 2).await;
    assert_eq!(gone.next().await["d"], false);
}

#[tokio::test]
async fn a_live_session_can_be_told_to_go_in_every_way() {
    let hall = Hall::open().await;
    let strike = async |body: Value| hall.control("POST", "/gateway", body).await;
    let (mut gateway, _) = hall.login().await;
    strike(json!({ "kind": "reconnect" })).await;
    assert_eq!(gateway.next().await["op"], 7);
    strike(json!({ "kind": "ask_heartbeat" })).await;
    assert_eq!(gateway.next().await["op"], 1);
    strike(json!({ "kind": "close", "code": 4000 })).await;
    assert_eq!(gateway.hear().await, Heard::Closed(4000));
    let (mut gateway, ready) = hall.login().await;
    strike(json!({ "kind": "tear" })).await;
    assert_eq!(gateway.hear().await, Heard::Lost);
    let mut again = hall.connect().await;
    again.resume(&ready["session_id"], 2).await;
    again.event("RESUMED").await;
    strike(json!({ "kind": "invalid_session" })).await;
    assert_eq!(again.next().await["d"], false);
    let mut gone = hall.connect().await;
    gone.resume(&ready["session_id"], 2).await;
    assert_eq!(gone.next().await["op"], 9);
}

#[tokio::test]
async fn a_half_open_connection_hears_and_says_nothing() {
    let hall = Hall::open().await;
    let (mut gateway, ready) = hall.login().await;
    hall.control("POST", "/gateway", json!({ "kind": "half_open" }))
        .await;
    gateway.send(json!({ "op": 1, "d": null })).await;
    hall.say("general", "Ana", "unheard").await;
    let mut again = hall.connect().await;
    again.resume(&ready["session_id"], 2).await;
    assert_eq!(again.event("MESSAGE_CREATE").await["content"], "unheard");
    // The old connection got nothing but its end.
    assert_eq!(gateway.hear().await, Heard::Lost);
}

#[tokio::test]
async fn a_heartbeat_can_go_unanswered() {
    let hall = Hall::open().await;
    let (mut gateway, _) = hall.login().await;
    hall.arm(json!({ "on": "heartbeat" })).await;
    gateway.send(json!({ "op": 1, "d": 2 })).await;
    hall.say("general", "Ana", "marker").await;
    assert_eq!(
        gateway.next().await["t"],
        "MESSAGE_CREATE",
        "no ACK came first"
    );
    gateway.drain().await;
}

#[tokio::test]
async fn dispatches_can_be_lost_doubled_and_swapped() {
    let hall = Hall::open().await;
    let cases = [
        ("lose", vec!["two", "three"]),
        ("duplicate", vec!["one", "one", "two", "three"]),
        ("swap", vec!["two", "one", "three"]),
    ];
    for (kind, want) in cases {
        let (mut gateway, _) = hall.login().await;
        hall.arm(json!({ "on": "dispatch", "kind": kind, "event": "MESSAGE_CREATE" }))
            .await;
        for content in ["one", "two", "three"] {
            hall.say("general", "Ana", content).await;
        }
        let frames = gateway.drain().await;
        let heard: Vec<&str> = frames
            .iter()
            .filter_map(|f| f["d"]["content"].as_str())
            .collect();
        assert_eq!(heard, want, "{kind}");
        gateway.close(1_000).await;
    }
}

#[tokio::test]
async fn armed_faults_are_listed_and_cleared() {
    let hall = Hall::open().await;
    hall.arm(json!({ "on": "heartbeat", "times": 3 })).await;
    let list = hall.control("GET", "/faults", json!({})).await;
    assert_eq!(list, json!([{ "on": "heartbeat", "times": 3 }]));
    assert_eq!(
        hall.control("DELETE", "/faults", json!({})).await,
        json!([])
    );
    let wrong = hall
        .try_control("POST", "/faults", json!({ "on": "nothing" }))
        .await;
    assert_eq!(wrong.status, 400);
}
