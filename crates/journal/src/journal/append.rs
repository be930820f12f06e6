//! Committing a group: one line of the commit log, synced, then its copies.
//!
//! In: the records of one group. Out: its number, once it would survive a power loss.
//! Never: writes a copy of a group that is not synced, or anything after a failure.

use std::collections::BTreeMap;
use std::io;
use std::path::PathBuf;

use super::error::{AppendError, AppendErrorKind};
use super::{Journal, State, write_once};
use crate::failpoint::failpoint;
use crate::line::{self, GROUP_MAX_BYTES, RecordFault, Standing};
use crate::named::{NamedFault, NamedFile, file_name};
use crate::private::PrivateError;
use crate::segment::{Room, WriteFault};

/// How many bytes of copies may wait in memory for room; then no group is taken any more.
const BEHIND_MAX_BYTES: u64 = 16 * 1024 * 1024;

/// A group that would survive a power loss.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use = "the room says whether new work may still be accepted"]
pub struct Committed {
    /// Its number.
    pub g: u64,
    /// Whether new work may be accepted.
    pub room: Room,
}

/// Where the records of a group go besides the commit log.
#[derive(Debug, Default)]
pub(super) struct Copies {
    /// Lines by the place of their log in the specification.
    named: BTreeMap<usize, Vec<u8>>,
    once: Vec<write_once::OnceFile>,
}

impl Journal {
    /// Commits `records` as one group that happened at `at` (RFC 3339, UTC). Each record is the
    /// name of its log and a JSON object that begins with its kind, `{"k":"..`.
    ///
    /// When it returns, the group would survive a power loss, and its copies are in their files or
    /// wait for room.
    ///
    /// # Errors
    /// Kinds that say "nothing was written" leave the journal as it was. [`AppendErrorKind::Io`],
    /// [`AppendErrorKind::Replaced`] and [`AppendErrorKind::Foreign`] close it.
    pub fn append<L: AsRef<str>, J: AsRef<str>>(
        &mut self,
        at: &str,
        records: &[(L, J)],
    ) -> Result<Committed, AppendError> {
        let g = self.next_group;
        self.commit(g, at, records)
            .map_err(|kind| AppendError { g, kind })
    }

    fn commit<L: AsRef<str>, J: AsRef<str>>(
        &mut self,
        g: u64,
        at: &str,
        records: &[(L, J)],
    ) -> Result<Committed, AppendErrorKind> {
        self.check_usable()?;
        if records.is_empty() {
            return Err(AppendErrorKind::Empty);
        }
        self.check_records(at, records)?;
        let texts = records
            .iter()
            .map(|(log, json)| (log.as_ref(), json.as_ref()));
        let group = line::group_line(Standing::New, g, at, texts);
        if group.len() > GROUP_MAX_BYTES {
            return Err(AppendErrorKind::TooLong {
                bytes: group.len(),
                max: GROUP_MAX_BYTES,
            });
        }
        let copies = self.copies(g, at, records)?;
        if self.behind_bytes() > BEHIND_MAX_BYTES {
            self.renew_room()?;
            if self.behind_bytes() > BEHIND_MAX_BYTES {
                return Err(AppendErrorKind::NoRoom);
            }
        }
        self.check_in_place(copies.named.keys().copied())?;
        self.segment
            .append(group.as_bytes())
            .map_err(|fault| self.write_fault(fault))?;
        self.next_group = g + 1;
        self.write_copies(copies)?;
        failpoint("journal.copies-written");
        let room = self.renew_room()?;
        Ok(Committed { g, room })
    }

    /// Tries again to renew the room ahead and to bring named files up to date, without a group.
    ///
    /// # Errors
    /// As for [`Self::append`]; no room is an answer, not an error.
    pub fn probe_room(&mut self) -> Result<Room, AppendError> {
        let g = self.next_group;
        self.check_usable()
            .and_then(|()| self.renew_room())
            .map_err(|kind| AppendError { g, kind })
    }

    fn behind_bytes(&self) -> u64 {
        self.named
            .iter()
            .map(|named| named.due_length() - named.length())
            .sum()
    }

    pub(super) fn check_usable(&self) -> Result<(), AppendErrorKind> {
        match self.state {
            State::Usable => Ok(()),
            State::Poisoned => Err(AppendErrorKind::Poisoned),
        }
    }

    /// Checks time, logs and texts of `records`.
    pub(super) fn check_records<L: AsRef<str>, J: AsRef<str>>(
        &self,
        at: &str,
        records: &[(L, J)],
    ) -> Result<(), AppendErrorKind> {
        if !line::is_time(at) {
            return Err(AppendErrorKind::BadTime);
        }
        for (log, json) in records {
            let (log, json) = (log.as_ref(), json.as_ref());
            let known = self.log_index(log).is_some()
                || self.spec.write_once.iter().any(|once| once.log == log);
            let checked = if known {
                line::check_record(json)
            } else {
                Err(RecordFault::UnknownLog)
            };
            checked.map_err(|fault| AppendErrorKind::BadRecord {
                log: log.to_owned(),
                fault,
            })?;
        }
        Ok(())
    }

    pub(super) fn log_index(&self, log: &str) -> Option<usize> {
        self.spec.logs.iter().position(|known| *known == log)
    }

    fn copies<L: AsRef<str>, J: AsRef<str>>(
        &self,
        g: u64,
        at: &str,
        records: &[(L, J)],
    ) -> Result<Copies, AppendErrorKind> {
        let mut copies = Copies::default();
        for (log, json) in records {
            let line = line::named_line(g, at, json.as_ref());
            match self.log_index(log.as_ref()) {
                Some(index) => {
                    copies
                        .named
                        .entry(index)
                        .or_default()
                        .extend_from_slice(line.as_bytes());
                }
                None => {
                    let file = self.once_file(log.as_ref(), json.as_ref(), line, &copies.once)?;
                    copies.once.extend(file);
                }
            }
        }
        Ok(copies)
    }

    /// Notices that a folder or file was replaced before anything is written to it.
    pub(super) fn check_in_place(
        &mut self,
        named: impl Iterator<Item = usize>,
    ) -> Result<(), AppendErrorKind> {
        let lost = if !self.dir.still_at_path() {
            Some(self.dir.path().to_owned())
        } else if !self.commits.still_at_path() {
            Some(self.commits.path().to_owned())
        } else if !self.segment.still_named(&self.commits) {
            Some(self.commits.join(self.segment.name()))
        } else {
            None
        };
        if let Some(path) = lost {
            return Err(self.poison(AppendErrorKind::Replaced { path }));
        }
        for index in named {
            if let Err(fault) = self.named[index].check(&self.dir) {
                return Err(self.named_fault(index, fault));
            }
        }
        Ok(())
    }

    fn write_copies(&mut self, copies: Copies) -> Result<(), AppendErrorKind> {
        for (index, lines) in copies.named {
            self.named[index]
                .append(&self.dir, &lines)
                .map_err(|fault| self.named_fault(index, fault))?;
            failpoint("journal.copy-written");
        }
        for file in copies.once {
            self.once[file.folder]
                .write(&self.dir, file)
                .map_err(|error| self.private_fault(error))?;
            failpoint("journal.copy-written");
        }
        Ok(())
    }

    pub(super) fn renew_room(&mut self) -> Result<Room, AppendErrorKind> {
        self.catch_up()?;
        let behind = self.named.iter().any(NamedFile::is_behind)
            || self.once.iter().any(write_once::OnceFolder::is_behind);
        let segment = self.segment.renew_room();
        let segment = segment.map_err(|error| self.segment_fault(error))?;
        self.room = if behind { Room::NoRoom } else { segment };
        Ok(self.room)
    }

    /// Writes what named files and write-once files lack, as far as there is room.
    pub(super) fn catch_up(&mut self) -> Result<(), AppendErrorKind> {
        for index in 0..self.named.len() {
            self.named[index]
                .catch_up(&self.dir)
                .map_err(|fault| self.named_fault(index, fault))?;
        }
        for index in 0..self.once.len() {
            self.once[index]
                .catch_up(&self.dir)
                .map_err(|error| self.private_fault(error))?;
        }
        Ok(())
    }

    pub(super) fn poison(&mut self, kind: AppendErrorKind) -> AppendErrorKind {
        self.state = State::Poisoned;
        kind
    }

    pub(super) fn named_fault(&mut self, index: usize, fault: NamedFault) -> AppendErrorKind {
        let path = self.dir.join(&file_name(self.named[index].log));
        let kind = match fault {
            NamedFault::Replaced => AppendErrorKind::Replaced { path },
            NamedFault::Foreign { offset } => AppendErrorKind::Foreign { file: path, offset },
            NamedFault::Broken(kind) => AppendErrorKind::Io { path, error: kind },
        };
        self.poison(kind)
    }

    pub(super) fn private_fault(&mut self, error: PrivateError) -> AppendErrorKind {
        self.poison(AppendErrorKind::Io {
            path: error.path,
            error: error.kind,
        })
    }

    fn segment_fault(&mut self, error: io::Error) -> AppendErrorKind {
        let path = self.segment_path();
        self.poison(AppendErrorKind::Io {
            path,
            error: error.into(),
        })
    }

    fn write_fault(&mut self, fault: WriteFault) -> AppendErrorKind {
        match fault {
            WriteFault::NoRoom => {
                self.room = Room::NoRoom;
                AppendErrorKind::NoRoom
            }
            WriteFault::Broken(error) => self.segment_fault(error),
        }
    }

    fn segment_path(&self) -> PathBuf {
        self.commits.join(self.segment.name())
    }
}
