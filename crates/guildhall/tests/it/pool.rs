//! Cases side by side: most of a case is waiting.
//!
//! In: cases. Out: their results, in order. Never: more at once than asked for.

use std::{
    sync::{
        Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
};

/// Cases at once on a small machine.
pub(crate) const AT_ONCE: usize = 4;

/// Works on all cases, `at_once` at a time.
pub(crate) fn each<Case: Sync, Found: Send>(
    cases: &[Case],
    at_once: usize,
    work: impl Fn(&Case) -> Found + Sync,
) -> Vec<Found> {
    let next = AtomicUsize::new(0);
    let found = Mutex::new(Vec::new());
    thread::scope(|scope| {
        for _ in 0..at_once.min(cases.len()) {
            scope.spawn(|| {
                loop {
                    let index = next.fetch_add(1, Ordering::SeqCst);
                    let Some(case) = cases.get(index) else { return };
                    let result = work(case);
                    found
                        .lock()
                        .expect("no case panics with the lock")
                        .push((index, result));
                }
            });
        }
    });
    let mut found = found.into_inner().expect("no case panics with the lock");
    found.sort_by_key(|(index, _)| *index);
    found.into_iter().map(|(_, result)| result).collect()
}
