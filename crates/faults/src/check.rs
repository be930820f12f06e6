//! Judges a run once all is quiet.
//!
//! In: the ledger, the model Discord, the disk. Out: violations. Never: the connector's own opinion,
//! except for what it says is left over.

mod asks;
mod deliveries;
mod intake;
mod rows;

use crate::{
    discord::{ENGINE_MARK, Message, PERSON_MARK},
    ledger::Ledger,
    machine::Machine,
    violation::{Invariant, Violation},
};
use guildhall_authority::admission::DropReason;
use guildhall_connector::{
    ids::{Nonce, RowId},
    moment::Moment,
    record::{
        AdmissionRecord, InboxRecord, OutboxRecord, Record, RefusedWhy, RowRecord, Settlement,
    },
};
use std::collections::BTreeMap;

/// What the durable records say of one row.
#[derive(Debug, Default)]
struct Case {
    seen: u32,
    queued: u32,
    claimed: Vec<u64>,
    answered: Option<Answered>,
    settled: Vec<(Settlement, Option<String>, u64)>,
    turns: u32,
    dropped: Vec<DropReason>,
}

#[derive(Clone, Copy, Debug)]
struct Answered {
    parts: u32,
    left_out: Option<u64>,
}

/// What the durable records say of one delivery.
#[derive(Clone, Copy, Debug, Default)]
struct End {
    confirmed_ms: Option<u64>,
    refused: Option<(RefusedWhy, u64)>,
}

/// What is looked at, sorted for looking up.
struct Evidence<'m, 'p> {
    machine: &'m Machine<'p>,
    ledger: &'m Ledger,
    cases: BTreeMap<RowId, Case>,
    ends: BTreeMap<Nonce, End>,
    posted: BTreeMap<Nonce, Vec<&'m Message>>,
}

/// Adds what does not hold to the ledger.
pub(crate) fn judge(machine: &mut Machine<'_>) {
    let at = machine.moment();
    let found = {
        let evidence = Evidence::of(machine);
        let mut found = Vec::new();
        evidence.judge_intake(&mut found);
        evidence.judge_rows(&mut found);
        evidence.judge_deliveries(&mut found);
        evidence.judge_asks(&mut found);
        evidence.judge_rest(&at, &mut found);
        found
    };
    for (invariant, about) in found {
        machine.blame(invariant, about);
    }
}

type Found = Vec<(Invariant, String)>;

impl<'m, 'p> Evidence<'m, 'p> {
    fn of(machine: &'m Machine<'p>) -> Self {
        let ledger = &machine.ledger;
        let mut cases: BTreeMap<RowId, Case> = BTreeMap::new();
        let mut ends: BTreeMap<Nonce, End> = BTreeMap::new();
        for kept in &ledger.records {
            match &kept.record {
                Record::Inbox(InboxRecord::Seen { row, .. }) => {
                    cases.entry(*row).or_default().seen += 1;
                }
                Record::Drops(line) => {
                    cases
                        .entry(line.message)
                        .or_default()
                        .dropped
                        .push(line.why);
                }
                Record::Turns(turn) => cases.entry(turn.id).or_default().turns += 1,
                Record::Rows(record) => note_row(&mut cases, record, kept.at_ms),
                Record::Outbox(record) => note_end(&mut ends, record, kept.at_ms),
                Record::Admissions(AdmissionRecord::Admitted { .. })
                | Record::Notices(_)
                | Record::Reloads(_)
                | Record::Approvals(_)
                | Record::Calls(_) => {}
            }
        }
        let mut posted: BTreeMap<Nonce, Vec<&Message>> = BTreeMap::new();
        for message in machine.discord.messages.values() {
            if let Some(intent) = message.intent {
                posted.entry(intent).or_default().push(message);
            }
        }
        Self {
            machine,
            ledger,
            cases,
            ends,
            posted,
        }
    }

    /// What is left when all is quiet, and what is on disk.
    fn judge_rest(&self, at: &Moment, found: &mut Found) {
        for (log, json) in self.machine.disk.lines() {
            if json.contains(PERSON_MARK) || json.contains(ENGINE_MARK) {
                found.push((Invariant::TextOnDisk, format!("{log}: {json}")));
            }
        }
        let Some(process) = &self.machine.process else {
            found.push((Invariant::LeftOver, "no process is up".to_owned()));
            return;
        };
        let status = process.connector.status(at);
        let restated = process.connector.durable().checkpoint().restated;
        let clean = status.phase == "serving"
            && status.link == "up"
            && status.at_work.is_empty()
            && status.waiting.is_empty()
            && status.deliveries.is_empty()
            && status.undecided == 0
            && !process.connector.is_undecided()
            && process.outbound.is_idle()
            && restated.is_empty();
        if !clean {
            let about = format!("{status:?}, {} records to restate", restated.len());
            found.push((Invariant::LeftOver, about));
        }
        if self.machine.is_whole() && process.connector.durable() != self.machine.disk.shadow() {
            let about = "the connector's durable state is not what is on disk".to_owned();
            found.push((Invariant::Fold, about));
        }
    }
}

fn note_row(cases: &mut BTreeMap<RowId, Case>, record: &RowRecord, at_ms: u64) {
    match record {
        RowRecord::Queued { row, .. } => cases.entry(*row).or_default().queued += 1,
        RowRecord::Claimed { row, .. } => cases.entry(*row).or_default().claimed.push(at_ms),
        RowRecord::Answered {
            row,
            parts,
            left_out,
            ..
        } => {
            let (parts, left_out) = (*parts, *left_out);
            cases.entry(*row).or_default().answered = Some(Answered { parts, left_out });
        }
        RowRecord::Settled { row, how, why } => {
            let settled = (*how, why.clone(), at_ms);
            cases.entry(*row).or_default().settled.push(settled);
        }
        RowRecord::Started { .. }
        | RowRecord::Served { .. }
        | RowRecord::Spent { .. }
        | RowRecord::RoutePaused { .. } => {}
    }
}

fn note_end(ends: &mut BTreeMap<Nonce, End>, record: &OutboxRecord, at_ms: u64) {
    match record {
        OutboxRecord::Intent { .. } | OutboxRecord::Unknown { .. } => {}
        OutboxRecord::Confirmed { nonce, .. } => {
            let end = ends.entry(*nonce).or_default();
            end.confirmed_ms = end.confirmed_ms.or(Some(at_ms));
        }
        OutboxRecord::Refused { nonce, why, .. } => {
            let end = ends.entry(*nonce).or_default();
            end.refused = end.refused.or(Some((*why, at_ms)));
        }
    }
}

/// Whether anybody outside could see that something is wrong.
pub(crate) fn is_seen_outside(violations: &[Violation]) -> bool {
    let outward = |found: &Violation| found.invariant.side() == crate::violation::Side::Outward;
    violations.iter().any(outward)
}
