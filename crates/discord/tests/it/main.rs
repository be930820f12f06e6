//! The client against a scripted fake on loopback: every fault is played, every request is kept.

mod fake;

mod attachments; // files that are read, and files that are not
mod cards; // cards, and the answers to presses
mod checks; // what `check` reads, and the one login
mod contract; // every request against Discord's own description
mod faults; // the gateway's faults on real sockets
mod limits; // rate limits, order, concurrency
mod link; // the gateway when all is well
mod posts; // posting, and how it ends
mod throughput; // a measurement
