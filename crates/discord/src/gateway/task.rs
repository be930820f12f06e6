//! The shell around the machine: one task that waits, asks the machine, and does what it says.
//!
//! In: a client, a session from disk. Out: a handle and a stream of events. Never: a rule of its
//! own, a wait for the core, a second socket.

use super::{
    Clock, DownWhy, Event, Intents, LinkStage, News, Now, Seq, SessionState,
    machine::{Address, CLOSE_FOR_GOOD, CLOSE_RESUMABLE, Input, Machine, Output, Settings},
    socket::{self, Read, Socket},
};
use crate::rest::{Outcome, Reason, Rest};
use guildhall_binding::ids::UserId;
use std::{
    collections::VecDeque,
    future::{Future, pending},
    pin::Pin,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};
use tokio::{
    sync::{mpsc, watch},
    time::sleep,
};

/// Events that wait for the core. Some minutes of a busy server; beyond that the link is dropped
/// and resumed later, so that Discord keeps what we cannot.
const QUEUE_COUNT: usize = 1_024;
/// Places in the queue that only news of the link itself may take.
const RESERVE_COUNT: usize = 64;
/// How long the socket is not read while the core works off a full queue. Meanwhile TCP holds the
/// sender back, and heartbeats go out; after it the link is dropped and resumed later. Well below
/// a heartbeat's interval, so that an acknowledgement that waits in the socket is not missed.
const PAUSE_MAX_MS: u64 = 10_000;
/// Free places at which a link that was dropped for the core's sake is opened again.
const ROOM_COUNT: usize = QUEUE_COUNT / 2;
/// Longest sleep: a machine that was suspended notices within this time.
const WAKE_MAX: Duration = Duration::from_secs(15);
/// How soon the address is asked for again when Discord gave no hint.
const ADDRESS_RETRY: Duration = Duration::from_secs(1);

/// What the gateway needs.
pub struct GatewayConfig {
    /// The bot that the binding names.
    pub bot: UserId,
    /// What to hear.
    pub intents: Intents,
    /// What an earlier process kept.
    pub state: SessionState,
    /// The clocks.
    pub clock: Clock,
    /// Seed of the jitter.
    pub seed: u64,
}

/// How to leave.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Leave {
    /// The bot goes offline and the session ends.
    ForGood,
    /// The session is kept for some minutes: a restart resumes it.
    ToResume,
}

/// What the link is doing, for `status` and the watchdog.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LinkStatus {
    /// The stage.
    pub stage: LinkStage,
    /// Since when, in milliseconds of the caller's wall clock.
    pub since_ms: u64,
    /// When Discord was last heard at all, acknowledgements included.
    pub heard_ms: Option<u64>,
    /// When the last event came: a link that is heard and tells nothing may be deaf.
    pub event_ms: Option<u64>,
    /// Connections that were tried.
    pub connects_count: u64,
    /// Why the link was last lost.
    pub last_loss: Option<DownWhy>,
}

/// The way to a running gateway. A clone is another handle on the same one; when all are gone the
/// session is left as [`Leave::ToResume`].
#[derive(Clone)]
pub struct Handle {
    committed: watch::Sender<Option<Seq>>,
    leave: mpsc::Sender<Leave>,
    session: watch::Receiver<SessionState>,
    link: Arc<Mutex<LinkStatus>>,
}

impl Handle {
    /// Says that this event and all before it are durable, or need no durability. Only then may
    /// the number be kept on disk. Never blocks.
    pub fn committed(&self, seq: Seq) {
        self.committed.send_replace(Some(seq));
    }

    /// The session to keep on disk: write it soon after it changes.
    #[must_use]
    pub fn session(&self) -> watch::Receiver<SessionState> {
        self.session.clone()
    }

    /// What the link is doing.
    #[must_use]
    pub fn link(&self) -> LinkStatus {
        *self.link.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Leaves. The stream ends when the socket is closed.
    pub fn leave(&self, leave: Leave) {
        if self.leave.try_send(leave).is_err() {
            tracing::debug!("the gateway has ended, or is leaving already");
        }
    }
}

/// The events, in order.
pub struct EventStream {
    events: mpsc::Receiver<Event>,
}

impl EventStream {
    /// Waits for the next event; `None` when the gateway has ended.
    ///
    /// # Cancel safety
    /// A dropped future leaves the event in the queue.
    pub async fn next(&mut self) -> Option<Event> {
        self.events.recv().await
    }

    /// The next event, where one is there already.
    pub fn try_next(&mut self) -> Option<Event> {
        self.events.try_recv().ok()
    }
}

/// Connects, and stays connected until told to leave or until only a person can help. Runs in a
/// task of the current runtime.
#[must_use]
pub fn connect(rest: &Rest, config: GatewayConfig) -> (Handle, EventStream) {
    let settings = Settings {
        bot: config.bot,
        reach: rest.reach(),
    };
    let random = fastrand::Rng::with_seed(config.seed);
    let (session_sender, session) = watch::channel(config.state.clone());
    let machine = Machine::new(settings, config.state, random);
    let (events_sender, events) = mpsc::channel(QUEUE_COUNT + RESERVE_COUNT);
    let (committed, committed_receiver) = watch::channel(None);
    let (leave, leave_receiver) = mpsc::channel(1);
    let now = config.clock.now();
    let link = Arc::new(Mutex::new(LinkStatus {
        stage: LinkStage::Waiting,
        since_ms: now.wall_ms,
        heard_ms: None,
        event_ms: None,
        connects_count: 0,
        last_loss: None,
    }));
    let task = Task {
        rest: rest.clone(),
        intents: config.intents.bits(),
        clock: config.clock,
        machine,
        events: events_sender,
        session: session_sender,
        link: Arc::clone(&link),
        socket: None,
        opening: None,
        finding: None,
        blocked: false,
        paused_ms: None,
    };
    tokio::spawn(task.run(committed_receiver, leave_receiver));
    (
        Handle {
            committed,
            leave,
            session,
            link,
        },
        EventStream { events },
    )
}

type Later<T> = Option<Pin<Box<dyn Future<Output = T> + Send>>>;

/// What woke the task: an input, or a frame whose text the task owns.
enum Woken {
    Text(tokio_tungstenite::tungstenite::Utf8Bytes),
    Input(Input<'static>),
}

#[derive(PartialEq, Eq)]
enum Ending {
    GoesOn,
    Ended,
}

struct Task {
    rest: Rest,
    intents: u64,
    clock: Clock,
    machine: Machine,
    events: mpsc::Sender<Event>,
    session: watch::Sender<SessionState>,
    link: Arc<Mutex<LinkStatus>>,
    socket: Option<Socket>,
    opening: Later<Result<Socket, DownWhy>>,
    finding: Later<Address>,
    blocked: bool,
    /// Since when the socket is not read, as the queue is full.
    paused_ms: Option<u64>,
}

impl Task {
    async fn run(
        mut self,
        mut committed: watch::Receiver<Option<Seq>>,
        mut leave: mpsc::Receiver<Leave>,
    ) {
        let mut woken = Woken::Input(Input::Start);
        loop {
            let now = self.clock.now();
            if matches!(woken, Woken::Text(_)) {
                self.note(|link| link.heard_ms = Some(now.wall_ms));
            }
            let outputs = match woken {
                Woken::Text(text) => self.machine.on(now, Input::Frame(&text)),
                Woken::Input(input) => self.machine.on(now, input),
            };
            let ending = self.carry_out(outputs).await;
            self.note_stage(self.clock.now());
            if ending == Ending::Ended {
                return;
            }
            woken = self.wait(&mut committed, &mut leave).await;
        }
    }

    async fn wait(
        &mut self,
        committed: &mut watch::Receiver<Option<Seq>>,
        leave: &mut mpsc::Receiver<Leave>,
    ) -> Woken {
        let now = self.clock.now().mono_ms;
        let due = self
            .machine
            .deadline()
            .map(|due| Duration::from_millis(due.saturating_sub(now)));
        let full = self.pauses(now);
        let until = due.unwrap_or(WAKE_MAX).min(WAKE_MAX);
        // A flood of frames must not keep a heartbeat waiting.
        if until.is_zero() {
            return Woken::Input(Input::Tick);
        }
        let input = tokio::select! {
            how = leave.recv() => Input::Leave(match how {
                Some(Leave::ForGood) => CLOSE_FOR_GOOD,
                Some(Leave::ToResume) | None => CLOSE_RESUMABLE,
            }),
            read = read(&mut self.socket), if !full => match read {
                Read::Text(text) => return Woken::Text(text),
                Read::Closed(code) => Input::Closed(code),
                Read::Nothing => Input::Tick,
            },
            opened = arrived(&mut self.opening) => match opened {
                Ok(socket) => {
                    self.socket = Some(socket);
                    Input::Opened
                }
                Err(why) => Input::Broke(why),
            },
            address = arrived(&mut self.finding) => Input::Address(address),
            Ok(()) = committed.changed() => match *committed.borrow_and_update() {
                Some(seq) => Input::Committed(seq),
                None => Input::Tick,
            },
            room = self.events.reserve_many(ROOM_COUNT + RESERVE_COUNT), if self.blocked || full => {
                match room {
                    Ok(_) if full => Input::Tick,
                    Ok(_) => {
                        self.blocked = false;
                        Input::QueueRoom
                    }
                    Err(_) => Input::Leave(CLOSE_RESUMABLE),
                }
            }
            () = self.events.closed() => Input::Leave(CLOSE_RESUMABLE),
            () = sleep(until) => Input::Tick,
        };
        Woken::Input(input)
    }

    /// Whether the socket is left unread: the queue is full, and has not been for too long. After
    /// that the next event is read, meets the full queue, and the link is dropped for it.
    fn pauses(&mut self, now: u64) -> bool {
        if self.blocked || !self.is_full() {
            self.paused_ms = None;
            return false;
        }
        let since = *self.paused_ms.get_or_insert(now);
        now.saturating_sub(since) < PAUSE_MAX_MS
    }

    fn is_full(&self) -> bool {
        self.events.capacity() <= RESERVE_COUNT && !self.events.is_closed()
    }

    async fn carry_out(&mut self, outputs: Vec<Output>) -> Ending {
        let mut queue = VecDeque::from(outputs);
        while let Some(output) = queue.pop_front() {
            let more = match output {
                Output::FindAddress => {
                    self.finding = Some(Box::pin(find(self.rest.clone())));
                    Vec::new()
                }
                Output::Connect(to) => {
                    self.note(|link| link.connects_count += 1);
                    let dialer = self.rest.dialer().clone();
                    self.opening = Some(Box::pin(socket::open(dialer, to)));
                    Vec::new()
                }
                Output::Send(frame) => self.send(&frame).await,
                Output::Close(code) => {
                    self.close(code).await;
                    Vec::new()
                }
                Output::Deliver(event) => self.deliver(event).await,
                Output::SessionChanged => {
                    self.tell_session();
                    Vec::new()
                }
                Output::Ended => return Ending::Ended,
            };
            queue.extend(more);
        }
        Ending::GoesOn
    }

    async fn send(&mut self, frame: &super::Frame) -> Vec<Output> {
        let Some(socket) = &mut self.socket else {
            return Vec::new();
        };
        match socket.send(frame, self.rest.token(), self.intents).await {
            Ok(()) => Vec::new(),
            Err(why) => self.machine.on(self.clock.now(), Input::Broke(why)),
        }
    }

    async fn close(&mut self, code: u16) {
        self.opening = None;
        self.finding = None;
        if let Some(socket) = self.socket.take() {
            if self.machine.stage() == LinkStage::Ended {
                socket.close(code).await;
            } else {
                tokio::spawn(socket.close(code));
            }
        }
    }

    async fn deliver(&mut self, event: Event) -> Vec<Output> {
        let now = self.clock.now();
        if let News::Down(down) = &event.news {
            tracing::info!(why = ?down.why, retry_ms = down.retry_in.as_millis(), "gateway down");
            self.note(|link| link.last_loss = Some(down.why));
        }
        if let News::Fatal(fatal) = &event.news {
            tracing::error!(code = fatal.code(), "gateway ended");
            // The last word waits for its place: nothing else is left to do.
            if self.events.send(event).await.is_err() {
                tracing::debug!("nobody listens any more");
            }
            return Vec::new();
        }
        if event.seq.is_some() {
            self.note(|link| link.event_ms = Some(now.wall_ms));
            if self.is_full() {
                self.blocked = true;
                return self.machine.on(now, Input::QueueFull);
            }
        }
        match self.events.try_send(event) {
            Ok(()) => Vec::new(),
            // Only news of the link can meet a full reserve, and the next one says the same.
            Err(mpsc::error::TrySendError::Full(_)) => Vec::new(),
            Err(mpsc::error::TrySendError::Closed(_)) => {
                self.machine.on(now, Input::Leave(CLOSE_RESUMABLE))
            }
        }
    }

    fn tell_session(&self) {
        let state = self.machine.session_state();
        self.session.send_if_modified(|kept| {
            let changed = *kept != state;
            *kept = state;
            changed
        });
    }

    fn note(&self, change: impl FnOnce(&mut LinkStatus)) {
        change(&mut self.link.lock().unwrap_or_else(PoisonError::into_inner));
    }

    fn note_stage(&self, now: Now) {
        let stage = self.machine.stage();
        self.note(|link| {
            if link.stage != stage {
                link.stage = stage;
                link.since_ms = now.wall_ms;
            }
        });
    }
}

async fn read(socket: &mut Option<Socket>) -> Read {
    match socket {
        Some(socket) => socket.read().await,
        None => pending().await,
    }
}

async fn arrived<T>(later: &mut Later<T>) -> T {
    let Some(future) = later else {
        return pending().await;
    };
    let value = future.as_mut().await;
    *later = None;
    value
}

async fn find(rest: Rest) -> Address {
    match rest.gateway_bot().await {
        Outcome::Done(bot) => Address::Here(bot),
        Outcome::Refused(refused) if refused.reason == Reason::Unauthorized => {
            Address::Unauthorized
        }
        Outcome::NotSent(not_sent) => Address::Later(not_sent.retry_after),
        Outcome::Refused(_) | Outcome::Unknown(_) => Address::Later(ADDRESS_RETRY),
    }
}
