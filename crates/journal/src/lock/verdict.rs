//! What may be done about a lock: the decisions, as pure functions.
//!
//! In: what stands on disk and what the process table says. Out: one verdict.
//! Never: reads either; never takes doubt for a dead owner.

use super::LockState;
use super::facts::{ProcessFacts, Seen};
use super::record::Record;

/// Whether a recorded owner still runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Holder {
    /// Its process runs: id, start time and boot are the recorded ones.
    Live,
    /// It is gone for sure.
    Dead(Gone),
    /// A process has its id, and it cannot be known whether it is the same one.
    Unverifiable(Doubt),
}

/// How it is known that an owner is gone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Gone {
    /// No process has its id.
    NoProcess,
    /// Its id belongs to a process that started at another time.
    ReusedPid,
    /// It ran before the system was started this time.
    EarlierBoot,
}

/// Why a process's identity cannot be established.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Doubt {
    /// The record holds no boot id, or something else in its place.
    NoRecordedBoot,
    /// The record holds no start time, or something else in its place.
    NoRecordedStart,
    /// The present boot id cannot be read right now.
    BootUnreadable,
    /// The process's start time cannot be read right now.
    StartUnreadable,
    /// The system did not say whether there is a process at all.
    ProcessUnknown,
}

/// Judges a record by the facts.
pub fn holder(record: &Record, facts: &ProcessFacts) -> Holder {
    let running_start = match facts.process {
        Seen::Gone => return Holder::Dead(Gone::NoProcess),
        Seen::Unknown => return Holder::Unverifiable(Doubt::ProcessUnknown),
        Seen::Alive { start } => start,
    };
    // A record with a value that makes no sense proves nothing about a process that lives.
    let Some(recorded_boot) = &record.boot else {
        return Holder::Unverifiable(Doubt::NoRecordedBoot);
    };
    let Some(recorded_start) = record.start else {
        return Holder::Unverifiable(Doubt::NoRecordedStart);
    };
    let Some(boot) = &facts.boot else {
        return Holder::Unverifiable(Doubt::BootUnreadable);
    };
    if boot != recorded_boot {
        return Holder::Dead(Gone::EarlierBoot);
    }
    match running_start {
        None => Holder::Unverifiable(Doubt::StartUnreadable),
        Some(start) if start == recorded_start => Holder::Live,
        Some(_) => Holder::Dead(Gone::ReusedPid),
    }
}

/// What somebody wants of a lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// Take it, to run.
    Claim,
    /// Signal its owner.
    Signal,
    /// Clear it, by hand or on the way to a supervised start.
    Clear,
}

/// What may be done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Do it.
    Go,
    /// There is nothing to do it to.
    NothingThere,
    /// Not without `unlock`: its owner is gone, or never published a record.
    UnlockFirst,
    /// Not while its owner runs: `stop` ends it.
    OwnerRuns,
    /// Not while the process's identity is in doubt.
    InDoubt,
    /// Not before a person has looked at what stands there.
    PersonMustLook,
}

/// The table: which action on which lock.
pub fn verdict(action: Action, state: &LockState) -> Verdict {
    match (state, action) {
        (LockState::Free, Action::Claim) => Verdict::Go,
        (LockState::Free, Action::Signal | Action::Clear) => Verdict::NothingThere,
        (LockState::NoRecord, Action::Clear) => Verdict::Go,
        (LockState::NoRecord, Action::Claim) => Verdict::UnlockFirst,
        (LockState::NoRecord, Action::Signal) => Verdict::NothingThere,
        (LockState::Held { holder, .. }, action) => held_verdict(*holder, action),
        (
            LockState::Unparsable(_) | LockState::NotAFolder | LockState::Unreadable(_),
            Action::Claim | Action::Signal | Action::Clear,
        ) => Verdict::PersonMustLook,
    }
}

fn held_verdict(holder: Holder, action: Action) -> Verdict {
    match (holder, action) {
        (Holder::Live, Action::Signal) => Verdict::Go,
        (Holder::Live, Action::Claim | Action::Clear) => Verdict::OwnerRuns,
        (Holder::Dead(_), Action::Clear) => Verdict::Go,
        (Holder::Dead(_), Action::Claim) => Verdict::UnlockFirst,
        (Holder::Dead(_), Action::Signal) => Verdict::NothingThere,
        (Holder::Unverifiable(_), Action::Claim | Action::Signal | Action::Clear) => {
            Verdict::InDoubt
        }
    }
}

#[cfg(test)]
#[path = "verdict/tests.rs"]
mod tests;
