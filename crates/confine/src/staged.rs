//! A temporary file that stands ready beside its target.
//!
//! In: an open folder, the bytes, the mode. Out: a synced file with a name of our own.
//! Never: replaces anything; leaves its name behind when it is dropped; is readable by more people
//! than the target will be.

use rustix::{
    fd::{AsFd, BorrowedFd, OwnedFd},
    fs::{AtFlags, FlockOperation, Gid, Mode, RenameFlags, Uid, XattrFlags},
    io::Errno,
};

use crate::{
    Refusal,
    prepare::Before,
    system::{self, Facts, Inode, PREFIX, SUFFIX},
};

/// What is added to the name of a file that is not ours and must not be lost.
const KEPT: &[u8] = b".kept";

/// How often another name is tried when one is taken.
const NAME_ATTEMPTS: u32 = 16;

/// Most bytes of the list of a file's attributes, and of one attribute.
const ATTRIBUTES_MAX_BYTES: usize = 64 * 1024;

/// Bits of a mode that survive a replacement: set-id and sticky bits are dropped.
const PERMISSIONS: u32 = 0o777;

/// A temporary file under its own name.
pub(crate) struct Staged<'f> {
    folder: BorrowedFd<'f>,
    name: Vec<u8>,
    file: OwnedFd,
    inode: Inode,
}

impl<'f> Staged<'f> {
    /// Writes and syncs `bytes` for a new file.
    pub(crate) fn new(folder: BorrowedFd<'f>, bytes: &[u8]) -> Result<Self, Refusal> {
        // Narrowed by the umask and the folder's default access list, as any new file.
        let staged = Self::named(folder, 0o644)?;
        staged.fill(bytes)?;
        Ok(staged)
    }

    /// Writes and syncs `bytes` for the place of `target`, with its mode, owner and attributes.
    pub(crate) fn replacing(
        folder: BorrowedFd<'f>,
        bytes: &[u8],
        target: BorrowedFd<'_>,
        before: &Before,
    ) -> Result<Self, Refusal> {
        let staged = Self::named(folder, 0o600)?;
        staged.take_owner(before.owner)?;
        staged.take_attributes(target)?;
        let mode = Mode::from_raw_mode(before.mode & PERMISSIONS);
        rustix::fs::fchmod(&staged.file, mode).map_err(Refusal::of_call)?;
        staged.fill(bytes)?;
        Ok(staged)
    }

    fn named(folder: BorrowedFd<'f>, mode: u32) -> Result<Self, Refusal> {
        let mut attempt = 0;
        loop {
            let name = system::fresh_name();
            let file = match system::make(folder, &name, mode) {
                Err(Errno::EXIST) if attempt < NAME_ATTEMPTS => {
                    attempt += 1;
                    continue;
                }
                made => made.map_err(Refusal::of_call)?,
            };
            let facts = system::facts(file.as_fd()).map_err(Refusal::of_call)?;
            // A sweep that came before the lock takes it for a dead one's.
            let swept = !hold(file.as_fd()) || system::facts_at(folder, &name).is_err();
            if swept && attempt < NAME_ATTEMPTS {
                attempt += 1;
                continue;
            }
            return Ok(Self {
                folder,
                name,
                file,
                inode: facts.inode,
            });
        }
    }

    fn fill(&self, bytes: &[u8]) -> Result<(), Refusal> {
        system::write_all(self.file.as_fd(), bytes)
            .and_then(|()| system::sync(&self.file))
            .map_err(Refusal::of_call)
    }

    fn take_owner(&self, owner: (u32, u32)) -> Result<(), Refusal> {
        let ours = system::facts(self.file.as_fd())
            .map_err(Refusal::of_call)?
            .owner;
        if ours == owner {
            return Ok(());
        }
        let user = (ours.0 != owner.0).then(|| Uid::from_raw(owner.0));
        let group = (ours.1 != owner.1).then(|| Gid::from_raw(owner.1));
        rustix::fs::fchown(&self.file, user, group).map_err(|_| Refusal::OtherOwner)
    }

    /// Copies what users keep in attributes; refuses what a copy could not carry.
    fn take_attributes(&self, target: BorrowedFd<'_>) -> Result<(), Refusal> {
        let mut names = vec![0_u8; ATTRIBUTES_MAX_BYTES];
        let length = match rustix::fs::flistxattr(target, &mut names) {
            Ok(length) => length,
            Err(Errno::OPNOTSUPP | Errno::NOSYS) => 0,
            Err(Errno::RANGE) => return Err(Refusal::SpecialAttributes),
            Err(other) => return Err(Refusal::of_call(other)),
        };
        for name in names[..length]
            .split(|byte| *byte == 0)
            .filter(|name| !name.is_empty())
        {
            if name.starts_with(b"user.") {
                self.copy_attribute(target, name)?;
            } else if is_lost(name) {
                return Err(Refusal::SpecialAttributes);
            }
        }
        Ok(())
    }

    fn copy_attribute(&self, target: BorrowedFd<'_>, name: &[u8]) -> Result<(), Refusal> {
        let mut value = vec![0_u8; ATTRIBUTES_MAX_BYTES];
        let length = match rustix::fs::fgetxattr(target, name, &mut value) {
            Ok(length) => length,
            // Removed since the list was read.
            Err(Errno::NODATA) => return Ok(()),
            Err(_) => return Err(Refusal::SpecialAttributes),
        };
        rustix::fs::fsetxattr(&self.file, name, &value[..length], XattrFlags::empty())
            .map_err(|_| Refusal::SpecialAttributes)
    }

    /// Refuses a temporary file that somebody gave a second name.
    pub(crate) fn refuse_shared(&self) -> Result<(), Refusal> {
        let facts = system::facts(self.file.as_fd()).map_err(Refusal::of_call)?;
        if facts.links == 1 {
            Ok(())
        } else {
            Err(Refusal::HardLink)
        }
    }

    /// Its name in the folder.
    pub(crate) fn name(&self) -> &[u8] {
        &self.name
    }

    /// Which file it is.
    pub(crate) const fn inode(&self) -> Inode {
        self.inode
    }
}

impl Staged<'_> {
    /// Removes what stands under the temporary name now: the file that ours displaced.
    pub(crate) fn discard_displaced(self) {
        self.remove_name();
    }

    /// Puts a file that somebody else wrote, and that could not be put back, where no sweep takes it.
    pub(crate) fn keep_displaced(&self) {
        let kept = [PREFIX, &self.name[PREFIX.len()..], KEPT].concat();
        let (folder, flags) = (self.folder, RenameFlags::NOREPLACE);
        // If even this fails it keeps its temporary name until the next start.
        let _swept_later =
            rustix::fs::renameat_with(folder, self.name.as_slice(), folder, kept, flags);
    }

    fn remove_name(&self) {
        // What cannot be removed now is swept at the next start.
        let _swept_later =
            rustix::fs::unlinkat(self.folder, self.name.as_slice(), AtFlags::empty());
    }
}

/// Removes our own file, where it was not published. A name that is gone was.
impl Drop for Staged<'_> {
    fn drop(&mut self) {
        let found = system::facts_at(self.folder, &self.name);
        if found.is_ok_and(|facts| facts.inode == self.inode) {
            self.remove_name();
        }
    }
}

/// Tells sweeps of other processes that this file is worked on, for as long as it is open.
///
/// Shared, so that no other reader's lock is in the way; a file that another program has locked for
/// itself is left by sweeps just the same. Without locks on the file system, age has to do. Gives
/// whether nobody else has locked it for themselves.
pub(crate) fn hold(file: BorrowedFd<'_>) -> bool {
    rustix::fs::flock(file, FlockOperation::NonBlockingLockShared) != Err(Errno::WOULDBLOCK)
}

/// Whether a replacement would lose an attribute that decides who may do what. SELinux labels new
/// files by its own rules.
fn is_lost(name: &[u8]) -> bool {
    name == b"system.posix_acl_access"
        || (name.starts_with(b"security.") && name != b"security.selinux")
}

/// Whether a name is one of ours.
pub(crate) fn is_ours(name: &[u8]) -> bool {
    name.starts_with(PREFIX) && name.ends_with(SUFFIX)
}

/// The facts under which a leftover of ours may be removed: a plain file of this user with one name.
pub(crate) fn is_leftover(facts: &Facts) -> bool {
    system::refuse_unusual(facts).is_ok() && facts.owner.0 == rustix::process::geteuid().as_raw()
}
