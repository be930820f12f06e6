//! A root: the directory that everything else starts at.
//!
//! In: an absolute path, once. Out: a descriptor that is held, the facts of the directory, and the
//! refusal of every operation after the path has come to name another directory.
//! Never: takes a path of the host from a call; follows a link on the way to the root either.

mod ground; // which directories may be a root

use std::{
    fmt,
    path::{Path, PathBuf},
};

use rustix::{
    fd::{AsFd, OwnedFd},
    io::Errno,
};

use crate::{
    Refusal, RelPath,
    resolve::{Start, Way},
    system::{self, Facts, Mounts},
};

/// Whether files of a root may be changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Reads, listings and searches only.
    Read,
    /// Also writes.
    Write,
}

/// Which directory a root is: the effect that an ask shows is bound to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct RootIdentity {
    /// Device number of the directory.
    pub device: u64,
    /// Inode number of the directory.
    pub inode: u64,
}

/// A directory that is held open.
pub struct Root {
    folder: OwnedFd,
    facts: Facts,
    access: Access,
    way: Way,
    /// For the check that it still names the same directory; never shown.
    path: PathBuf,
}

impl Root {
    /// Opens the directory at an absolute path of the host.
    ///
    /// This is the one place where such a path comes in; it is the operator's, from the policy.
    ///
    /// # Errors
    /// [`Refusal::RootNotAbsolute`], [`Refusal::RootNotCanonical`], [`Refusal::RootDotSegment`],
    /// [`Refusal::RootForbidden`], [`Refusal::RootSpecialFs`], [`Refusal::RootSymlink`],
    /// [`Refusal::RootWorldWritable`], [`Refusal::NotDirectory`], [`Refusal::NotFound`], or the
    /// class of what the system said.
    pub fn open_ambient(path: &Path, access: Access) -> Result<Self, Refusal> {
        Self::open_ambient_by(path, access, Way::available())
    }

    /// [`Root::open_ambient`] with a way of the caller's choice, for tests of both.
    ///
    /// # Errors
    /// As there.
    pub fn open_ambient_by(path: &Path, access: Access, way: Way) -> Result<Self, Refusal> {
        ground::refuse_text(path)?;
        let folder = open_absolute(path, way)
            .map_err(|refusal| refusal.put(&[Refusal::Symlink], Refusal::RootSymlink))?;
        let facts = system::facts(folder.as_fd()).map_err(Refusal::of_call)?;
        ground::refuse_ground(folder.as_fd(), &facts)?;
        Ok(Self {
            folder,
            facts,
            access,
            way,
            path: path.to_owned(),
        })
    }

    /// Refuses a root that is `home` itself, under whatever name.
    ///
    /// # Errors
    /// [`Refusal::RootForbidden`].
    pub fn refuse_home(&self, home: &Path) -> Result<(), Refusal> {
        let same = ground::inode_of_ambient(home) == Some(self.facts.inode);
        if same || home == self.path {
            return Err(Refusal::RootForbidden);
        }
        Ok(())
    }

    /// Refuses a root that lies in the data root or holds it, under whatever names.
    ///
    /// # Errors
    /// [`Refusal::RootOverlapsData`].
    pub fn refuse_data_root(&self, data_root: &Path) -> Result<(), Refusal> {
        if ground::overlap(&self.path, data_root) {
            return Err(Refusal::RootOverlapsData);
        }
        Ok(())
    }

    /// Refuses two roots of which one lies in the other: a file would have two sets of rights.
    ///
    /// # Errors
    /// [`Refusal::RootOverlap`].
    pub fn refuse_overlap(&self, other: &Self) -> Result<(), Refusal> {
        if ground::overlap(&self.path, &other.path) {
            return Err(Refusal::RootOverlap);
        }
        Ok(())
    }

    /// Whether files may be changed.
    #[must_use]
    pub const fn access(&self) -> Access {
        self.access
    }

    /// How paths are looked up in it.
    #[must_use]
    pub const fn way(&self) -> Way {
        self.way
    }

    /// Which directory it is.
    #[must_use]
    pub const fn identity(&self) -> RootIdentity {
        RootIdentity {
            device: self.facts.inode.dev,
            inode: self.facts.inode.ino,
        }
    }

    /// Refuses everything once the configured path names another directory, or none.
    ///
    /// Every operation begins with it: what a person sees at that path is what the tools work on.
    ///
    /// # Errors
    /// [`Refusal::RootReplaced`].
    pub fn refuse_replaced(&self) -> Result<(), Refusal> {
        let found = open_absolute(&self.path, self.way)
            .and_then(|folder| system::facts(folder.as_fd()).map_err(Refusal::of_call));
        match found {
            Ok(found) if found.inode == self.facts.inode && found.mount == self.facts.mount => {
                Ok(())
            }
            Ok(_) | Err(_) => Err(Refusal::RootReplaced),
        }
    }

    /// Where look-ups begin.
    pub(crate) fn start(&self) -> Start<'_> {
        Start {
            folder: self.folder.as_fd(),
            facts: &self.facts,
            way: self.way,
            mounts: Mounts::Refuse,
        }
    }

    /// The folder that holds `path`, its name in it, and the folder's own path.
    pub(crate) fn parent_of<'p>(
        &self,
        path: &'p RelPath,
        flags: rustix::fs::OFlags,
    ) -> Result<(OwnedFd, &'p str, RelPath), Refusal> {
        // The root has no name of its own, and it is no file.
        let (parent, name) = path.split().ok_or(Refusal::NotRegular)?;
        let folder = self.start().folder(&parent, flags)?;
        Ok((folder, name, parent))
    }
}

/// Opens a directory by its absolute path: the operator's mounts are crossed, links are not.
fn open_absolute(path: &Path, way: Way) -> Result<OwnedFd, Refusal> {
    let top = system::top().map_err(Refusal::of_call)?;
    let facts = system::facts(top.as_fd()).map_err(Refusal::of_call)?;
    let start = Start {
        folder: top.as_fd(),
        facts: &facts,
        way,
        mounts: Mounts::Cross,
    };
    let bytes = path.as_os_str().as_encoded_bytes();
    let below = bytes.strip_prefix(b"/").unwrap_or(bytes);
    // BENEATH alone gives XDEV here: the path would leave the top, which it cannot.
    let crossed = Refusal::of_call(Errno::XDEV);
    let opened = start.at(below, system::LIST);
    opened.map_err(|refusal| refusal.put(&[Refusal::MountBoundary], crossed))
}

/// Shows the identity, never the path.
impl fmt::Debug for Root {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Root")
            .field("identity", &self.identity())
            .field("access", &self.access)
            .field("way", &self.way)
            .finish_non_exhaustive()
    }
}
