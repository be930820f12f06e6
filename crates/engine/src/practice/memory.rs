//! What was asked before on this route.
//!
//! In: the route's `practice.jsonl`. Out: the last asks, oldest first. Never: a turn that was not
//! answered, more than a bounded file.

use crate::{
    contract::RunRequest,
    envelope::Envelope,
    practice::words,
    session::{SessionError, SessionFile},
};
use serde::{Deserialize, Serialize};
use std::path::Path;

/// How much of the file is read, from its end.
const READ_MAX_BYTES: u64 = 64 * 1024;
/// Past this size the file is written anew with what was read of it.
const FILE_MAX_BYTES: u64 = 512 * 1024;
/// How much of one ask is kept.
const ASKED_MAX_CHARS: usize = 400;

/// One answered turn.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Asked {
    /// Its number on this route, from 1.
    pub(super) number: u64,
    /// The turn's id.
    pub(super) turn: String,
    /// Who asked: the envelope's `author_id`.
    pub(super) author: String,
    /// What was asked, cut.
    pub(super) text: String,
}

impl Asked {
    /// The turn that is being answered.
    pub(super) fn now(memory: &Memory, request: &RunRequest, envelope: &Envelope) -> Self {
        let text = words::asked(envelope, request.prompt.text.as_str());
        Self {
            number: memory.turns() + 1,
            turn: request.turn.clone(),
            author: envelope.get("author_id").unwrap_or_default().to_owned(),
            text: text.chars().take(ASKED_MAX_CHARS).collect(),
        }
    }
}

/// What the route's file says.
#[derive(Debug)]
pub(super) struct Memory {
    file: SessionFile,
    asked: Vec<Asked>,
}

impl Memory {
    /// Reads the route's file.
    ///
    /// # Errors
    /// What the session says.
    pub(super) fn recall(sessions: &Path, route: &str) -> Result<Self, SessionError> {
        let file = SessionFile::of(sessions, route, "practice.jsonl")?;
        let asked = file.read(READ_MAX_BYTES)?;
        Ok(Self { file, asked })
    }

    /// How many turns this route has had.
    pub(super) fn turns(&self) -> u64 {
        self.asked.last().map_or(0, |last| last.number)
    }

    /// What this author asked last.
    pub(super) fn last_of(&self, author: &str) -> Option<&Asked> {
        self.asked.iter().rev().find(|asked| asked.author == author)
    }

    /// Adds a turn. A disk that refuses costs the memory of one turn, not its answer.
    pub(super) fn keep(mut self, asked: Asked) {
        let kept = match self.file.bytes() {
            Ok(bytes) if bytes > FILE_MAX_BYTES => {
                self.asked.push(asked);
                self.file.replace(&self.asked)
            }
            Ok(_) => self.file.append(&asked),
            Err(error) => Err(error),
        };
        if let Err(error) = kept {
            tracing::error!(%error, "the practice engine cannot write its session");
        }
    }

    #[cfg(test)]
    pub(super) fn of(asked: Vec<Asked>) -> Self {
        Self {
            file: SessionFile::of(Path::new("/nowhere"), "seat", "practice.jsonl")
                .expect("a route"),
            asked,
        }
    }
}
