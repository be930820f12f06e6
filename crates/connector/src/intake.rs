//! Intake: from a message that arrived to a row that waits, or a drop by name.
//!
//! In: messages, edits, deletes, parents that were looked up. Out: the group that accepts a message
//! (seen, admitted, queued), drop lines, notices. Never: a message that is accepted twice, or
//! admitted on a guess about its place.

use crate::{
    connector::{Connector, Out, drop_of},
    delivery::NewDelivery,
    ids::{Route, RowId},
    input::{Found, Room},
    live::{Meanwhile, Notes, Strays},
    moment::{Brake, Day, Mono},
    record::{
        AdmissionRecord, Content, Descriptor, InboxRecord, NoticeKey, NoticeRecord, Origin, Owner,
        Purpose, Record, RowRecord, Settlement, Who,
    },
    step::{Command, LookUp},
    turn::{Changed, Timing},
};
use guildhall_authority::{
    admission::{Admission, DropReason, admit},
    event::{Deleted, Said},
    place::{Place, Whereabouts},
};
use guildhall_binding::ids::ChannelId;
use std::time::Duration;

/// Messages that wait for a parent, over all channels.
const STRAYS_MAX_COUNT: usize = 1024;
/// Known threads; beyond it the smallest ids are forgotten and looked up again when they speak.
const WHEREABOUTS_MAX_COUNT: usize = 16_384;
/// Places whose newest message is remembered beside the durable cursors.
const PLACES_MAX_COUNT: usize = 4_096;
/// Notices on their way; beyond it people are not told, and only the drop line is left.
const NOTICES_MAX_COUNT: usize = 256;

impl Connector {
    /// A message arrived: it is decided now, or waits until what was missed is read.
    pub(crate) fn said(&mut self, out: &mut Out<'_>, said: Said) {
        if let Some(said) = self.hold_while_catching_up(out, said) {
            self.consider(out, said);
        }
    }

    /// Decides on one message.
    pub(crate) fn consider(&mut self, out: &mut Out<'_>, said: Said) {
        self.live.counts.messages += 1;
        let admission = admit(&self.policy, &self.facts, &said);
        let Some(said) = self.take_reply_to_card(out, said, admission) else {
            return;
        };
        match admission {
            Admission::Turn(_) if self.live.strays.contains_key(&said.channel) => {
                self.stray(out, said);
            }
            Admission::Turn(place) => self.accept(out, said, place),
            Admission::Drop(why) => {
                self.advance_cursor(&said);
                self.drop_line(out, &said, why);
            }
            Admission::LookUp(_) => self.stray(out, said),
        }
    }

    pub(crate) fn advance_cursor(&mut self, said: &Said) {
        if self.live.room == Room::None {
            // What is refused meanwhile is caught up later, so nothing may pass it.
            return;
        }
        if self.has_gap(said.channel) {
            return;
        }
        let listed = self.policy.channels.contains_key(&said.channel);
        if listed || self.facts.whereabouts.contains_key(&said.channel) {
            let cursor = self.live.cursors.entry(said.channel).or_insert(said.id);
            *cursor = (*cursor).max(said.id);
        }
        if self.live.cursors.len() > PLACES_MAX_COUNT {
            // Listed channels stay; of threads the one that was silent longest goes, and is read
            // back by its age alone should it speak again.
            let threads = self.live.cursors.iter();
            let threads = threads.filter(|(id, _)| !self.policy.channels.contains_key(id));
            let oldest = threads
                .min_by_key(|(_, newest)| **newest)
                .map(|(id, _)| *id);
            oldest.map(|id| self.live.cursors.remove(&id));
        }
    }

    fn accept(&mut self, out: &mut Out<'_>, said: Said, place: Place) {
        let row = RowId::Message(said.id);
        if self.durable.seen.contains(row) {
            self.advance_cursor(&said);
            return self.drop_line(out, &said, DropReason::Duplicate);
        }
        let day = out.at.wall.day();
        if self.live.room == Room::None {
            // Not seen and not passed by the cursor: it is caught up when there is room again.
            if let Some(thread) = place.thread {
                let newest = self.live.threads.entry(thread).or_default();
                *newest = (*newest).max(Some(said.id));
            }
            self.drop_line(out, &said, DropReason::NoRoom);
            return self.notice(out, &said, NoticeKey::NoRoom(said.channel, day));
        }
        self.advance_cursor(&said);
        // The place is the cursor of the next start, so it is left out while something older is
        // still to be read there.
        let channel = Some(said.channel).filter(|place| !self.has_gap(*place));
        self.commit(out, Record::Inbox(InboxRecord::Seen { row, channel }));
        let route = Route::of(self.policy.scope, place);
        let refused = if out.at.brakes.estop == Brake::On {
            Some((DropReason::Estop, NoticeKey::Estop(said.channel, day)))
        } else if said.text.chars() > self.policy.limits.inbound_max_chars {
            Some((DropReason::Oversize, NoticeKey::Oversize(said.id)))
        } else if self.durable.turns_on(day) >= self.policy.limits.turns_per_day {
            Some((DropReason::Ceiling, NoticeKey::Ceiling(day)))
        } else if self.is_spent(day) {
            Some((DropReason::CostCeiling, NoticeKey::CostCeiling(day)))
        } else if self.waiting_on(route) >= self.policy.limits.queued_turns {
            Some((DropReason::QueueFull, NoticeKey::QueueFull(said.id)))
        } else {
            None
        };
        match refused {
            Some((why, key)) => {
                self.live.counts.dropped += 1;
                self.commit(out, Record::Drops(drop_of(&said, why)));
                self.notice(out, &said, key);
            }
            None => self.queue(out, said, place, route),
        }
    }

    /// Whether the day's money is spent. Runs that are under way may still add to it.
    pub(crate) fn is_spent(&self, day: Day) -> bool {
        let ceiling = self.policy.limits.micro_usd_per_day;
        ceiling.is_some_and(|ceiling| self.durable.spent_on(day) >= ceiling)
    }

    fn waiting_on(&self, route: Route) -> usize {
        self.durable
            .queues
            .get(&route)
            .map_or(0, std::collections::VecDeque::len)
    }

    fn queue(&mut self, out: &mut Out<'_>, said: Said, place: Place, route: Route) {
        let row = RowId::Message(said.id);
        let who = Who::User(said.author.id);
        let admitted = AdmissionRecord::Admitted {
            row,
            route,
            origin: Origin::User,
            who: who.clone(),
            channel: said.channel,
            day: out.at.wall.day(),
            policy: self.policy.digest.as_str().to_owned(),
        };
        self.commit(out, Record::Admissions(admitted));
        let (descriptor, content) = (Descriptor::Native, Content::Message(said.id));
        let queued = RowRecord::Queued {
            row,
            route,
            descriptor,
            who,
            place,
            content,
        };
        self.commit(out, Record::Rows(queued));
        let timing = Timing {
            accepted: Some(out.at.wall),
            ..Timing::default()
        };
        self.live.notes.insert(
            row,
            Notes {
                timing,
                ..Notes::default()
            },
        );
        out.later(Command::React {
            row,
            channel: said.channel,
            message: said.id,
        });
        self.live.texts.insert(row, Box::new(said));
    }

    /// Says one fixed line about a message that is not taken, unless it was said already.
    pub(crate) fn notice(&mut self, out: &mut Out<'_>, said: &Said, key: NoticeKey) {
        let on_their_way = self
            .durable
            .outbox
            .values()
            .filter(|delivery| matches!(delivery.owner, Owner::Notice(_)))
            .count();
        if self.durable.notices.contains(&key) || on_their_way >= NOTICES_MAX_COUNT {
            return;
        }
        if key.day().is_some() {
            self.commit(
                out,
                Record::Notices(NoticeRecord::Attempted { notice: key }),
            );
        }
        self.intend(
            out,
            NewDelivery {
                owner: Owner::Notice(key),
                purpose: Purpose::Notice,
                part: 1,
                of: 1,
                place: said.channel,
                reply_to: key.is_about_the_message().then_some(said.id),
                line: Some(key.line()),
                text: key.line().text().to_owned(),
                card: None,
            },
        );
    }

    /// An edit before the turn changes what is asked; later it changes only the record.
    pub(crate) fn edited(&mut self, said: &Said) {
        let row = RowId::Message(said.id);
        if self.is_under_way(row) {
            return self.mark_changed(row, Changed::Edited);
        }
        if self.durable.rows.contains_key(&row) {
            self.live.texts.insert(row, Box::new(said.clone()));
        }
        for strays in self.live.strays.values_mut() {
            for stray in strays.said.iter_mut().filter(|stray| stray.id == said.id) {
                *stray = said.clone();
            }
        }
        self.change_held(said.id, Meanwhile::Edited(Box::new(said.clone())));
    }

    /// A delete before the turn withdraws the row; later it changes only the record.
    pub(crate) fn deleted(&mut self, out: &mut Out<'_>, deleted: Deleted) {
        let row = RowId::Message(deleted.id);
        for strays in self.live.strays.values_mut() {
            strays.said.retain(|said| said.id != deleted.id);
        }
        self.change_held(deleted.id, Meanwhile::Deleted);
        if self.is_under_way(row) {
            self.mark_changed(row, Changed::Deleted);
        } else {
            self.cancel_queued(out, row, DropReason::Withdrawn);
        }
    }

    fn mark_changed(&mut self, row: RowId, changed: Changed) {
        if let Some(notes) = self.live.notes.get_mut(&row)
            && !notes.changed.contains(&changed)
        {
            notes.changed.push(changed);
        }
    }

    /// Settles a row that waits; does nothing to one that was claimed.
    pub(crate) fn cancel_queued(&mut self, out: &mut Out<'_>, row: RowId, why: DropReason) {
        let waits = self
            .durable
            .rows
            .get(&row)
            .filter(|open| open.state == crate::durable::RowState::Queued);
        let Some(open) = waits else { return };
        let (route, channel) = (open.route, Some(open.place.target()));
        let author = open.who.user();
        self.live.counts.dropped += 1;
        let drop = crate::record::DropLine {
            message: row,
            channel,
            author,
            why,
        };
        let (how, why) = (Settlement::Cancelled, Some(why.code().to_owned()));
        self.commit(out, Record::Rows(RowRecord::Settled { row, how, why }));
        self.commit(out, Record::Drops(drop));
        self.live.texts.remove(&row);
        self.live.notes.remove(&row);
        if self.row_at_work(route) == Some(row) {
            self.live.routes.remove(&route);
        }
    }

    /// A message whose channel may be a thread waits until that is known.
    fn stray(&mut self, out: &mut Out<'_>, said: Said) {
        let waiting: usize = self
            .live
            .strays
            .values()
            .map(|strays| strays.said.len())
            .sum();
        if waiting >= STRAYS_MAX_COUNT {
            return self.drop_line(out, &said, DropReason::QueueFull);
        }
        let channel = said.channel;
        if !self.live.strays.contains_key(&channel) {
            out.now(Command::LookUp(LookUp::Whereabouts(channel)));
        }
        self.live.strays.entry(channel).or_default().said.push(said);
    }

    /// A channel's parent became known, by whatever way.
    pub(crate) fn place_known(&mut self, out: &mut Out<'_>, id: ChannelId, at: Whereabouts) {
        self.facts.whereabouts.insert(id, at);
        if self.facts.whereabouts.len() > WHEREABOUTS_MAX_COUNT {
            let oldest = self
                .facts
                .whereabouts
                .keys()
                .copied()
                .find(|known| *known != id);
            oldest.map(|known| self.facts.whereabouts.remove(&known));
        }
        if let Some(Strays { said, .. }) = self.live.strays.remove(&id) {
            for said in said {
                self.consider(out, said);
            }
        }
    }

    pub(crate) fn learned_whereabouts(
        &mut self,
        out: &mut Out<'_>,
        channel: ChannelId,
        found: Found<Whereabouts>,
    ) {
        match found {
            Found::Here(at) => self.place_known(out, channel, at),
            Found::Nothing => self.place_known(out, channel, Whereabouts::NoThread),
            Found::NoAnswer => {
                if let Some(strays) = self.live.strays.get_mut(&channel) {
                    strays.tries += 1;
                    strays.again = Some(out.at.mono.plus(pause(strays.tries)));
                }
            }
        }
    }

    pub(crate) fn tick_strays(&mut self, out: &mut Out<'_>) {
        let due = |again: Option<Mono>| again.is_some_and(|again| again <= out.at.mono);
        let mut look_ups = Vec::new();
        for (channel, strays) in &mut self.live.strays {
            if due(strays.again) {
                strays.again = None;
                look_ups.push(Command::LookUp(LookUp::Whereabouts(*channel)));
            }
        }
        out.step.at_once.extend(look_ups);
    }
}

/// How long to wait before try number `tries` + 1: 1, 2, 4 ... 60 seconds.
pub(crate) fn pause(tries: u32) -> Duration {
    Duration::from_secs(1 << tries.saturating_sub(1).min(6)).min(Duration::from_secs(60))
}
