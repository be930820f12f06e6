//! The life of the connection, without a socket and without a clock.
//!
//! In: [`Input`]s with the time they came at. Out: [`Output`]s, and the next deadline. Never: a
//! wait that has no deadline, two connections, a reconnect that does not count for the back-off.
//!
//! ```text
//! Waiting ─▶ Finding ─▶ Connecting ─▶ Greeting ─HELLO─▶ Entering ─READY, RESUMED─▶ Live
//!    ▲          │           │            │                  │                       │
//!    └──────────┴───────────┴── lost, closed, late, op 7, op 9, no ACK, slept ──────┘
//! ```

mod entry; // from a wait to a live session, and back
mod frames; // what comes in on an open connection
#[cfg(test)]
mod tests;

use super::{
    Down, DownWhy, Event, Fatal, News, Now, Seq,
    backoff::{Backoff, HELD_MS},
    close::CloseMeaning,
    dispatch,
    session::{IDENTIFIES_RESERVE, IdentifyBudget, Ledger, Session, SessionState},
};
use crate::{
    address::{ApiBase, GatewayAddress, Reach},
    net::DialFault,
    rest::GatewayBot,
    said::Lens,
    wire::{
        Field,
        objects::{Envelope, Hello},
    },
};
use guildhall_binding::ids::UserId;
use std::time::Duration;

/// Our close code for a session that we want back. Anything but 1000 and 1001 keeps it.
pub const CLOSE_RESUMABLE: u16 = 4900;
/// Our close code for the end.
pub(crate) const CLOSE_FOR_GOOD: u16 = 1000;

const FIND_DEADLINE_MS: u64 = 30_000;
const CONNECT_DEADLINE_MS: u64 = 15_000;
const HELLO_DEADLINE_MS: u64 = 15_000;
const READY_DEADLINE_MS: u64 = 60_000;
/// A deadline that is noticed this late was slept through.
const SLEPT_MS: u64 = 30_000;
/// Resumes that Discord may turn down before the session is given up.
const RESUMES_COUNT: u32 = 3;
/// Discord takes one IDENTIFY in five seconds.
const IDENTIFY_SPACING_MS: u64 = 5_500;
/// Frames in a minute that we send at most; Discord closes beyond 120.
const SENDS_PER_MINUTE_COUNT: u32 = 100;
const HEARTBEAT_DEFAULT_MS: u64 = 41_250;

/// What the machine must know from the start.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The bot that the binding names.
    pub bot: UserId,
    /// How far a gateway's address may reach.
    pub(crate) reach: Reach,
}

impl Settings {
    /// The settings of `bot` at `base`.
    #[must_use]
    pub fn new(bot: UserId, base: &ApiBase) -> Self {
        Self {
            bot,
            reach: base.reach(),
        }
    }
}

/// What comes in.
#[derive(Debug)]
pub enum Input<'a> {
    /// Begin.
    Start,
    /// The answer to [`Output::FindAddress`].
    Address(Address),
    /// The WebSocket is open.
    Opened,
    /// A text frame.
    Frame(&'a str),
    /// The other side closed, with a code or without.
    Closed(Option<u16>),
    /// The connection, or the attempt at one, failed on our side.
    Broke(DownWhy),
    /// The event that was delivered last found no room.
    QueueFull,
    /// There is room again.
    QueueRoom,
    /// The core has committed everything up to here.
    Committed(Seq),
    /// Close with this code and end.
    Leave(u16),
    /// Time has passed.
    Tick,
}

/// Where the gateway is.
#[derive(Clone, Debug)]
pub enum Address {
    /// Here.
    Here(GatewayBot),
    /// The token was refused.
    Unauthorized,
    /// Not known now; ask again no sooner than this.
    Later(Duration),
}

/// What goes out.
#[derive(Debug)]
pub enum Output {
    /// Ask REST for the gateway's address.
    FindAddress,
    /// Open a WebSocket to this URL.
    Connect(ConnectTo),
    /// Send a frame.
    Send(Frame),
    /// Close the connection with this code, or give up the attempt at one.
    Close(u16),
    /// Tell the core.
    Deliver(Event),
    /// [`Machine::session_state`] has changed.
    SessionChanged,
    /// Nothing more will come.
    Ended,
}

/// Where to connect to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConnectTo(pub(crate) GatewayAddress);

impl ConnectTo {
    /// The URL of the WebSocket.
    #[must_use]
    pub fn url(&self) -> String {
        self.0.upgrade_url()
    }
}

/// A frame that we send; whoever sends it adds the token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Frame {
    /// op 1 with the last number seen.
    Heartbeat(Option<u64>),
    /// op 2.
    Identify,
    /// op 6.
    Resume {
        /// The session's id.
        session: String,
        /// The last number seen.
        seq: u64,
    },
}

/// A stage of the connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LinkStage {
    /// Waiting to try again.
    Waiting,
    /// Asking for the gateway's address.
    Finding,
    /// TCP, TLS and the upgrade.
    Connecting,
    /// Waiting for HELLO.
    Greeting,
    /// Waiting for READY or RESUMED.
    Entering,
    /// Serving.
    Live,
    /// Over.
    Ended,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Aim {
    Identify,
    Resume,
}

#[derive(Clone, Copy, Debug)]
struct Beat {
    interval: u64,
    next: u64,
    acked: bool,
}

#[derive(Clone, Copy, Debug)]
enum Stage {
    Waiting { until: u64 },
    Finding { until: u64, aim: Aim },
    Connecting { until: u64, aim: Aim },
    Greeting { until: u64, aim: Aim },
    Entering { until: u64, aim: Aim, beat: Beat },
    Live { since: u64, beat: Beat },
    Ended,
}

#[derive(Debug)]
struct OpenSession {
    id: String,
    resume_url: Option<String>,
}

/// The machine.
#[derive(Debug)]
pub struct Machine {
    settings: Settings,
    random: fastrand::Rng,
    stage: Stage,
    session: Option<OpenSession>,
    ledger: Ledger,
    identifies: IdentifyBudget,
    backoff: Backoff,
    /// The gateway's own address, as Discord answered it last.
    base: Option<GatewayAddress>,
    resumes_failed: u32,
    /// The address of the session failed: the next resume goes to the gateway's own.
    resume_url_failed: bool,
    connecting_to_resume_url: bool,
    was_live: bool,
    last_identify: Option<u64>,
    blocked: bool,
    sends: (u64, u32),
}

impl Machine {
    /// A machine that has done nothing yet. `state` is what an earlier process kept.
    #[must_use]
    pub fn new(settings: Settings, state: SessionState, random: fastrand::Rng) -> Self {
        let seq = state.session.as_ref().map_or(0, |session| session.seq);
        Self {
            settings,
            random,
            stage: Stage::Waiting { until: 0 },
            session: state.session.map(|s| OpenSession {
                id: s.id,
                resume_url: s.resume_url,
            }),
            ledger: Ledger::resumed(seq),
            identifies: state.identifies,
            backoff: Backoff::default(),
            base: None,
            resumes_failed: 0,
            resume_url_failed: false,
            connecting_to_resume_url: false,
            was_live: false,
            last_identify: None,
            blocked: false,
            sends: (0, 0),
        }
    }

    /// What to keep on disk.
    #[must_use]
    pub fn session_state(&self) -> SessionState {
        let session = self.session.as_ref().zip(self.ledger.reportable());
        SessionState {
            session: session.map(|(open, seq)| Session {
                id: open.id.clone(),
                resume_url: open.resume_url.clone(),
                seq,
            }),
            identifies: self.identifies,
        }
    }

    /// When the next [`Input::Tick`] is due at the latest, in monotonic milliseconds.
    #[must_use]
    pub fn deadline(&self) -> Option<u64> {
        match self.stage {
            Stage::Waiting { .. } if self.blocked => None,
            Stage::Waiting { until }
            | Stage::Finding { until, .. }
            | Stage::Connecting { until, .. }
            | Stage::Greeting { until, .. } => Some(until),
            Stage::Entering { until, beat, .. } => Some(until.min(beat.next)),
            Stage::Live { beat, .. } => Some(beat.next),
            Stage::Ended => None,
        }
    }

    /// The stage of the connection.
    #[must_use]
    pub const fn stage(&self) -> LinkStage {
        match self.stage {
            Stage::Waiting { .. } => LinkStage::Waiting,
            Stage::Finding { .. } => LinkStage::Finding,
            Stage::Connecting { .. } => LinkStage::Connecting,
            Stage::Greeting { .. } => LinkStage::Greeting,
            Stage::Entering { .. } => LinkStage::Entering,
            Stage::Live { .. } => LinkStage::Live,
            Stage::Ended => LinkStage::Ended,
        }
    }

    /// Takes one input and says what to do.
    pub fn on(&mut self, now: Now, input: Input<'_>) -> Vec<Output> {
        let mut out = Vec::new();
        if matches!(self.stage, Stage::Ended) {
            return out;
        }
        if self.slept_through(now) {
            self.close_and_lose(now, DownWhy::Slept, 0, &mut out);
        }
        match input {
            Input::Start | Input::Tick => self.tick(now, &mut out),
            Input::Address(address) => self.found(now, address, &mut out),
            Input::Opened => self.opened(now),
            Input::Frame(text) if self.is_open() => self.frame(now, text, &mut out),
            Input::Frame(_) => {}
            Input::Closed(code) if self.is_open() => self.closed(now, code, &mut out),
            Input::Closed(_) => {}
            Input::Broke(why) if self.is_open() || self.is_opening() => {
                self.close_and_lose(now, why, 0, &mut out);
            }
            Input::Broke(_) => {}
            Input::QueueFull => {
                if self.ledger.last_was_ready() {
                    self.forget_session();
                } else {
                    self.ledger.take_back();
                }
                self.blocked = true;
                self.close_and_lose(now, DownWhy::CoreBehind, 0, &mut out);
            }
            Input::QueueRoom => self.blocked = false,
            Input::Committed(seq) => {
                let before = self.ledger.reportable();
                self.ledger.commit(seq);
                if self.ledger.reportable() != before {
                    out.push(Output::SessionChanged);
                }
            }
            Input::Leave(code) => self.leave(code, &mut out),
        }
        out
    }

    fn is_open(&self) -> bool {
        matches!(
            self.stage,
            Stage::Greeting { .. } | Stage::Entering { .. } | Stage::Live { .. }
        )
    }

    fn is_opening(&self) -> bool {
        matches!(self.stage, Stage::Connecting { .. })
    }

    /// A machine that slept has no session any more, whatever its socket believes.
    fn slept_through(&self, now: Now) -> bool {
        let late = self
            .deadline()
            .is_some_and(|due| now.mono_ms > due + SLEPT_MS);
        late && (self.is_open() || self.is_opening())
    }

    fn tick(&mut self, now: Now, out: &mut Vec<Output>) {
        let mono = now.mono_ms;
        match self.stage {
            Stage::Waiting { until } if mono >= until && !self.blocked => self.attempt(now, out),
            Stage::Finding { until, .. } if mono >= until => {
                self.lose(now, DownWhy::StageTimedOut(LinkStage::Finding), 0, out);
            }
            Stage::Connecting { until, .. } | Stage::Greeting { until, .. } if mono >= until => {
                let why = DownWhy::StageTimedOut(self.stage());
                self.close_and_lose(now, why, 0, out);
            }
            Stage::Entering { until, .. } if mono >= until => {
                self.close_and_lose(now, DownWhy::StageTimedOut(LinkStage::Entering), 0, out);
            }
            Stage::Entering { beat, .. } | Stage::Live { beat, .. } if mono >= beat.next => {
                self.beat(now, beat, out);
            }
            Stage::Waiting { .. }
            | Stage::Finding { .. }
            | Stage::Connecting { .. }
            | Stage::Greeting { .. }
            | Stage::Entering { .. }
            | Stage::Live { .. }
            | Stage::Ended => {}
        }
    }
}
