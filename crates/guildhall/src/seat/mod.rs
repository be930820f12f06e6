//! A seat that runs: the thin shell around the connector.
//!
//! In: a checked binding, a token, the disk. Out: served turns, an exit. Never: a rule of its own;
//! what may happen, and in which order, the connector says.

mod cards; // asks as Discord shows them
mod control; // the way in for other commands
mod driver; // start here: wait, decide, carry out
mod effects;
mod ending;
mod gate; // from the tool host to the connector
mod health; // whether it is well, and since when
mod heard;
mod keep;
mod launch; // what a process was started with
mod news;
mod notify; // words to the supervisor
mod orders;
mod receipts;
pub(crate) mod recovery;
mod reload;
mod runs;
mod signals;
mod stand_in; // the demo's web
mod start; // from a binding to a running seat
mod time;
mod watch;
mod workshop; // what tools stand on
mod writer;

pub(crate) use control::{ANSWER_MAX_BYTES, open_folder, through};
pub(crate) use keep::STATUS_FILE;
pub(crate) use launch::context;
pub(crate) use notify::{Notifier, SOCKET_VARIABLE, WATCHDOG_PID_VARIABLE, WATCHDOG_VARIABLE};
pub(crate) use orders::{delivery_shown, row_shown};
pub(crate) use reload::digest;
pub(crate) use stand_in::StandIn;
pub(crate) use start::{Plan, Supervision, braked, claim_failure, intents, lock_failure, run};
pub(crate) use workshop::host;
