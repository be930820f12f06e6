//! Records of asks.
//!
//! In: what became of a request for a person's permission. Out: the lines of `approvals.jsonl`.
//! Never: the content that was asked about; its digest says which it was.

use crate::{ids::RowId, moment::Wall};
use guildhall_authority::ask::{Answer, AskId};
use guildhall_binding::ids::{ChannelId, MessageId, UserId};
use serde::{Deserialize, Serialize};

/// The life of an ask.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "k", rename_all = "kebab-case", rename_all_fields = "camelCase")]
pub enum ApprovalRecord {
    /// A person is asked.
    Opened {
        /// The ask.
        ask: AskId,
        /// Whose turn.
        turn: RowId,
        /// Which call of the turn, from 0.
        call: u32,
        /// The tool's name.
        tool: String,
        /// What kind of effect: the name of the tool's set.
        class: String,
        /// Hex SHA-256 of the exact effect.
        digest: String,
        /// The channel or thread of the card.
        place: ChannelId,
        /// When no answer becomes a no.
        until: Wall,
        /// When it was asked.
        since: Wall,
    },
    /// The card stands in Discord.
    Posted {
        /// The ask.
        ask: AskId,
        /// As this message.
        message: MessageId,
    },
    /// It was answered: by a person, by the clock, or by a stop.
    Decided {
        /// The ask.
        ask: AskId,
        /// Who.
        by: Decider,
        /// By which way.
        via: Via,
        /// `once`, `denied`, `timed-out` or `stopped`.
        answer: Answer,
    },
    /// Its process died while it was open: its turn is over.
    Expired {
        /// The ask.
        ask: AskId,
    },
    /// Its card could not be delivered.
    Undelivered {
        /// The ask.
        ask: AskId,
    },
    /// Its turn, or its call, ended before anybody answered.
    Withdrawn {
        /// The ask.
        ask: AskId,
    },
    /// It was allowed, and its effect was refused before anything began: no call has a line for it.
    Refused {
        /// The ask.
        ask: AskId,
        /// The refusal's code.
        why: String,
    },
    /// Its card shows how it ended, or there is none: nothing is left to be done for it.
    Closed {
        /// The ask.
        ask: AskId,
    },
}

impl ApprovalRecord {
    /// Which ask.
    #[must_use]
    pub const fn ask(&self) -> AskId {
        match self {
            Self::Opened { ask, .. }
            | Self::Posted { ask, .. }
            | Self::Decided { ask, .. }
            | Self::Expired { ask }
            | Self::Undelivered { ask }
            | Self::Withdrawn { ask }
            | Self::Refused { ask, .. }
            | Self::Closed { ask } => *ask,
        }
    }
}

/// Who answered an ask: a person's id, or `terminal`, `deadline`, `stop`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decider {
    /// An operator on Discord.
    User(UserId),
    /// Whoever may use the machine's terminal.
    Terminal,
    /// Nobody, until the deadline.
    Deadline,
    /// A brake, or the end of the process.
    Stop,
}

impl Decider {
    const WORDS: [(Self, &'static str); 3] = [
        (Self::Terminal, "terminal"),
        (Self::Deadline, "deadline"),
        (Self::Stop, "stop"),
    ];
}

impl Serialize for Decider {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::User(id) => serializer.collect_str(id),
            Self::Terminal => serializer.serialize_str("terminal"),
            Self::Deadline => serializer.serialize_str("deadline"),
            Self::Stop => serializer.serialize_str("stop"),
        }
    }
}

impl<'de> Deserialize<'de> for Decider {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = std::borrow::Cow::<str>::deserialize(deserializer)?;
        let word = Self::WORDS.iter().find(|(_, word)| *word == text);
        match (word, text.parse()) {
            (Some((decider, _)), _) => Ok(*decider),
            (None, Ok(id)) => Ok(Self::User(id)),
            (None, Err(_)) => Err(serde::de::Error::custom("not who can decide")),
        }
    }
}

/// The way by which an answer came.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Via {
    /// A button of the card.
    Button,
    /// A reply to the card.
    Reply,
    /// The terminal.
    Terminal,
    /// The clock.
    Deadline,
    /// A brake, or the end of the process.
    Stop,
}
