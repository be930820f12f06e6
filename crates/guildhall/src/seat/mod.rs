//! A seat that runs: the thin shell around the connector.
//!
//! In: a checked binding, a token, the disk. Out: served turns, an exit. Never: a rule of its own;
//! what may happen, and in which order, the connector says.

mod control; // the way in for other commands
mod driver; // start here: wait, decide, carry out
mod effects;
mod ending;
mod health; // whether it is well, and since when
mod heard;
mod keep;
mod news;
mod notify; // words to the supervisor
mod orders;
mod receipts;
pub(crate) mod recovery;
mod reload;
mod signals;
mod start; // from a binding to a running seat
mod time;
mod watch;
mod writer;

pub(crate) use control::{ANSWER_MAX_BYTES, open_folder, through};
pub(crate) use keep::STATUS_FILE;
pub(crate) use notify::{Notifier, SOCKET_VARIABLE, WATCHDOG_PID_VARIABLE, WATCHDOG_VARIABLE};
pub(crate) use orders::{delivery_shown, row_shown};
pub(crate) use reload::digest;
pub(crate) use start::{Plan, Supervision, claim_failure, context, intents, lock_failure, run};
