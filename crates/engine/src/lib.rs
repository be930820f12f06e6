//! Engines behind one trait: a prompt in, events of a run out.
//!
//! In: a prompt for one turn of one route. Out: progress, then exactly one end. Never: a write to
//! Discord or the journal, a run that outlives its handle.

mod assemble; // from a binding's settings to an engine
mod contract; // start here: what every engine promises
mod envelope; // the bracketed line before each prompt
mod fence; // code fences, which hold talk and no calls
mod markup; // tool calls that a model wrote as text
mod native; // a provider's API, called directly
mod practice; // the seat without a model
mod secret;
mod session; // a route's private files, kept across restarts
mod start; // one run as a task: one end, whatever happens // a provider's key

pub use assemble::{EngineError, EngineParts, build};
pub use contract::{Abort, Engine, EngineDescription, Report, RunRequest, Work};
pub use native::{
    ANSWER_MAX_BYTES, Api, BadBaseUrl, Native, NativeError, NativeParts, Price, TRANSCRIPT_TOKENS,
    Timing,
};
pub use practice::{Practice, PracticeParts};
pub use secret::{SECRET_MAX_BYTES, Secret, SecretError};
