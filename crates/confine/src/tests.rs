//! Tests that need to act between two system calls, or that hold the whole crate to the corpus.

#![expect(
    clippy::wildcard_enum_match_arm,
    reason = "a test speaks of the few variants that it is about"
)]

mod call; // one line of the corpus: the call, and what is judged of it
mod corpus; // every line of testdata/corpora/paths.jsonl
mod crash; // the process dies inside a publication
mod line; // the format of the corpus
mod mounts; // a file that is a mount of its own
mod reading; // what another process does while a file is read
mod scene; // folders, roots and the steps that prepare them
mod writing; // what another process does in the last interval, and systems that lack a call
