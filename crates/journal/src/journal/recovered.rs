//! What a journal hands over when it is opened.
//!
//! In: the commit log, or the named files if there is none. Out: plain values.
//! Never: interprets a record.

use std::path::PathBuf;

pub use crate::line::Standing;

/// What stood in the journal.
#[derive(Debug)]
pub struct Recovered {
    /// Number that the next group will get.
    pub next_group: u64,
    /// What the caller gave to the last checkpoint; `None` before the first one.
    pub carry: Option<serde_json::Value>,
    /// Restated records, then the records of every group since, in order.
    pub records: Vec<Record>,
    /// What a crash had left unfinished, and what became of it.
    pub torn: Vec<Torn>,
    /// Where the records come from.
    pub source: Source,
}

/// One record of the journal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record {
    /// Its group; for a restated record the last group before the checkpoint.
    pub g: u64,
    /// The time that was given with its group.
    pub at: String,
    /// Its log.
    pub log: &'static str,
    /// Whether it is new with its group or told again.
    pub standing: Standing,
    /// The record's JSON object as it was given; from a named file with `v`, `g` and `at` before
    /// its kind.
    pub json: String,
}

/// Where recovered records come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// The commit log: the carry and the records are the whole state.
    CommitLog,
    /// There was no commit log: every line of the named files, without those of the bulk logs.
    NamedFiles,
}

/// Something that a crash left unfinished.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Torn {
    /// The file.
    pub file: PathBuf,
    /// Where it stands, in bytes.
    pub offset: u64,
    /// How many bytes were dropped or added.
    pub bytes: u64,
    /// What became of it.
    pub fate: TornFate,
}

/// What becomes of an unfinished end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TornFate {
    /// Never acknowledged: dropped.
    Dropped,
    /// A copy that had not caught up: finished from the commit log.
    Finished,
}
