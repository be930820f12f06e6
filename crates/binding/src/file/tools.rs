//! The file's `tools` section as types.
//!
//! In and out as for the whole file. Never: a check.

use super::pattern;
use crate::{
    bounds::{
        LABEL_MAX_CHARS, MAX_CALLS_PER_TURN, MAX_FETCH_BYTES, MAX_FILE_BYTES, ROOTS_MAX,
        SETSPARK_TIMEOUT_MS, URL_MAX_CHARS,
    },
    policy::NAME_MAX_CHARS,
};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Serialize, Serializer};
use serde_json::Value;

/// What the engine may do.
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Tools {
    /// Directories that the file tools see; none lies inside another.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = ROOTS_MAX), extend("default" = []))]
    pub roots: Option<Vec<Root>>,
    /// Largest file that a tool reads or writes, in bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = MAX_FILE_BYTES.min, max = MAX_FILE_BYTES.max), extend("default" = MAX_FILE_BYTES.default))]
    pub max_file_bytes: Option<u64>,
    /// Tool calls in one turn.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = MAX_CALLS_PER_TURN.min, max = MAX_CALLS_PER_TURN.max), extend("default" = MAX_CALLS_PER_TURN.default))]
    pub max_calls_per_turn: Option<u64>,
    /// Tools that read web pages and search; without it there are none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub web: Option<Web>,
    /// The record service; without it there are no record tools.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub setspark: Option<SetSpark>,
    /// Reserved: not served by this version.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mcp: Option<Value>,
    /// Reserved: not served by this version.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub terminal: Option<Value>,
}

/// A directory that the file tools see.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Root {
    /// Its name towards the engine.
    #[schemars(length(max = NAME_MAX_CHARS), extend("pattern" = pattern::ROOT_NAME))]
    pub name: String,
    /// Where it is: an absolute path, not the home directory, without segments that begin with a
    /// dot, and apart from the data root.
    #[schemars(extend("pattern" = pattern::ABSOLUTE_PATH))]
    pub path: String,
    /// false: read only. true: tools may write. ask: each write needs a person's Allow Once.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("default" = false))]
    pub write: Option<Write>,
    /// Git in this root, which must be writable and a work tree.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub git: Option<Git>,
}

/// Whether tools may write in a root.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Write {
    /// `false`.
    No,
    /// `true`.
    Yes,
    /// `"ask"`.
    Ask,
}

impl Serialize for Write {
    fn serialize<S: Serializer>(&self, sink: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::No => sink.serialize_bool(false),
            Self::Yes => sink.serialize_bool(true),
            Self::Ask => sink.serialize_str("ask"),
        }
    }
}

impl JsonSchema for Write {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Write".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({"enum": [false, true, "ask"]})
    }
}

/// Git in a root.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Git {
    /// The only branch that the git tools work on.
    #[schemars(length(min = 1))]
    pub branch: String,
    /// The seat's name at the git server; it owns the locks too.
    #[schemars(length(max = NAME_MAX_CHARS), extend("pattern" = pattern::PRINCIPAL))]
    pub identity: String,
    /// Absolute path of the file with the seat's token: mode 0600, outside every root.
    #[schemars(extend("pattern" = pattern::ABSOLUTE_PATH))]
    pub token_file: String,
    /// The author of commits, as Name <address@host>.
    #[schemars(extend("pattern" = pattern::AUTHOR))]
    pub author: String,
    /// Locks and checks around changes; without it, plain commits.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub protocol: Option<GitProtocol>,
}

/// Locks and checks around changes.
#[derive(Clone, Copy, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum GitProtocol {
    /// The vault's own scripts.
    Vault,
}

/// Tools that read web pages and search.
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Web {
    /// A `SearXNG` instance: https, or http on this machine; without it there is no search.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = URL_MAX_CHARS), extend("format" = "uri", "pattern" = pattern::URL))]
    pub searxng: Option<String>,
    /// Largest page that is read, in bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = MAX_FETCH_BYTES.min, max = MAX_FETCH_BYTES.max), extend("default" = MAX_FETCH_BYTES.default))]
    pub max_fetch_bytes: Option<u64>,
}

/// The record service.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct SetSpark {
    /// Its origin: https, or http on this machine; no path.
    #[schemars(length(max = URL_MAX_CHARS), extend("format" = "uri", "pattern" = pattern::ORIGIN))]
    pub base_url: String,
    /// Absolute path of the file with the key: mode 0600, outside every root, read on each call.
    #[schemars(extend("pattern" = pattern::ABSOLUTE_PATH))]
    pub key_file: String,
    /// Who the seat is towards the service.
    #[schemars(length(max = LABEL_MAX_CHARS), extend("pattern" = pattern::PRINCIPAL))]
    pub principal: String,
    /// Longest call, in milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = SETSPARK_TIMEOUT_MS.min, max = SETSPARK_TIMEOUT_MS.max), extend("default" = SETSPARK_TIMEOUT_MS.default))]
    pub timeout_ms: Option<u64>,
}
