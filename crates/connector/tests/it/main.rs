//! The connector from outside: inputs in, steps out.
#![expect(
    clippy::wildcard_enum_match_arm,
    reason = "a test looks for one kind among many"
)]

mod asks;
mod cost;
mod flow;
mod found;
mod reports;
mod world;
