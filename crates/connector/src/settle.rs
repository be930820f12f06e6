//! What a row's deliveries call for next.
//!
//! In: an open row and its deliveries. Out: the next part, a fixed line, or the turn record and the
//! settled row. Never: a part after one that was refused, a second line of one purpose, a new part
//! in a place that the binding no longer lists.

use crate::{
    connector::{Connector, Out},
    delivery::NewDelivery,
    durable::{Delivery, DeliveryState, Row, RowState},
    ids::{Nonce, Route, RowId},
    line::Line,
    live::Active,
    record::{Origin, Owner, Purpose, Record, RefusedWhy, RowRecord, RunSummary, Settlement},
    step::Command,
    turn::{DeliveryRecord, EngineWork, TurnRecord},
};
use guildhall_authority::admission::{Located, locate};

/// What comes next for a claimed row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Next {
    /// A delivery is under way.
    Wait,
    /// Post this part.
    Part(u32),
    /// Say this line.
    Say(Purpose, Line),
    /// Settle it.
    End(Settlement, Option<&'static str>),
}

/// Does what comes next for a row.
pub(crate) fn deliver(connector: &mut Connector, out: &mut Out<'_>, row: RowId) {
    let Some(open) = connector.durable.rows.get(&row) else {
        return;
    };
    let route = open.route;
    let deliveries: Vec<_> = connector.durable.deliveries_of(row).collect();
    let listed = match locate(&connector.policy, &connector.facts, open.place.target()) {
        Located::Here(_) => true,
        Located::NotListed => false,
        // After a restart a thread's parent may not be known yet; its channel is on record.
        Located::Unknown => connector.policy.channels.contains_key(&open.place.channel),
    };
    let spooled = |part| {
        let nonce = connector.nonce(Owner::Row(row), Purpose::Answer, part);
        connector.live.spool.contains_key(&nonce)
    };
    let next = next(
        open,
        &deliveries,
        Place {
            listed,
            spooled: &spooled,
        },
    );
    match next {
        Next::Wait => hold_route(connector, route, row),
        Next::Part(part) => {
            hold_route(connector, route, row);
            post_part(connector, out, row, part);
        }
        Next::Say(purpose, line) => {
            hold_route(connector, route, row);
            connector.say_line(out, row, purpose, line);
        }
        Next::End(how, why) => settle(connector, out, row, how, why),
    }
}

/// The route is busy with this row's delivery; a parked row's route went on without it.
fn hold_route(connector: &mut Connector, route: Route, row: RowId) {
    if !connector.live.parked.contains(&row) {
        connector.live.routes.insert(route, Active::Delivering(row));
    }
}

struct Place<'a> {
    listed: bool,
    spooled: &'a dyn Fn(u32) -> bool,
}

fn next(open: &Row, deliveries: &[(Nonce, &Delivery)], place: Place<'_>) -> Next {
    if deliveries
        .iter()
        .any(|(_, delivery)| !delivery.state.has_ended())
    {
        return Next::Wait;
    }
    let of = |purpose| {
        deliveries
            .iter()
            .find(move |(_, d)| d.purpose == purpose)
            .map(|(_, d)| *d)
    };
    if let Some(line) = of(Purpose::Failure) {
        return end_of_failure(line.line);
    }
    if of(Purpose::Interrupted).is_some() {
        return Next::End(Settlement::Interrupted, Some("interrupted"));
    }
    match &open.state {
        // Nothing was answered and nothing failed: only a restart looks at such a row.
        RowState::Queued | RowState::Claimed { .. } => {
            Next::Say(Purpose::Interrupted, Line::Interrupted)
        }
        RowState::Answered {
            parts, left_out, ..
        } => next_of_answer(deliveries, of(Purpose::Cut), *parts, *left_out, place),
    }
}

fn next_of_answer(
    deliveries: &[(Nonce, &Delivery)],
    cut: Option<&Delivery>,
    parts: u32,
    left_out: Option<u64>,
    place: Place<'_>,
) -> Next {
    let answers = || {
        deliveries
            .iter()
            .filter(|(_, d)| d.purpose == Purpose::Answer)
    };
    let refused = answers().find_map(|(_, delivery)| match delivery.state {
        DeliveryState::Refused { why, .. } => Some(why),
        DeliveryState::Intended | DeliveryState::Unknown | DeliveryState::Confirmed { .. } => None,
    });
    let said = |line: Line| cut.is_some_and(|delivery| delivery.line == Some(line));
    if let Some(why) = refused {
        let nothing_arrived =
            answers().all(|(_, delivery)| matches!(delivery.state, DeliveryState::Refused { .. }));
        if why == RefusedWhy::Absent && nothing_arrived && place.listed && !(place.spooled)(1) {
            // The process died before the text was on disk, so nobody saw a beginning to cut.
            return Next::Say(Purpose::Interrupted, Line::Interrupted);
        }
        return if cut.is_some() || !worth_a_line(why) || !place.listed {
            Next::End(Settlement::Failed, Some(code_of(why)))
        } else {
            Next::Say(Purpose::Cut, Line::Cut)
        };
    }
    let posted = u32::try_from(answers().count()).unwrap_or(u32::MAX);
    if said(Line::Cut) {
        return Next::End(Settlement::Failed, Some("spool-lost"));
    }
    if posted < parts {
        let part = posted + 1;
        return match (place.listed, (place.spooled)(part), posted) {
            (false, _, _) => Next::End(Settlement::Failed, Some("not-listed")),
            (true, true, _) => Next::Part(part),
            (true, false, 0) => Next::Say(Purpose::Interrupted, Line::Interrupted),
            (true, false, _) => Next::Say(Purpose::Cut, Line::Cut),
        };
    }
    match left_out {
        Some(_) if cut.is_none() && place.listed => Next::Say(Purpose::Cut, Line::TooManyParts),
        Some(_) => Next::End(Settlement::Done, Some(Line::TooManyParts.code())),
        None => Next::End(Settlement::Done, None),
    }
}

fn end_of_failure(line: Option<Line>) -> Next {
    match line {
        Some(line @ (Line::Stopped | Line::Aborted)) => {
            Next::End(Settlement::Cancelled, Some(line.code()))
        }
        Some(line) => Next::End(Settlement::Failed, Some(line.code())),
        None => Next::End(Settlement::Failed, None),
    }
}

/// Whether another line could arrive where this "no" came from.
const fn worth_a_line(why: RefusedWhy) -> bool {
    match why {
        // A right that is missing for one part may be there for a short line: it costs one try.
        RefusedWhy::NoAccess | RefusedWhy::Content | RefusedWhy::Absent | RefusedWhy::Operator => {
            true
        }
        RefusedWhy::NotListed | RefusedWhy::Unauthorized | RefusedWhy::Void => false,
    }
}

const fn code_of(why: RefusedWhy) -> &'static str {
    match why {
        RefusedWhy::NoAccess => "no-access",
        RefusedWhy::Content => "content-refused",
        RefusedWhy::Absent => "absent",
        RefusedWhy::NotListed => "not-listed",
        RefusedWhy::Unauthorized => "unauthorized",
        RefusedWhy::Operator => "operator",
        RefusedWhy::Void => "void",
    }
}

fn post_part(connector: &mut Connector, out: &mut Out<'_>, row: RowId, part: u32) {
    let owner = Owner::Row(row);
    let nonce = connector.nonce(owner, Purpose::Answer, part);
    let Some(text) = connector.live.spool.get(&nonce).cloned() else {
        return;
    };
    let Some(open) = connector.durable.rows.get(&row) else {
        return;
    };
    let of = match open.state {
        RowState::Answered { parts, .. } => parts,
        RowState::Queued | RowState::Claimed { .. } => return,
    };
    let place = open.place.target();
    let reply_to = row.message().filter(|_| part == 1);
    let (purpose, line) = (Purpose::Answer, None);
    connector.intend(
        out,
        NewDelivery {
            owner,
            purpose,
            part,
            of,
            place,
            reply_to,
            line,
            text,
            card: None,
        },
    );
}

fn settle(
    connector: &mut Connector,
    out: &mut Out<'_>,
    row: RowId,
    how: Settlement,
    why: Option<&'static str>,
) {
    let Some(open) = connector.durable.rows.get(&row).cloned() else {
        return;
    };
    let delivery: Vec<_> = connector
        .durable
        .deliveries_of(row)
        .map(delivery_record)
        .collect();
    let notes = connector.take_notes(row);
    let mut timing = notes.timing;
    timing.settled = Some(out.at.wall);
    let (epoch, mut run) = match &open.state {
        RowState::Queued => (None, notes.summary),
        RowState::Claimed { epoch } => (Some(*epoch), notes.summary),
        RowState::Answered { epoch, summary, .. } => (Some(*epoch), summary.clone()),
    };
    if run.tools.is_empty() {
        // The process that knew all calls is gone: those that changed something are on record.
        run.tools = connector.calls_of(row);
    }
    let record = TurnRecord {
        id: row,
        route: open.route,
        origin: Origin::User,
        who: open.who,
        place: open.place,
        epoch,
        how,
        error: why.map(str::to_owned),
        timing,
        receipt: notes.receipt,
        changed: notes.changed,
        usage: run.usage,
        engine: EngineWork {
            turns: run.engine_turns,
        },
        tools: run.tools,
        delivery,
    };
    connector.commit(out, Record::Turns(Box::new(record)));
    let why = why.map(str::to_owned);
    connector.commit(out, Record::Rows(RowRecord::Settled { row, how, why }));
    connector.live.counts.turns += 1;
    if !connector.live.parked.remove(&row) {
        connector.live.routes.remove(&open.route);
    }
    if let RowState::Answered { parts, .. } = open.state {
        for part in 1..=parts {
            let nonce = connector.nonce(Owner::Row(row), Purpose::Answer, part);
            connector.live.spool.remove(&nonce);
        }
        out.later(Command::Forget(row));
    }
}

fn delivery_record((nonce, delivery): (Nonce, &Delivery)) -> DeliveryRecord {
    let (purpose, part) = (delivery.purpose, delivery.part);
    DeliveryRecord {
        nonce,
        purpose,
        part,
        outcome: delivery.state.outcome(),
    }
}

/// What a row whose cost is not known says.
impl RunSummary {
    /// Whether nothing is known of the run.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}
