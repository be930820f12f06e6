//! The clocks: read here and nowhere else.
//!
//! In: the system's clocks, Discord's date. Out: moments. Never: a clock that is read twice in one
//! decision.

use guildhall_connector::moment::{Mono, Wall};
use std::sync::{
    Arc,
    atomic::{AtomicI64, Ordering},
};

/// A difference to Discord's clock that is smaller is within its date's resolution of a second.
const OFFSET_MIN_MS: i64 = 1_500;

/// Both clocks. A clone shares the offset.
#[derive(Clone, Debug, Default)]
pub(crate) struct Clocks {
    offset_ms: Arc<AtomicI64>,
    /// The date that the offset was made from.
    heard_ms: Arc<AtomicI64>,
}

impl Clocks {
    /// Milliseconds on the clock that never jumps and counts suspend.
    pub(crate) fn mono(&self) -> Mono {
        let now = rustix::time::clock_gettime(rustix::time::ClockId::Boottime);
        let seconds = u64::try_from(now.tv_sec).unwrap_or(0);
        Mono(seconds * 1000 + u64::try_from(now.tv_nsec).unwrap_or(0) / 1_000_000)
    }

    /// Milliseconds since the Unix epoch, by Discord's clock where it differs.
    pub(crate) fn wall(&self) -> Wall {
        Wall(local_ms() + self.offset_ms.load(Ordering::Relaxed))
    }

    /// Discord's clock said `unix_ms`, `ago_ms` milliseconds ago.
    ///
    /// A date counts once, when it is new: how long ago an old one was cannot be told by a clock that
    /// stands still while the machine sleeps.
    pub(crate) fn heard(&self, unix_ms: i64, ago_ms: i64) {
        if self.heard_ms.swap(unix_ms, Ordering::Relaxed) == unix_ms {
            return;
        }
        let offset = unix_ms + ago_ms - local_ms();
        let offset = if offset.abs() < OFFSET_MIN_MS {
            0
        } else {
            offset
        };
        self.offset_ms.store(offset, Ordering::Relaxed);
    }
}

fn local_ms() -> i64 {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::Realtime);
    now.tv_sec * 1000 + now.tv_nsec / 1_000_000
}

#[cfg(test)]
mod tests {
    use super::{Clocks, local_ms};

    #[test]
    fn a_date_that_was_heard_before_the_machine_slept_moves_no_clock() {
        let clocks = Clocks::default();
        let hour = 3_600_000;
        // An hour ago by every clock.
        let then = local_ms() - hour;
        clocks.heard(then, hour);
        let awake = clocks.wall();
        // The clock that counts the time since then had stood still.
        clocks.heard(then, 0);
        assert!(clocks.wall() >= awake, "{:?} {awake:?}", clocks.wall());
        // A new date counts.
        clocks.heard(local_ms() + hour, 0);
        assert!(clocks.wall().0 >= awake.0 + hour);
    }
}
