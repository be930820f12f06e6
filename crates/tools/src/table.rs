//! Every tool in one table: what it is for, its arguments, how long it may take.
//!
//! In: nothing. Out: rows, the JSON Schema that each gives, the check of arguments that each means.
//! Never: a tool without a row.
//!
//! The check reads the same rows as the schema, and a test holds the two against each other with a
//! validator of its own. A general validator in the product would bring some thirty packages for
//! flat objects of texts and flags.

mod files; // tools over roots and workspaces
mod git;
mod web;

use guildhall_authority::offer::ToolName;
use serde_json::{Map, Value, json};
use std::time::Duration;

/// How long a call of most tools may take; time in which a person is asked does not count.
const DEADLINE: Duration = Duration::from_secs(60);

/// One tool.
pub(crate) struct Row {
    /// For the model.
    pub(crate) description: &'static str,
    /// Its arguments.
    pub(crate) fields: &'static [Field],
    /// How long a call may take.
    pub(crate) deadline: Duration,
    /// How many bytes its arguments and its result may have.
    pub(crate) size: Size,
}

/// Bounds of a call's texts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Size {
    /// 64 KiB of arguments, 256 KiB of result.
    Fixed,
    /// What a file of the policy's size takes, however it is encoded.
    File,
}

/// One argument.
#[derive(Clone, Copy)]
pub(crate) struct Field {
    pub(crate) name: &'static str,
    pub(crate) kind: Kind,
    pub(crate) need: Need,
    /// For the model.
    pub(crate) about: &'static str,
}

/// What an argument may be.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Any text.
    Text,
    /// True or false.
    Flag,
    /// A list of texts.
    Texts,
}

/// Whether an argument may be left out.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Need {
    Must,
    May,
}

impl Kind {
    /// For the sentence of a refusal.
    pub(crate) const fn words(self) -> &'static str {
        match self {
            Self::Text => "a text",
            Self::Flag => "true or false",
            Self::Texts => "a list of texts",
        }
    }

    /// Whether a value is one.
    pub(crate) fn takes(self, value: &Value) -> bool {
        match self {
            Self::Text => value.is_string(),
            Self::Flag => value.is_boolean(),
            Self::Texts => value
                .as_array()
                .is_some_and(|list| list.iter().all(Value::is_string)),
        }
    }

    fn schema(self, about: &str) -> Value {
        match self {
            Self::Text => json!({"type": "string", "description": about}),
            Self::Flag => json!({"type": "boolean", "description": about}),
            Self::Texts => json!({
                "type": "array", "items": {"type": "string"}, "description": about,
            }),
        }
    }
}

const fn must(name: &'static str, about: &'static str) -> Field {
    Field {
        name,
        kind: Kind::Text,
        need: Need::Must,
        about,
    }
}

const fn may(name: &'static str, kind: Kind, about: &'static str) -> Field {
    Field {
        name,
        kind,
        need: Need::May,
        about,
    }
}

impl Row {
    /// The row of a tool.
    pub(crate) const fn of(tool: ToolName) -> &'static Self {
        match tool {
            ToolName::ListDir => &files::LIST_DIR,
            ToolName::ReadFile => &files::READ_FILE,
            ToolName::Search => &files::SEARCH,
            ToolName::WriteFile => &files::WRITE_FILE,
            ToolName::EditFile => &files::EDIT_FILE,
            ToolName::List => &files::LIST,
            ToolName::Read => &files::READ,
            ToolName::Create => &files::CREATE,
            ToolName::Edit => &files::EDIT,
            ToolName::WebFetch => &web::FETCH,
            ToolName::WebSearch => &web::SEARCH,
            ToolName::GitStatus => &git::STATUS,
            ToolName::GitCommit => &git::COMMIT,
            ToolName::GitPull => &git::PULL,
            ToolName::GitPush => &git::PUSH,
            ToolName::ReserveId => &git::RESERVE_ID,
        }
    }

    /// The JSON Schema of its arguments.
    pub(crate) fn schema(&self) -> Value {
        let properties: Map<String, Value> = self
            .fields
            .iter()
            .map(|field| (field.name.to_owned(), field.kind.schema(field.about)))
            .collect();
        let required: Vec<&str> = self
            .fields
            .iter()
            .filter(|field| field.need == Need::Must)
            .map(|field| field.name)
            .collect();
        json!({
            "type": "object",
            "properties": properties,
            "required": required,
            "additionalProperties": false,
        })
    }
}

#[cfg(test)]
mod tests;
