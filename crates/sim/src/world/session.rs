//! Gateway sessions: who is logged in, and what a resume would replay.
//!
//! In: dispatches and the comings and goings of connections. Out: numbered frames.
//! Never: keeps a session longer, or more frames, than the rules allow.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use crate::clock::Moment;
use crate::world::gateway::{Connection, ConnectionId};
use crate::world::{AppIndex, World};

/// One session; never used twice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct SessionKey(u64);

/// One dispatch, as a replay needs it.
#[derive(Clone, Debug)]
pub(crate) struct Dispatched {
    pub(crate) seq: u64,
    pub(crate) name: &'static str,
    pub(crate) data: Arc<str>,
}

impl Dispatched {
    /// The frame, with op, sequence, name and data.
    pub(crate) fn frame(&self) -> String {
        let Self { seq, name, data } = self;
        format!(r#"{{"op":0,"s":{seq},"t":"{name}","d":{data}}}"#)
    }
}

#[derive(Debug)]
pub(crate) struct Session {
    pub(crate) id: String,
    pub(crate) app: AppIndex,
    pub(crate) intents: u64,
    pub(crate) seq: u64,
    pub(crate) replay: VecDeque<Dispatched>,
    pub(crate) link: Link,
}

/// Whether somebody is at the other end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Link {
    Connected(ConnectionId),
    /// Gone since then; can be resumed for a while.
    Dropped(Moment),
}

/// All sessions and connections.
#[derive(Debug, Default)]
pub(crate) struct Sessions {
    sessions: BTreeMap<SessionKey, Session>,
    pub(crate) connections: BTreeMap<ConnectionId, Connection>,
    last: u64,
    /// IDENTIFYs of the last 24 hours, by application.
    pub(crate) identifies: BTreeMap<AppIndex, VecDeque<Moment>>,
}

impl Sessions {
    pub(crate) fn get(&self, key: SessionKey) -> Option<&Session> {
        self.sessions.get(&key)
    }

    pub(crate) fn get_mut(&mut self, key: SessionKey) -> Option<&mut Session> {
        self.sessions.get_mut(&key)
    }

    pub(crate) fn keys(&self) -> Vec<SessionKey> {
        self.sessions.keys().copied().collect()
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (SessionKey, &Session)> {
        self.sessions.iter().map(|(key, session)| (*key, session))
    }

    pub(crate) fn by_id(&self, id: &str) -> Option<SessionKey> {
        self.sessions
            .iter()
            .find(|(_, session)| session.id == id)
            .map(|(key, _)| *key)
    }

    pub(crate) fn add(&mut self, session: Session) -> SessionKey {
        self.last += 1;
        let key = SessionKey(self.last);
        self.sessions.insert(key, session);
        key
    }

    pub(crate) fn remove(&mut self, key: SessionKey) -> Option<Session> {
        self.sessions.remove(&key)
    }

    pub(crate) fn remove_app(&mut self, app: AppIndex) {
        self.sessions.retain(|_, session| session.app != app);
    }

    /// Forgets the dropped sessions that are too old to be resumed.
    pub(crate) fn forget_old(&mut self, now: Moment, life_ms: u64) {
        self.sessions.retain(|_, session| match session.link {
            Link::Connected(_) => true,
            Link::Dropped(at) => now.since(at) < life_ms,
        });
    }

    /// A name for the next session, made from its number.
    pub(crate) fn next_id(&self, seed: u64) -> String {
        format!("{:016x}{:016x}", seed, self.last + 1)
    }
}

impl World {
    /// Numbers an event, keeps it for a replay, and sends it if somebody is connected.
    pub(crate) fn push(&mut self, key: SessionKey, name: &'static str, data: Arc<str>) {
        let cap = self.rules.replay_frames.max(1);
        let Some(session) = self.sessions.get_mut(key) else {
            return;
        };
        session.seq += 1;
        let dispatched = Dispatched {
            seq: session.seq,
            name,
            data,
        };
        session.replay.push_back(dispatched.clone());
        while session.replay.len() > cap {
            session.replay.pop_front();
        }
        if let Link::Connected(to) = session.link {
            self.send_dispatch(to, &dispatched);
        }
    }
}
