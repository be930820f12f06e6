//! A few hundred seeds, and a few safeguards less.

use guildhall_faults::{Trace, hunt, mutation::Mutation, plan::Plan, run, shrink, survey};

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
        Mutation::Opened,
        Mutation::AnybodyPresses,
    ];
    for mutation in quick {
        let caught = hunt(mutation, 0..300);
        assert!(caught.by.is_some(), "{}", mutation.code());
    }
}

#[test]
fn a_failing_schedule_is_shrunk_to_one_that_fails_in_the_same_way() {
    let mutation = Some(Mutation::NotEnforced);
    let caught = hunt(Mutation::NotEnforced, 0..300).by.expect("a seed");
    let plan = Plan::of_seed(caught.seed);
    let short = shrink(&plan, mutation, caught.violation.invariant);
    assert!(
        short.steps.len() < plan.steps.len(),
        "{}",
        short.steps.len()
    );
    let found = run(&short, mutation, Trace::Off).violations;
    let same = |invariant| invariant == caught.violation.invariant;
    assert!(found.iter().any(|violation| same(violation.invariant)));
    for index in 0..short.steps.len() {
        let mut without = short.clone();
        without.steps.remove(index);
        let found = run(&without, mutation, Trace::Off).violations;
        assert!(
            !found.iter().any(|violation| same(violation.invariant)),
            "{index}"
        );
    }
    assert_eq!(
        run(&short, None, Trace::Off).violations,
        [],
        "it is the safeguard"
    );
}
