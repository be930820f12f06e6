//! When to try again.
//!
//! In: how often it was tried. Out: a wait. Never: a wait below the first one, a reset by a link
//! that did not last.

/// The first wait, in milliseconds.
pub const BACKOFF_FIRST_MS: u64 = 1_000;
/// The longest wait, in milliseconds.
pub const BACKOFF_MAX_MS: u64 = 60_000;
/// How long a link must have been live for the waits to begin anew, in milliseconds.
pub const HELD_MS: u64 = 60_000;

/// Doubling waits, a quarter more or less by chance.
#[derive(Debug, Default)]
pub(crate) struct Backoff {
    tries: u32,
}

impl Backoff {
    /// The wait before the next try, in milliseconds.
    pub(crate) fn next_ms(&mut self, random: &mut fastrand::Rng) -> u64 {
        let doubled = BACKOFF_FIRST_MS << self.tries.min(6);
        self.tries = self.tries.saturating_add(1);
        let wait = doubled.min(BACKOFF_MAX_MS);
        let quarter = wait / 4;
        wait - quarter + random.u64(0..=2 * quarter)
    }

    /// Begins anew, after a link that lasted.
    pub(crate) fn reset(&mut self) {
        self.tries = 0;
    }
}
