//! The gateway's side of one connection.
//!
//! In: connections that open and close, and the client's frames. Out: frames and closes.
//! Never: lets an unknown token in, or an event out before READY.

mod login;

use std::collections::VecDeque;

use serde_json::{Value, json};

use crate::clock::Moment;
use crate::id::Id;
use crate::world::faults::{ConnectFault, DispatchFault, GatewayFault};
use crate::world::log::{Direction, What};
use crate::world::session::{Dispatched, Link, SessionKey};
use crate::world::{Effect, World};

/// One WebSocket connection; numbers are never used twice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize)]
pub(crate) struct ConnectionId(pub(crate) u64);

/// Gateway opcodes. Source: Discord API docs, Opcodes and Status Codes.
mod op {
    pub(super) const HEARTBEAT: u64 = 1;
    pub(super) const IDENTIFY: u64 = 2;
    pub(super) const PRESENCE: u64 = 3;
    pub(super) const VOICE: u64 = 4;
    pub(super) const RESUME: u64 = 6;
    pub(super) const RECONNECT: u64 = 7;
    pub(super) const REQUEST_MEMBERS: u64 = 8;
    pub(super) const INVALID_SESSION: u64 = 9;
    pub(super) const HELLO: u64 = 10;
    pub(super) const ACK: u64 = 11;
    pub(super) const SOUNDBOARD: u64 = 31;
}

/// Close codes. Source: Discord API docs, Gateway Close Event Codes.
mod close {
    pub(super) const UNKNOWN_OPCODE: (u16, &str) = (4001, "Unknown opcode.");
    pub(super) const DECODE: (u16, &str) = (4002, "Error while decoding payload.");
    pub(super) const NOT_AUTHENTICATED: (u16, &str) = (4003, "Not authenticated.");
    pub(super) const AUTHENTICATION: (u16, &str) = (4004, "Authentication failed.");
    pub(super) const ALREADY: (u16, &str) = (4005, "Already authenticated.");
    pub(super) const INVALID_SEQ: (u16, &str) = (4007, "Invalid seq.");
    pub(super) const RATE_LIMITED: (u16, &str) = (4008, "Rate limited.");
    pub(super) const TIMED_OUT: (u16, &str) = (4009, "Session timed out.");
    pub(super) const INVALID_SHARD: (u16, &str) = (4010, "Invalid shard.");
    pub(super) const INVALID_INTENTS: (u16, &str) = (4013, "Invalid intent(s).");
    pub(super) const DISALLOWED_INTENTS: (u16, &str) = (4014, "Disallowed intent(s).");
}

/// Largest frame that a client may send. Source: Discord API docs, Gateway, Sending Events.
const CLIENT_FRAME_MAX_BYTES: usize = 4_096;

/// What is known of a connection.
#[derive(Debug)]
pub(crate) struct Connection {
    pub(crate) session: Option<SessionKey>,
    pub(crate) last_heartbeat: Moment,
    frames: VecDeque<Moment>,
    pub(crate) hearing: Hearing,
    /// A dispatch that is sent after the next one.
    held: Option<Dispatched>,
}

/// What op 9 says about the session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Resumable {
    Yes,
    No,
}

/// Whether the gateway still hears and answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Hearing {
    Normal,
    HalfOpen,
}

/// Whether the session is gone after this side closed with `code`.
fn ends_session(code: u16) -> bool {
    matches!(code, 4003 | 4004 | 4007 | 4009..=4014)
}

impl World {
    /// A connection came up. It gets HELLO, or whatever fault is armed.
    pub(crate) fn open(&mut self, now: Moment, id: ConnectionId) {
        let connection = Connection {
            session: None,
            last_heartbeat: now,
            frames: VecDeque::new(),
            hearing: Hearing::Normal,
            held: None,
        };
        self.sessions.connections.insert(id, connection);
        self.log.add(now, What::opened(id));
        match self.faults.on_connect() {
            None => {
                let interval = self.rules.heartbeat_interval_ms;
                let data = json!({ "heartbeat_interval": interval, "_trace": [] });
                self.say(now, id, op::HELLO, &data);
            }
            Some(ConnectFault::Close { code }) => self.close(now, id, (code, "Armed fault.")),
            Some(ConnectFault::Reconnect) => self.say(now, id, op::RECONNECT, &Value::Null),
            Some(ConnectFault::Silence | ConnectFault::Refuse { .. }) => {}
            Some(ConnectFault::Drop) => self.drop_connection(now, id),
        }
        self.tell_page_of_bots();
    }

    /// A text frame of the client.
    pub(crate) fn frame(&mut self, now: Moment, id: ConnectionId, text: &str) {
        let Some(connection) = self.sessions.connections.get_mut(&id) else {
            return;
        };
        self.log.add(now, What::frame_in(id, text));
        if connection.hearing == Hearing::HalfOpen {
            return;
        }
        connection.frames.push_back(now);
        while connection
            .frames
            .front()
            .is_some_and(|at| now.since(*at) >= 60_000)
        {
            connection.frames.pop_front();
        }
        let sent = connection.frames.len();
        if text.len() > CLIENT_FRAME_MAX_BYTES {
            return self.close(now, id, close::DECODE);
        }
        if sent > self.rules.gateway_frames_per_minute {
            return self.close(now, id, close::RATE_LIMITED);
        }
        let Ok(frame) = serde_json::from_str::<Value>(text) else {
            return self.close(now, id, close::DECODE);
        };
        let Some(opcode) = frame["op"].as_u64() else {
            return self.close(now, id, close::DECODE);
        };
        self.operate(now, id, opcode, &frame["d"]);
    }

    fn operate(&mut self, now: Moment, id: ConnectionId, opcode: u64, data: &Value) {
        let session = self.sessions.connections.get(&id).and_then(|c| c.session);
        match (opcode, session) {
            (op::HEARTBEAT, _) => self.heartbeat(now, id),
            (op::IDENTIFY, None) => self.identify(now, id, data),
            (op::RESUME, None) => self.resume(now, id, data),
            (op::IDENTIFY | op::RESUME, Some(_)) => self.close(now, id, close::ALREADY),
            (op::PRESENCE | op::VOICE | op::SOUNDBOARD, Some(_)) => {}
            (op::REQUEST_MEMBERS, Some(key)) => self.member_chunk(key, data),
            (op::PRESENCE | op::VOICE | op::SOUNDBOARD | op::REQUEST_MEMBERS, None) => {
                self.close(now, id, close::NOT_AUTHENTICATED);
            }
            _ => self.close(now, id, close::UNKNOWN_OPCODE),
        }
    }

    fn heartbeat(&mut self, now: Moment, id: ConnectionId) {
        if let Some(connection) = self.sessions.connections.get_mut(&id) {
            connection.last_heartbeat = now;
        }
        if self.faults.on_heartbeat().is_none() {
            self.say(now, id, op::ACK, &Value::Null);
        }
    }

    /// Answers op 8 with one chunk: members whose name begins with `query`, or the given ids.
    fn member_chunk(&mut self, key: SessionKey, data: &Value) {
        let query = data["query"].as_str().unwrap_or_default().to_lowercase();
        let listed = data["user_ids"].as_array().cloned();
        let listed = listed.unwrap_or_else(|| vec![data["user_ids"].clone()]);
        let wanted: Vec<Id> = listed.iter().filter_map(Id::of).collect();
        let members: Vec<Value> = self
            .members
            .keys()
            .filter(|id| match wanted.is_empty() {
                true => self.is_named(**id, &query),
                false => wanted.contains(id),
            })
            .filter_map(|id| self.member_json(*id))
            .collect();
        let mut chunk = json!({
            "guild_id": self.guild.id, "members": members, "chunk_index": 0, "chunk_count": 1,
            "not_found": wanted.iter().filter(|id| !self.members.contains_key(id)).collect::<Vec<_>>(),
        });
        if let (Some(map), nonce @ Value::String(_)) = (chunk.as_object_mut(), &data["nonce"]) {
            map.insert("nonce".to_owned(), nonce.clone());
        }
        self.push(key, "GUILD_MEMBERS_CHUNK", chunk.to_string().into());
    }

    /// Whether a member's user name, shown name or nick begins with `prefix` (lower case).
    pub(crate) fn is_named(&self, user: Id, prefix: &str) -> bool {
        let names = self
            .users
            .get(&user)
            .map(|user| (&user.username, &user.global_name));
        let nick = self
            .members
            .get(&user)
            .and_then(|member| member.nick.as_ref());
        let begins = |name: &str| name.to_lowercase().starts_with(prefix);
        names.is_some_and(|(username, global)| {
            begins(username) || global.as_deref().is_some_and(begins)
        }) || nick.is_some_and(|nick| begins(nick))
    }

    /// The client or the network ended a connection.
    pub(crate) fn closed(&mut self, now: Moment, id: ConnectionId, code: Option<u16>) {
        if let Some(connection) = self.sessions.connections.remove(&id) {
            self.log.add(now, What::closed(id, code));
            if let Some(key) = connection.session {
                match code {
                    // Going away for good: the session ends and the bot is shown as offline.
                    Some(1000 | 1001) => drop(self.sessions.remove(key)),
                    _ => self.unlink(now, key, id),
                }
            }
            self.tell_page_of_bots();
        }
    }

    fn unlink(&mut self, now: Moment, key: SessionKey, id: ConnectionId) {
        if let Some(session) = self.sessions.get_mut(key)
            && session.link == Link::Connected(id)
        {
            session.link = Link::Dropped(now);
        }
    }

    /// Ends a connection from this side. The session stays resumable, except after a code that
    /// says that it is gone.
    fn close(&mut self, now: Moment, id: ConnectionId, (code, reason): (u16, &'static str)) {
        self.log.add(now, What::close_out(id, code));
        let Some(connection) = self.sessions.connections.remove(&id) else {
            return;
        };
        if let Some(key) = connection.session {
            match code {
                code if ends_session(code) => drop(self.sessions.remove(key)),
                _ => self.unlink(now, key, id),
            }
        }
        if connection.hearing == Hearing::Normal {
            self.effect(Effect::Close {
                to: id,
                code,
                reason,
            });
        } else {
            self.effect(Effect::Drop { to: id });
        }
        self.tell_page_of_bots();
    }

    fn drop_connection(&mut self, now: Moment, id: ConnectionId) {
        self.closed(now, id, None);
        self.effect(Effect::Drop { to: id });
    }

    /// Does `what` to a connection at once.
    pub(crate) fn strike(&mut self, now: Moment, id: ConnectionId, what: GatewayFault) {
        match what {
            GatewayFault::Drop => self.drop_connection(now, id),
            GatewayFault::Tear => {
                let text = json!({ "op": op::ACK, "s": null, "t": null, "d": null }).to_string();
                self.effect(Effect::Tear { to: id, text });
                self.closed(now, id, None);
            }
            GatewayFault::HalfOpen => {
                if let Some(connection) = self.sessions.connections.get_mut(&id) {
                    connection.hearing = Hearing::HalfOpen;
                }
            }
            GatewayFault::Reconnect => self.say(now, id, op::RECONNECT, &Value::Null),
            GatewayFault::InvalidSession { resumable } => {
                let session = if resumable {
                    Resumable::Yes
                } else {
                    Resumable::No
                };
                self.invalidate(now, id, session);
            }
            GatewayFault::Close { code } => self.close(now, id, (code, "Asked for.")),
            GatewayFault::AskHeartbeat => self.say(now, id, op::HEARTBEAT, &Value::Null),
        }
    }

    fn invalidate(&mut self, now: Moment, id: ConnectionId, session: Resumable) {
        let key = self
            .sessions
            .connections
            .get_mut(&id)
            .and_then(|c| c.session.take());
        if let Some(key) = key {
            match session {
                Resumable::Yes => self.unlink(now, key, id),
                Resumable::No => drop(self.sessions.remove(key)),
            }
        }
        self.say(
            now,
            id,
            op::INVALID_SESSION,
            &json!(session == Resumable::Yes),
        );
    }

    /// Sends a frame that is no dispatch.
    fn say(&mut self, now: Moment, to: ConnectionId, opcode: u64, data: &Value) {
        let Some(connection) = self.sessions.connections.get(&to) else {
            return;
        };
        if connection.hearing == Hearing::HalfOpen {
            return;
        }
        let text = json!({ "op": opcode, "s": null, "t": null, "d": data }).to_string();
        self.log.add(
            now,
            What::Frame {
                to,
                direction: Direction::Out,
                text: text.clone(),
            },
        );
        self.effect(Effect::Frame { to, text });
    }

    /// Sends a dispatch, unless a fault is armed for it.
    pub(crate) fn send_dispatch(&mut self, to: ConnectionId, dispatched: &Dispatched) {
        let fault = self.faults.on_dispatch(dispatched.name);
        let Some(connection) = self.sessions.connections.get_mut(&to) else {
            return;
        };
        if connection.hearing == Hearing::HalfOpen {
            return;
        }
        let held = connection.held.take();
        let mut frames = match fault {
            None => vec![dispatched.clone()],
            Some(DispatchFault::Lose) => vec![],
            Some(DispatchFault::Duplicate) => vec![dispatched.clone(), dispatched.clone()],
            Some(DispatchFault::Swap) => {
                connection.held = Some(dispatched.clone());
                vec![]
            }
        };
        frames.extend(held);
        for frame in frames {
            self.log.add_dispatch(to, &frame);
            self.effect(Effect::Frame {
                to,
                text: frame.frame(),
            });
        }
    }

    /// What time does by itself: connections without a heartbeat are closed, old sessions go.
    pub(crate) fn tick(&mut self, now: Moment) {
        let patience = self.rules.heartbeat_interval_ms.saturating_mul(3) / 2 + 5_000;
        let late: Vec<(ConnectionId, Hearing)> = self
            .sessions
            .connections
            .iter()
            .filter(|(_, connection)| now.since(connection.last_heartbeat) > patience)
            .map(|(id, connection)| (*id, connection.hearing))
            .collect();
        for (id, hearing) in late {
            match hearing {
                Hearing::Normal => self.close(now, id, close::TIMED_OUT),
                // The line is dead, not the client: its session can still be resumed.
                Hearing::HalfOpen => self.drop_connection(now, id),
            }
        }
        self.sessions.forget_old(now, self.rules.session_life_ms);
        self.expire_interactions(now);
    }

    /// Spares the open connections a jump of the clock.
    pub(crate) fn shift_heartbeats(&mut self, now: Moment) {
        for connection in self.sessions.connections.values_mut() {
            connection.last_heartbeat = now;
        }
    }
}
