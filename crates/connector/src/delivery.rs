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

use crate::{
    connector::{Connector, Out},
    durable::{Delivery, DeliveryState},
    ids::{Nonce, RowId},
    input::{Echo, Found, Proof, ReadBack, Receipt, Refusal, Verdict},
    intake::pause,
    line::Line,
    live::{Phase, Reached, ReplyMark, SendStep, Sending},
    record::{ConfirmedBy, OutboxRecord, Owner, Purpose, Record, RefusedWhy, UnknownWhy},
    reply,
    step::{Command, Exit, LookUp, Post, Tell},
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

    fn confirm(
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
        self.commit(
            out,
            Record::Outbox(OutboxRecord::Confirmed { nonce, message, by }),
        );
        self.delivery_ended(out, nonce, owner);
    }

    fn refuse(&mut self, out: &mut Out<'_>, nonce: Nonce, no: (RefusedWhy, Option<u64>)) {
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
        out.tell(Tell::DeliveryRefused(nonce, code));
        self.delivery_ended(out, nonce, owner);
    }

    fn delivery_ended(&mut self, out: &mut Out<'_>, nonce: Nonce, owner: Option<Owner>) {
        self.live.sendings.remove(&nonce);
        if self.live.phase == Phase::New {
            // Settled by hand while no process is up: the next start goes on from this record, with
            // the spool before it.
            return;
        }
        if let Some(Owner::Row(row)) = owner {
            self.deliver(out, row);
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
        out.tell(Tell::Stuck(nonce));
        if matches!(&self.live.phase, Phase::Reconciling(open) if open.contains(&nonce)) {
            return self.refuse_start_if_all_stuck(out);
        }
        let owner = self
            .durable
            .outbox
            .get(&nonce)
            .map(|delivery| delivery.owner);
        if let Some(Owner::Row(row)) = owner {
            self.live.parked.insert(row);
            if let Some(route) = self.durable.rows.get(&row).map(|open| open.route) {
                self.live.routes.remove(&route);
            }
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
                out.later(Command::Post(Post {
                    nonce,
                    channel,
                    content,
                    reply_to,
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

#[derive(Clone, Copy, PartialEq, Eq)]
enum Looked {
    /// The network failed.
    NoAnswer,
    /// Discord answered, and it proves nothing.
    NoProof,
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
