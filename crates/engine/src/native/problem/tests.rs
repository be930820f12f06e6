//! Tables of what goes wrong.

use super::*;
use serde_json::json;

const BUSY: Problem = Problem::Busy { retry_after: None };

#[test]
fn a_status_says_what_is_wrong() {
    let cases = [
        (400, json!({}), Problem::Refused),
        (
            400,
            json!({"error": {"code": "context_length_exceeded"}}),
            Problem::TooMuchContext,
        ),
        (
            400,
            json!({"error": {"type": "invalid_request_error", "message": "prompt is too long: 9 tokens"}}),
            Problem::TooMuchContext,
        ),
        (
            400,
            json!({"error": {"code": 400, "type": "exceed_context_size_error"}}),
            Problem::TooMuchContext,
        ),
        (401, json!({}), Problem::Key),
        (403, json!({}), Problem::Key),
        (404, json!({"error": "model not found"}), Problem::Refused),
        (408, json!({}), BUSY),
        (302, json!({}), Problem::Refused),
        (429, json!({}), BUSY),
        (
            429,
            json!({"error": {"code": "insufficient_quota"}}),
            Problem::Refused,
        ),
        (500, json!("no object"), BUSY),
        (503, json!({}), BUSY),
        (529, json!({}), BUSY),
    ];
    for (status, body, want) in cases {
        let bytes = body.to_string().into_bytes();
        assert_eq!(
            Problem::of_status(status, None, &bytes),
            want,
            "{status} {body}"
        );
    }
    assert_eq!(Problem::of_status(502, None, b"<html>"), BUSY);
}

#[test]
fn an_error_in_a_stream_says_what_is_wrong() {
    let cases = [
        (
            json!({"type": "error", "error": {"type": "overloaded_error"}}),
            BUSY,
        ),
        (json!({"error": {"type": "rate_limit_error"}}), BUSY),
        (json!({"error": {"code": 502, "message": "upstream"}}), BUSY),
        (json!({"error": "something"}), BUSY),
        (
            json!({"error": {"type": "authentication_error"}}),
            Problem::Key,
        ),
        (json!({"error": {"code": 401}}), Problem::Key),
        (
            json!({"error": {"type": "invalid_request_error"}}),
            Problem::Refused,
        ),
        (
            json!({"error": {"message": "This exceeds the available context size"}}),
            Problem::TooMuchContext,
        ),
    ];
    for (error, want) in cases {
        assert_eq!(Problem::of_error(&error), want, "{error}");
    }
}

#[test]
fn only_what_may_pass_is_tried_again_and_only_before_text() {
    let wait = |secs| Next::Again(Duration::from_secs(secs));
    let asks = |secs| Problem::Busy {
        retry_after: Some(Duration::from_secs(secs)),
    };
    let nothing = Shown::Nothing;
    let cases = [
        (BUSY, 1, nothing, wait(1)),
        (BUSY, 2, nothing, wait(2)),
        (BUSY, 4, nothing, wait(8)),
        (BUSY, 5, nothing, Next::GiveUp(RunFailure::ProviderBusy)),
        (
            BUSY,
            1,
            Shown::Something,
            Next::GiveUp(RunFailure::ProviderBusy),
        ),
        (asks(20), 1, nothing, wait(20)),
        (asks(0), 2, nothing, wait(2)),
        (asks(61), 1, nothing, Next::GiveUp(RunFailure::ProviderBusy)),
        (Problem::Unreachable, 1, nothing, wait(1)),
        (Problem::Broken, 1, nothing, wait(1)),
        (
            Problem::Broken,
            1,
            Shown::Something,
            Next::GiveUp(RunFailure::ProviderUnreachable),
        ),
        (Problem::TooMuchContext, 1, nothing, Next::Shorter),
        (
            Problem::TooMuchContext,
            5,
            nothing,
            Next::GiveUp(RunFailure::ProviderRefused),
        ),
    ];
    for (problem, attempt, shown, want) in cases {
        assert_eq!(
            problem.next(attempt, shown, 0.0),
            want,
            "{problem:?} {attempt} {shown:?}"
        );
    }
}

#[test]
fn what_would_be_the_same_again_is_given_up_at_once() {
    let cases = [
        (Problem::Key, RunFailure::ProviderKey),
        (Problem::Refused, RunFailure::ProviderRefused),
        (Problem::Silent, RunFailure::TimedOut),
        (Problem::TooLong, RunFailure::TooLong),
        (Problem::Rubbish("x"), RunFailure::EngineRubbish),
    ];
    for (problem, why) in cases {
        assert_eq!(problem.next(1, Shown::Nothing, 0.0), Next::GiveUp(why));
    }
}

#[test]
fn chance_only_shortens_a_wait_of_our_own() {
    assert_eq!(
        BUSY.next(1, Shown::Nothing, 1.0),
        Next::Again(Duration::from_millis(750))
    );
    let asked = Problem::Busy {
        retry_after: Some(Duration::from_secs(5)),
    };
    assert_eq!(
        asked.next(1, Shown::Nothing, 1.0),
        Next::Again(Duration::from_secs(5))
    );
}

#[test]
fn a_time_to_come_back_is_read_in_every_form() {
    let date = ("date", "Mon, 30 Nov 2026 14:04:05 GMT");
    let cases = [
        (vec![("retry-after", "7")], Some(7_000)),
        (vec![("retry-after", " 1.5 ")], Some(1_500)),
        (
            vec![("retry-after-ms", "250"), ("retry-after", "7")],
            Some(250),
        ),
        (
            vec![("retry-after", "Mon, 30 Nov 2026 14:04:35 GMT"), date],
            Some(30_000),
        ),
        (
            vec![("retry-after", "Mon, 30 Nov 2026 14:00:00 GMT"), date],
            Some(0),
        ),
        (vec![("retry-after", "Mon, 30 Nov 2026 14:04:35 GMT")], None),
        (vec![("retry-after", "-3")], None),
        (vec![("retry-after", "soon")], None),
        (vec![("retry-after", "NaN")], None),
        (vec![], None),
    ];
    for (headers, want) in cases {
        let header = |name: &str| {
            let found = headers.iter().find(|(key, _)| *key == name);
            found.map(|(_, value)| (*value).to_owned())
        };
        assert_eq!(
            retry_after(header),
            want.map(Duration::from_millis),
            "{headers:?}"
        );
    }
}
