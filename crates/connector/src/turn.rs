//! The turn record: one write-once file that tells one turn's life.
//!
//! In: what is known when a row is settled. Out: `turns/<id>.json`. Never: a prompt, an answer.

use crate::{
    ids::{Nonce, Route, RowId},
    moment::Wall,
    record::{ConfirmedBy, Origin, Purpose, RefusedWhy, Settlement, Who},
    run::{ToolUse, Usage},
};
use guildhall_authority::place::Place;
use guildhall_binding::ids::MessageId;
use serde::{Deserialize, Serialize};

/// One turn, whole.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "k", rename = "turn", rename_all = "camelCase")]
pub struct TurnRecord {
    /// The row's id.
    pub id: RowId,
    /// Its route.
    pub route: Route,
    /// Who caused it, by kind.
    pub origin: Origin,
    /// Who caused it.
    pub who: Who,
    /// Where.
    pub place: Place,
    /// The process that claimed it; absent where none did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub epoch: Option<u64>,
    /// How it ended.
    pub how: Settlement,
    /// The reason's code, where there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// When things happened, as far as this process saw them.
    pub timing: Timing,
    /// Whether the read receipt stands.
    pub receipt: ReadReceipt,
    /// Whether the message was edited or deleted while the turn ran.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub changed: Vec<Changed>,
    /// Tokens and cost.
    pub usage: Usage,
    /// How much the engine worked.
    pub engine: EngineWork,
    /// One entry for each tool call.
    #[serde(default)]
    pub tools: Vec<ToolUse>,
    /// What was posted, in order.
    pub delivery: Vec<DeliveryRecord>,
}

/// How much an engine worked for one turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct EngineWork {
    /// How often it called its model.
    pub turns: u32,
}

/// When things happened; absent where another process saw it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Timing {
    /// The message was accepted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub accepted: Option<Wall>,
    /// Its engine run began.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub claimed: Option<Wall>,
    /// The engine ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended: Option<Wall>,
    /// The row was settled.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub settled: Option<Wall>,
}

/// What became of the eyes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(tag = "state", rename_all = "kebab-case")]
pub enum ReadReceipt {
    /// Discord has it.
    Shown,
    /// Discord refused it; that fails nothing.
    Refused {
        /// Discord's error code, where it gave one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        code: Option<u64>,
    },
    /// Nothing was heard of it.
    #[default]
    Unknown,
}

/// What a person did to a message after its turn began.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Changed {
    /// Edited.
    Edited,
    /// Deleted.
    Deleted,
}

/// One posted part or line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct DeliveryRecord {
    /// Its nonce.
    pub nonce: Nonce,
    /// What for.
    pub purpose: Purpose,
    /// Which part, from 1.
    pub part: u32,
    /// How it ended.
    pub outcome: DeliveryOutcome,
}

/// How one delivery ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "state", rename_all = "kebab-case")]
pub enum DeliveryOutcome {
    /// It stands in Discord.
    Confirmed {
        /// As this message, where its id is known.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        message: Option<MessageId>,
        /// How we know.
        by: ConfirmedBy,
    },
    /// It does not.
    Refused {
        /// Why.
        why: RefusedWhy,
        /// Discord's error code, where it gave one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        code: Option<u64>,
    },
    /// It was not settled when the row was.
    Open,
}
