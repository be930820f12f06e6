//! Why a private file or folder cannot be used: one name for each cause.
//!
//! In: what the system answered. Out: a kind. Never: tells a full disk, a refusal and a fault of
//! the device by the same name.

use std::io;
use std::path::PathBuf;

use rustix::io::Errno;

use crate::platform;

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

    /// Whether nothing has that name.
    pub(crate) fn is_missing(&self) -> bool {
        matches!(self.kind, PrivateErrorKind::Missing)
    }
}
