//! The real program against the simulator, with everything going wrong.
//!
//! In: processes that are killed, disks that fill up, networks that lie. Out: what people saw, and
//! what stands in the files. Never: a process left behind, an address that is not loopback.

#![expect(clippy::panic, reason = "a test that cannot go on says why")]

mod kills; // start here: killed at every step

mod age; // a million messages behind it
mod clock; // an hour that was not there
mod disk; // writes fail, files are torn
mod link; // the gateway breaks
mod network; // posts are lost, late and refused
mod people; // moderators and operators
mod soak; // an hour of small troubles

mod ask;
mod hall;
mod http;
mod journal;
mod middleman; // between a seat and Discord
mod pool;
mod proc;
mod seat;
mod stage;
mod verdict;
mod waiting;
