//! Which directories may be a root.
//!
//! In: a path as the policy has it, and the directory that it leads to. Out: why it may not.
//! Never: relies on the text alone where the same directory can have a second name.

use std::path::Path;

use rustix::{
    fd::{AsFd, BorrowedFd, OwnedFd},
    fs::{Mode, OFlags},
};

use crate::{
    Refusal,
    system::{self, Facts, Inode},
};

/// Top folders that hold the kernel's own file systems.
const KERNEL_FOLDERS: [&[u8]; 3] = [b"proc", b"sys", b"dev"];

/// Kernel file systems wherever they are mounted, by `f_type` of statfs(2): proc, sysfs, cgroup,
/// cgroup2, debugfs, tracefs, securityfs, bpf, pstore, efivarfs, configfs, devpts, mqueue, binfmt,
/// selinux. devtmpfs shows the number of tmpfs; it is told by its device.
const KERNEL_MAGIC: [i64; 15] = [
    0x9fa0,
    0x6265_6572,
    0x0027_e0eb,
    0x6367_7270,
    0x6462_6720,
    0x7472_6163,
    0x7363_6673,
    0xcafe_4a11,
    0x6165_676c,
    0xde5e_81e4,
    0x6265_6570,
    0x1cd1,
    0x1980_0202,
    0x4249_4e4d,
    0xf97c_ff8c,
];

/// Longest walk to the top: no path has more folders than bytes.
const CLIMB_MAX: usize = 4096;

/// Refuses what the path's text alone shows.
pub(super) fn refuse_text(path: &Path) -> Result<(), Refusal> {
    let bytes = path.as_os_str().as_encoded_bytes();
    let Some(below) = bytes.strip_prefix(b"/") else {
        return Err(Refusal::RootNotAbsolute);
    };
    if below.is_empty() {
        return Err(Refusal::RootForbidden);
    }
    let mut hidden = false;
    for segment in below.split(|byte| *byte == b'/') {
        if matches!(segment, b"" | b"." | b"..") || segment.contains(&0) {
            return Err(Refusal::RootNotCanonical);
        }
        hidden |= segment.starts_with(b".");
    }
    if hidden {
        return Err(Refusal::RootDotSegment);
    }
    let first = below.split(|byte| *byte == b'/').next().unwrap_or(below);
    if KERNEL_FOLDERS.contains(&first) {
        return Err(Refusal::RootSpecialFs);
    }
    Ok(())
}

/// Refuses what the directory itself shows.
pub(super) fn refuse_ground(folder: BorrowedFd<'_>, facts: &Facts) -> Result<(), Refusal> {
    let system = rustix::fs::fstatfs(folder).map_err(Refusal::of_call)?;
    let dev = facts_of(Path::new("/dev")).map(|dev| dev.inode.dev);
    let top = facts_of(Path::new("/"));
    if top.is_some_and(|top| top.inode == facts.inode) {
        return Err(Refusal::RootForbidden);
    }
    // Where /dev is an ordinary folder of the top file system its device says nothing.
    let device_folder =
        dev.is_some() && dev == Some(facts.inode.dev) && dev != top.map(|top| top.inode.dev);
    if KERNEL_MAGIC.contains(&system.f_type) || device_folder {
        return Err(Refusal::RootSpecialFs);
    }
    if facts.mode & 0o002 != 0 {
        return Err(Refusal::RootWorldWritable);
    }
    Ok(())
}

/// Whether one of two directories lies in the other, by name or by identity.
pub(super) fn overlap(one: &Path, other: &Path) -> bool {
    if one.starts_with(other) || other.starts_with(one) {
        return true;
    }
    let lies_in = |inner: &Path, outer: &Path| {
        inode_of_ambient(outer).is_some_and(|outer| climbs_to(inner, outer))
    };
    lies_in(one, other) || lies_in(other, one)
}

/// The inode of what a path of the host leads to, links followed.
pub(super) fn inode_of_ambient(path: &Path) -> Option<Inode> {
    facts_of(path).map(|facts| facts.inode)
}

fn facts_of(path: &Path) -> Option<Facts> {
    let folder = open_ambient(path)?;
    system::facts(folder.as_fd()).ok()
}

fn open_ambient(path: &Path) -> Option<OwnedFd> {
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    rustix::fs::open(path, flags, Mode::empty()).ok()
}

/// Whether going up from `path` meets `wanted` before the top.
fn climbs_to(path: &Path, wanted: Inode) -> bool {
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    // A folder that is not there yet will be made in its nearest parent that is.
    let Some(mut folder) = path.ancestors().find_map(open_ambient) else {
        return false;
    };
    let mut last: Option<Inode> = None;
    for _ in 0..CLIMB_MAX {
        let Ok(facts) = system::facts(folder.as_fd()) else {
            return false;
        };
        if facts.inode == wanted {
            return true;
        }
        // The parent of the top is the top.
        if last == Some(facts.inode) {
            return false;
        }
        last = Some(facts.inode);
        let Ok(parent) = rustix::fs::openat(&folder, c"..", flags, Mode::empty()) else {
            return false;
        };
        folder = parent;
    }
    false
}
