//! The state at a checkpoint: what a fresh segment begins with, so that a start reads one segment.
//!
//! In: the durable state. Out: a small header of counts and marks, and records that state again
//! what is open. Never: anything of a row that is settled.

use crate::{
    durable::{
        Ask, Call, CallFate, ClosedAsk, Delivery, DeliveryState, Durable, IllegalRecord, Row,
        RowState,
    },
    ids::{Nonce, Route, RowId},
    moment::{Day, Wall},
    record::{ApprovalRecord, CallRecord, NoticeKey, OutboxRecord, Record, RowRecord, UnknownWhy},
};
use guildhall_authority::ask::AskId;
use guildhall_binding::ids::{ChannelId, MessageId};
use serde::{Deserialize, Serialize};

/// Counts and marks that no open row holds.
#[derive(Clone, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Carry {
    epoch: u64,
    day: Day,
    turns: u32,
    micro_usd: u64,
    notices: Vec<NoticeKey>,
    served: Vec<(ChannelId, Wall)>,
    cursors: Vec<(ChannelId, MessageId)>,
    paused: Vec<(Route, String)>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    closed: Vec<ClosedAsk>,
}

/// A checkpoint's content.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Checkpoint {
    /// Goes into the segment's header.
    pub carry: Carry,
    /// Go into the segment's first lines, and into no named file.
    pub restated: Vec<Record>,
}

impl Durable {
    /// What a fresh segment has to begin with.
    #[must_use]
    pub fn checkpoint(&self) -> Checkpoint {
        let carry = Carry {
            epoch: self.epoch,
            day: self.today.0,
            turns: self.today.1,
            micro_usd: self.spent_micro_usd,
            notices: self.notices.iter().copied().collect(),
            served: self
                .served
                .iter()
                .map(|(id, since)| (*id, *since))
                .collect(),
            cursors: self
                .cursors
                .iter()
                .map(|(id, cursor)| (*id, *cursor))
                .collect(),
            paused: self
                .paused
                .iter()
                .map(|(route, why)| (*route, why.clone()))
                .collect(),
            closed: self.closed.iter().cloned().collect(),
        };
        // Rows come queue by queue, so that each route keeps its order.
        let rows = self.queues.values().flatten();
        let rows = rows.filter_map(|id| self.rows.get(id).map(|row| (*id, row)));
        let mut restated: Vec<_> = rows.flat_map(|(id, row)| restate_row(id, row)).collect();
        restated.extend(
            self.outbox
                .iter()
                .flat_map(|(nonce, it)| restate_delivery(*nonce, it)),
        );
        restated.extend(self.asks.iter().flat_map(|(id, ask)| restate_ask(*id, ask)));
        let calls = self.calls.iter();
        restated.extend(calls.flat_map(|(key, call)| restate_call(*key, call)));
        Checkpoint { carry, restated }
    }

    /// The state that a checkpoint's header describes; its restated records are applied after.
    /// The seen rows come from the inbox file.
    #[must_use]
    pub fn of_carry(carry: Carry) -> Self {
        Self {
            epoch: carry.epoch,
            today: (carry.day, carry.turns),
            spent_micro_usd: carry.micro_usd,
            notices: carry.notices.into_iter().collect(),
            served: carry.served.into_iter().collect(),
            cursors: carry.cursors.into_iter().collect(),
            paused: carry.paused.into_iter().collect(),
            closed: carry.closed.into(),
            ..Self::default()
        }
    }

    /// The state that a checkpoint describes.
    ///
    /// # Errors
    /// [`IllegalRecord`] where its records do not fit each other.
    pub fn of_checkpoint(checkpoint: Checkpoint) -> Result<Self, IllegalRecord> {
        let mut durable = Self::of_carry(checkpoint.carry);
        for record in &checkpoint.restated {
            durable.apply(record)?;
        }
        Ok(durable)
    }
}

fn restate_row(id: RowId, row: &Row) -> Vec<Record> {
    let queued = RowRecord::Queued {
        row: id,
        route: row.route,
        descriptor: row.descriptor.clone(),
        who: row.who.clone(),
        place: row.place,
        content: row.content.clone(),
    };
    let mut records = vec![queued];
    match &row.state {
        RowState::Queued => {}
        RowState::Claimed { epoch } => {
            records.push(RowRecord::Claimed {
                row: id,
                epoch: *epoch,
            });
        }
        RowState::Answered {
            epoch,
            parts,
            left_out,
            summary,
        } => {
            records.push(RowRecord::Claimed {
                row: id,
                epoch: *epoch,
            });
            let (parts, left_out, summary) = (*parts, *left_out, summary.clone());
            // The count of characters is for people; nothing that is open depends on it.
            records.push(RowRecord::Answered {
                row: id,
                parts,
                chars: 0,
                left_out,
                summary,
            });
        }
    }
    records.into_iter().map(Record::Rows).collect()
}

fn restate_delivery(nonce: Nonce, delivery: &Delivery) -> Vec<Record> {
    let intent = OutboxRecord::Intent {
        nonce,
        owner: delivery.owner,
        purpose: delivery.purpose,
        part: delivery.part,
        of: delivery.of,
        class: delivery.class,
        place: delivery.place,
        reply_to: delivery.reply_to,
        line: delivery.line,
        since: delivery.since,
    };
    let end = match delivery.state {
        DeliveryState::Intended => None,
        DeliveryState::Unknown => Some(OutboxRecord::Unknown {
            nonce,
            why: UnknownWhy::NoAnswer,
        }),
        DeliveryState::Confirmed { message, by } => {
            Some(OutboxRecord::Confirmed { nonce, message, by })
        }
        DeliveryState::Refused { why, code } => Some(OutboxRecord::Refused { nonce, why, code }),
    };
    std::iter::once(intent)
        .chain(end)
        .map(Record::Outbox)
        .collect()
}

fn restate_ask(id: AskId, ask: &Ask) -> Vec<Record> {
    let opened = ApprovalRecord::Opened {
        ask: id,
        turn: ask.turn,
        call: ask.call,
        tool: ask.tool.clone(),
        class: ask.class.clone(),
        digest: ask.digest.clone(),
        place: ask.place,
        until: ask.until,
        since: ask.since,
    };
    let posted = |message| ApprovalRecord::Posted { ask: id, message };
    let refused = ask.refused.clone();
    let refused = refused.map(|why| ApprovalRecord::Refused { ask: id, why });
    std::iter::once(opened)
        .chain(ask.message.map(posted))
        .chain(ask.end.map(|end| end.record(id)))
        .chain(refused)
        .map(Record::Approvals)
        .collect()
}

fn restate_call((turn, call): (RowId, u32), it: &Call) -> Vec<Record> {
    let begun = CallRecord::Begun {
        turn,
        call,
        tool: it.tool.clone(),
        root: it.root.clone(),
        target: it.target.clone(),
        digest: it.digest.clone(),
        after: it.after.clone(),
        ask: it.ask,
    };
    let end = it.end.clone().map(|end| match end {
        CallFate::Done(by) => CallRecord::Done { turn, call, by },
        CallFate::Refused(why) => CallRecord::Refused { turn, call, why },
        CallFate::Unknown(why) => CallRecord::Unknown { turn, call, why },
    });
    std::iter::once(begun)
        .chain(end)
        .map(Record::Calls)
        .collect()
}
