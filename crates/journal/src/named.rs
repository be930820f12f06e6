//! One named file: the readable copy of one log's records.
//!
//! In: whole lines of groups that are already synced in the commit log. Out: the same lines at
//! the end of the file. Never: is the only place where a record stands, so a full disk only puts
//! it behind; never writes to a file that somebody else wrote to or replaced.

use std::fs::File;
use std::io::{self, Write};

use crate::failpoint::failing;
use crate::platform;
use crate::private::{Access, Identity, PrivateDir, PrivateError, PrivateErrorKind};

/// A named file of the journal, opened when its first line comes.
#[derive(Debug)]
pub(crate) struct NamedFile {
    pub(crate) log: &'static str,
    open: Option<(File, Identity)>,
    /// Length that the file has, in bytes.
    length: u64,
    /// Whole lines that are due but found no room.
    behind: Vec<u8>,
}

/// Why a named file cannot be written to.
#[derive(Debug)]
pub(crate) enum NamedFault {
    /// The name leads to another file now, or to none.
    Replaced,
    /// Somebody else wrote to the file: its length is not what we left.
    Foreign { offset: u64 },
    /// The device failed.
    Broken(PrivateErrorKind),
}

impl From<io::Error> for NamedFault {
    fn from(error: io::Error) -> Self {
        Self::Broken(error.into())
    }
}

impl From<PrivateError> for NamedFault {
    fn from(error: PrivateError) -> Self {
        Self::Broken(error.kind)
    }
}

impl NamedFile {
    /// Takes up `log` at `length` bytes, with `behind` still to be written. A length of zero
    /// also stands for a file that does not exist yet.
    pub(crate) fn resume(
        dir: &PrivateDir,
        log: &'static str,
        length: u64,
        behind: Vec<u8>,
    ) -> Result<Self, PrivateError> {
        let name = file_name(log);
        let open = match dir.file_if_any(&name, Access::Append)? {
            Some(file) => {
                let stat =
                    rustix::fs::fstat(&file).map_err(|e| PrivateError::new(dir.join(&name), e))?;
                Some((file, Identity::from(&stat)))
            }
            None => None,
        };
        Ok(Self {
            log,
            open,
            length,
            behind,
        })
    }

    /// Length that the file will have once nothing is behind, in bytes.
    pub(crate) fn due_length(&self) -> u64 {
        self.length + self.behind.len() as u64
    }

    /// Length that the file has, in bytes.
    pub(crate) fn length(&self) -> u64 {
        self.length
    }

    pub(crate) fn is_behind(&self) -> bool {
        !self.behind.is_empty()
    }

    /// Checks that the file is the one that was opened, and as long as we left it.
    pub(crate) fn check(&self, dir: &PrivateDir) -> Result<(), NamedFault> {
        let found = dir.entry(&file_name(self.log))?;
        match (&self.open, found) {
            (None, None) => Ok(()),
            (Some((_, ours)), Some((identity, length))) if *ours == identity => {
                if length == self.length {
                    Ok(())
                } else {
                    Err(NamedFault::Foreign {
                        offset: length.min(self.length),
                    })
                }
            }
            (None, Some(_)) => Err(NamedFault::Foreign { offset: 0 }),
            (Some(_), _) => Err(NamedFault::Replaced),
        }
    }

    /// Writes `lines` after what is behind; without room they are kept for later.
    pub(crate) fn append(&mut self, dir: &PrivateDir, lines: &[u8]) -> Result<(), NamedFault> {
        if self.is_behind() {
            self.behind.extend_from_slice(lines);
            return self.catch_up(dir);
        }
        if !self.write(dir, lines)? {
            self.behind.extend_from_slice(lines);
        }
        Ok(())
    }

    /// Tries to write what is behind.
    pub(crate) fn catch_up(&mut self, dir: &PrivateDir) -> Result<(), NamedFault> {
        if self.is_behind() {
            let behind = std::mem::take(&mut self.behind);
            if !self.write(dir, &behind)? {
                self.behind = behind;
            }
        }
        Ok(())
    }

    /// Writes `lines` or nothing; false if there was no room. Also for lines of no group.
    pub(crate) fn write(&mut self, dir: &PrivateDir, lines: &[u8]) -> Result<bool, NamedFault> {
        let length = self.length;
        let due = length + lines.len() as u64;
        let file = match self.opened(dir) {
            Ok(file) => file,
            Err(NamedFault::Broken(kind)) if kind.is_no_room() => return Ok(false),
            Err(fault) => return Err(fault),
        };
        let written = failing("journal.copy")
            .and_then(|()| platform::check_size_limit(due))
            .and_then(|()| file.write_all(lines));
        match written {
            Ok(()) => {
                self.length = due;
                Ok(true)
            }
            Err(error) if platform::is_no_room_error(&error) => {
                // A part may have gone in; shrinking needs no room.
                file.set_len(length)?;
                Ok(false)
            }
            Err(error) => Err(error.into()),
        }
    }

    /// Makes the file's bytes survive a power loss.
    pub(crate) fn sync(&self) -> Result<(), NamedFault> {
        match &self.open {
            Some((file, _)) => Ok(rustix::fs::fdatasync(file).map_err(io::Error::from)?),
            None => Ok(()),
        }
    }

    /// Forgets the file after it was put aside: the next line begins a new one.
    pub(crate) fn start_over(&mut self) {
        self.open = None;
        self.length = 0;
    }

    fn opened(&mut self, dir: &PrivateDir) -> Result<&mut File, NamedFault> {
        if self.open.is_none() {
            let file = dir.file(&file_name(self.log), Access::CreateNewAppend)?;
            let identity = Identity::from(&rustix::fs::fstat(&file).map_err(io::Error::from)?);
            self.open = Some((file, identity));
        }
        match &mut self.open {
            Some((file, _)) => Ok(file),
            None => Err(NamedFault::Replaced),
        }
    }
}

/// The file's name in the journal's folder.
pub(crate) fn file_name(log: &str) -> String {
    format!("{log}.jsonl")
}
