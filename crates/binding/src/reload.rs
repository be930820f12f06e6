//! What a running process may take from an edited binding.
//!
//! In: the policy in force and the one of the edited file. Out: the differences by id, or every
//! field that keeps the old policy in force. Never: a change that gives work, which was admitted
//! under less, more authority than it had.
//!
//! Three kinds of fields: those an operator changes at will (`guildName`, `channels`, `users`,
//! `limits`, `discord.approvalMentions`), those that may only narrow (`tools`, `platformToolsets`,
//! `approvals` and the rest of `discord`), and those that are fixed with the process.

mod narrow;

use crate::{
    ids::{ChannelId, UserId},
    policy::{Limits, Policy},
};
use std::{collections::BTreeMap, fmt, time::Duration};

/// What differs, when all of it may be taken in place.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Change {
    /// Channels by id. A channel that was added is looked up at Discord before it is served.
    pub channels: Differences<ChannelId>,
    /// Users by id.
    pub users: Differences<UserId>,
    /// Limits by key, with the numbers before and after.
    pub limits: Vec<LimitChange>,
    /// Other keys that changed without giving anybody more: `guildName`, and what was narrowed,
    /// such as `tools.roots.notes`.
    pub other: Vec<String>,
}

impl Change {
    /// Whether both policies say the same.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// The entries of a list that differ, in the order of their ids.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Differences<Id> {
    /// In the new policy only.
    pub added: Vec<Id>,
    /// In the old policy only.
    pub removed: Vec<Id>,
    /// In both, with other settings.
    pub changed: Vec<Id>,
}

impl<Id> Default for Differences<Id> {
    fn default() -> Self {
        Self {
            added: Vec::new(),
            removed: Vec::new(),
            changed: Vec::new(),
        }
    }
}

/// One limit that differs. Numbers are in the unit of the key; `None` is no limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
pub struct LimitChange {
    /// The key in `limits`; `microUsdPerDay` for `usdPerDay`, in millionths of a dollar.
    pub limit: &'static str,
    /// The number in force.
    pub from: Option<u64>,
    /// The number of the edited file.
    pub to: Option<u64>,
}

/// The fields for which the process must be started anew; never empty.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct FixedChanged {
    /// Each of them once, in the order of the documentation.
    pub fields: Vec<FixedField>,
}

/// A field that may not change in place, or not in this way.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct FixedField {
    /// Its path, such as `engine` or `tools.roots.notes.write`.
    pub path: String,
    /// Why not.
    pub why: FixedWhy,
}

/// Why a field may not change in place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum FixedWhy {
    /// It is read once, when the process starts.
    Fixed,
    /// It may narrow in place, and this does more than that.
    Widens,
}

impl fmt::Display for FixedField {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let why = match self.why {
            FixedWhy::Fixed => "is fixed until the next start",
            FixedWhy::Widens => "would allow more than before, which needs a new start",
        };
        write!(f, "{} {why}", self.path)
    }
}

impl fmt::Display for FixedChanged {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut lines = self.fields.iter();
        if let Some(first) = lines.next() {
            write!(f, "{first}")?;
        }
        lines.try_for_each(|field| write!(f, "\n{field}"))
    }
}

impl std::error::Error for FixedChanged {}

/// Compares the policy in force with the one of the edited file.
///
/// The digests are not compared: a file that only looks different is no change.
///
/// # Errors
/// [`FixedChanged`]: every field for which the old policy stays in force. Nothing is taken then.
pub fn change(old: &Policy, new: &Policy) -> Result<Change, FixedChanged> {
    let mut verdict = Verdict::default();
    fixed(old, new, &mut verdict);
    if old.guild.name != new.guild.name {
        verdict.taken.push("guildName".to_owned());
    }
    narrow::tools(old.tools.as_ref(), new.tools.as_ref(), &mut verdict);
    narrow::platform_toolsets(old, new, &mut verdict);
    narrow::discord(&old.discord, &new.discord, &mut verdict);
    narrow::approvals(&old.approvals, &new.approvals, &mut verdict);
    if verdict.refused.is_empty() {
        Ok(Change {
            channels: differences(&old.channels, &new.channels),
            users: differences(&old.users, &new.users),
            limits: limits(&old.limits, &new.limits),
            other: verdict.taken,
        })
    } else {
        Err(FixedChanged {
            fields: verdict.refused,
        })
    }
}

/// What was found about the fields that are not free to change.
#[derive(Debug, Default)]
struct Verdict {
    taken: Vec<String>,
    refused: Vec<FixedField>,
}

/// How a field compares with what it was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Comparison {
    Same,
    Narrower,
    Wider,
}

impl Comparison {
    /// Of a setting that allows more the larger it is.
    fn of<T: Ord>(old: &T, new: &T) -> Self {
        match new.cmp(old) {
            std::cmp::Ordering::Less => Self::Narrower,
            std::cmp::Ordering::Equal => Self::Same,
            std::cmp::Ordering::Greater => Self::Wider,
        }
    }
}

impl Verdict {
    fn note(&mut self, path: impl Into<String>, comparison: Comparison) {
        match comparison {
            Comparison::Same => {}
            Comparison::Narrower => self.taken.push(path.into()),
            Comparison::Wider => self.refuse(path, FixedWhy::Widens),
        }
    }

    fn refuse(&mut self, path: impl Into<String>, why: FixedWhy) {
        self.refused.push(FixedField {
            path: path.into(),
            why,
        });
    }

    fn fix(&mut self, path: &str, same: Same) {
        match same {
            Same::Yes => {}
            Same::No => self.refuse(path, FixedWhy::Fixed),
        }
    }
}

/// Whether a fixed field is what it was.
#[derive(Clone, Copy, Debug)]
enum Same {
    Yes,
    No,
}

fn same<T: PartialEq>(old: &T, new: &T) -> Same {
    if old == new { Same::Yes } else { Same::No }
}

fn fixed(old: &Policy, new: &Policy, verdict: &mut Verdict) {
    verdict.fix("name", same(&old.name, &new.name));
    verdict.fix("seat", same(&old.seat, &new.seat));
    verdict.fix("guildId", same(&old.guild.id, &new.guild.id));
    verdict.fix("botUserId", same(&old.bot, &new.bot));
    verdict.fix("tokenFile", same(&old.token_file, &new.token_file));
    verdict.fix("engine", same(&old.engine, &new.engine));
    verdict.fix("context", same(&old.context_files, &new.context_files));
    verdict.fix("sessions", same(&old.scope, &new.scope));
}

fn differences<Id: Ord + Copy, T: PartialEq>(
    old: &BTreeMap<Id, T>,
    new: &BTreeMap<Id, T>,
) -> Differences<Id> {
    let only = |in_this: &BTreeMap<Id, T>, not_in: &BTreeMap<Id, T>| {
        let missing = in_this.keys().filter(|id| !not_in.contains_key(id));
        missing.copied().collect()
    };
    let is_other = |(id, entry): &(&Id, &T)| new.get(id).is_some_and(|now| now != *entry);
    Differences {
        added: only(new, old),
        removed: only(old, new),
        changed: old.iter().filter(is_other).map(|(id, _)| *id).collect(),
    }
}

fn limits(old: &Limits, new: &Limits) -> Vec<LimitChange> {
    let numbers = |limits: &Limits| {
        let seconds = |time: Duration| Some(time.as_secs());
        let count = |number: usize| u64::try_from(number).ok();
        [
            ("turnsPerDay", Some(limits.turns_per_day.into())),
            ("turnTimeoutSeconds", seconds(limits.turn_timeout)),
            ("replyChunkChars", count(limits.reply_chunk_chars)),
            ("inboundMaxChars", count(limits.inbound_max_chars)),
            ("catchUpSeconds", seconds(limits.catch_up)),
            ("parallelTurns", count(limits.parallel_turns)),
            ("queuedTurns", count(limits.queued_turns)),
            ("microUsdPerDay", limits.micro_usd_per_day),
        ]
    };
    let both = numbers(old).into_iter().zip(numbers(new));
    both.filter(|((_, from), (_, to))| from != to)
        .map(|((limit, from), (_, to))| LimitChange { limit, from, to })
        .collect()
}
