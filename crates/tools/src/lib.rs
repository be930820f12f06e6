//! The tool host: from an engine's call to a result or a named refusal.
//!
//! In: a turn's scope, calls of the engine that runs it. Out: results, asks, records of calls.
//! Never: an effect without a permit, a call after the turn, a path of the host in a result.
//!
//! A call goes `turn` → `arguments` → its provider (`files`, `web`, `git`) → `effect`, where the
//! authority judges it and, for a change, its beginning is put on disk before the permit is spent.

mod arguments; // JSON text against a row of the table
mod bridge; // the door for an engine that is a process of its own
mod call; // time and cancellation of one call
mod contract; // start here: what engines and the driver see of the host
mod difference; // a change, line by line
mod effect; // what is judged, permitted and carried out
mod files; // tools over roots and workspaces
mod git; // verbs over roots with git
mod ground; // the roots
mod host; // one a process
mod pool; // threads for blocking work
mod record; // what a turn did, from the host's own knowledge
mod refusal; // every way in which nothing happens
mod shown; // what people and records see
mod table; // every tool: its words and its arguments
mod turn; // the tools of one turn, call by call
mod web; // pages and searches

pub use bridge::{Attached, Bridge, BridgeError, CALLS_AT_ONCE};
pub use contract::{
    CallTools, Gate, GateClosed, NoTools, Outcome, ToolCall, ToolResult, ToolSpec, Work,
};
pub use ground::HostError;
pub use host::{GitParts, GitStand, Holds, Host, HostParts};
pub use turn::TurnTools;
