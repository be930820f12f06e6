//! What can go wrong with a journal, by the step that was taken.
//!
//! In: nothing. Out: error types. Never: a full disk under any other name.

use std::path::PathBuf;

use crate::line::RecordFault;
use crate::private::{PrivateError, PrivateErrorKind};

/// The journal cannot be opened. Nothing was written unless the kind says otherwise.
#[derive(Debug, thiserror::Error)]
#[error("cannot open the journal in {}", folder.display())]
pub struct OpenError {
    /// The journal's folder.
    pub folder: PathBuf,
    /// What stands in the way.
    #[source]
    pub kind: OpenErrorKind,
}

/// Why a journal cannot be opened.
#[derive(Debug, thiserror::Error)]
pub enum OpenErrorKind {
    /// A folder or file is not private, or the system refused something.
    #[error(transparent)]
    Private(#[from] PrivateError),
    /// Another process, or another part of this one, has the journal open.
    #[error("another process has the journal open")]
    Busy,
    /// A file was written by a newer version; nothing was written.
    #[error("{} was written by version {found}, and this is version {known}", file.display())]
    TooNew {
        /// The file.
        file: PathBuf,
        /// Version found.
        found: u64,
        /// Newest version known.
        known: u64,
    },
    /// A line that is not the last one cannot be read, or is out of order.
    #[error("{} is damaged at byte {offset}", file.display())]
    Damaged {
        /// The file.
        file: PathBuf,
        /// Where the line begins, in bytes.
        offset: u64,
    },
    /// A named file holds bytes that the commit log does not account for.
    #[error("{} holds something at byte {offset} that was not written by us", file.display())]
    Foreign {
        /// The file.
        file: PathBuf,
        /// Where the first such byte stands.
        offset: u64,
    },
    /// A named file is shorter than it was at the last checkpoint.
    #[error("{} has {found_bytes} bytes, and had {synced_bytes} at the last checkpoint", file.display())]
    Shortened {
        /// The file.
        file: PathBuf,
        /// Length found, in bytes.
        found_bytes: u64,
        /// Length at the checkpoint, in bytes.
        synced_bytes: u64,
    },
    /// The commit log names a log that the journal was not opened with.
    #[error("the commit log holds records of {0:?}, which is not a log of this journal")]
    UnknownLog(String),
    /// A write-once file exists with other contents than its record.
    #[error("{} exists with other contents", file.display())]
    WrittenOnce {
        /// The file.
        file: PathBuf,
    },
}

impl OpenErrorKind {
    /// Whether freeing space would cure it.
    pub fn is_no_room(&self) -> bool {
        matches!(self, Self::Private(error) if error.kind.is_no_room())
    }
}

/// A group was not committed, or the journal cannot say whether it was.
#[derive(Debug, thiserror::Error)]
#[error("cannot commit group {g}")]
pub struct AppendError {
    /// Number that the group would have had.
    pub g: u64,
    /// What stands in the way.
    #[source]
    pub kind: AppendErrorKind,
}

/// Why a group was not committed.
#[derive(Debug, thiserror::Error)]
pub enum AppendErrorKind {
    /// A record is not fit to be written; nothing was.
    #[error("a record of {log:?} cannot be written: {fault}")]
    BadRecord {
        /// The log that the record was for.
        log: String,
        /// What is wrong with it.
        fault: RecordFault,
    },
    /// The time is not RFC 3339 in UTC; nothing was written.
    #[error("the time is not RFC 3339 in UTC")]
    BadTime,
    /// A group without records; nothing was written.
    #[error("the group is empty")]
    Empty,
    /// The group's line is longer than [`crate::GROUP_MAX_BYTES`]; nothing was written.
    #[error("the group takes {bytes} bytes, more than the {max} allowed")]
    TooLong {
        /// Length of the line, in bytes.
        bytes: usize,
        /// Longest line allowed, in bytes.
        max: usize,
    },
    /// The reserve is used up too; nothing was written, and later groups may fit again.
    #[error("no room left")]
    NoRoom,
    /// A write-once file exists with other contents; nothing was written.
    #[error("{} exists with other contents", file.display())]
    WrittenOnce {
        /// The file.
        file: PathBuf,
    },
    /// A folder or file was moved away, removed or replaced under us. Nothing was written, and
    /// nothing will be: the journal is closed.
    #[error("{} was replaced under us", path.display())]
    Replaced {
        /// What is not there any more.
        path: PathBuf,
    },
    /// Somebody else wrote to a named file. Nothing was written, and nothing will be.
    #[error("{} was written to by somebody else at byte {offset}", file.display())]
    Foreign {
        /// The file.
        file: PathBuf,
        /// Where our own bytes end.
        offset: u64,
    },
    /// A write or a sync failed. The group may or may not be there after the next start; nothing
    /// more is taken.
    #[error("writing {} failed", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What the system said: a full disk, a read-only one, a refusal and a fault each by name.
        #[source]
        error: PrivateErrorKind,
    },
    /// An earlier failure closed the journal.
    #[error("the journal was closed by an earlier failure")]
    Poisoned,
}

/// A checkpoint was not made. Unless it says poisoned, the journal goes on in its old segment.
#[derive(Debug, thiserror::Error)]
pub enum CheckpointError {
    /// Neither the named files nor a new segment may grow. Try again when there is room.
    #[error("no room for a checkpoint")]
    NoRoom,
    /// A restated record, the carry or the time is not fit to be written; nothing was.
    #[error("the checkpoint cannot be written")]
    Unfit(#[source] AppendErrorKind),
    /// Something failed in the middle; the journal is closed, and the next start sorts it out.
    #[error("the checkpoint failed half way")]
    Failed(#[source] AppendErrorKind),
    /// An earlier failure closed the journal.
    #[error("the journal was closed by an earlier failure")]
    Poisoned,
}
