//! Runs: what an engine reports, and what a turn makes of it.
//!
//! In: events of runs. Out: the answer's parts in the spool and the first intent, or a fixed line.
//! Never: a second end of a run, a text of a run that was aborted.

use crate::{
    connector::{Connector, Out},
    durable::AskEnd,
    ids::RowId,
    line::Line,
    live::{AbortWhy, Aborting},
    record::{Owner, Purpose, Record, RowRecord, RunSummary},
    reply,
    run::{Ended, RunEvent, RunFailure, RunOutcome},
    step::SpoolEntry,
};
use guildhall_authority::event::MessageText;
use std::sync::Arc;

/// Longest answer that is taken, in bytes.
const ANSWER_MAX_BYTES: usize = 1024 * 1024;

impl Connector {
    pub(crate) fn run_event(&mut self, out: &mut Out<'_>, row: RowId, event: RunEvent) {
        let aborting = match self.running(row) {
            Some(running) => running.aborting,
            None => {
                self.live.counts.ignored += 1;
                // A run that ends too late for its turn cost money all the same, once.
                if let RunEvent::Ended(ended) = event
                    && self.live.unended.remove(&row)
                {
                    self.spend(out, row, ended.usage.micro_usd);
                }
                return;
            }
        };
        match event {
            RunEvent::Progress(_) => {}
            RunEvent::Ended(ended) => self.run_ended(out, row, aborting, *ended),
        }
    }

    fn run_ended(
        &mut self,
        out: &mut Out<'_>,
        row: RowId,
        aborting: Option<Aborting>,
        ended: Ended,
    ) {
        self.end_asks_of(out, row, AskEnd::Withdrawn);
        let Ended {
            outcome,
            usage,
            engine_turns,
            tools,
        } = ended;
        let summary = RunSummary {
            usage,
            engine_turns,
            tools,
        };
        self.spend(out, row, usage.micro_usd);
        let notes = self.live.notes.entry(row).or_default();
        notes.summary = summary.clone();
        notes.timing.ended = Some(out.at.wall);
        match (aborting, outcome) {
            (Some(Aborting { why, .. }), _) => self.fail(out, row, line_of_abort(why)),
            (None, RunOutcome::Answered(texts)) => self.answered(out, row, summary, &texts),
            (None, RunOutcome::Failed(why)) => {
                let line = Line::of_failure(why);
                // Its words say that nothing was done.
                let denies = line == Line::RawToolCall && self.has_changed(row);
                let line = if denies { Line::RawToolCallLate } else { line };
                self.fail(out, row, line);
            }
            (None, RunOutcome::Aborted) => {
                self.fail(out, row, Line::of_failure(RunFailure::EngineDied));
            }
        }
        self.turn_over(out, row);
    }

    fn spend(&mut self, out: &mut Out<'_>, row: RowId, micro_usd: u64) {
        if micro_usd > 0 {
            let day = out.at.wall.day();
            let spent = RowRecord::Spent {
                row,
                day,
                micro_usd,
            };
            self.commit(out, Record::Rows(spent));
        }
    }

    fn answered(
        &mut self,
        out: &mut Out<'_>,
        row: RowId,
        summary: RunSummary,
        texts: &[MessageText],
    ) {
        let Some(running) = self.running(row) else {
            return;
        };
        let policy = Arc::clone(&running.policy);
        let answer = whole_answer(texts);
        if answer.len() > ANSWER_MAX_BYTES {
            return self.fail(out, row, Line::of_failure(RunFailure::TooLong));
        }
        let chars = reply::length(&answer) as u64;
        let chunk = policy.limits.reply_chunk_chars;
        let mut split = reply::split(&answer, chunk);
        if split.parts.is_empty() {
            // Nothing to see, though it need not be white space.
            split = reply::split(Line::EmptyAnswer.text(), chunk);
        }
        let left_out = match split.cut {
            reply::Cut::Whole => None,
            reply::Cut::Rest { chars_left_out } => Some(chars_left_out as u64),
        };
        let parts = u32::try_from(split.parts.len()).unwrap_or(u32::MAX);
        for (part, text) in (1..).zip(split.parts) {
            let nonce = self.nonce(Owner::Row(row), Purpose::Answer, part);
            self.live.spool.insert(nonce, text.clone());
            out.step.spool.push(SpoolEntry {
                row,
                part,
                nonce,
                text,
            });
        }
        let answered = RowRecord::Answered {
            row,
            parts,
            chars,
            left_out,
            summary,
        };
        self.commit(out, Record::Rows(answered));
        self.deliver(out, row);
    }

    /// Ends a turn without an answer: one fixed line, then the row is settled.
    pub(crate) fn fail(&mut self, out: &mut Out<'_>, row: RowId, line: Line) {
        self.say_line(out, row, Purpose::Failure, line);
        self.deliver(out, row);
    }
}

pub(crate) const fn line_of_abort(why: AbortWhy) -> Line {
    match why {
        AbortWhy::TimedOut => Line::TimedOut,
        AbortWhy::Estop => Line::Stopped,
        AbortWhy::Operator => Line::Aborted,
    }
}

/// All assistant texts in order, a blank line between; one that repeats the last is left out.
fn whole_answer(texts: &[MessageText]) -> String {
    let mut whole = String::new();
    let mut last: Option<&str> = None;
    for text in texts
        .iter()
        .map(MessageText::as_str)
        .filter(|text| !text.trim().is_empty())
    {
        if last == Some(text) {
            continue;
        }
        if last.is_some() {
            whole.push_str("\n\n");
        }
        whole.push_str(text);
        last = Some(text);
    }
    whole
}
