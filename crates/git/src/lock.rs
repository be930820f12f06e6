//! The lock of the repository's index, as git itself takes it.
//!
//! In: the git directory. Out: an index that nobody else writes, replaced whole or not at all.
//! Never: a wait for another program, a lock that is taken away from one.

use rustix::io::Errno;

use crate::{folder::Folder, refusal::GitRefusal};

const LOCK: &[u8] = b"index.lock";
const NEXT: &[u8] = b"index.guildhall";
const INDEX: &[u8] = b"index";

/// The lock, taken. Dropping it gives it back with the index as it was.
pub(crate) struct IndexLock<'a> {
    git: &'a Folder,
}

impl<'a> IndexLock<'a> {
    /// Takes the lock.
    ///
    /// # Errors
    /// [`GitRefusal::Locked`].
    pub(crate) fn take(git: &'a Folder) -> Result<Self, GitRefusal> {
        match git.create(LOCK, b"", 0o666) {
            Ok(()) => Ok(Self { git }),
            Err(Errno::EXIST) => Err(GitRefusal::Locked),
            Err(errno) => Err(GitRefusal::of_errno(errno)),
        }
    }

    /// Replaces the index and gives the lock back.
    pub(crate) fn commit(self, index: &[u8]) -> Result<(), GitRefusal> {
        // Only whoever has the lock makes this file: one that is there is a dead process's.
        self.git.remove(NEXT).ok();
        let made = self.git.create(NEXT, index, 0o666);
        made.and_then(|()| self.git.rename(NEXT, INDEX))
            .map_err(GitRefusal::of_errno)
    }
}

impl Drop for IndexLock<'_> {
    fn drop(&mut self) {
        self.git.remove(LOCK).ok();
    }
}
