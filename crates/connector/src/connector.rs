//! The connector: a pure state machine.
//!
//! In: one input and the moment it came. Out: one step. Never: two steps for one input, or a
//! change of the durable state beside the records of the step.

use crate::{
    durable::Durable,
    input::{Input, Learned, Order, Room},
    live::{Active, CatchUp, GuildDue, Live, Phase, SendStep},
    moment::{Brake, Moment, Mono},
    record::{DropLine, Record, ReloadRecord},
    step::{Command, Step, Tell},
};
use guildhall_authority::{
    admission::{DropReason, Facts},
    ask::AskBook,
    event::Said,
};
use guildhall_binding::Policy;
use std::{sync::Arc, time::Duration};

/// How long a brake may go unnoticed while something could start or runs.
pub(crate) const BRAKE_POLL: Duration = Duration::from_secs(1);

/// One seat's connector.
#[derive(Debug)]
pub struct Connector {
    pub(crate) policy: Arc<Policy>,
    pub(crate) facts: Facts,
    pub(crate) durable: Durable,
    pub(crate) live: Live,
    /// The one place where decisions are made.
    pub(crate) book: AskBook,
}

/// What one decision has put together so far.
pub(crate) struct Out<'m> {
    pub(crate) at: &'m Moment,
    pub(crate) step: Step,
}

impl Out<'_> {
    pub(crate) fn now(&mut self, command: Command) {
        self.step.at_once.push(command);
    }

    pub(crate) fn later(&mut self, command: Command) {
        self.step.after.push(command);
    }

    pub(crate) fn tell(&mut self, tell: Tell) {
        self.now(Command::Tell(tell));
    }
}

impl Connector {
    /// A connector over what the journal held. Nothing happens before [`Input::Started`]. The book is
    /// the one that was founded with the judge of this process's tool host.
    #[must_use]
    pub fn new(policy: Arc<Policy>, durable: Durable, book: AskBook) -> Self {
        Self {
            policy,
            facts: Facts::default(),
            durable,
            live: Live::default(),
            book,
        }
    }

    /// The number that this process will have once it has started.
    #[must_use]
    pub const fn next_epoch(&self) -> u64 {
        self.durable.epoch + 1
    }

    /// Decides on one input.
    pub fn on(&mut self, at: &Moment, input: Input) -> Step {
        let mut out = Out {
            at,
            step: Step::default(),
        };
        self.live.last = at.mono;
        self.notice_brakes(&mut out);
        self.take_input(&mut out, input);
        self.tick(&mut out);
        self.advance(&mut out);
        self.end_if_drained(&mut out);
        out.step
    }

    fn take_input(&mut self, out: &mut Out<'_>, input: Input) {
        match input {
            Input::Started(start) => self.start(out, start),
            Input::Link(link) => self.link(out, link),
            Input::Said(said) => self.said(out, *said),
            Input::Edited(edited) => self.edited(&edited.said),
            Input::Deleted(deleted) => self.deleted(out, deleted),
            Input::Echoed(echo) => self.echoed(out, echo),
            Input::Learned(learned) => self.learned(out, learned),
            Input::Sent(nonce, receipt) => self.sent(out, nonce, receipt),
            Input::Eyes(row, receipt) => match self.live.notes.get_mut(&row) {
                Some(notes) => notes.receipt = receipt,
                None => self.live.counts.ignored += 1,
            },
            Input::Run(row, event) => self.run_event(out, row, event),
            Input::Ordered(order) => self.ordered(out, order),
            Input::Journal(room) => self.room(out, room),
            Input::Asked(spec) => self.asked(out, spec),
            Input::AskGone(ask) => self.ask_gone(out, ask),
            Input::Pressed(press) => self.pressed(out, press),
            Input::CallBegins(begun) => self.call_begins(out, begun),
            Input::CallEnds(ended) => self.call_ends(out, ended),
            Input::CardEdited(ask, receipt) => self.card_edited(out, ask, receipt),
            Input::Tick => {}
        }
    }

    fn learned(&mut self, out: &mut Out<'_>, learned: Learned) {
        match learned {
            Learned::Whereabouts(channel, found) => self.learned_whereabouts(out, channel, found),
            Learned::Text(row, found) => self.learned_text(out, row, found),
            Learned::Paste(row, found) => self.learned_paste(out, row, found),
            Learned::History(channel, found) => self.learned_history(out, channel, found),
            Learned::ReadBack(nonce, found) => self.learned_read_back(out, nonce, found),
            Learned::File(turn, call, found) => self.learned_file(out, (turn, call), found),
        }
    }

    fn ordered(&mut self, out: &mut Out<'_>, order: Order) {
        match order {
            Order::Drain => self.drain(out),
            Order::Reload(policy, note) => {
                self.policy = policy;
                let file = note.file.unwrap_or_default();
                let applied = ReloadRecord::Applied {
                    file,
                    changes: note.lines,
                };
                self.commit(out, Record::Reloads(applied));
                self.serve_new_channels(out);
            }
            Order::ReloadRefused(note) => {
                let refused = ReloadRecord::Refused {
                    file: note.file,
                    why: note.lines,
                };
                self.commit(out, Record::Reloads(refused));
            }
            Order::Cancel(row) => self.cancel_queued(out, row, DropReason::Cancelled),
            Order::Abort(row) => self.abort_row(out, row),
            Order::Settle(nonce, verdict) => self.settle_by_hand(out, nonce, verdict),
            Order::Decide(ask, answer) => self.decide_by_hand(out, ask, answer),
        }
    }

    fn room(&mut self, out: &mut Out<'_>, room: Room) {
        let before = std::mem::replace(&mut self.live.room, room);
        if before == Room::None && room == Room::Enough {
            self.begin_catch_up(out);
        }
    }

    fn drain(&mut self, out: &mut Out<'_>) {
        match self.live.phase {
            Phase::Draining(_) | Phase::Over => {}
            Phase::New | Phase::Reconciling(_) | Phase::Connecting | Phase::Serving => {
                self.live.phase = Phase::Draining(None);
                self.stop_asks(out);
            }
        }
    }

    /// Adds a record to the step's group, and to the state that the group stands for.
    pub(crate) fn commit(&mut self, out: &mut Out<'_>, record: Record) {
        self.durable
            .apply(&record)
            .expect("a record is decided on the state that it is applied to");
        out.step.commit.push(record);
    }

    /// Writes a drop line that changes nothing that is remembered.
    pub(crate) fn drop_line(&mut self, out: &mut Out<'_>, said: &Said, why: DropReason) {
        self.live.counts.dropped += 1;
        if self.live.dropped.contains(said.id) && why != DropReason::Duplicate {
            return;
        }
        self.live.dropped.insert(said.id);
        out.now(Command::Drop(drop_of(said, why)));
    }

    /// Whether something that was said is not decided yet, so that the gateway's place is not to be
    /// saved: what the session will not replay is still being read, or was refused for want of room.
    #[must_use]
    pub fn is_undecided(&self) -> bool {
        let reads = !matches!(self.live.catch_up, CatchUp::Idle);
        let due = self.live.guild == GuildDue::Yes;
        reads || due || self.live.room == Room::None || !self.live.strays.is_empty()
    }

    /// When the connector wants to be woken, if nothing happens before.
    #[must_use]
    pub fn deadline(&self) -> Option<Mono> {
        let routes = self.live.routes.values().filter_map(|active| match active {
            Active::Preparing(preparing) => preparing.again,
            Active::Running(running) => {
                // Nobody types while a run is being aborted.
                let next = match (running.aborting, running.stands_since) {
                    (Some(aborting), _) => Some(aborting.until),
                    // Its asks have deadlines of their own.
                    (None, Some(_)) => None,
                    (None, None) => Some(running.deadline.min(running.type_at)),
                };
                let poll = self.live.last.plus(BRAKE_POLL);
                Some(next.map_or(poll, |next| next.min(poll)))
            }
            Active::Delivering(_) => None,
        });
        let sendings = self
            .live
            .sendings
            .values()
            .filter_map(|sending| match sending.step {
                SendStep::Waiting(until) => Some(until),
                SendStep::Posting | SendStep::Reading | SendStep::Stuck => None,
            });
        let strays = self.live.strays.values().filter_map(|strays| strays.again);
        let drain = match self.live.phase {
            Phase::Draining(until) => until,
            Phase::New
            | Phase::Reconciling(_)
            | Phase::Connecting
            | Phase::Serving
            | Phase::Over => None,
        };
        let braked = self
            .is_held_by_brake()
            .then(|| self.live.last.plus(BRAKE_POLL));
        let rest = [
            self.catch_up_deadline(),
            self.asks_deadline(),
            drain,
            braked,
        ];
        routes
            .chain(sendings)
            .chain(strays)
            .chain(rest.into_iter().flatten())
            .min()
    }

    fn is_held_by_brake(&self) -> bool {
        let waits = self.live.phase == Phase::Serving && !self.durable.queues.is_empty();
        waits && self.live.routes.is_empty()
    }

    /// The durable state, as checkpoints and tests read it.
    #[must_use]
    pub const fn durable(&self) -> &Durable {
        &self.durable
    }

    /// Newest message that was looked at, by place, for `gateway.json`.
    #[must_use]
    pub fn cursors(
        &self,
    ) -> Vec<(
        guildhall_binding::ids::ChannelId,
        guildhall_binding::ids::MessageId,
    )> {
        self.live
            .cursors
            .iter()
            .map(|(place, id)| (*place, *id))
            .collect()
    }

    fn notice_brakes(&mut self, out: &mut Out<'_>) {
        let before = std::mem::replace(&mut self.live.estop, out.at.brakes.estop);
        let on = |brake| brake == Brake::On;
        if on(out.at.brakes.stop) || on(out.at.brakes.estop) {
            self.stop_asks(out);
        }
        if before == Brake::Off && on(out.at.brakes.estop) {
            self.emergency_stop(out);
        }
    }

    fn tick(&mut self, out: &mut Out<'_>) {
        self.tick_strays(out);
        self.tick_catch_up(out);
        self.tick_routes(out);
        self.tick_sendings(out);
        self.tick_asks(out);
    }
}

/// The drop line of a message.
pub(crate) fn drop_of(said: &Said, why: DropReason) -> DropLine {
    DropLine {
        message: crate::ids::RowId::Message(said.id),
        channel: Some(said.channel),
        author: Some(said.author.id),
        why,
    }
}
