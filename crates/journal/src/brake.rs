//! The brakes: `STOP` for one binding, `ESTOP` for the data root.
//!
//! In: the path of a brake. Out: whether it is set, and the line that says why.
//! Never: takes doubt for an absent brake, overwrites a brake that stands, or removes one that a
//! person set, even in the instant between looking and removing.

use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, Timespec, Timestamps};
use rustix::io::Errno;

use crate::failpoint::failpoint;
use crate::private::{
    Access, Identity, IfMissing, PrivateDir, PrivateError, PrivateErrorKind, length,
};
use crate::replace::folder_and_name;

/// Longest reason that is read or written, in bytes.
pub const WHY_MAX_BYTES: usize = 512;

/// The one line of a `STOP` that a recovery writes while it clears a dead lock.
const RECOVERY_LINE: &str = "guildhall: recovery is clearing a dead lock\n";

/// Modification time of a recovery's `STOP`, in seconds since 1970: anybody who so much as touches
/// the file makes it theirs.
const RECOVERY_TIME: i64 = 1;

/// Whether a brake is set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Brake {
    /// Nothing has the brake's name.
    Absent,
    /// Something has it, or it cannot be known that nothing does.
    Set {
        /// The file's first line, where it can be read.
        why: Option<String>,
    },
}

/// What setting a brake did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BrakeSet {
    /// It was written.
    Written,
    /// It was there; its text is untouched.
    AlreadySet,
}

/// The two brakes that a binding obeys.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Brakes {
    /// The binding's own.
    pub stop: PathBuf,
    /// The data root's.
    pub estop: PathBuf,
}

impl Brakes {
    /// The brakes of the binding whose journal is in `folder`, below `data_root`.
    pub fn of(folder: &Path, data_root: &Path) -> Self {
        Self {
            stop: folder.join("STOP"),
            estop: data_root.join("ESTOP"),
        }
    }

    /// The first brake that is set, the data root's before the binding's.
    pub fn set(&self) -> Option<BrakeFound> {
        [&self.estop, &self.stop]
            .into_iter()
            .find_map(|path| match read_brake(path) {
                Brake::Absent => None,
                Brake::Set { why } => Some(BrakeFound {
                    path: path.clone(),
                    why,
                }),
            })
    }
}

/// A brake that is set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BrakeFound {
    /// Its file.
    pub path: PathBuf,
    /// The file's first line, where it can be read.
    pub why: Option<String>,
}

/// Reads a brake. Anything under its name counts: a file, a folder, a dangling link; and so does
/// an answer that leaves it open whether something is there.
pub fn read_brake(path: &Path) -> Brake {
    match rustix::fs::lstat(path) {
        Ok(_) => Brake::Set { why: why(path) },
        Err(Errno::NOENT) => match folder_and_name(path) {
            Ok((folder, name)) => read_moved(&folder.join(moved(name))),
            Err(_) => Brake::Set { why: None },
        },
        Err(_) => Brake::Set { why: None },
    }
}

/// Sets a brake with one line that says why; a brake that is set already stays as it is.
///
/// Line breaks in `why` become spaces, and at most [`WHY_MAX_BYTES`] of it are kept.
///
/// # Errors
/// A folder that is missing or not private, and what the system answers.
pub fn set_brake(path: &Path, why: &str) -> Result<BrakeSet, PrivateError> {
    let (folder, name) = folder_and_name(path)?;
    let dir = PrivateDir::open(folder, IfMissing::Fail)?;
    let mut line: String = why
        .chars()
        .map(|c| if c.is_control() { ' ' } else { c })
        .take(WHY_MAX_BYTES / 4)
        .collect();
    line.push('\n');
    loop {
        match publish(&dir, name, line.as_bytes(), |_| Ok(()))? {
            BrakeSet::Written => return Ok(BrakeSet::Written),
            // It would go with the recovery that wrote it: a person's word takes its place.
            BrakeSet::AlreadySet if is_recoverys(&dir, name)? => {
                return take_over(&dir, name, line.as_bytes());
            }
            // It may have gone just now, with its recovery.
            BrakeSet::AlreadySet => {
                if dir.stat(name)?.is_some() && !is_recoverys(&dir, name)? {
                    return Ok(BrakeSet::AlreadySet);
                }
            }
        }
    }
}

/// Puts a person's brake in the place of a recovery's. A recovery that has moved its own away by now
/// finds this one when it looks for the last time.
fn take_over(dir: &PrivateDir, name: &str, contents: &[u8]) -> Result<BrakeSet, PrivateError> {
    let temporary = format!(".{name}.{}.tmp", crate::platform::unique());
    let mut file = dir.file(&temporary, Access::CreateNew)?;
    let written = file.write_all(contents).and_then(|()| file.sync_all());
    if let Err(error) = written {
        dir.remove(&temporary)?;
        return Err(PrivateError::new(dir.join(name), error));
    }
    dir.rename(&temporary, name)?;
    dir.sync()?;
    Ok(BrakeSet::Written)
}

/// Removes a brake on a person's word; false if there was none.
///
/// # Errors
/// What the system answers, such as a folder that stands under the brake's name.
pub fn release_brake(path: &Path) -> Result<bool, PrivateError> {
    let (folder, name) = folder_and_name(path)?;
    let dir = PrivateDir::open(folder, IfMissing::Fail)?;
    let was_set = read_brake(path) != Brake::Absent;
    dir.remove(name)?;
    dir.remove(&moved(name))?;
    dir.sync()?;
    Ok(was_set)
}

/// Whether the brake `name` is one that a recovery wrote, whole and untouched.
pub(crate) fn is_recoverys(dir: &PrivateDir, name: &str) -> Result<bool, PrivateError> {
    let Some(stat) = dir.stat(name)? else {
        return Ok(false);
    };
    if stat.st_mtime != RECOVERY_TIME || length(&stat) != RECOVERY_LINE.len() as u64 {
        return Ok(false);
    }
    let bytes = dir.read_of_any_mode(name, WHY_MAX_BYTES as u64);
    Ok(bytes.is_ok_and(|bytes| bytes == RECOVERY_LINE.as_bytes()))
}

/// Writes the brake `name` as a recovery does.
pub(crate) fn set_for_recovery(dir: &PrivateDir, name: &str) -> Result<BrakeSet, PrivateError> {
    publish(dir, name, RECOVERY_LINE.as_bytes(), |file| {
        let time = Timespec {
            tv_sec: RECOVERY_TIME,
            tv_nsec: 0,
        };
        let times = Timestamps {
            last_access: time,
            last_modification: time,
        };
        Ok(rustix::fs::futimens(file, &times)?)
    })
}

/// What became of a recovery's own brake.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TakenBack {
    Removed,
    /// A person had made it theirs: it stays.
    Stays,
}

/// Removes the brake `name` if it is a recovery's own. It is moved before the last look, so that
/// what is removed is what was looked at.
pub(crate) fn take_back(dir: &PrivateDir, name: &str) -> Result<TakenBack, PrivateError> {
    let moved = moved(name);
    match dir.rename_to_free_name(name, &moved) {
        Ok(true) => {}
        Ok(false) => return Ok(TakenBack::Stays),
        Err(PrivateError {
            kind: PrivateErrorKind::Missing,
            ..
        }) => return Ok(TakenBack::Removed),
        Err(error) => return Err(error),
    }
    failpoint("brake.moved");
    if is_recoverys(dir, &moved)? {
        dir.remove(&moved)?;
        dir.sync()?;
        // A person may have set another in the meantime.
        return Ok(match dir.stat(name)? {
            None => TakenBack::Removed,
            Some(_) => TakenBack::Stays,
        });
    }
    if !dir.rename_to_free_name(&moved, name)? {
        dir.remove(&moved)?;
    }
    dir.sync()?;
    Ok(TakenBack::Stays)
}

/// Puts in order what a recovery that was interrupted left moved: a person's brake goes back to
/// its name, a recovery's own goes.
pub(crate) fn settle_moved(dir: &PrivateDir, name: &str) -> Result<(), PrivateError> {
    let moved = moved(name);
    if dir.stat(&moved)?.is_none() {
        return Ok(());
    }
    // With a brake under the name, the moved one adds nothing, whoever wrote it, unless that brake
    // is a recovery's own.
    if !is_recoverys(dir, &moved)? {
        if is_recoverys(dir, name)? {
            return dir.rename(&moved, name);
        }
        if dir.rename_to_free_name(&moved, name)? {
            return Ok(());
        }
    }
    dir.remove(&moved)
}

/// Where a brake stands while a recovery looks at it for the last time.
pub(crate) fn moved(name: &str) -> String {
    format!(".{name}.moved")
}

/// A crash can leave a brake moved: a person's still counts, a recovery's own does not.
fn read_moved(path: &Path) -> Brake {
    match rustix::fs::lstat(path) {
        Err(Errno::NOENT) => Brake::Absent,
        Ok(stat) if stat.st_mtime == RECOVERY_TIME => match why(path) {
            Some(line) if line == RECOVERY_LINE.trim_end() => Brake::Absent,
            why => Brake::Set { why },
        },
        Ok(_) => Brake::Set { why: why(path) },
        Err(_) => Brake::Set { why: None },
    }
}

fn why(path: &Path) -> Option<String> {
    let (folder, name) = folder_and_name(path).ok()?;
    let dir = PrivateDir::open(folder, IfMissing::Fail).ok()?;
    let bytes = dir.read_of_any_mode(name, 64 * 1024).ok()?;
    let line = bytes.split(|byte| *byte == b'\n').next()?;
    let line = String::from_utf8_lossy(&line[..line.len().min(WHY_MAX_BYTES)]);
    let line: String = line.chars().filter(|c| !c.is_control()).collect();
    (!line.is_empty()).then_some(line)
}

/// Writes a file beside the name and links it there, so that it appears whole or not at all and
/// never takes another's place.
fn publish(
    dir: &PrivateDir,
    name: &str,
    contents: &[u8],
    finish: impl FnOnce(&File) -> std::io::Result<()>,
) -> Result<BrakeSet, PrivateError> {
    publish_new(dir, name, contents, finish).map(|is_new| match is_new {
        Some(_) => BrakeSet::Written,
        None => BrakeSet::AlreadySet,
    })
}

/// See [`publish`]; the identity of the new file, or `None` if the name was taken.
pub(crate) fn publish_new(
    dir: &PrivateDir,
    name: &str,
    contents: &[u8],
    finish: impl FnOnce(&File) -> std::io::Result<()>,
) -> Result<Option<Identity>, PrivateError> {
    let temporary = format!(".{name}.{}.tmp", crate::platform::unique());
    let mut file = dir.file(&temporary, Access::CreateNew)?;
    let path = dir.join(name);
    let linked = crate::platform::check_size_limit(contents.len() as u64)
        .and_then(|()| file.write_all(contents))
        .and_then(|()| finish(&file))
        .and_then(|()| file.sync_all())
        .and_then(|()| {
            match rustix::fs::linkat(dir.fd(), &temporary, dir.fd(), name, AtFlags::empty()) {
                Ok(()) => Ok(Some(Identity::from(&rustix::fs::fstat(&file)?))),
                Err(Errno::EXIST) => Ok(None),
                Err(errno) => Err(errno.into()),
            }
        })
        .map_err(|error| PrivateError::new(path, error));
    // The file's own trouble is worth more than that of its temporary name.
    let removed = dir.remove(&temporary);
    let linked = linked?;
    removed?;
    dir.sync()?;
    Ok(linked)
}
