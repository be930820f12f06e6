//! The system calls, one wrapper each, with what their errors mean.
//!
//! In: descriptors and single names. Out: descriptors, facts about a file, bytes.
//! Never: a name with a slash in it, except in [`beneath`], where the kernel itself confines;
//! a link that is followed; an open that waits.

use std::{
    hash::{BuildHasher, Hasher, RandomState},
    sync::atomic::{AtomicU64, Ordering},
};

use rustix::{
    fd::{AsFd, BorrowedFd, OwnedFd},
    fs::{AtFlags, FileType, Mode, OFlags, ResolveFlags, Stat, Statx, StatxFlags},
    io::Errno,
};

use crate::Refusal;

/// How often a look-up is tried again that met a rename or a mount.
const OPEN_ATTEMPTS: u32 = 8;

/// How the names of temporary files begin. The dot keeps them out of every tool's reach.
pub(crate) const PREFIX: &[u8] = b".guildhall-";
/// How they end.
pub(crate) const SUFFIX: &[u8] = b".tmp";

/// On every open: never wait for a peer, never become the process's terminal, never reach a child,
/// never follow a link in the last place.
const ALWAYS: OFlags = OFlags::NONBLOCK
    .union(OFlags::NOCTTY)
    .union(OFlags::CLOEXEC)
    .union(OFlags::NOFOLLOW);

/// To pass through a folder.
pub(crate) const PASS: OFlags = OFlags::PATH
    .union(OFlags::DIRECTORY)
    .union(OFlags::CLOEXEC)
    .union(OFlags::NOFOLLOW);
/// To list a folder, and to sync it.
pub(crate) const LIST: OFlags = ALWAYS.union(OFlags::DIRECTORY);
/// To read a file.
pub(crate) const READ: OFlags = ALWAYS;
/// To see what a name leads to, whatever it is.
pub(crate) const LOOK: OFlags = OFlags::PATH.union(OFlags::CLOEXEC).union(OFlags::NOFOLLOW);
/// To make a file that must not be there.
const MAKE: OFlags = ALWAYS
    .union(OFlags::WRONLY)
    .union(OFlags::CREATE)
    .union(OFlags::EXCL);

/// What kind of thing a name leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    File,
    Folder,
    Link,
    Special,
}

impl Kind {
    pub(crate) fn of(file_type: FileType) -> Option<Self> {
        match file_type {
            FileType::RegularFile => Some(Self::File),
            FileType::Directory => Some(Self::Folder),
            FileType::Symlink => Some(Self::Link),
            FileType::Fifo
            | FileType::Socket
            | FileType::CharacterDevice
            | FileType::BlockDevice => Some(Self::Special),
            // Some file systems do not tell in a listing.
            FileType::Unknown => None,
        }
    }
}

/// Which inode. It names a file only as long as some descriptor holds it: numbers are used again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Inode {
    pub(crate) dev: u64,
    pub(crate) ino: u64,
}

/// What is known about a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Facts {
    pub(crate) inode: Inode,
    /// The mount it was reached through; unknown before Linux 5.8.
    pub(crate) mount: Option<u64>,
    pub(crate) kind: Kind,
    /// Permission, set-id and sticky bits.
    pub(crate) mode: u32,
    pub(crate) links: u64,
    pub(crate) size: u64,
    pub(crate) owner: (u32, u32),
    /// Last change of content and of the inode, in seconds and nanoseconds.
    pub(crate) changed: [(i64, u32); 2],
}

/// Facts about an open file.
pub(crate) fn facts(file: BorrowedFd<'_>) -> Result<Facts, Errno> {
    let mask = StatxFlags::BASIC_STATS | StatxFlags::MNT_ID;
    match rustix::fs::statx(file, c"", AtFlags::EMPTY_PATH, mask) {
        Ok(found) => Ok(of_statx(&found)),
        // A kernel before 4.11, or a filter that knows no statx.
        Err(Errno::NOSYS | Errno::PERM) => rustix::fs::fstat(file).map(|found| of_stat(&found)),
        Err(error) => Err(error),
    }
}

/// Facts about what a name stands for, the link itself where it is one.
pub(crate) fn facts_at(folder: BorrowedFd<'_>, name: &[u8]) -> Result<Facts, Errno> {
    let flags = AtFlags::SYMLINK_NOFOLLOW | AtFlags::NO_AUTOMOUNT;
    rustix::fs::statat(folder, name, flags).map(|found| of_stat(&found))
}

fn of_statx(found: &Statx) -> Facts {
    let mount = StatxFlags::from_bits_retain(found.stx_mask).contains(StatxFlags::MNT_ID);
    let time = |at: rustix::fs::StatxTimestamp| (at.tv_sec, at.tv_nsec);
    Facts {
        inode: Inode {
            dev: rustix::fs::makedev(found.stx_dev_major, found.stx_dev_minor),
            ino: found.stx_ino,
        },
        mount: mount.then_some(found.stx_mnt_id),
        kind: Kind::of(FileType::from_raw_mode(found.stx_mode.into())).unwrap_or(Kind::Special),
        mode: u32::from(found.stx_mode) & 0o7777,
        links: found.stx_nlink.into(),
        size: found.stx_size,
        owner: (found.stx_uid, found.stx_gid),
        changed: [time(found.stx_mtime), time(found.stx_ctime)],
    }
}

fn of_stat(found: &Stat) -> Facts {
    // Nanoseconds fit: the kernel keeps them below one second.
    let nanos = |raw: u64| u32::try_from(raw).unwrap_or(u32::MAX);
    Facts {
        inode: Inode {
            dev: found.st_dev,
            ino: found.st_ino,
        },
        mount: None,
        kind: Kind::of(FileType::from_raw_mode(found.st_mode)).unwrap_or(Kind::Special),
        mode: found.st_mode & 0o7777,
        links: found.st_nlink,
        size: u64::try_from(found.st_size).unwrap_or(0),
        owner: (found.st_uid, found.st_gid),
        changed: [
            (found.st_mtime, nanos(found.st_mtime_nsec)),
            (found.st_ctime, nanos(found.st_ctime_nsec)),
        ],
    }
}

/// Whether a mount may be crossed on the way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mounts {
    Refuse,
    Cross,
}

/// Opens a path below `folder` in one call that the kernel confines.
pub(crate) fn beneath(
    folder: BorrowedFd<'_>,
    path: &[u8],
    flags: OFlags,
    mounts: Mounts,
) -> Result<OwnedFd, Errno> {
    let mut resolve =
        ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
    if mounts == Mounts::Refuse {
        resolve |= ResolveFlags::NO_XDEV;
    }
    // With it a link in the last place is opened, or taken for a file, instead of refused as a link.
    let flags = flags.difference(OFlags::NOFOLLOW);
    let mut attempt = 0;
    loop {
        match rustix::fs::openat2(folder, path, flags, Mode::empty(), resolve) {
            // AGAIN: a rename or a mount somewhere on the host met the look-up; without `..` in the
            // path it was never seen. XDEV: a mount, or a folder on the way that was moved out of
            // `folder` just then, which the next look tells apart. Try again, a few times only.
            Err(Errno::AGAIN | Errno::XDEV) if attempt < OPEN_ATTEMPTS => attempt += 1,
            Err(Errno::INTR) => {}
            other => return other,
        }
    }
}

/// Opens one name in `folder`, never a link.
pub(crate) fn step(folder: BorrowedFd<'_>, name: &[u8], flags: OFlags) -> Result<OwnedFd, Errno> {
    debug_assert!(
        !name.contains(&b'/'),
        "one name, or a link in the middle is followed"
    );
    retry(|| rustix::fs::openat(folder, name, flags, Mode::empty()))
}

/// Makes a file that was not there; `mode` is narrowed by the process's umask.
pub(crate) fn make(folder: BorrowedFd<'_>, name: &[u8], mode: u32) -> Result<OwnedFd, Errno> {
    retry(|| rustix::fs::openat(folder, name, MAKE, Mode::from_raw_mode(mode)))
}

/// Waits until no name is being made or taken away in `folder`.
///
/// Whoever does that holds the folder's lock from before the change until the name is seen, or not,
/// by everybody; a look-up of a name that the kernel has not met yet takes the same lock.
pub(crate) fn settle(folder: BorrowedFd<'_>) {
    let _absent = facts_at(folder, &fresh_name());
}

/// A name of ours that nobody has used.
pub(crate) fn fresh_name() -> Vec<u8> {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    // Exclusive creation makes the name safe; chance only keeps two processes apart.
    let mut hasher = RandomState::new().build_hasher();
    hasher.write_u64(COUNT.fetch_add(1, Ordering::Relaxed));
    let number = format!("{:016x}", hasher.finish());
    [PREFIX, number.as_bytes(), SUFFIX].concat()
}

/// The root of the file system, to start a walk of an absolute path at.
pub(crate) fn top() -> Result<OwnedFd, Errno> {
    retry(|| rustix::fs::open(c"/", PASS, Mode::empty()))
}

/// Reads until the end or until `buffer` is full, and gives the number of bytes.
pub(crate) fn read_up_to(file: BorrowedFd<'_>, buffer: &mut [u8]) -> Result<usize, Errno> {
    let mut filled = 0;
    while filled < buffer.len() {
        match retry(|| rustix::io::read(file, &mut buffer[filled..])) {
            Ok(0) => break,
            Ok(more) => filled += more,
            Err(error) => return Err(error),
        }
    }
    Ok(filled)
}

/// One read: fewer bytes than `buffer` holds are the end of a regular file.
pub(crate) fn read_once(file: BorrowedFd<'_>, buffer: &mut [u8]) -> Result<usize, Errno> {
    retry(|| rustix::io::read(file, &mut *buffer))
}

/// Writes all of `bytes`.
pub(crate) fn write_all(file: BorrowedFd<'_>, mut bytes: &[u8]) -> Result<(), Errno> {
    while !bytes.is_empty() {
        match retry(|| rustix::io::write(file, bytes))? {
            0 => return Err(Errno::IO),
            written => bytes = &bytes[written..],
        }
    }
    Ok(())
}

/// Makes content and inode of a file, or the names of a folder, survive a power loss.
pub(crate) fn sync(file: impl AsFd) -> Result<(), Errno> {
    retry(|| rustix::fs::fsync(file.as_fd()))
}

/// A signal that arrived in between is no error.
fn retry<T>(mut call: impl FnMut() -> Result<T, Errno>) -> Result<T, Errno> {
    loop {
        match call() {
            Err(Errno::INTR) => {}
            other => return other,
        }
    }
}

/// Refuses a file that is no regular one, or has more than one name.
pub(crate) fn refuse_unusual(facts: &Facts) -> Result<(), Refusal> {
    match facts.kind {
        Kind::Link => Err(Refusal::Symlink),
        Kind::Folder | Kind::Special => Err(Refusal::NotRegular),
        Kind::File if facts.links > 1 => Err(Refusal::HardLink),
        Kind::File => Ok(()),
    }
}
