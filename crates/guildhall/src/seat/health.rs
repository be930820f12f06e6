//! Whether the seat is well: what is wrong, and since when.
//!
//! In: what the link, the connector, the engine and look-ups say. Out: conditions with their
//! beginning; whether the watchdog may be fed. Never: a clock that is read here, a message's text.

use guildhall_binding::ids::{ChannelId, MessageId};
use guildhall_connector::{
    ids::{Nonce, Route, RowId},
    moment::Wall,
    status::Status,
};
use guildhall_discord::{
    PlaceKind,
    gateway::{LinkStage, LinkStatus},
};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

/// A link that is live and was not heard for so long is dead: two of Discord's heartbeats, and some.
const SILENCE_MAX_MS: u64 = 90_000;
/// How long after its abort a run may take to end; the engine's own promise is 30 seconds.
const RUN_END_MAX_MS: i64 = 60_000;
/// A message that came this soon after the link went live may have been told in its catch-up.
const LIVE_MARGIN_MS: u64 = 5_000;
/// While events were taken this lately, one that is missing may still be in the queue.
const BUSY_MS: i64 = 10_000;
/// How long Discord may take to tell of a message, at most.
pub(super) const EVENT_DELAY_MAX_MS: u64 = 60_000;

/// Something that is wrong.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Condition {
    /// There is no live session with Discord; it is being tried.
    LinkDown,
    /// The link is live, and Discord was not heard for too long.
    GatewaySilent,
    /// Discord has a message in this channel that it never told us of.
    GatewayDeaf(ChannelId),
    /// A run was aborted and does not end.
    EngineSilent(RowId),
    /// The disk is full.
    NoRoom,
    /// A delivery needs a person.
    DeliveryStuck(Nonce),
    /// Nothing of a route runs any more.
    RoutePaused(Route),
}

impl Condition {
    /// Its fixed name.
    const fn code(&self) -> &'static str {
        match self {
            Self::LinkDown => "link-down",
            Self::GatewaySilent => "gateway-silent",
            Self::GatewayDeaf(_) => "gateway-deaf",
            Self::EngineSilent(_) => "engine-silent",
            Self::NoRoom => "no-room",
            Self::DeliveryStuck(_) => "delivery-stuck",
            Self::RoutePaused(_) => "route-paused",
        }
    }

    /// One line for people.
    fn words(&self) -> String {
        match self {
            Self::LinkDown => "not connected to Discord; it is tried again".to_owned(),
            Self::GatewaySilent => "the gateway is connected, and nothing comes from it".to_owned(),
            Self::GatewayDeaf(channel) => {
                format!("Discord does not tell of messages in channel {channel}")
            }
            Self::EngineSilent(row) => format!("the run of {row} was aborted and does not end"),
            Self::NoRoom => "no room on the disk: nothing new is accepted".to_owned(),
            Self::DeliveryStuck(nonce) => format!("delivery {nonce} needs a person"),
            Self::RoutePaused(route) => format!("route {route} is paused"),
        }
    }

    /// Whether a new start would mend it and nothing else will.
    const fn is_dead(&self) -> bool {
        match self {
            Self::GatewaySilent | Self::GatewayDeaf(_) | Self::EngineSilent(_) => true,
            Self::LinkDown | Self::NoRoom | Self::DeliveryStuck(_) | Self::RoutePaused(_) => false,
        }
    }
}

/// A condition as `status` shows it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(super) struct Told {
    what: &'static str,
    since: Wall,
    words: String,
}

/// The last event of a channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub(super) struct LastEvent {
    at: Wall,
    message: MessageId,
}

/// What was found when a channel was looked at.
#[derive(Clone, Copy, Debug)]
pub(super) struct Looked {
    pub(super) channel: ChannelId,
    pub(super) kind: PlaceKind,
    pub(super) newest: Option<MessageId>,
}

/// What the driver knows at one moment.
pub(super) struct Seen<'a> {
    pub(super) now: Wall,
    pub(super) status: &'a Status,
    pub(super) link: Option<&'a LinkStatus>,
    /// Rows with a run that has not ended.
    pub(super) runs: Vec<RowId>,
}

/// What is wrong, and what was last heard.
#[derive(Debug, Default)]
pub(super) struct Health {
    conditions: BTreeMap<Condition, Wall>,
    events: BTreeMap<ChannelId, LastEvent>,
    last_event: Option<Wall>,
    /// Runs that their row does not wait for any more.
    orphaned: BTreeMap<RowId, Wall>,
    /// Channels that seemed behind when they were last looked at.
    doubted: BTreeSet<ChannelId>,
    deaf: BTreeSet<ChannelId>,
    /// Since when the link that the last two are about is live.
    live_since_ms: Option<u64>,
}

impl Health {
    /// A message was told of.
    pub(super) fn heard(&mut self, now: Wall, channel: ChannelId, message: MessageId) {
        self.last_event = Some(now);
        let last = self
            .events
            .entry(channel)
            .or_insert(LastEvent { at: now, message });
        last.at = now;
        last.message = last.message.max(message);
    }

    /// Works out what is wrong now. True when that has changed.
    pub(super) fn observe(&mut self, seen: &Seen<'_>) -> bool {
        let live = seen.link.filter(|link| link.stage == LinkStage::Live);
        let since = live.map(|link| link.since_ms);
        if since != self.live_since_ms {
            // Another session: what was thought of the last one means nothing.
            self.live_since_ms = since;
            self.doubted.clear();
            self.deaf.clear();
        }
        let mut found = BTreeSet::new();
        match live {
            None => {
                found.insert(Condition::LinkDown);
            }
            Some(link) => {
                let heard = link.heard_ms.unwrap_or(link.since_ms).max(link.since_ms);
                let now = u64::try_from(seen.now.0).unwrap_or(0);
                if now.saturating_sub(heard) > SILENCE_MAX_MS {
                    found.insert(Condition::GatewaySilent);
                }
            }
        }
        found.extend(self.deaf.iter().copied().map(Condition::GatewayDeaf));
        found.extend(self.ended_late(seen));
        if seen.status.room == "none" {
            found.insert(Condition::NoRoom);
        }
        let stuck = seen.status.deliveries.iter().filter(|d| d.step == "stuck");
        found.extend(stuck.map(|delivery| Condition::DeliveryStuck(delivery.nonce)));
        let paused = seen.status.paused.iter();
        found.extend(paused.map(|(route, _)| Condition::RoutePaused(*route)));
        let before = self.conditions.len();
        self.conditions
            .retain(|condition, _| found.contains(condition));
        let mut changed = self.conditions.len() != before;
        for condition in found {
            self.conditions.entry(condition).or_insert_with(|| {
                changed = true;
                seen.now
            });
        }
        changed
    }

    /// Runs that outlived their row for too long.
    fn ended_late(&mut self, seen: &Seen<'_>) -> Vec<Condition> {
        let awaited = |row: &RowId| {
            let mut at_work = seen.status.at_work.iter();
            at_work.any(|work| work.row == *row && work.step != "aborting")
        };
        let orphans: Vec<_> = seen.runs.iter().filter(|row| !awaited(row)).collect();
        self.orphaned.retain(|row, _| orphans.contains(&row));
        for row in orphans {
            self.orphaned.entry(*row).or_insert(seen.now);
        }
        let late = self.orphaned.iter();
        late.filter(|(_, since)| seen.now.since(**since) > RUN_END_MAX_MS)
            .map(|(row, _)| Condition::EngineSilent(*row))
            .collect()
    }

    /// Compares what Discord has in a channel with what it told of. Two looks in a row must say the
    /// same before the gateway is called deaf. True when the channel should be looked at again soon.
    pub(super) fn looked(&mut self, now: Wall, delay_max_ms: u64, looked: Looked) -> bool {
        let behind = self.is_behind(now, delay_max_ms, looked);
        if !behind {
            self.doubted.remove(&looked.channel);
            self.deaf.remove(&looked.channel);
        } else if !self.doubted.insert(looked.channel) {
            self.deaf.insert(looked.channel);
        }
        behind && !self.deaf.contains(&looked.channel)
    }

    fn is_behind(&self, now: Wall, delay_max_ms: u64, looked: Looked) -> bool {
        let talks = matches!(looked.kind, PlaceKind::Text | PlaceKind::Voice);
        let (Some(newest), Some(live), true) = (looked.newest, self.live_since_ms, talks) else {
            return false;
        };
        let known = self.events.get(&looked.channel).map(|last| last.message);
        let busy = self.last_event.is_some_and(|at| now.since(at) < BUSY_MS);
        let made = newest.created_ms();
        let now = u64::try_from(now.0).unwrap_or(0);
        let untold = known.is_none_or(|known| newest > known);
        untold && !busy && made > live + LIVE_MARGIN_MS && now > made + delay_max_ms
    }

    /// Whether the seat does what it is there for, or a new start would not help either.
    pub(super) fn is_alive(&self) -> bool {
        !self.conditions.keys().any(Condition::is_dead)
    }

    /// Whether the session with Discord is worth keeping.
    pub(super) fn is_deaf(&self) -> bool {
        !self.deaf.is_empty()
    }

    /// What is wrong, for `status`; empty when nothing is.
    pub(super) fn told(&self) -> Vec<Told> {
        let one = |(condition, since): (&Condition, &Wall)| Told {
            what: condition.code(),
            since: *since,
            words: condition.words(),
        };
        self.conditions.iter().map(one).collect()
    }

    /// The last event of each channel.
    pub(super) const fn events(&self) -> &BTreeMap<ChannelId, LastEvent> {
        &self.events
    }

    /// What is wrong, in one line.
    pub(super) fn line(&self) -> Option<String> {
        let words: Vec<_> = self.conditions.keys().map(Condition::words).collect();
        (!words.is_empty()).then(|| format!("degraded: {}", words.join("; ")))
    }
}

#[cfg(test)]
mod tests;
