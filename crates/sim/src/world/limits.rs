//! Rate limits: buckets, the global limit, and the ban for too many invalid requests.
//!
//! In: one request's bucket. Out: the headers for its answer, or the 429.
//! Never: puts a scope on an answer that is no 429.

use std::collections::{HashMap, VecDeque};

use crate::clock::Moment;
use crate::id::Id;
use crate::scenario::{RateLimitRule, Rules};
use crate::world::AppIndex;

/// Window of the invalid-request ban. Source: Discord API docs, Rate Limits.
const INVALID_WINDOW_MS: u64 = 600_000;
/// Most buckets that are remembered; the ones that are whole again go first.
const BUCKETS_MAX_COUNT: usize = 10_000;

/// A bucket's name, size and window. Discord publishes none; these are near what bots observe.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Bucket {
    pub(crate) name: &'static str,
    pub(crate) limit: u32,
    pub(crate) window_ms: u64,
}

/// Who asks for what.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Charge {
    pub(crate) app: Option<AppIndex>,
    pub(crate) bucket: Option<Bucket>,
    /// The channel, guild or webhook that the bucket is for.
    pub(crate) major: Option<Id>,
    pub(crate) global: Global,
}

/// Whether a request counts for the global limit. Interaction endpoints do not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Global {
    Counts,
    Exempt,
}

/// What the limits say to a request.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Verdict {
    /// Let it through; the headers tell what is left.
    Pass(Option<Standing>),
    /// The bucket is empty.
    Bucket(Standing),
    /// The bot is over its global limit, for this many milliseconds.
    GlobalMs(u64),
    /// Too many invalid requests: the ban page, for this many milliseconds.
    BanMs(u64),
}

/// How a bucket stands after a request.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Standing {
    pub(crate) bucket: Bucket,
    pub(crate) remaining: u32,
    pub(crate) reset_after_ms: u64,
    pub(crate) reset_at: Moment,
}

#[derive(Debug)]
struct Fill {
    used: u32,
    reset_at: Moment,
}

/// All counters.
#[derive(Debug, Default)]
pub(crate) struct Limits {
    buckets: HashMap<(Option<AppIndex>, &'static str, Option<Id>), Fill>,
    global: HashMap<AppIndex, Fill>,
    invalid: VecDeque<Moment>,
}

impl Limits {
    /// Counts one request.
    pub(crate) fn charge(&mut self, now: Moment, charge: &Charge, rules: &Rules) -> Verdict {
        while self
            .invalid
            .front()
            .is_some_and(|at| now.since(*at) >= INVALID_WINDOW_MS)
        {
            self.invalid.pop_front();
        }
        let enforced = rules.rate_limits == RateLimitRule::Enforced;
        let invalid = u32::try_from(self.invalid.len()).unwrap_or(u32::MAX);
        if let Some(first) = self.invalid.front()
            && invalid >= rules.invalid_requests
        {
            return Verdict::BanMs(INVALID_WINDOW_MS.saturating_sub(now.since(*first)));
        }
        if let (Some(app), Global::Counts) = (charge.app, charge.global) {
            let fill = self.global.entry(app).or_insert(Fill {
                used: 0,
                reset_at: now,
            });
            let over = fill.take(now, rules.global_per_second, 1_000);
            if over && enforced {
                return Verdict::GlobalMs(fill.reset_at.since(now));
            }
        }
        let Some(bucket) = charge.bucket else {
            return Verdict::Pass(None);
        };
        self.make_room(now);
        let key = (charge.app, bucket.name, charge.major);
        let fill = self.buckets.entry(key).or_insert(Fill {
            used: 0,
            reset_at: now,
        });
        let over = fill.take(now, bucket.limit, bucket.window_ms);
        let standing = Standing {
            bucket,
            remaining: bucket.limit.saturating_sub(fill.used),
            reset_after_ms: fill.reset_at.since(now),
            reset_at: fill.reset_at,
        };
        if over && enforced {
            Verdict::Bucket(standing)
        } else {
            Verdict::Pass(Some(standing))
        }
    }

    /// Notes an answer of 401, 403, or a 429 that is not shared.
    pub(crate) fn note_invalid(&mut self, now: Moment, rules: &Rules) {
        self.invalid.push_back(now);
        let cap = usize::try_from(rules.invalid_requests)
            .unwrap_or(usize::MAX)
            .max(1);
        while self.invalid.len() > cap {
            self.invalid.pop_front();
        }
    }

    fn make_room(&mut self, now: Moment) {
        if self.buckets.len() >= BUCKETS_MAX_COUNT {
            self.buckets.retain(|_, fill| fill.reset_at > now);
        }
    }
}

impl Fill {
    /// Counts one use. Says whether it was one too many, which is not counted.
    fn take(&mut self, now: Moment, limit: u32, window_ms: u64) -> bool {
        if self.reset_at <= now {
            self.used = 0;
            self.reset_at = now.plus_ms(window_ms);
        }
        if self.used >= limit {
            return true;
        }
        self.used += 1;
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SMALL: Bucket = Bucket {
        name: "small",
        limit: 2,
        window_ms: 1_000,
    };

    fn charge(global: Global) -> Charge {
        Charge {
            app: Some(AppIndex(0)),
            bucket: Some(SMALL),
            major: None,
            global,
        }
    }

    #[test]
    fn a_bucket_empties_and_fills_again() {
        let mut limits = Limits::default();
        let rules = Rules::default();
        let remaining = |verdict| {
            if let Verdict::Bucket(standing) = verdict {
                return Err(standing.reset_after_ms);
            }
            let Verdict::Pass(Some(standing)) = verdict else {
                panic!("no bucket")
            };
            Ok(standing.remaining)
        };
        let cases = [(0, Ok(1)), (100, Ok(0)), (400, Err(600)), (1_000, Ok(1))];
        for (ms, want) in cases {
            let got = limits.charge(Moment::from_ms(ms), &charge(Global::Counts), &rules);
            assert_eq!(remaining(got), want, "at {ms} ms");
        }
    }

    #[test]
    fn interactions_do_not_count_for_the_global_limit() {
        let rules = Rules {
            global_per_second: 1,
            ..Rules::default()
        };
        let now = Moment::from_ms(5);
        let free = Charge {
            bucket: None,
            ..charge(Global::Exempt)
        };
        let counted = Charge {
            bucket: None,
            ..charge(Global::Counts)
        };
        let mut limits = Limits::default();
        for _ in 0..3 {
            assert_eq!(limits.charge(now, &free, &rules), Verdict::Pass(None));
        }
        assert_eq!(limits.charge(now, &counted, &rules), Verdict::Pass(None));
        assert_eq!(
            limits.charge(now, &counted, &rules),
            Verdict::GlobalMs(1_000)
        );
    }

    #[test]
    fn too_many_invalid_requests_ban_everybody_for_a_while() {
        let rules = Rules {
            invalid_requests: 2,
            ..Rules::default()
        };
        let mut limits = Limits::default();
        limits.note_invalid(Moment::from_ms(0), &rules);
        limits.note_invalid(Moment::from_ms(10), &rules);
        let at = |ms| Moment::from_ms(ms);
        let any = Charge {
            bucket: None,
            ..charge(Global::Counts)
        };
        assert_eq!(limits.charge(at(20), &any, &rules), Verdict::BanMs(599_980));
        assert_eq!(
            limits.charge(at(600_000), &any, &rules),
            Verdict::Pass(None)
        );
    }
}
