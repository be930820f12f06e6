//! Who may cause a turn, with what scope, and what a turn may do.
//!
//! In: the policy, facts about the server, one event or one prepared effect. Out: a decision, every
//! "no" by name. Never: a clock, a disk, a network, a guess.

pub mod admission;
pub mod ask; // a person's permission for one exact effect
pub mod call; // calls of tools
pub mod event;
pub mod offer; // which tools a turn is told of
pub mod permit; // permission as a value
pub mod place;
pub mod scope; // what one turn may do
