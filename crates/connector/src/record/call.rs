//! Records of calls that change something.
//!
//! In: what the tool host tells before and after a change. Out: the lines of `calls.jsonl`. Never: a
//! call that changes nothing, an argument beside its target.

use crate::ids::RowId;
use guildhall_authority::ask::AskId;
use serde::{Deserialize, Serialize};

/// The life of a call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "k", rename_all = "kebab-case", rename_all_fields = "camelCase")]
pub enum CallRecord {
    /// It may change something from now on.
    Begun {
        /// Whose turn.
        turn: RowId,
        /// Which call of the turn, from 0.
        call: u32,
        /// The tool's name.
        tool: String,
        /// The root it works in.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        root: Option<String>,
        /// The path, branch or id.
        target: String,
        /// Hex SHA-256 of the exact effect.
        digest: String,
        /// Hex SHA-256 of what the file will hold, where the effect is one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        after: Option<String>,
        /// The ask that allowed it; absent: the policy did.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        ask: Option<AskId>,
    },
    /// It was done.
    Done {
        /// Whose turn.
        turn: RowId,
        /// Which call.
        call: u32,
        /// How that is known.
        by: DoneBy,
    },
    /// It changed nothing.
    Refused {
        /// Whose turn.
        turn: RowId,
        /// Which call.
        call: u32,
        /// The refusal's code.
        why: String,
    },
    /// It may have been done.
    Unknown {
        /// Whose turn.
        turn: RowId,
        /// Which call.
        call: u32,
        /// Why that is not known.
        why: String,
    },
}

impl CallRecord {
    /// Which call.
    #[must_use]
    pub const fn key(&self) -> (RowId, u32) {
        match self {
            Self::Begun { turn, call, .. }
            | Self::Done { turn, call, .. }
            | Self::Refused { turn, call, .. }
            | Self::Unknown { turn, call, .. } => (*turn, *call),
        }
    }
}

/// How a call is known to be done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum DoneBy {
    /// The host said so.
    Host,
    /// The file was looked at after a crash, and holds what it was to hold.
    Look,
}
