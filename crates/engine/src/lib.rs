//! Engines behind one trait: a prompt in, events of a run out.
//!
//! In: a prompt for one turn of one route. Out: progress, then exactly one end. Never: a write to
//! Discord or the journal, a run that outlives its handle.

mod assemble; // from a binding's settings to an engine
mod contract; // start here: what every engine promises
pub mod diagnose; // what a binding's real model can do
mod envelope; // the bracketed line before each prompt
mod fence; // code fences, which hold talk and no calls
mod ground; // where a turn may work
mod markup; // tool calls that a model wrote as text
mod native; // a provider's API, called directly
mod pi; // the agent pi, as a child process
mod practice; // the seat without a model
mod secret; // a provider's key
mod session; // a route's private files, kept across restarts
mod start; // one run as a task: one end, whatever happens

pub use assemble::{EngineError, EngineParts, build};
pub use contract::{Abort, Engine, EngineDescription, Report, RunRequest, Work};
pub use ground::Ground;
pub use native::{
    ANSWER_MAX_BYTES, Api, BadBaseUrl, Native, NativeError, NativeParts, TRANSCRIPT_TOKENS, Timing,
    system_prompt,
};
pub use pi::{Pi, PiParts};
pub use practice::{Practice, PracticeParts};
pub use secret::{SECRET_MAX_BYTES, Secret, SecretError};
