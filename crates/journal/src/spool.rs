//! The spool: the parts of replies, from the model's answer until they are delivered.
//!
//! In: JSON objects, one a line. Out: the same objects after a crash, in order.
//! Never: acknowledges before the sync, keeps what is settled for long, or stands in the way of
//! a start: what it has lost is told to a person instead.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use crate::failpoint::{failing, failpoint};
use crate::platform;
use crate::private::{Access, Identity, IfMissing, PrivateDir, PrivateError};
use crate::replace::folder_and_name;
use crate::segment::used_length;

/// Length past which [`Spool::wants_compaction`] says so, in bytes.
pub const SPOOL_MAX_BYTES: u64 = 4 * 1024 * 1024;

/// Longest spool that is read, in bytes.
const SPOOL_READ_MAX_BYTES: u64 = 64 * 1024 * 1024;

/// Room that is written ahead, in bytes.
const AHEAD_BYTES: u64 = 256 * 1024;

/// An open spool.
#[derive(Debug)]
pub struct Spool {
    dir: PrivateDir,
    name: String,
    file: File,
    identity: Identity,
    end: u64,
    allocated: u64,
    state: State,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Usable,
    Poisoned,
}

/// What stood in the spool.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Spooled {
    /// The entries in order.
    pub entries: Vec<String>,
    /// Lines that could not be read. After a crash that is at most the last one, whose
    /// entries were never acknowledged.
    pub unreadable_count: usize,
}

/// The spool did not take something.
#[derive(Debug, thiserror::Error)]
pub enum SpoolError {
    /// An entry is not one JSON object on one line; nothing was written.
    #[error("a spool entry is not one JSON object on one line")]
    BadEntry,
    /// No room; nothing was written, and later entries may fit again.
    #[error("no room left in the spool")]
    NoRoom,
    /// The spool's file or folder was moved away, removed or replaced; it is closed.
    #[error("{} was replaced under us", .0.display())]
    Replaced(PathBuf),
    /// The device failed: nothing more is taken.
    #[error("writing the spool failed")]
    Failed(#[source] PrivateError),
    /// An earlier failure closed the spool.
    #[error("the spool was closed by an earlier failure")]
    Poisoned,
}

impl Spool {
    /// Opens the spool `path`, making it and its folder if need be, and reads what stands there.
    ///
    /// # Errors
    /// A folder or file that is not private, and what the system answers.
    pub fn open(path: &Path) -> Result<(Self, Spooled), PrivateError> {
        let (folder, name) = folder_and_name(path)?;
        let dir = PrivateDir::open(folder, IfMissing::Create)?;
        dir.remove(&temporary(name))?;
        let Some(file) = dir.file_if_any(name, Access::Write)? else {
            let spool = Self::fresh(dir, name.to_owned(), &[])?;
            return Ok((spool, Spooled::default()));
        };
        let bytes = dir.read(name, SPOOL_READ_MAX_BYTES)?;
        let (spooled, end) = decode(&bytes);
        let used = used_length(&bytes) as u64;
        let resumed = || -> io::Result<Identity> {
            // What a torn line left behind would run into the next entry.
            platform::write_nuls(&file, end, used.saturating_sub(end))?;
            rustix::fs::fdatasync(&file)?;
            Ok(Identity::from(&rustix::fs::fstat(&file)?))
        };
        let identity = resumed().map_err(|error| PrivateError::new(path, error))?;
        let allocated = (bytes.len() as u64).max(end);
        let (name, state) = (name.to_owned(), State::Usable);
        Ok((
            Self {
                dir,
                name,
                file,
                identity,
                end,
                allocated,
                state,
            },
            spooled,
        ))
    }

    /// Adds entries, each one JSON object, and returns once they would survive a power loss:
    /// all of them, or after a crash before that the first few.
    ///
    /// # Errors
    /// See [`SpoolError`].
    pub fn put<E: AsRef<str>>(&mut self, entries: &[E]) -> Result<(), SpoolError> {
        self.check_in_place()?;
        let lines = lines_of(entries)?;
        let (end, due) = (self.end, self.end + lines.len() as u64);
        self.make_room(due)?;
        let written = failing("spool.entry").and_then(|()| self.file.write_all_at(&lines, end));
        if let Err(error) = written {
            let undone = platform::write_nuls(&self.file, end, lines.len() as u64);
            return Err(match undone {
                Ok(()) if platform::is_no_room_error(&error) => SpoolError::NoRoom,
                _ => self.poison(error),
            });
        }
        failpoint("spool.written");
        failing("spool.sync")
            .and_then(|()| Ok(rustix::fs::fdatasync(&self.file)?))
            .map_err(|error| self.poison(error))?;
        failpoint("spool.synced");
        self.end = due;
        self.renew_room()
    }

    /// Whether enough was written to make [`Self::compact`] worth it.
    pub fn wants_compaction(&self) -> bool {
        self.end > SPOOL_MAX_BYTES
    }

    /// Length of all entries, in bytes.
    pub fn length(&self) -> u64 {
        self.end
    }

    /// Replaces everything by the entries in `keep`, in one step that survives a power loss.
    ///
    /// # Errors
    /// See [`SpoolError`]; unless the spool is closed, the old entries stand.
    pub fn compact<E: AsRef<str>>(&mut self, keep: &[E]) -> Result<(), SpoolError> {
        self.check_in_place()?;
        let lines = lines_of(keep)?;
        let dir = PrivateDir::open(self.dir.path(), IfMissing::Fail);
        let fresh = dir.and_then(|dir| Self::fresh(dir, self.name.clone(), &lines));
        match fresh {
            Ok(fresh) => *self = fresh,
            Err(error) if error.kind.is_no_room() => return Err(SpoolError::NoRoom),
            Err(error) => {
                self.state = State::Poisoned;
                return Err(SpoolError::Failed(error));
            }
        }
        failpoint("spool.compacted");
        Ok(())
    }

    /// Writes a spool beside the old one and renames it into place.
    fn fresh(dir: PrivateDir, name: String, lines: &[u8]) -> Result<Self, PrivateError> {
        let temporary = temporary(&name);
        dir.remove(&temporary)?;
        let file = dir.file(&temporary, Access::CreateNew)?;
        let end = lines.len() as u64;
        let written = platform::check_size_limit(end)
            .and_then(|()| file.write_all_at(lines, 0))
            .and_then(|()| platform::pad(&file, end, AHEAD_BYTES))
            .and_then(|()| file.sync_all())
            .and_then(|()| Ok(Identity::from(&rustix::fs::fstat(&file)?)))
            .map_err(|error| PrivateError::new(dir.join(&name), error));
        let published = written.and_then(|identity| {
            dir.rename(&temporary, &name)?;
            dir.sync()?;
            Ok(identity)
        });
        match published {
            Ok(identity) => {
                let (allocated, state) = (end + AHEAD_BYTES, State::Usable);
                Ok(Self {
                    dir,
                    name,
                    file,
                    identity,
                    end,
                    allocated,
                    state,
                })
            }
            Err(error) => {
                dir.remove(&temporary)?;
                Err(error)
            }
        }
    }

    fn check_in_place(&mut self) -> Result<(), SpoolError> {
        if self.state == State::Poisoned {
            return Err(SpoolError::Poisoned);
        }
        let found = self.dir.entry(&self.name).ok().flatten();
        let is_ours = found.is_some_and(|(identity, _)| identity == self.identity);
        if !is_ours || !self.dir.still_at_path() {
            self.state = State::Poisoned;
            return Err(SpoolError::Replaced(self.dir.join(&self.name)));
        }
        Ok(())
    }

    /// Allocates so that `due` bytes fit.
    fn make_room(&mut self, due: u64) -> Result<(), SpoolError> {
        match due.checked_sub(self.allocated) {
            None | Some(0) => Ok(()),
            Some(missing) => self.pad(missing),
        }
    }

    /// Keeps room ahead for the next reply: it has to fit although the disk has filled up.
    fn renew_room(&mut self) -> Result<(), SpoolError> {
        if self.allocated - self.end >= AHEAD_BYTES / 2 {
            return Ok(());
        }
        match self.pad(AHEAD_BYTES) {
            Ok(()) | Err(SpoolError::NoRoom) => Ok(()),
            Err(error) => Err(error),
        }
    }

    fn pad(&mut self, bytes: u64) -> Result<(), SpoolError> {
        match platform::pad(&self.file, self.allocated, bytes) {
            Ok(()) => {
                self.allocated += bytes;
                Ok(())
            }
            Err(error) if platform::is_no_room_error(&error) => Err(SpoolError::NoRoom),
            Err(error) => Err(self.poison(error)),
        }
    }

    fn poison(&mut self, error: io::Error) -> SpoolError {
        self.state = State::Poisoned;
        SpoolError::Failed(PrivateError::new(self.dir.join(&self.name), error))
    }
}

fn temporary(name: &str) -> String {
    format!(".{name}.tmp")
}

fn lines_of<E: AsRef<str>>(entries: &[E]) -> Result<Vec<u8>, SpoolError> {
    let mut lines = Vec::new();
    for entry in entries {
        let entry = entry.as_ref();
        let is_object = entry.starts_with('{')
            && entry.ends_with('}')
            && entry.bytes().all(|byte| byte >= 0x20)
            && serde_json::from_str::<serde::de::IgnoredAny>(entry).is_ok();
        if !is_object {
            return Err(SpoolError::BadEntry);
        }
        lines.extend_from_slice(entry.as_bytes());
        lines.push(b'\n');
    }
    Ok(lines)
}

/// Reads the entries; returns them and the end of the last whole line that can be read, which is
/// where writing goes on.
fn decode(bytes: &[u8]) -> (Spooled, u64) {
    let bytes = &bytes[..used_length(bytes)];
    let mut spooled = Spooled::default();
    let (mut offset, mut end) = (0, 0);
    for line in bytes.split_inclusive(|byte| *byte == b'\n') {
        offset += line.len();
        let entry = line
            .strip_suffix(b"\n")
            .and_then(|line| std::str::from_utf8(line).ok());
        let is_json = |entry: &&str| serde_json::from_str::<serde::de::IgnoredAny>(entry).is_ok();
        match entry.filter(is_json) {
            Some(entry) => {
                spooled.entries.push(entry.to_owned());
                end = offset;
            }
            None => spooled.unreadable_count += 1,
        }
    }
    (spooled, end as u64)
}
