//! Notices: fixed lines that belong to no turn.
//!
//! In: what a notice is about. Out: its key, which is its owner in the outbox, and the lines of
//! `notices.jsonl`. Never: a second attempt where once a day is enough.

use crate::{line::Line, moment::Day};
use guildhall_binding::ids::{ChannelId, MessageId};
use serde::{Deserialize, Serialize};
use std::{fmt, str::FromStr};

/// What a notice is about, and for how long once is enough.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum NoticeKey {
    /// This message is too long.
    Oversize(MessageId),
    /// This message found the queue full.
    QueueFull(MessageId),
    /// The day's turns are used up.
    Ceiling(Day),
    /// The day's money is spent.
    CostCeiling(Day),
    /// ESTOP, once a channel and day.
    Estop(ChannelId, Day),
    /// No room, once a channel and day.
    NoRoom(ChannelId, Day),
    /// This message answers an ask, and its author may not.
    NotDecider(MessageId),
    /// This message answers an ask that is over.
    AskOver(MessageId),
}

impl NoticeKey {
    /// The day for which once is enough; `None` where the message's own id is the guard.
    #[must_use]
    pub const fn day(self) -> Option<Day> {
        match self {
            Self::Oversize(_) | Self::QueueFull(_) | Self::NotDecider(_) | Self::AskOver(_) => None,
            Self::Ceiling(day)
            | Self::CostCeiling(day)
            | Self::Estop(_, day)
            | Self::NoRoom(_, day) => Some(day),
        }
    }

    /// Whether it says that this message gets no answer. Without room the message is caught up
    /// later, and its reply is its answer.
    #[must_use]
    pub const fn is_about_the_message(self) -> bool {
        match self {
            Self::Oversize(_)
            | Self::QueueFull(_)
            | Self::Ceiling(_)
            | Self::CostCeiling(_)
            | Self::Estop(..)
            | Self::NotDecider(_)
            | Self::AskOver(_) => true,
            Self::NoRoom(..) => false,
        }
    }

    /// The line that it says.
    #[must_use]
    pub const fn line(self) -> Line {
        match self {
            Self::Oversize(_) => Line::Oversize,
            Self::QueueFull(_) => Line::QueueFull,
            Self::Ceiling(_) => Line::Ceiling,
            Self::CostCeiling(_) => Line::CostCeiling,
            Self::Estop(..) => Line::Estop,
            Self::NoRoom(..) => Line::NoRoom,
            Self::NotDecider(_) => Line::NotDecider,
            Self::AskOver(_) => Line::AskOver,
        }
    }
}

impl fmt::Display for NoticeKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Oversize(id) => write!(f, "oversize:{id}"),
            Self::QueueFull(id) => write!(f, "queue-full:{id}"),
            Self::Ceiling(day) => write!(f, "ceiling:{}", day.0),
            Self::CostCeiling(day) => write!(f, "cost-ceiling:{}", day.0),
            Self::Estop(channel, day) => write!(f, "estop:{channel}:{}", day.0),
            Self::NoRoom(channel, day) => write!(f, "no-room:{channel}:{}", day.0),
            Self::NotDecider(id) => write!(f, "not-decider:{id}"),
            Self::AskOver(id) => write!(f, "ask-over:{id}"),
        }
    }
}

/// Why a text is no notice's key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not a notice's key")]
pub struct NotAKey;

impl FromStr for NoticeKey {
    type Err = NotAKey;
    fn from_str(text: &str) -> Result<Self, NotAKey> {
        let mut fields = text.split(':');
        let kind = fields.next();
        let first = fields.next().ok_or(NotAKey)?;
        let second = fields.next();
        let message = || first.parse().map_err(|_| NotAKey);
        let channel = || first.parse().map_err(|_| NotAKey);
        let day = |text: Option<&str>| text.and_then(|t| t.parse().ok()).map(Day).ok_or(NotAKey);
        match kind {
            Some("oversize") => Ok(Self::Oversize(message()?)),
            Some("queue-full") => Ok(Self::QueueFull(message()?)),
            Some("ceiling") => Ok(Self::Ceiling(day(Some(first))?)),
            Some("cost-ceiling") => Ok(Self::CostCeiling(day(Some(first))?)),
            Some("estop") => Ok(Self::Estop(channel()?, day(second)?)),
            Some("no-room") => Ok(Self::NoRoom(channel()?, day(second)?)),
            Some("not-decider") => Ok(Self::NotDecider(message()?)),
            Some("ask-over") => Ok(Self::AskOver(message()?)),
            Some(_) | None => Err(NotAKey),
        }
    }
}

impl Serialize for NoticeKey {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for NoticeKey {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = std::borrow::Cow::<str>::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}

/// A notice that once a day is enough for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "k", rename_all = "kebab-case", rename_all_fields = "camelCase")]
pub enum NoticeRecord {
    /// It was attempted, and is not attempted again for its day.
    Attempted {
        /// Which.
        notice: NoticeKey,
    },
}
