//! What is known of asks and changing calls after a crash.
//!
//! In: records of asks and calls. Out: asks whose card is not closed and the last
//! ones that are, calls of open rows. Never: a
//! second end of an ask, an end of a call that had not begun.

use super::{Durable, IllegalRecord};
use crate::{
    ids::RowId,
    moment::Wall,
    record::{ApprovalRecord, CallRecord, Decider, DoneBy, Via},
};
use guildhall_authority::ask::{Answer, AskId};
use guildhall_binding::ids::{ChannelId, MessageId};
use serde::{Deserialize, Serialize};

/// Closed asks that are remembered, so that whoever answers late is told how it ended.
const CLOSED_MAX_COUNT: usize = 256;

/// An ask whose card does not show its end yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ask {
    /// Whose turn.
    pub turn: RowId,
    /// Which call.
    pub call: u32,
    /// The tool's name.
    pub tool: String,
    /// What kind of effect.
    pub class: String,
    /// Hex SHA-256 of the exact effect.
    pub digest: String,
    /// The channel or thread of the card.
    pub place: ChannelId,
    /// When no answer becomes a no.
    pub until: Wall,
    /// When it was asked.
    pub since: Wall,
    /// The card, where its id is known.
    pub message: Option<MessageId>,
    /// How it ended; absent: it is open.
    pub end: Option<AskEnd>,
    /// Why its effect was refused before anything began, after it had been allowed.
    pub refused: Option<String>,
}

impl Ask {
    /// Whether its effect was allowed, and may begin still.
    #[must_use]
    pub fn may_begin(&self) -> bool {
        self.end.is_some_and(AskEnd::allows) && self.refused.is_none()
    }
}

/// An ask whose card says how it ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClosedAsk {
    /// Which.
    pub ask: AskId,
    /// The channel or thread of the card.
    pub place: ChannelId,
    /// The card; absent: there is none, or nobody knows its id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<MessageId>,
    /// How it ended.
    pub end: AskEnd,
}

/// How an ask ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "k", rename_all = "kebab-case")]
pub enum AskEnd {
    /// It was answered.
    Decided {
        /// Who answered.
        by: Decider,
        /// By which way.
        via: Via,
        /// What.
        answer: Answer,
    },
    /// Its process died.
    Expired,
    /// Its card could not be delivered.
    Undelivered,
    /// Its turn or its call ended.
    Withdrawn,
}

impl AskEnd {
    /// Whether a person allowed the effect.
    #[must_use]
    pub const fn allows(self) -> bool {
        matches!(
            self,
            Self::Decided {
                answer: Answer::Once,
                ..
            }
        )
    }

    pub(crate) const fn record(self, ask: AskId) -> ApprovalRecord {
        match self {
            Self::Decided { by, via, answer } => ApprovalRecord::Decided {
                ask,
                by,
                via,
                answer,
            },
            Self::Expired => ApprovalRecord::Expired { ask },
            Self::Undelivered => ApprovalRecord::Undelivered { ask },
            Self::Withdrawn => ApprovalRecord::Withdrawn { ask },
        }
    }
}

/// A changing call, until its row is settled and its ask closed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Call {
    /// The tool's name.
    pub tool: String,
    /// The root it works in.
    pub root: Option<String>,
    /// The path, branch or id.
    pub target: String,
    /// Hex SHA-256 of the exact effect.
    pub digest: String,
    /// Hex SHA-256 of what the file will hold.
    pub after: Option<String>,
    /// The ask that allowed it.
    pub ask: Option<AskId>,
    /// How it ended; absent: it has begun.
    pub end: Option<CallFate>,
}

/// How a call ended that had begun.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CallFate {
    /// It was done.
    Done(DoneBy),
    /// It changed nothing.
    Refused(String),
    /// It may have been done.
    Unknown(String),
}

impl Durable {
    /// Asks whose card does not show their end yet.
    pub fn asks(&self) -> impl Iterator<Item = (AskId, &Ask)> {
        self.asks.iter().map(|(id, ask)| (*id, ask))
    }

    /// An ask that is closed, where it is one of the last.
    #[must_use]
    pub fn closed_ask(&self, id: AskId) -> Option<&ClosedAsk> {
        self.closed.iter().find(|closed| closed.ask == id)
    }

    /// The ask of a card, open or closed.
    pub(crate) fn ask_of_card(&self, card: MessageId, place: ChannelId) -> Option<AskId> {
        let mut open = self.asks.iter();
        let open = open.find(|(_, ask)| ask.message == Some(card) && ask.place == place);
        let mut closed = self.closed.iter();
        let closed = closed.find(|ask| ask.message == Some(card) && ask.place == place);
        open.map(|(id, _)| *id).or(closed.map(|it| it.ask))
    }

    /// Changing calls of open rows and open asks.
    pub fn calls(&self) -> impl Iterator<Item = ((RowId, u32), &Call)> {
        self.calls.iter().map(|(key, call)| (*key, call))
    }

    pub(super) fn apply_approval(&mut self, record: &ApprovalRecord) -> Result<(), IllegalRecord> {
        let id = record.ask();
        let open = |end: Option<AskEnd>| end.is_none();
        let ask = self.asks.get_mut(&id);
        let ended = |ask: Option<&mut Ask>, end, word| match ask {
            Some(ask) if open(ask.end) => {
                ask.end = Some(end);
                Ok(())
            }
            Some(_) | None => Err(IllegalRecord::Ask(id, word)),
        };
        match record {
            ApprovalRecord::Opened { .. } => self.open_ask(record),
            ApprovalRecord::Posted { message, .. } => match ask {
                // The receipt of its delivery may have said the same.
                Some(ask) if ask.message.is_none_or(|known| known == *message) => {
                    ask.message = Some(*message);
                    Ok(())
                }
                Some(_) | None => Err(IllegalRecord::Ask(id, "posted")),
            },
            ApprovalRecord::Decided {
                by, via, answer, ..
            } => {
                let (by, via, answer) = (*by, *via, *answer);
                ended(ask, AskEnd::Decided { by, via, answer }, "decided")
            }
            ApprovalRecord::Expired { .. } => ended(ask, AskEnd::Expired, "expired"),
            ApprovalRecord::Undelivered { .. } => ended(ask, AskEnd::Undelivered, "undelivered"),
            ApprovalRecord::Withdrawn { .. } => ended(ask, AskEnd::Withdrawn, "withdrawn"),
            ApprovalRecord::Refused { why, .. } => match ask {
                Some(ask) if ask.may_begin() => {
                    ask.refused = Some(why.clone());
                    Ok(())
                }
                Some(_) | None => Err(IllegalRecord::Ask(id, "refused")),
            },
            ApprovalRecord::Closed { .. } => match ask {
                Some(&mut Ask {
                    turn,
                    call,
                    place,
                    message,
                    end: Some(end),
                    ..
                }) => {
                    self.asks.remove(&id);
                    self.forget_call((turn, call));
                    self.remember_closed(ClosedAsk {
                        ask: id,
                        place,
                        message,
                        end,
                    });
                    Ok(())
                }
                Some(_) | None => Err(IllegalRecord::Ask(id, "closed")),
            },
        }
    }

    fn remember_closed(&mut self, closed: ClosedAsk) {
        if self.closed.len() >= CLOSED_MAX_COUNT {
            self.closed.pop_front();
        }
        self.closed.push_back(closed);
    }

    /// A card's delivery is confirmed, by whatever way: a person may have settled it while no
    /// process was up.
    pub(super) fn card_confirmed(&mut self, id: AskId, message: Option<MessageId>) {
        if let Some(ask) = self.asks.get_mut(&id) {
            ask.message = ask.message.or(message);
        }
    }

    fn open_ask(&mut self, record: &ApprovalRecord) -> Result<(), IllegalRecord> {
        let ApprovalRecord::Opened {
            ask,
            turn,
            call,
            tool,
            class,
            digest,
            place,
            until,
            since,
        } = record
        else {
            return Ok(());
        };
        if self.asks.contains_key(ask) || self.closed.iter().any(|it| it.ask == *ask) {
            return Err(IllegalRecord::Ask(*ask, "opened"));
        }
        let (tool, class, digest) = (tool.clone(), class.clone(), digest.clone());
        let opened = Ask {
            turn: *turn,
            call: *call,
            tool,
            class,
            digest,
            place: *place,
            until: *until,
            since: *since,
            message: None,
            end: None,
            refused: None,
        };
        self.asks.insert(*ask, opened);
        Ok(())
    }

    pub(super) fn apply_call(&mut self, record: &CallRecord) -> Result<(), IllegalRecord> {
        let key = record.key();
        let illegal = |word| Err(IllegalRecord::Call(key.0, key.1, word));
        let fate = match record {
            CallRecord::Begun {
                tool,
                root,
                target,
                digest,
                after,
                ask,
                ..
            } => {
                if self.calls.contains_key(&key) {
                    return illegal("begun");
                }
                let begun = Call {
                    tool: tool.clone(),
                    root: root.clone(),
                    target: target.clone(),
                    digest: digest.clone(),
                    after: after.clone(),
                    ask: *ask,
                    end: None,
                };
                self.calls.insert(key, begun);
                return Ok(());
            }
            CallRecord::Done { by, .. } => CallFate::Done(*by),
            CallRecord::Refused { why, .. } => CallFate::Refused(why.clone()),
            CallRecord::Unknown { why, .. } => CallFate::Unknown(why.clone()),
        };
        match self.calls.get_mut(&key) {
            Some(call) if call.end.is_none() => call.end = Some(fate),
            Some(_) | None => return illegal("ended"),
        }
        self.forget_call(key);
        Ok(())
    }

    /// Forgets a call that nothing open needs any more.
    pub(super) fn forget_call(&mut self, key: (RowId, u32)) {
        let Some(call) = self.calls.get(&key) else {
            return;
        };
        let asked = call.ask.is_some_and(|ask| self.asks.contains_key(&ask));
        if call.end.is_some() && !asked && !self.rows.contains_key(&key.0) {
            self.calls.remove(&key);
        }
    }

    /// Forgets the calls of a row that was settled.
    pub(super) fn forget_calls_of(&mut self, row: RowId) {
        let of_row = self.calls.range((row, 0)..=(row, u32::MAX));
        let keys: Vec<_> = of_row.map(|(key, _)| *key).collect();
        for key in keys {
            self.forget_call(key);
        }
    }
}
