//! Rate limits.

use guildhall_sim::{Rules, Scenario};
use serde_json::json;

use crate::harness::Hall;

fn strict() -> Scenario {
    Scenario {
        rules: Rules {
            identify_window_ms: 0,
            ..Rules::default()
        },
        ..Scenario::demo()
    }
}

#[tokio::test]
async fn success_carries_the_bucket_and_never_a_scope() {
    let hall = Hall::frozen(strict()).await;
    for remaining in (0..5).rev() {
        let answer = hall.post("general", json!({ "content": "x" })).await;
        assert_eq!(answer.status, 200);
        assert_eq!(answer.header("x-ratelimit-limit"), Some("5"));
        assert_eq!(
            answer.header("x-ratelimit-remaining"),
            Some(remaining.to_string().as_str())
        );
        assert_eq!(answer.header("x-ratelimit-reset-after"), Some("5.000"));
        assert!(answer.header("x-ratelimit-bucket").is_some());
        assert_eq!(answer.header("x-ratelimit-scope"), None);
    }
    let refused = hall.post("general", json!({ "content": "x" })).await;
    assert_eq!(refused.status, 429);
    assert_eq!(refused.header("x-ratelimit-scope"), Some("user"));
    assert_eq!(refused.header("retry-after"), Some("5"));
    assert!(refused.header("via").is_some());
    let body = refused.json();
    assert_eq!(
        (&body["retry_after"], &body["global"]),
        (&json!(5.0), &json!(false))
    );

    assert_eq!(
        hall.post("help", json!({ "content": "x" })).await.status,
        200,
        "another channel"
    );
    hall.advance(5_000).await;
    assert_eq!(
        hall.post("general", json!({ "content": "x" })).await.status,
        200,
        "later"
    );
}

#[tokio::test]
async fn all_routes_together_have_a_global_limit() {
    let mut scenario = strict();
    scenario.rules.global_per_second = 3;
    let hall = Hall::frozen(scenario).await;
    for _ in 0..3 {
        assert_eq!(hall.get("/users/@me").await.status, 200);
    }
    let refused = hall.get("/users/@me").await;
    assert_eq!(refused.status, 429);
    assert_eq!(refused.header("x-ratelimit-scope"), Some("global"));
    assert_eq!(refused.header("x-ratelimit-global"), Some("true"));
    assert_eq!(refused.json()["global"], true);
}

#[tokio::test]
async fn too_many_invalid_requests_end_in_a_page_that_is_no_json() {
    let mut scenario = Scenario::for_tests();
    scenario.rules.invalid_requests = 2;
    let hall = Hall::frozen(scenario).await;
    for _ in 0..2 {
        assert_eq!(
            hall.post("operators", json!({ "content": 1 })).await.status,
            400
        );
        let wish = json!({ "channel": "help", "target": "Seat", "deny": ["VIEW_CHANNEL"] });
        hall.control("POST", "/overwrites", wish).await;
        assert_eq!(
            hall.post("help", json!({ "content": "x" })).await.status,
            403
        );
    }
    let banned = hall.get("/users/@me").await;
    assert_eq!(banned.status, 429);
    assert_eq!(
        banned.header("content-type"),
        Some("text/html; charset=UTF-8")
    );
    assert_eq!(
        (banned.header("via"), banned.header("x-ratelimit-scope")),
        (None, None)
    );
    hall.advance(600_000).await;
    assert_eq!(hall.get("/users/@me").await.status, 200);
}
