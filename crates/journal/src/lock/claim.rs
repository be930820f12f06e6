//! Taking the lock, and giving it back.
//!
//! In: the binding's folder, its brakes, who we are. Out: the lock, held by nobody else.
//! Never: waits for an owner, clears anything that it did not make, or keeps a lock that a brake
//! forbids.

use std::path::Path;

use rustix::fs::{AtFlags, Mode};
use rustix::io::Errno;

use super::facts::Owner;
use super::{Gate, GateError, LOCK_FOLDER, LockState, OWNER_FILE, inspect_in};
use crate::brake::{BrakeFound, Brakes, publish_new};
use crate::failpoint::failpoint;
use crate::private::{FOLDER_MODE, Identity, IfMissing, PrivateDir, PrivateError};

/// The lock of a binding, ours until it is released or dropped.
#[derive(Debug)]
pub struct RunLock {
    dir: PrivateDir,
    lock: PrivateDir,
    record: Identity,
    state: State,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Held,
    Released,
}

/// The lock was not taken. Nothing was changed.
#[derive(Debug, thiserror::Error)]
pub enum ClaimError {
    /// A brake is set.
    #[error("{} is set", .0.path.display())]
    Braked(BrakeFound),
    /// Something stands where the lock would be.
    #[error("the binding is held")]
    Held(LockState),
    /// Another claim or clean-up is at work.
    #[error("another start or clean-up of this binding is at work")]
    Busy,
    /// The folder is not private, or the system refused something.
    #[error(transparent)]
    Private(#[from] PrivateError),
}

impl From<GateError> for ClaimError {
    fn from(error: GateError) -> Self {
        match error {
            GateError::Busy => Self::Busy,
            GateError::Private(error) => Self::Private(error),
        }
    }
}

/// The lock could not be given back.
#[derive(Debug, thiserror::Error)]
pub enum ReleaseError {
    /// What stands there now is not the lock that was taken; it was left alone.
    #[error("the lock is not the one that was taken")]
    NotOurs,
    /// Another claim or clean-up is at work.
    #[error("another start or clean-up of this binding is at work")]
    Busy,
    /// The system refused something.
    #[error(transparent)]
    Private(#[from] PrivateError),
}

impl RunLock {
    /// Takes the lock of the binding in `folder`, making the folder if there is none.
    ///
    /// A brake is looked for before the lock is made and again after its record is published.
    ///
    /// # Errors
    /// See [`ClaimError`].
    pub fn claim(folder: &Path, brakes: &Brakes, owner: &Owner) -> Result<Self, ClaimError> {
        if let Some(brake) = brakes.set() {
            return Err(ClaimError::Braked(brake));
        }
        let Gate { dir, lock: gate } = Gate::enter(folder, IfMissing::Create)?;
        // A clean-up may have been at work while we waited.
        if let Some(brake) = brakes.set() {
            return Err(ClaimError::Braked(brake));
        }
        match rustix::fs::mkdirat(dir.fd(), LOCK_FOLDER, Mode::from_raw_mode(FOLDER_MODE)) {
            Ok(()) => {}
            Err(Errno::EXIST) => return Err(ClaimError::Held(inspect_in(&dir))),
            Err(errno) => return Err(PrivateError::new(dir.join(LOCK_FOLDER), errno).into()),
        }
        failpoint("lock.made");
        let published = dir.sub(LOCK_FOLDER, IfMissing::Fail).and_then(|lock| {
            let contents = owner.to_json();
            let record = publish_new(&lock, OWNER_FILE, contents.as_bytes(), |_| Ok(()))?;
            dir.sync()?;
            Ok((lock, record))
        });
        let (lock, record) = match published {
            Ok((lock, Some(record))) => (lock, record),
            Ok((_, None)) => return Err(ClaimError::Held(inspect_in(&dir))),
            Err(error) => {
                // It was made a moment ago behind the gate, so it is ours and empty; should it stay
                // all the same, it is a lock without a record, which `unlock` clears.
                match rustix::fs::unlinkat(dir.fd(), LOCK_FOLDER, AtFlags::REMOVEDIR) {
                    Ok(()) | Err(_) => return Err(error.into()),
                }
            }
        };
        failpoint("lock.published");
        let mut held = Self {
            dir,
            lock,
            record,
            state: State::Held,
        };
        if let Some(brake) = brakes.set() {
            held.remove()?;
            return Err(ClaimError::Braked(brake));
        }
        drop(gate);
        Ok(held)
    }

    /// Whether the lock on disk is still the one that was taken.
    pub fn is_in_place(&self) -> bool {
        let record = self.lock.entry(OWNER_FILE).ok().flatten();
        self.lock.still_at_path() && record.is_some_and(|(identity, _)| identity == self.record)
    }

    /// Gives the lock back.
    ///
    /// # Errors
    /// See [`ReleaseError`]; a lock that could not be given back is cleared by `unlock` once this
    /// process has ended.
    pub fn release(mut self) -> Result<(), ReleaseError> {
        self.give_back()
    }

    fn give_back(&mut self) -> Result<(), ReleaseError> {
        if self.state == State::Released {
            return Ok(());
        }
        self.state = State::Released;
        let _gate = match Gate::enter(self.dir.path(), IfMissing::Fail) {
            Ok(gate) => gate,
            Err(GateError::Busy) => return Err(ReleaseError::Busy),
            Err(GateError::Private(error)) => return Err(error.into()),
        };
        if !self.is_in_place() {
            return Err(ReleaseError::NotOurs);
        }
        Ok(self.remove()?)
    }

    /// Removes record and lock; the gate is ours.
    fn remove(&mut self) -> Result<(), PrivateError> {
        self.state = State::Released;
        self.lock.remove(OWNER_FILE)?;
        rustix::fs::unlinkat(self.dir.fd(), LOCK_FOLDER, AtFlags::REMOVEDIR)
            .map_err(|errno| PrivateError::new(self.lock.path(), errno))?;
        self.dir.sync()
    }
}

impl Drop for RunLock {
    fn drop(&mut self) {
        // A lock that stays has a dead owner from now on: the next start names `unlock`.
        match self.give_back() {
            Ok(()) | Err(_) => {}
        }
    }
}
