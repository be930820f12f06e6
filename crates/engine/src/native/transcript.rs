//! A route's conversation with its model, on disk and as it is sent.
//!
//! In: the route's `native.jsonl`. Out: as many of the newest turns as fit a budget of tokens, and
//! one line more for each turn that came to something. Never: half a turn; a tool call without its
//! result; a turn that left nothing to remember.
//!
//! Tokens are estimated, since each model counts in its own way: one for every three bytes, rounded
//! up, and eight for each message. That is more than models need for European languages, and about
//! right for Chinese and Japanese.

mod line; // a turn as one line of the file
mod warm; // conversations that are kept in memory

pub(super) use line::{Exchange, KeptStep};
pub(super) use warm::Conversations;

use super::{
    api::{Called, Message, Step},
    calls::made_id,
};
use crate::session::{SessionError, SessionFile};
use line::Line;

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
/// The turn that is being answered may take so many times the budget of those before it: a file that
/// the model asked for is of use whole.
const TURN_BUDGETS: usize = 4;
/// A result is never cut below this many bytes.
const RESULT_MIN_BYTES: usize = 1_024;

/// Whether the model is told of tools: without them it is not shown calls either.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shown {
    /// Texts and calls.
    Calls,
    /// Texts alone.
    Texts,
}

/// What is sent.
pub(super) struct Sent {
    /// The messages; the first is a person's.
    pub(super) messages: Vec<Message>,
    /// Whether a smaller budget would make it smaller.
    pub(super) shrinks: bool,
}

/// The conversation of one route.
#[derive(Clone)]
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
    pub(super) fn read(file: SessionFile) -> Result<Self, SessionError> {
        let mut left_out = 0;
        let mut turns = Vec::new();
        for line in file.read::<Line>(READ_MAX_BYTES)? {
            match line {
                Line::LeftOut { turns } => left_out += turns,
                Line::Turn(turn) => turns.push(turn),
            }
        }
        Ok(Self {
            file,
            left_out,
            turns,
        })
    }

    /// The messages for a new ask: what fits `budget` tokens of the newest turns, then the ask and the
    /// steps that were made for it, which are always there. What was left out is named in a few words
    /// before the first of them, inside the same message, since some servers want the roles to
    /// alternate.
    pub(super) fn messages(
        &self,
        asked: &str,
        steps: &[Step],
        budget: usize,
        shown: Shown,
    ) -> Sent {
        let kept = self.fitting(budget.saturating_sub(estimate(asked)), shown);
        let dropped = &self.turns[..self.turns.len() - kept.len()];
        let mut messages = Vec::new();
        let mut number = 0;
        for turn in kept {
            messages.push(Message::User(turn.asked.clone()));
            match shown {
                Shown::Texts => messages.push(Message::Assistant(turn.texts())),
                Shown::Calls => {
                    let earlier = turn.steps.iter().map(|step| step.as_sent(&mut number));
                    messages.extend(earlier.map(Message::Step));
                    messages.push(Message::Assistant(turn.answered.clone()));
                }
            }
        }
        let note = note_of(self.left_out, dropped);
        messages.push(Message::User(asked.to_owned()));
        if let (Some(note), Some(Message::User(first))) = (note, messages.first_mut()) {
            *first = format!("{note}\n\n{first}");
        }
        let (steps, cut) = cut_to(steps, budget.saturating_mul(TURN_BUDGETS));
        messages.extend(steps.into_iter().map(Message::Step));
        Sent {
            shrinks: !kept.is_empty() || cut == Cut::CanBeShorter,
            messages,
        }
    }

    /// The newest turns that fit.
    fn fitting(&self, budget: usize, shown: Shown) -> &[Exchange] {
        let mut room = budget.saturating_sub(NAMED_TOKENS);
        let mut first = self.turns.len();
        while let Some(turn) = first.checked_sub(1).and_then(|at| self.turns.get(at)) {
            let cost = turn.tokens(shown);
            if cost > room {
                break;
            }
            room -= cost;
            first -= 1;
        }
        &self.turns[first..]
    }

    /// Adds a turn. A disk that refuses costs the memory of one turn, not its answer.
    fn keep(&mut self, turn: Exchange, budget: usize) {
        let kept = match self.file.bytes() {
            Ok(bytes) if bytes > FILE_MAX_BYTES => self.compact(&turn, budget),
            Ok(_) => self.file.append(&Line::Turn(turn.clone())),
            Err(error) => Err(error),
        };
        match kept {
            Ok(()) => self.turns.push(turn),
            Err(error) => tracing::error!(%error, "the native engine cannot write its session"),
        }
    }

    fn compact(&mut self, turn: &Exchange, budget: usize) -> Result<(), SessionError> {
        let fitting = self.fitting(budget, Shown::Calls).to_vec();
        let left_out = self.left_out + (self.turns.len() - fitting.len()) as u64;
        let mut lines = vec![Line::LeftOut { turns: left_out }];
        lines.extend(fitting.iter().cloned().map(Line::Turn));
        lines.push(Line::Turn(turn.clone()));
        self.file.replace(&lines)?;
        self.left_out = left_out;
        self.turns = fitting;
        Ok(())
    }
}

/// Estimated tokens of one message.
pub(super) fn estimate(text: &str) -> usize {
    text.len().div_ceil(3) + 8
}

/// Whether results could be cut more.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Cut {
    CanBeShorter,
    AsShortAsCanBe,
}

/// The steps of the turn that is being answered, each result cut to its share where all together are
/// over `budget` tokens.
fn cut_to(steps: &[Step], budget: usize) -> (Vec<Step>, Cut) {
    let mut steps = steps.to_vec();
    let calls = || steps.iter().flat_map(|step| &step.calls);
    let tokens: usize = calls()
        .map(|call| estimate(&call.result) + estimate(&call.arguments))
        .sum();
    let share = if tokens > budget {
        (budget.saturating_mul(3) / calls().count().max(1)).max(RESULT_MIN_BYTES)
    } else {
        usize::MAX
    };
    let mut cut = Cut::AsShortAsCanBe;
    for call in steps.iter_mut().flat_map(|step| &mut step.calls) {
        line::cut(&mut call.result, share);
        if call.result.len() > RESULT_MIN_BYTES * 2 {
            cut = Cut::CanBeShorter;
        }
    }
    (steps, cut)
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

impl KeptStep {
    /// The step as it is sent again. Ids of earlier turns are made anew: they may be of another
    /// provider.
    fn as_sent(&self, number: &mut u32) -> Step {
        let calls = self.calls.iter().map(|call| {
            *number += 1;
            Called {
                id: made_id("prev", *number),
                name: call.name.clone(),
                arguments: call.arguments.clone(),
                outcome: call.outcome.into(),
                result: call.result.clone(),
            }
        });
        Step {
            text: self.text.clone(),
            thoughts: Vec::new(),
            calls: calls.collect(),
        }
    }
}

#[cfg(test)]
mod tests;
