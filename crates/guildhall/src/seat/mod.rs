//! A seat that runs: the thin shell around the connector.
//!
//! In: a checked binding, a token, the disk. Out: served turns, an exit. Never: a rule of its own;
//! what may happen, and in which order, the connector says.

mod driver; // start here: wait, decide, carry out
mod effects;
mod ending;
mod heard;
mod keep;
mod news;
mod receipts;
pub(crate) mod recovery;
mod reload;
mod signals;
mod start; // from a binding to a running seat
mod writer;

pub(crate) use keep::STATUS_FILE;
pub(crate) use reload::digest;
pub(crate) use start::{Plan, Supervision, claim_failure, context, intents, lock_failure, run};
