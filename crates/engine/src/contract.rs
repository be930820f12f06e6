//! What every engine promises.
//!
//! In: a prompt for one turn of one route. Out: progress, then exactly one end. Never: anything
//! that only one kind of engine has.

use crate::ground::Ground;
use guildhall_connector::run::{Prompt, RunEvent};
use guildhall_tools::CallTools;
use std::{fmt, future::Future, pin::Pin, sync::Arc, time::Duration};

/// One turn's work for an engine.
#[derive(Clone)]
pub struct RunRequest {
    /// The turn's id: a row's id, safe as a file name.
    pub turn: String,
    /// The route's folder name; runs of one route come one at a time.
    pub route: String,
    /// What is asked.
    pub prompt: Prompt,
    /// The tools of this turn.
    pub tools: Arc<dyn CallTools>,
    /// Where those tools work, for the prompt.
    pub ground: Ground,
    /// How long the turn may take, without the time for which it waits for people. The caller ends it
    /// then; an engine that knows it gives up in time to say why.
    pub longest: Duration,
}

impl fmt::Debug for RunRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let tools = self.tools.specs().len();
        write!(
            f,
            "RunRequest({} on {}, {tools} tools)",
            self.turn, self.route
        )
    }
}

/// How a run is told to stop. Dropping it aborts too, and revokes what the run was lent.
pub trait Abort: Send {
    /// Asks the run to end; its [`RunEvent::Ended`] comes within 30 seconds.
    fn abort(&mut self);
}

/// Where a run reports. The engine calls it from its own task; it never blocks.
pub type Report = Box<dyn FnMut(RunEvent) + Send>;

/// A future that an engine hands out.
pub type Work<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// What turns a prompt into a reply.
///
/// Contract, run against every implementation: one `Ended` for each run, nothing after it; after
/// an abort it comes within 30 seconds and nothing the engine started is left; only `Ended`
/// carries text; a route's session is continued across runs and restarts.
pub trait Engine: Send + Sync {
    /// What it is called in records and status: kind, and provider and model where it has them.
    fn describe(&self) -> EngineDescription;

    /// Proves that the engine can start, without asking a model. The error is one sentence for the
    /// operator, without a key and without a conversation's text.
    fn check<'a>(&'a self) -> Work<'a, Result<(), String>>;

    /// Starts a run and returns at once. It is called inside a tokio runtime; without one the run
    /// ends as [`EngineUnavailable`](guildhall_connector::run::RunFailure::EngineUnavailable).
    fn run(&self, request: RunRequest, report: Report) -> Box<dyn Abort>;
}

/// What an engine is called.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct EngineDescription {
    /// `practice`, `native`, `pi` or `acp`.
    pub kind: String,
    /// Provider, where there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub provider: Option<String>,
    /// Model, where there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
}
