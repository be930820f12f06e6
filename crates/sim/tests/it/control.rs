//! The control API itself, the log, determinism, and stopping.

use guildhall_sim::{ClockStart, DemoAction, DemoActions, Scenario, SimConfig};
use serde_json::{Value, json};
use std::sync::Arc;

use crate::harness::{Hall, START_MS};

#[tokio::test]
async fn the_date_of_every_answer_is_the_clock_that_a_test_moves() {
    let hall = Hall::frozen(guildhall_sim::Scenario::for_tests()).await;
    let before = hall.get("/users/@me").await;
    assert_eq!(before.header("date"), Some("Mon, 30 Nov 2026 12:00:00 GMT"));
    hall.advance(3_600_000).await;
    let after = hall.get("/users/@me").await;
    assert_eq!(after.header("date"), Some("Mon, 30 Nov 2026 13:00:00 GMT"));
    assert_eq!(after.headers.get_all("date").iter().count(), 1);
}

#[tokio::test]
async fn the_root_tells_everything_that_a_bot_needs() {
    let hall = Hall::open().await;
    let all = hall.control("GET", "", json!({})).await;
    assert_eq!(all["origin"], hall.sim.origin());
    assert_eq!(all["token"], hall.sim.token());
    assert_eq!(
        (&all["guild"], &all["bot"]),
        (&json!(hall.sim.guild()), &json!(hall.sim.bot()))
    );
    let names: Vec<&str> = all["users"]
        .as_array()
        .expect("a list")
        .iter()
        .filter_map(|u| u["name"].as_str())
        .collect();
    assert_eq!(names, ["Olga", "Ana", "Ben", "Eve"]);
}

#[tokio::test]
async fn the_log_has_every_request_and_frame_and_no_token() {
    let hall = Hall::open().await;
    let (mut gateway, _) = hall.login().await;
    hall.post("general", json!({ "content": "logged" })).await;
    gateway.event("MESSAGE_CREATE").await;
    let log = hall.control("GET", "/log", json!({})).await;
    let entries = log["entries"].as_array().expect("a list");
    let requests: Vec<&Value> = entries.iter().filter(|e| e["kind"] == "request").collect();
    assert_eq!(requests.len(), 1);
    assert_eq!(
        (&requests[0]["status"], &requests[0]["body"]["content"]),
        (&json!(200), &json!("logged"))
    );
    let frames: Vec<String> = entries
        .iter()
        .filter(|entry| entry["kind"] == "frame")
        .map(|entry| {
            format!(
                "{} {} {}",
                entry["direction"], entry["frame"]["op"], entry["frame"]["t"]
            )
        })
        .collect();
    let want = [
        "\"out\" 10 null",
        "\"in\" 2 null",
        "\"out\" 0 \"READY\"",
        "\"out\" 0 \"GUILD_CREATE\"",
        "\"out\" 0 \"MESSAGE_CREATE\"",
    ];
    assert_eq!(frames, want);
    assert!(!log.to_string().contains(&hall.sim.token()));
    let last = log["last"].as_u64().expect("a number");
    let after = hall
        .control("GET", &format!("/log?after={last}"), json!({}))
        .await;
    assert_eq!(after["entries"], json!([]));
}

#[tokio::test]
async fn the_same_seed_and_clock_give_the_same_server() {
    let run = async || {
        let config = SimConfig {
            seed: 42,
            clock: ClockStart::FixedMs(START_MS),
            ..SimConfig::new(Scenario::for_tests())
        };
        let hall = Hall::start(config).await;
        let said = hall.say("general", "Ana", "hello").await;
        let sent = hall
            .post("general", json!({ "content": "yes" }))
            .await
            .json();
        (
            hall.sim.token(),
            hall.sim.guild(),
            said["id"].clone(),
            sent["id"].clone(),
        )
    };
    assert_eq!(run().await, run().await);
}

#[tokio::test]
async fn edits_and_deletions_by_people_reach_the_bot() {
    let hall = Hall::open().await;
    let (mut gateway, _) = hall.login().await;
    let said = hall.say("general", "Ana", "one").await;
    let wish = json!({ "channel": "general", "message": said["id"], "content": "two" });
    hall.control("PATCH", "/messages", wish).await;
    assert_eq!(gateway.event("MESSAGE_UPDATE").await["content"], "two");
    let wish = json!({ "channel": "general", "message": said["id"] });
    hall.control("DELETE", "/messages", wish.clone()).await;
    assert_eq!(gateway.event("MESSAGE_DELETE").await["id"], said["id"]);
    assert_eq!(
        hall.try_control("DELETE", "/messages", wish).await.status,
        404
    );
}

#[tokio::test]
async fn a_webhook_message_has_no_member_and_its_own_author() {
    let hall = Hall::open().await;
    let (mut gateway, _) = hall.login().await;
    let wish =
        json!({ "channel": "general", "author": "Ana", "content": "ping", "webhook": "Deploys" });
    hall.control("POST", "/messages", wish).await;
    let event = gateway.event("MESSAGE_CREATE").await;
    assert_eq!(event["author"]["username"], "Deploys");
    assert_eq!(event["webhook_id"], event["author"]["id"]);
    assert!(event.get("member").is_none());
}

#[tokio::test]
async fn raw_fields_make_any_shape_of_message() {
    let hall = Hall::open().await;
    let (mut gateway, _) = hall.login().await;
    let raw =
        json!({ "type": 7, "sticker_items": [{ "id": "5", "name": "wave", "format_type": 1 }] });
    let wish = json!({ "channel": "general", "author": "Ana", "raw": raw });
    hall.control("POST", "/messages", wish).await;
    let event = gateway.event("MESSAGE_CREATE").await;
    assert_eq!(
        (&event["type"], &event["sticker_items"][0]["name"]),
        (&json!(7), &json!("wave"))
    );
}

#[tokio::test]
async fn mistakes_in_a_control_request_are_explained() {
    let hall = Hall::open().await;
    let cases = [
        (
            "POST",
            "/messages",
            json!({ "channel": "general" }),
            400,
            "author",
        ),
        (
            "POST",
            "/messages",
            json!({ "channel": "no", "author": "Ana", "content": "x" }),
            404,
            "no",
        ),
        (
            "POST",
            "/messages",
            json!({ "channel": "general", "author": "Zoe", "content": "x" }),
            404,
            "Zoe",
        ),
        (
            "POST",
            "/messages",
            json!({ "channel": "general", "author": "Ana", "colour": 1 }),
            400,
            "colour",
        ),
        ("POST", "/nothing", json!({}), 404, "nothing"),
        ("POST", "/actions/kill", json!({}), 404, "kill"),
    ];
    for (method, path, body, status, word) in cases {
        let answer = hall.try_control(method, path, body).await;
        assert_eq!(answer.status, status, "{path}");
        let error = answer.json()["error"]
            .as_str()
            .expect("an explanation")
            .to_owned();
        assert!(error.contains(word), "{path}: {error}");
    }
}

#[tokio::test]
async fn rules_change_one_by_one_while_it_runs() {
    let hall = Hall::open().await;
    let before = hall.control("GET", "/rules", json!({})).await;
    let after = hall
        .control("PATCH", "/rules", json!({ "nonce_window_ms": 7 }))
        .await;
    assert_eq!(
        (&after["nonce_window_ms"], &before["nonce_window_ms"]),
        (&json!(7), &json!(300_000))
    );
    assert_eq!(after["identify_total"], before["identify_total"]);
    for wrong in [json!({ "nonce": 1 }), json!({ "nonce_window_ms": "long" })] {
        assert_eq!(hall.try_control("PATCH", "/rules", wrong).await.status, 400);
    }
}

struct Kill;

impl DemoActions for Kill {
    fn actions(&self) -> Vec<DemoAction> {
        let text = |text: &str| text.to_owned();
        vec![DemoAction {
            name: text("kill"),
            label: text("Kill"),
            hint: text("Ends it."),
        }]
    }

    fn run(&self, name: &str) -> guildhall_sim::ActionFuture {
        let message = format!("did {name}");
        Box::pin(async move { Ok(message) })
    }
}

#[tokio::test]
async fn the_hosts_panel_and_actions_are_passed_on() {
    let panel = || Some(json!({ "state": "Idle" }));
    let config = SimConfig {
        panel: Arc::new(panel),
        actions: Arc::new(Kill),
        ..SimConfig::new(Scenario::for_tests())
    };
    let hall = Hall::start(config).await;
    assert_eq!(
        hall.control("GET", "/panel", json!({})).await,
        json!({ "state": "Idle" })
    );
    assert_eq!(
        hall.control("GET", "/actions", json!({})).await[0]["name"],
        "kill"
    );
    let done = hall.control("POST", "/actions/kill", json!({})).await;
    assert_eq!(done, json!({ "message": "did kill" }));
}

#[tokio::test]
async fn stopping_ends_connections_and_frees_the_port() {
    let hall = Hall::open().await;
    let (mut gateway, _) = hall.login().await;
    let port = hall
        .sim
        .origin()
        .rsplit(':')
        .next()
        .expect("a port")
        .parse()
        .expect("a number");
    hall.sim.stop().await;
    assert_eq!(gateway.hear().await, crate::harness::Heard::Lost);
    let config = SimConfig {
        port,
        ..SimConfig::new(Scenario::for_tests())
    };
    guildhall_sim::start(config)
        .await
        .expect("the port is free again")
        .stop()
        .await;
}

#[tokio::test]
async fn a_taken_port_and_a_wrong_scenario_are_errors_that_say_so() {
    let hall = Hall::open().await;
    let port = hall
        .sim
        .origin()
        .rsplit(':')
        .next()
        .expect("a port")
        .parse()
        .expect("a number");
    let taken = SimConfig {
        port,
        ..SimConfig::new(Scenario::for_tests())
    };
    let error = guildhall_sim::start(taken)
        .await
        .expect_err("the port is taken");
    assert!(error.to_string().contains(&port.to_string()), "{error}");
    let mut scenario = Scenario::for_tests();
    scenario.people[0].roles.push("Nobles".to_owned());
    let error = guildhall_sim::start(SimConfig::new(scenario))
        .await
        .expect_err("no such role");
    assert!(error.to_string().contains("Nobles"), "{error}");
}
