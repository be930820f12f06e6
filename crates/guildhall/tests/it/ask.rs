//! What people ask in these tests, and what the practice seat must answer.
//!
//! In: a number. Out: messages for a channel, and the answer of each. Never: an answer that two
//! different asks share, except for fixed lines.

use crate::hall::Hall;

/// How the fixed line after a crash begins.
const INTERRUPTED: &str = "I was interrupted while I worked on this";
/// How the fixed line of a failed turn begins.
const ENGINE_DIED: &str = "My engine stopped in the middle of this";

/// One ask.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ask {
    /// An answer of one part, with this number in it.
    Short(u64),
    /// An answer of several parts.
    Long,
    /// A turn that fails.
    Failing,
}

/// Messages that are said together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mix {
    Short,
    Parts,
    Failing,
    TwoRoutes,
    Burst,
}

/// A message that was said.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Said {
    pub(crate) row: u64,
    pub(crate) channel: &'static str,
    pub(crate) ask: Ask,
}

impl Ask {
    fn text(self) -> String {
        match self {
            Self::Short(number) => format!("say answer number {number}"),
            Self::Long => "count to 700".to_owned(),
            Self::Failing => "fail".to_owned(),
        }
    }

    /// Whether these parts, in order, are the whole answer.
    pub(crate) fn is_answered_by(self, parts: &[&str]) -> bool {
        match self {
            Self::Short(number) => *parts == [format!("answer number {number}")],
            Self::Long => {
                let numbers = parts.iter().flat_map(|part| part.split_whitespace());
                parts.len() > 2 && numbers.eq((1..=700).map(|n: u32| n.to_string()))
            }
            Self::Failing => false,
        }
    }

    /// Whether this is the fixed line of the turn.
    pub(crate) fn is_failed_by(self, line: &str) -> bool {
        self == Self::Failing && line.starts_with(ENGINE_DIED)
    }
}

/// Whether this is the fixed line after a crash.
pub(crate) fn is_interrupted_line(line: &str) -> bool {
    line.starts_with(INTERRUPTED)
}

impl Mix {
    pub(crate) const ALL: [Self; 5] = [
        Self::Short,
        Self::Parts,
        Self::Failing,
        Self::TwoRoutes,
        Self::Burst,
    ];

    /// Says it, in two channels at most.
    pub(crate) fn say(self, hall: &Hall, channels: [&'static str; 2], number: u64) -> Vec<Said> {
        let short = |nth: u64| Ask::Short(number * 10 + nth);
        let [one, two] = channels;
        let asks: Vec<(&'static str, Ask)> = match self {
            Self::Short => vec![(one, short(0))],
            Self::Parts => vec![(one, Ask::Long)],
            Self::Failing => vec![(one, Ask::Failing), (one, short(0))],
            Self::TwoRoutes => vec![(one, short(0)), (two, Ask::Long), (one, short(1))],
            Self::Burst => (0..5).map(|nth| (one, short(nth))).collect(),
        };
        let say = |(channel, ask): (&'static str, Ask)| Said {
            row: hall.say(channel, &ask.text()),
            channel,
            ask,
        };
        asks.into_iter().map(say).collect()
    }
}

/// Says one ask.
pub(crate) fn say(hall: &Hall, channel: &'static str, ask: Ask) -> Said {
    let row = hall.say(channel, &ask.text());
    Said { row, channel, ask }
}
