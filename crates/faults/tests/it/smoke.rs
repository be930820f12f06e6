//! A few hundred seeds, and a few safeguards less.

use guildhall_faults::{Trace, hunt, mutation::Mutation, plan::Plan, run, survey};

#[test]
fn three_hundred_seeds_break_nothing() {
    let survey = survey(0..300);
    assert!(survey.failed.is_empty(), "{:?}", survey.failed.first());
    assert!(survey.counts.posted > 300, "{:?}", survey.counts);
    assert!(survey.counts.processes > 400, "{:?}", survey.counts);
}

#[test]
fn a_seed_replays_exactly() {
    for seed in [3, 17] {
        let plan = Plan::of_seed(seed);
        let (one, two) = (
            run(&plan, None, Trace::On).trace,
            run(&plan, None, Trace::On).trace,
        );
        assert!(one.len() > 50);
        assert_eq!(one, two);
    }
}

#[test]
fn a_safeguard_that_is_taken_away_is_missed() {
    let quick = [
        Mutation::Claimed,
        Mutation::Queued,
        Mutation::Answered,
        Mutation::Intent,
        Mutation::Settled,
        Mutation::SpoolLost,
        Mutation::FreshNonce,
        Mutation::NotEnforced,
        Mutation::BlindReadBack,
        Mutation::EmptyCatchUp,
    ];
    for mutation in quick {
        let caught = hunt(mutation, 0..300);
        assert!(caught.by.is_some(), "{}", mutation.code());
    }
}
