//! A private folder held open, and the files directly in it.
//!
//! In: plain names. Out: checked descriptors, entries, renames, removals. Never: takes a name with
//! a separator in it, or reaches anything through a path once it is open.

use std::ffi::CStr;
use std::fs::File;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, Dir, Mode, OFlags, RenameFlags, Stat};
use rustix::io::Errno;

use super::{
    FILE_MODE, FOLDER_MODE, PrivateError, PrivateErrorKind, check_owner, check_owner_and_mode,
    checked_file, create_with_parents, file_kind, folder_flags, folder_kind, length, read_bounded,
    regular_file,
};

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

    /// Opens the folder `name` below this one; ours, but of any mode: nobody else gets past the
    /// folder above.
    pub(crate) fn sub_of_any_mode(&self, name: &str) -> Result<Self, PrivateError> {
        let path = self.path.join(name);
        let opened = rustix::fs::openat(&self.fd, name, folder_flags(), Mode::empty())
            .map_err(|errno| folder_kind(errno, &path))
            .and_then(|fd| {
                let stat = rustix::fs::fstat(&fd)?;
                check_owner(&stat)?;
                Ok((fd, Identity::from(&stat)))
            });
        match opened {
            Ok((fd, identity)) => Ok(Self { fd, path, identity }),
            Err(kind) => Err(PrivateError::new(path, kind)),
        }
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
            .map_err(file_kind)
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

    /// As [`Self::read`], for a file of ours of any mode: nobody else gets past the folder.
    pub(crate) fn read_of_any_mode(
        &self,
        name: &str,
        max_bytes: u64,
    ) -> Result<Vec<u8>, PrivateError> {
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::NONBLOCK;
        rustix::fs::openat(&self.fd, name, flags, Mode::empty())
            .map_err(file_kind)
            .and_then(|fd| regular_file(fd).map(|(file, _)| file))
            .and_then(|file| read_bounded(file, max_bytes))
            .map_err(|kind| PrivateError::new(self.join(name), kind))
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
