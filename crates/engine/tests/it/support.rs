//! A run whose events are collected, and requests to start one with.

use guildhall_authority::event::MessageText;
use guildhall_connector::run::{Ended, Prompt, RunEvent, RunOutcome};
use guildhall_engine::{Abort, Engine, Ground, RunRequest};
use guildhall_tools::{CallTools, NoTools};
use std::{sync::Arc, time::Duration};
use tokio::sync::mpsc;

/// How long an engine may take to end after an abort, by its contract.
pub(crate) const ABORT_GRACE: Duration = Duration::from_secs(30);

/// A run and what it reports.
pub(crate) struct Observed {
    pub(crate) handle: Option<Box<dyn Abort>>,
    events: mpsc::UnboundedReceiver<RunEvent>,
}

/// A request on a route.
pub(crate) fn request(route: &str, turn: &str, text: &str) -> RunRequest {
    RunRequest {
        turn: turn.to_owned(),
        route: route.to_owned(),
        prompt: Prompt {
            envelope: format!(
                "[guildhall server=\"Oak Hall\" channel=\"general\" author=\"ana\" \
                 author_id=\"71\" requester=\"Ana\" message_id=\"{turn}\"]"
            ),
            text: MessageText::new(text),
        },
        tools: Arc::new(NoTools),
        ground: Ground::default(),
        longest: std::time::Duration::from_secs(180),
    }
}

/// The same request with tools.
pub(crate) fn with_tools(request: RunRequest, tools: Arc<dyn CallTools>) -> RunRequest {
    RunRequest { tools, ..request }
}

/// Starts a run.
pub(crate) fn observe(engine: &dyn Engine, request: RunRequest) -> Observed {
    let (sender, events) = mpsc::unbounded_channel();
    let report = Box::new(move |event| drop(sender.send(event)));
    Observed {
        handle: Some(engine.run(request, report)),
        events,
    }
}

impl Observed {
    /// Waits for the next event; `None` once the engine let go of its report.
    pub(crate) async fn next(&mut self) -> Option<RunEvent> {
        self.events.recv().await
    }

    /// Waits for the end and proves that nothing comes after it. Gives the signs of progress too.
    pub(crate) async fn ended(mut self) -> (usize, Ended) {
        let mut signs = 0;
        let mut ended = None;
        while let Some(event) = self.next().await {
            assert!(ended.is_none(), "an event after the end: {event:?}");
            match event {
                RunEvent::Progress(_) => signs += 1,
                RunEvent::Ended(end) => ended = Some(*end),
            }
        }
        (signs, ended.expect("a run has an end"))
    }
}

/// The texts of an outcome that has to be an answer.
pub(crate) fn texts(outcome: RunOutcome) -> Vec<MessageText> {
    match outcome {
        RunOutcome::Answered(texts) => Some(texts),
        RunOutcome::Failed(_) | RunOutcome::Aborted => None,
    }
    .expect("the run answered")
}

/// Runs to the end and gives the answer's texts.
pub(crate) async fn answer(engine: &dyn Engine, request: RunRequest) -> Vec<String> {
    let texts = texts(outcome(engine, request).await);
    texts.iter().map(|t| t.as_str().to_owned()).collect()
}

/// Runs to the end and gives the outcome.
pub(crate) async fn outcome(engine: &dyn Engine, request: RunRequest) -> RunOutcome {
    observe(engine, request).ended().await.1.outcome
}
