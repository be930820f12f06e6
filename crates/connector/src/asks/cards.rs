//! The cards of asks: posted once, and edited to how it ended.
//!
//! In: ends of asks, of their calls and of their turns, ends of edits. Out: edits, one at a time for a
//! card; the record that an ask is closed. Never: a card that is posted after its ask has ended, an
//! edit that is tried without a bound.

use crate::{
    calls::carried,
    card,
    connector::{Connector, Out},
    durable::AskEnd,
    ids::Nonce,
    input::{Receipt, Refusal},
    intake::pause,
    live::{CardWork, Reached, SendStep},
    record::{ApprovalRecord, Owner, Purpose, Record, RefusedWhy},
    step::{CardEdit, Command},
};
use guildhall_authority::ask::AskId;
use guildhall_binding::ids::MessageId;
use std::time::Duration;

/// How often a card's edit is tried in one process; the next one tries again.
const EDITS_MAX_COUNT: u32 = 12;
/// How long the end of an ask is kept for a card that takes no edit, over all processes.
const CARD_KEPT: Duration = Duration::from_secs(7 * 24 * 3_600);

impl Connector {
    pub(crate) fn card_nonce(&self, id: AskId) -> Nonce {
        self.nonce(Owner::Ask(id), Purpose::Card, 1)
    }

    /// An ask ended while its card may be on its way: it is not posted any more, only looked for.
    pub(super) fn void_card(&mut self, out: &Out<'_>, id: AskId) {
        let nonce = self.card_nonce(id);
        if let Some(sending) = self.live.sendings.get_mut(&nonce) {
            sending.text = None;
            sending.card = None;
            if sending.reached == Reached::No && matches!(sending.step, SendStep::Waiting(_)) {
                sending.step = SendStep::Waiting(out.at.mono);
            }
        }
    }

    /// The card stands in Discord.
    pub(crate) fn card_posted(&mut self, out: &mut Out<'_>, id: AskId, message: MessageId) {
        let unknown = self
            .durable
            .asks
            .get(&id)
            .is_some_and(|ask| ask.message.is_none());
        if unknown {
            let posted = ApprovalRecord::Posted { ask: id, message };
            self.commit(out, Record::Approvals(posted));
        }
    }

    /// The card's delivery ended; `why` says so where it was refused.
    pub(crate) fn card_delivered(&mut self, out: &mut Out<'_>, id: AskId, why: Option<RefusedWhy>) {
        if why.is_some() {
            self.end_ask(out, id, AskEnd::Undelivered);
        }
        self.advance_card(out, id);
    }

    /// Shows on a card how its ask ended, as far as that is known; the ask is closed when its card
    /// shows all there will be.
    pub(crate) fn advance_card(&mut self, out: &mut Out<'_>, id: AskId) {
        let nonce = self.card_nonce(id);
        let Some(ask) = self.durable.asks.get(&id) else {
            return;
        };
        let Some(end) = ask.end else { return };
        if self.durable.outbox.contains_key(&nonce) {
            return;
        }
        let carried = carried(self, ask);
        let is_last = !end.allows() || carried != card::Carried::NotYet;
        let Some(message) = ask.message else {
            if is_last {
                self.close_ask(out, id);
            }
            return;
        };
        let channel = ask.place;
        let work = self.live.cards.entry(id).or_default();
        let what = work.what.as_deref();
        let content = card::ended(&self.policy, id, ask, what, end, &carried);
        if work.under_way.is_some() || work.again.is_some() {
            return;
        }
        if work.shown.as_ref() == Some(&content) {
            if is_last {
                self.close_ask(out, id);
            }
            return;
        }
        if work.tries >= EDITS_MAX_COUNT {
            return;
        }
        work.tries += 1;
        work.under_way = Some(content.clone());
        out.later(Command::EditCard(CardEdit {
            ask: id,
            channel,
            message,
            content,
        }));
    }

    fn close_ask(&mut self, out: &mut Out<'_>, id: AskId) {
        self.live.cards.remove(&id);
        self.commit(out, Record::Approvals(ApprovalRecord::Closed { ask: id }));
    }

    /// One edit of a card ended.
    pub(crate) fn card_edited(&mut self, out: &mut Out<'_>, id: AskId, receipt: Receipt) {
        let work = self.live.cards.get_mut(&id);
        let Some((work, content)) = work.and_then(|work| {
            let content = work.under_way.take()?;
            Some((work, content))
        }) else {
            self.live.counts.ignored += 1;
            return;
        };
        match receipt {
            Receipt::Posted { .. } => {
                *work = CardWork {
                    what: work.what.take(),
                    shown: Some(content),
                    ..CardWork::default()
                };
            }
            Receipt::PostedAndDeleted | Receipt::ReferenceGone => {
                // Nobody can see it any more, whatever becomes of the effect.
                work.shown = Some(content);
                let ended = self
                    .durable
                    .asks
                    .get(&id)
                    .is_some_and(|ask| ask.end.is_some());
                if ended {
                    return self.close_ask(out, id);
                }
            }
            Receipt::Refused {
                kind: Refusal::Content,
                ..
            } => work.tries = EDITS_MAX_COUNT,
            Receipt::NotSent { wait_ms } => {
                let wait = Duration::from_millis(wait_ms).max(pause(work.tries));
                work.again = Some(out.at.mono.plus(wait));
            }
            Receipt::Refused { .. } | Receipt::Unknown(_) => {
                work.again = Some(out.at.mono.plus(pause(work.tries)));
            }
        }
        self.advance_card(out, id);
    }

    /// What the last process left open is void, and its cards are to say so.
    pub(crate) fn take_up_asks(&mut self, out: &mut Out<'_>) {
        let ids: Vec<_> = self.durable.asks.keys().copied().collect();
        for id in ids {
            let open = self
                .durable
                .asks
                .get(&id)
                .is_some_and(|ask| ask.end.is_none());
            if open {
                let expired = ApprovalRecord::Expired { ask: id };
                self.commit(out, Record::Approvals(expired));
            }
            let kept = i64::try_from(CARD_KEPT.as_millis()).unwrap_or(i64::MAX);
            let since = self.durable.asks.get(&id).map(|ask| ask.since);
            let old = since.is_some_and(|since| out.at.wall.since(since) > kept);
            let doubtful = self.durable.outbox.contains_key(&self.card_nonce(id));
            if old && !doubtful {
                self.close_ask(out, id);
            } else {
                self.advance_card(out, id);
            }
        }
    }
}
