//! Time and brakes, as the driver reads them once per wake.
//!
//! In: two clocks and the two brake files. Out: one value that a whole decision uses. Never: a
//! clock that is read twice in one decision.

use serde::{Deserialize, Serialize};
use std::{fmt, time::Duration};

/// Milliseconds on a clock that never jumps and counts suspend. For deadlines.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct Mono(pub u64);

impl Mono {
    /// This instant, later by `span`.
    #[must_use]
    pub fn plus(self, span: Duration) -> Self {
        Self(self.0.saturating_add(millis(span)))
    }
}

/// Milliseconds since the Unix epoch, corrected by Discord's own clock. For ages and dates.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct Wall(pub i64);

impl Wall {
    /// This time, later by `span`.
    #[must_use]
    pub fn plus(self, span: Duration) -> Self {
        let span = i64::try_from(millis(span)).unwrap_or(i64::MAX);
        Self(self.0.saturating_add(span))
    }

    /// The UTC day.
    #[must_use]
    pub const fn day(self) -> Day {
        Day(self.0.div_euclid(86_400_000))
    }

    /// Milliseconds from `earlier` to here; negative where `earlier` lies ahead.
    #[must_use]
    pub const fn since(self, earlier: Self) -> i64 {
        self.0.saturating_sub(earlier.0)
    }

    /// RFC 3339 with milliseconds, in UTC.
    #[must_use]
    pub fn rfc3339(self) -> String {
        jiff::Timestamp::from_millisecond(self.0)
            .map(|at| format!("{at:.3}"))
            .unwrap_or_else(|_| "1970-01-01T00:00:00.000Z".to_owned())
    }
}

impl Serialize for Wall {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.rfc3339())
    }
}

impl<'de> Deserialize<'de> for Wall {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = std::borrow::Cow::<str>::deserialize(deserializer)?;
        let at: jiff::Timestamp = text.parse().map_err(serde::de::Error::custom)?;
        Ok(Self(at.as_millisecond()))
    }
}

/// A UTC day, counted from the Unix epoch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct Day(pub i64);

impl fmt::Display for Day {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = Wall(self.0.saturating_mul(86_400_000)).rfc3339();
        f.write_str(text.get(..10).unwrap_or("1970-01-01"))
    }
}

impl Serialize for Day {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Day {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = std::borrow::Cow::<str>::deserialize(deserializer)?;
        let at: jiff::Timestamp = format!("{text}T00:00:00Z")
            .parse()
            .map_err(serde::de::Error::custom)?;
        Ok(Wall(at.as_millisecond()).day())
    }
}

/// One brake.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Brake {
    /// The file is not there.
    #[default]
    Off,
    /// The file is there, or could not be looked at.
    On,
}

/// Both brakes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Brakes {
    /// `STOP` of this binding.
    pub stop: Brake,
    /// `ESTOP` of the data root.
    pub estop: Brake,
}

/// What the driver read once for one wake.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Moment {
    /// For deadlines.
    pub mono: Mono,
    /// For ages and dates.
    pub wall: Wall,
    /// Whether anything new may start.
    pub brakes: Brakes,
}

/// A span in whole milliseconds.
#[must_use]
pub fn millis(span: Duration) -> u64 {
    u64::try_from(span.as_millis()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wall_time_and_a_day_survive_the_way_through_a_record() {
        let at = Wall(1_796_047_445_123);
        assert_eq!(at.rfc3339(), "2026-11-30T14:04:05.123Z");
        let text = serde_json::to_string(&at).expect("json");
        assert_eq!(serde_json::from_str::<Wall>(&text).expect("a time"), at);
        let day = serde_json::to_string(&at.day()).expect("json");
        assert_eq!(day, "\"2026-11-30\"");
        assert_eq!(serde_json::from_str::<Day>(&day).expect("a day"), at.day());
        assert_eq!(Wall(0).rfc3339(), "1970-01-01T00:00:00.000Z");
    }
}
