//! Private folders and files: ours, closed to everybody else, and never reached through a link.
//!
//! In: paths and names. Out: open descriptors and bytes, or the one reason why not.
//! Never: follows a symbolic link in a last component, widens a mode, waits on a pipe or a
//! device, or reads past the bound that the caller gave.

mod dir;
mod error;
mod folder_lock;

use std::fs::File;
use std::io::Read;
use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;

use rustix::fs::{FileType, Mode, OFlags, Stat};
use rustix::io::Errno;

pub(crate) use dir::{Access, Identity, IfMissing, PrivateDir};
pub use error::{PrivateError, PrivateErrorKind};
pub(crate) use folder_lock::FolderLock;

/// Mode of every folder that this crate makes.
pub const FOLDER_MODE: u32 = 0o700;
/// Mode of every file that this crate makes.
pub const FILE_MODE: u32 = 0o600;

/// Reads a private file: a token, a binding, a configuration.
///
/// The file must be regular, ours, closed to group and others, no symbolic link, and at most
/// `max_bytes` long.
///
/// # Errors
/// One [`PrivateErrorKind`] per cause.
pub fn read_private(path: &Path, max_bytes: u64) -> Result<Vec<u8>, PrivateError> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::NONBLOCK;
    rustix::fs::open(path, flags, Mode::empty())
        .map_err(file_kind)
        .and_then(checked_file)
        .and_then(|(file, _)| read_bounded(file, max_bytes))
        .map_err(|kind| PrivateError::new(path, kind))
}

/// Makes sure that a private file is one, as [`read_private`] does, without a look at what is in it.
///
/// # Errors
/// As there.
pub fn check_private(path: &Path) -> Result<(), PrivateError> {
    let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    rustix::fs::open(path, flags, Mode::empty())
        .map_err(file_kind)
        .and_then(checked_file)
        .map(drop)
        .map_err(|kind| PrivateError::new(path, kind))
}

/// Makes sure that `path` is a private folder of ours, making it and its missing parents if need be.
///
/// # Errors
/// Another owner, a looser mode than 0700, a symbolic link, or anything the system answers.
pub fn ensure_private_folder(path: &Path) -> Result<(), PrivateError> {
    PrivateDir::open(path, IfMissing::Create).map(drop)
}

fn folder_flags() -> OFlags {
    OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC
}

/// O_DIRECTORY with O_NOFOLLOW answers ENOTDIR for a link too: look which one it is.
fn folder_kind(errno: Errno, path: &Path) -> PrivateErrorKind {
    if errno == Errno::NOTDIR
        && rustix::fs::lstat(path)
            .is_ok_and(|stat| FileType::from_raw_mode(stat.st_mode) == FileType::Symlink)
    {
        return PrivateErrorKind::Symlink;
    }
    errno.into()
}

fn file_kind(errno: Errno) -> PrivateErrorKind {
    match errno {
        // A folder that is opened for writing.
        Errno::ISDIR => PrivateErrorKind::NotRegular,
        other => other.into(),
    }
}

fn checked_file(fd: OwnedFd) -> Result<(File, Stat), PrivateErrorKind> {
    let (file, stat) = regular_file(fd)?;
    check_owner_and_mode(&stat, FILE_MODE)?;
    Ok((file, stat))
}

fn regular_file(fd: OwnedFd) -> Result<(File, Stat), PrivateErrorKind> {
    let stat = rustix::fs::fstat(fd.as_fd())?;
    match FileType::from_raw_mode(stat.st_mode) {
        FileType::RegularFile => {}
        // Opened itself, not followed.
        FileType::Symlink => return Err(PrivateErrorKind::Symlink),
        FileType::Directory
        | FileType::Fifo
        | FileType::Socket
        | FileType::CharacterDevice
        | FileType::BlockDevice
        | FileType::Unknown => return Err(PrivateErrorKind::NotRegular),
    }
    check_owner(&stat)?;
    Ok((File::from(fd), stat))
}

fn check_owner(stat: &Stat) -> Result<(), PrivateErrorKind> {
    match stat.st_uid {
        uid if uid == rustix::process::geteuid().as_raw() => Ok(()),
        uid => Err(PrivateErrorKind::WrongOwner { uid }),
    }
}

fn check_owner_and_mode(stat: &Stat, expected: u32) -> Result<(), PrivateErrorKind> {
    check_owner(stat)?;
    let mode = stat.st_mode & 0o7777;
    if mode & 0o077 != 0 {
        return Err(PrivateErrorKind::ModeTooOpen { mode, expected });
    }
    Ok(())
}

fn read_bounded(file: File, max_bytes: u64) -> Result<Vec<u8>, PrivateErrorKind> {
    let bytes = file.metadata()?.len();
    if bytes > max_bytes {
        return Err(PrivateErrorKind::TooLarge {
            bytes,
            max: max_bytes,
        });
    }
    let mut contents = Vec::with_capacity(usize::try_from(bytes).unwrap_or(0));
    file.take(max_bytes.saturating_add(1))
        .read_to_end(&mut contents)?;
    let bytes = contents.len() as u64;
    if bytes > max_bytes {
        return Err(PrivateErrorKind::TooLarge {
            bytes,
            max: max_bytes,
        });
    }
    Ok(contents)
}

fn create_with_parents(path: &Path) -> Result<(), PrivateError> {
    let mode = Mode::from_raw_mode(FOLDER_MODE);
    match rustix::fs::mkdir(path, mode) {
        Ok(()) => sync_parent(path),
        Err(Errno::EXIST) => Ok(()),
        Err(Errno::NOENT) => {
            let Some(parent) = path.parent() else {
                return Err(PrivateError::new(path, Errno::NOENT));
            };
            create_with_parents(parent)?;
            match rustix::fs::mkdir(path, mode) {
                Ok(()) | Err(Errno::EXIST) => sync_parent(path),
                Err(errno) => Err(PrivateError::new(path, errno)),
            }
        }
        Err(errno) => Err(PrivateError::new(path, errno)),
    }
}

fn sync_parent(path: &Path) -> Result<(), PrivateError> {
    let Some(parent) = path.parent() else {
        return Ok(());
    };
    File::open(parent)
        .and_then(|folder| folder.sync_all())
        .map_err(|error| PrivateError::new(parent, error))
}

pub(crate) fn length(stat: &Stat) -> u64 {
    u64::try_from(stat.st_size).unwrap_or(0)
}
