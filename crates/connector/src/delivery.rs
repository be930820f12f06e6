//! Delivery: from an intent to a receipt, and what comes after each.
//!
//! In: what is to be posted, receipts, echoes, what a channel shows. Out: intents, posts, the next
//! part, the settled row. Never: a post without a durable intent, a second part before the first is
//! confirmed, a text that is sent again when it could stand there twice.
//!
//! ```text
//! Intended ─▶ Confirmed | Refused          next part only after Confirmed
//!    └▶ Unknown ─ same nonce, same text, until RESEND_FOR after the intent
//!           └ then read back ─▶ Confirmed | Refused(absent) | a person
//! ```

mod read_back;

use crate::{
    connector::{Connector, Out},
    durable::{Delivery, DeliveryState},
    ids::{Nonce, RowId},
    input::{Echo, Receipt, Refusal, Verdict},
    intake::pause,
    line::Line,
    live::{Phase, Reached, ReplyMark, SendStep, Sending},
    record::{ConfirmedBy, OutboxRecord, Owner, Purpose, Record, RefusedWhy, UnknownWhy},
    step::{CardParts, Command, Exit, LookUp, Post, Tell},
};
use guildhall_binding::ids::{ChannelId, MessageId};
use std::time::Duration;

/// How long after its intent a post may be sent again. Discord's window for a nonce is not
/// published ("the past few minutes"); five is its outer edge here, and this stays well inside.
pub const RESEND_FOR: Duration = Duration::from_secs(4 * 60);
/// How long after the last try a channel is read back at the soonest, so that a post that is still
/// on its way has arrived.
pub const READ_BACK_AFTER: Duration = Duration::from_secs(20);
/// How often a channel that proves nothing is read before a person must look.
const LOOKS_MAX_COUNT: u32 = 5;

/// Something that is to be posted.
pub(crate) struct NewDelivery {
    pub(crate) owner: Owner,
    pub(crate) purpose: Purpose,
    pub(crate) part: u32,
    pub(crate) of: u32,
    pub(crate) place: ChannelId,
    pub(crate) reply_to: Option<MessageId>,
    pub(crate) line: Option<Line>,
    pub(crate) text: String,
    pub(crate) card: Option<CardParts>,
}

impl Connector {
    /// Commits an intent, and posts once it is durable.
    pub(crate) fn intend(&mut self, out: &mut Out<'_>, new: NewDelivery) {
        let NewDelivery {
            owner,
            purpose,
            part,
            of,
            place,
            reply_to,
            line,
            text,
            card,
        } = new;
        let nonce = self.nonce(owner, purpose, part);
        if self.durable.outbox.contains_key(&nonce) {
            return;
        }
        let since = out.at.wall;
        let intent = OutboxRecord::Intent {
            nonce,
            owner,
            purpose,
            part,
            of,
            class: 0,
            place,
            reply_to,
            line,
            since,
        };
        self.commit(out, Record::Outbox(intent));
        self.live.nonces.insert(nonce);
        let sending = Sending {
            text: Some(text.clone()),
            card: card.clone(),
            reply: ReplyMark::Kept,
            reached: Reached::No,
            step: SendStep::Posting,
            tries: 1,
            looks: 0,
            last_try: out.at.mono,
            no: None,
        };
        self.live.sendings.insert(nonce, sending);
        out.later(Command::Post(Post {
            nonce,
            channel: place,
            content: text,
            reply_to,
            card,
        }));
    }

    /// One post ended.
    pub(crate) fn sent(&mut self, out: &mut Out<'_>, nonce: Nonce, receipt: Receipt) {
        let open = self
            .durable
            .outbox
            .get(&nonce)
            .map(|delivery| delivery.place);
        let Some((place, sending)) = open.zip(self.live.sendings.get_mut(&nonce)) else {
            self.live.counts.ignored += 1;
            return;
        };
        if sending.step != SendStep::Posting {
            self.live.counts.ignored += 1;
            return;
        }
        let first = sending.tries <= 1 && sending.reached == Reached::No;
        let by = if first {
            ConfirmedBy::Answer
        } else {
            ConfirmedBy::Repeat
        };
        match receipt {
            Receipt::Posted { message, channel } if channel == place => {
                self.confirm(out, nonce, Some(message), by);
            }
            Receipt::Posted { .. } => {
                out.tell(Tell::WrongReceipt(nonce));
                self.reached_perhaps(out, nonce, UnknownWhy::ServerFault);
            }
            Receipt::PostedAndDeleted | Receipt::ReferenceGone
                if sending.reached == Reached::No && sending.reply == ReplyMark::Kept =>
            {
                // Nothing of ours can stand there: it is the message replied to that is gone.
                sending.reply = ReplyMark::Left;
                sending.step = SendStep::Waiting(out.at.mono);
            }
            Receipt::PostedAndDeleted => self.confirm(out, nonce, None, ConfirmedBy::Deleted),
            Receipt::ReferenceGone => {
                self.said_no(out, nonce, (RefusedWhy::Content, None));
            }
            Receipt::Refused {
                kind: Refusal::Unauthorized,
                ..
            } => {
                sending.step = SendStep::Stuck;
                self.live.phase = Phase::Over;
                out.later(Command::Exit(Exit::Unauthorized));
            }
            Receipt::Refused { kind, code } => self.said_no(out, nonce, (why_of(kind), code)),
            Receipt::NotSent { wait_ms } => {
                let wait = Duration::from_millis(wait_ms).max(pause(sending.tries));
                sending.step = SendStep::Waiting(out.at.mono.plus(wait));
            }
            Receipt::Unknown(why) => self.reached_perhaps(out, nonce, why),
        }
    }

    /// A post may have reached Discord: that is on disk before anything is tried again.
    fn reached_perhaps(&mut self, out: &mut Out<'_>, nonce: Nonce, why: UnknownWhy) {
        if let Some(sending) = self.live.sendings.get_mut(&nonce) {
            sending.reached = Reached::Perhaps;
            // It may be on its way for as long as its exchange lasted, and longer.
            sending.last_try = out.at.mono;
            sending.step = SendStep::Waiting(out.at.mono.plus(pause(sending.tries)));
        }
        let state = self
            .durable
            .outbox
            .get(&nonce)
            .map(|delivery| delivery.state);
        if state == Some(DeliveryState::Intended) {
            self.commit(out, Record::Outbox(OutboxRecord::Unknown { nonce, why }));
        }
    }

    /// Discord said no. After a try that may have arrived that proves nothing about the first one,
    /// so the channel is asked.
    fn said_no(&mut self, out: &mut Out<'_>, nonce: Nonce, no: (RefusedWhy, Option<u64>)) {
        match self.live.sendings.get_mut(&nonce) {
            Some(sending) if sending.reached == Reached::Perhaps => {
                sending.no = Some(no);
                let soonest = sending.last_try.plus(READ_BACK_AFTER);
                sending.step = SendStep::Waiting(soonest.max(out.at.mono));
            }
            Some(_) | None => self.refuse(out, nonce, no),
        }
    }

    pub(crate) fn confirm(
        &mut self,
        out: &mut Out<'_>,
        nonce: Nonce,
        message: Option<MessageId>,
        by: ConfirmedBy,
    ) {
        let owner = self
            .durable
            .outbox
            .get(&nonce)
            .map(|delivery| delivery.owner);
        if let Some(message) = message {
            self.live.posted.insert(message);
        }
        if let (Some(Owner::Ask(ask)), Some(message)) = (owner, message) {
            self.card_posted(out, ask, message);
        }
        self.commit(
            out,
            Record::Outbox(OutboxRecord::Confirmed { nonce, message, by }),
        );
        self.delivery_ended(out, nonce, owner, None);
    }

    pub(super) fn refuse(
        &mut self,
        out: &mut Out<'_>,
        nonce: Nonce,
        no: (RefusedWhy, Option<u64>),
    ) {
        let (why, code) = no;
        let owner = self
            .durable
            .outbox
            .get(&nonce)
            .map(|delivery| delivery.owner);
        self.commit(
            out,
            Record::Outbox(OutboxRecord::Refused { nonce, why, code }),
        );
        if why != RefusedWhy::Void {
            out.tell(Tell::DeliveryRefused(nonce, code));
        }
        self.delivery_ended(out, nonce, owner, Some(why));
    }

    fn delivery_ended(
        &mut self,
        out: &mut Out<'_>,
        nonce: Nonce,
        owner: Option<Owner>,
        refused: Option<RefusedWhy>,
    ) {
        self.live.sendings.remove(&nonce);
        if self.live.phase == Phase::New {
            // Settled by hand while no process is up: the next start goes on from this record, with
            // the spool before it.
            return;
        }
        match owner {
            Some(Owner::Row(row)) => self.deliver(out, row),
            Some(Owner::Ask(ask)) => self.card_delivered(out, ask, refused),
            Some(Owner::Notice(_)) | None => {}
        }
        self.reconciled(out, nonce);
    }

    /// A message of our own came back over the gateway.
    pub(crate) fn echoed(&mut self, out: &mut Out<'_>, echo: Echo) {
        let nonce = echo
            .nonce
            .filter(|nonce| self.live.sendings.contains_key(nonce));
        if let Some(nonce) = nonce {
            let here = self
                .durable
                .outbox
                .get(&nonce)
                .map(|delivery| delivery.place);
            if here == Some(echo.channel) {
                self.confirm(out, nonce, Some(echo.message), ConfirmedBy::Echo);
            }
            return;
        }
        let known = echo
            .nonce
            .is_some_and(|nonce| self.live.nonces.contains(nonce));
        let at = i64::try_from(echo.message.created_ms()).unwrap_or(i64::MAX);
        if !known && at > self.live.started.0 {
            self.live.counts.twins += 1;
            out.tell(Tell::Twin(echo.message));
        }
    }

    /// A person looked at the channel. What is still being tried or looked for is not theirs to
    /// settle: it may arrive after they looked.
    pub(crate) fn settle_by_hand(&mut self, out: &mut Out<'_>, nonce: Nonce, verdict: Verdict) {
        let open = self
            .durable
            .outbox
            .get(&nonce)
            .is_some_and(|d| !d.state.has_ended());
        let under_way = self
            .live
            .sendings
            .get(&nonce)
            .is_some_and(|sending| sending.step != SendStep::Stuck);
        match (open && !under_way, verdict) {
            (false, _) => self.live.counts.ignored += 1,
            (true, Verdict::There(message)) => {
                self.confirm(out, nonce, Some(message), ConfirmedBy::Operator);
            }
            (true, Verdict::NotThere) => self.refuse(out, nonce, (RefusedWhy::Operator, None)),
        }
    }

    pub(crate) fn tick_sendings(&mut self, out: &mut Out<'_>) {
        let due: Vec<_> = self
            .live
            .sendings
            .iter()
            .filter(|(_, sending)| match sending.step {
                SendStep::Waiting(until) => until <= out.at.mono,
                SendStep::Posting | SendStep::Reading | SendStep::Stuck => false,
            })
            .map(|(nonce, _)| *nonce)
            .collect();
        for nonce in due {
            self.try_again(out, nonce);
        }
    }

    fn try_again(&mut self, out: &mut Out<'_>, nonce: Nonce) {
        let open = self.durable.outbox.get(&nonce);
        let Some((delivery, sending)) = open.zip(self.live.sendings.get_mut(&nonce)) else {
            return;
        };
        let is_card = matches!(delivery.owner, Owner::Ask(_));
        if is_card && sending.text.is_none() && sending.reached == Reached::No {
            return self.refuse(out, nonce, (RefusedWhy::Void, None));
        }
        let next = next_try(
            delivery,
            sending,
            out.at.wall.since(delivery.since),
            out.at.mono,
        );
        match next {
            Next::Post(content) => {
                sending.step = SendStep::Posting;
                sending.tries += 1;
                sending.last_try = out.at.mono;
                let reply_to = match sending.reply {
                    ReplyMark::Kept => delivery.reply_to,
                    ReplyMark::Left => None,
                };
                let channel = delivery.place;
                let card = sending.card.clone();
                out.later(Command::Post(Post {
                    nonce,
                    channel,
                    content,
                    reply_to,
                    card,
                }));
            }
            Next::Wait(until) => sending.step = SendStep::Waiting(until),
            Next::Look => {
                sending.step = SendStep::Reading;
                let (channel, after) = (delivery.place, delivery.asked_by());
                let since_ms = delivery.since.0;
                out.now(Command::LookUp(LookUp::ReadBack {
                    nonce,
                    channel,
                    after,
                    since_ms,
                }));
            }
        }
    }

    /// What a row's deliveries call for next: the next part, a line, or the row's end. The same for
    /// live work and after a restart.
    pub(crate) fn deliver(&mut self, out: &mut Out<'_>, row: RowId) {
        crate::settle::deliver(self, out, row);
    }
}

/// What an open delivery does next.
enum Next {
    Post(String),
    Wait(crate::moment::Mono),
    Look,
}

/// A try that cannot have arrived is free to be made again at any age. One that may have arrived is
/// made again only inside the window, and after it, or after a "no", the channel is read.
fn next_try(delivery: &Delivery, sending: &Sending, age_ms: i64, now: crate::moment::Mono) -> Next {
    let window = i64::try_from(RESEND_FOR.as_millis()).unwrap_or(i64::MAX);
    let inside = (0..window).contains(&age_ms) && sending.no.is_none() && sending.looks == 0;
    let in_doubt = sending.reached == Reached::Perhaps || delivery.state == DeliveryState::Unknown;
    match &sending.text {
        Some(text) if !in_doubt || inside => Next::Post(text.clone()),
        Some(_) | None => {
            let soonest = sending.last_try.plus(READ_BACK_AFTER);
            if soonest <= now {
                Next::Look
            } else {
                Next::Wait(soonest)
            }
        }
    }
}

const fn why_of(kind: Refusal) -> RefusedWhy {
    match kind {
        Refusal::NoAccess => RefusedWhy::NoAccess,
        Refusal::Content => RefusedWhy::Content,
        Refusal::Unauthorized => RefusedWhy::Unauthorized,
    }
}
