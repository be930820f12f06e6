//! Answers of every kind, and what is read out of them.

use super::*;
use crate::http::Body;
use bytes::Bytes;
use hyper::{HeaderMap, header::HeaderName, header::HeaderValue};
use serde_json::json;

fn answer(status: u16, headers: &[(&'static str, &str)], body: &str) -> Answer {
    let mut map = HeaderMap::new();
    for (name, value) in headers {
        let value = HeaderValue::from_str(value).expect("a header");
        map.insert(HeaderName::from_static(name), value);
    }
    let body = Body::Whole(Bytes::copy_from_slice(body.as_bytes()));
    Answer {
        status,
        headers: map,
        body,
    }
}

const JSON: (&str, &str) = ("content-type", "application/json");
const HTML: (&str, &str) = ("content-type", "text/html; charset=UTF-8");

type Headers = &'static [(&'static str, &'static str)];

#[test]
fn a_429_is_waited_for_as_it_says() {
    const SHARED: (&str, &str) = ("x-ratelimit-scope", "shared");
    const GLOBAL: (&str, &str) = ("x-ratelimit-global", "true");
    const RESET: (&str, &str) = ("x-ratelimit-reset-after", "0.75");
    const AFTER: (&str, &str) = ("retry-after", "2");
    let both = r#"{"retry_after":1.25,"global":false}"#;
    let global = r#"{"retry_after":3,"global":true}"#;
    let cases: [(&str, Headers, &str, Scope, u64); 10] = [
        (
            "body beats header",
            &[JSON, AFTER],
            both,
            Scope::User,
            1_250,
        ),
        ("header alone", &[JSON, AFTER], "{}", Scope::User, 2_000),
        ("reset alone", &[JSON, RESET], "{}", Scope::User, 750),
        ("nothing said", &[JSON], "{}", Scope::User, UNSAID_WAIT_MS),
        (
            "shared",
            &[JSON, SHARED, RESET],
            r#"{"retry_after":9}"#,
            Scope::Shared,
            9_000,
        ),
        ("global by body", &[JSON], global, Scope::Global, 3_000),
        (
            "global by header",
            &[JSON, GLOBAL],
            r#"{"retry_after":3}"#,
            Scope::Global,
            3_000,
        ),
        (
            "page",
            &[HTML],
            "<html>1015</html>",
            Scope::Edge,
            EDGE_WAIT_MS,
        ),
        (
            "page with header",
            &[HTML, AFTER],
            "<html>",
            Scope::Edge,
            2_000,
        ),
        (
            "nonsense",
            &[JSON],
            r#"{"retry_after":"soon"}"#,
            Scope::User,
            UNSAID_WAIT_MS,
        ),
    ];
    for (name, headers, body, scope, wait_ms) in cases {
        let answer = answer(429, headers, body);
        let (reading, verdict) = read(&answer);
        assert_eq!(reading.limited, Some(Limited { scope, wait_ms }), "{name}");
        assert_eq!(verdict, Verdict::Wait, "{name}");
    }
}

#[test]
fn codes_mean_what_the_reference_says() {
    let cases = [
        (403, 50_001, Reason::NoAccess),
        (403, 50_013, Reason::NoPermission),
        (404, 10_003, Reason::UnknownChannel),
        (404, 10_008, Reason::UnknownMessage),
        (404, 10_062, Reason::InteractionOver),
        (400, 40_060, Reason::InteractionOver),
        (400, 10_014, Reason::Emoji),
        (400, 40_058, Reason::ForumNeedsPost),
        (400, 50_006, Reason::Empty),
        (400, 50_083, Reason::Archived),
        (403, 160_005, Reason::Locked),
        (400, 160_002, Reason::ReplyNeedsHistory),
        (400, 160_004, Reason::ThreadExists),
        (403, 90_001, Reason::Blocked),
        (400, 200_000, Reason::Moderated),
        (401, 0, Reason::Unauthorized),
        (401, 50_027, Reason::InteractionOver),
        (405, 0, Reason::Other),
        (404, 0, Reason::UnknownOther),
    ];
    for (status, code, reason) in cases {
        let body = json!({ "message": "words", "code": code }).to_string();
        let (_, verdict) = read(&answer(status, &[JSON], &body));
        let want = Refused {
            status,
            code,
            reason,
        };
        assert_eq!(verdict, Verdict::Refused(want), "{status} {code}");
    }
}

#[test]
fn a_form_fault_is_told_by_its_inner_code_wherever_it_stands() {
    let form = |errors| json!({ "code": 50_035, "errors": errors }).to_string();
    let fault = |code: &str| json!({ "_errors": [{ "code": code, "message": "words" }] });
    let cases = [
        (
            form(json!({ "content": fault("BASE_TYPE_MAX_LENGTH") })),
            Reason::TooLong,
        ),
        (
            form(json!({ "message_reference": fault("MESSAGE_REFERENCE_UNKNOWN_MESSAGE") })),
            Reason::UnknownReference,
        ),
        (
            form(json!({ "components": { "0": { "components": { "1": fault("X") } } } })),
            Reason::BadForm,
        ),
        (form(json!("odd")), Reason::BadForm),
    ];
    for (body, reason) in cases {
        let (_, verdict) = read(&answer(400, &[JSON], &body));
        let want = Refused {
            status: 400,
            code: 50_035,
            reason,
        };
        assert_eq!(verdict, Verdict::Refused(want), "{body}");
    }
}

#[test]
fn the_edge_network_is_not_taken_for_discord() {
    let page = answer(403, &[HTML], "<html>blocked</html>");
    let (reading, verdict) = read(&page);
    assert!(matches!(verdict, Verdict::Refused(no) if no.reason == Reason::Edge));
    assert!(
        reading
            .limited
            .is_some_and(|limited| limited.scope == Scope::Edge)
    );
    // A page is no JSON, whatever it looks like.
    assert!(json(&answer(200, &[HTML], "{}")).is_none());
    assert!(
        json(&answer(
            200,
            &[("content-type", "application/json; charset=utf-8")],
            "{}"
        ))
        .is_some()
    );
}

#[test]
fn an_overloaded_discord_is_waited_for_and_a_broken_one_is_unknown() {
    let body = json!({ "code": 20_028, "retry_after": 4.0 }).to_string();
    let overloaded = answer(403, &[JSON], &body);
    let (reading, verdict) = read(&overloaded);
    assert_eq!(verdict, Verdict::Wait);
    assert!(
        reading
            .limited
            .is_some_and(|limited| limited.wait_ms == 4_000)
    );
    for status in [500, 502, 503, 504] {
        let (_, verdict) = read(&answer(status, &[HTML], "<html>"));
        assert_eq!(verdict, Verdict::Unknown(UnknownWhy::Server(status)));
    }
}
