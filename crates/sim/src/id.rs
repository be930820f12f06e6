//! Snowflakes and where new ones come from.
//!
//! In: the simulator's clock and a seed. Out: ids that rise with every call.
//! Never: two equal ids in one world, an id of zero, an id taken from a random source.

use std::fmt;
use std::num::NonZeroU64;
use std::str::FromStr;

use serde::{Serialize, Serializer};

use crate::clock::Moment;

/// First millisecond of Discord's ids, counted from the Unix epoch.
/// Source: Discord API reference, Snowflakes.
const DISCORD_EPOCH_MS: u64 = 1_420_070_400_000;
/// Bits below the timestamp: worker, process and increment.
const LOW_BITS: u32 = 22;

/// A Discord snowflake of any kind of object.
///
/// One type serves all kinds on purpose: on Discord a thread shares the id of the message that it
/// grew from, the `@everyone` role that of its guild, and a forum post that of its first message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Id(NonZeroU64);

impl Id {
    /// The millisecond at which this id was made, as far as its bits say.
    #[must_use]
    pub fn created(self) -> Moment {
        Moment::from_ms((self.0.get() >> LOW_BITS) + DISCORD_EPOCH_MS)
    }

    /// The number itself; never zero.
    #[must_use]
    pub fn get(self) -> u64 {
        self.0.get()
    }
}

impl fmt::Display for Id {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl Serialize for Id {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// A text that is no snowflake: empty, not decimal, zero, or above 64 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not a snowflake")]
pub struct NotAnId;

impl FromStr for Id {
    type Err = NotAnId;

    fn from_str(text: &str) -> Result<Self, NotAnId> {
        if !text.bytes().all(|byte| byte.is_ascii_digit()) {
            return Err(NotAnId);
        }
        text.parse().map(Self).map_err(|_| NotAnId)
    }
}

impl Id {
    /// An id in a body. Discord writes strings, and takes numbers as well; discord.py sends them.
    pub(crate) fn of(value: &serde_json::Value) -> Option<Self> {
        match value.as_u64() {
            Some(number) => NonZeroU64::new(number).map(Self),
            None => value.as_str()?.parse().ok(),
        }
    }
}

/// Makes ids: time in the high bits, the seed below it, then a counter.
#[derive(Debug)]
pub(crate) struct IdSource {
    worker: u64,
    last: u64,
}

impl IdSource {
    /// A source whose ids depend on nothing but `seed` and the moments it is asked at.
    pub(crate) fn new(seed: u64) -> Self {
        Self {
            worker: (seed % 1024) << 12,
            last: 0,
        }
    }

    /// The next id. It is above all earlier ones even when the clock was moved back.
    pub(crate) fn next(&mut self, now: Moment) -> Id {
        let since = now.as_ms().saturating_sub(DISCORD_EPOCH_MS);
        let wanted = (since << LOW_BITS) | self.worker;
        self.last = wanted.max(self.last + 1);
        Id(NonZeroU64::new(self.last).expect("the last id is at least one"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_rise_even_when_the_clock_goes_back() {
        let mut source = IdSource::new(7);
        let late = source.next(Moment::from_ms(1_700_000_000_000));
        let early = source.next(Moment::from_ms(1_600_000_000_000));
        assert!(early > late);
        assert_eq!(late.created(), Moment::from_ms(1_700_000_000_000));
    }

    #[test]
    fn the_same_seed_and_clock_give_the_same_ids() {
        let run = |seed| {
            let mut source = IdSource::new(seed);
            [1, 1, 2].map(|ms| source.next(Moment::from_ms(1_700_000_000_000 + ms)))
        };
        assert_eq!(run(3), run(3));
        assert_ne!(run(3), run(4));
    }

    #[test]
    fn only_positive_decimal_numbers_are_ids() {
        for text in ["", "0", "-1", "+5", "1x", " 1", "18446744073709551616"] {
            assert_eq!(text.parse::<Id>(), Err(NotAnId), "{text:?}");
        }
        assert_eq!("42".parse::<Id>().map(Id::get), Ok(42));
    }
}
