//! What people say to an ask: presses, and replies to its card.
//!
//! In: presses, messages that reply. Out: one end of one ask, or a fixed line. Never: an answer by
//! somebody who may not decide at that moment, one that decides another card's ask, a reply of one
//! word to a card that becomes a turn.

use crate::{
    connector::{Connector, Out, drop_of},
    durable::AskEnd,
    ids::RowId,
    input::{Press, Room},
    line::Line,
    record::{ConfirmedBy, Decider, DropLine, InboxRecord, NoticeKey, Record, Via},
    step::{Command, PressAnswer, PressHow},
};
use guildhall_authority::{
    admission::{Admission, DropReason},
    ask::{Answer, AskId, may_decide},
    event::Said,
};
use guildhall_binding::ids::MessageId;

impl Connector {
    /// A pressed button: answered in this step, whatever it is worth.
    pub(crate) fn pressed(&mut self, out: &mut Out<'_>, press: Press) {
        let verdict = self.judge_press(&press);
        let how = match verdict {
            Ok(_) => PressHow::Deferred,
            Err(line) => PressHow::Private(line),
        };
        match verdict {
            Ok((id, answer)) => {
                self.learn_card(out, id, press.message);
                let (by, via) = (Decider::User(press.who), Via::Button);
                self.end_ask(out, id, AskEnd::Decided { by, via, answer });
            }
            Err(_) => {
                self.live.counts.presses_refused += 1;
                out.now(Command::Drop(DropLine {
                    message: RowId::Message(press.message),
                    channel: Some(press.channel),
                    author: Some(press.who),
                    why: DropReason::Approval,
                }));
            }
        }
        out.now(Command::AnswerPress(PressAnswer {
            interaction: press.interaction,
            token: press.token,
            how,
        }));
    }

    /// By the policy in force now; a press decides its own card's ask and no other.
    fn judge_press(&self, press: &Press) -> Result<(AskId, Answer), Line> {
        if !may_decide(&self.policy, press.who) {
            return Err(Line::NotDecider);
        }
        let (id, answer) = button(&press.custom_id).ok_or(Line::NoSuchAsk)?;
        let (place, message, end) = match (self.durable.asks.get(&id), self.durable.closed_ask(id))
        {
            (Some(ask), _) => (ask.place, ask.message, ask.end),
            (None, Some(closed)) => (closed.place, closed.message, Some(closed.end)),
            (None, None) => return Err(Line::NoSuchAsk),
        };
        let its_own = message.is_none_or(|card| card == press.message);
        if place != press.channel || !its_own {
            return Err(Line::NoSuchAsk);
        }
        match end {
            None if self.live.asks.contains_key(&id) => Ok((id, answer)),
            None => Err(Line::AskOver),
            Some(end) => Err(line_of_end(end)),
        }
    }

    /// Only our own cards have our buttons, so a press tells which message the card is.
    fn learn_card(&mut self, out: &mut Out<'_>, id: AskId, message: MessageId) {
        let known = self
            .durable
            .asks
            .get(&id)
            .is_none_or(|ask| ask.message.is_some());
        if known {
            return;
        }
        let nonce = self.card_nonce(id);
        if self.live.sendings.contains_key(&nonce) {
            self.confirm(out, nonce, Some(message), ConfirmedBy::Press);
        } else {
            self.card_posted(out, id, message);
        }
    }

    /// The ask that a message answers, where it is a reply to a card that says nothing else.
    fn answered_by(&self, said: &Said) -> Option<(AskId, Answer)> {
        let card = said.replies_to?;
        let answer = word(said.text.as_str())?;
        let id = self.durable.ask_of_card(card, said.channel)?;
        Some((id, answer))
    }

    /// Takes a reply to a card, which never becomes a turn; gives back any other message.
    pub(crate) fn take_reply_to_card(
        &mut self,
        out: &mut Out<'_>,
        said: Said,
        admission: Admission,
    ) -> Option<Said> {
        let Some((id, answer)) = self.answered_by(&said) else {
            return Some(said);
        };
        let may_decide = may_decide(&self.policy, said.author.id);
        let talks = match admission {
            Admission::Turn(_) | Admission::Drop(DropReason::NotMentioned) => true,
            // An operator decides wherever the card stands; anybody else is judged by the place, once
            // it is known.
            Admission::LookUp(_)
            | Admission::Drop(DropReason::ChannelNotListed | DropReason::ChannelNotForUser) => {
                may_decide
            }
            Admission::Drop(_) => false,
        };
        if !talks {
            return Some(said);
        }
        let row = RowId::Message(said.id);
        self.advance_cursor(&said);
        if self.durable.seen.contains(row) {
            self.drop_line(out, &said, DropReason::Duplicate);
            return None;
        }
        // The place is the cursor of the next start: it passes nothing that is still to be read, nor
        // what was refused for want of room.
        let passes = self.live.room == Room::Enough && !self.has_gap(said.channel);
        let channel = passes.then_some(said.channel);
        self.commit(out, Record::Inbox(InboxRecord::Seen { row, channel }));
        self.live.counts.dropped += 1;
        self.commit(out, Record::Drops(drop_of(&said, DropReason::Approval)));
        if !may_decide {
            self.notice(out, &said, NoticeKey::NotDecider(said.id));
        } else if self.live.asks.contains_key(&id) {
            let (by, via) = (Decider::User(said.author.id), Via::Reply);
            self.end_ask(out, id, AskEnd::Decided { by, via, answer });
        } else {
            self.notice(out, &said, NoticeKey::AskOver(said.id));
        }
        None
    }
}

/// The ask and the answer of a button's id: `ask:<id>:once` or `ask:<id>:deny`.
fn button(custom_id: &str) -> Option<(AskId, Answer)> {
    let (id, answer) = custom_id.strip_prefix("ask:")?.split_once(':')?;
    let answer = match answer {
        "once" => Answer::Once,
        "deny" => Answer::Denied,
        _ => return None,
    };
    id.parse().ok().map(|id| (id, answer))
}

/// The answer of a reply that is one word and nothing else.
fn word(text: &str) -> Option<Answer> {
    let text = text.trim();
    if text.eq_ignore_ascii_case("once") {
        Some(Answer::Once)
    } else if text.eq_ignore_ascii_case("deny") {
        Some(Answer::Denied)
    } else {
        None
    }
}

/// What a second press is told.
const fn line_of_end(end: AskEnd) -> Line {
    match end {
        AskEnd::Decided { answer, .. } => match answer {
            Answer::Once => Line::AskAllowed,
            Answer::Denied => Line::AskDenied,
            Answer::TimedOut => Line::AskTimedOut,
            Answer::Stopped => Line::AskStopped,
            Answer::Undelivered | Answer::Withdrawn => Line::AskOver,
        },
        AskEnd::Expired | AskEnd::Undelivered | AskEnd::Withdrawn => Line::AskOver,
    }
}
