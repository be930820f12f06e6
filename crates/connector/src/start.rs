//! Start and end of the process: what the last one left, the link, the drain.
//!
//! In: what was read from disk, the link's news, deadlines. Out: reconciled deliveries, interrupted
//! turns, the connect, the exit. Never: a claim before everything the last process left is settled.

use crate::{
    connector::{Connector, Out},
    durable::RowState,
    ids::Nonce,
    input::{Link, Start},
    live::{Active, Linked, Phase, Reached, ReplyMark, SendStep, Sending},
    record::{Owner, Record, RowRecord},
    step::{Command, Exit},
};
use std::{collections::BTreeSet, time::Duration};

/// How long deliveries may go on once a drain has no turn left to wait for. What is open then is
/// reconciled at the next start.
const DRAIN_DELIVERIES: Duration = Duration::from_secs(30);

impl Connector {
    pub(crate) fn start(&mut self, out: &mut Out<'_>, start: Start) {
        self.live.started = out.at.wall;
        self.live.spool = start.spool;
        for id in start.dropped {
            self.live.dropped.insert(id);
        }
        self.live.cursors = self.durable.cursors.clone();
        for (place, id) in start.cursors {
            let cursor = self.live.cursors.entry(place).or_insert(id);
            *cursor = (*cursor).max(id);
        }
        let epoch = self.durable.epoch + 1;
        self.commit(out, Record::Rows(RowRecord::Started { epoch }));
        let open = self.take_up_deliveries(out);
        self.live.phase = Phase::Reconciling(open);
        self.pause_foreign_routes(out);
        let begun: Vec<_> = self
            .durable
            .rows
            .iter()
            .filter(|(_, row)| row.state != RowState::Queued)
            .map(|(id, _)| *id)
            .collect();
        for row in begun {
            self.deliver(out, row);
        }
        self.take_up_calls(out);
        self.take_up_asks(out);
        self.connect_if_reconciled(out);
    }

    /// Every delivery that the last process left open is in doubt: it may have arrived.
    fn take_up_deliveries(&mut self, out: &Out<'_>) -> BTreeSet<Nonce> {
        let mut open = BTreeSet::new();
        for (nonce, delivery) in &self.durable.outbox {
            self.live.nonces.insert(*nonce);
            if delivery.state.has_ended() {
                continue;
            }
            let line = delivery.line.map(|line| line.text().to_owned());
            let sending = Sending {
                card: None,
                text: line.or_else(|| self.live.spool.get(nonce).cloned()),
                reply: ReplyMark::Kept,
                reached: Reached::Perhaps,
                step: SendStep::Waiting(out.at.mono),
                tries: 0,
                looks: 0,
                last_try: out.at.mono,
                no: None,
            };
            self.live.sendings.insert(*nonce, sending);
            // A card is of no use any more: nothing waits for it, and it is only looked for.
            if !matches!(delivery.owner, Owner::Ask(_)) {
                open.insert(*nonce);
            }
        }
        open
    }

    /// A delivery of the last process was settled.
    pub(crate) fn reconciled(&mut self, out: &mut Out<'_>, nonce: Nonce) {
        if let Phase::Reconciling(open) = &mut self.live.phase {
            open.remove(&nonce);
            self.connect_if_reconciled(out);
            self.refuse_start_if_all_stuck(out);
        }
    }

    fn connect_if_reconciled(&mut self, out: &mut Out<'_>) {
        if matches!(&self.live.phase, Phase::Reconciling(open) if open.is_empty()) {
            self.live.phase = Phase::Connecting;
            out.later(Command::Connect);
        }
    }

    /// Everything else is settled, and these need a person.
    pub(crate) fn refuse_start_if_all_stuck(&mut self, out: &mut Out<'_>) {
        let Phase::Reconciling(open) = &self.live.phase else {
            return;
        };
        let stuck = |nonce: &Nonce| {
            self.live
                .sendings
                .get(nonce)
                .is_some_and(|sending| sending.step == SendStep::Stuck)
        };
        if !open.is_empty() && open.iter().all(stuck) {
            let open = open.iter().copied().collect();
            self.live.phase = Phase::Over;
            out.later(Command::Exit(Exit::Unresolved(open)));
        }
    }

    pub(crate) fn link(&mut self, out: &mut Out<'_>, link: Link) {
        match link {
            Link::Ready => {
                self.up(out);
                self.await_guild(out);
            }
            Link::Resumed => {
                let first = self.live.phase == Phase::Connecting;
                self.up(out);
                if first {
                    self.begin_catch_up(out);
                }
            }
            Link::Guild(threads) => {
                // The guild names every thread that is active: the others are not read any more.
                self.live.threads.clear();
                for thread in threads {
                    self.live.threads.insert(thread.id, thread.newest);
                    let at = guildhall_authority::place::Whereabouts::ThreadOf(thread.parent);
                    self.place_known(out, thread.id, at);
                }
                self.guild_known(out);
            }
            Link::Place(channel, at) => self.place_known(out, channel, at),
            Link::Down => self.live.linked = Linked::Down,
        }
    }

    fn up(&mut self, out: &mut Out<'_>) {
        self.live.linked = Linked::Up;
        if self.live.phase == Phase::Connecting {
            self.live.phase = Phase::Serving;
        }
        self.serve_new_channels(out);
    }

    /// Marks listed channels as served from now on.
    pub(crate) fn serve_new_channels(&mut self, out: &mut Out<'_>) {
        if self.live.linked == Linked::Down {
            return;
        }
        let since = out.at.wall;
        let new: Vec<_> = self
            .policy
            .channels
            .keys()
            .copied()
            .filter(|channel| !self.durable.served.contains_key(channel))
            .collect();
        for channel in new {
            self.commit(out, Record::Rows(RowRecord::Served { channel, since }));
        }
    }

    /// Under a drain: exits once no turn runs and deliveries have ended, or had their time.
    pub(crate) fn end_if_drained(&mut self, out: &mut Out<'_>) {
        let Phase::Draining(until) = self.live.phase else {
            return;
        };
        let runs = self
            .live
            .routes
            .values()
            .any(|active| matches!(active, Active::Running(_)));
        if runs {
            return;
        }
        let until = until.unwrap_or_else(|| out.at.mono.plus(DRAIN_DELIVERIES));
        self.live.phase = Phase::Draining(Some(until));
        let delivering = self
            .live
            .sendings
            .values()
            .any(|s| s.step != SendStep::Stuck);
        let showing = self.live.cards.values();
        let showing = showing.filter(|work| work.under_way.is_some() || work.again.is_some());
        let delivering = delivering || showing.count() > 0;
        if !delivering || until <= out.at.mono {
            self.live.phase = Phase::Over;
            out.later(Command::Exit(Exit::Drained));
        }
    }

    /// Whether a delivery's owner is a row, for tests of what is left open.
    #[must_use]
    pub fn open_deliveries(&self) -> Vec<(Nonce, Owner)> {
        let open = self
            .durable
            .outbox
            .iter()
            .filter(|(_, delivery)| !delivery.state.has_ended());
        open.map(|(nonce, delivery)| (*nonce, delivery.owner))
            .collect()
    }
}
