//! The journal of one binding: a commit log, and named files that are its readable copies.
//!
//! In: groups of records, each record a JSON text for one named log. Out: groups that survive
//! a power loss, in order, all of a group or none of it; and after a crash the same groups again.
//! Never: reads a clock, knows what a record means, takes a second writer, or goes on after a
//! sync has failed.

mod append;
mod checkpoint;
mod complete;
mod error;
mod open;
mod recovered;
mod survey;
mod unsynced;
mod whole;
mod write_once;

use std::path::Path;

use crate::named::NamedFile;
use crate::private::{FolderLock, PrivateDir, PrivateError};
use crate::segment::{Room, Segment};

pub use append::Committed;
pub use error::{AppendError, AppendErrorKind, CheckpointError, OpenError, OpenErrorKind};
pub use recovered::{Record, Recovered, Source, Standing, Torn, TornFate};
pub(crate) use survey::{aside_name, aside_numbers};
pub use unsynced::Buffered;
use unsynced::UnsyncedBuffer;

/// The folder of the commit log below the journal's folder.
pub const COMMITS_FOLDER: &str = "commits";

/// Growth of a segment, in bytes, after which [`Journal::wants_checkpoint`] says so.
pub const SEGMENT_MAX_BYTES: u64 = 8 * 1024 * 1024;

/// Length, in bytes, past which a log with unsynced lines is put aside at the next checkpoint.
pub const ASIDE_MAX_BYTES: u64 = 64 * 1024 * 1024;

/// How many files put aside are kept for each log.
pub const ASIDE_KEPT_COUNT: u64 = 8;

/// What the journal is made of. All names are plain ASCII: letters, digits and hyphens.
#[derive(Clone, Copy, Debug)]
pub struct JournalSpec {
    /// Logs that have a named file `<log>.jsonl`.
    pub logs: &'static [&'static str],
    /// Those of `logs` that also take unsynced lines.
    pub unsynced: &'static [&'static str],
    /// Those of `logs` that are read through [`crate::scan`] and not handed out as records when
    /// the named files have to be read whole.
    pub bulk: &'static [&'static str],
    /// Logs whose records are a file each.
    pub write_once: &'static [WriteOnce],
    /// Newest format version that the caller understands.
    pub reader_version: u64,
    /// Growth after which a checkpoint is due, in bytes.
    pub segment_max_bytes: u64,
    /// Length past which an unsynced log is put aside, in bytes.
    pub aside_max_bytes: u64,
}

impl JournalSpec {
    /// A journal of `logs` with the usual limits.
    pub const fn new(logs: &'static [&'static str]) -> Self {
        Self {
            logs,
            unsynced: &[],
            bulk: &[],
            write_once: &[],
            reader_version: crate::line::FORMAT_VERSION,
            segment_max_bytes: SEGMENT_MAX_BYTES,
            aside_max_bytes: ASIDE_MAX_BYTES,
        }
    }
}

/// A log whose records are one file each, `<log>/<id>.json`, made once and never changed.
#[derive(Clone, Copy, Debug)]
pub struct WriteOnce {
    /// The log's name, and its folder's.
    pub log: &'static str,
    /// The field of the record that names the file: a string of letters, digits, `-` and `_`.
    pub id: &'static str,
}

/// An open journal. There is one at a time for a folder.
#[derive(Debug)]
pub struct Journal {
    spec: JournalSpec,
    dir: PrivateDir,
    commits: PrivateDir,
    segment: Segment,
    named: Vec<NamedFile>,
    /// Folders of write-once logs that exist, and what was written there since the checkpoint.
    once: Vec<write_once::OnceFolder>,
    unsynced: Vec<UnsyncedBuffer>,
    aside: std::collections::BTreeMap<String, u64>,
    next_group: u64,
    room: Room,
    state: State,
    /// Holds the lock on the folder of the commit log for as long as the journal is open.
    _lock: FolderLock,
}

/// Whether the journal still takes groups.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Usable,
    /// Something failed after which nothing may be acknowledged.
    Poisoned,
}

impl Journal {
    /// The journal's folder.
    pub fn folder(&self) -> &Path {
        self.dir.path()
    }

    /// Number that the next group will get.
    pub fn next_group(&self) -> u64 {
        self.next_group
    }

    /// Whether new work may be accepted, as of the last call that wrote.
    pub fn room(&self) -> Room {
        self.room
    }

    /// Whether enough was written since the last checkpoint to make another.
    pub fn wants_checkpoint(&self) -> bool {
        let unsynced: u64 = self
            .unsynced
            .iter()
            .map(UnsyncedBuffer::written_bytes)
            .sum();
        self.segment.grown_bytes() + unsynced >= self.spec.segment_max_bytes
    }

    /// The numbers under `key` in the lines of `log`, sorted, each once: see [`crate::scan::ids`].
    ///
    /// # Errors
    /// What the system answers.
    pub fn scan_ids(&self, log: &str, key: &str) -> Result<Vec<u64>, PrivateError> {
        crate::scan::ids_in(&self.dir, log, key)
    }

    /// Whether an earlier failure closed the journal.
    pub fn is_poisoned(&self) -> bool {
        self.state == State::Poisoned
    }
}
