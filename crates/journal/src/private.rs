//! Private folders and files: ours, closed to everybody else, and never reached through a link.
//!
//! In: paths and names. Out: open descriptors and bytes, or the one reason why not.
//! Never: follows a symbolic link in a last component, widens a mode, waits on a pipe or a
//! device, or reads past the bound that the caller gave.

use std::ffi::CStr;
use std::fs::File;
use std::io::{self, Read};
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, Dir, FileType, Mode, OFlags, RenameFlags, Stat};
use rustix::io::Errno;

use crate::platform;

/// Mode of every folder that this crate makes.
pub const FOLDER_MODE: u32 = 0o700;
/// Mode of every file that this crate makes.
pub const FILE_MODE: u32 = 0o600;

/// Why a private file or folder could not be used.
#[derive(Debug, thiserror::Error)]
#[error("{}: {kind}", path.display())]
pub struct PrivateError {
    /// What was asked for.
    pub path: PathBuf,
    /// What stands in the way.
    pub kind: PrivateErrorKind,
}

/// The causes, one variant each, so that nobody has to guess from a message.
#[derive(Debug, thiserror::Error)]
pub enum PrivateErrorKind {
    /// Nothing has that name.
    #[error("does not exist")]
    Missing,
    /// The last component is a symbolic link.
    #[error("is a symbolic link")]
    Symlink,
    /// Not a regular file: a folder, a pipe, a socket or a device.
    #[error("is not a regular file")]
    NotRegular,
    /// A file stands where a folder is expected.
    #[error("is not a folder")]
    NotAFolder,
    /// Group or others have some access.
    #[error("has mode {mode:04o}, which lets others in (expected {expected:04o})")]
    ModeTooOpen {
        /// Permission bits found.
        mode: u32,
        /// Permission bits that are right.
        expected: u32,
    },
    /// Belongs to another user.
    #[error("belongs to user {uid}, not to us")]
    WrongOwner {
        /// Owner found.
        uid: u32,
    },
    /// Longer than the caller's bound, in bytes.
    #[error("is {bytes} bytes long, more than the {max} allowed")]
    TooLarge {
        /// Length found, in bytes.
        bytes: u64,
        /// Longest length allowed, in bytes.
        max: u64,
    },
    /// We are not let in.
    #[error("cannot be read: permission denied")]
    Denied,
    /// The file system is mounted read-only.
    #[error("stands on a read-only file system")]
    ReadOnly,
    /// No room on the device, over quota, or over the process's file size limit.
    #[error("no room left to write it")]
    NoRoom,
    /// Everything else that the system can answer.
    #[error("{0}")]
    Io(#[source] io::Error),
}

impl PrivateErrorKind {
    /// True for the error classes that freeing space cures.
    pub(crate) fn is_no_room(&self) -> bool {
        matches!(self, Self::NoRoom)
    }
}

impl From<Errno> for PrivateErrorKind {
    fn from(errno: Errno) -> Self {
        match errno {
            Errno::NOENT => Self::Missing,
            Errno::LOOP => Self::Symlink,
            Errno::NOTDIR => Self::NotAFolder,
            Errno::ACCESS | Errno::PERM => Self::Denied,
            Errno::ROFS => Self::ReadOnly,
            // A pipe or socket that nobody serves answers this to a non-blocking open.
            Errno::NXIO => Self::NotRegular,
            other if platform::is_no_room(other) => Self::NoRoom,
            other => Self::Io(other.into()),
        }
    }
}

impl From<io::Error> for PrivateErrorKind {
    fn from(error: io::Error) -> Self {
        match Errno::from_io_error(&error) {
            Some(errno) => errno.into(),
            None => Self::Io(error),
        }
    }
}

impl PrivateError {
    pub(crate) fn new(path: impl Into<PathBuf>, kind: impl Into<PrivateErrorKind>) -> Self {
        Self {
            path: path.into(),
            kind: kind.into(),
        }
    }
}

/// What a file is, apart from its name: enough to notice that it was replaced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Identity {
    device: u64,
    inode: u64,
}

impl From<&Stat> for Identity {
    fn from(stat: &Stat) -> Self {
        Self {
            device: stat.st_dev,
            inode: stat.st_ino,
        }
    }
}

/// Whether opening may make what is missing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum IfMissing {
    Fail,
    Create,
}

/// How a file of a [`PrivateDir`] is opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Access {
    /// Read what exists.
    Read,
    /// Read and write in place what exists.
    Write,
    /// Append to what exists.
    Append,
    /// Make it, read and write; an existing one is an error.
    CreateNew,
    /// Make it for appending; an existing one is an error.
    CreateNewAppend,
}

impl Access {
    fn flags(self) -> OFlags {
        match self {
            Self::Read => OFlags::RDONLY,
            Self::Write => OFlags::RDWR,
            Self::Append => OFlags::WRONLY | OFlags::APPEND,
            Self::CreateNew => OFlags::RDWR | OFlags::CREATE | OFlags::EXCL,
            Self::CreateNewAppend => {
                OFlags::WRONLY | OFlags::APPEND | OFlags::CREATE | OFlags::EXCL
            }
        }
    }
}

/// A private folder held open: everything below it is reached through its descriptor.
#[derive(Debug)]
pub(crate) struct PrivateDir {
    fd: OwnedFd,
    path: PathBuf,
    identity: Identity,
}

impl PrivateDir {
    /// Opens `path`; with [`IfMissing::Create`] makes it and its missing parents, mode 0700.
    pub(crate) fn open(path: &Path, if_missing: IfMissing) -> Result<Self, PrivateError> {
        let path = std::path::absolute(path).map_err(|error| PrivateError::new(path, error))?;
        if if_missing == IfMissing::Create {
            create_with_parents(&path)?;
        }
        let fd = rustix::fs::open(&path, folder_flags(), Mode::empty());
        Self::checked(fd, path)
    }

    /// Opens the folder `name` directly below this one.
    pub(crate) fn sub(&self, name: &str, if_missing: IfMissing) -> Result<Self, PrivateError> {
        let path = self.path.join(name);
        if if_missing == IfMissing::Create {
            match rustix::fs::mkdirat(&self.fd, name, Mode::from_raw_mode(FOLDER_MODE)) {
                Ok(()) => self.sync()?,
                Err(Errno::EXIST) => {}
                Err(errno) => return Err(PrivateError::new(path, errno)),
            }
        }
        let fd = rustix::fs::openat(&self.fd, name, folder_flags(), Mode::empty());
        Self::checked(fd, path)
    }

    fn checked(fd: rustix::io::Result<OwnedFd>, path: PathBuf) -> Result<Self, PrivateError> {
        let checked = fd
            .map_err(|errno| folder_kind(errno, &path))
            .and_then(|fd| {
                let stat = rustix::fs::fstat(&fd)?;
                check_owner_and_mode(&stat, FOLDER_MODE)?;
                Ok((fd, Identity::from(&stat)))
            });
        match checked {
            Ok((fd, identity)) => Ok(Self { fd, path, identity }),
            Err(kind) => Err(PrivateError::new(path, kind)),
        }
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) fn join(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }

    pub(crate) fn fd(&self) -> &OwnedFd {
        &self.fd
    }

    /// Whether the path still leads to the folder that is held open.
    pub(crate) fn still_at_path(&self) -> bool {
        rustix::fs::lstat(&self.path).is_ok_and(|stat| Identity::from(&stat) == self.identity)
    }

    /// Identity and length of the entry `name`, links not followed; `None` if there is none.
    pub(crate) fn entry(&self, name: &str) -> Result<Option<(Identity, u64)>, PrivateError> {
        Ok(self
            .stat(name)?
            .map(|stat| (Identity::from(&stat), length(&stat))))
    }

    /// The status of the entry `name` itself, links not followed; `None` if there is none.
    pub(crate) fn stat(&self, name: &str) -> Result<Option<Stat>, PrivateError> {
        match rustix::fs::statat(&self.fd, name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(stat) => Ok(Some(stat)),
            Err(Errno::NOENT) => Ok(None),
            Err(errno) => Err(PrivateError::new(self.join(name), errno)),
        }
    }

    /// Opens the file `name` and checks that it is regular, ours and closed to others.
    pub(crate) fn file(&self, name: &str, access: Access) -> Result<File, PrivateError> {
        let flags = access.flags() | OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::NONBLOCK;
        rustix::fs::openat(&self.fd, name, flags, Mode::from_raw_mode(FILE_MODE))
            .map_err(|errno| file_kind(errno, access))
            .and_then(|fd| checked_file(fd).map(|(file, _)| file))
            .map_err(|kind| PrivateError::new(self.join(name), kind))
    }

    /// As [`Self::file`], with a missing file as `None`.
    pub(crate) fn file_if_any(
        &self,
        name: &str,
        access: Access,
    ) -> Result<Option<File>, PrivateError> {
        match self.file(name, access) {
            Ok(file) => Ok(Some(file)),
            Err(PrivateError {
                kind: PrivateErrorKind::Missing,
                ..
            }) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Reads the file `name` whole; longer than `max_bytes` is an error.
    pub(crate) fn read(&self, name: &str, max_bytes: u64) -> Result<Vec<u8>, PrivateError> {
        let file = self.file(name, Access::Read)?;
        read_bounded(file, max_bytes).map_err(|kind| PrivateError::new(self.join(name), kind))
    }

    /// Names of all entries, in no order, without `.` and `..`; names that are not UTF-8 are
    /// nobody's of ours and are left out.
    pub(crate) fn names(&self) -> Result<Vec<String>, PrivateError> {
        let names = || -> rustix::io::Result<Vec<String>> {
            let mut names = Vec::new();
            for entry in Dir::read_from(&self.fd)? {
                let entry = entry?;
                let name: &CStr = entry.file_name();
                if let Ok(name) = name.to_str()
                    && name != "."
                    && name != ".."
                {
                    names.push(name.to_owned());
                }
            }
            Ok(names)
        };
        names().map_err(|errno| PrivateError::new(&self.path, errno))
    }

    /// Renames within this folder, taking the place of what has the new name.
    pub(crate) fn rename(&self, from: &str, to: &str) -> Result<(), PrivateError> {
        rustix::fs::renameat(&self.fd, from, &self.fd, to)
            .map_err(|errno| PrivateError::new(self.join(to), errno))
    }

    /// Renames within this folder; false, and nothing done, when the new name is taken.
    pub(crate) fn rename_to_free_name(&self, from: &str, to: &str) -> Result<bool, PrivateError> {
        match rustix::fs::renameat_with(&self.fd, from, &self.fd, to, RenameFlags::NOREPLACE) {
            Ok(()) => Ok(true),
            Err(Errno::EXIST) => Ok(false),
            Err(errno) => Err(PrivateError::new(self.join(to), errno)),
        }
    }

    /// Removes the file `name`; one that is not there is no error.
    pub(crate) fn remove(&self, name: &str) -> Result<(), PrivateError> {
        match rustix::fs::unlinkat(&self.fd, name, AtFlags::empty()) {
            Ok(()) | Err(Errno::NOENT) => Ok(()),
            Err(errno) => Err(PrivateError::new(self.join(name), errno)),
        }
    }

    /// Makes creations, renames and removals in this folder survive a power loss.
    pub(crate) fn sync(&self) -> Result<(), PrivateError> {
        rustix::fs::fsync(&self.fd).map_err(|errno| PrivateError::new(&self.path, errno))
    }
}

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
        .map_err(|errno| file_kind(errno, Access::Read))
        .and_then(checked_file)
        .and_then(|(file, _)| read_bounded(file, max_bytes))
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

fn file_kind(errno: Errno, access: Access) -> PrivateErrorKind {
    match (errno, access) {
        // A folder that is opened for writing.
        (Errno::ISDIR, _) => PrivateErrorKind::NotRegular,
        _ => errno.into(),
    }
}

fn checked_file(fd: OwnedFd) -> Result<(File, Stat), PrivateErrorKind> {
    let stat = rustix::fs::fstat(fd.as_fd())?;
    if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile {
        return Err(PrivateErrorKind::NotRegular);
    }
    check_owner_and_mode(&stat, FILE_MODE)?;
    Ok((File::from(fd), stat))
}

fn check_owner_and_mode(stat: &Stat, expected: u32) -> Result<(), PrivateErrorKind> {
    if stat.st_uid != rustix::process::geteuid().as_raw() {
        return Err(PrivateErrorKind::WrongOwner { uid: stat.st_uid });
    }
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
