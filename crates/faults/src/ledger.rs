//! What the machine saw: the only ground that the invariants are judged on.
//!
//! In: decided and durable records, posts, runs, drop lines, deaths. Out: plain lists. Never: the
//! product's own memory, which may be what is wrong.

use crate::violation::{Invariant, Violation};
use guildhall_authority::{
    admission::DropReason,
    ask::{Answer, AskId},
};
use guildhall_connector::{
    ids::{Nonce, Route, RowId},
    line::Line,
    record::{ApprovalRecord, CallRecord, OutboxRecord, Owner, Purpose, Record, RowRecord},
};
use std::collections::{BTreeMap, BTreeSet};

/// A durable record.
#[derive(Clone, Debug)]
pub(crate) struct Kept {
    pub(crate) record: Record,
    pub(crate) at_ms: u64,
}

/// What an intent said.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Intent {
    pub(crate) owner: Owner,
    pub(crate) purpose: Purpose,
    pub(crate) part: u32,
    pub(crate) line: Option<Line>,
    pub(crate) at_ms: u64,
}

/// A line about a message that was not taken.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Dropped {
    pub(crate) message: RowId,
    pub(crate) why: DropReason,
    pub(crate) process: u32,
    pub(crate) kept: Flushed,
}

/// Whether a line got to the disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Flushed {
    Yes,
    No,
}

/// How a message came to a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum By {
    Event,
    Page,
}

/// Rows of each route that are not settled, in the order in which they were queued.
#[derive(Clone, Debug, Default)]
pub(crate) struct Rows {
    pub(crate) queues: BTreeMap<Route, Vec<RowId>>,
    pub(crate) route: BTreeMap<RowId, Route>,
    pub(crate) claimed: BTreeSet<RowId>,
}

impl Rows {
    pub(crate) fn apply(&mut self, record: &RowRecord) {
        match record {
            RowRecord::Queued { row, route, .. } => {
                self.queues.entry(*route).or_default().push(*row);
                self.route.insert(*row, *route);
            }
            RowRecord::Claimed { row, .. } => {
                self.claimed.insert(*row);
            }
            RowRecord::Settled { row, .. } => {
                self.claimed.remove(row);
                for queue in self.queues.values_mut() {
                    queue.retain(|queued| queued != row);
                }
            }
            RowRecord::Started { .. }
            | RowRecord::Served { .. }
            | RowRecord::Answered { .. }
            | RowRecord::Spent { .. }
            | RowRecord::RoutePaused { .. } => {}
        }
    }

    /// Rows that wait or are at work before this one on its route.
    pub(crate) fn before(&self, row: RowId) -> Vec<RowId> {
        let queue = self
            .route
            .get(&row)
            .and_then(|route| self.queues.get(route));
        let earlier = queue
            .into_iter()
            .flatten()
            .take_while(|queued| **queued != row);
        earlier.copied().collect()
    }

    /// The first row that is claimed, or that is not.
    pub(crate) fn first(&self, claimed: Claimed) -> Option<RowId> {
        let rows = self.queues.values().flatten();
        let wanted = claimed == Claimed::Yes;
        rows.copied()
            .find(|row| self.claimed.contains(row) == wanted)
    }
}

/// Whether a row is claimed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Claimed {
    Yes,
    No,
}

/// Everything that was seen.
#[derive(Debug, Default)]
pub(crate) struct Ledger {
    pub(crate) records: Vec<Kept>,
    pub(crate) durable_rows: Rows,
    pub(crate) durable_claims: BTreeSet<RowId>,
    pub(crate) durable_intents: BTreeSet<Nonce>,
    pub(crate) intents: BTreeMap<Nonce, Intent>,
    /// Runs that started, in order.
    pub(crate) starts: Vec<RowId>,
    pub(crate) dropped: Vec<Dropped>,
    pub(crate) fed: BTreeMap<u64, BTreeSet<(u32, By)>>,
    /// Messages of which a process was told before it drop line, so that it writes none.
    pub(crate) hinted: BTreeSet<(u32, u64)>,
    /// Each process's end.
    pub(crate) deaths: Vec<(u32, u64)>,
    /// What the engine answered to a row, as far as the connector was told.
    pub(crate) answers: BTreeMap<RowId, Vec<String>>,
    /// Rows whose parts were not in the spool though `answered` is durable.
    pub(crate) spool_lost: BTreeSet<RowId>,
    /// Deliveries to which Discord said no.
    pub(crate) noes: BTreeSet<Nonce>,
    /// Places whose history was refused.
    pub(crate) unread: BTreeSet<u64>,
    /// Asks whose allowance is durable.
    pub(crate) durable_allowed: BTreeSet<AskId>,
    /// Calls whose beginning is durable.
    pub(crate) durable_begun: BTreeSet<(RowId, u32)>,
    pub(crate) violations: Vec<Violation>,
}

impl Ledger {
    pub(crate) fn blame(&mut self, at_ms: u64, invariant: Invariant, about: String) {
        self.violations.push(Violation {
            invariant,
            at_ms,
            about,
        });
    }

    /// These records are durable now.
    pub(crate) fn keep(&mut self, at_ms: u64, records: Vec<Record>) {
        for record in records {
            match &record {
                Record::Rows(row) => {
                    self.durable_rows.apply(row);
                    if let RowRecord::Claimed { row, .. } = row {
                        self.durable_claims.insert(*row);
                    }
                }
                Record::Approvals(ApprovalRecord::Decided {
                    ask,
                    answer: Answer::Once,
                    ..
                }) => {
                    self.durable_allowed.insert(*ask);
                }
                Record::Calls(CallRecord::Begun { turn, call, .. }) => {
                    self.durable_begun.insert((*turn, *call));
                }
                Record::Outbox(OutboxRecord::Intent { nonce, .. }) => {
                    self.durable_intents.insert(*nonce);
                }
                Record::Outbox(_)
                | Record::Inbox(_)
                | Record::Admissions(_)
                | Record::Drops(_)
                | Record::Notices(_)
                | Record::Reloads(_)
                | Record::Approvals(_)
                | Record::Calls(_)
                | Record::Turns(_) => {}
            }
            self.records.push(Kept { record, at_ms });
        }
    }

    /// A record was decided; it may not become durable.
    pub(crate) fn decide(&mut self, at_ms: u64, record: &Record) {
        if let Record::Outbox(OutboxRecord::Intent {
            nonce,
            owner,
            purpose,
            part,
            line,
            ..
        }) = record
        {
            let intent = Intent {
                owner: *owner,
                purpose: *purpose,
                part: *part,
                line: *line,
                at_ms,
            };
            self.intents.entry(*nonce).or_insert(intent);
        }
    }

    pub(crate) fn feed(&mut self, process: u32, message: u64, by: By) {
        self.fed.entry(message).or_default().insert((process, by));
    }
}
