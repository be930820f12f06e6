//! Engines behind one trait: a prompt in, events of a run out.
//!
//! In: a prompt for one turn of one route. Out: progress, then exactly one end. Never: a write to
//! Discord or the journal, a run that outlives its handle.

mod contract; // start here: what every engine promises
mod envelope; // the bracketed line before each prompt
mod practice;
mod session; // a route's private files, kept across restarts
mod start; // one run as a task: one end, whatever happens // the seat without a model

pub use contract::{Abort, Engine, EngineDescription, Report, RunRequest, Work};
pub use practice::{Practice, PracticeParts};
