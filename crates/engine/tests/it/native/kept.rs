//! What is kept warm between turns: connections, and conversations in memory.

use super::{native, parts};
use crate::{
    hands::Hands,
    provider::{Provider, Step, answers, calls, kept, raw, status},
    support::{answer, request, with_tools},
};
use guildhall_authority::offer::ToolName;
use guildhall_engine::{Native, NativeParts};
use std::time::Duration;

#[tokio::test]
async fn turns_and_their_steps_share_one_connection() {
    let root = tempfile::tempdir().expect("a folder");
    let provider = Provider::play(vec![
        kept(answers("one")),
        kept(calls("", &[("a", "read", "{}")])),
        kept(answers("two")),
        kept(answers("three")),
    ])
    .await;
    let engine = native(root.path(), &provider);
    assert_eq!(answer(&engine, request("seat", "1", "a")).await, ["one"]);
    let asked = with_tools(request("seat", "2", "b"), Hands::with(&[ToolName::Read]));
    assert_eq!(answer(&engine, asked).await, ["two"]);
    assert_eq!(
        answer(&engine, request("thread-5", "3", "c")).await,
        ["three"]
    );
    assert_eq!((provider.seen().len(), provider.connections()), (4, 1));
}

#[tokio::test]
async fn without_idle_time_every_request_has_its_own() {
    let root = tempfile::tempdir().expect("a folder");
    let provider = Provider::play(vec![kept(answers("one")), kept(answers("two"))]).await;
    let engine = Native::new(NativeParts {
        idle: Duration::ZERO,
        ..parts(root.path(), &provider)
    })
    .expect("good settings");
    for turn in ["1", "2"] {
        answer(&engine, request("seat", turn, "a")).await;
    }
    assert_eq!(provider.connections(), 2);
}

#[tokio::test(start_paused = true)]
async fn a_connection_that_went_stale_costs_nothing_but_a_new_one() {
    let root = tempfile::tempdir().expect("a folder");
    // The server takes the second request and goes away without a byte.
    let provider = Provider::play(vec![
        kept(answers("one")),
        vec![Step::Reset],
        kept(answers("two")),
    ])
    .await;
    let engine = native(root.path(), &provider);
    answer(&engine, request("seat", "1", "a")).await;
    let began = tokio::time::Instant::now();
    assert_eq!(answer(&engine, request("seat", "2", "b")).await, ["two"]);
    assert!(
        began.elapsed() < Duration::from_millis(700),
        "no wait of a retry"
    );
    assert_eq!((provider.seen().len(), provider.connections()), (3, 2));
}

#[tokio::test(start_paused = true)]
async fn a_connection_that_broke_within_an_answer_is_not_asked_over_in_silence() {
    let root = tempfile::tempdir().expect("a folder");
    let provider = Provider::play(vec![
        kept(answers("one")),
        vec![raw("HTTP/1.1 20"), Step::Reset],
        kept(answers("two")),
    ])
    .await;
    let engine = native(root.path(), &provider);
    answer(&engine, request("seat", "1", "a")).await;
    let began = tokio::time::Instant::now();
    assert_eq!(answer(&engine, request("seat", "2", "b")).await, ["two"]);
    assert!(
        began.elapsed() >= Duration::from_millis(750),
        "an ordinary retry"
    );
}

#[tokio::test]
async fn a_connection_with_a_rest_on_it_is_not_kept() {
    let root = tempfile::tempdir().expect("a folder");
    let mut unfinished = kept(answers("one"));
    // The last chunk never comes.
    unfinished.truncate(unfinished.len() - 2);
    unfinished.push(Step::Hold);
    let refused = status("400 Bad Request", "", "{}");
    let provider = Provider::play(vec![unfinished, kept(answers("two")), refused]).await;
    let engine = native(root.path(), &provider);
    assert_eq!(answer(&engine, request("seat", "1", "a")).await, ["one"]);
    assert_eq!(answer(&engine, request("seat", "2", "b")).await, ["two"]);
    assert_eq!(provider.connections(), 2);
}
