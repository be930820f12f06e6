//! Many seeds at once.
//!
//! In: a range of seeds, perhaps a mutation. Out: the first seed that fails, or what all of them did.
//! Never: a seed that is left out quietly.

use crate::{
    check::is_seen_outside,
    machine::{Counts, Outcome, Trace},
    mutation::Mutation,
    plan::Plan,
    run,
    violation::{Side, Violation},
};
use std::ops::Range;

/// What a range of seeds came to.
#[derive(Clone, Debug, Default)]
pub struct Survey {
    /// Seeds that were run.
    pub seeds: u64,
    /// What there was in all of them together.
    pub counts: Counts,
    /// Seeds that failed.
    pub failed: Vec<Worst>,
}

/// One seed that failed.
#[derive(Clone, Debug)]
pub struct Worst {
    /// The seed.
    pub seed: u64,
    /// The first thing that did not hold.
    pub violation: Violation,
}

/// Runs each seed of a range without a mutation.
#[must_use]
pub fn survey(seeds: Range<u64>) -> Survey {
    let mut survey = Survey::default();
    for seed in seeds {
        let outcome = run(&Plan::of_seed(seed), None, Trace::Off);
        survey.seeds += 1;
        survey.counts.add(outcome.counts);
        if let Some(violation) = outcome.violations.into_iter().next() {
            survey.failed.push(Worst { seed, violation });
        }
    }
    survey
}

/// The first seed under which a missing safeguard showed from outside.
#[derive(Clone, Debug)]
pub struct Caught {
    /// The safeguard.
    pub mutation: Mutation,
    /// The seed, and what showed; `None` where no seed of the range caught it.
    pub by: Option<Worst>,
    /// How many of the seeds that were run caught it, where all were run.
    pub seeds: u64,
}

/// Looks for a seed under which a missing safeguard shows from outside: on Discord, at the engine,
/// in turn records or drop lines. What only this machine can see does not count.
#[must_use]
pub fn hunt(mutation: Mutation, seeds: Range<u64>) -> Caught {
    let mut tried = 0;
    for seed in seeds {
        tried += 1;
        let Outcome { violations, .. } = run(&Plan::of_seed(seed), Some(mutation), Trace::Off);
        if is_seen_outside(&violations) {
            let mut outward = violations.into_iter();
            let shown = outward.find(|found| found.invariant.side() == Side::Outward);
            let by = shown.map(|violation| Worst { seed, violation });
            return Caught {
                mutation,
                by,
                seeds: tried,
            };
        }
    }
    Caught {
        mutation,
        by: None,
        seeds: tried,
    }
}

impl Counts {
    fn add(&mut self, other: Self) {
        self.said += other.said;
        self.posted += other.posted;
        self.runs += other.runs;
        self.processes += other.processes;
        self.events += other.events;
    }
}
