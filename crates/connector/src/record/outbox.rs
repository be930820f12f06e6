//! Records of deliveries: an intent before each send, a receipt after it.
//!
//! In: what will be posted and what became of it. Out: the lines of `outbox.jsonl`. Never: the
//! text of a reply.

use crate::{
    ids::{Nonce, RowId},
    line::Line,
    moment::Wall,
    record::NoticeKey,
};
use guildhall_authority::ask::AskId;
use guildhall_binding::ids::{ChannelId, MessageId};
use serde::{Deserialize, Serialize};
use std::fmt;

/// What an intent is for. It is part of the nonce, so that no line swallows another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Purpose {
    /// A part of the engine's reply.
    Answer,
    /// The fixed line of a failed turn.
    Failure,
    /// The fixed line of an interrupted turn.
    Interrupted,
    /// The fixed line of a reply that was cut.
    Cut,
    /// A fixed line that belongs to no turn.
    Notice,
    /// The card of an ask.
    Card,
}

impl Purpose {
    /// The word in records and nonces.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Answer => "answer",
            Self::Failure => "failure",
            Self::Interrupted => "interrupted",
            Self::Cut => "cut",
            Self::Notice => "notice",
            Self::Card => "card",
        }
    }
}

/// Whose intent it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Owner {
    /// A row's.
    Row(RowId),
    /// A notice's.
    Notice(NoticeKey),
    /// An ask's.
    Ask(AskId),
}

impl fmt::Display for Owner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Row(row) => row.fmt(f),
            Self::Notice(key) => key.fmt(f),
            Self::Ask(ask) => write!(f, "ask:{ask}"),
        }
    }
}

impl Serialize for Owner {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Owner {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = std::borrow::Cow::<str>::deserialize(deserializer)?;
        if let Some(ask) = text.strip_prefix("ask:") {
            let ask = ask.parse().map_err(serde::de::Error::custom)?;
            return Ok(Self::Ask(ask));
        }
        let key = || text.parse().map(Self::Notice);
        text.parse()
            .map(Self::Row)
            .or_else(|_| key())
            .map_err(serde::de::Error::custom)
    }
}

/// An intent before a send, and the receipt after it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "k", rename_all = "kebab-case", rename_all_fields = "camelCase")]
pub enum OutboxRecord {
    /// This will be posted, and nothing else under this nonce.
    Intent {
        /// The nonce.
        nonce: Nonce,
        /// Whose it is.
        owner: Owner,
        /// What for.
        purpose: Purpose,
        /// Which part, from 1.
        part: u32,
        /// Of how many.
        of: u32,
        /// Which attempt class.
        class: u32,
        /// The channel or thread.
        place: ChannelId,
        /// The message that it replies to.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reply_to: Option<MessageId>,
        /// The fixed line, where it is one; a part of a reply stands in the spool.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        line: Option<Line>,
        /// When it was intended: the age that Discord's window is measured by.
        since: Wall,
    },
    /// It stands in Discord.
    Confirmed {
        /// The nonce.
        nonce: Nonce,
        /// As this message; absent where it was deleted before we learned its id.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        message: Option<MessageId>,
        /// How we know.
        by: ConfirmedBy,
    },
    /// It does not stand in Discord, and will not be sent again.
    Refused {
        /// The nonce.
        nonce: Nonce,
        /// Why.
        why: RefusedWhy,
        /// Discord's error code, where it gave one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        code: Option<u64>,
    },
    /// It may stand in Discord.
    Unknown {
        /// The nonce.
        nonce: Nonce,
        /// Why.
        why: UnknownWhy,
    },
}

/// How a delivery is known to have happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ConfirmedBy {
    /// Discord answered the first send.
    Answer,
    /// Discord answered a later send of the same nonce.
    Repeat,
    /// The message came back over the gateway with its nonce.
    Echo,
    /// It was found in the channel's history.
    ReadBack,
    /// It was posted, and deleted since.
    Deleted,
    /// Somebody pressed one of its buttons.
    Press,
    /// An operator said so.
    Operator,
}

/// Why a delivery did not happen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RefusedWhy {
    /// The bot may not post there.
    NoAccess,
    /// Discord does not take this content.
    Content,
    /// Outside the window, and the channel's history shows that it is not there.
    Absent,
    /// The binding no longer lists the place.
    NotListed,
    /// The token is not accepted any more.
    Unauthorized,
    /// An operator said so.
    Operator,
    /// What it was for is over, and it was not posted or not found.
    Void,
}

/// Why it is not known whether a delivery happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum UnknownWhy {
    /// The answer did not come.
    NoAnswer,
    /// Discord answered with a fault of its own.
    ServerFault,
}
