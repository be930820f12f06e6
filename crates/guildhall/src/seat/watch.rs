//! The watch: whether the seat is well, told to the supervisor and to `status`.
//!
//! In: each wake of the driver, look-ups of channels. Out: words to the supervisor, conditions.
//! Never: a sign of life for a gateway or an engine that is dead, a look-up for every wake.

use super::{
    driver::{Driver, Running},
    health::{EVENT_DELAY_MAX_MS, Health, Looked, Seen},
    notify::Notifier,
};
use guildhall_binding::ids::ChannelId;
use guildhall_connector::moment::{Moment, Mono};
use guildhall_discord::{gateway::LinkStage, rest::Outcome};
use std::time::Duration;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

/// How often the seat looks at itself.
const EVERY_MAX: Duration = Duration::from_secs(10);
/// How often one listed channel, each in its turn, is compared with what the gateway told.
const LOOK_EVERY_MAX: Duration = Duration::from_secs(60);
/// How much longer a start may take from each sign of life on.
const START_EXTENSION: Duration = Duration::from_secs(120);

/// What the supervisor knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Told {
    Starting,
    Ready,
    Reloading,
    Stopping,
}

/// The watch's own state.
pub(super) struct Watch {
    notifier: Notifier,
    pub(super) health: Health,
    told: Told,
    line: String,
    due: Mono,
    look_due: Mono,
    /// The channel that is looked at next; the one after it when it is gone.
    next: Option<ChannelId>,
    looked: UnboundedSender<Looked>,
    looks: UnboundedReceiver<Looked>,
}

impl Watch {
    pub(super) fn new(notifier: Notifier) -> Self {
        let (looked, looks) = unbounded_channel();
        Self {
            notifier,
            health: Health::default(),
            told: Told::Starting,
            line: String::new(),
            due: Mono(0),
            look_due: Mono(0),
            next: None,
            looked,
            looks,
        }
    }

    /// The next look-up that ended.
    ///
    /// # Cancel safety
    /// A dropped future leaves it in the queue.
    pub(super) async fn look(&mut self) -> Looked {
        match self.looks.recv().await {
            Some(looked) => looked,
            // Never: a sender is kept here.
            None => std::future::pending().await,
        }
    }

    pub(super) const fn due(&self) -> Mono {
        self.due
    }

    /// A quarter of the supervisor's patience, so that one late wake costs nothing.
    fn every(&self) -> Duration {
        let patience = self.notifier.watchdog().map_or(EVERY_MAX, |wait| wait / 4);
        patience.min(EVERY_MAX)
    }

    fn look_every(&self) -> Duration {
        let patience = self
            .notifier
            .watchdog()
            .map_or(LOOK_EVERY_MAX, |wait| wait / 2);
        patience.min(LOOK_EVERY_MAX)
    }

    /// The seat ends.
    pub(super) fn stopping(&mut self) {
        if self.told != Told::Stopping {
            self.told = Told::Stopping;
            self.notifier.stopping();
        }
    }

    /// The binding is being read again.
    pub(super) fn reloading(&mut self) {
        if self.told == Told::Ready {
            self.told = Told::Reloading;
            self.notifier.reloading();
        }
    }

    /// It has been read.
    pub(super) fn reloaded(&mut self) {
        if self.told == Told::Reloading {
            self.told = Told::Ready;
            self.notifier.ready();
        }
    }

    fn say_line(&mut self, line: String) {
        if self.line != line {
            self.notifier.status(&line);
            self.line = line;
        }
    }
}

impl Driver {
    /// Looks at the seat when that is due, or has become ready.
    pub(super) fn watch(&mut self, running: &Running, now: Mono) {
        let link = running.gateway.as_ref().map(|(handle, _)| handle.link());
        let is_live = link.is_some_and(|link| link.stage == LinkStage::Live);
        let news = is_live && self.watch.told == Told::Starting;
        if now < self.watch.due && !news {
            return;
        }
        self.watch.due = now.plus(self.watch.every());
        let at = self.moment();
        let status = self.connector.status(&at);
        let changed = self.watch.health.observe(&Seen {
            now: at.wall,
            status: &status,
            link: link.as_ref(),
            runs: running.runs.keys().copied().collect(),
        });
        if changed {
            self.keep.touch(now);
            match self.watch.health.line() {
                // A link that is not there yet is no news.
                _ if self.watch.told == Told::Starting => {}
                Some(line) => tracing::warn!("{line}"),
                None => tracing::info!("no longer degraded"),
            }
        }
        let is_alive = self.watch.health.is_alive();
        match self.watch.told {
            Told::Starting if is_live => {
                self.watch.told = Told::Ready;
                self.watch.notifier.ready();
            }
            Told::Starting => self.watch.notifier.extend(START_EXTENSION),
            Told::Ready | Told::Reloading | Told::Stopping if is_alive => {
                self.watch.notifier.alive();
            }
            Told::Ready | Told::Reloading | Told::Stopping => {
                tracing::error!("not alive: the supervisor hears nothing until that is over");
            }
        }
        let line = self.watch.health.line().unwrap_or_else(|| {
            let waiting: usize = status.waiting.iter().map(|(_, count)| count).sum();
            format!(
                "{}: {} at work, {waiting} waiting",
                status.phase,
                status.at_work.len()
            )
        });
        self.watch.say_line(line);
        if is_live && now >= self.watch.look_due {
            self.watch.look_due = now.plus(self.watch.look_every());
            self.look_at_a_channel();
        }
    }

    /// Asks Discord for one listed channel, each in its turn.
    fn look_at_a_channel(&mut self) {
        let channels = &self.policy.channels;
        let from = self
            .watch
            .next
            .and_then(|next| channels.range(next..).next());
        let Some((channel, _)) = from.or_else(|| channels.iter().next()) else {
            return;
        };
        let channel = *channel;
        let after = (
            std::ops::Bound::Excluded(channel),
            std::ops::Bound::Unbounded,
        );
        self.watch.next = channels.range(after).next().map(|(id, _)| *id);
        let (rest, looked) = (self.rest.clone(), self.watch.looked.clone());
        tokio::spawn(async move {
            if let Outcome::Done(place) = rest.channel(channel).await
                && looked
                    .send(Looked {
                        channel,
                        kind: place.kind,
                        newest: place.last_message,
                    })
                    .is_err()
            {
                tracing::debug!("a look-up came after the end");
            }
        });
    }

    /// A look-up ended: what it says about the gateway.
    pub(super) fn looked(&mut self, at: &Moment, looked: Looked) {
        let delay = u64::try_from(self.watch.look_every().as_millis()).unwrap_or(u64::MAX);
        let health = &mut self.watch.health;
        if health.looked(at.wall, delay.min(EVENT_DELAY_MAX_MS), looked) {
            self.watch.next = Some(looked.channel);
        }
        // What was found shows at once.
        self.watch.due = Mono(0);
    }
}
