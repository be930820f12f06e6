//! What is known after a crash: a fold of records.
//!
//! In: records, in the order in which they became durable. Out: the open rows, deliveries, counts
//! and marks. Never: a second way to change this state. Live work and recovery share `apply`, so an
//! order of records that is illegal in one is illegal in the other.

mod asks;
mod delivery;

pub use asks::{Ask, AskEnd, Call, CallFate, ClosedAsk};
pub use delivery::{Delivery, DeliveryState};

use crate::{
    ids::{Nonce, Route, RowId},
    moment::{Day, Wall},
    record::{
        AdmissionRecord, Content, Descriptor, InboxRecord, NoticeKey, NoticeRecord, OutboxRecord,
        Owner, Record, RowRecord, RunSummary, Who,
    },
    seen::Seen,
};
use guildhall_authority::{ask::AskId, place::Place};
use guildhall_binding::ids::{ChannelId, MessageId};
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// Accepted messages are remembered as cursors for this many places; older places are not caught up.
pub(crate) const CURSORS_MAX_COUNT: usize = 1024;

/// Everything that survives a crash and is still open, or counted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Durable {
    /// This process, counted.
    pub(crate) epoch: u64,
    /// Every accepted row.
    pub(crate) seen: Seen,
    /// Open rows.
    pub(crate) rows: BTreeMap<RowId, Row>,
    /// Open rows of each route in order; the first may be claimed.
    pub(crate) queues: BTreeMap<Route, VecDeque<RowId>>,
    /// Deliveries whose owner is open.
    pub(crate) outbox: BTreeMap<Nonce, Delivery>,
    /// Turns of the newest day that had one.
    pub(crate) today: (Day, u32),
    /// What runs cost today, in millionths of a US dollar.
    pub(crate) spent_micro_usd: u64,
    /// Notices that were attempted today.
    pub(crate) notices: BTreeSet<NoticeKey>,
    /// Channels that are served, and since when.
    pub(crate) served: BTreeMap<ChannelId, Wall>,
    /// Newest accepted message of each place.
    pub(crate) cursors: BTreeMap<ChannelId, MessageId>,
    /// Routes of which nothing runs, with the reason.
    pub(crate) paused: BTreeMap<Route, String>,
    /// Asks whose card does not show their end yet.
    pub(crate) asks: BTreeMap<AskId, Ask>,
    /// The last asks that were closed, oldest first.
    pub(crate) closed: VecDeque<ClosedAsk>,
    /// Changing calls of open rows and open asks.
    pub(crate) calls: BTreeMap<(RowId, u32), Call>,
}

/// An open row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    /// Its route.
    pub route: Route,
    /// Which kind of work.
    pub descriptor: Descriptor,
    /// Who caused it.
    pub who: Who,
    /// Where its answer goes.
    pub place: Place,
    /// What it asks.
    pub content: Content,
    /// How far it is.
    pub state: RowState,
}

/// How far an open row is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RowState {
    /// It waits.
    Queued,
    /// Its engine run began.
    Claimed {
        /// In this process.
        epoch: u64,
    },
    /// The engine answered.
    Answered {
        /// In this process.
        epoch: u64,
        /// Parts to be posted.
        parts: u32,
        /// Code points that are not posted, where the answer was too long.
        left_out: Option<u64>,
        /// What the run cost.
        summary: RunSummary,
    },
}

impl RowState {
    /// The word for people.
    #[must_use]
    pub const fn word(&self) -> &'static str {
        match self {
            Self::Queued => "queued",
            Self::Claimed { .. } => "claimed",
            Self::Answered { .. } => "answered",
        }
    }
}

/// A record that does not fit the state before it: the log was written by somebody else.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum IllegalRecord {
    /// A row was queued twice.
    #[error("row {0} is queued twice")]
    QueuedTwice(RowId),
    /// A row moved that is not open, or not in the state for it.
    #[error("row {0} cannot be {1}")]
    Row(RowId, &'static str),
    /// A nonce was intended twice.
    #[error("delivery {0} is intended twice")]
    IntendedTwice(Nonce),
    /// A receipt came for a delivery that is not open.
    #[error("delivery {0} has no open intent")]
    NoIntent(Nonce),
    /// An epoch went backwards.
    #[error("epoch {0} does not follow")]
    Epoch(u64),
    /// An ask moved that is not in the state for it.
    #[error("ask {0} cannot be {1}")]
    Ask(AskId, &'static str),
    /// A call moved that is not in the state for it.
    #[error("call {1} of {0} cannot be {2}")]
    Call(RowId, u32, &'static str),
}

impl Durable {
    /// A state that has seen these messages and nothing else.
    #[must_use]
    pub fn with_seen(seen: Seen) -> Self {
        Self {
            seen,
            ..Self::default()
        }
    }

    /// Replaces the set of seen rows, which the inbox file alone holds whole.
    pub fn set_seen(&mut self, seen: Seen) {
        self.seen = seen;
    }

    /// Whether a row is open.
    #[must_use]
    pub fn is_open(&self, row: RowId) -> bool {
        self.rows.contains_key(&row)
    }

    /// Open rows, route by route in their order.
    pub fn open_rows(&self) -> impl Iterator<Item = (RowId, &Row)> {
        let ids = self.queues.values().flatten();
        ids.filter_map(|id| self.rows.get(id).map(|row| (*id, row)))
    }

    /// Deliveries that are not settled.
    pub fn open_deliveries(&self) -> impl Iterator<Item = (Nonce, &Delivery)> {
        let open = self
            .outbox
            .iter()
            .filter(|(_, delivery)| !delivery.state.has_ended());
        open.map(|(nonce, delivery)| (*nonce, delivery))
    }

    /// Applies one record.
    ///
    /// # Errors
    /// [`IllegalRecord`] where it does not fit the state; the state is then as it was.
    pub fn apply(&mut self, record: &Record) -> Result<(), IllegalRecord> {
        match record {
            Record::Inbox(InboxRecord::Seen { row, channel }) => {
                self.see(*row, *channel);
                Ok(())
            }
            Record::Admissions(AdmissionRecord::Admitted { day, .. }) => {
                self.enter(*day);
                self.today.1 += 1;
                Ok(())
            }
            Record::Rows(record) => self.apply_row(record),
            Record::Outbox(record) => self.apply_outbox(record),
            Record::Notices(NoticeRecord::Attempted { notice }) => {
                if let Some(day) = notice.day() {
                    self.enter(day);
                    self.notices.insert(*notice);
                }
                Ok(())
            }
            Record::Approvals(record) => self.apply_approval(record),
            Record::Calls(record) => self.apply_call(record),
            Record::Drops(_) | Record::Reloads(_) | Record::Turns(_) => Ok(()),
        }
    }

    fn see(&mut self, row: RowId, channel: Option<ChannelId>) {
        self.seen.insert(row);
        let (Some(channel), Some(message)) = (channel, row.message()) else {
            return;
        };
        let cursor = self.cursors.entry(channel).or_insert(message);
        *cursor = (*cursor).max(message);
        if self.cursors.len() > CURSORS_MAX_COUNT {
            let oldest = self
                .cursors
                .iter()
                .min_by_key(|(_, id)| **id)
                .map(|(place, _)| *place);
            oldest.map(|place| self.cursors.remove(&place));
        }
    }

    /// A new day forgets the counts and notices of the last.
    fn enter(&mut self, day: Day) {
        if day > self.today.0 {
            self.today = (day, 0);
            self.spent_micro_usd = 0;
            self.notices.retain(|notice| notice.day() >= Some(day));
        }
    }

    /// What an earlier day cost is of no use any more.
    fn spend(&mut self, day: Day, micro_usd: u64) {
        self.enter(day);
        if day == self.today.0 {
            self.spent_micro_usd = self.spent_micro_usd.saturating_add(micro_usd);
        }
    }

    fn apply_row(&mut self, record: &RowRecord) -> Result<(), IllegalRecord> {
        match record {
            RowRecord::Started { epoch } if *epoch > self.epoch => self.epoch = *epoch,
            RowRecord::Started { epoch } => return Err(IllegalRecord::Epoch(*epoch)),
            RowRecord::Served { channel, since } => {
                self.served.entry(*channel).or_insert(*since);
            }
            RowRecord::Queued { .. } => self.queue(record)?,
            RowRecord::Claimed { row, epoch } => {
                let open = self
                    .rows
                    .get_mut(row)
                    .ok_or(IllegalRecord::Row(*row, "claimed"))?;
                open.state = next_on_claim(*row, &open.state, *epoch)?;
            }
            RowRecord::Answered {
                row,
                parts,
                chars: _,
                left_out,
                summary,
            } => {
                let open = self
                    .rows
                    .get_mut(row)
                    .ok_or(IllegalRecord::Row(*row, "answered"))?;
                let RowState::Claimed { epoch } = open.state else {
                    return Err(IllegalRecord::Row(*row, "answered"));
                };
                let (parts, left_out, summary) = (*parts, *left_out, summary.clone());
                open.state = RowState::Answered {
                    epoch,
                    parts,
                    left_out,
                    summary,
                };
            }
            RowRecord::Spent { day, micro_usd, .. } => self.spend(*day, *micro_usd),
            RowRecord::Settled { row, .. } => self.settle(*row)?,
            RowRecord::RoutePaused { route, why } => {
                self.paused.insert(*route, why.clone());
            }
        }
        Ok(())
    }

    fn queue(&mut self, record: &RowRecord) -> Result<(), IllegalRecord> {
        let RowRecord::Queued {
            row,
            route,
            descriptor,
            who,
            place,
            content,
        } = record
        else {
            return Ok(());
        };
        if self.rows.contains_key(row) {
            return Err(IllegalRecord::QueuedTwice(*row));
        }
        let state = RowState::Queued;
        let (descriptor, who, content) = (descriptor.clone(), who.clone(), content.clone());
        let fresh = Row {
            route: *route,
            descriptor,
            who,
            place: *place,
            content,
            state,
        };
        self.rows.insert(*row, fresh);
        self.queues.entry(*route).or_default().push_back(*row);
        Ok(())
    }

    fn settle(&mut self, row: RowId) -> Result<(), IllegalRecord> {
        let gone = self
            .rows
            .remove(&row)
            .ok_or(IllegalRecord::Row(row, "settled"))?;
        if let Some(queue) = self.queues.get_mut(&gone.route) {
            queue.retain(|queued| *queued != row);
            if queue.is_empty() {
                self.queues.remove(&gone.route);
            }
        }
        self.outbox
            .retain(|_, delivery| delivery.owner != Owner::Row(row));
        self.forget_calls_of(row);
        Ok(())
    }

    fn apply_outbox(&mut self, record: &OutboxRecord) -> Result<(), IllegalRecord> {
        let (nonce, state) = match record {
            OutboxRecord::Intent { .. } => return self.intend(record),
            OutboxRecord::Confirmed { nonce, message, by } => (
                *nonce,
                DeliveryState::Confirmed {
                    message: *message,
                    by: *by,
                },
            ),
            OutboxRecord::Refused { nonce, why, code } => (
                *nonce,
                DeliveryState::Refused {
                    why: *why,
                    code: *code,
                },
            ),
            OutboxRecord::Unknown { nonce, .. } => (*nonce, DeliveryState::Unknown),
        };
        let delivery = self
            .outbox
            .get_mut(&nonce)
            .ok_or(IllegalRecord::NoIntent(nonce))?;
        if delivery.state.has_ended() {
            return Err(IllegalRecord::NoIntent(nonce));
        }
        delivery.state = state;
        let card = match (delivery.owner, state) {
            (Owner::Ask(ask), DeliveryState::Confirmed { message, .. }) => Some((ask, message)),
            (Owner::Ask(_) | Owner::Row(_) | Owner::Notice(_), _) => None,
        };
        if state.has_ended() && matches!(delivery.owner, Owner::Notice(_) | Owner::Ask(_)) {
            self.outbox.remove(&nonce);
        }
        if let Some((ask, message)) = card {
            self.card_confirmed(ask, message);
        }
        Ok(())
    }

    fn intend(&mut self, record: &OutboxRecord) -> Result<(), IllegalRecord> {
        let OutboxRecord::Intent {
            nonce,
            owner,
            purpose,
            part,
            of,
            class,
            place,
            reply_to,
            line,
            since,
        } = record
        else {
            return Ok(());
        };
        if self.outbox.contains_key(nonce) {
            return Err(IllegalRecord::IntendedTwice(*nonce));
        }
        let delivery = Delivery {
            owner: *owner,
            purpose: *purpose,
            part: *part,
            of: *of,
            class: *class,
            place: *place,
            reply_to: *reply_to,
            line: *line,
            since: *since,
            state: DeliveryState::Intended,
        };
        self.outbox.insert(*nonce, delivery);
        Ok(())
    }

    /// Turns counted for a day.
    #[must_use]
    pub fn turns_on(&self, day: Day) -> u32 {
        if self.today.0 == day { self.today.1 } else { 0 }
    }

    /// What the runs that ended on a day cost, in millionths of a US dollar.
    #[must_use]
    pub fn spent_on(&self, day: Day) -> u64 {
        if self.today.0 == day {
            self.spent_micro_usd
        } else {
            0
        }
    }

    /// The deliveries of a row, parts in order, its lines after them.
    pub fn deliveries_of(&self, row: RowId) -> impl Iterator<Item = (Nonce, &Delivery)> {
        let mut found: Vec<_> = self
            .outbox
            .iter()
            .filter(move |(_, delivery)| delivery.owner == Owner::Row(row))
            .map(|(nonce, delivery)| (*nonce, delivery))
            .collect();
        found.sort_by_key(|(_, delivery)| (delivery.purpose, delivery.part));
        found.into_iter()
    }
}

/// A queued row may be claimed once; a claim is never moved to another process.
fn next_on_claim(row: RowId, state: &RowState, epoch: u64) -> Result<RowState, IllegalRecord> {
    match state {
        RowState::Queued => Ok(RowState::Claimed { epoch }),
        RowState::Claimed { .. } | RowState::Answered { .. } => {
            Err(IllegalRecord::Row(row, "claimed"))
        }
    }
}

#[cfg(test)]
mod tests;
