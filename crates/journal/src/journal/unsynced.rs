//! Lines that are not worth a sync: the drops of strangers.
//!
//! In: records of no group. Out: lines with `"g":0` in their named file, some time later.
//! Never: syncs, grows without bound, or stands between two halves of a committed line.

use super::Journal;
use super::error::{AppendError, AppendErrorKind};
use crate::line::{self, NO_GROUP, RecordFault};

/// Lines wait here until they are flushed, at most this many bytes for a log.
pub(super) const BUFFER_MAX_BYTES: usize = 256 * 1024;

/// How far past its limit a log may grow while no checkpoint puts it aside, in bytes.
const ASIDE_SLACK_BYTES: u64 = 16 * 1024 * 1024;

/// What became of an unsynced line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Buffered {
    /// It waits for the next flush.
    Kept,
    /// The buffer or the file is full: the line is gone, and counted.
    Discarded,
}

/// The waiting lines of one log.
#[derive(Debug)]
pub(super) struct UnsyncedBuffer {
    /// Place of the log in the specification.
    pub(super) index: usize,
    pub(super) waiting: Vec<u8>,
    written_bytes: u64,
    discarded_count: u64,
}

impl UnsyncedBuffer {
    pub(super) fn new(index: usize) -> Self {
        Self {
            index,
            waiting: Vec::new(),
            written_bytes: 0,
            discarded_count: 0,
        }
    }

    /// Bytes written since the last checkpoint.
    pub(super) fn written_bytes(&self) -> u64 {
        self.written_bytes
    }

    pub(super) fn begin_anew(&mut self) {
        self.written_bytes = 0;
    }
}

impl Journal {
    /// Takes one line of no group for `log`, which is among the unsynced logs. It is written by
    /// [`Self::flush_unsynced`], and never synced: a crash may lose it.
    ///
    /// # Errors
    /// A record or a time that is not fit to be written, or a journal that is closed.
    pub fn unsynced(&mut self, at: &str, log: &str, json: &str) -> Result<Buffered, AppendError> {
        let g = NO_GROUP;
        let checked = self
            .check_usable()
            .and_then(|()| self.check_records(at, &[(log, json)]));
        checked.map_err(|kind| AppendError { g, kind })?;
        let index = self.log_index(log);
        let Some(buffer) = self
            .unsynced
            .iter_mut()
            .find(|buffer| Some(buffer.index) == index)
        else {
            let log = log.to_owned();
            let fault = RecordFault::UnknownLog;
            return Err(AppendError {
                g,
                kind: AppendErrorKind::BadRecord { log, fault },
            });
        };
        let line = line::named_line(NO_GROUP, at, json);
        let length = self.named[buffer.index].due_length() + buffer.waiting.len() as u64;
        if buffer.waiting.len() + line.len() > BUFFER_MAX_BYTES
            || length > self.spec.aside_max_bytes + ASIDE_SLACK_BYTES
        {
            buffer.discarded_count += 1;
            return Ok(Buffered::Discarded);
        }
        buffer.waiting.extend_from_slice(line.as_bytes());
        Ok(Buffered::Kept)
    }

    /// Writes the waiting lines to their files; without room they go on waiting.
    ///
    /// # Errors
    /// A file that was replaced or written to by somebody else, or a device that failed, closes
    /// the journal.
    pub fn flush_unsynced(&mut self) -> Result<(), AppendError> {
        let g = NO_GROUP;
        self.flush_waiting().map_err(|kind| AppendError { g, kind })
    }

    /// How many unsynced lines were discarded because there was no place for them.
    pub fn discarded_count(&self) -> u64 {
        self.unsynced
            .iter()
            .map(|buffer| buffer.discarded_count)
            .sum()
    }

    pub(super) fn flush_waiting(&mut self) -> Result<(), AppendErrorKind> {
        self.check_usable()?;
        for place in 0..self.unsynced.len() {
            let index = self.unsynced[place].index;
            // Committed lines that are behind come first.
            if self.unsynced[place].waiting.is_empty() || self.named[index].is_behind() {
                continue;
            }
            self.check_in_place(std::iter::once(index))?;
            let buffer = &mut self.unsynced[place];
            match self.named[index].write(&self.dir, &buffer.waiting) {
                Ok(true) => {
                    buffer.written_bytes += buffer.waiting.len() as u64;
                    buffer.waiting.clear();
                }
                Ok(false) => {}
                Err(fault) => return Err(self.named_fault(index, fault)),
            }
        }
        Ok(())
    }
}
