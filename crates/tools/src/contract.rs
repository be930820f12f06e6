//! What engines and the driver see of the host.
//!
//! In: calls. Out: results. Never: a permit, a provider of tools.

use guildhall_authority::{
    ask::{AskSpec, Decision},
    call::{CallBegun, CallEnded},
    offer::ToolName,
};
use serde_json::Value;
use std::{fmt, future::Future, pin::Pin};

/// A future that crosses the boundary.
pub type Work<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// A tool as an engine tells its model of it.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolSpec {
    /// Which tool; its name is [`ToolName::as_str`], or [`ToolName::wire`] towards an engine that has
    /// tools of its own.
    pub name: ToolName,
    /// What it does, for the model.
    pub description: &'static str,
    /// JSON Schema of its arguments, an object.
    pub schema: Value,
}

/// A call as the model made it. `Debug` shows no argument.
#[derive(Clone, PartialEq, Eq)]
pub struct ToolCall {
    /// The engine's own id of the call; the same one twice in a turn is refused.
    pub id: String,
    /// The tool's name, plain or as on the wire; it need not be one that exists.
    pub name: String,
    /// The arguments as JSON text, as they came.
    pub arguments: String,
}

impl fmt::Debug for ToolCall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ToolCall({}, {} bytes)", self.name, self.arguments.len())
    }
}

/// What a call comes to: always a text that the model may see. `Debug` shows none of it.
#[derive(Clone, PartialEq, Eq)]
pub struct ToolResult {
    /// How it ended.
    pub outcome: Outcome,
    /// The result, or the refusal in one sentence.
    pub text: String,
}

impl fmt::Debug for ToolResult {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "ToolResult({:?}, {} bytes)",
            self.outcome,
            self.text.len()
        )
    }
}

/// How a call ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It was done.
    Done,
    /// It was not done, for a fixed reason.
    Refused,
    /// It may have been done: an answer did not come, or a change could not be looked at again.
    Unknown,
}

/// The tools of one turn, as the engine that runs it sees them.
pub trait CallTools: Send + Sync {
    /// Exactly the tools of this turn; empty where it has none.
    fn specs(&self) -> &[ToolSpec];

    /// Longest arguments that a tool of this turn takes, in bytes. An engine need not keep more of a
    /// call than one byte past it: the host refuses it for its length.
    fn arguments_max(&self) -> usize;

    /// Makes a call. It always answers: an unknown tool, bad arguments, a turn that is over are
    /// refusals. Dropping the future cancels what has not begun, and withdraws an open ask.
    fn call(&self, call: ToolCall) -> Work<'_, ToolResult>;
}

/// A turn without tools.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoTools;

impl CallTools for NoTools {
    fn specs(&self) -> &[ToolSpec] {
        &[]
    }

    fn arguments_max(&self) -> usize {
        0
    }

    fn call(&self, _: ToolCall) -> Work<'_, ToolResult> {
        Box::pin(std::future::ready(ToolResult {
            outcome: Outcome::Refused,
            text: "not-offered: this turn has no tools".to_owned(),
        }))
    }
}

/// The way from the host to the connector: asks, and the records around a call that changes
/// something.
pub trait Gate: Send + Sync {
    /// Puts an ask and waits for its decision. Dropping the future withdraws the ask.
    fn ask(&self, spec: AskSpec) -> Work<'_, Result<Decision, GateClosed>>;

    /// Waits until it is on disk that a call begins. Only then may it change anything.
    fn begin(&self, begun: CallBegun) -> Work<'_, Result<(), GateClosed>>;

    /// Tells how a call ended that had begun; and of one that a person had allowed and that was refused
    /// before it began, that it was.
    fn end(&self, ended: CallEnded);
}

/// The connector is gone, or its turn is over: nothing more may begin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GateClosed;
