//! Judges what was taken and what was not.
//!
//! In: every message that people wrote. Out: strangers that were taken, messages that were lost,
//! lines that lack or are one too many. Never: a verdict on somebody whose standing changed in the
//! run, beyond what holds for all.

use super::{Case, Evidence, Found};
use crate::{
    discord::Message,
    ledger::{By, Flushed},
    plan::{Action, Shape},
    settings::{BOT, Variant, asks_for_mention, may_speak},
    violation::Invariant,
};
use guildhall_authority::admission::DropReason;
use guildhall_binding::ids::MessageId;
use guildhall_connector::{
    ids::RowId,
    line::Line,
    moment::Day,
    record::{AdmissionRecord, OutboxRecord, Record, RowRecord},
};
use std::collections::BTreeMap;

/// A session's group is durable within so many milliseconds.
const GROUP_MS: u64 = 2_000;
/// How far the wall clock may be behind, in milliseconds.
const BEHIND_MS: u64 = 30_000;
/// A span in which every message of a run is caught up, in seconds.
const WHOLE_RUN_SECS: u64 = 86_400;

/// How somebody stands, over all variants of the binding that a run uses.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Standing {
    Always,
    Never,
    Changes,
}

impl Evidence<'_, '_> {
    pub(super) fn judge_intake(&self, found: &mut Found) {
        let variants = self.variants();
        for message in self.machine.discord.messages.values() {
            if message.author == BOT {
                continue;
            }
            let row = RowId::Message(crate::settings::message(message.id));
            let none = Case::default();
            let case = self.cases.get(&row).unwrap_or(&none);
            // A reply to a card is taken where a mention would be needed, from whoever is listed.
            let answers = case.dropped.contains(&DropReason::Approval);
            match self.standing(message, &variants) {
                Standing::Never if answers && self.is_listed(message, &variants) => {}
                Standing::Never => self.judge_stranger(message, row, case, found),
                Standing::Always => self.judge_listed(message, row, case, found),
                Standing::Changes => {}
            }
            self.judge_decision(message, row, case, found);
        }
        self.judge_ceiling(found);
    }

    fn variants(&self) -> Vec<Variant> {
        let mut variants = vec![Variant::Base];
        for step in &self.machine.plan().steps {
            if let Action::Reload(variant) = step.action {
                variants.push(variant);
            }
        }
        variants
    }

    fn standing(&self, message: &Message, variants: &[Variant]) -> Standing {
        let parent = self.machine.discord.parent(message.channel);
        let talk = match message.shape {
            Shape::Plain | Shape::Paste | Shape::Oversize => !asks_for_mention(parent),
            Shape::Mention => true,
            Shape::Pin | Shape::Elsewhere => false,
        };
        let taken =
            |variant: &Variant| talk && may_speak(*variant, message.author, message.kind, parent);
        if variants.iter().all(taken) {
            Standing::Always
        } else if variants.iter().any(taken) {
            Standing::Changes
        } else {
            Standing::Never
        }
    }

    fn is_listed(&self, message: &Message, variants: &[Variant]) -> bool {
        let parent = self.machine.discord.parent(message.channel);
        let may = |variant: &Variant| may_speak(*variant, message.author, message.kind, parent);
        message.replies_to.is_some() && variants.iter().any(may)
    }

    fn judge_stranger(&self, message: &Message, row: RowId, case: &Case, found: &mut Found) {
        if case.seen + case.queued > 0 {
            found.push((Invariant::Stranger, format!("{row} was taken")));
        }
        let fed = self.ledger.fed.get(&message.id);
        let last = self
            .machine
            .process
            .as_ref()
            .map_or(0, |process| process.id);
        for process in 1..=last {
            let lines = self.lines(row, process).count();
            let hinted = self.ledger.hinted.contains(&(process, message.id));
            let told = fed.is_some_and(|fed| fed.iter().any(|(to, _)| *to == process));
            let most = usize::from(told && !hinted);
            if lines > most {
                let about = format!("{row} has {lines} lines of process {process}");
                found.push((Invariant::DropLine, about));
            }
            // A process that died may have died before it decided; the last one has decided all.
            let owed = process == last && message.deleted_ms.is_none();
            if owed && lines < most {
                let about = format!("{row} has no line of process {process}");
                found.push((Invariant::DropLine, about));
            }
        }
        let kept = self
            .ledger
            .dropped
            .iter()
            .any(|dropped| dropped.message == row && dropped.kept == Flushed::Yes);
        let hinted = (1..=last).any(|to| self.ledger.hinted.contains(&(to, message.id)));
        if hinted && !kept {
            found.push((Invariant::DropLine, format!("{row} left no line")));
        }
    }

    fn lines(&self, row: RowId, process: u32) -> impl Iterator<Item = DropReason> {
        let of = self.ledger.dropped.iter();
        of.filter(move |dropped| dropped.message == row && dropped.process == process)
            .map(|dropped| dropped.why)
            .filter(|why| *why != DropReason::Duplicate)
    }

    fn judge_listed(&self, message: &Message, row: RowId, case: &Case, found: &mut Found) {
        if self.is_owed(message) && case.seen == 0 {
            found.push((Invariant::Lost, format!("{row} was never taken")));
        }
        if case.seen > 1 {
            found.push((
                Invariant::RunTwice,
                format!("{row} was taken {} times", case.seen),
            ));
        }
        let served = self.served(message);
        let by_event = self.was_fed(message.id, By::Event);
        let margin = if self.machine.clock_jumps() {
            GROUP_MS + BEHIND_MS
        } else {
            GROUP_MS
        };
        if let Some((at_ms, _)) = served
            && case.seen > 0
            && !by_event
            && message.at_ms + margin < at_ms
        {
            found.push((Invariant::BeforeServed, format!("{row} was taken")));
        }
    }

    fn was_fed(&self, id: u64, by: By) -> bool {
        let fed = self.ledger.fed.get(&id);
        fed.is_some_and(|fed| fed.iter().any(|(_, how)| *how == by))
    }

    /// When the message's channel was served first: in the run's time, and as the record says.
    fn served(&self, message: &Message) -> Option<(u64, i64)> {
        let parent = self.machine.discord.parent(message.channel);
        self.ledger
            .records
            .iter()
            .find_map(|kept| match &kept.record {
                Record::Rows(RowRecord::Served { channel, since }) if channel.get() == parent => {
                    Some((kept.at_ms, since.0))
                }
                Record::Rows(_)
                | Record::Inbox(_)
                | Record::Admissions(_)
                | Record::Outbox(_)
                | Record::Drops(_)
                | Record::Notices(_)
                | Record::Reloads(_)
                | Record::Approvals(_)
                | Record::Calls(_)
                | Record::Turns(_) => None,
            })
    }

    /// Whether a listed message had to be taken: nobody deleted it, its place could be read, and it
    /// came after the channel was served and within the span that is caught up.
    fn is_owed(&self, message: &Message) -> bool {
        let Some((at_ms, since)) = self.served(message) else {
            return false;
        };
        let created = crate::settings::message(message.id);
        let after = message.at_ms > at_ms && created_ms(created) >= since;
        let caught_up = self.machine.plan().knobs.bounds.catch_up.as_secs() >= WHOLE_RUN_SECS;
        let last = self
            .machine
            .process
            .as_ref()
            .map_or(0, |process| process.id);
        let fed = self.ledger.fed.get(&message.id);
        let told = fed.is_some_and(|fed| fed.iter().any(|(to, _)| *to == last));
        let readable = !self.ledger.unread.contains(&message.channel);
        // What there was no room for is owed only where it is caught up: by the rule of what came later.
        let no_room = self.ledger.dropped.iter().any(|dropped| {
            dropped.message == RowId::Message(created) && dropped.why == DropReason::NoRoom
        });
        let told = told && !no_room;
        message.deleted_ms.is_none() && (told || (after && caught_up && readable))
    }

    /// A message that was taken is either queued or dropped, and for a reason that is there.
    fn judge_decision(&self, message: &Message, row: RowId, case: &Case, found: &mut Found) {
        if case.seen == 0 {
            return;
        }
        let unclaimed = case.claimed.is_empty() && case.queued > 0;
        let cancelled = unclaimed && !case.settled.is_empty();
        let want = usize::from(case.queued == 0 || cancelled);
        if case.dropped.len() != want || case.queued > 1 {
            let about = format!(
                "{row} is queued {} times and dropped for {:?}",
                case.queued, case.dropped
            );
            found.push((Invariant::DropLine, about));
        }
        for why in &case.dropped {
            let right = match why {
                DropReason::Oversize => message.shape == Shape::Oversize,
                DropReason::Withdrawn | DropReason::Gone => message.deleted_ms.is_some(),
                DropReason::Estop => self.machine.plans(|action| {
                    matches!(
                        action,
                        Action::Estop(guildhall_connector::moment::Brake::On)
                    )
                }),
                DropReason::Cancelled => self.machine.plans(|action| *action == Action::Cancel),
                DropReason::UserNotListed | DropReason::ChannelNotListed => self
                    .machine
                    .plans(|action| matches!(action, Action::Reload(_))),
                DropReason::Ceiling => self.machine.plan().knobs.bounds.turns_per_day < 200,
                DropReason::CostCeiling => {
                    self.machine.plan().knobs.bounds.micro_usd_per_day.is_some()
                }
                DropReason::QueueFull => self.machine.plan().knobs.bounds.queued_turns < 64,
                DropReason::OwnMessage
                | DropReason::Webhook
                | DropReason::Bot
                | DropReason::System
                | DropReason::OtherGuild
                | DropReason::NotTalk
                | DropReason::ChannelNotForUser
                | DropReason::NotMentioned
                | DropReason::Duplicate
                | DropReason::NoRoom
                | DropReason::TooOld => false,
                DropReason::Approval => message.replies_to.is_some(),
            };
            if !right {
                found.push((
                    Invariant::DropLine,
                    format!("{row} is dropped for {}", why.code()),
                ));
            }
        }
    }

    fn judge_ceiling(&self, found: &mut Found) {
        let mut days: BTreeMap<Day, u32> = BTreeMap::new();
        for kept in &self.ledger.records {
            if let Record::Admissions(AdmissionRecord::Admitted { day, .. }) = &kept.record {
                *days.entry(*day).or_default() += 1;
            }
        }
        self.judge_money(found);
        self.judge_claims_after_money(found);
        let most = self.machine.plan().knobs.bounds.turns_per_day;
        for (day, turns) in days {
            if turns > most {
                found.push((Invariant::Ceiling, format!("{turns} turns on {day}")));
            }
        }
    }
}

impl Evidence<'_, '_> {
    /// Nothing is accepted once the day's money is spent, and nobody is told so before.
    fn judge_money(&self, found: &mut Found) {
        let ceiling = self.machine.plan().knobs.bounds.micro_usd_per_day;
        let ceiling = ceiling.unwrap_or(u64::MAX);
        let mut days: BTreeMap<Day, u64> = BTreeMap::new();
        for kept in &self.ledger.records {
            match &kept.record {
                Record::Rows(RowRecord::Spent { day, micro_usd, .. }) => {
                    *days.entry(*day).or_default() += micro_usd;
                }
                Record::Admissions(AdmissionRecord::Admitted { row, day, .. })
                    if days.get(day).is_some_and(|spent| *spent >= ceiling) =>
                {
                    found.push((
                        Invariant::Ceiling,
                        format!("{row} came after the money went"),
                    ));
                }
                Record::Outbox(OutboxRecord::Intent { owner, line, .. })
                    if *line == Some(Line::CostCeiling)
                        && days.values().all(|spent| *spent < ceiling) =>
                {
                    found.push((
                        Invariant::Ceiling,
                        format!("{owner} is told without a reason"),
                    ));
                }
                Record::Inbox(_)
                | Record::Drops(_)
                | Record::Admissions(_)
                | Record::Rows(_)
                | Record::Outbox(_)
                | Record::Notices(_)
                | Record::Reloads(_)
                | Record::Approvals(_)
                | Record::Calls(_)
                | Record::Turns(_) => {}
            }
        }
    }
}

impl Evidence<'_, '_> {
    /// Nothing runs that is claimed once the day's money is spent.
    fn judge_claims_after_money(&self, found: &mut Found) {
        let Some(ceiling) = self.machine.plan().knobs.bounds.micro_usd_per_day else {
            return;
        };
        if self.machine.clock_jumps() {
            // A claim does not say its day, and the time at which it was durable does not either.
            return;
        }
        let mut days: BTreeMap<Day, u64> = BTreeMap::new();
        for kept in &self.ledger.records {
            let Record::Rows(record) = &kept.record else {
                continue;
            };
            match record {
                RowRecord::Spent { day, micro_usd, .. } => {
                    *days.entry(*day).or_default() += micro_usd;
                }
                RowRecord::Claimed { row, .. } => {
                    // Claimed before it was durable: a day that is spent then was spent at the claim.
                    let day = self.machine.true_wall_at(kept.at_ms).day();
                    let is_spent = days.get(&day).is_some_and(|spent| *spent >= ceiling);
                    if is_spent && self.ledger.starts.contains(row) {
                        found.push((
                            Invariant::Ceiling,
                            format!("{row} runs though the money went"),
                        ));
                    }
                }
                RowRecord::Started { .. }
                | RowRecord::Served { .. }
                | RowRecord::Queued { .. }
                | RowRecord::Answered { .. }
                | RowRecord::Settled { .. }
                | RowRecord::RoutePaused { .. } => {}
            }
        }
    }
}

fn created_ms(id: MessageId) -> i64 {
    i64::try_from(id.created_ms()).unwrap_or(i64::MAX)
}
