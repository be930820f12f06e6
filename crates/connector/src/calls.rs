//! Calls that change something: begun on disk before they may, and their ends.
//!
//! In: what the tool host tells of calls, what a file shows after a crash. Out: the leave to begin,
//! records of how calls ended. Never: a beginning in a turn that is over, one that a decision does not
//! cover to the letter.

use crate::{
    card::Carried,
    connector::{Connector, Out},
    durable::{Ask, Call, CallFate, RowState},
    ids::RowId,
    input::{FileSeen, Found},
    moment::Brake,
    record::{ApprovalRecord, CallRecord, DoneBy, Record},
    run::ToolUse,
    step::{Command, LookUp},
};
use guildhall_authority::call::{CallBegun, CallEnd, CallEnded};

impl Connector {
    /// Whether something was changed for a row, or may have been.
    pub(crate) fn has_changed(&self, row: RowId) -> bool {
        let of_row = self.durable.calls.range((row, 0)..=(row, u32::MAX));
        let mut ends = of_row.map(|(_, call)| call.end.as_ref());
        ends.any(|end| !matches!(end, Some(CallFate::Refused(_))))
    }

    /// A call is about to change something. Without an answer it may not.
    pub(crate) fn call_begins(&mut self, out: &mut Out<'_>, begun: CallBegun) {
        let Some(turn) = self.may_begin(out, &begun) else {
            self.live.counts.ignored += 1;
            return;
        };
        let CallBegun {
            turn: _,
            call,
            tool,
            root,
            target,
            digest,
            after,
            ask,
        } = begun;
        let record = CallRecord::Begun {
            turn,
            call,
            tool: tool.as_str().to_owned(),
            root,
            target,
            digest: digest.to_string(),
            after,
            ask,
        };
        self.commit(out, Record::Calls(record));
        out.later(Command::Begin { turn, call });
    }

    fn may_begin(&mut self, out: &Out<'_>, begun: &CallBegun) -> Option<RowId> {
        let turn: RowId = begun.turn.as_str().parse().ok()?;
        let lives = self
            .running(turn)
            .is_some_and(|running| running.aborting.is_none());
        let once = !self.durable.calls.contains_key(&(turn, begun.call));
        let allowed = begun.ask.is_none_or(|id| {
            let ask = self.durable.asks.get(&id);
            ask.is_some_and(|ask| {
                let same = (ask.turn, ask.call) == (turn, begun.call)
                    && ask.digest == begun.digest.to_string();
                same && ask.may_begin()
            })
        });
        let free = out.at.brakes.estop == Brake::Off;
        (lives && once && allowed && free).then_some(turn)
    }

    /// A call ended that had begun, or that a person had allowed. Its turn may have ended before it.
    pub(crate) fn call_ends(&mut self, out: &mut Out<'_>, ended: CallEnded) {
        let Ok(turn) = ended.turn.as_str().parse::<RowId>() else {
            self.live.counts.ignored += 1;
            return;
        };
        let call = ended.call;
        if !self.has_begun(turn, call) {
            return match ended.end {
                CallEnd::Refused { why } => self.never_begins(out, (turn, call), why),
                CallEnd::Done | CallEnd::Unknown { .. } => self.live.counts.ignored += 1,
            };
        }
        let record = match ended.end {
            CallEnd::Done => CallRecord::Done {
                turn,
                call,
                by: DoneBy::Host,
            },
            CallEnd::Refused { why } => CallRecord::Refused { turn, call, why },
            CallEnd::Unknown { why } => CallRecord::Unknown { turn, call, why },
        };
        self.end_call(out, record);
    }

    /// A call was refused, or given up, before it began. Where a person had allowed it, its ask keeps
    /// why: there is no call to say so.
    pub(crate) fn never_begins(&mut self, out: &mut Out<'_>, key: (RowId, u32), why: String) {
        let has_begun = self.durable.calls.contains_key(&key);
        let mut asks = self.durable.asks.iter();
        let ask = asks.find(|(_, ask)| (ask.turn, ask.call) == key && ask.may_begin());
        let Some(id) = ask.map(|(id, _)| *id).filter(|_| !has_begun) else {
            self.live.counts.ignored += 1;
            return;
        };
        let refused = ApprovalRecord::Refused { ask: id, why };
        self.commit(out, Record::Approvals(refused));
        self.advance_card(out, id);
    }

    fn has_begun(&self, turn: RowId, call: u32) -> bool {
        let call = self.durable.calls.get(&(turn, call));
        call.is_some_and(|call| call.end.is_none())
    }

    fn end_call(&mut self, out: &mut Out<'_>, record: CallRecord) {
        let ask = self
            .durable
            .calls
            .get(&record.key())
            .and_then(|call| call.ask);
        self.commit(out, Record::Calls(record));
        if let Some(ask) = ask {
            self.advance_card(out, ask);
        }
    }

    /// Calls that the last process had begun: a file is looked at, anything else stays unknown.
    pub(crate) fn take_up_calls(&mut self, out: &mut Out<'_>) {
        let begun = self.durable.calls.iter();
        let begun: Vec<_> = begun
            .filter(|(_, call)| call.end.is_none())
            .map(|(key, call)| (*key, call.clone()))
            .collect();
        for ((turn, call), it) in begun {
            match (it.root, it.after) {
                (Some(root), Some(after)) => out.now(Command::LookUp(LookUp::File {
                    turn,
                    call,
                    root,
                    path: it.target,
                    after,
                })),
                (None, _) | (_, None) => {
                    let why = "interrupted".to_owned();
                    self.end_call(out, CallRecord::Unknown { turn, call, why });
                }
            }
        }
    }

    /// What a file shows of a call that a dead process had begun.
    pub(crate) fn learned_file(
        &mut self,
        out: &mut Out<'_>,
        (turn, call): (RowId, u32),
        found: Found<FileSeen>,
    ) {
        if !self.has_begun(turn, call) {
            self.live.counts.ignored += 1;
            return;
        }
        let unknown = |why: &str| CallRecord::Unknown {
            turn,
            call,
            why: why.to_owned(),
        };
        let record = match found {
            Found::Here(FileSeen::AsMeant) => CallRecord::Done {
                turn,
                call,
                by: DoneBy::Look,
            },
            // It may have been written and changed since.
            Found::Here(FileSeen::Otherwise) => unknown("other-content"),
            Found::Nothing => unknown("no-file"),
            Found::NoAnswer => unknown("not-looked-at"),
        };
        self.end_call(out, record);
    }

    /// Asks of a turn that was over: what was allowed and has not begun never will.
    pub(crate) fn turn_over(&mut self, out: &mut Out<'_>, row: RowId) {
        let asks = self.durable.asks.iter().filter(|(_, ask)| ask.turn == row);
        let ids: Vec<_> = asks.map(|(id, _)| *id).collect();
        for id in ids {
            self.advance_card(out, id);
        }
    }

    /// The changing calls of a row, for the record of a turn whose host is gone.
    pub(crate) fn calls_of(&self, row: RowId) -> Vec<ToolUse> {
        let calls = self.durable.calls.range((row, 0)..=(row, u32::MAX));
        calls.map(|(_, call)| tool_use(call)).collect()
    }
}

fn tool_use(call: &Call) -> ToolUse {
    let (outcome, reason) = match &call.end {
        Some(CallFate::Done(_)) => ("done", None),
        Some(CallFate::Refused(why)) => ("refused", Some(why.clone())),
        Some(CallFate::Unknown(why)) => ("unknown", Some(why.clone())),
        None => ("unknown", Some("interrupted".to_owned())),
    };
    ToolUse {
        name: call.tool.clone(),
        outcome: outcome.to_owned(),
        reason,
        root: call.root.clone(),
        path: Some(call.target.clone()),
        ..ToolUse::default()
    }
}

/// What became of the effect of an ask.
pub(crate) fn carried(connector: &Connector, ask: &Ask) -> Carried {
    if let Some(why) = &ask.refused {
        return Carried::Ended(CallFate::Refused(why.clone()));
    }
    let call = connector.durable.calls.get(&(ask.turn, ask.call));
    match call.map(|call| &call.end) {
        Some(Some(fate)) => Carried::Ended(fate.clone()),
        Some(None) => Carried::NotYet,
        None if is_running(connector, ask.turn) => Carried::NotYet,
        None => Carried::Never,
    }
}

fn is_running(connector: &Connector, row: RowId) -> bool {
    let claimed = connector
        .durable
        .rows
        .get(&row)
        .filter(|open| matches!(open.state, RowState::Claimed { .. }));
    let active = claimed.and_then(|open| connector.live.routes.get(&open.route));
    matches!(active, Some(crate::live::Active::Running(running)) if running.row == row)
}
