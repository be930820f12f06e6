//! What went over the wire, for tests to look at.
//!
//! In: every request and frame. Out: the latest ones, numbered.
//! Never: a token; more entries or bytes than the rules allow.

use std::collections::VecDeque;

use serde_json::{Value, json};

use crate::clock::Moment;
use crate::world::gateway::ConnectionId;
use crate::world::session::Dispatched;

/// Longest text that one entry keeps.
const ENTRY_TEXT_MAX_BYTES: usize = 16 * 1024;

/// One thing that happened.
#[derive(Clone, Debug)]
pub(crate) struct Entry {
    pub(crate) number: u64,
    at: Moment,
    what: What,
}

/// Which way a frame went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Direction {
    In,
    Out,
}

/// What happened.
#[derive(Clone, Debug)]
pub(crate) enum What {
    Request {
        method: &'static str,
        path: String,
        body: String,
        status: u16,
        answer: String,
        /// What got lost: `request` or `response`.
        lost: Option<&'static str>,
    },
    Frame {
        to: ConnectionId,
        direction: Direction,
        text: String,
    },
    Dispatch {
        to: ConnectionId,
        dispatched: Dispatched,
    },
    Opened {
        connection: ConnectionId,
    },
    Closed {
        connection: ConnectionId,
        by: &'static str,
        code: Option<u16>,
    },
}

impl What {
    pub(crate) fn opened(connection: ConnectionId) -> Self {
        Self::Opened { connection }
    }

    pub(crate) fn closed(connection: ConnectionId, code: Option<u16>) -> Self {
        Self::Closed {
            connection,
            by: "client",
            code,
        }
    }

    pub(crate) fn close_out(connection: ConnectionId, code: u16) -> Self {
        Self::Closed {
            connection,
            by: "server",
            code: Some(code),
        }
    }

    /// A frame of a client, its token blotted out.
    pub(crate) fn frame_in(to: ConnectionId, text: &str) -> Self {
        let text = match serde_json::from_str::<Value>(text) {
            Ok(mut frame) if frame["d"]["token"].is_string() => {
                frame["d"]["token"] = json!("(token)");
                frame.to_string()
            }
            _ => text.to_owned(),
        };
        Self::Frame {
            to,
            direction: Direction::In,
            text,
        }
    }

    fn kind(&self) -> &'static str {
        match self {
            Self::Request { .. } => "request",
            Self::Frame { .. } | Self::Dispatch { .. } => "frame",
            Self::Opened { .. } | Self::Closed { .. } => "connection",
        }
    }

    fn bytes(&self) -> usize {
        128 + match self {
            Self::Request {
                path, body, answer, ..
            } => path.len() + body.len() + answer.len(),
            Self::Frame { text, .. } => text.len(),
            Self::Dispatch { dispatched, .. } => dispatched.data.len(),
            Self::Opened { .. } | Self::Closed { .. } => 0,
        }
    }

    fn cut(mut self) -> Self {
        match &mut self {
            Self::Request { body, answer, .. } => {
                shorten(body);
                shorten(answer);
            }
            Self::Frame { text, .. } => shorten(text),
            Self::Dispatch { .. } | Self::Opened { .. } | Self::Closed { .. } => {}
        }
        self
    }

    fn json(&self) -> Value {
        match self {
            Self::Request {
                method,
                path,
                body,
                status,
                answer,
                lost,
            } => json!({
                "method": method, "path": path, "body": parsed(body), "status": status,
                "answer": parsed(answer), "lost": lost,
            }),
            Self::Frame {
                to,
                direction,
                text,
            } => json!({
                "connection": to,
                "direction": if *direction == Direction::In { "in" } else { "out" },
                "frame": parsed(text),
            }),
            Self::Dispatch { to, dispatched } => json!({
                "connection": to, "direction": "out", "frame": parsed(&dispatched.frame()),
            }),
            Self::Opened { connection } => json!({ "connection": connection, "event": "opened" }),
            Self::Closed {
                connection,
                by,
                code,
            } => {
                json!({ "connection": connection, "event": "closed", "by": by, "code": code })
            }
        }
    }
}

/// JSON as JSON, anything else as text.
fn parsed(text: &str) -> Value {
    match text {
        "" => Value::Null,
        _ => serde_json::from_str(text).unwrap_or_else(|_| Value::String(text.to_owned())),
    }
}

fn shorten(text: &mut String) {
    if text.len() > ENTRY_TEXT_MAX_BYTES {
        let end = text.floor_char_boundary(ENTRY_TEXT_MAX_BYTES);
        text.truncate(end);
        text.push_str(" (cut)");
    }
}

impl Entry {
    pub(crate) fn kind(&self) -> &'static str {
        self.what.kind()
    }

    pub(crate) fn json(&self) -> Value {
        let head = json!({ "n": self.number, "at": self.at, "kind": self.kind() });
        crate::view::channel::merged(head, self.what.json())
    }
}

/// The latest entries.
#[derive(Debug)]
pub(crate) struct Log {
    entries: VecDeque<Entry>,
    cap_entries: usize,
    cap_bytes: usize,
    bytes: usize,
    last: u64,
    latest: Moment,
}

impl Log {
    pub(crate) fn new(cap_entries: usize, cap_bytes: usize) -> Self {
        Self {
            entries: VecDeque::new(),
            cap_entries,
            cap_bytes,
            bytes: 0,
            last: 0,
            latest: Moment::default(),
        }
    }

    pub(crate) fn add(&mut self, at: Moment, what: What) {
        let what = what.cut();
        self.last += 1;
        self.latest = at;
        self.bytes += what.bytes();
        self.entries.push_back(Entry {
            number: self.last,
            at,
            what,
        });
        while self.entries.len() > self.cap_entries || self.bytes > self.cap_bytes {
            let Some(oldest) = self.entries.pop_front() else {
                break;
            };
            self.bytes -= oldest.what.bytes();
        }
    }

    /// A dispatch, at the moment of the entry before it.
    pub(crate) fn add_dispatch(&mut self, to: ConnectionId, dispatched: &Dispatched) {
        let what = What::Dispatch {
            to,
            dispatched: dispatched.clone(),
        };
        self.add(self.latest, what);
    }

    /// Notes the present, so that dispatches get the right moment.
    pub(crate) fn at(&mut self, now: Moment) {
        self.latest = now;
    }

    /// Entries after number `after`, of one kind or of all.
    pub(crate) fn after<'a>(
        &'a self,
        after: u64,
        kind: Option<&'a str>,
    ) -> impl Iterator<Item = &'a Entry> {
        self.entries
            .iter()
            .filter(move |entry| entry.number > after)
            .filter(move |entry| kind.is_none_or(|kind| kind == entry.kind()))
    }

    pub(crate) fn last(&self) -> u64 {
        self.last
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_log_forgets_the_oldest_entry_first() {
        let mut log = Log::new(2, 1_000_000);
        for number in 1..=3 {
            log.add(Moment::default(), What::opened(ConnectionId(number)));
        }
        let numbers: Vec<u64> = log.after(0, None).map(|entry| entry.number).collect();
        assert_eq!(numbers, [2, 3]);
    }

    #[test]
    fn a_token_in_a_frame_is_blotted_out() {
        let what = What::frame_in(ConnectionId(1), r#"{"op":2,"d":{"token":"secret"}}"#);
        assert_eq!(what.json()["frame"]["d"]["token"], "(token)");
    }
}
