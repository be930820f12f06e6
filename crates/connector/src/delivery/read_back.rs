//! Reading back: whether a post that may have arrived stands in its channel.
//!
//! In: pages of a channel's history. Out: the receipt, another look, or a person's work. Never: a
//! message that is another delivery's, an absence that a page does not prove.

use super::LOOKS_MAX_COUNT;
use crate::{
    card,
    connector::{Connector, Out},
    durable::{Delivery, DeliveryState},
    ids::Nonce,
    input::{Found, Proof, ReadBack},
    intake::pause,
    live::{Phase, SendStep},
    record::{ConfirmedBy, Owner, RefusedWhy},
    reply,
    step::Tell,
};
use guildhall_binding::ids::MessageId;

impl Connector {
    /// What a channel shows after the message that a delivery replies to.
    pub(crate) fn learned_read_back(
        &mut self,
        out: &mut Out<'_>,
        nonce: Nonce,
        found: Found<ReadBack>,
    ) {
        let reading = self
            .live
            .sendings
            .get(&nonce)
            .is_some_and(|s| s.step == SendStep::Reading);
        let (true, Some(delivery)) = (reading, self.durable.outbox.get(&nonce)) else {
            self.live.counts.ignored += 1;
            return;
        };
        let page = match found {
            Found::NoAnswer => return self.look_again(out, nonce, Looked::NoAnswer),
            Found::Nothing => return self.look_again(out, nonce, Looked::NoProof),
            Found::Here(page) => page,
        };
        match (self.find(nonce, delivery, &page), page.proof) {
            (Some(message), _) => self.confirm(out, nonce, Some(message), ConfirmedBy::ReadBack),
            (None, Proof::Doubtful) => self.look_again(out, nonce, Looked::NoProof),
            (None, Proof::Whole) => {
                let no = self
                    .live
                    .sendings
                    .get(&nonce)
                    .and_then(|sending| sending.no);
                self.refuse(out, nonce, no.unwrap_or((RefusedWhy::Absent, None)));
            }
        }
    }

    /// The message that a delivery became: by nonce, else by reference and text. A message that is
    /// another delivery's is never taken twice.
    fn find(&self, nonce: Nonce, delivery: &Delivery, page: &ReadBack) -> Option<MessageId> {
        let taken: Vec<_> = self
            .durable
            .outbox
            .values()
            .filter_map(|other| match other.state {
                DeliveryState::Confirmed { message, .. } => message,
                DeliveryState::Intended
                | DeliveryState::Unknown
                | DeliveryState::Refused { .. } => None,
            })
            .collect();
        let sending = self.live.sendings.get(&nonce)?;
        let text = sending.text.as_deref().map(reply::digest_text);
        let same_text = |own: &str| text.as_deref().is_none_or(|text| text == own);
        let taken = |id| taken.contains(&id) || self.live.posted.contains(id);
        let free = page.own.iter().filter(|own| !taken(own.id));
        let by_nonce = |own: &&crate::input::OwnMessage| own.nonce == Some(nonce);
        let by_look = |own: &&crate::input::OwnMessage| {
            if let Owner::Ask(ask) = delivery.owner {
                return own.nonce.is_none() && card::is_of(&own.text, ask);
            }
            if text.is_none() && card::is_any(&own.text) {
                // Of a text that is lost, only its place is known; a card of the same turn has it too.
                return false;
            }
            let same_reference = match (own.replies_to, delivery.reply_to) {
                (Some(there), Some(meant)) => there == meant,
                // Discord leaves the reference out when the message replied to is gone.
                (None, Some(_)) => text.is_some(),
                (Some(_), None) => false,
                (None, None) => text.is_some(),
            };
            own.nonce.is_none() && same_reference && same_text(&own.text)
        };
        free.clone()
            .find(by_nonce)
            .or_else(|| free.clone().find(by_look))
            .map(|own| own.id)
    }

    fn look_again(&mut self, out: &mut Out<'_>, nonce: Nonce, looked: Looked) {
        let Some(sending) = self.live.sendings.get_mut(&nonce) else {
            return;
        };
        sending.tries += 1;
        sending.step = SendStep::Waiting(out.at.mono.plus(pause(sending.tries)));
        if looked == Looked::NoProof {
            sending.looks += 1;
            if sending.looks >= LOOKS_MAX_COUNT {
                sending.step = SendStep::Stuck;
                self.stuck(out, nonce);
            }
        }
    }

    /// Real answers settled nothing: at a start that is an exit, later the row waits for a person
    /// and its route goes on.
    fn stuck(&mut self, out: &mut Out<'_>, nonce: Nonce) {
        let owner = self.durable.outbox.get(&nonce).map(|it| it.owner);
        if matches!(owner, Some(Owner::Ask(_))) {
            // A card that cannot be found is of no use any more, and no reason to wait for a person.
            return self.refuse(out, nonce, (RefusedWhy::Void, None));
        }
        out.tell(Tell::Stuck(nonce));
        if matches!(&self.live.phase, Phase::Reconciling(open) if open.contains(&nonce)) {
            return self.refuse_start_if_all_stuck(out);
        }
        if let Some(Owner::Row(row)) = owner {
            self.live.parked.insert(row);
            if let Some(route) = self.durable.rows.get(&row).map(|open| open.route) {
                self.live.routes.remove(&route);
            }
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Looked {
    /// The network failed.
    NoAnswer,
    /// Discord answered, and it proves nothing.
    NoProof,
}
