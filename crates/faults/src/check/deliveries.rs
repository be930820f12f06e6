//! Judges each delivery: posted at most once, and its receipt is true.
//!
//! In: messages by the intent they were posted for, durable receipts. Out: doubles, and receipts
//! that say what is not so. Never: blame for what a moderator deleted before anybody could see it.

use super::{Evidence, Found};
use crate::{plan::Action, violation::Invariant};
use guildhall_connector::{
    RESEND_FOR,
    ids::Nonce,
    moment::millis,
    record::{Owner, RefusedWhy},
};

/// A read-back may be decided on a clock that is ahead by this much, in milliseconds.
const AHEAD_MS: u64 = 5_000;

impl Evidence<'_, '_> {
    pub(super) fn judge_deliveries(&self, found: &mut Found) {
        for (nonce, messages) in &self.posted {
            if messages.len() > 1 {
                let about = format!("{} stands {} times", self.name(*nonce), messages.len());
                found.push((Invariant::Doubled, about));
            }
            if !self.ledger.intents.contains_key(nonce) {
                found.push((
                    Invariant::Contradicted,
                    format!("{nonce} was never intended"),
                ));
            }
        }
        for (nonce, end) in &self.ends {
            let posted = self.posted.get(nonce).map_or(&[][..], Vec::as_slice);
            let name = self.name(*nonce);
            if end.confirmed_ms.is_some() && posted.is_empty() {
                found.push((
                    Invariant::Receipt,
                    format!("{name} is confirmed, and is not there"),
                ));
            }
            let Some((why, at_ms)) = end.refused else {
                continue;
            };
            if end.confirmed_ms.is_some() {
                found.push((
                    Invariant::Receipt,
                    format!("{name} is confirmed and refused"),
                ));
            }
            // What was deleted before the channel was read back cannot be found there.
            let gone = |deleted: Option<u64>| deleted.is_some_and(|deleted| deleted <= at_ms);
            // A notice that answers no message is looked for by the clock, which may be off.
            let by_clock = self.machine.clock_jumps() && self.is_notice(*nonce);
            let void = why == RefusedWhy::Void
                && self
                    .machine
                    .plans(|action| matches!(action, Action::Rights(..)));
            if !by_clock && !void && posted.iter().any(|message| !gone(message.deleted_ms)) {
                found.push((
                    Invariant::Receipt,
                    format!("{name} is refused, and stands there"),
                ));
            }
            self.judge_refusal(*nonce, why, at_ms, found);
        }
    }

    fn judge_refusal(&self, nonce: Nonce, why: RefusedWhy, at_ms: u64, found: &mut Found) {
        let Some(intent) = self.ledger.intents.get(&nonce) else {
            return;
        };
        let name = self.name(nonce);
        match why {
            RefusedWhy::Content | RefusedWhy::NoAccess => {
                if !self.ledger.noes.contains(&nonce) {
                    let about = format!("{name} is refused, and Discord never said no");
                    found.push((Invariant::Receipt, about));
                }
            }
            RefusedWhy::Absent => {
                // A card of an ask that has ended is only looked for, at any age.
                let excused = self.machine.clock_jumps()
                    || matches!(intent.owner, Owner::Ask(_))
                    || matches!(intent.owner, Owner::Row(row) if self.ledger.spool_lost.contains(&row));
                let early = at_ms + AHEAD_MS < intent.at_ms + millis(RESEND_FOR);
                if early && !excused {
                    found.push((Invariant::Receipt, format!("{name} is given up too early")));
                }
            }
            RefusedWhy::NotListed
            | RefusedWhy::Unauthorized
            | RefusedWhy::Operator
            | RefusedWhy::Void => {}
        }
    }

    fn is_notice(&self, nonce: Nonce) -> bool {
        let intent = self.ledger.intents.get(&nonce);
        intent.is_some_and(|intent| matches!(intent.owner, Owner::Notice(_)))
    }

    fn name(&self, nonce: Nonce) -> String {
        match self.ledger.intents.get(&nonce) {
            None => nonce.to_string(),
            Some(intent) => format!("{} {:?} {}", intent.owner, intent.purpose, intent.part),
        }
    }
}
