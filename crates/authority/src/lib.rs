//! Who may cause a turn, and with what scope.
//!
//! In: the policy, facts about the server, one event. Out: a decision, every "no" by name.
//! Never: a clock, a disk, a network, a guess.

pub mod admission;
pub mod event;
pub mod place;
