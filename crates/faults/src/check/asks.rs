//! Judges asks and their cards by what the world shows.
//!
//! In: cards as they stand, effects that happened, durable records. Out: cards that still ask, or that
//! say what is not so; effects that nobody allowed. Never: blame for a card that could not be found
//! since its channel may not be read.

use super::{Evidence, Found};
use crate::{
    plan::{Access, Action},
    violation::Invariant,
};
use guildhall_authority::ask::{Answer, AskId};
use guildhall_connector::record::{ApprovalRecord, Owner, Record};
use std::collections::BTreeMap;

/// How an edited card begins.
const ENDED: &str = "**Permission was asked**";

impl Evidence<'_, '_> {
    pub(super) fn judge_asks(&self, found: &mut Found) {
        let host = &self.machine.host;
        for message in self.machine.discord.messages.values() {
            let Some(ask) = message.ask else { continue };
            if message.deleted_ms.is_some() {
                continue;
            }
            let text = message.texts.last().map_or("", String::as_str);
            if !text.starts_with(ENDED) {
                if !self.was_not_found(ask) {
                    found.push((Invariant::Card, format!("the card of {ask} still asks")));
                }
                continue;
            }
            let done = host
                .all
                .get(&ask)
                .is_some_and(|key| host.effects.contains_key(key));
            let denies = [
                "nothing was done",
                "not carried out",
                "not done",
                "Denied",
                "Nobody answered",
                "A stop",
            ];
            if done && denies.iter().any(|word| text.contains(word)) {
                found.push((
                    Invariant::Card,
                    format!("the card of {ask} denies what was done"),
                ));
            }
            if !done && text.contains("and done") {
                found.push((
                    Invariant::Card,
                    format!("the card of {ask} says what was not done"),
                ));
            }
        }
        for (key, count) in &host.effects {
            let ask = host
                .all
                .iter()
                .find(|(_, of)| *of == key)
                .map(|(ask, _)| ask);
            let allowed = ask.is_none_or(|ask| host.decided.get(ask) == Some(&Answer::Once));
            if *count > 1 || !allowed {
                let about = format!("{} {} happened {count} times", key.0, key.1);
                found.push((Invariant::Decision, about));
            }
        }
        self.judge_approvals(found);
    }

    /// A channel whose history may not be read does not show its cards.
    fn was_not_found(&self, ask: AskId) -> bool {
        let hidden = |action: &Action| matches!(action, Action::Rights(_, Access::NoHistory));
        let refused = self.ends.iter().any(|(nonce, end)| {
            let intent = self.ledger.intents.get(nonce);
            end.refused.is_some() && intent.is_some_and(|it| it.owner == Owner::Ask(ask))
        });
        refused && self.machine.plans(hidden)
    }

    fn judge_approvals(&self, found: &mut Found) {
        let mut ends: BTreeMap<AskId, u32> = BTreeMap::new();
        for kept in &self.ledger.records {
            if let Record::Approvals(record) = &kept.record {
                let ended = match record {
                    ApprovalRecord::Decided { .. }
                    | ApprovalRecord::Expired { .. }
                    | ApprovalRecord::Undelivered { .. }
                    | ApprovalRecord::Withdrawn { .. } => 1,
                    ApprovalRecord::Opened { .. }
                    | ApprovalRecord::Posted { .. }
                    | ApprovalRecord::Refused { .. }
                    | ApprovalRecord::Closed { .. } => 0,
                };
                *ends.entry(record.ask()).or_default() += ended;
            }
        }
        for (ask, count) in ends {
            if count != 1 {
                found.push((Invariant::Decision, format!("{ask} ended {count} times")));
            }
        }
    }
}
