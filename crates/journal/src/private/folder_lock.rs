//! An advisory lock on a private folder, which ends with its holder however that ends.
//!
//! In: a folder. Out: the lock, or the news that somebody else keeps it. Never: waits without end.
//!
//! A lock is tried for a while even where nobody is expected to hold it: a child process that is
//! just being started shares its parent's descriptors until it runs its own program, so the lock of
//! a parent that has died can outlast it by that moment.

use std::os::fd::OwnedFd;
use std::time::Duration;

use rustix::fs::FlockOperation;
use rustix::io::Errno;

use super::{PrivateDir, PrivateError};

/// How far apart the tries are.
const PAUSE: Duration = Duration::from_millis(1);

/// The lock; dropping it releases it.
#[derive(Debug)]
pub(crate) struct FolderLock(OwnedFd);

impl PrivateDir {
    /// Takes the lock on this folder, trying so many times, a millisecond apart; `None` if
    /// somebody else keeps it.
    pub(crate) fn lock(&self, attempts: u32) -> Result<Option<FolderLock>, PrivateError> {
        let failed = |errno: Errno| PrivateError::new(self.path(), errno);
        let fd = rustix::io::fcntl_dupfd_cloexec(self.fd(), 0).map_err(failed)?;
        for _ in 0..attempts {
            match rustix::fs::flock(&fd, FlockOperation::NonBlockingLockExclusive) {
                Ok(()) => return Ok(Some(FolderLock(fd))),
                Err(Errno::WOULDBLOCK | Errno::INTR) => std::thread::sleep(PAUSE),
                Err(errno) => return Err(failed(errno)),
            }
        }
        Ok(None)
    }
}

impl Drop for FolderLock {
    fn drop(&mut self) {
        // Closing would leave it to a child process that is just being started. If unlocking
        // fails, closing still ends it.
        match rustix::fs::flock(&self.0, FlockOperation::Unlock) {
            Ok(()) | Err(_) => {}
        }
    }
}
