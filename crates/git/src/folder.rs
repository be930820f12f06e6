//! Folders of the repository, held by descriptors.
//!
//! In: a folder that is open and single names. Out: folders, bytes, facts.
//! Never: a name with a slash in it, a link that is followed, an open that waits, more bytes than a
//! bound.

use std::{ffi::OsStr, os::unix::ffi::OsStrExt, path::Path};

use rustix::{
    fd::{AsFd, BorrowedFd, OwnedFd},
    fs::{AtFlags, Dir, FileType, Mode, OFlags, Stat},
    io::Errno,
};

use guildhall_confine::Refusal;

use crate::refusal::{Feature, GitRefusal};

const FOLDER: OFlags = OFlags::RDONLY
    .union(OFlags::DIRECTORY)
    .union(OFlags::NOFOLLOW)
    .union(OFlags::CLOEXEC);
const READ: OFlags = OFlags::RDONLY
    .union(OFlags::NOFOLLOW)
    .union(OFlags::NONBLOCK)
    .union(OFlags::NOCTTY)
    .union(OFlags::CLOEXEC);
const CREATE: OFlags = OFlags::WRONLY
    .union(OFlags::CREATE)
    .union(OFlags::EXCL)
    .union(OFlags::NOFOLLOW)
    .union(OFlags::CLOEXEC);

/// What a name leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    File,
    Folder,
    Link,
    Special,
}

/// A name in a folder, and what it leads to.
pub(crate) type Entry = (Vec<u8>, Kind);

/// A folder that is held open.
#[derive(Debug)]
pub(crate) struct Folder(OwnedFd);

impl Folder {
    /// Opens a folder by its absolute path; the last segment is no link.
    pub(crate) fn open_ambient(path: &Path) -> Result<Self, Errno> {
        rustix::fs::open(path, FOLDER, Mode::empty()).map(Self)
    }

    /// Opens the folder `name`.
    pub(crate) fn folder(&self, name: &[u8]) -> Result<Self, Errno> {
        rustix::fs::openat(&self.0, name, FOLDER, Mode::empty()).map(Self)
    }

    /// Opens the folder at a path of several names.
    pub(crate) fn folder_at(&self, names: &[&[u8]]) -> Result<Self, Errno> {
        let (first, rest) = names.split_first().ok_or(Errno::NOENT)?;
        let mut folder = self.folder(first)?;
        for name in rest {
            folder = folder.folder(name)?;
        }
        Ok(folder)
    }

    /// Opens the folder `name`, which is made when it is not there.
    pub(crate) fn folder_made(&self, name: &[u8]) -> Result<Self, Errno> {
        match rustix::fs::mkdirat(&self.0, name, Mode::from_raw_mode(0o777)) {
            Ok(()) | Err(Errno::EXIST) => self.folder(name),
            Err(errno) => Err(errno),
        }
    }

    /// The facts of the folder itself.
    pub(crate) fn facts(&self) -> Result<Stat, Errno> {
        rustix::fs::fstat(&self.0)
    }

    /// The facts of `name`, links not followed; `None` when there is nothing.
    pub(crate) fn facts_of(&self, name: &[u8]) -> Result<Option<Stat>, Errno> {
        match rustix::fs::statat(&self.0, name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(facts) => Ok(Some(facts)),
            Err(Errno::NOENT) => Ok(None),
            Err(errno) => Err(errno),
        }
    }

    /// Whether there is something by that name.
    pub(crate) fn has(&self, name: &str) -> Result<bool, GitRefusal> {
        let facts = self.facts_of(name.as_bytes());
        facts
            .map(|facts| facts.is_some())
            .map_err(GitRefusal::of_errno)
    }

    /// All names with what they lead to, in the order of the file system; at most `most`, else `None`.
    pub(crate) fn entries(&self, most: usize) -> Result<Option<Vec<Entry>>, Errno> {
        let mut found = Vec::new();
        for entry in Dir::read_from(&self.0)? {
            let entry = entry?;
            let name = entry.file_name().to_bytes();
            if matches!(name, b"." | b"..") {
                continue;
            }
            if found.len() >= most {
                return Ok(None);
            }
            let kind = if entry.file_type() == FileType::Unknown {
                match self.facts_of(name)? {
                    Some(facts) => kind_of(&facts),
                    None => continue,
                }
            } else {
                kind(entry.file_type())
            };
            found.push((name.to_vec(), kind));
        }
        Ok(Some(found))
    }

    /// The bytes of the plain file `name`: `None` when there is nothing by that name.
    pub(crate) fn read(&self, name: &str, most: usize) -> Result<Option<Vec<u8>>, GitRefusal> {
        let link = || GitRefusal::Link(name.to_owned());
        let file = match rustix::fs::openat(&self.0, name, READ, Mode::empty()) {
            Ok(file) => file,
            Err(Errno::NOENT) => return Ok(None),
            Err(Errno::LOOP | Errno::NXIO) => return Err(link()),
            Err(errno) => return Err(GitRefusal::of_errno(errno)),
        };
        let facts = rustix::fs::fstat(&file).map_err(GitRefusal::of_errno)?;
        if kind_of(&facts) != Kind::File {
            return Err(link());
        }
        let bytes = read_whole(&file, most)?;
        bytes.map_or(Err(GitRefusal::Layout(Feature::TooBig)), |bytes| {
            Ok(Some(bytes))
        })
    }

    /// The bytes of the plain file with one name at a path of several names, and its mode.
    pub(crate) fn read_file(&self, path: &str, most: usize) -> Result<(Vec<u8>, u32), GitRefusal> {
        let named = |refusal| GitRefusal::Path(path.to_owned(), refusal);
        let of_errno = |errno| match errno {
            Errno::LOOP | Errno::NOTDIR => named(Refusal::Symlink),
            Errno::NOENT => named(Refusal::NotFound),
            other => GitRefusal::of_errno(other),
        };
        let (folders, name) = path.rsplit_once('/').unwrap_or(("", path));
        let folders = folders.split('/').filter(|folder| !folder.is_empty());
        let mut held: Option<Self> = None;
        for folder in folders {
            let above = held.as_ref().unwrap_or(self);
            held = Some(above.folder(folder.as_bytes()).map_err(of_errno)?);
        }
        let folder = held.as_ref().unwrap_or(self);
        let file = rustix::fs::openat(&folder.0, name, READ, Mode::empty()).map_err(of_errno)?;
        let facts = rustix::fs::fstat(&file).map_err(GitRefusal::of_errno)?;
        if kind_of(&facts) != Kind::File {
            return Err(named(Refusal::NotRegular));
        }
        if facts.st_nlink != 1 {
            return Err(named(Refusal::HardLink));
        }
        let bytes = read_whole(&file, most)?.ok_or(GitRefusal::TooLarge)?;
        Ok((bytes, facts.st_mode))
    }

    /// Makes the file `name` with `bytes`, synced. The file must not be there.
    pub(crate) fn create(&self, name: &[u8], bytes: &[u8], mode: u32) -> Result<(), Errno> {
        let file = rustix::fs::openat(&self.0, name, CREATE, Mode::from_raw_mode(mode))?;
        let mut rest = bytes;
        while !rest.is_empty() {
            let count = rustix::io::write(&file, rest)?;
            rest = &rest[count..];
        }
        rustix::fs::fsync(&file)
    }

    /// Gives `from` the name `to`, over whatever had it.
    pub(crate) fn rename(&self, from: &[u8], to: &[u8]) -> Result<(), Errno> {
        rustix::fs::renameat(&self.0, from, &self.0, to)
    }

    /// Takes the name `name` away.
    pub(crate) fn remove(&self, name: &[u8]) -> Result<(), Errno> {
        rustix::fs::unlinkat(&self.0, name, AtFlags::empty())
    }

    /// Makes what happened to names last.
    pub(crate) fn sync(&self) -> Result<(), Errno> {
        rustix::fs::fsync(&self.0)
    }
}

impl AsFd for Folder {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

/// What facts say about a kind.
pub(crate) fn kind_of(facts: &Stat) -> Kind {
    kind(FileType::from_raw_mode(facts.st_mode))
}

/// A name as people may see it.
pub(crate) fn shown(name: &[u8]) -> String {
    let name = OsStr::from_bytes(name).to_string_lossy();
    crate::masked::shown_name(&name, 100)
}

fn kind(file_type: FileType) -> Kind {
    match file_type {
        FileType::RegularFile => Kind::File,
        FileType::Directory => Kind::Folder,
        FileType::Symlink => Kind::Link,
        FileType::Fifo
        | FileType::Socket
        | FileType::CharacterDevice
        | FileType::BlockDevice
        | FileType::Unknown => Kind::Special,
    }
}

/// All bytes of a file; `None` when there are more than `most`.
fn read_whole(file: &OwnedFd, most: usize) -> Result<Option<Vec<u8>>, GitRefusal> {
    let mut bytes = Vec::new();
    let mut chunk = [0; 16 * 1024];
    loop {
        let count = rustix::io::read(file, &mut chunk).map_err(GitRefusal::of_errno)?;
        if count == 0 {
            return Ok(Some(bytes));
        }
        if bytes.len() + count > most {
            return Ok(None);
        }
        bytes.extend_from_slice(&chunk[..count]);
    }
}
