//! Makes a failing schedule short.
//!
//! In: a plan that fails. Out: a plan that fails in the same way and from which nothing can be taken.
//! Never: a schedule that fails in another way, since that is another fault.

use crate::{
    machine::{Outcome, Trace},
    mutation::Mutation,
    plan::{Encore, Plan},
    run,
    violation::Invariant,
};

/// Takes out steps, large pieces first, as long as the plan still breaks this invariant.
#[must_use]
pub fn shrink(plan: &Plan, mutation: Option<Mutation>, invariant: Invariant) -> Plan {
    let fails = |plan: &Plan| breaks(&run(plan, mutation, Trace::Off), invariant);
    let mut best = plan.clone();
    let mut bare = best.clone();
    bare.knobs.encore = Encore::None;
    if fails(&bare) {
        best = bare;
    }
    let mut piece = best.steps.len().div_ceil(2).max(1);
    loop {
        let mut start = 0;
        let mut shorter = false;
        while start < best.steps.len() {
            let mut without = best.clone();
            let end = (start + piece).min(without.steps.len());
            without.steps.drain(start..end);
            if fails(&without) {
                best = without;
                shorter = true;
            } else {
                start = end;
            }
        }
        match (piece, shorter) {
            (1, false) => return best,
            (1, true) => {}
            _ => piece = piece.div_ceil(2),
        }
    }
}

fn breaks(outcome: &Outcome, invariant: Invariant) -> bool {
    let mut found = outcome.violations.iter();
    found.any(|violation| violation.invariant == invariant)
}
