//! Stopping an owner, and clearing the lock of one that is gone.
//!
//! In: the binding's folder and its brakes. Out: a cleared lock, a signal, or a named refusal.
//! Never: clears a lock whose owner may run or whose record cannot be read; never removes a brake
//! that a person set.

use std::path::Path;

use rustix::fs::AtFlags;

use super::facts::{OwnerSignal, observe};
use super::verdict::{Action, Holder, Verdict, holder, verdict};
use super::{Gate, GateError, LOCK_FOLDER, LockState, OWNER_FILE, STOP_FILE, inspect, inspect_in};
use crate::brake::{self, BrakeFound, BrakeSet, Brakes, TakenBack};
use crate::failpoint::failpoint;
use crate::platform::ProcessHandle;
use crate::private::{IfMissing, PrivateDir, PrivateError};

/// What a clean-up found to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cleared {
    /// There was no lock.
    NothingThere,
    /// The lock of an owner that is gone was removed.
    Lock,
}

/// A lock was not cleared, or an owner not signalled.
#[derive(Debug, thiserror::Error)]
pub enum LockError {
    /// A brake is set; nothing was touched.
    #[error("{} is set", .0.path.display())]
    Braked(BrakeFound),
    /// The verdict on what stands there.
    #[error("the lock is left alone")]
    Refused {
        /// Why.
        verdict: Verdict,
        /// What stands there.
        state: LockState,
    },
    /// The lock holds something that nobody of us put there. A person must look.
    #[error("the lock holds {0:?}, which does not belong there")]
    ForeignEntry(String),
    /// Another claim or clean-up is at work.
    #[error("another start or clean-up of this binding is at work")]
    Busy,
    /// The folder is not private, or the system refused something.
    #[error(transparent)]
    Private(#[from] PrivateError),
}

impl From<GateError> for LockError {
    fn from(error: GateError) -> Self {
        match error {
            GateError::Busy => Self::Busy,
            GateError::Private(error) => Self::Private(error),
        }
    }
}

/// An owner that was signalled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Signalled {
    /// Its process id.
    pub pid: i32,
}

/// What `stop` did.
#[derive(Debug)]
pub struct Stopped {
    /// Whether the brake is new.
    pub brake: BrakeSet,
    /// The owner that was told, or why none was.
    pub owner: Result<Signalled, LockError>,
}

/// Sets the binding's brake, then tells its owner to finish.
///
/// # Errors
/// The brake could not be written. An owner that was not told is no error: see [`Stopped`].
pub fn stop(folder: &Path, why: &str) -> Result<Stopped, PrivateError> {
    let brake = brake::set_brake(&folder.join(STOP_FILE), why)?;
    Ok(Stopped {
        brake,
        owner: signal_owner(folder, OwnerSignal::Terminate),
    })
}

/// Signals the owner of the binding in `folder`, if its identity is beyond doubt.
///
/// # Errors
/// [`LockError::Refused`] with the verdict when there is no such owner.
pub fn signal_owner(folder: &Path, signal: OwnerSignal) -> Result<Signalled, LockError> {
    let state = inspect(folder)?;
    let LockState::Held {
        record,
        holder: Holder::Live,
    } = &state
    else {
        let verdict = verdict(Action::Signal, &state);
        return Err(LockError::Refused { verdict, state });
    };
    let pid = record.pid;
    // The process may end and its id go to another between the look and the signal: take hold of
    // it first, and look again.
    let sent = ProcessHandle::of(pid).and_then(|process| match holder(record, &observe(pid)) {
        Holder::Live => process.signal(signal).map(|()| true),
        Holder::Dead(_) | Holder::Unverifiable(_) => Ok(false),
    });
    match sent {
        Ok(true) => Ok(Signalled { pid }),
        Ok(false) => Err(LockError::Refused {
            verdict: Verdict::NothingThere,
            state,
        }),
        Err(error) => Err(PrivateError::new(folder.join(LOCK_FOLDER), error).into()),
    }
}

/// Clears the lock of an owner that is gone, on a person's word. The brake `STOP` is written first
/// and stays, if there is a lock to clear.
///
/// # Errors
/// [`LockError::Refused`] leaves everything as it was, the brake too.
pub fn unlock(folder: &Path) -> Result<Cleared, LockError> {
    let gate = match Gate::enter(folder, IfMissing::Fail) {
        Ok(gate) => gate,
        Err(GateError::Private(error)) if error.is_missing() => return Ok(Cleared::NothingThere),
        Err(error) => return Err(error.into()),
    };
    if is_clearable(&gate.dir)? == Cleared::NothingThere {
        return Ok(Cleared::NothingThere);
    }
    brake::set_brake(
        &folder.join(STOP_FILE),
        "unlock cleared a lock; remove this file to run",
    )?;
    failpoint("unlock.braked");
    clear(&gate.dir)
}

/// Clears the way for a supervised start: a lock whose owner is gone, or that has no record, goes,
/// and so does the brake that is written meanwhile.
///
/// # Errors
/// A brake that a person set, at any point, is [`LockError::Braked`]; a lock that may not be
/// cleared is [`LockError::Refused`]. Nothing is touched then.
pub fn recover(folder: &Path, brakes: &Brakes) -> Result<Cleared, LockError> {
    let gate = match Gate::enter(folder, IfMissing::Fail) {
        Ok(gate) => gate,
        Err(GateError::Private(error)) if error.is_missing() => {
            return brakes
                .set()
                .map_or(Ok(Cleared::NothingThere), |b| Err(LockError::Braked(b)));
        }
        Err(error) => return Err(error.into()),
    };
    brake::settle_moved(&gate.dir, STOP_FILE)?;
    // Behind the gate, a recovery's brake is what an interrupted recovery left.
    let is_left_over = brake::is_recoverys(&gate.dir, STOP_FILE)?;
    let found = brakes
        .set()
        .filter(|found| !(is_left_over && found.path == brakes.stop));
    if let Some(found) = found {
        return Err(LockError::Braked(found));
    }
    let cleared = match is_clearable(&gate.dir)? {
        Cleared::NothingThere => Cleared::NothingThere,
        Cleared::Lock => {
            let is_ours =
                is_left_over || brake::set_for_recovery(&gate.dir, STOP_FILE)? == BrakeSet::Written;
            if !is_ours {
                return Err(braked(brakes));
            }
            failpoint("recover.braked");
            clear(&gate.dir)?
        }
    };
    failpoint("recover.cleared");
    if brake::take_back(&gate.dir, STOP_FILE)? == TakenBack::Stays {
        return Err(braked(brakes));
    }
    match brakes.set() {
        Some(found) => Err(LockError::Braked(found)),
        None => Ok(cleared),
    }
}

fn braked(brakes: &Brakes) -> LockError {
    let found = BrakeFound {
        path: brakes.stop.clone(),
        why: None,
    };
    LockError::Braked(brakes.set().unwrap_or(found))
}

/// Whether there is a lock that may be cleared.
fn is_clearable(dir: &PrivateDir) -> Result<Cleared, LockError> {
    let state = inspect_in(dir);
    match verdict(Action::Clear, &state) {
        Verdict::Go => match foreign_entry(dir)? {
            Some(name) => Err(LockError::ForeignEntry(name)),
            None => Ok(Cleared::Lock),
        },
        Verdict::NothingThere => Ok(Cleared::NothingThere),
        verdict @ (Verdict::UnlockFirst
        | Verdict::OwnerRuns
        | Verdict::InDoubt
        | Verdict::PersonMustLook) => Err(LockError::Refused { verdict, state }),
    }
}

/// Removes a lock, after a last look; the gate is ours.
fn clear(dir: &PrivateDir) -> Result<Cleared, LockError> {
    if is_clearable(dir)? == Cleared::NothingThere {
        return Ok(Cleared::NothingThere);
    }
    let lock = dir.sub_of_any_mode(LOCK_FOLDER)?;
    let names = lock.names()?;
    // The record last: until then the lock says whose it was.
    for name in names.iter().filter(|name| *name != OWNER_FILE) {
        lock.remove(name)?;
    }
    lock.remove(OWNER_FILE)?;
    failpoint("clear.record-removed");
    rustix::fs::unlinkat(dir.fd(), LOCK_FOLDER, AtFlags::REMOVEDIR)
        .map_err(|errno| PrivateError::new(lock.path(), errno))?;
    dir.sync()?;
    Ok(Cleared::Lock)
}

/// Something in the lock that nobody of us put there.
fn foreign_entry(dir: &PrivateDir) -> Result<Option<String>, PrivateError> {
    let lock = dir.sub_of_any_mode(LOCK_FOLDER)?;
    Ok(lock.names()?.into_iter().find(|name| !is_ours(name)))
}

/// The record, and what a start that was interrupted while it wrote one left.
fn is_ours(name: &str) -> bool {
    name == OWNER_FILE || name.trim_start_matches('.').starts_with("owner.json.")
}
