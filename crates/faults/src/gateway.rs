//! A model of the gateway: sessions, their events in order, resume and replay.
//!
//! In: what happens on the server. Out: events for the process, each once and in order as long as
//! the session lives. Never: an event of before a session, or the promise that a process saw one.

use crate::discord::Message;
use guildhall_authority::event::Said;
use guildhall_connector::input::KnownThread;
use std::collections::VecDeque;

/// One event of a session.
#[derive(Clone, Debug)]
pub(crate) enum Event {
    Ready,
    Guild(Vec<KnownThread>),
    Said(Box<Said>),
    Edited(Box<Said>),
    Deleted { id: u64, channel: u64 },
    Own { id: u64 },
    Place { thread: u64, parent: u64 },
}

/// Where a process is in a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Seat {
    pub(crate) session: u32,
    /// Events that were received.
    pub(crate) seq: usize,
}

/// How the link came up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Opened {
    /// A fresh session.
    Fresh,
    /// The old one, with so many events to be replayed.
    Resumed(usize),
}

/// The server's side of the link.
#[derive(Debug)]
pub(crate) struct Gateway {
    session: u32,
    events: Vec<Event>,
    alive: Alive,
    /// When the link broke, where it is broken.
    broken_ms: Option<u64>,
    resume_ms: u64,
    /// Counts connections, so that what was on its way over an old one is lost.
    pub(crate) link: u32,
    up: bool,
    /// What the process knows of its session; it dies with the process.
    pub(crate) known: Option<Seat>,
    recent: VecDeque<Event>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Alive {
    Yes,
    No,
}

/// Events that can be repeated.
const RECENT_COUNT: usize = 8;

impl Gateway {
    pub(crate) fn new(resume_ms: u64) -> Self {
        Self {
            session: 0,
            events: Vec::new(),
            alive: Alive::No,
            broken_ms: None,
            resume_ms,
            link: 0,
            up: false,
            known: None,
            recent: VecDeque::new(),
        }
    }

    pub(crate) const fn is_up(&self) -> bool {
        self.up
    }

    /// Something happened; whether it is on its way to the process now.
    pub(crate) fn push(&mut self, event: Event) -> bool {
        if self.alive == Alive::No {
            return false;
        }
        self.events.push(event);
        self.up
    }

    /// The link breaks.
    pub(crate) fn breaks(&mut self, now: u64) {
        if self.up {
            self.up = false;
            self.broken_ms = Some(now);
        }
        self.link += 1;
    }

    /// Discord forgets the session.
    pub(crate) const fn forget(&mut self) {
        self.alive = Alive::No;
    }

    /// The process connects.
    pub(crate) fn open(&mut self, now: u64, threads: Vec<KnownThread>) -> Opened {
        self.link += 1;
        self.up = true;
        let broken_for = self.broken_ms.take().map_or(0, |since| now - since);
        let same = self.known.filter(|known| {
            known.session == self.session
                && self.alive == Alive::Yes
                && broken_for <= self.resume_ms
        });
        if let Some(known) = same {
            return Opened::Resumed(self.events.len() - known.seq.min(self.events.len()));
        }
        self.session += 1;
        self.alive = Alive::Yes;
        self.events = vec![Event::Ready, Event::Guild(threads)];
        self.known = Some(Seat {
            session: self.session,
            seq: 0,
        });
        Opened::Fresh
    }

    /// The next event in order, for the process.
    pub(crate) fn next(&mut self) -> Option<Event> {
        let known = self.known.as_mut()?;
        let event = self.events.get(known.seq)?.clone();
        known.seq += 1;
        let repeats = match event {
            Event::Said(_) | Event::Own { .. } | Event::Edited(_) | Event::Deleted { .. } => true,
            Event::Ready | Event::Guild(_) | Event::Place { .. } => false,
        };
        if repeats {
            self.recent.push_back(event.clone());
            if self.recent.len() > RECENT_COUNT {
                self.recent.pop_front();
            }
        }
        Some(event)
    }

    /// The last few events that were delivered, oldest first.
    pub(crate) fn recent(&self, count: u8) -> Vec<Event> {
        let skip = self.recent.len().saturating_sub(usize::from(count));
        self.recent.iter().skip(skip).cloned().collect()
    }
}

impl Event {
    pub(crate) fn said(message: &Message) -> Self {
        Self::Said(Box::new(message.said()))
    }
}
