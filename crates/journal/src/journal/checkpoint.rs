//! Checkpoints: a new segment takes the place of the old one.
//!
//! In: what the caller carries over, and the records that are still open. Out: a segment that
//! begins with them. Never: loses the old segment before the new one is on the device under its
//! name, or while a named file still lacks lines that only the old segment holds.

use std::collections::BTreeMap;

use super::error::{AppendErrorKind, CheckpointError};
use super::unsynced::UnsyncedBuffer;
use super::write_once::OnceFolder;
use super::{ASIDE_KEPT_COUNT, Journal, State, survey};
use crate::failpoint::failpoint;
use crate::line::{self, FORMAT_VERSION, Folded, GROUP_MAX_BYTES, Header, Standing};
use crate::named::{NamedFile, file_name};
use crate::private::PrivateError;
use crate::segment::{self, Room, Segment};

impl Journal {
    /// Begins a new segment at the time `at` with `carry` and the `restated` records, so that the
    /// next start needs nothing that came before.
    ///
    /// A log with unsynced lines that has outgrown its limit is put aside.
    ///
    /// # Errors
    /// See [`CheckpointError`]: without room the journal goes on in its old segment.
    pub fn checkpoint<L: AsRef<str>, J: AsRef<str>>(
        &mut self,
        at: &str,
        carry: &serde_json::Value,
        restated: &[(L, J)],
    ) -> Result<(), CheckpointError> {
        if self.state == State::Poisoned {
            return Err(CheckpointError::Poisoned);
        }
        self.check_records(at, restated)
            .map_err(CheckpointError::Unfit)?;
        self.settle_copies()?;
        failpoint("checkpoint.copies-synced");
        let outgrown = self.outgrown();
        let header = self.header(at, carry, &outgrown);
        let mut lines = line::header_line(&header);
        if lines.len() > GROUP_MAX_BYTES {
            let (bytes, max) = (lines.len(), GROUP_MAX_BYTES);
            return Err(CheckpointError::Unfit(AppendErrorKind::TooLong {
                bytes,
                max,
            }));
        }
        for (log, json) in restated {
            let record = std::iter::once((log.as_ref(), json.as_ref()));
            let g = self.next_group.saturating_sub(1);
            lines.push_str(&line::group_line(Standing::Restated, g, at, record));
        }
        let name = segment::name_of(self.next_group);
        let fresh = match Segment::write(&self.commits, name, lines.as_bytes()) {
            Ok(fresh) => fresh,
            Err(error) if error.kind.is_no_room() => {
                self.room = Room::NoRoom;
                return Err(CheckpointError::NoRoom);
            }
            Err(error) => return Err(self.half_way(error)),
        };
        failpoint("checkpoint.segment-written");
        fresh
            .publish(&self.commits)
            .map_err(|error| self.half_way(error))?;
        failpoint("checkpoint.segment-named");
        let old = std::mem::replace(&mut self.segment, fresh);
        if old.name() != self.segment.name() {
            self.commits
                .remove(old.name())
                .map_err(|error| self.half_way(error))?;
        }
        failpoint("checkpoint.old-removed");
        self.aside = header.aside;
        self.put_aside(&outgrown)
            .map_err(|error| self.half_way(error))?;
        self.unsynced
            .iter_mut()
            .for_each(UnsyncedBuffer::begin_anew);
        self.room = Room::Enough;
        Ok(())
    }

    /// Brings every copy up to date and onto the device.
    fn settle_copies(&mut self) -> Result<(), CheckpointError> {
        let touched: Vec<_> = (0..self.named.len()).collect();
        let settled = self
            .check_in_place(touched.into_iter())
            .and_then(|()| self.catch_up())
            .and_then(|()| self.flush_waiting());
        settled.map_err(CheckpointError::Failed)?;
        let is_behind = self.named.iter().any(NamedFile::is_behind)
            || self.once.iter().any(OnceFolder::is_behind);
        if is_behind {
            self.room = Room::NoRoom;
            return Err(CheckpointError::NoRoom);
        }
        for index in 0..self.named.len() {
            if let Err(fault) = self.named[index].sync() {
                return Err(CheckpointError::Failed(self.named_fault(index, fault)));
            }
        }
        for index in 0..self.once.len() {
            self.once[index]
                .sync()
                .map_err(|error| self.half_way(error))?;
        }
        // Named files that were made since the last checkpoint.
        self.dir.sync().map_err(|error| self.half_way(error))
    }

    /// Logs that have to be put aside, with the number that the file gets.
    fn outgrown(&self) -> Vec<(usize, u64)> {
        let outgrown = self
            .unsynced
            .iter()
            .map(|buffer| buffer.index)
            .filter(|index| self.named[*index].length() > self.spec.aside_max_bytes);
        outgrown
            .map(|index| {
                let last = self.aside.get(self.named[index].log).copied().unwrap_or(0);
                (index, last + 1)
            })
            .collect()
    }

    fn header(&self, at: &str, carry: &serde_json::Value, outgrown: &[(usize, u64)]) -> Header {
        let mut lengths: BTreeMap<_, _> = self
            .named
            .iter()
            .map(|named| (named.log.to_owned(), named.length()))
            .collect();
        let mut aside = self.aside.clone();
        for (index, number) in outgrown {
            let log = self.named[*index].log;
            lengths.insert(log.to_owned(), 0);
            aside.insert(log.to_owned(), *number);
        }
        Header {
            v: FORMAT_VERSION,
            next: self.next_group,
            at: at.to_owned(),
            lengths,
            aside,
            folded: Folded::Yes,
            carry: Some(carry.clone()),
        }
    }

    /// Renames what the new header announced. A crash before this is made good at the next start.
    fn put_aside(&mut self, outgrown: &[(usize, u64)]) -> Result<(), PrivateError> {
        for (index, number) in outgrown {
            let log = self.named[*index].log;
            self.dir
                .rename(&file_name(log), &survey::aside_name(log, *number))?;
            self.named[*index].start_over();
            if let Some(oldest) = number.checked_sub(ASIDE_KEPT_COUNT) {
                self.dir.remove(&survey::aside_name(log, oldest))?;
            }
            self.dir.sync()?;
        }
        Ok(())
    }

    fn half_way(&mut self, error: PrivateError) -> CheckpointError {
        let kind: AppendErrorKind = self.private_fault(error);
        CheckpointError::Failed(kind)
    }
}
