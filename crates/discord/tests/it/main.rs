//! The client against a scripted fake on loopback: every fault is played, every request is kept.

mod fake;
mod link;
mod posts;
