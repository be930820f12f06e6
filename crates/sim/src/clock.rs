//! The simulator's own time.
//!
//! In: the system clock, or a fixed start, and how far a test moved it. Out: moments.
//! Never: goes anywhere by itself when it is fixed; nobody else in this crate reads a clock.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Milliseconds since the Unix epoch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize)]
#[serde(transparent)]
pub struct Moment(u64);

impl Moment {
    /// The moment `ms` milliseconds after the Unix epoch.
    #[must_use]
    pub const fn from_ms(ms: u64) -> Self {
        Self(ms)
    }

    /// Milliseconds since the Unix epoch.
    #[must_use]
    pub const fn as_ms(self) -> u64 {
        self.0
    }

    /// The moment `ms` milliseconds later.
    #[must_use]
    pub const fn plus_ms(self, ms: u64) -> Self {
        Self(self.0.saturating_add(ms))
    }

    /// Milliseconds from `earlier` to this moment; zero when `earlier` is later.
    #[must_use]
    pub const fn since(self, earlier: Self) -> u64 {
        self.0.saturating_sub(earlier.0)
    }

    /// The form of HTTP's `Date`, such as `Mon, 30 Nov 2026 13:08:38 GMT`.
    pub(crate) fn http_date(self) -> String {
        self.stamp()
            .strftime("%a, %d %b %Y %H:%M:%S GMT")
            .to_string()
    }

    fn stamp(self) -> jiff::Timestamp {
        let ms = i64::try_from(self.0).unwrap_or(i64::MAX);
        jiff::Timestamp::from_millisecond(ms).unwrap_or(jiff::Timestamp::MAX)
    }
}

/// Writes Discord's form, such as `2026-11-30T13:08:38.838000+00:00`.
impl fmt::Display for Moment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{}",
            self.stamp().strftime("%Y-%m-%dT%H:%M:%S.%6f+00:00")
        )
    }
}

/// Where the simulator's time comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ClockStart {
    /// Follows the system clock, plus whatever the control API moved it by.
    #[default]
    System,
    /// Stands still at this many milliseconds since the Unix epoch until it is moved.
    FixedMs(u64),
}

/// The clock of one simulator.
#[derive(Debug)]
pub(crate) struct Clock {
    start: ClockStart,
    moved_ms: i64,
}

impl Clock {
    pub(crate) const fn new(start: ClockStart) -> Self {
        Self { start, moved_ms: 0 }
    }

    /// The simulator's present.
    pub(crate) fn now(&self) -> Moment {
        let base = match self.start {
            ClockStart::System => {
                u64::try_from(jiff::Timestamp::now().as_millisecond()).unwrap_or(0)
            }
            ClockStart::FixedMs(ms) => ms,
        };
        Moment(base.saturating_add_signed(self.moved_ms))
    }

    /// Moves the clock, forwards or backwards.
    pub(crate) fn advance(&mut self, ms: i64) {
        self.moved_ms = self.moved_ms.saturating_add(ms);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_are_written_in_discords_form() {
        let cases = [
            (1_796_044_118_838, "2026-11-30T13:08:38.838000+00:00"),
            (0, "1970-01-01T00:00:00.000000+00:00"),
        ];
        for (ms, want) in cases {
            assert_eq!(Moment::from_ms(ms).to_string(), want);
        }
    }

    #[test]
    fn dates_are_written_in_https_form() {
        let date = Moment::from_ms(1_796_044_118_838).http_date();
        assert_eq!(date, "Mon, 30 Nov 2026 13:08:38 GMT");
        assert_eq!(
            Moment::from_ms(0).http_date(),
            "Thu, 01 Jan 1970 00:00:00 GMT"
        );
    }

    #[test]
    fn a_fixed_clock_moves_only_when_told() {
        let mut clock = Clock::new(ClockStart::FixedMs(1_000));
        assert_eq!(clock.now(), clock.now());
        clock.advance(500);
        assert_eq!(clock.now(), Moment::from_ms(1_500));
        clock.advance(-2_000);
        assert_eq!(clock.now(), Moment::from_ms(0));
    }
}
