//! The age of a journal: what lies behind a seat does not slow its start or fill its memory.
//!
//! In: a journal with very many accepted messages behind it. Out: a start, a figure of time that is
//! only printed, and memory within a bound. Never: a time that decides whether a test passes.

mod past; // a journal that is older than its seat

use crate::{
    proc::Figures,
    seat::{Ended, NAME},
    stage::Stage,
};
use std::time::Instant;

/// Memory of a seat that has just started, at most, in KiB.
const RESIDENT_MAX_KIB: u64 = 64 * 1024;
/// Set to any value to start over a million messages too.
const LONG_VARIABLE: &str = "GUILDHALL_AGE_LONG";

#[test]
fn a_long_past_costs_a_start_little_memory() {
    let long = std::env::var_os(LONG_VARIABLE).is_some();
    let ages: &[u64] = if long {
        &[0, 100_000, 1_000_000]
    } else {
        &[0, 100_000]
    };
    for age in ages {
        start_after(*age);
    }
}

fn start_after(messages: u64) {
    let mut stage = Stage::open();
    assert_eq!(stage.seat.terminate(), Ended::Exit(0));
    let journal = stage.seat.journal();
    let id = past::lengthen(&journal, messages);
    let before = journal.length("inbox");
    let began = Instant::now();
    stage.seat.serve();
    let took = began.elapsed();
    let figures = Figures::of(stage.seat.pid().expect("it runs"));
    println!(
        "{messages:>9} messages behind it: connected after {} ms, {} KiB resident, {} KiB at its highest",
        took.as_millis(),
        figures.resident_kib,
        figures.peak_kib
    );
    assert!(figures.peak_kib < RESIDENT_MAX_KIB, "{figures:?}");
    // It knows its past: what was accepted long ago is told, and what comes now is one line more.
    stage.greet(1);
    assert!(
        journal.length("inbox") - before < 400,
        "only the new message was written"
    );
    if let Some(id) = id {
        let told = stage.seat.tool(&["why", NAME, &id.to_string()]);
        assert!(told.status.success(), "{told:?}");
    }
    assert_eq!(stage.seat.terminate(), Ended::Exit(0));
    stage.seat.serve();
    stage.greet(2);
}
