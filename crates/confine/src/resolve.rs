//! From a folder that is held open and a checked path to a descriptor below it.
//!
//! In: a descriptor, segments that [`RelPath`] let pass, what the descriptor is for. Out: the
//! descriptor, or why there is none.
//! Never: decides anything by a path that is looked up a second time; follows a link; crosses a
//! mount. Two ways give the same answers: one `openat2` that the kernel confines, and one `openat` a
//! segment where that call is missing. Tests hold them against each other.

use rustix::{
    fd::{AsFd, BorrowedFd, OwnedFd},
    fs::OFlags,
    io::Errno,
};

use crate::{
    Refusal, RelPath,
    system::{self, Facts, Inode, Kind, Mounts},
};

/// How paths are looked up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// One `openat2` with BENEATH, NO_SYMLINKS, NO_MAGICLINKS and NO_XDEV (Linux 5.6).
    Openat2,
    /// One `openat` for each segment, with the mount compared at each.
    Steps,
}

impl Way {
    /// The way that this kernel, under this process's filter, allows.
    #[must_use]
    pub fn available() -> Self {
        let tried = system::top()
            .and_then(|top| system::beneath(top.as_fd(), b".", system::PASS, Mounts::Cross));
        match tried {
            // Missing before Linux 5.6; filters that cannot see its flags deny it.
            Err(Errno::NOSYS | Errno::PERM | Errno::INVAL) => Self::Steps,
            Ok(_) | Err(_) => Self::Openat2,
        }
    }
}

/// A folder to start at, and what lies on the same mount as it.
#[derive(Clone, Copy)]
pub(crate) struct Start<'f> {
    pub(crate) folder: BorrowedFd<'f>,
    pub(crate) facts: &'f Facts,
    pub(crate) way: Way,
    pub(crate) mounts: Mounts,
}

impl Start<'_> {
    /// Opens the folder at `path`.
    pub(crate) fn folder(&self, path: &RelPath, flags: OFlags) -> Result<OwnedFd, Refusal> {
        self.at(path.as_str().as_bytes(), flags)
    }

    /// Opens the folder at a path whose segments are neither empty nor `.` nor `..`.
    pub(crate) fn at(&self, path: &[u8], flags: OFlags) -> Result<OwnedFd, Refusal> {
        let path = if path.is_empty() { b"." } else { path };
        match self.way {
            Way::Openat2 => {
                system::beneath(self.folder, path, flags, self.mounts).map_err(Refusal::of_open)
            }
            Way::Steps => self.by_steps(path, flags),
        }
    }

    /// Which inode a path leads to now.
    pub(crate) fn inode(&self, path: &[u8]) -> Result<Inode, Refusal> {
        let found = self.at(path, system::LOOK)?;
        let facts = system::facts(found.as_fd()).map_err(Refusal::of_call)?;
        Ok(facts.inode)
    }

    /// Opens one name in `folder`, which lies below the start.
    pub(crate) fn name_in(
        &self,
        folder: BorrowedFd<'_>,
        name: &[u8],
        flags: OFlags,
    ) -> Result<OwnedFd, Refusal> {
        match self.way {
            Way::Openat2 => {
                system::beneath(folder, name, flags, self.mounts).map_err(Refusal::of_open)
            }
            Way::Steps => self.one_step(folder, name, flags),
        }
    }

    fn by_steps(&self, path: &[u8], flags: OFlags) -> Result<OwnedFd, Refusal> {
        let mut held: Option<OwnedFd> = None;
        let mut segments = path.split(|byte| *byte == b'/').peekable();
        while let Some(segment) = segments.next() {
            let flags = if segments.peek().is_some() {
                system::PASS
            } else {
                flags
            };
            let folder = held.as_ref().map_or(self.folder, AsFd::as_fd);
            held = Some(self.one_step(folder, segment, flags)?);
        }
        held.ok_or(Refusal::NotFound)
    }

    fn one_step(
        &self,
        folder: BorrowedFd<'_>,
        name: &[u8],
        flags: OFlags,
    ) -> Result<OwnedFd, Refusal> {
        let opened = system::step(folder, name, flags).map_err(|errno| {
            // With O_DIRECTORY a link gives the error of a file. The second look only picks the
            // name of the refusal.
            let link = errno == Errno::NOTDIR
                && system::facts_at(folder, name).is_ok_and(|facts| facts.kind == Kind::Link);
            if link {
                Refusal::Symlink
            } else {
                Refusal::of_open(errno)
            }
        })?;
        if self.mounts == Mounts::Refuse {
            let facts = system::facts(opened.as_fd()).map_err(Refusal::of_call)?;
            refuse_other_mount(self.facts, &facts)?;
        }
        Ok(opened)
    }
}

/// Refuses what was reached through another mount than the start.
///
/// Where the kernel does not tell mounts apart, folders are compared by device: a file in an
/// overlay may show another device than the folder that it lies in.
pub(crate) fn refuse_other_mount(start: &Facts, found: &Facts) -> Result<(), Refusal> {
    let same = match (start.mount, found.mount) {
        (Some(start), Some(found)) => start == found,
        _ => found.kind != Kind::Folder || start.inode.dev == found.inode.dev,
    };
    if same {
        Ok(())
    } else {
        Err(Refusal::MountBoundary)
    }
}
