//! `run.lock`: who runs a binding, and what may be done about it.
//!
//! In: the binding's folder, its brakes, facts about processes. Out: at most one owner; cleared
//! locks whose owner is gone. Never: takes over a lock by itself, removes a record that cannot be
//! read, signals a process whose identity is in doubt, or removes a person's brake.
//!
//! The lock is a folder, because making one is atomic; `owner.json` in it is linked into place
//! whole. Claims and clean-ups of one binding also wait for each other at a gate, an advisory lock
//! on the folder that the system drops with its holder, so that no clean-up acts on what it saw
//! before a claim.

mod claim;
mod clear;
mod facts;
mod record;
mod verdict;

pub use claim::{ClaimError, ReleaseError, RunLock};
pub use clear::{Cleared, LockError, Signalled, Stopped, recover, signal_owner, stop, unlock};
pub use facts::{Owner, OwnerSignal, ProcessFacts, Seen, observe};
pub use record::{Record, RecordError};
pub use verdict::{Action, Doubt, Gone, Holder, Verdict, holder, verdict};

use std::path::Path;

use rustix::fs::FileType;

use crate::private::{FolderLock, IfMissing, PrivateDir, PrivateError, PrivateErrorKind};

/// The lock's name in the binding's folder.
pub const LOCK_FOLDER: &str = "run.lock";
/// The record's name in the lock.
pub const OWNER_FILE: &str = "owner.json";
/// The binding's brake, beside the lock.
pub(crate) const STOP_FILE: &str = "STOP";

/// Longest record that is read, in bytes.
const RECORD_MAX_BYTES: u64 = 4096;

/// How often the gate is tried, a millisecond apart: five seconds in all. What is done behind it
/// takes a few syncs.
const GATE_ATTEMPTS_COUNT: u32 = 5000;

/// What is found where the lock would be.
#[derive(Debug)]
pub enum LockState {
    /// Nothing: the binding is free.
    Free,
    /// A lock without a record: a start that was interrupted.
    NoRecord,
    /// A record that can be read.
    Held {
        /// What it says.
        record: Record,
        /// What the process table says about it.
        holder: Holder,
    },
    /// A record that cannot be understood. A person must look.
    Unparsable(RecordError),
    /// A file, a link or something else has the lock's name. A person must look.
    NotAFolder,
    /// The lock or its record cannot be read. A person must look.
    Unreadable(PrivateError),
}

/// Looks at the lock of the binding in `folder`, without a gate and without a change.
///
/// # Errors
/// A folder that is there but not private. A missing one is [`LockState::Free`].
pub fn inspect(folder: &Path) -> Result<LockState, PrivateError> {
    match PrivateDir::open(folder, IfMissing::Fail) {
        Ok(dir) => Ok(inspect_in(&dir)),
        Err(PrivateError {
            kind: PrivateErrorKind::Missing,
            ..
        }) => Ok(LockState::Free),
        Err(error) => Err(error),
    }
}

pub(crate) fn inspect_in(dir: &PrivateDir) -> LockState {
    let stat = match dir.stat(LOCK_FOLDER) {
        Ok(Some(stat)) => stat,
        Ok(None) => return LockState::Free,
        Err(error) => return LockState::Unreadable(error),
    };
    if FileType::from_raw_mode(stat.st_mode) != FileType::Directory {
        return LockState::NotAFolder;
    }
    let read = dir
        .sub_of_any_mode(LOCK_FOLDER)
        .and_then(|lock| lock.read_of_any_mode(OWNER_FILE, RECORD_MAX_BYTES));
    let bytes = match read {
        Ok(bytes) => bytes,
        // The record, or by now the whole lock.
        Err(PrivateError {
            kind: PrivateErrorKind::Missing,
            ..
        }) => {
            return match dir.stat(LOCK_FOLDER) {
                Ok(None) => LockState::Free,
                Ok(Some(_)) => LockState::NoRecord,
                Err(error) => LockState::Unreadable(error),
            };
        }
        Err(error) => return LockState::Unreadable(error),
    };
    match Record::parse(&bytes) {
        Ok(record) => {
            let holder = holder(&record, &observe(record.pid));
            LockState::Held { record, holder }
        }
        Err(error) => LockState::Unparsable(error),
    }
}

/// The gate: held by at most one claim or clean-up of a binding.
#[derive(Debug)]
pub(crate) struct Gate {
    pub(crate) dir: PrivateDir,
    pub(crate) lock: FolderLock,
}

/// The gate did not open.
#[derive(Debug, thiserror::Error)]
pub(crate) enum GateError {
    /// Another claim or clean-up has been at work for longer than it may take.
    #[error("another start or clean-up of this binding is at work")]
    Busy,
    /// The binding's folder is not private, or the system refused something.
    #[error(transparent)]
    Private(#[from] PrivateError),
}

impl Gate {
    /// Waits for the gate, at most five seconds.
    pub(crate) fn enter(folder: &Path, if_missing: IfMissing) -> Result<Self, GateError> {
        let dir = PrivateDir::open(folder, if_missing)?;
        match dir.lock(GATE_ATTEMPTS_COUNT)? {
            Some(lock) => Ok(Self { dir, lock }),
            None => Err(GateError::Busy),
        }
    }
}
