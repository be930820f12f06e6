//! From an admitted message to a delivered reply.
//!
//! In: what came from Discord, the engine, a look-up, an operator, a receipt, the clock. Out: one
//! [`step::Step`] for each input: what may start now, which records become one durable group, and
//! what may start once that group is on disk. Never: a clock, a file, a network, chance.

pub mod moment;

pub mod ids;

pub mod input;

pub mod step;

pub mod record;

pub mod durable;

pub mod connector;
mod live;

mod intake;

mod turns;

mod runs;

mod delivery;
mod settle;

mod asks;
mod calls;
mod card;

mod start;

mod catch_up;

pub mod carry;
pub mod line;
pub mod outbound;
mod paste;
pub mod prompt;
pub mod reply;
pub mod run;
pub mod seen;
pub mod status;
pub mod turn;

pub use connector::Connector;
pub use delivery::{READ_BACK_AFTER, RESEND_FOR};
pub use live::Counts;
