//! What is judged while it happens, by the machine's own memory of what a process was told.
//!
//! In: each input before it is fed, each step before it is carried out. Out: entries in the ledger,
//! and violations that can be seen at once. Never: anything that changes the run.

use super::Machine;
use crate::{
    discord::paste_of, ledger::By, plan::Shape, settings::may_speak, violation::Invariant,
};
use guildhall_authority::event::Said;
use guildhall_binding::ids::MessageId;
use guildhall_connector::{
    ids::RowId,
    input::{Found, Input, Learned, Order},
    moment::{Brake, Moment},
    record::{Owner, Record, RowRecord},
    run::{RunEvent, RunOutcome},
    step::{StartRun, Step},
};
use std::collections::BTreeSet;

impl super::process::Process {
    /// A message was deleted: its row, where it waits, is not to be claimed any more.
    fn withdraw(&mut self, row: RowId) {
        let waits = self.rows.route.contains_key(&row);
        if waits && !self.rows.claimed.contains(&row) {
            self.withdrawn.insert(row);
        }
    }
}

impl Machine<'_> {
    /// Remembers what the process was told, by this machine's own reading.
    pub(super) fn remember(&mut self, input: &Input) {
        let Some(process) = &mut self.process else {
            return;
        };
        let id = process.id;
        let versions = |message: MessageId| {
            let said = self.discord.messages.get(&message.get());
            said.map_or(0, |said| said.texts.len().saturating_sub(1))
        };
        let version_of = |said: &Said| {
            let known = self.discord.messages.get(&said.id.get());
            known.and_then(|known| {
                known
                    .texts
                    .iter()
                    .position(|text| text == said.text.as_str())
            })
        };
        let mut tell = |said: &Said| {
            let version = version_of(said).unwrap_or_else(|| versions(said.id));
            let told = process.told.entry(said.id.get()).or_insert(version);
            *told = (*told).max(version);
        };
        match input {
            Input::Said(said) => {
                tell(said);
                self.ledger.feed(id, said.id.get(), By::Event);
            }
            Input::Edited(edited) => tell(&edited.said),
            Input::Deleted(deleted) => {
                process.withdraw(RowId::Message(deleted.id));
            }
            Input::Learned(Learned::History(_, Found::Here(page))) => {
                for said in &page.said {
                    self.ledger.feed(id, said.id.get(), By::Page);
                }
            }
            Input::Run(row, RunEvent::Ended(ended)) => {
                if let RunOutcome::Answered(texts) = &ended.outcome {
                    let texts = texts.iter().map(|text| text.as_str().to_owned()).collect();
                    self.ledger.answers.entry(*row).or_insert(texts);
                }
            }
            Input::Ordered(Order::Reload(..)) => process.variant = self.variant,
            Input::Started(_)
            | Input::Link(_)
            | Input::Echoed(_)
            | Input::Learned(_)
            | Input::Sent(..)
            | Input::Eyes(..)
            | Input::Run(_, RunEvent::Progress(_))
            | Input::Ordered(_)
            | Input::Journal(_)
            | Input::Asked(_)
            | Input::AskGone(_)
            | Input::Pressed(_)
            | Input::CallBegins(_)
            | Input::CallEnds(_)
            | Input::CardEdited(..)
            | Input::Tick => {}
        }
    }

    /// Judges what was decided, at the moment it was.
    pub(super) fn observe(&mut self, step: &Step, at: &Moment) {
        for record in &step.commit {
            self.note(|| format!("rec {} {}", record.log(), record.to_json()));
            self.ledger.decide(self.now, record);
            if let Record::Rows(RowRecord::Claimed { row, .. }) = record {
                self.judge_claim(*row, at);
            }
            let queued = matches!(record, Record::Rows(RowRecord::Queued { .. }));
            if queued && at.brakes.estop == Brake::On {
                self.blame(Invariant::Brake, "a row is queued under ESTOP".to_owned());
            }
            if let (Record::Rows(row), Some(process)) = (record, &mut self.process) {
                process.rows.apply(row);
            }
        }
        for entry in &step.spool {
            if let Some(process) = &mut self.process {
                let part = (entry.nonce, entry.text.clone());
                process.parts.insert((entry.row, entry.part), part);
            }
        }
    }

    fn judge_claim(&mut self, row: RowId, at: &Moment) {
        if at.brakes.stop == Brake::On || at.brakes.estop == Brake::On {
            self.blame(Invariant::Brake, format!("row {row} is claimed"));
        }
        let Some(process) = &mut self.process else {
            return;
        };
        let told = row.message().and_then(|id| process.told.get(&id.get()));
        process.claimed_with.insert(row, told.copied().unwrap_or(0));
        let said = row
            .message()
            .and_then(|id| self.discord.messages.get(&id.get()));
        let listed = said.is_some_and(|said| {
            let parent = self.discord.parent(said.channel);
            may_speak(process.variant, said.author, said.kind, parent)
        });
        let stuck: BTreeSet<_> = process
            .connector
            .status(at)
            .deliveries
            .iter()
            .filter(|open| open.step == "stuck")
            .filter_map(|open| match open.owner {
                Owner::Row(row) => Some(row),
                Owner::Notice(_) | Owner::Ask(_) => None,
            })
            .collect();
        let before = process.rows.before(row);
        let overtaken = before
            .iter()
            .find(|earlier| !stuck.contains(earlier))
            .copied();
        let withdrawn = process.withdrawn.contains(&row);
        if !listed {
            self.blame(Invariant::Stranger, format!("row {row} is claimed"));
        }
        if let Some(earlier) = overtaken {
            let about = format!("row {row} is claimed before {earlier} is settled");
            self.blame(Invariant::RouteOrder, about);
        }
        if withdrawn {
            self.blame(
                Invariant::Stale,
                format!("row {row} is claimed, and was deleted"),
            );
        }
    }

    /// The engine is asked what the message said when its turn began.
    pub(super) fn judge_text(&mut self, row: RowId, run: &StartRun) {
        let (Some(process), Some(id)) = (&self.process, row.message()) else {
            return;
        };
        let told = process.claimed_with.get(&row).copied().unwrap_or(0);
        let texts = self.discord.messages.get(&id.get()).map(|said| &said.texts);
        let asked = run.prompt.text.as_str();
        let current = texts
            .into_iter()
            .flatten()
            .skip(told)
            .any(|text| asked.contains(text.as_str()));
        let said = self.discord.messages.get(&id.get());
        let pasted = said.is_some_and(|said| said.shape == Shape::Paste);
        if pasted && !asked.contains(&paste_of(id.get())) && !asked.contains("not read") {
            let about = format!("row {row} runs without a word about its file");
            self.blame(Invariant::Stale, about);
        }
        if !current {
            let about = format!("row {row} runs with a text older than version {told}");
            self.blame(Invariant::Stale, about);
        }
    }

    /// Answers whose group came through a crash without their parts.
    pub(super) fn note_lost_spool(&mut self) {
        let answered = self
            .ledger
            .records
            .iter()
            .filter_map(|kept| match &kept.record {
                Record::Rows(RowRecord::Answered { row, .. }) => Some(*row),
                Record::Rows(_)
                | Record::Inbox(_)
                | Record::Admissions(_)
                | Record::Outbox(_)
                | Record::Drops(_)
                | Record::Notices(_)
                | Record::Reloads(_)
                | Record::Approvals(_)
                | Record::Calls(_)
                | Record::Turns(_) => None,
            });
        let open = answered.filter(|row| self.ledger.durable_rows.claimed.contains(row));
        let lost: Vec<_> = open.filter(|row| !self.disk.has_spooled(*row)).collect();
        self.ledger.spool_lost.extend(lost);
    }
}
