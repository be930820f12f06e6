//! Judges how each row ended, by what stands or stood in Discord.
//!
//! In: rows that were queued, what was posted for them. Out: rows that were not answered, answered
//! in part, or answered in two ways. Never: a row whose end is excused without a reason on record.

use super::{Answered, Case, Evidence, Found};
use crate::{discord::Message, violation::Invariant};
use guildhall_connector::{
    ids::RowId,
    line::Line,
    record::{Owner, Purpose, Settlement},
    reply::digest_text,
};
use std::collections::BTreeMap;

/// What was posted for one row.
#[derive(Default)]
struct Said<'m> {
    parts: BTreeMap<u32, Vec<&'m Message>>,
    lines: BTreeMap<Purpose, Vec<(&'m Message, Option<Line>)>>,
}

impl Said<'_> {
    fn count(&self, purpose: Purpose) -> usize {
        self.lines.get(&purpose).map_or(0, Vec::len)
    }
}

impl Evidence<'_, '_> {
    pub(super) fn judge_rows(&self, found: &mut Found) {
        for (row, case) in &self.cases {
            if case.queued > 0 {
                self.judge_row(*row, case, found);
            }
        }
        let mut runs: BTreeMap<RowId, u32> = BTreeMap::new();
        for row in &self.ledger.starts {
            *runs.entry(*row).or_default() += 1;
        }
        for (row, count) in runs.into_iter().filter(|(_, count)| *count > 1) {
            found.push((Invariant::RunTwice, format!("{row} ran {count} times")));
        }
    }

    fn judge_row(&self, row: RowId, case: &Case, found: &mut Found) {
        let [(how, why, _)] = case.settled.as_slice() else {
            let about = format!("{row} is settled {} times", case.settled.len());
            return found.push((Invariant::Answered, about));
        };
        let (claimed, turns) = (case.claimed.len(), case.turns as usize);
        if claimed > 1 || turns != claimed {
            let about = format!("{row} is claimed {claimed} times and has {turns} turn records");
            found.push((Invariant::TurnRecord, about));
        }
        let said = self.said(row);
        self.judge_words(row, &said, found);
        let why = why.as_deref();
        match (how, case.answered) {
            _ if claimed == 0 => {
                if !said.parts.is_empty() || !said.lines.is_empty() {
                    found.push((Invariant::Contradicted, format!("{row} was never claimed")));
                }
            }
            (Settlement::Done, Some(answered)) => self.judge_done(row, answered, &said, found),
            (Settlement::Failed, Some(answered)) => {
                self.judge_cut(row, answered, why, &said, found);
            }
            (Settlement::Failed | Settlement::Cancelled, None) => {
                self.judge_line(row, Purpose::Failure, &said, found);
            }
            (Settlement::Interrupted, answered) => {
                self.judge_interrupted(row, case, answered, &said, found);
            }
            (Settlement::Done, None) | (Settlement::Cancelled, Some(_)) => {
                found.push((Invariant::Answered, format!("{row} ended as {how:?}")));
            }
        }
    }

    fn said(&self, row: RowId) -> Said<'_> {
        let mut said = Said::default();
        for (nonce, messages) in &self.posted {
            let Some(intent) = self.ledger.intents.get(nonce) else {
                continue;
            };
            if intent.owner != Owner::Row(row) {
                continue;
            }
            for message in messages {
                match intent.purpose {
                    Purpose::Answer => said.parts.entry(intent.part).or_default().push(message),
                    Purpose::Failure
                    | Purpose::Interrupted
                    | Purpose::Cut
                    | Purpose::Notice
                    | Purpose::Card => {
                        let lines = said.lines.entry(intent.purpose).or_default();
                        lines.push((message, intent.line));
                    }
                }
            }
        }
        said
    }

    /// What holds however the row ended.
    fn judge_words(&self, row: RowId, said: &Said<'_>, found: &mut Found) {
        let answered = !said.parts.is_empty();
        let (failed, interrupted) = (
            said.count(Purpose::Failure) > 0,
            said.count(Purpose::Interrupted) > 0,
        );
        if u8::from(answered) + u8::from(failed) + u8::from(interrupted) > 1 {
            let about = format!(
                "{row} has {} parts, {} failure lines, {} interrupted lines",
                said.parts.len(),
                said.count(Purpose::Failure),
                said.count(Purpose::Interrupted)
            );
            found.push((Invariant::Contradicted, about));
        }
        for (message, line) in said.lines.values().flatten() {
            let right = line.is_some_and(|line| message.texts == [line.text()]);
            if !right {
                found.push((
                    Invariant::Answered,
                    format!("{row} got a line that is none"),
                ));
            }
        }
        let firsts = said.parts.values().filter_map(|posted| posted.first());
        let ids: Vec<_> = firsts.map(|message| message.id).collect();
        if !ids.is_sorted() {
            found.push((
                Invariant::PartOrder,
                format!("{row} got its parts out of order"),
            ));
        }
        let first = said.parts.get(&1).into_iter().flatten();
        let lines = said.lines.values().flatten().map(|(message, _)| message);
        let asked = row.message().map(|id| id.get());
        let stands = asked.is_some_and(|id| self.machine.discord.stands(id));
        for message in first.chain(lines) {
            if stands && message.replies_to != asked {
                found.push((
                    Invariant::Answered,
                    format!("{row} got a message that is no reply"),
                ));
            }
        }
    }

    fn judge_done(&self, row: RowId, answered: Answered, said: &Said<'_>, found: &mut Found) {
        let missing = (1..=answered.parts).find(|part| !said.parts.contains_key(part));
        if answered.parts == 0 || missing.is_some() {
            let about = format!("{row} is done, and part {missing:?} is missing");
            return found.push((Invariant::Answered, about));
        }
        let texts = said.parts.values().filter_map(|posted| posted.first());
        let got: String = texts
            .flat_map(|message| message.texts.first())
            .map(|text| digest_text(text))
            .collect();
        let want = digest_text(
            &self
                .ledger
                .answers
                .get(&row)
                .map_or(String::new(), |texts| texts.concat()),
        );
        let want = if want.is_empty() {
            digest_text(Line::EmptyAnswer.text())
        } else {
            want
        };
        let right = match answered.left_out {
            None => got == want,
            Some(_) => want.starts_with(&got) && !got.is_empty(),
        };
        if !right {
            found.push((
                Invariant::Answered,
                format!("{row} got another text than the answer"),
            ));
        }
        let cut = said.count(Purpose::Cut);
        let want = usize::from(answered.left_out.is_some());
        if cut > want || (cut < want && !self.is_refused(row, Purpose::Cut)) {
            let about = format!("{row} is done, and has {cut} lines that it was cut");
            found.push((Invariant::Contradicted, about));
        }
    }

    /// A reply that could not be posted whole.
    fn judge_cut(
        &self,
        row: RowId,
        answered: Answered,
        why: Option<&str>,
        said: &Said<'_>,
        found: &mut Found,
    ) {
        let why = why.unwrap_or("");
        let refused = self.first_refused(row);
        let excused = match why {
            "not-listed" => self
                .machine
                .plans(|action| matches!(action, crate::plan::Action::Reload(_))),
            "spool-lost" => self.is_spool_lost(row),
            _ => refused.is_some(),
        };
        if !excused {
            found.push((
                Invariant::Answered,
                format!("{row} was cut for {why}, without a reason"),
            ));
        }
        let last = said.parts.keys().last().copied().unwrap_or(0);
        if refused.is_some_and(|part| last > part) {
            let about = format!("{row} got part {last} though {refused:?} was refused");
            found.push((Invariant::Contradicted, about));
        }
        let silent = ["not-listed", "no-access", "unauthorized"].contains(&why);
        let cut = said.count(Purpose::Cut);
        let told = cut == 1 || self.is_refused(row, Purpose::Cut) || self.is_gone(row);
        if (!silent && !told) || cut > 1 {
            let about = format!("{row} was cut for {why}, and {cut} lines say so");
            found.push((Invariant::Answered, about));
        }
        let whole = (1..=answered.parts).all(|part| said.parts.contains_key(&part));
        if whole && cut > 0 && answered.left_out.is_none() && !self.some_part_was_deleted(said) {
            let about = format!("{row} was answered in full, and told that it was cut");
            found.push((Invariant::Contradicted, about));
        }
    }

    fn some_part_was_deleted(&self, said: &Said<'_>) -> bool {
        let mut parts = said.parts.values().flatten();
        parts.any(|message| message.deleted_ms.is_some())
    }

    /// Whether the place of a row is not listed any more, so that no line could be posted.
    fn is_gone(&self, row: RowId) -> bool {
        let place = row.message().and_then(|id| {
            let said = self.machine.discord.messages.get(&id.get())?;
            Some(self.machine.discord.parent(said.channel))
        });
        place.is_some_and(|parent| {
            parent == crate::settings::HELP || parent == crate::settings::ATTIC
        }) && self
            .machine
            .plans(|action| matches!(action, crate::plan::Action::Reload(_)))
    }

    fn judge_line(&self, row: RowId, purpose: Purpose, said: &Said<'_>, found: &mut Found) {
        let lines = said.count(purpose);
        if lines == 0 && !self.is_refused(row, purpose) {
            found.push((
                Invariant::Answered,
                format!("{row} was not told of its {purpose:?}"),
            ));
        }
    }

    fn judge_interrupted(
        &self,
        row: RowId,
        case: &Case,
        answered: Option<Answered>,
        said: &Said<'_>,
        found: &mut Found,
    ) {
        let claimed = case.claimed.first().copied().unwrap_or(0);
        let settled = case.settled.first().map_or(0, |(_, _, at_ms)| *at_ms);
        let mut deaths = self.ledger.deaths.iter();
        let died = deaths.any(|(_, at_ms)| (claimed..=settled).contains(at_ms));
        let excused = match answered {
            None => died,
            Some(_) => self.is_spool_lost(row),
        };
        if !excused {
            found.push((
                Invariant::Answered,
                format!("{row} was interrupted by nothing"),
            ));
        }
        self.judge_line(row, Purpose::Interrupted, said, found);
    }

    fn is_spool_lost(&self, row: RowId) -> bool {
        self.ledger.spool_lost.contains(&row)
    }

    fn is_refused(&self, row: RowId, purpose: Purpose) -> bool {
        self.refused(row, purpose).next().is_some()
    }

    fn refused(&self, row: RowId, purpose: Purpose) -> impl Iterator<Item = u32> {
        let intents = self.ledger.intents.iter();
        intents
            .filter(move |(_, intent)| intent.owner == Owner::Row(row) && intent.purpose == purpose)
            .filter(|(nonce, _)| {
                self.ends
                    .get(*nonce)
                    .is_some_and(|end| end.refused.is_some())
            })
            .map(|(_, intent)| intent.part)
    }

    fn first_refused(&self, row: RowId) -> Option<u32> {
        self.refused(row, Purpose::Answer).min()
    }
}
