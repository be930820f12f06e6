//! The seat without a model.
//!
//! In: a prompt, and the turn's tools. Out: a fixed answer to it, at most one call of a tool, and a line
//! in the route's session. Never: a model, a network of its own, a claim to be one.
//!
//! It exists so that the demo and the tests can show every path of a turn: short and long answers,
//! answers that take time, answers that fail, answers that are empty.

mod filler; // long texts of mixed shape
mod memory; // what was asked before on this route
mod shown; // names and texts of others, made harmless
mod words; // start here: from a message to what is done about it
mod work; // from a message to a tool call

use crate::{
    contract::{Abort, Engine, EngineDescription, Report, RunRequest, Work},
    envelope::Envelope,
    session,
    start::{Finished, Signs, start},
};
use guildhall_authority::event::MessageText;
use guildhall_connector::run::{Progress, RunFailure, RunOutcome};
use memory::{Asked, Memory};
use std::{path::PathBuf, time::Duration};
use words::Plan;

/// What a practice engine is made of.
#[derive(Clone, Debug)]
pub struct PracticeParts {
    /// The binding's session folder; each route has a folder in it.
    pub sessions_folder: PathBuf,
    /// How long it pretends to think before each answer, so that a person can hit a turn in its
    /// middle. Zero means not at all. Driven by tokio's clock.
    pub delay: Duration,
}

/// The engine without a model.
#[derive(Clone, Debug)]
pub struct Practice {
    parts: PracticeParts,
}

impl Practice {
    /// Makes one; nothing is opened yet.
    #[must_use]
    pub fn new(parts: PracticeParts) -> Self {
        Self { parts }
    }
}

impl Engine for Practice {
    fn describe(&self) -> EngineDescription {
        EngineDescription {
            kind: "practice".to_owned(),
            provider: None,
            model: None,
        }
    }

    fn check<'a>(&'a self) -> Work<'a, Result<(), String>> {
        let sessions = self.parts.sessions_folder.clone();
        Box::pin(async move { session::usable(sessions).await })
    }

    fn run(&self, request: RunRequest, report: Report) -> Box<dyn Abort> {
        let parts = self.parts.clone();
        start(report, |signs| answer(signs, request, parts))
    }
}

async fn answer(signs: Signs, request: RunRequest, parts: PracticeParts) -> Finished {
    let recalled = tokio::task::spawn_blocking(move || {
        Memory::recall(&parts.sessions_folder, &request.route).map(|memory| (memory, request))
    });
    let (memory, request) = match recalled.await {
        Ok(Ok(recalled)) => recalled,
        Ok(Err(error)) => {
            tracing::error!(%error, "the practice engine cannot read its session");
            return Finished::failed(RunFailure::EngineUnavailable);
        }
        Err(_) => return Finished::failed(RunFailure::EngineDied),
    };
    signs.engine_turn();
    signs.progress(Progress::Text);
    tokio::time::sleep(parts.delay).await;

    let envelope = Envelope::read(&request.prompt.envelope);
    let plan = words::plan(&envelope, &request, &memory);
    let texts = match plan {
        Plan::Work(planned) => {
            vec![MessageText::new(
                work::carried_out(planned, &request, &signs).await,
            )]
        }
        Plan::Say(text) => vec![MessageText::new(text)],
        Plan::TakeTime { seconds, then } => {
            for _ in 0..seconds {
                tokio::time::sleep(Duration::from_secs(1)).await;
                signs.progress(Progress::Text);
            }
            vec![MessageText::new(then)]
        }
        Plan::SayNothing => Vec::new(),
        Plan::Fail(why) => return Finished::failed(why),
    };
    let asked = Asked::now(&memory, &request, &envelope);
    Finished {
        outcome: RunOutcome::Answered(texts),
        tools: Vec::new(),
        keep: Some(Box::new(move || memory.keep(asked))),
    }
}
