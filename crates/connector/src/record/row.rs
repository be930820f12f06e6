//! Records of rows and routes.
//!
//! In: what was decided about a row. Out: the lines of `rows.jsonl`. Never: a person's words.

use crate::{
    ids::{Route, RowId},
    moment::{Day, Wall},
    record::Who,
    run::{ToolUse, Usage},
};
use guildhall_authority::place::Place;
use guildhall_binding::ids::{ChannelId, MessageId};
use serde::{Deserialize, Serialize};
use std::fmt;

/// Which kind of work a row is. The match on it is exhaustive everywhere.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Descriptor {
    /// A person's message.
    Native,
    /// A note of a plugin that may open sessions.
    PluginOriginV1,
    /// An injection into an existing session.
    Automation,
    /// A peer's message.
    Peer,
    /// A schedule's tick.
    Schedule,
    /// A kind that this program does not know: its route is paused, nothing guesses.
    Unknown(String),
}

impl fmt::Display for Descriptor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Native => "native",
            Self::PluginOriginV1 => "plugin_origin_v1",
            Self::Automation => "automation",
            Self::Peer => "peer",
            Self::Schedule => "schedule",
            Self::Unknown(text) => text,
        })
    }
}

impl Serialize for Descriptor {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Descriptor {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Ok(match text.as_str() {
            "native" => Self::Native,
            "plugin_origin_v1" => Self::PluginOriginV1,
            "automation" => Self::Automation,
            "peer" => Self::Peer,
            "schedule" => Self::Schedule,
            _ => Self::Unknown(text),
        })
    }
}

/// What a row asks: a message to be read from Discord, or a text that nothing else holds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Content {
    /// A message of the row's place.
    Message(MessageId),
    /// A note's or a peer's text.
    Text(String),
}

/// The life of a row.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "k", rename_all = "kebab-case", rename_all_fields = "camelCase")]
pub enum RowRecord {
    /// The process came up; a claim of an older epoch belongs to a dead one.
    Started {
        /// One more than the last.
        epoch: u64,
    },
    /// This channel is served from now on; what was said before is not caught up.
    Served {
        /// The channel.
        channel: ChannelId,
        /// Since when.
        since: Wall,
    },
    /// A row waits on its route.
    Queued {
        /// The row.
        row: RowId,
        /// Its route.
        route: Route,
        /// Which kind of work.
        descriptor: Descriptor,
        /// Who caused it.
        who: Who,
        /// Where its answer goes.
        place: Place,
        /// What it asks.
        content: Content,
    },
    /// The row's engine run may begin.
    Claimed {
        /// The row.
        row: RowId,
        /// By which process.
        epoch: u64,
    },
    /// The engine answered; the reply's parts stand in the spool.
    Answered {
        /// The row.
        row: RowId,
        /// How many parts are to be posted.
        parts: u32,
        /// Code points of the whole answer.
        chars: u64,
        /// Whether the answer is longer than what is posted.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        left_out: Option<u64>,
        /// What the run cost, so that the turn record is whole after a crash.
        summary: RunSummary,
    },
    /// A run ended, and this is what the provider takes for it.
    Spent {
        /// The row.
        row: RowId,
        /// The day that it counts for.
        day: Day,
        /// Millionths of a US dollar.
        micro_usd: u64,
    },
    /// The row is over.
    Settled {
        /// The row.
        row: RowId,
        /// How.
        how: Settlement,
        /// The code of the reason, where there is one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        why: Option<String>,
    },
    /// Nothing of this route runs any more until somebody looks.
    RoutePaused {
        /// The route.
        route: Route,
        /// The code of the reason.
        why: String,
    },
}

/// What a run cost, as the turn record keeps it.
#[derive(Clone, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RunSummary {
    /// Tokens and cost.
    pub usage: Usage,
    /// How often the engine called its model.
    pub engine_turns: u32,
    /// One entry for each tool call.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tools: Vec<ToolUse>,
}

/// How a row ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Settlement {
    /// Answered, and the answer's delivery ended.
    Done,
    /// No answer; one fixed line said so.
    Failed,
    /// Withdrawn, refused or stopped.
    Cancelled,
    /// The process died while it ran.
    Interrupted,
}
