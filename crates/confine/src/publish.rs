//! Making a prepared change: the only place where a file under a root changes.
//!
//! In: a root, a [`Prepared`] by value. Out: the file with its new content under its name, synced
//! with its folder; or a refusal and nothing changed; or [`Refusal::OutcomeUnknown`].
//! Never: replaces a file that is not the one that was prepared, shows a reader half a file, or
//! makes a folder.
//!
//! A replacement exchanges the two files and looks at what came out. If that is not the file that
//! was prepared, somebody wrote in the last interval: the exchange is undone, and their file stands
//! again. What remains is a writer that holds the old file open and writes into it after that look;
//! on file systems without exchange it is also one that replaces the file between the last look and
//! the rename.

use rustix::{
    fd::{AsFd, BorrowedFd, OwnedFd},
    fs::{AtFlags, RenameFlags},
    io::Errno,
};

use crate::{
    Access, Change, Refusal, Root,
    moment::{self, Moment},
    prepare::{Before, Prepared, digest, refuse_git_metadata},
    read,
    staged::{self, Staged},
    system::{self, Inode},
};

/// How often a swap is undone that met yet another writer, before the outcome is called unknown.
const SWAP_ATTEMPTS: u32 = 8;

/// How a change was published.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum How {
    /// In one step that would have noticed any other change.
    Checked,
    /// In one step, on a file system that cannot notice a change in the last interval.
    Unchecked,
}

/// A change that was made, and would survive a power loss.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub struct Published {
    /// What it did.
    pub change: Change,
    /// Bytes of the file now.
    pub bytes: usize,
    /// How.
    pub how: How,
}

impl Root {
    /// Makes a prepared change, if everything is still as it was prepared.
    ///
    /// # Errors
    /// [`Refusal::OutcomeUnknown`] when the change may have been made, or may not last. With every
    /// other refusal nothing changed: [`Refusal::RootReadonly`], [`Refusal::RootReplaced`],
    /// [`Refusal::ParentMoved`], [`Refusal::Exists`], [`Refusal::ChangedSinceRead`],
    /// [`Refusal::Symlink`], [`Refusal::HardLink`], [`Refusal::NotRegular`],
    /// [`Refusal::MountBoundary`], [`Refusal::GitMetadata`], [`Refusal::SpecialAttributes`],
    /// [`Refusal::OtherOwner`], or the class of what the system said.
    pub fn publish(&self, prepared: Prepared) -> Result<Published, Refusal> {
        if self.access() == Access::Read {
            return Err(Refusal::RootReadonly);
        }
        if prepared.root != self.identity() {
            return Err(Refusal::RootReplaced);
        }
        let (_, name) = prepared.path.split().ok_or(Refusal::NotRegular)?;
        // Before a byte is written: most refusals come here and leave no trace on the disk.
        let folder = self.same_folder(&prepared)?;
        let target = self.same_target(folder.as_fd(), name, &prepared)?;
        let bytes = prepared.after.as_bytes();
        let staged = match (&target, &prepared.before) {
            (Some(target), Some(before)) => {
                // It will stand under our temporary name until it was looked at once more.
                let _or_by_another = staged::hold(target.as_fd());
                Staged::replacing(folder.as_fd(), bytes, target.as_fd(), before)?
            }
            _ => Staged::new(folder.as_fd(), bytes)?,
        };
        moment::pass(Moment::Staged).map_err(Refusal::of_call)?;
        // And again, now that the next call is the one that counts.
        drop(self.same_folder(&prepared)?);
        drop(self.same_target(folder.as_fd(), name, &prepared)?);
        staged.refuse_shared()?;
        moment::pass(Moment::LastCheck).map_err(Refusal::of_call)?;
        let how = match &prepared.before {
            None => publish_new(folder.as_fd(), &staged, name)?,
            Some(before) => self.replace(folder.as_fd(), &staged, name, before, &prepared)?,
        };
        self.settle(&prepared, folder.as_fd(), staged, name)?;
        Ok(Published {
            change: prepared.change,
            bytes: bytes.len(),
            how,
        })
    }

    /// The folder, walked to from the root once more.
    fn same_folder(&self, prepared: &Prepared) -> Result<OwnedFd, Refusal> {
        self.refuse_replaced()?;
        let moved = |refusal: Refusal| {
            refusal.put(
                &[Refusal::NotFound, Refusal::NotDirectory],
                Refusal::ParentMoved,
            )
        };
        let (folder, _, parent) = self
            .parent_of(&prepared.path, system::LIST)
            .map_err(moved)?;
        let facts = system::facts(folder.as_fd()).map_err(Refusal::of_call)?;
        if facts.inode != prepared.folder {
            return Err(Refusal::ParentMoved);
        }
        refuse_git_metadata(self, &parent)?;
        Ok(folder)
    }

    /// The target, if it is what it was: absent, or the same file with the same content and mode.
    fn same_target(
        &self,
        folder: BorrowedFd<'_>,
        name: &str,
        prepared: &Prepared,
    ) -> Result<Option<OwnedFd>, Refusal> {
        let changed = match prepared.change {
            Change::Create => Refusal::Exists,
            Change::Replace | Change::Edit => Refusal::ChangedSinceRead,
        };
        let found = match self.read_target(folder, &prepared.path, prepared.limit) {
            Ok(found) => found,
            Err(Refusal::TooLarge | Refusal::ReadOnlyFile) => return Err(changed),
            Err(other) => return Err(other),
        };
        match (found, &prepared.before) {
            (None, None) => Ok(None),
            (Some((bytes, facts)), Some(before))
                if facts.inode == before.inode
                    && facts.mode == before.mode
                    && facts.owner == before.owner
                    && digest(&bytes) == before.digest =>
            {
                let file = self
                    .start()
                    .name_in(folder, name.as_bytes(), system::READ)?;
                let facts = system::facts(file.as_fd()).map_err(Refusal::of_call)?;
                if facts.inode == before.inode {
                    Ok(Some(file))
                } else {
                    Err(changed)
                }
            }
            _ => Err(changed),
        }
    }

    fn replace(
        &self,
        folder: BorrowedFd<'_>,
        staged: &Staged<'_>,
        name: &str,
        before: &Before,
        prepared: &Prepared,
    ) -> Result<How, Refusal> {
        match exchange(folder, staged.name(), name.as_bytes()) {
            Ok(()) => {}
            Err(Errno::NOENT) => return Err(Refusal::ChangedSinceRead),
            Err(Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP) => {
                return replace_unchecked(folder, staged.name(), name.as_bytes());
            }
            Err(other) => return Err(Refusal::of_call(other)),
        }
        // What was displaced has our temporary name now.
        match self.refuse_displaced(folder, staged, before, prepared) {
            Ok(()) => Ok(How::Checked),
            Err(refusal) => {
                put_back(folder, staged, name.as_bytes())?;
                Err(refusal)
            }
        }
    }

    /// Refuses a displaced file that is not the one that was prepared.
    fn refuse_displaced(
        &self,
        folder: BorrowedFd<'_>,
        staged: &Staged<'_>,
        before: &Before,
        prepared: &Prepared,
    ) -> Result<(), Refusal> {
        let facts = system::facts_at(folder, staged.name()).map_err(Refusal::of_call)?;
        system::refuse_unusual(&facts)?;
        if facts.inode != before.inode || facts.mode != before.mode {
            return Err(Refusal::ChangedSinceRead);
        }
        let file = self.start().name_in(folder, staged.name(), system::READ)?;
        let facts = system::facts(file.as_fd()).map_err(Refusal::of_call)?;
        let again = || {
            let found = system::facts_at(folder, staged.name()).map_err(Refusal::of_open)?;
            Ok(found.inode)
        };
        let bytes = match read::read_open(&file, &facts, prepared.limit, folder, again) {
            Ok(bytes) => bytes,
            Err(Refusal::TooLarge) => return Err(Refusal::ChangedSinceRead),
            Err(other) => return Err(other),
        };
        if facts.inode == before.inode && digest(&bytes) == before.digest {
            Ok(())
        } else {
            Err(Refusal::ChangedSinceRead)
        }
    }

    /// Undoes a change whose folder left the root in the last interval, else makes it last.
    fn settle(
        &self,
        prepared: &Prepared,
        folder: BorrowedFd<'_>,
        staged: Staged<'_>,
        name: &str,
    ) -> Result<(), Refusal> {
        if let Err(refusal) = self.same_folder(prepared) {
            if prepared.before.is_some() {
                put_back(folder, &staged, name.as_bytes())?;
            } else {
                remove_if(folder, name.as_bytes(), staged.inode())?;
            }
            return Err(refusal);
        }
        moment::pass(Moment::Published).map_err(|_| Refusal::OutcomeUnknown)?;
        staged.discard_displaced();
        system::sync(folder).map_err(|_| Refusal::OutcomeUnknown)
    }
}

/// Gives the staged file its name, which must be free.
fn publish_new(folder: BorrowedFd<'_>, staged: &Staged<'_>, name: &str) -> Result<How, Refusal> {
    let name = name.as_bytes();
    let renamed = moment::pass(Moment::PublishNew).and_then(|()| {
        rustix::fs::renameat_with(folder, staged.name(), folder, name, RenameFlags::NOREPLACE)
    });
    let done = match renamed {
        // Not on every file system. A second name and the loss of the first do the same.
        Err(Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP) => moment::pass(Moment::PublishByLink)
            .and_then(|()| {
                rustix::fs::linkat(folder, staged.name(), folder, name, AtFlags::empty())
            }),
        other => other,
    };
    match done {
        Ok(()) => Ok(How::Checked),
        Err(Errno::EXIST) => Err(Refusal::Exists),
        // Some file systems have no links and say so like this.
        Err(Errno::PERM) => Err(Refusal::of_call(Errno::OPNOTSUPP)),
        Err(other) => Err(Refusal::of_call(other)),
    }
}

fn exchange(folder: BorrowedFd<'_>, one: &[u8], other: &[u8]) -> Result<(), Errno> {
    moment::pass(Moment::Exchange)?;
    rustix::fs::renameat_with(folder, one, folder, other, RenameFlags::EXCHANGE)
}

fn replace_unchecked(folder: BorrowedFd<'_>, from: &[u8], to: &[u8]) -> Result<How, Refusal> {
    moment::pass(Moment::Rename)
        .and_then(|()| rustix::fs::renameat(folder, from, folder, to))
        .map(|()| How::Unchecked)
        .map_err(Refusal::of_call)
}

/// Swaps back until our own file has come out again.
///
/// Where somebody replaced ours meanwhile, the newest file is left in place, and the one that it
/// stands in conflict with is kept beside it.
fn put_back(folder: BorrowedFd<'_>, staged: &Staged<'_>, name: &[u8]) -> Result<(), Refusal> {
    let under = |name: &[u8]| system::facts_at(folder, name).map(|facts| facts.inode);
    let mut put_before = None;
    for _ in 0..SWAP_ATTEMPTS {
        let put = under(staged.name()).ok();
        let swapped =
            rustix::fs::renameat_with(folder, staged.name(), folder, name, RenameFlags::EXCHANGE);
        if swapped == Err(Errno::NOENT) {
            // The name was removed, our file with it: theirs goes back to it.
            let flags = RenameFlags::NOREPLACE;
            if rustix::fs::renameat_with(folder, staged.name(), folder, name, flags).is_ok() {
                return Ok(());
            }
            continue;
        }
        let out = if swapped.is_ok() {
            under(staged.name()).ok()
        } else {
            None
        };
        if out == Some(staged.inode()) {
            return Ok(());
        }
        // What was put in a turn ago came out again: nobody came in between.
        if out.is_none() || out == put_before {
            break;
        }
        put_before = put;
    }
    staged.keep_displaced();
    Err(Refusal::OutcomeUnknown)
}

/// Takes our own file away again.
fn remove_if(folder: BorrowedFd<'_>, name: &[u8], ours: Inode) -> Result<(), Refusal> {
    let found = system::facts_at(folder, name).map_err(|_| Refusal::OutcomeUnknown)?;
    if found.inode != ours {
        return Err(Refusal::OutcomeUnknown);
    }
    rustix::fs::unlinkat(folder, name, AtFlags::empty()).map_err(|_| Refusal::OutcomeUnknown)
}
