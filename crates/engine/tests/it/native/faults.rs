//! Everything that can go wrong with a provider. Time is virtual: nothing here waits for real.

use super::{native, parts};
use crate::{
    provider::{Provider, Step, answers, chunk, raw, status, stream_head, text},
    support::{observe, request, texts},
};
use guildhall_connector::run::{Ended, RunFailure, RunOutcome};
use guildhall_engine::{ANSWER_MAX_BYTES, Native, NativeParts, RunRequest, Timing};
use serde_json::json;
use std::time::Duration;
use tokio::time::Instant;

/// What a run against these connections came to, how often the provider was asked, and how long it
/// took.
struct Came {
    ended: Ended,
    asked: usize,
    took: Duration,
}

async fn came(connections: Vec<Vec<Step>>) -> Came {
    came_within(connections, request("seat", "1", "hello").longest).await
}

/// The same with a turn that may take so long.
async fn came_within(connections: Vec<Vec<Step>>, longest: Duration) -> Came {
    let root = tempfile::tempdir().expect("a folder");
    let provider = Provider::play(connections).await;
    let began = Instant::now();
    let request = RunRequest {
        longest,
        ..request("seat", "1", "hello")
    };
    let run = observe(&native(root.path(), &provider), request);
    let (_, ended) = run.ended().await;
    let kept = root.path().join("sessions/discord-oak/seat/native.jsonl");
    let lines = std::fs::read_to_string(kept)
        .unwrap_or_default()
        .lines()
        .count();
    let answered = matches!(ended.outcome, RunOutcome::Answered(_));
    assert_eq!(lines, usize::from(answered), "only answered turns are kept");
    Came {
        ended,
        asked: provider.seen().len(),
        took: began.elapsed(),
    }
}

async fn fails(connections: Vec<Vec<Step>>, why: RunFailure, asked: usize) -> Duration {
    let name = format!("{:.200}", format!("{connections:?}"));
    let came = came(connections).await;
    assert_eq!(came.ended.outcome, RunOutcome::Failed(why), "{name}");
    assert_eq!(came.asked, asked, "{name}");
    came.took
}

fn said(came: Came) -> String {
    texts(came.ended.outcome)[0].as_str().to_owned()
}

fn error(of: &serde_json::Value) -> Step {
    chunk(&json!({"error": of}))
}

#[tokio::test(start_paused = true)]
async fn a_refusal_is_not_asked_twice() {
    let cases = [
        ("401 Unauthorized", "{}", RunFailure::ProviderKey),
        ("403 Forbidden", "{}", RunFailure::ProviderKey),
        (
            "400 Bad Request",
            "{\"error\":{\"message\":\"no such field\"}}",
            RunFailure::ProviderRefused,
        ),
        ("404 Not Found", "", RunFailure::ProviderRefused),
        ("307 Temporary Redirect", "", RunFailure::ProviderRefused),
        (
            "429 Too Many Requests",
            "{\"error\":{\"code\":\"insufficient_quota\"}}",
            RunFailure::ProviderRefused,
        ),
    ];
    for (line, body, why) in cases {
        let headers = "Location: http://127.0.0.1:9/\r\n";
        fails(vec![status(line, headers, body), answers("no")], why, 1).await;
    }
}

#[tokio::test(start_paused = true)]
async fn what_passes_is_asked_again_and_answered() {
    let busy = || status("429 Too Many Requests", "", "{}");
    let broken = || vec![stream_head(), Step::Reset];
    let overloaded = || vec![stream_head(), error(&json!({"type": "overloaded_error"}))];
    let cut = || vec![stream_head()];
    for first in [
        busy(),
        status("500 Oops", "", "<html>"),
        broken(),
        overloaded(),
        cut(),
        vec![],
    ] {
        let name = format!("{first:?}");
        let came = came(vec![first, answers("yes")]).await;
        assert_eq!(came.asked, 2, "{name}");
        assert!(
            came.took >= Duration::from_millis(750),
            "{name}: {:?}",
            came.took
        );
        assert!(
            came.took < Duration::from_secs(5),
            "{name}: {:?}",
            came.took
        );
        assert_eq!(said(came), "yes", "{name}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_provider_that_stays_busy_is_asked_five_times() {
    let busy = || status("503 Service Unavailable", "", "{}");
    let all = (0..9).map(|_| busy()).collect();
    let took = fails(all, RunFailure::ProviderBusy, 5).await;
    assert!(
        took >= Duration::from_secs(11) && took < Duration::from_secs(20),
        "{took:?}"
    );
}

#[tokio::test(start_paused = true)]
async fn the_time_to_come_back_is_kept() {
    let after = |header: &str| status("429 Too Many Requests", header, "{}");
    let came = came(vec![after("Retry-After: 17\r\n"), answers("yes")]).await;
    assert!(came.took >= Duration::from_secs(17) && came.took < Duration::from_secs(25));
    assert_eq!(said(came), "yes");
    let too_long = vec![after("Retry-After: 3600\r\n"), answers("yes")];
    let took = fails(too_long, RunFailure::ProviderBusy, 1).await;
    assert!(took < Duration::from_secs(5), "{took:?}");
}

#[tokio::test(start_paused = true)]
async fn nothing_is_asked_again_once_text_has_come() {
    let begun = |then: Step| vec![vec![stream_head(), text("half an"), then], answers("no")];
    let cases = [
        (
            begun(error(&json!({"type": "overloaded_error"}))),
            RunFailure::ProviderBusy,
        ),
        (begun(Step::Reset), RunFailure::ProviderUnreachable),
        (
            vec![vec![stream_head(), text("half an")], answers("no")],
            RunFailure::ProviderUnreachable,
        ),
        (begun(Step::Hold), RunFailure::TimedOut),
    ];
    for (connections, why) in cases {
        fails(connections, why, 1).await;
    }
}

#[tokio::test(start_paused = true)]
async fn thoughts_are_no_text_and_may_be_thought_again() {
    let thought = chunk(&json!({"choices": [{"delta": {"reasoning_content": "hm"}}]}));
    let came = came(vec![
        vec![stream_head(), thought, Step::Reset],
        answers("yes"),
    ])
    .await;
    assert_eq!((came.asked, said(came).as_str()), (2, "yes"));
}

#[tokio::test(start_paused = true)]
async fn silence_ends_and_keep_alives_are_silence() {
    // Before the first sign the turn's own time counts, which is longer here.
    let longest = request("seat", "1", "hello").longest;
    let silence = Timing::default().silence;
    assert!(silence < longest);
    let ping = || [raw(": keep-alive\n\n"), Step::Wait(Duration::from_secs(10))];
    let pings = std::iter::once(stream_head()).chain((0..60).flat_map(|_| ping()));
    let empty = chunk(&json!({"choices": [{"delta": {"content": ""}}]}));
    let empties = (0..60).flat_map(|_| [empty.clone(), Step::Wait(Duration::from_secs(10))]);
    let cases: [Vec<Step>; 4] = [
        vec![Step::Hold],
        vec![stream_head(), Step::Hold],
        pings.collect(),
        std::iter::once(stream_head()).chain(empties).collect(),
    ];
    for script in cases {
        let took = fails(vec![script], RunFailure::TimedOut, 1).await;
        assert!(
            took >= longest && took < longest + Duration::from_secs(15),
            "{took:?}"
        );
    }
    let begun = vec![stream_head(), text("one"), Step::Hold];
    let took = fails(vec![begun], RunFailure::TimedOut, 1).await;
    assert!(took >= silence && took < longest, "{took:?}");
}

#[tokio::test(start_paused = true)]
async fn a_wait_that_the_turn_has_no_time_for_is_told_as_what_it_is() {
    let busy = |header: &str| vec![status("429 Too Many Requests", header, "{}"); 2];
    let cases = [
        (busy("Retry-After: 30\r\n"), 4, RunFailure::ProviderBusy, 1),
        (busy(""), 1, RunFailure::ProviderBusy, 2),
        (
            vec![status("529 Overloaded", "", "{}"); 8],
            4,
            RunFailure::ProviderBusy,
            3,
        ),
    ];
    for (connections, seconds, why, asked) in cases {
        let longest = Duration::from_secs(seconds);
        let came = came_within(connections, longest).await;
        assert_eq!(came.ended.outcome, RunOutcome::Failed(why), "{seconds}");
        assert_eq!(came.asked, asked, "{seconds}");
        assert!(came.took <= longest, "{:?}", came.took);
    }
}

#[tokio::test(start_paused = true)]
async fn slow_is_not_silent() {
    let mut steps = vec![stream_head()];
    for word in ["one ", "two ", "three ", "four"] {
        steps.push(Step::Wait(Duration::from_secs(100)));
        steps.push(text(word));
    }
    steps.extend(crate::provider::the_end());
    let came = came(vec![steps]).await;
    assert!(came.took >= Duration::from_secs(400));
    assert_eq!(said(came), "one two three four");
}

#[tokio::test(start_paused = true)]
async fn rubbish_and_bounds_end_the_run_by_name() {
    let huge = "x".repeat(2 * 1024 * 1024);
    let half = "y".repeat(ANSWER_MAX_BYTES / 2 + 1);
    let cases = [
        (
            vec![stream_head(), raw("data: {broken\n\n")],
            RunFailure::EngineRubbish,
        ),
        (
            vec![stream_head(), raw("data: \u{7f}\n\n")],
            RunFailure::EngineRubbish,
        ),
        (
            vec![stream_head(), raw(b"data: \xff\xfe\n\n".to_vec())],
            RunFailure::EngineRubbish,
        ),
        (vec![stream_head(), raw(huge)], RunFailure::EngineRubbish),
        (
            status("200 OK", "", "no document"),
            RunFailure::EngineRubbish,
        ),
        (
            vec![stream_head(), text(&half), text(&half), Step::Hold],
            RunFailure::TooLong,
        ),
    ];
    for (script, why) in cases {
        fails(vec![script], why, 1).await;
    }
}

#[tokio::test(start_paused = true)]
async fn what_is_no_http_at_all_is_a_broken_connection() {
    let rubbish = || vec![raw("hello\r\n\r\n")];
    let all = (0..5).map(|_| rubbish()).collect();
    fails(all, RunFailure::ProviderUnreachable, 5).await;
}

#[tokio::test(start_paused = true)]
async fn nobody_at_the_address_is_unreachable() {
    let root = tempfile::tempdir().expect("a folder");
    let provider = Provider::play(Vec::new()).await;
    let nobody = {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a free port");
        format!("http://{}/v1", listener.local_addr().expect("an address"))
    };
    let engine = Native::new(NativeParts {
        base_url: nobody,
        ..parts(root.path(), &provider)
    })
    .expect("good settings");
    let (_, ended) = observe(&engine, request("seat", "1", "hello"))
        .ended()
        .await;
    assert_eq!(
        ended.outcome,
        RunOutcome::Failed(RunFailure::ProviderUnreachable)
    );
    assert_eq!(ended.engine_turns, 0);
}

#[tokio::test(start_paused = true)]
async fn an_abort_while_waiting_to_ask_again_ends_at_once() {
    let root = tempfile::tempdir().expect("a folder");
    let later = status("429 Too Many Requests", "Retry-After: 50\r\n", "{}");
    let provider = Provider::play(vec![later, answers("no")]).await;
    let mut run = observe(
        &native(root.path(), &provider),
        request("seat", "1", "hello"),
    );
    provider.ended(1).await;
    run.handle.as_mut().expect("held").abort();
    let (_, ended) = run.ended().await;
    assert_eq!(ended.outcome, RunOutcome::Aborted);
    assert_eq!(provider.seen().len(), 1);
}
