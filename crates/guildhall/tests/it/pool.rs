//! Cases side by side: most of a case is waiting.
//!
//! In: cases. Out: their results, in order. Never: more at once than asked for.

use std::{
    panic::catch_unwind,
    sync::{
        Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
};

/// Cases at once on a small machine.
pub(crate) const AT_ONCE: usize = 4;

/// A case with its name.
pub(crate) type Case = (&'static str, Box<dyn Fn() + Sync>);

/// Names a case.
pub(crate) fn case(name: &'static str, play: impl Fn() + Sync + 'static) -> Case {
    (name, Box::new(play))
}

/// Works on all cases, `at_once` at a time.
pub(crate) fn each<Item: Sync, Found: Send>(
    cases: &[Item],
    at_once: usize,
    work: impl Fn(&Item) -> Found + Sync,
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

/// Plays named cases side by side.
///
/// # Panics
/// With the words of every case that failed.
pub(crate) fn all_hold(cases: &[Case], at_once: usize) {
    let failed = each(cases, at_once, |(name, case)| {
        let played = catch_unwind(std::panic::AssertUnwindSafe(case));
        let cause = played.err()?;
        let words = cause.downcast_ref::<String>().cloned();
        let words = words.or_else(|| Some((*cause.downcast_ref::<&str>()?).to_owned()));
        Some(format!("{name}: {}", words.unwrap_or_default()))
    });
    let failed: Vec<_> = failed.into_iter().flatten().collect();
    assert!(failed.is_empty(), "{}", failed.join("\n\n"));
}
