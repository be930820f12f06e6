//! From an admitted message to a delivered reply.
//!
//! In: what came from Discord, the engine, a look-up, an operator, a receipt, the clock. Out: one
//! step for each input: what may start now, which records become one durable group, and what
//! may start once that group is on disk. Never: a clock, a file, a network, chance.

pub mod carry;
pub mod durable;
pub mod ids;
pub mod line;
pub mod moment;
pub mod record;
pub mod reply;
pub mod run;
pub mod seen;
pub mod turn;
