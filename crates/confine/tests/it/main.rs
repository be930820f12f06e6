//! The crate as its users see it: races, two ways that must agree, random plans, searches.

#![expect(
    clippy::wildcard_enum_match_arm,
    reason = "a test speaks of the few variants that it is about"
)]

mod ground; // folders and files of a test
mod listings; // what a listing shows
mod plans; // random operations against a model
mod races; // an adversary that swaps names while others read and write
mod searches; // what a search finds and leaves out
mod ways; // openat2 and single steps against each other
