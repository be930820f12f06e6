//! Where a turn stands.
//!
//! In: channel ids. Out: a listed channel, and the thread in it where there is one. Never: a
//! thread without its parent.

use guildhall_binding::ids::ChannelId;
use std::{fmt, str::FromStr};

/// A listed channel, or a thread whose parent it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    /// The channel of the binding.
    pub channel: ChannelId,
    /// The thread, where the talk is in one.
    pub thread: Option<ChannelId>,
}

impl Place {
    /// The id that messages are posted to: the thread's, else the channel's.
    #[must_use]
    pub fn target(self) -> ChannelId {
        self.thread.unwrap_or(self.channel)
    }
}

/// As records hold it: `channel`, or `channel/thread`.
impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.thread {
            None => write!(f, "{}", self.channel),
            Some(thread) => write!(f, "{}/{thread}", self.channel),
        }
    }
}

/// Why a text is no place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not a place: a channel id, or a channel id, a slash and a thread id")]
pub struct NotAPlace;

impl FromStr for Place {
    type Err = NotAPlace;
    fn from_str(text: &str) -> Result<Self, NotAPlace> {
        let id = |part: &str| part.parse::<ChannelId>().map_err(|_| NotAPlace);
        match text.split_once('/') {
            None => Ok(Self {
                channel: id(text)?,
                thread: None,
            }),
            Some((channel, thread)) => Ok(Self {
                channel: id(channel)?,
                thread: Some(id(thread)?),
            }),
        }
    }
}

impl serde::Serialize for Place {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> serde::Deserialize<'de> for Place {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = std::borrow::Cow::<str>::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}

/// What is known of a channel id that the binding does not list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Whereabouts {
    /// A thread of this parent.
    ThreadOf(ChannelId),
    /// No thread: a channel that is not listed, or nothing that can be seen.
    NoThread,
}
