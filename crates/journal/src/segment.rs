//! One file of the commit log: a header line, group lines, and a tail of NULs written ahead.
//!
//! In: whole lines. Out: the same lines after a crash, up to the last one that was synced.
//! Never: takes a damaged line in the middle for a torn one, acknowledges before the sync, or
//! lets the room written ahead fall below the reserve without saying so.
//!
//! The padding is NULs because a NUL stands nowhere in a line of JSON: a sector that never
//! reached the device can not be taken for part of a record.

mod read;

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

use crate::failpoint::{failing, failpoint};
use crate::line::GROUP_MAX_BYTES;
use crate::platform;
use crate::private::{Access, Identity, PrivateDir, PrivateError};

pub(crate) use read::{Contents, ReadFault, SegmentRecord, read, used_length};

/// Room written ahead that ordinary growth leaves alone, in bytes: what was accepted before the
/// disk filled up finishes in it. It holds the longest line.
pub(crate) const RESERVE_BYTES: u64 = GROUP_MAX_BYTES as u64;

/// How much room is written ahead at a time, in bytes, beyond the reserve.
pub(crate) const AHEAD_BYTES: u64 = 512 * 1024;

/// Whether new work may be accepted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Room {
    /// The reserve is whole.
    Enough,
    /// The room written ahead cannot be renewed, or a named file cannot follow. What was
    /// accepted may go on; nothing new should be accepted.
    NoRoom,
}

/// The segment that is written now.
#[derive(Debug)]
pub(crate) struct Segment {
    file: File,
    name: String,
    identity: Identity,
    /// End of the last line, in bytes.
    end: u64,
    /// Length of the file: `end` and the padding.
    allocated: u64,
    /// Length of header and restated lines, in bytes.
    base: u64,
}

/// What a line that was not written means for the segment.
#[derive(Debug)]
pub(crate) enum WriteFault {
    /// No room, and the segment is as it was.
    NoRoom,
    /// The state of the device is unknown: nothing may be written any more.
    Broken(io::Error),
}

impl Segment {
    /// Writes a new segment under the temporary name `name`.tmp with `lines` and its padding,
    /// and returns once it is on the device. [`Self::publish`] gives it its name.
    pub(crate) fn write(
        dir: &PrivateDir,
        name: String,
        lines: &[u8],
    ) -> Result<Self, PrivateError> {
        let temporary = temporary(&name);
        dir.remove(&temporary)?;
        let file = dir.file(&temporary, Access::CreateNew)?;
        let end = lines.len() as u64;
        let ahead = RESERVE_BYTES + AHEAD_BYTES;
        let written = failing("checkpoint.segment")
            .and_then(|()| platform::check_size_limit(end))
            .and_then(|()| file.write_all_at(lines, 0))
            .and_then(|()| platform::pad(&file, end, ahead))
            .and_then(|()| file.sync_all())
            .and_then(|()| Ok(Identity::from(&rustix::fs::fstat(&file)?)));
        match written {
            Ok(identity) => Ok(Self {
                file,
                name,
                identity,
                end,
                allocated: end + ahead,
                base: end,
            }),
            Err(error) => {
                dir.remove(&temporary)?;
                Err(PrivateError::new(dir.join(&temporary), error))
            }
        }
    }

    /// Renames the new segment into place, in one step that survives a power loss.
    pub(crate) fn publish(&self, dir: &PrivateDir) -> Result<(), PrivateError> {
        dir.rename(&temporary(&self.name), &self.name)?;
        dir.sync()
    }

    /// Takes up the segment `name` after it was read; clears what a torn line left behind.
    pub(crate) fn resume(
        dir: &PrivateDir,
        name: String,
        contents: &Contents,
    ) -> Result<Self, PrivateError> {
        let file = dir.file(&name, Access::Write)?;
        let resumed = || -> io::Result<(Identity, u64)> {
            let stat = rustix::fs::fstat(&file)?;
            if let Some(torn) = &contents.torn {
                platform::write_nuls(&file, torn.offset, torn.bytes)?;
            }
            // The last line may have been read from memory only: its writer died before the sync.
            rustix::fs::fdatasync(&file)?;
            Ok((Identity::from(&stat), crate::private::length(&stat)))
        };
        let (identity, length) =
            resumed().map_err(|error| PrivateError::new(dir.join(&name), error))?;
        let (end, base) = (contents.end, contents.base);
        Ok(Self {
            file,
            name,
            identity,
            end,
            allocated: length.max(end),
            base,
        })
    }

    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// Bytes of groups written since the checkpoint that began this segment.
    pub(crate) fn grown_bytes(&self) -> u64 {
        self.end - self.base
    }

    /// Whether the name still leads to the file that is written.
    pub(crate) fn still_named(&self, dir: &PrivateDir) -> bool {
        matches!(dir.entry(&self.name), Ok(Some((identity, _))) if identity == self.identity)
    }

    /// Appends one line and returns once it would survive a power loss.
    pub(crate) fn append(&mut self, line: &[u8]) -> Result<(), WriteFault> {
        let length = line.len() as u64;
        if self.end + length > self.allocated {
            self.extend(length)
                .map_err(|error| self.extend_fault(error))?;
            if self.end + length > self.allocated {
                return Err(WriteFault::NoRoom);
            }
        }
        failpoint("journal.before-line");
        let written = failing("journal.line").and_then(|()| self.file.write_all_at(line, self.end));
        if let Err(error) = written {
            if !platform::is_no_room_error(&error) {
                return Err(WriteFault::Broken(error));
            }
            // A file system that never writes in place can run out here: take back what went in.
            return Err(match platform::write_nuls(&self.file, self.end, length) {
                Ok(()) => WriteFault::NoRoom,
                Err(error) => WriteFault::Broken(error),
            });
        }
        failpoint("journal.line-written");
        failing("journal.sync")
            .and_then(|()| Ok(rustix::fs::fdatasync(&self.file)?))
            .map_err(WriteFault::Broken)?;
        failpoint("journal.line-synced");
        self.end += length;
        Ok(())
    }

    /// Writes more room ahead if the reserve is touched.
    pub(crate) fn renew_room(&mut self) -> Result<Room, io::Error> {
        if self.allocated - self.end >= RESERVE_BYTES {
            return Ok(Room::Enough);
        }
        match self.extend(RESERVE_BYTES) {
            Ok(()) => Ok(Room::Enough),
            Err(error) if platform::is_no_room_error(&error) => Ok(Room::NoRoom),
            Err(error) => Err(error),
        }
    }

    /// Grows the padding to `at_least` bytes and the piece ahead.
    fn extend(&mut self, at_least: u64) -> io::Result<()> {
        let wanted = self.end + at_least + AHEAD_BYTES;
        if wanted <= self.allocated {
            return Ok(());
        }
        failing("journal.room")?;
        platform::pad(&self.file, self.allocated, wanted - self.allocated)?;
        self.allocated = wanted;
        Ok(())
    }

    fn extend_fault(&self, error: io::Error) -> WriteFault {
        if platform::is_no_room_error(&error) {
            WriteFault::NoRoom
        } else {
            WriteFault::Broken(error)
        }
    }
}

/// The name of the segment whose first group is `first`.
pub(crate) fn name_of(first: u64) -> String {
    format!("{first}.jsonl")
}

/// The first group of the segment called `name`; `None` if that is no segment's name.
pub(crate) fn first_of(name: &str) -> Option<u64> {
    let first: u64 = name.strip_suffix(".jsonl")?.parse().ok()?;
    (name_of(first) == name).then_some(first)
}

/// The name under which a segment is written before it is published.
pub(crate) fn temporary(name: &str) -> String {
    format!("{name}.tmp")
}
