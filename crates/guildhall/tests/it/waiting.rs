//! Waiting for something, with an end.
//!
//! In: a question. Out: its first answer. Never: a wait of a fixed length.

use std::{
    thread,
    time::{Duration, Instant},
};

/// How long anything may take on a busy machine.
pub(crate) const PATIENCE: Duration = Duration::from_secs(90);
/// How often a question is asked.
const EVERY: Duration = Duration::from_millis(15);

/// Asks until there is an answer; `None` when `patience` is over.
pub(crate) fn within<T>(patience: Duration, mut ask: impl FnMut() -> Option<T>) -> Option<T> {
    let began = Instant::now();
    loop {
        if let Some(answer) = ask() {
            return Some(answer);
        }
        if began.elapsed() > patience {
            return None;
        }
        thread::sleep(EVERY);
    }
}

/// Asks until it is so.
///
/// # Panics
/// When it does not become so.
pub(crate) fn until(what: &str, mut ask: impl FnMut() -> bool) {
    let answer = within(PATIENCE, || ask().then_some(()));
    assert!(answer.is_some(), "waited in vain for {what}");
}
