//! What survives a restart: the session to resume, and how often we logged in today.
//!
//! In: what the machine saw, what the core committed. Out: a small value for the caller's file.
//! Never: a sequence number beyond what is committed, a session whose READY is not.

use super::Seq;
use serde::{Deserialize, Serialize};

/// IDENTIFYs of this binding in one UTC day. Discord allows 1000 and then resets the token.
pub const IDENTIFIES_PER_DAY: u32 = 200;
/// IDENTIFYs that are left to Discord's own count when we stop: other programs may share the bot.
pub(crate) const IDENTIFIES_RESERVE: u64 = 50;
const DAY_MS: u64 = 24 * 60 * 60 * 1_000;

/// What the caller keeps on disk. It may lag behind and may be lost: then a fresh session and a
/// catch-up take its place.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionState {
    /// The session to resume.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<Session>,
    /// Logins of the day.
    #[serde(default)]
    pub identifies: IdentifyBudget,
}

/// A session with Discord.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Session {
    /// Its id: of use only together with the token.
    pub id: String,
    /// Where it is resumed; absent means the gateway's own address.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resume_url: Option<String>,
    /// Everything up to here is committed.
    pub seq: u64,
}

/// IDENTIFYs of one UTC day.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct IdentifyBudget {
    /// Days since the Unix epoch.
    pub day: u64,
    /// How many were sent on it.
    pub used: u32,
}

impl IdentifyBudget {
    /// Whether one more is within the budget.
    pub(crate) fn allows(self, wall_ms: u64) -> bool {
        self.on(wall_ms).used < IDENTIFIES_PER_DAY
    }

    /// Counts one.
    pub(crate) fn spend(&mut self, wall_ms: u64) {
        *self = self.on(wall_ms);
        self.used = self.used.saturating_add(1);
    }

    /// Milliseconds until the next UTC day.
    pub(crate) fn until_tomorrow_ms(wall_ms: u64) -> u64 {
        DAY_MS - wall_ms % DAY_MS
    }

    // A clock that was set back does not give the day's IDENTIFYs anew.
    fn on(self, wall_ms: u64) -> Self {
        let today = wall_ms / DAY_MS;
        if today > self.day {
            Self {
                day: today,
                used: 0,
            }
        } else {
            self
        }
    }
}

/// Which events of a session were seen, told and committed.
#[derive(Debug, Default)]
pub(crate) struct Ledger {
    session: u32,
    seen: u64,
    told: u64,
    committed: u64,
    /// Number of the READY that must be committed before the session may be reported.
    entered_at: u64,
    before: (u64, u64),
}

impl Ledger {
    /// A ledger of a session that was resumed from disk.
    pub(crate) fn resumed(seq: u64) -> Self {
        Self {
            seen: seq,
            committed: seq,
            ..Self::default()
        }
    }

    /// Begins a fresh session at its READY.
    pub(crate) fn begin(&mut self, ready: u64) {
        *self = Self {
            session: self.session.wrapping_add(1),
            seen: ready,
            entered_at: ready,
            ..Self::default()
        };
    }

    /// Notes an event that came.
    pub(crate) fn saw(&mut self, number: u64) {
        self.before = (self.seen, self.told);
        self.seen = self.seen.max(number);
    }

    /// Marks the event that came last as told to the core.
    pub(crate) fn tell(&mut self) -> Seq {
        self.told = self.seen;
        Seq {
            session: self.session,
            number: self.seen,
        }
    }

    /// The session is given up: what is still committed of it means nothing.
    pub(crate) fn forget(&mut self) {
        *self = Self {
            session: self.session.wrapping_add(1),
            ..Self::default()
        };
    }

    /// Whether the event that came last was the READY, which is never replayed.
    pub(crate) fn last_was_ready(&self) -> bool {
        self.entered_at > 0 && self.seen == self.entered_at
    }

    /// Takes the event that came last back: the core's queue had no room, so it must be replayed.
    pub(crate) fn take_back(&mut self) {
        (self.seen, self.told) = self.before;
    }

    /// Notes what the core has committed; of another session it means nothing.
    pub(crate) fn commit(&mut self, seq: Seq) {
        if seq.session == self.session {
            self.committed = self.committed.max(seq.number.min(self.told));
        }
    }

    /// Where a live session is resumed: what the queue holds need not be replayed.
    pub(crate) fn seen(&self) -> u64 {
        self.seen
    }

    /// What may be kept on disk, if anything.
    pub(crate) fn reportable(&self) -> Option<u64> {
        if self.committed < self.entered_at {
            None
        } else if self.committed >= self.told {
            Some(self.seen)
        } else {
            Some(self.committed)
        }
    }
}
