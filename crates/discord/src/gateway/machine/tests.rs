//! The machine against servers that are one closure each, in virtual time. Counts, not times.

use super::*;
use serde_json::{Value, json};

mod chance; // random schedules
mod entering; // READY, RESUMED, what they need, what they end
mod living; // heartbeats, numbers, a core that is slow
mod storms; // servers that never let us in for long

pub(super) const HOUR_MS: u64 = 60 * 60 * 1_000;
pub(super) const DAY_MS: u64 = 24 * HOUR_MS;
pub(super) const BOT: u64 = 100;
/// Connects that an hour of nothing but losses can hold: the doubling waits, then one a minute,
/// each a quarter shorter at best.
pub(super) const CONNECTS_PER_HOUR: usize = 6 + 3_600 / 45;

/// What the machine did that a server can see.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Did {
    AskedForAddress,
    Connected(String),
    Sent(Frame),
    Closed(u16),
}

/// What a server does about it, at once.
#[derive(Clone, Debug)]
pub(super) enum Says {
    Address(Address),
    Open,
    Frame(Value),
    Closes(Option<u16>),
    Breaks(DownWhy),
}

pub(super) struct World<S> {
    pub(super) machine: Machine,
    pub(super) now: Now,
    pub(super) did: Vec<Did>,
    pub(super) told: Vec<Event>,
    server: S,
}

impl<S: FnMut(&Did) -> Vec<Says>> World<S> {
    pub(super) fn new(server: S) -> Self {
        Self::resuming(SessionState::default(), 7, server)
    }

    pub(super) fn resuming(state: SessionState, seed: u64, server: S) -> Self {
        let bot = UserId::from_number(BOT).expect("not zero");
        let settings = Settings {
            bot,
            reach: Reach::Loopback,
        };
        let machine = Machine::new(settings, state, fastrand::Rng::with_seed(seed));
        let now = Now {
            mono_ms: 1_000,
            wall_ms: 20_000 * DAY_MS,
        };
        Self {
            machine,
            now,
            did: Vec::new(),
            told: Vec::new(),
            server,
        }
    }

    /// Gives an input and plays everything that follows from it at once.
    pub(super) fn give(&mut self, input: Input<'_>) {
        let mut outputs = std::collections::VecDeque::from(self.machine.on(self.now, input));
        while let Some(output) = outputs.pop_front() {
            let did = match output {
                Output::FindAddress => Did::AskedForAddress,
                Output::Connect(to) => Did::Connected(to.url()),
                Output::Send(frame) => Did::Sent(frame),
                Output::Close(code) => Did::Closed(code),
                Output::Deliver(event) => {
                    self.told.push(event);
                    continue;
                }
                Output::SessionChanged | Output::Ended => continue,
            };
            self.did.push(did.clone());
            for says in (self.server)(&did) {
                let more = match says {
                    Says::Address(address) => self.machine.on(self.now, Input::Address(address)),
                    Says::Open => self.machine.on(self.now, Input::Opened),
                    Says::Frame(frame) => {
                        self.machine.on(self.now, Input::Frame(&frame.to_string()))
                    }
                    Says::Closes(code) => self.machine.on(self.now, Input::Closed(code)),
                    Says::Breaks(why) => self.machine.on(self.now, Input::Broke(why)),
                };
                outputs.extend(more);
            }
        }
    }

    /// Lets this much time pass; the machine is woken whenever it asked to be.
    pub(super) fn pass(&mut self, ms: u64) {
        let end = self.now.mono_ms + ms;
        let mut standing_still = 0;
        while let Some(due) = self.machine.deadline().filter(|due| *due <= end) {
            standing_still = if due > self.now.mono_ms {
                0
            } else {
                standing_still + 1
            };
            assert!(
                standing_still < 10,
                "the machine asks for time and does not use it"
            );
            self.go_to(due.max(self.now.mono_ms));
            self.give(Input::Tick);
        }
        self.go_to(end);
    }

    fn go_to(&mut self, mono_ms: u64) {
        self.now.wall_ms += mono_ms - self.now.mono_ms;
        self.now.mono_ms = mono_ms;
    }

    /// Lets time pass that nobody was awake for.
    pub(super) fn sleep(&mut self, ms: u64) {
        self.go_to(self.now.mono_ms + ms);
    }

    pub(super) fn start(&mut self) {
        self.give(Input::Start);
    }

    pub(super) fn hears(&mut self, frame: &Value) {
        self.give(Input::Frame(&frame.to_string()));
    }

    pub(super) fn connects(&self) -> usize {
        self.did
            .iter()
            .filter(|did| matches!(did, Did::Connected(_)))
            .count()
    }

    pub(super) fn sent(&self, wanted: fn(&Frame) -> bool) -> usize {
        self.did
            .iter()
            .filter(|did| matches!(did, Did::Sent(frame) if wanted(frame)))
            .count()
    }

    pub(super) fn losses(&self) -> Vec<DownWhy> {
        let mut all = Vec::new();
        for event in &self.told {
            if let News::Down(down) = event.news {
                all.push(down.why);
            }
        }
        all
    }

    pub(super) fn fatal(&self) -> Option<Fatal> {
        let last = self.told.last()?;
        if let News::Fatal(fatal) = last.news {
            return Some(fatal);
        }
        None
    }
}

pub(super) fn identifies(frame: &Frame) -> bool {
    matches!(frame, Frame::Identify)
}

pub(super) fn resumes(frame: &Frame) -> bool {
    matches!(frame, Frame::Resume { .. })
}

pub(super) fn beats(frame: &Frame) -> bool {
    matches!(frame, Frame::Heartbeat(_))
}

pub(super) fn here(left: u64) -> Says {
    Says::Address(Address::Here(GatewayBot {
        url: "ws://127.0.0.1:1".into(),
        identifies_left: Some(left),
        reset_after: Duration::from_secs(3_600),
    }))
}

pub(super) fn hello() -> Says {
    Says::Frame(json!({ "op": 10, "d": { "heartbeat_interval": 41_250 } }))
}

pub(super) fn ack() -> Says {
    Says::Frame(json!({ "op": 11 }))
}

pub(super) fn ready(bot: u64) -> Says {
    Says::Frame(json!({ "op": 0, "s": 1, "t": "READY", "d": {
        "user": { "id": bot.to_string() },
        "guilds": [],
        "session_id": "s",
        "resume_gateway_url": "ws://127.0.0.1:2",
        "application": { "id": "101" },
    }}))
}

pub(super) fn resumed(seq: u64) -> Says {
    Says::Frame(json!({ "op": 0, "s": seq, "t": "RESUMED", "d": {} }))
}

pub(super) fn typing(seq: u64) -> Value {
    json!({ "op": 0, "s": seq, "t": "TYPING_START", "d": {} })
}

pub(super) fn deletion(seq: u64) -> Value {
    json!({ "op": 0, "s": seq, "t": "MESSAGE_DELETE", "d": { "id": "7", "channel_id": "400" } })
}

/// A server that does everything right.
pub(super) fn kind(did: &Did) -> Vec<Says> {
    match did {
        Did::AskedForAddress => vec![here(900)],
        Did::Connected(_) => vec![Says::Open, hello()],
        Did::Sent(Frame::Identify) => vec![ready(BOT)],
        Did::Sent(Frame::Resume { seq, .. }) => vec![resumed(seq + 1)],
        Did::Sent(Frame::Heartbeat(_)) => vec![ack()],
        Did::Closed(_) => vec![],
    }
}

pub(super) fn kept(seq: u64) -> SessionState {
    let session = Session {
        id: "s".into(),
        resume_url: Some("ws://127.0.0.1:2".into()),
        seq,
    };
    SessionState {
        session: Some(session),
        ..SessionState::default()
    }
}
