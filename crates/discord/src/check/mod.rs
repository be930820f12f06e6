//! What `check` wants to know of Discord, and what it says about it.
//!
//! In: a client and a policy. Out: facts that were read, then a line for each thing that was
//! checked. Never: a message to a channel, a guess about what could not be read.

mod facts; // what is read
mod invite; // the way in
mod permissions; // who may do what
mod probe; // one login
mod report; // what is said about it

pub use facts::{Facts, LookupFault, facts};
pub use invite::invite_url;
pub use permissions::{Needs, PERMISSIONS_FOR_A_SEAT, Permission, TimeOut, effective, missing};
pub use probe::{Probe, probe};
pub use report::{CheckLine, CheckOutcome, intents, report};
