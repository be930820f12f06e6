//! What every engine promises, as functions that take one. Each engine's tests call them with a
//! request that is answered and one that would still be at work.

use crate::support::{ABORT_GRACE, observe, texts};
use guildhall_connector::run::{RunEvent, RunOutcome};
use guildhall_engine::{Engine, RunRequest};

/// One end comes, nothing after it, and it alone carries text.
pub(crate) async fn one_end_and_nothing_after_it(engine: &dyn Engine, quick: RunRequest) {
    let (_, ended) = observe(engine, quick).ended().await;
    assert!(ended.engine_turns >= 1);
    assert!(texts(ended.outcome).iter().any(|text| !text.is_blank()));
}

/// An abort in the middle ends the run as aborted, in time; a second abort changes nothing.
pub(crate) async fn an_abort_ends_the_run(engine: &dyn Engine, lasting: RunRequest) {
    let mut run = observe(engine, lasting);
    let first = run.next().await.expect("a sign of work");
    assert!(matches!(first, RunEvent::Progress(_)), "{first:?}");
    let handle = run.handle.as_mut().expect("not dropped");
    handle.abort();
    handle.abort();
    let (_, ended) = tokio::time::timeout(ABORT_GRACE, run.ended())
        .await
        .expect("the end comes in time");
    assert_eq!(ended.outcome, RunOutcome::Aborted);
}

/// A run that nobody holds any more is aborted.
pub(crate) async fn a_dropped_handle_ends_the_run(engine: &dyn Engine, lasting: RunRequest) {
    let mut run = observe(engine, lasting);
    let first = run.next().await.expect("a sign of work");
    assert!(matches!(first, RunEvent::Progress(_)), "{first:?}");
    run.handle = None;
    let (_, ended) = tokio::time::timeout(ABORT_GRACE, run.ended())
        .await
        .expect("the end comes in time");
    assert_eq!(ended.outcome, RunOutcome::Aborted);
}

/// A run that is aborted before it could begin ends as aborted too.
pub(crate) async fn an_abort_at_once_ends_the_run(engine: &dyn Engine, quick: RunRequest) {
    let mut run = observe(engine, quick);
    run.handle.as_mut().expect("not dropped").abort();
    let (signs, ended) = run.ended().await;
    assert_eq!((signs, ended.outcome), (0, RunOutcome::Aborted));
}

/// An abort after the end changes nothing and reports nothing.
pub(crate) async fn an_abort_after_the_end_does_nothing(engine: &dyn Engine, quick: RunRequest) {
    let mut run = observe(engine, quick);
    let mut last = None;
    while let Some(event) = run.next().await {
        last = Some(event);
    }
    run.handle.as_mut().expect("not dropped").abort();
    assert!(run.next().await.is_none());
    let answered = match &last {
        Some(RunEvent::Ended(ended)) => matches!(ended.outcome, RunOutcome::Answered(_)),
        Some(RunEvent::Progress(_)) | None => false,
    };
    assert!(answered, "{last:?}");
}
