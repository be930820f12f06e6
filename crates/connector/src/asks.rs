//! Asks: from a call that needs a person to one decision about it.
//!
//! In: asks of turns, presses, replies to cards, the terminal's word, deadlines, brakes. Out: cards,
//! answers to presses, each ask's one decision after its record is on disk, and the card's last words.
//! Never: a decision by somebody who may not decide at that moment, a second one, one for an ask of
//! an earlier process.

mod answers;
mod cards;

use crate::{
    card::{self, Asker},
    connector::{Connector, Out},
    delivery::NewDelivery,
    durable::{Ask, AskEnd},
    ids::RowId,
    live::{Active, OpenAsk, Phase},
    moment::{Brake, Mono, Wall},
    record::{ApprovalRecord, Decider, Owner, Purpose, Record, Via},
    step::Command,
};
use guildhall_authority::ask::{Answer, AskId, AskSpec};
use std::time::Duration;

/// Asks that are open at once, at most; beyond it an ask counts as not delivered.
const OPEN_MAX_COUNT: usize = 64;
/// The tool host's code for a call that nobody waits for any more.
const GONE: &str = "cancelled";

impl Connector {
    /// A call of a turn needs a person.
    pub(crate) fn asked(&mut self, out: &mut Out<'_>, spec: AskSpec) {
        let turn = spec.turn.as_str().parse::<RowId>().ok();
        let running = turn.and_then(|row| self.running(row).map(|running| (row, running)));
        let asker = running.and_then(|(row, running)| match running.aborting {
            Some(_) => None,
            None => Some((row, running.policy.approvals.ask_timeout)),
        });
        let known =
            self.durable.asks.contains_key(&spec.id) || self.durable.closed_ask(spec.id).is_some();
        if known || self.book.open(&spec).is_err() {
            self.live.counts.ignored += 1;
            return;
        }
        let Some((row, timeout)) = asker else {
            // Its turn is over, so that nobody is asked.
            let decision = self.book.decide(spec.id, Answer::Withdrawn);
            out.step.after.extend(decision.map(Command::Decide));
            return;
        };
        let Some(place) = self.durable.rows.get(&row).map(|open| open.place.target()) else {
            return;
        };
        let until = out.at.wall.plus(timeout);
        let opened = ApprovalRecord::Opened {
            ask: spec.id,
            turn: row,
            call: spec.call,
            tool: spec.tool.as_str().to_owned(),
            class: spec.tool.toolset().as_str().to_owned(),
            digest: spec.digest.to_string(),
            place,
            until,
            since: out.at.wall,
        };
        self.commit(out, Record::Approvals(opened));
        self.live.counts.asks += 1;
        let id = spec.id;
        let open = OpenAsk {
            turn: row,
            until: out.at.mono.plus(timeout),
            spec,
        };
        let full = self.live.asks.len() >= OPEN_MAX_COUNT;
        self.live.asks.insert(id, open);
        if let Some(end) = self.ends_at_once(out) {
            return self.end_ask(out, id, end);
        }
        if full {
            return self.end_ask(out, id, AskEnd::Undelivered);
        }
        self.stand_clock(row, out.at.mono);
        self.post_card(out, id, until);
    }

    /// Nothing is asked under a brake or while draining.
    fn ends_at_once(&self, out: &Out<'_>) -> Option<AskEnd> {
        let braked = out.at.brakes.stop == Brake::On || out.at.brakes.estop == Brake::On;
        let ending = matches!(self.live.phase, Phase::Draining(_) | Phase::Over);
        (braked || ending).then_some(STOPPED)
    }

    fn post_card(&mut self, out: &mut Out<'_>, id: AskId, until: Wall) {
        let Some(open) = self.live.asks.get(&id) else {
            return;
        };
        let turn = open.turn;
        let Some(row) = self.durable.rows.get(&turn) else {
            return;
        };
        let sources = match self.live.routes.get(&row.route) {
            Some(Active::Running(running)) if running.row == turn => running.sources.as_slice(),
            Some(_) | None => &[],
        };
        let asker = Asker {
            who: &row.who,
            sources,
            turn,
            until,
        };
        let (text, parts) = card::of(&self.policy, &open.spec, &asker);
        let place = row.place.target();
        self.intend(
            out,
            NewDelivery {
                owner: Owner::Ask(id),
                purpose: Purpose::Card,
                part: 1,
                of: 1,
                place,
                reply_to: turn.message(),
                line: None,
                text,
                card: Some(parts),
            },
        );
    }

    /// The call that asked does not wait any more.
    pub(crate) fn ask_gone(&mut self, out: &mut Out<'_>, id: AskId) {
        if self.live.asks.contains_key(&id) {
            return self.end_ask(out, id, AskEnd::Withdrawn);
        }
        // Its decision was under way when it went: what was allowed does not begin any more.
        match self.durable.asks.get(&id).map(|ask| (ask.turn, ask.call)) {
            Some(key) => self.never_begins(out, key, GONE.to_owned()),
            None => self.live.counts.ignored += 1,
        }
    }

    /// Closes an open ask, once: its record, then its decision, then its card.
    pub(crate) fn end_ask(&mut self, out: &mut Out<'_>, id: AskId, end: AskEnd) {
        let Some(open) = self.live.asks.remove(&id) else {
            return;
        };
        self.commit(out, Record::Approvals(end.record(id)));
        let answer = match end {
            AskEnd::Decided { answer, .. } => answer,
            AskEnd::Undelivered => Answer::Undelivered,
            AskEnd::Withdrawn | AskEnd::Expired => Answer::Withdrawn,
        };
        let decision = self.book.decide(id, answer);
        out.step.after.extend(decision.map(Command::Decide));
        self.live.cards.entry(id).or_default().what = Some(open.spec.shown.what);
        self.go_on_clock(open.turn, out.at.mono);
        self.void_card(out, id);
        self.advance_card(out, id);
    }

    /// Ends the open asks of a turn.
    pub(crate) fn end_asks_of(&mut self, out: &mut Out<'_>, row: RowId, end: AskEnd) {
        let of_row = self.live.asks.iter().filter(|(_, open)| open.turn == row);
        let ids: Vec<_> = of_row.map(|(id, _)| *id).collect();
        for id in ids {
            self.end_ask(out, id, end);
        }
    }

    /// A stop denies what is open.
    pub(crate) fn stop_asks(&mut self, out: &mut Out<'_>) {
        let ids: Vec<_> = self.live.asks.keys().copied().collect();
        for id in ids {
            self.end_ask(out, id, STOPPED);
        }
    }

    /// The terminal's word.
    pub(crate) fn decide_by_hand(&mut self, out: &mut Out<'_>, id: AskId, answer: Answer) {
        let person = matches!(answer, Answer::Once | Answer::Denied);
        if !person || !self.live.asks.contains_key(&id) {
            self.live.counts.ignored += 1;
            return;
        }
        let (by, via) = (Decider::Terminal, Via::Terminal);
        self.end_ask(out, id, AskEnd::Decided { by, via, answer });
    }

    pub(crate) fn tick_asks(&mut self, out: &mut Out<'_>) {
        let due = |until: Mono| until <= out.at.mono;
        let late = self.live.asks.iter().filter(|(_, open)| due(open.until));
        let late: Vec<_> = late.map(|(id, _)| *id).collect();
        let (by, via, answer) = (Decider::Deadline, Via::Deadline, Answer::TimedOut);
        for id in late {
            self.end_ask(out, id, AskEnd::Decided { by, via, answer });
        }
        let again = self
            .live
            .cards
            .iter()
            .filter(|(_, work)| work.again.is_some_and(due));
        let again: Vec<_> = again.map(|(id, _)| *id).collect();
        for id in again {
            if let Some(work) = self.live.cards.get_mut(&id) {
                work.again = None;
            }
            self.advance_card(out, id);
        }
    }

    pub(crate) fn asks_deadline(&self) -> Option<Mono> {
        let asks = self.live.asks.values().map(|open| open.until);
        let cards = self.live.cards.values().filter_map(|work| work.again);
        asks.chain(cards).min()
    }

    /// A turn's clock stands still while one of its asks is open.
    fn stand_clock(&mut self, row: RowId, now: Mono) {
        if let Some(running) = self.running(row) {
            running.stands_since = running.stands_since.or(Some(now));
        }
    }

    fn go_on_clock(&mut self, row: RowId, now: Mono) {
        if self.live.asks.values().any(|open| open.turn == row) {
            return;
        }
        if let Some(running) = self.running(row)
            && let Some(since) = running.stands_since.take()
        {
            let stood = Duration::from_millis(now.0.saturating_sub(since.0));
            running.deadline = running.deadline.plus(stood);
            running.type_at = now;
        }
    }
}

/// A stop's answer.
pub(crate) const STOPPED: AskEnd = AskEnd::Decided {
    by: Decider::Stop,
    via: Via::Stop,
    answer: Answer::Stopped,
};

impl Connector {
    /// The asks that wait for a person, with what they are about and when they end.
    pub fn open_asks(&self) -> impl Iterator<Item = (&AskSpec, &Ask)> {
        self.live.asks.iter().filter_map(|(id, open)| {
            let ask = self.durable.asks.get(id)?;
            Some((&open.spec, ask))
        })
    }
}
