//! The world behind its lock, and the way out for its effects.
//!
//! In: closures that work on the world. Out: their results, and effects handed to connections in
//! the order in which the world made them.
//! Never: holds the lock across an await.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::{broadcast, mpsc, watch};

use super::{DemoActions, PanelSource, Running};
use crate::clock::{Clock, Moment};
use crate::world::{ConnectionId, Effect, World};

/// Frames that may wait for one slow client; beyond that it is dropped.
const OUTBOX_FRAMES: usize = 8_192;
/// Events that may wait for one slow page; beyond that it fetches everything again.
const PAGE_EVENTS: usize = 1_024;
/// How often time is allowed to do something by itself.
const TICK: Duration = Duration::from_millis(250);

/// What a connection's task has to do.
#[derive(Debug)]
pub(crate) enum Out {
    Frame(String),
    Close { code: u16, reason: &'static str },
    Tear(String),
    Drop,
}

/// Everything that the tasks share.
pub(crate) struct Shared {
    // A plain mutex: every section is short and has no await inside.
    core: Mutex<Core>,
    origin: String,
    page: broadcast::Sender<Arc<str>>,
    pub(crate) panel: Arc<dyn PanelSource>,
    pub(crate) actions: Arc<dyn DemoActions>,
    running: watch::Receiver<Running>,
    /// Cloned into every task; the simulator has ended when all clones are gone.
    alive: Mutex<Option<mpsc::Sender<()>>>,
    task_template: mpsc::WeakSender<()>,
}

struct Core {
    world: World,
    clock: Clock,
    outboxes: HashMap<ConnectionId, mpsc::Sender<Out>>,
    last_connection: u64,
}

/// Held by a task while it runs.
pub(crate) struct Task {
    _alive: Option<mpsc::Sender<()>>,
    pub(crate) running: watch::Receiver<Running>,
}

impl Task {
    /// Returns when the simulator is told to stop.
    pub(crate) async fn stopped(&mut self) {
        // An error means that the simulator itself is gone, which is a stop, too.
        let gone = self
            .running
            .wait_for(|running| *running == Running::No)
            .await
            .is_err();
        tracing::trace!(gone, "task told to stop");
    }
}

impl fmt::Debug for Shared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Shared")
            .field("origin", &self.origin)
            .finish_non_exhaustive()
    }
}

impl Shared {
    pub(super) fn new(
        world: World,
        clock: Clock,
        origin: String,
        panel: Arc<dyn PanelSource>,
        actions: Arc<dyn DemoActions>,
        running: watch::Receiver<Running>,
        alive: mpsc::Sender<()>,
    ) -> Self {
        let core = Core {
            world,
            clock,
            outboxes: HashMap::new(),
            last_connection: 0,
        };
        Self {
            core: Mutex::new(core),
            origin,
            page: broadcast::channel(PAGE_EVENTS).0,
            panel,
            actions,
            running,
            task_template: alive.downgrade(),
            alive: Mutex::new(Some(alive)),
        }
    }

    pub(crate) fn origin(&self) -> &str {
        &self.origin
    }

    /// What a new task holds while it runs.
    pub(crate) fn task(&self) -> Task {
        Task {
            _alive: self.task_template.upgrade(),
            running: self.running.clone(),
        }
    }

    /// Lets go of the first sender, once the first tasks have theirs.
    pub(super) fn release_task(&self) {
        self.alive
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take();
    }

    /// Works on the world at its present, then hands out the effects.
    pub(crate) fn with<T>(&self, work: impl FnOnce(&mut World, Moment) -> T) -> T {
        self.with_clock(|world, clock| work(world, clock.now()))
    }

    /// The same, for work that may move the clock.
    pub(crate) fn with_clock<T>(&self, work: impl FnOnce(&mut World, &mut Clock) -> T) -> T {
        // A panic in one request must not take the others down with it.
        let mut core = self.core.lock().unwrap_or_else(PoisonError::into_inner);
        let Core { world, clock, .. } = &mut *core;
        let now = clock.now();
        world.log.at(now);
        let result = work(world, clock);
        let effects = core.world.take_effects();
        self.carry_out(&mut core, effects);
        result
    }

    fn carry_out(&self, core: &mut Core, effects: Vec<Effect>) {
        for effect in effects {
            let (to, out) = match effect {
                Effect::Frame { to, text } => (to, Out::Frame(text)),
                Effect::Close { to, code, reason } => (to, Out::Close { code, reason }),
                Effect::Drop { to } => (to, Out::Drop),
                Effect::Tear { to, text } => (to, Out::Tear(text)),
                Effect::Page(event) => {
                    // No open page is no error.
                    self.page.send(event).ok();
                    continue;
                }
            };
            let full = core
                .outboxes
                .get(&to)
                .is_some_and(|outbox| outbox.try_send(out).is_err());
            if full {
                // The task sees its outbox close and ends the connection.
                tracing::warn!(connection = to.0, "client too slow, connection dropped");
                core.outboxes.remove(&to);
            }
        }
    }

    /// Takes in a new gateway connection. Gives its number and its outbox.
    pub(crate) fn connect(&self) -> (ConnectionId, mpsc::Receiver<Out>) {
        let (outbox, inbox) = mpsc::channel(OUTBOX_FRAMES);
        let mut core = self.core.lock().unwrap_or_else(PoisonError::into_inner);
        core.last_connection += 1;
        let id = ConnectionId(core.last_connection);
        core.outboxes.insert(id, outbox);
        drop(core);
        self.with(|world, now| world.open(now, id));
        (id, inbox)
    }

    /// A gateway connection is gone.
    pub(crate) fn disconnect(&self, id: ConnectionId, code: Option<u16>) {
        self.with(|world, now| world.closed(now, id, code));
        let mut core = self.core.lock().unwrap_or_else(PoisonError::into_inner);
        core.outboxes.remove(&id);
    }

    /// The events for one open page, from now on, and the whole state before them.
    pub(crate) fn watch_page(&self) -> (serde_json::Value, broadcast::Receiver<Arc<str>>) {
        // Subscribed first: an event in between is then told twice rather than never.
        let events = self.page.subscribe();
        (self.with(|world, _| world.page_state_json()), events)
    }
}

/// Lets time pass for the world.
pub(super) async fn tick(shared: Arc<Shared>, mut task: Task) {
    let mut interval = tokio::time::interval(TICK);
    loop {
        tokio::select! {
            _ = interval.tick() => shared.with(World::tick),
            () = task.stopped() => return,
        }
    }
}
