//! A route's conversation with its model, on disk and as it is sent.
//!
//! In: the route's `native.jsonl`. Out: as many of the newest turns as fit a budget of tokens, and
//! one line more for each turn that was answered. Never: half a turn; a turn without an answer.
//!
//! Tokens are estimated, since each model counts in its own way: one for every three bytes, rounded
//! up, and eight for each message. That is more than models need for European languages, and about
//! right for Chinese and Japanese.

use super::api::{Message, Role};
use crate::session::{SessionError, SessionFile};
use serde::{Deserialize, Serialize};
use std::path::Path;

/// How much of a file is read, from its end; more than a file ever grows to.
const READ_MAX_BYTES: u64 = 8 * 1024 * 1024;
/// Past this size a file is written anew with the turns that fit the budget.
const FILE_MAX_BYTES: u64 = 1024 * 1024;
/// How many of the turns that were left out are named.
const NAMED_MAX: usize = 6;
/// How much of each is named, in characters.
const NAMED_MAX_CHARS: usize = 120;
/// Room for naming them, in tokens.
const NAMED_TOKENS: usize = NAMED_MAX * NAMED_MAX_CHARS * 4 / 3 + 64;

/// One line of the file.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "k", rename_all = "kebab-case", rename_all_fields = "camelCase")]
enum Line {
    /// A turn that was answered.
    Turn {
        /// Its id.
        turn: String,
        /// The envelope and the text.
        asked: String,
        /// What people were shown, or a note in its place.
        answered: String,
    },
    /// Turns that were compacted away before this line.
    LeftOut {
        /// How many.
        turns: u64,
    },
}

/// One turn that was answered.
#[derive(Clone, PartialEq, Eq)]
pub(super) struct Exchange {
    pub(super) turn: String,
    pub(super) asked: String,
    pub(super) answered: String,
}

/// The conversation of one route.
pub(super) struct Transcript {
    file: SessionFile,
    left_out: u64,
    turns: Vec<Exchange>,
}

impl Transcript {
    /// Reads the route's file.
    ///
    /// # Errors
    /// What the session says.
    pub(super) fn open(sessions: &Path, route: &str) -> Result<Self, SessionError> {
        let file = SessionFile::of(sessions, route, "native.jsonl")?;
        let mut left_out = 0;
        let mut turns = Vec::new();
        for line in file.read::<Line>(READ_MAX_BYTES)? {
            match line {
                Line::LeftOut { turns } => left_out += turns,
                Line::Turn {
                    turn,
                    asked,
                    answered,
                } => turns.push(Exchange {
                    turn,
                    asked,
                    answered,
                }),
            }
        }
        Ok(Self {
            file,
            left_out,
            turns,
        })
    }

    /// The messages for a new ask: what fits `budget` tokens of the newest turns, then the ask,
    /// which is always there. What was left out is named in a few words before the first of them,
    /// inside the same message, since some servers want the roles to alternate.
    pub(super) fn messages(&self, asked: &str, budget: usize) -> Vec<Message> {
        let kept = self.fitting(budget.saturating_sub(estimate(asked)));
        let dropped = &self.turns[..self.turns.len() - kept.len()];
        let mut messages = Vec::new();
        for turn in kept {
            messages.push(says(Role::User, &turn.asked));
            messages.push(says(Role::Assistant, &turn.answered));
        }
        messages.push(says(Role::User, asked));
        if let Some(note) = note_of(self.left_out, dropped) {
            messages[0].text = format!("{note}\n\n{}", messages[0].text);
        }
        messages
    }

    /// The newest turns that fit.
    fn fitting(&self, budget: usize) -> &[Exchange] {
        let mut room = budget.saturating_sub(NAMED_TOKENS);
        let mut first = self.turns.len();
        while let Some(turn) = first.checked_sub(1).and_then(|at| self.turns.get(at)) {
            let cost = estimate(&turn.asked) + estimate(&turn.answered);
            if cost > room {
                break;
            }
            room -= cost;
            first -= 1;
        }
        &self.turns[first..]
    }

    /// Adds a turn. A disk that refuses costs the memory of one turn, not its answer.
    pub(super) fn keep(&self, turn: Exchange, budget: usize) {
        let kept = match self.file.bytes() {
            Ok(bytes) if bytes > FILE_MAX_BYTES => self.compact(turn, budget),
            Ok(_) => self.file.append(&line_of(turn)),
            Err(error) => Err(error),
        };
        if let Err(error) = kept {
            tracing::error!(%error, "the native engine cannot write its session");
        }
    }

    fn compact(&self, turn: Exchange, budget: usize) -> Result<(), SessionError> {
        let fitting = self.fitting(budget);
        let dropped = self.turns.len() - fitting.len();
        let mut lines = vec![Line::LeftOut {
            turns: self.left_out + dropped as u64,
        }];
        lines.extend(fitting.iter().cloned().map(line_of));
        lines.push(line_of(turn));
        self.file.replace(&lines)
    }
}

/// Estimated tokens of one message.
pub(super) fn estimate(text: &str) -> usize {
    text.len().div_ceil(3) + 8
}

fn says(role: Role, text: &str) -> Message {
    Message {
        role,
        text: text.to_owned(),
    }
}

fn line_of(turn: Exchange) -> Line {
    Line::Turn {
        turn: turn.turn,
        asked: turn.asked,
        answered: turn.answered,
    }
}

fn note_of(left_out: u64, dropped: &[Exchange]) -> Option<String> {
    let turns = left_out + dropped.len() as u64;
    if turns == 0 {
        return None;
    }
    let mut note = format!("(Earlier turns of this conversation that are left out here: {turns}.");
    let named = &dropped[dropped.len().saturating_sub(NAMED_MAX)..];
    for turn in named {
        // The envelope is the first line; what was asked comes after it.
        let text = turn.asked.split_once('\n').map_or("", |(_, text)| text);
        let words: Vec<&str> = text.split_whitespace().collect();
        let cut: String = words.join(" ").chars().take(NAMED_MAX_CHARS).collect();
        note.push_str("\n> ");
        note.push_str(&cut);
    }
    note.push(')');
    Some(note)
}

#[cfg(test)]
mod tests;
