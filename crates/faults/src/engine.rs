//! A model of an engine: runs that answer, fail, hang, or speak too late.
//!
//! In: rows to run, behaviours, aborts. Out: when a run says what. Never: a second run of its own
//! accord.

use crate::{discord::ENGINE_MARK, plan::Behaviour};
use guildhall_authority::event::MessageText;
use guildhall_connector::{
    ids::RowId,
    run::{Ended, Progress, RunEvent, RunOutcome, Usage},
};
use std::collections::{BTreeMap, BTreeSet};

/// What each run costs.
const RUN_MICRO_USD: u64 = 5;

/// What an engine says, and how many milliseconds from now.
pub(crate) type Says = Vec<(u64, RunEvent)>;

/// The runs of the process that lives.
#[derive(Debug, Default)]
pub(crate) struct Engine {
    runs: BTreeMap<RowId, Behaviour>,
    aborted: BTreeSet<RowId>,
}

impl Engine {
    /// A run begins; `quick_ms` is how long an ordinary one takes.
    pub(crate) fn start(&mut self, row: RowId, behaviour: Behaviour, quick_ms: u64) -> Says {
        self.runs.insert(row, behaviour);
        let answer = |texts: Vec<String>| {
            let texts = texts.into_iter().map(MessageText::new).collect();
            ended(RunOutcome::Answered(texts))
        };
        let progress = (quick_ms / 2, RunEvent::Progress(Progress::Text));
        match behaviour {
            Behaviour::Parts(count) => vec![progress, (quick_ms, answer(vec![parts(row, count)]))],
            Behaviour::Empty => vec![(quick_ms, answer(Vec::new()))],
            Behaviour::Unseen => vec![(quick_ms, answer(vec!["\u{200b}\u{2060}".to_owned()]))],
            Behaviour::TwoTexts => {
                let (one, two) = (parts(row, 1), parts(row, 2));
                vec![(quick_ms, answer(vec![one, two]))]
            }
            Behaviour::Slow(ms) => vec![(ms, answer(vec![parts(row, 1)]))],
            Behaviour::Fails(why) => vec![(quick_ms, ended(RunOutcome::Failed(why)))],
            Behaviour::AbortsItself => vec![(quick_ms, ended(RunOutcome::Aborted))],
            Behaviour::Never | Behaviour::AnswersAfterAbort(_) => Vec::new(),
            Behaviour::EndsTwice => {
                let again = answer(vec![format!("{ENGINE_MARK} {row} said too much")]);
                let once = answer(vec![parts(row, 1)]);
                vec![(quick_ms, once), (quick_ms + 1_500, again)]
            }
        }
    }

    /// Whether a run of this row has begun in the process that lives.
    pub(crate) fn runs(&self, row: RowId) -> bool {
        self.runs.contains_key(&row)
    }

    /// Whether it was told to end.
    pub(crate) fn aborted(&self, row: RowId) -> bool {
        self.aborted.contains(&row)
    }

    /// A run ended.
    pub(crate) fn over(&mut self, row: RowId) {
        self.aborted.insert(row);
    }

    /// A run is to end.
    pub(crate) fn abort(&mut self, row: RowId, quick_ms: u64) -> Says {
        self.aborted.insert(row);
        match self.runs.get(&row) {
            None | Some(Behaviour::Never) => Vec::new(),
            Some(Behaviour::AnswersAfterAbort(ms)) => {
                let texts = vec![MessageText::new(parts(row, 1))];
                vec![(*ms, ended(RunOutcome::Answered(texts)))]
            }
            Some(
                Behaviour::Parts(_)
                | Behaviour::Empty
                | Behaviour::Unseen
                | Behaviour::TwoTexts
                | Behaviour::Slow(_)
                | Behaviour::Fails(_)
                | Behaviour::AbortsItself
                | Behaviour::EndsTwice,
            ) => vec![(quick_ms, ended(RunOutcome::Aborted))],
        }
    }

    /// The process died, and its engines with it.
    pub(crate) fn die(&mut self) {
        self.runs.clear();
        self.aborted.clear();
    }
}

fn ended(outcome: RunOutcome) -> RunEvent {
    RunEvent::Ended(Box::new(Ended {
        outcome,
        usage: Usage {
            micro_usd: RUN_MICRO_USD,
            ..Usage::default()
        },
        engine_turns: 1,
        tools: Vec::new(),
    }))
}

/// A text that is posted in so many parts: paragraphs, each more than half of one.
fn parts(row: RowId, count: u8) -> String {
    let paragraph = |index: u8| {
        let head = format!("{ENGINE_MARK} {row} part {index}");
        format!("{head} {}", "word ".repeat(20).trim_end())
    };
    let paragraphs: Vec<_> = (1..=count).map(paragraph).collect();
    paragraphs.join("\n\n")
}
