//! The page as files, its live connection, and who may come in.

use std::collections::BTreeSet;

use futures_util::StreamExt;
use serde_json::{Value, json};

use crate::harness::{Answer, DEADLINE, Hall};

async fn get(hall: &Hall, path: &str, headers: &[(&str, &str)]) -> Answer {
    let mut request = hyper::Request::get(format!("{}{path}", hall.sim.origin()));
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    let request = request.body(Default::default()).expect("a request");
    hall.request(request).await.expect("an answer")
}

#[tokio::test]
async fn the_page_and_all_that_it_names_are_served_with_a_strict_policy() {
    let hall = Hall::open().await;
    let index = get(&hall, "/", &[("accept", "text/html")]).await;
    assert_eq!(index.status, 200);
    let policy = index.header("content-security-policy").expect("a policy");
    assert!(policy.starts_with("default-src 'none'"), "{policy}");
    assert!(!policy.contains("unsafe"), "{policy}");
    assert!(!index.text.contains("<script>") && !index.text.contains("style="));
    let mut left: Vec<String> = index
        .text
        .split('"')
        .filter(|part| part.starts_with("/page/"))
        .map(str::to_owned)
        .collect();
    let mut seen = BTreeSet::new();
    while let Some(path) = left.pop() {
        if !seen.insert(path.clone()) {
            continue;
        }
        let file = get(&hall, &path, &[]).await;
        assert_eq!(file.status, 200, "{path}");
        assert!(!file.text.contains(".innerHTML"), "{path}");
        let imports = file
            .text
            .lines()
            .filter_map(|line| line.split(" from './").nth(1));
        left.extend(imports.map(|rest| format!("/page/{}", rest.trim_end_matches("';"))));
    }
    assert!(seen.len() >= 12, "{seen:?}");
}

#[tokio::test]
async fn pages_of_other_origins_are_kept_out() {
    let hall = Hall::open().await;
    let own = hall.sim.origin();
    let cases = [
        ("own origin", "origin", own.as_str(), 200),
        ("foreign origin", "origin", "http://evil.example", 403),
        ("foreign host", "host", "evil.example", 403),
    ];
    for (name, header, value, status) in cases {
        assert_eq!(
            get(&hall, "/control", &[(header, value)]).await.status,
            status,
            "{name}"
        );
    }
}

#[tokio::test]
async fn an_open_page_gets_the_state_and_then_every_change() {
    let hall = Hall::open().await;
    let url = format!("{}/page/live", hall.sim.origin().replace("http", "ws"));
    let (mut socket, _) = tokio_tungstenite::connect_async(url)
        .await
        .expect("an upgrade");
    let mut next = async || {
        let read = tokio::time::timeout(DEADLINE, socket.next())
            .await
            .expect("in time");
        let message = read.expect("open").expect("a frame");
        serde_json::from_str::<Value>(message.to_text().expect("text")).expect("JSON")
    };
    let state = next().await;
    assert_eq!(
        (&state["type"], &state["guild"]["name"]),
        (&json!("state"), &json!("Guildhall"))
    );
    assert!(!state.to_string().contains(&hall.sim.token()));
    hall.say("general", "Ana", "hello").await;
    let event = next().await;
    assert_eq!(
        (&event["type"], &event["message"]["content"]),
        (&json!("message"), &json!("hello"))
    );
    hall.arm(json!({ "on": "heartbeat" })).await;
    assert_eq!(next().await["faults"][0]["on"], "heartbeat");
    hall.sim.panel_changed();
    assert_eq!(next().await, json!({ "type": "panel" }));
}
