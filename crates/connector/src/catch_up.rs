//! Catching up: what people said while the link was down.
//!
//! In: a fresh session, the guild's threads, pages of history. Out: messages that pass admission in
//! order of their ids, as if they had just come. Never: a message that is older than the binding
//! takes, a channel that was not served before, an event that overtakes a page for longer than the
//! bound.

use crate::{
    connector::{Connector, Out},
    input::{Found, HistoryPage, Rest},
    intake::pause,
    live::{Answer, CatchUp, GuildDue, Meanwhile, Reading},
    moment::{Mono, millis},
    step::{Command, LookUp, Tell},
};
use guildhall_authority::{
    admission::{Located, locate},
    event::Said,
    place::Whereabouts,
};
use guildhall_binding::ids::{ChannelId, DISCORD_EPOCH_MS, MessageId};
use std::{collections::BTreeMap, time::Duration};

/// How long events wait for pages.
const EVENTS_WAIT: Duration = Duration::from_secs(15);
/// How long a fresh session waits for the guild's threads.
const GUILD_WAIT: Duration = Duration::from_secs(3);
/// Events that wait, at most; beyond it they go on at once.
const EVENTS_MAX_COUNT: usize = 4_096;
/// Messages that are read back from one place.
const MESSAGES_MAX_COUNT: usize = 500;
/// After how many tries the operator hears of a place that gives no answer. It is asked further, at
/// a slow pace: giving up would lose what was said there.
const TRIES_TO_TELL: u32 = 8;
/// Edits and deletes that are kept while pages are on their way.
const MEANWHILE_MAX_COUNT: usize = 4_096;

impl Connector {
    /// A fresh session: the guild comes next, and events wait for what was missed.
    pub(crate) fn await_guild(&mut self, out: &mut Out<'_>) {
        let held = self.take_held();
        self.live.guild = GuildDue::Yes;
        let until = out.at.mono.plus(GUILD_WAIT);
        self.live.catch_up = CatchUp::AwaitingGuild {
            until,
            events: held,
        };
    }

    /// The guild's threads are known.
    pub(crate) fn guild_known(&mut self, out: &mut Out<'_>) {
        // A guild that comes later than a fresh session waits for it brings its threads then.
        if self.live.guild == GuildDue::Yes {
            self.live.guild = GuildDue::No;
            self.begin_catch_up(out);
        }
    }

    /// Asks for everything that was said after each place's cursor.
    pub(crate) fn begin_catch_up(&mut self, out: &mut Out<'_>) {
        let events = self.take_held();
        let mut pending = self.places_to_read(out);
        for (channel, reading) in &mut pending {
            if self.live.asked.contains(channel) {
                reading.answer = Answer::Older;
            } else {
                self.ask(out, *channel, reading.after);
            }
        }
        let until = out.at.mono.plus(EVENTS_WAIT);
        self.live.catch_up = CatchUp::Reading {
            until,
            pending,
            events,
        };
        self.flush_if_read(out);
    }

    fn places_to_read(&self, out: &Out<'_>) -> BTreeMap<ChannelId, Reading> {
        let span = millis(self.policy.limits.catch_up);
        if span == 0 {
            return BTreeMap::new();
        }
        let now = u64::try_from(out.at.wall.0).unwrap_or(0);
        let oldest = snowflake_at(now.saturating_sub(span));
        let channels = self.policy.channels.keys().filter_map(|channel| {
            let since = self.durable.served.get(channel)?;
            let served = snowflake_at(u64::try_from(since.0).unwrap_or(0));
            let after = self.cursor(*channel).max(served).max(oldest);
            Some((*channel, after))
        });
        let is_channel = |id: &ChannelId| self.policy.channels.contains_key(id);
        let listed =
            |id: &ChannelId| matches!(locate(&self.policy, &self.facts, *id), Located::Here(_));
        let known = self.live.threads.iter().filter(|(id, newest)| {
            let has_news = newest.is_none_or(|newest| newest.get() > self.cursor(**id));
            has_news && listed(id) && !is_channel(id)
        });
        let spoken = self.durable.cursors.iter().filter(|(id, cursor)| {
            !is_channel(id) && cursor.get() > oldest && !self.live.threads.contains_key(id)
        });
        let threads = known.map(|(id, _)| *id).chain(spoken.map(|(id, _)| *id));
        let threads =
            threads.map(|id| (id, self.cursor(id).max(oldest).max(self.served_since(id))));
        let fresh = |after| Reading {
            after,
            got: 0,
            tries: 1,
            again: None,
            answer: Answer::Ours,
        };
        channels
            .chain(threads)
            .map(|(id, after)| (id, fresh(after)))
            .collect()
    }

    /// When a thread's channel began to be served: nothing older is caught up in the thread.
    fn served_since(&self, thread: ChannelId) -> u64 {
        let parent = match self.facts.whereabouts.get(&thread) {
            Some(Whereabouts::ThreadOf(parent)) => self.durable.served.get(parent),
            Some(Whereabouts::NoThread) | None => None,
        };
        parent.map_or(0, |since| snowflake_at(u64::try_from(since.0).unwrap_or(0)))
    }

    fn cursor(&self, place: ChannelId) -> u64 {
        self.live.cursors.get(&place).map_or(0, |id| id.get())
    }

    /// Gives the message back when nothing is being caught up; keeps it otherwise.
    pub(crate) fn hold_while_catching_up(&mut self, out: &mut Out<'_>, said: Said) -> Option<Said> {
        // Messages come after their guild: one that comes before it says that no guild will.
        if matches!(self.live.catch_up, CatchUp::AwaitingGuild { .. }) {
            self.begin_catch_up(out);
        }
        let events = match &mut self.live.catch_up {
            CatchUp::Idle | CatchUp::Late { .. } => return Some(said),
            CatchUp::AwaitingGuild { events, .. } | CatchUp::Reading { events, .. } => events,
        };
        events.push(said);
        if events.len() >= EVENTS_MAX_COUNT {
            self.release(out);
        }
        None
    }

    fn ask(&mut self, out: &mut Out<'_>, channel: ChannelId, after: u64) {
        self.live.asked.insert(channel);
        out.now(Command::LookUp(LookUp::History { channel, after }));
    }

    /// Whether something older may still be read in a place, so that its cursor must stay.
    pub(crate) fn has_gap(&self, place: ChannelId) -> bool {
        match &self.live.catch_up {
            CatchUp::Idle | CatchUp::AwaitingGuild { .. } => false,
            CatchUp::Reading { pending, .. } | CatchUp::Late { pending } => {
                pending.contains_key(&place)
            }
        }
    }

    /// A message that may be held, or on a page on its way, was edited or deleted.
    pub(crate) fn change_held(&mut self, id: MessageId, change: Meanwhile) {
        let events = match &mut self.live.catch_up {
            CatchUp::Idle => return,
            CatchUp::Late { .. } => None,
            CatchUp::AwaitingGuild { events, .. } | CatchUp::Reading { events, .. } => Some(events),
        };
        if let Some(events) = events {
            let held = std::mem::take(events);
            events.extend(held.into_iter().filter_map(|said| after(&change, id, said)));
        }
        if self.live.meanwhile.len() < MEANWHILE_MAX_COUNT {
            self.live.meanwhile.insert(id, change);
        }
    }

    pub(crate) fn learned_history(
        &mut self,
        out: &mut Out<'_>,
        channel: ChannelId,
        found: Found<HistoryPage>,
    ) {
        self.live.asked.remove(&channel);
        let late = matches!(self.live.catch_up, CatchUp::Late { .. });
        let reading = match &mut self.live.catch_up {
            CatchUp::Idle | CatchUp::AwaitingGuild { .. } => None,
            CatchUp::Reading { pending, .. } | CatchUp::Late { pending } => {
                pending.get_mut(&channel)
            }
        };
        let Some(reading) = reading else {
            self.live.counts.ignored += 1;
            return;
        };
        if reading.answer == Answer::Older {
            reading.answer = Answer::Ours;
            let after = reading.after;
            return self.ask(out, channel, after);
        }
        let mut ended = true;
        let mut page = Vec::new();
        let mut next = None;
        match found {
            Found::Nothing => out.tell(Tell::NotCaughtUp(channel)),
            Found::NoAnswer => {
                if reading.tries == TRIES_TO_TELL {
                    out.tell(Tell::NotCaughtUp(channel));
                }
                reading.again = Some(out.at.mono.plus(pause(reading.tries)));
                reading.tries += 1;
                ended = false;
            }
            Found::Here(HistoryPage { said, rest }) => {
                reading.got += said.len();
                let newest = said.iter().map(|said| said.id.get()).max();
                reading.after = reading.after.max(newest.unwrap_or(0));
                let more = rest == Rest::More && newest.is_some();
                if more && reading.got >= MESSAGES_MAX_COUNT {
                    out.tell(Tell::CatchUpCut(channel));
                } else if more {
                    ended = false;
                    next = Some(reading.after);
                }
                page = said;
            }
        }
        if let Some(after) = next {
            self.ask(out, channel, after);
        }
        let meanwhile = &self.live.meanwhile;
        let now = |said: Said| match meanwhile.get(&said.id) {
            Some(change) => after(change, said.id, said),
            None => Some(said),
        };
        page = page.into_iter().filter_map(now).collect();
        // Our own words need no drop line each time a channel is read.
        page.retain(|said| said.author.id != self.policy.bot);
        self.page_read(out, channel, ended, late, page);
    }

    fn page_read(
        &mut self,
        out: &mut Out<'_>,
        channel: ChannelId,
        ended: bool,
        late: bool,
        page: Vec<Said>,
    ) {
        match &mut self.live.catch_up {
            CatchUp::Idle | CatchUp::AwaitingGuild { .. } => {}
            CatchUp::Reading {
                pending, events, ..
            } => {
                events.extend(page);
                if ended {
                    pending.remove(&channel);
                }
                return self.flush_if_read(out);
            }
            CatchUp::Late { pending } => {
                if ended {
                    pending.remove(&channel);
                }
                if pending.is_empty() {
                    self.live.catch_up = CatchUp::Idle;
                    self.live.meanwhile.clear();
                }
            }
        }
        if late {
            self.consider_all(out, page);
        }
    }

    fn flush_if_read(&mut self, out: &mut Out<'_>) {
        if matches!(&self.live.catch_up, CatchUp::Reading { pending, .. } if pending.is_empty()) {
            self.release(out);
        }
    }

    /// Lets everything that waits pass admission, oldest first; pages that are still awaited come
    /// late.
    fn release(&mut self, out: &mut Out<'_>) {
        let (events, pending) = match std::mem::take(&mut self.live.catch_up) {
            CatchUp::Idle => (Vec::new(), BTreeMap::new()),
            CatchUp::Late { pending } => (Vec::new(), pending),
            CatchUp::AwaitingGuild { events, .. } => (events, BTreeMap::new()),
            CatchUp::Reading {
                pending, events, ..
            } => (events, pending),
        };
        if pending.is_empty() {
            self.live.meanwhile.clear();
        } else {
            self.live.catch_up = CatchUp::Late { pending };
        }
        self.consider_all(out, events);
    }

    fn consider_all(&mut self, out: &mut Out<'_>, mut said: Vec<Said>) {
        said.sort_by_key(|said| said.id);
        said.dedup_by_key(|said| said.id);
        for said in said {
            self.consider(out, said);
        }
    }

    fn take_held(&mut self) -> Vec<Said> {
        match std::mem::take(&mut self.live.catch_up) {
            CatchUp::Idle | CatchUp::Late { .. } => Vec::new(),
            CatchUp::AwaitingGuild { events, .. } | CatchUp::Reading { events, .. } => events,
        }
    }

    pub(crate) fn tick_catch_up(&mut self, out: &mut Out<'_>) {
        let now = out.at.mono;
        match &self.live.catch_up {
            CatchUp::Idle | CatchUp::Late { .. } => {}
            CatchUp::AwaitingGuild { until, .. } if *until <= now => self.begin_catch_up(out),
            CatchUp::Reading { until, .. } if *until <= now => self.release(out),
            CatchUp::AwaitingGuild { .. } | CatchUp::Reading { .. } => {}
        }
        let pending = match &mut self.live.catch_up {
            CatchUp::Idle | CatchUp::AwaitingGuild { .. } => return,
            CatchUp::Reading { pending, .. } | CatchUp::Late { pending } => pending,
        };
        let mut due = Vec::new();
        for (channel, reading) in pending {
            if reading.again.is_some_and(|again| again <= now) {
                reading.again = None;
                due.push((*channel, reading.after));
            }
        }
        for (channel, after) in due {
            self.ask(out, channel, after);
        }
    }

    pub(crate) fn catch_up_deadline(&self) -> Option<Mono> {
        let again = |pending: &BTreeMap<ChannelId, Reading>| {
            pending.values().filter_map(|reading| reading.again).min()
        };
        match &self.live.catch_up {
            CatchUp::Idle => None,
            CatchUp::AwaitingGuild { until, .. } => Some(*until),
            CatchUp::Reading { until, pending, .. } => {
                Some(again(pending).map_or(*until, |again| again.min(*until)))
            }
            CatchUp::Late { pending } => again(pending),
        }
    }
}

/// A message after a change to the one of this id; none where that one was deleted.
fn after(change: &Meanwhile, id: MessageId, said: Said) -> Option<Said> {
    match change {
        _ if said.id != id => Some(said),
        Meanwhile::Edited(edited) => Some((**edited).clone()),
        Meanwhile::Deleted => None,
    }
}

/// The smallest snowflake of a moment, in milliseconds since the Unix epoch.
fn snowflake_at(unix_ms: u64) -> u64 {
    unix_ms.saturating_sub(DISCORD_EPOCH_MS) << 22
}
