//! Calls of tools, as both sides of the journal name them.
//!
//! In: what the host knows of a call. Out: what is recorded of it. Never: an argument's text beside
//! path, URL or query, a result's text.

use crate::{ask::AskId, offer::ToolName, permit::EffectDigest, scope::TurnKey};
use serde::{Deserialize, Serialize};

/// What is written before a call changes anything. The paths and digests let a later process see
/// what became of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallBegun {
    /// Whose turn.
    pub turn: TurnKey,
    /// Which call, from 0.
    pub call: u32,
    /// Which tool.
    pub tool: ToolName,
    /// The root it works in.
    pub root: Option<String>,
    /// The path, branch or id.
    pub target: String,
    /// Digest of the exact effect.
    pub digest: EffectDigest,
    /// Hex SHA-256 of what will be there, where the effect is a file's content.
    pub after: Option<String>,
    /// The ask that allowed it; absent: the policy did.
    pub ask: Option<AskId>,
}

/// How a call ended that had begun to change something, or that was refused after a person had allowed
/// it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallEnded {
    /// Whose turn.
    pub turn: TurnKey,
    /// Which call.
    pub call: u32,
    /// How.
    pub end: CallEnd,
}

/// How a call ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CallEnd {
    /// As it was shown.
    Done,
    /// Nothing was changed.
    Refused {
        /// The refusal's code.
        why: String,
    },
    /// It may have been done.
    Unknown {
        /// Why that is not known.
        why: String,
    },
}

/// One tool call, as the turn record keeps it.
#[derive(Clone, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ToolUse {
    /// The tool's name.
    pub name: String,
    /// `done`, `refused`, `failed` or `unknown`.
    pub outcome: String,
    /// The refusal's code, where it was refused.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The root it worked in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub root: Option<String>,
    /// The path in the root, or what else it worked on there: a branch, an id.
    #[serde(default, alias = "target", skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// The URL that was fetched.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// What was searched for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub query: Option<String>,
    /// What a web server answered: its HTTP status.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<u16>,
    /// How many hits a web search gave.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hits: Option<u32>,
    /// Bytes read or written.
    #[serde(default)]
    pub bytes: u64,
    /// Milliseconds it took.
    #[serde(default, alias = "ms")]
    pub duration_ms: u64,
}
