//! When the next request may go: Discord's rate limits as a machine without a clock.
//!
//! In: requests that want to go, answers that came, the monotonic time in milliseconds. Out: go,
//! wait until, behind another, or halted. Never: a guess at a limit that an answer has told, two
//! requests of one bucket at once, a hot loop on any 429, the ten thousandth invalid request.
//!
//! A bucket is what `X-RateLimit-Bucket` names, together with the channel or guild of the path.
//! Which bucket a route has is learned from its answers; until then the route is its own.

use std::collections::{BTreeMap, VecDeque};

/// Invalid answers (401, 403, 429 that is not shared) after which nothing is sent any more.
/// Discord bans an address at 10 000 in ten minutes: API reference, "Rate Limits".
pub const INVALID_BRAKE_COUNT: usize = 500;
/// The window in which invalid answers are counted, in milliseconds.
pub const INVALID_WINDOW_MS: u64 = 10 * 60 * 1_000;
/// Requests in one second, over all routes that count: below Discord's 50.
const GLOBAL_PER_SECOND_COUNT: usize = 45;
/// Requests that wait or are under way. More than any honest burst.
const TICKET_COUNT: usize = 256;
/// Buckets that are remembered before quiet ones are forgotten.
const BUCKET_COUNT: usize = 2_048;
/// Longest wait that an answer can impose, in milliseconds: one day.
const WAIT_MAX_MS: u64 = 24 * 60 * 60 * 1_000;
/// Added to each wait: the other clock's last digit is not ours.
const WAIT_PAD_MS: u64 = 50;

/// A route with the channel or guild that its limits belong to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct RouteKey {
    /// Method and path without ids.
    pub(crate) route: &'static str,
    /// The channel or guild; zero where the path has none.
    pub(crate) major: u64,
    /// Whether the global limit counts it.
    pub(crate) counting: Counting,
}

/// Whether the global limit counts a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Counting {
    /// It does.
    Counts,
    /// Interaction answers do not, and a global limit does not hold them back.
    Exempt,
}

/// One request's place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Ticket(u64);

/// Whether a request may go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Turn {
    /// Now. It is under way from here on.
    Go,
    /// Not before this time, for this reason.
    At(u64, Hold),
    /// Another request of its bucket is before it.
    Behind,
    /// Never again in this process.
    Halted,
}

/// What a request waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hold {
    /// Its bucket's next window.
    Bucket,
    /// A limit over all routes.
    Global,
    /// A block at the edge network in front of Discord.
    Edge,
    /// The invalid-request brake.
    Brake,
}

/// A 429, or an answer that means the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Limited {
    pub(crate) scope: Scope,
    pub(crate) wait_ms: u64,
}

/// What a 429 is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scope {
    /// This bot on this route.
    User,
    /// Everybody on this resource; it does not count as invalid.
    Shared,
    /// This bot on every route.
    Global,
    /// This address, at the edge network.
    Edge,
}

impl Scope {
    /// What a request that was limited in this scope waits for.
    pub(crate) const fn hold(self) -> Hold {
        match self {
            Self::User | Self::Shared => Hold::Bucket,
            Self::Global => Hold::Global,
            Self::Edge => Hold::Edge,
        }
    }
}

/// What an answer says about limits.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Reading<'a> {
    pub(crate) status: u16,
    pub(crate) bucket: Option<&'a str>,
    pub(crate) remaining: Option<u64>,
    pub(crate) reset_after_ms: Option<u64>,
    pub(crate) limited: Option<Limited>,
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum BucketName {
    Told(String),
    Route(&'static str),
}

type BucketKey = (BucketName, u64);

#[derive(Clone, Copy, Debug, Default)]
struct Bucket {
    /// Requests left in the window; meaningless once it has passed.
    remaining: u64,
    window_ends: u64,
    /// Set by a 429: it outranks the window.
    blocked_until: u64,
}

#[derive(Debug, PartialEq, Eq)]
enum Stage {
    Waiting,
    UnderWay,
}

/// The limits of one bot at one origin.
#[derive(Debug, Default)]
pub(crate) struct Limiter {
    next_ticket: u64,
    /// In order of arrival.
    tickets: Vec<(Ticket, RouteKey, Stage)>,
    learned: BTreeMap<(&'static str, u64), String>,
    buckets: BTreeMap<BucketKey, Bucket>,
    global_until: u64,
    edge_until: u64,
    recent: VecDeque<u64>,
    invalid: VecDeque<u64>,
    halted: bool,
}

impl Limiter {
    /// Takes a place in line; `None` when the line is full.
    pub(crate) fn enter(&mut self, key: RouteKey) -> Option<Ticket> {
        if self.tickets.len() >= TICKET_COUNT {
            return None;
        }
        let ticket = Ticket(self.next_ticket);
        self.next_ticket += 1;
        self.tickets.push((ticket, key, Stage::Waiting));
        Some(ticket)
    }

    /// Gives a place up, whether the request went or not.
    pub(crate) fn leave(&mut self, ticket: Ticket) {
        self.tickets.retain(|(other, ..)| *other != ticket);
    }

    /// Whether the request of this ticket may go now; on [`Turn::Go`] it counts as gone.
    pub(crate) fn turn(&mut self, now: u64, ticket: Ticket) -> Turn {
        if self.halted {
            return Turn::Halted;
        }
        let Some(place) = self.tickets.iter().position(|(other, ..)| *other == ticket) else {
            return Turn::Behind;
        };
        let key = self.tickets[place].1;
        let bucket_key = self.bucket_key(key);
        let before = |other: &(Ticket, RouteKey, Stage)| self.bucket_key(other.1) == bucket_key;
        let under_way = self
            .tickets
            .iter()
            .any(|t| t.2 == Stage::UnderWay && before(t));
        if under_way || self.tickets[..place].iter().any(before) {
            return Turn::Behind;
        }
        if let Some((until, hold)) = self.held(now, key, &bucket_key) {
            return Turn::At(until, hold);
        }
        if let Some(bucket) = self.buckets.get_mut(&bucket_key) {
            bucket.remaining = bucket.remaining.saturating_sub(1);
        }
        if key.counting == Counting::Counts {
            self.recent.push_back(now);
        }
        self.tickets[place].2 = Stage::UnderWay;
        Turn::Go
    }

    /// Learns from an answer and frees the ticket.
    pub(crate) fn answered(&mut self, now: u64, ticket: Ticket, reading: &Reading<'_>) {
        let key = self
            .tickets
            .iter()
            .find(|(other, ..)| *other == ticket)
            .map(|t| t.1);
        self.leave(ticket);
        let Some(key) = key else { return };
        self.count_invalid(now, reading);
        if reading.status == 401 && key.counting == Counting::Counts {
            self.halted = true;
        }
        if let Some(bucket) = reading.bucket {
            self.learn(now, key, bucket);
        }
        if self.buckets.len() >= BUCKET_COUNT {
            self.forget_quiet(now);
        }
        let bucket_key = self.bucket_key(key);
        let bucket = self.buckets.entry(bucket_key).or_default();
        if let (Some(remaining), Some(reset)) = (reading.remaining, reading.reset_after_ms) {
            bucket.remaining = remaining;
            bucket.window_ends = now + reset.min(WAIT_MAX_MS) + WAIT_PAD_MS;
        }
        if let Some(limited) = reading.limited {
            let until = now + limited.wait_ms.min(WAIT_MAX_MS) + WAIT_PAD_MS;
            match limited.scope {
                Scope::User | Scope::Shared => bucket.blocked_until = until,
                Scope::Global => self.global_until = self.global_until.max(until),
                Scope::Edge => self.edge_until = self.edge_until.max(until),
            }
        }
    }

    /// Whether a 401 has ended everything.
    pub(crate) fn is_halted(&self) -> bool {
        self.halted
    }

    /// Invalid answers in the last ten minutes.
    #[cfg(test)]
    pub(crate) fn invalid_count(&self) -> usize {
        self.invalid.len()
    }

    fn bucket_key(&self, key: RouteKey) -> BucketKey {
        let name = match self.learned.get(&(key.route, key.major)) {
            Some(told) => BucketName::Told(told.clone()),
            None => BucketName::Route(key.route),
        };
        (name, key.major)
    }

    fn held(&mut self, now: u64, key: RouteKey, bucket: &BucketKey) -> Option<(u64, Hold)> {
        let mut holds = vec![(self.edge_until, Hold::Edge)];
        self.invalid.retain(|at| at + INVALID_WINDOW_MS > now);
        if self.invalid.len() >= INVALID_BRAKE_COUNT {
            let oldest = self.invalid.front().copied().unwrap_or(now);
            holds.push((oldest + INVALID_WINDOW_MS, Hold::Brake));
        }
        if key.counting == Counting::Counts {
            holds.push((self.global_until, Hold::Global));
            self.recent.retain(|at| at + 1_000 > now);
            if self.recent.len() >= GLOBAL_PER_SECOND_COUNT {
                let oldest = self.recent.front().copied().unwrap_or(now);
                holds.push((oldest + 1_000, Hold::Global));
            }
        }
        if let Some(state) = self.buckets.get(bucket) {
            holds.push((state.blocked_until, Hold::Bucket));
            if state.remaining == 0 {
                holds.push((state.window_ends, Hold::Bucket));
            }
        }
        let latest = holds.into_iter().max_by_key(|(until, _)| *until)?;
        (latest.0 > now).then_some(latest)
    }

    fn count_invalid(&mut self, now: u64, reading: &Reading<'_>) {
        let shared = reading.limited.is_some_and(|l| l.scope == Scope::Shared);
        let counts = matches!(reading.status, 401 | 403) || (reading.status == 429 && !shared);
        if counts && self.invalid.len() < INVALID_BRAKE_COUNT {
            self.invalid.push_back(now);
        }
    }

    fn learn(&mut self, now: u64, key: RouteKey, bucket: &str) {
        let place = (key.route, key.major);
        if self
            .learned
            .get(&place)
            .is_some_and(|known| known == bucket)
        {
            return;
        }
        if self.learned.len() >= BUCKET_COUNT {
            self.forget_quiet(now);
        }
        self.learned.insert(place, bucket.to_owned());
        self.buckets
            .remove(&(BucketName::Route(key.route), key.major));
    }

    /// Forgets buckets that hold nothing back; what is learned again costs one request.
    fn forget_quiet(&mut self, now: u64) {
        self.buckets
            .retain(|_, bucket| bucket.window_ends.max(bucket.blocked_until) > now);
        let held = &self.buckets;
        self.learned.retain(|(_, major), name| {
            held.contains_key(&(BucketName::Told(name.clone()), *major))
        });
    }
}

#[cfg(test)]
mod tests;
