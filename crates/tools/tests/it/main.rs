//! Engines' calls, through the host, to files in temporary folders.

#![expect(clippy::panic, reason = "a line that nobody knows fails the test")]

mod corpus; // every line of `paths.jsonl` that is about a tool
mod host; // what a process's host is made of
mod line; // the corpus's format, strictly
mod scene; // folders, a binding, a gate that answers by a script

mod anything; // any call at all
mod bridge; // an engine's own process at the socket
mod calls; // names, ids, arguments, limits, the end of a turn
mod git; // verbs over a repository
mod race; // somebody who exchanges names meanwhile
mod reads; // lists, reads, searches
mod time; // how long a call may take
mod web; // pages and searches
mod workspace; // a person is asked
mod writes; // writes and edits of roots
