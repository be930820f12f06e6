//! Durable records: the only memory that survives a crash.
//!
//! In: what was decided. Out: one JSON object for one line of one log, and back. Never: the text of
//! a person's message, of a prompt or of a reply. A new kind or a changed meaning raises the
//! journal's version, since readers refuse what they do not know.

mod approval;
mod call;
mod notice;
mod outbox;
mod row;

pub use approval::{ApprovalRecord, Decider, Via};
pub use call::{CallRecord, DoneBy};
pub use notice::{NotAKey, NoticeKey, NoticeRecord};
pub use outbox::{ConfirmedBy, OutboxRecord, Owner, Purpose, RefusedWhy, UnknownWhy};
pub use row::{Content, Descriptor, RowRecord, RunSummary, Settlement};

use crate::{
    ids::{Route, RowId},
    moment::Day,
    turn::TurnRecord,
};
use guildhall_authority::admission::DropReason;
pub use guildhall_authority::scope::Origin;
use guildhall_binding::ids::{ChannelId, UserId};
use serde::{Deserialize, Serialize};

/// Version of the records that this program writes, and the newest that it reads.
///
/// The logs of asks and calls came within version 1: they are of its list of logs, no release had
/// written the version without them, and a reader that lacks them stops at the first card, whose
/// owner in the outbox it does not know. The same holds of an allowed ask's refusal.
pub const RECORD_VERSION: u64 = 1;

/// One record, by the log it belongs to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Record {
    /// `inbox.jsonl`
    Inbox(InboxRecord),
    /// `admissions.jsonl`
    Admissions(AdmissionRecord),
    /// `rows.jsonl`
    Rows(RowRecord),
    /// `outbox.jsonl`
    Outbox(OutboxRecord),
    /// `drops.jsonl`, for drops that change what is remembered; the others are not synced.
    Drops(DropLine),
    /// `notices.jsonl`
    Notices(NoticeRecord),
    /// `reloads.jsonl`
    Reloads(ReloadRecord),
    /// `approvals.jsonl`
    Approvals(ApprovalRecord),
    /// `calls.jsonl`
    Calls(CallRecord),
    /// `turns/<id>.json`, written once.
    Turns(Box<TurnRecord>),
}

/// An accepted message id.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "k", rename_all = "kebab-case", rename_all_fields = "camelCase")]
pub enum InboxRecord {
    /// This message, or this foreign work, will never be taken again.
    Seen {
        /// Its row.
        row: RowId,
        /// Where it was said.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        channel: Option<ChannelId>,
    },
}

/// An admitted turn.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "k", rename_all = "kebab-case", rename_all_fields = "camelCase")]
pub enum AdmissionRecord {
    /// The row counts against the day's turns.
    Admitted {
        /// The row.
        row: RowId,
        /// Its route.
        route: Route,
        /// `user`, `peer`, `plugin` or `schedule`.
        origin: Origin,
        /// Who caused it.
        who: Who,
        /// Where.
        channel: ChannelId,
        /// The day it counts for.
        day: Day,
        /// Digest of the policy that admitted it.
        policy: String,
    },
}

/// Who caused a row: a person's id, or `plugin:<id>` and the like.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Who {
    /// A Discord author.
    User(UserId),
    /// Anything else, by its own name.
    Other(String),
}

impl Who {
    /// The person, where it is one.
    #[must_use]
    pub const fn user(&self) -> Option<UserId> {
        match self {
            Self::User(id) => Some(*id),
            Self::Other(_) => None,
        }
    }
}

impl Serialize for Who {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::User(id) => serializer.collect_str(id),
            Self::Other(name) => serializer.serialize_str(name),
        }
    }
}

impl<'de> Deserialize<'de> for Who {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Ok(text.parse().map_or(Self::Other(text), Self::User))
    }
}

/// One message that did not become a turn, or one row that was withdrawn.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "k", rename = "dropped", rename_all = "camelCase")]
pub struct DropLine {
    /// The message.
    pub message: RowId,
    /// Where.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub channel: Option<ChannelId>,
    /// Who wrote it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub author: Option<UserId>,
    /// Why.
    pub why: DropReason,
}

/// One reload attempt.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "k", rename_all = "kebab-case", rename_all_fields = "camelCase")]
pub enum ReloadRecord {
    /// The new policy is in force.
    Applied {
        /// SHA-256 of the file, as the waiting command compares it.
        file: String,
        /// What changed, by id.
        changes: Vec<String>,
    },
    /// The old policy stays.
    Refused {
        /// SHA-256 of the file, where it could be read.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        file: Option<String>,
        /// Why: the code of a reason, and the fields it is about.
        why: Vec<String>,
    },
}

/// A line of a log that is no record of this version.
#[derive(Debug, thiserror::Error)]
#[error("a line of {log} is no record of version {RECORD_VERSION}")]
pub struct BadRecord {
    /// The log.
    pub log: String,
    /// What the reader said.
    #[source]
    pub source: Option<serde_json::Error>,
}

impl Record {
    /// The log it belongs to.
    #[must_use]
    pub const fn log(&self) -> &'static str {
        match self {
            Self::Inbox(_) => "inbox",
            Self::Admissions(_) => "admissions",
            Self::Rows(_) => "rows",
            Self::Outbox(_) => "outbox",
            Self::Drops(_) => "drops",
            Self::Notices(_) => "notices",
            Self::Reloads(_) => "reloads",
            Self::Approvals(_) => "approvals",
            Self::Calls(_) => "calls",
            Self::Turns(_) => "turns",
        }
    }

    /// The record as one JSON object whose first key is `k`.
    #[must_use]
    pub fn to_json(&self) -> String {
        let text = match self {
            Self::Inbox(record) => serde_json::to_string(record),
            Self::Admissions(record) => serde_json::to_string(record),
            Self::Rows(record) => serde_json::to_string(record),
            Self::Outbox(record) => serde_json::to_string(record),
            Self::Drops(record) => serde_json::to_string(record),
            Self::Notices(record) => serde_json::to_string(record),
            Self::Reloads(record) => serde_json::to_string(record),
            Self::Approvals(record) => serde_json::to_string(record),
            Self::Calls(record) => serde_json::to_string(record),
            Self::Turns(record) => serde_json::to_string(record),
        };
        text.expect("records have text keys and no value that JSON lacks")
    }

    /// Reads a record of a log; fields that are not known are ignored.
    ///
    /// # Errors
    /// [`BadRecord`] for a log or a kind that this version does not know, or a broken object.
    pub fn parse(log: &str, json: &str) -> Result<Self, BadRecord> {
        let read = match log {
            "inbox" => serde_json::from_str(json).map(Self::Inbox),
            "admissions" => serde_json::from_str(json).map(Self::Admissions),
            "rows" => serde_json::from_str(json).map(Self::Rows),
            "outbox" => serde_json::from_str(json).map(Self::Outbox),
            "drops" => serde_json::from_str(json).map(Self::Drops),
            "notices" => serde_json::from_str(json).map(Self::Notices),
            "reloads" => serde_json::from_str(json).map(Self::Reloads),
            "approvals" => serde_json::from_str(json).map(Self::Approvals),
            "calls" => serde_json::from_str(json).map(Self::Calls),
            "turns" => serde_json::from_str(json).map(|record| Self::Turns(Box::new(record))),
            _ => {
                return Err(BadRecord {
                    log: log.to_owned(),
                    source: None,
                });
            }
        };
        read.map_err(|source| BadRecord {
            log: log.to_owned(),
            source: Some(source),
        })
    }
}

#[cfg(test)]
mod tests;
