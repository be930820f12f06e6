//! The fault machine: the real connector in a world that goes wrong on purpose.
//!
//! In: seeds. Out: schedules of faults, and which of the product's invariants they break, judged by
//! what a model of Discord, of the disk and of the engine saw. Never: a real clock, a thread, a
//! socket, a file, or anything that makes a second run of a seed differ from the first.

pub mod plan;

pub mod violation;

pub mod mutation;

mod prng;
mod settings;

mod discord;
mod disk;
mod engine;
mod gateway;

mod ledger;
mod machine;

mod check;

mod shrink;
mod survey;

pub use machine::{Counts, Outcome, Trace};
pub use prng::Prng;
pub use settings::{Bounds, Speaker, Spot, Variant};
pub use shrink::shrink;
pub use survey::{Caught, Survey, Worst, hunt, survey};

use mutation::Mutation;
use plan::Plan;
use std::panic::{AssertUnwindSafe, catch_unwind};
use violation::{Invariant, Violation};

/// Runs one schedule to its end, and judges it.
#[must_use]
pub fn run(plan: &Plan, mutation: Option<Mutation>, trace: Trace) -> Outcome {
    let whole = || {
        let mut machine = machine::Machine::new(plan, mutation, trace);
        machine.run();
        machine.outcome()
    };
    catch_unwind(AssertUnwindSafe(whole)).unwrap_or_else(|payload| {
        let text = payload.downcast_ref::<String>().map(String::as_str);
        let text = text.or_else(|| payload.downcast_ref::<&str>().copied());
        let panic = Violation {
            invariant: Invariant::Panic,
            at_ms: 0,
            about: text.unwrap_or("without a text").to_owned(),
        };
        Outcome {
            violations: vec![panic],
            ..Outcome::default()
        }
    })
}
