//! The driver: wait, decide, carry out.
//!
//! In: the gateway's events, ends of posts, look-ups and runs, news of the disk, signals, the
//! deadline. Out: the connector's commands, carried out in the order it gave them. Never: a command
//! of `after` before its group is durable, a wait on one thing that holds up another.

use super::{
    control::{Asked, Control},
    effects::send,
    ending::{fatal_failure, not_in_guild, unresolved},
    gate::Waiting,
    health::Looked,
    keep::Keep,
    orders::Owed,
    reload::{self, Reloads},
    runs::Run,
    signals::{Signalled, Signals},
    time,
    watch::Watch,
    workshop,
    writer::{Done, Job, SpoolJob},
};
use crate::{clock::Clocks, exit::Failure, home::Home};
use guildhall_binding::Policy;
use guildhall_connector::{
    Connector,
    ids::RowId,
    input::{Input, Order, Room, Start},
    moment::{Brake, Brakes, Moment, Mono},
    outbound::Outbound,
    record::Record,
    step::Exit,
};
use guildhall_discord::{
    Rest,
    gateway::{Event, EventStream, Fatal, Handle, Intents, Leave, Seq, SessionState},
};
use guildhall_engine::Engine;
use guildhall_journal::{self as journal, failpoint, read_brake};
use guildhall_tools::Host;
use std::{
    collections::BTreeMap,
    sync::{Arc, mpsc::Sender},
    time::Duration,
};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

/// Longest sleep: a machine that was suspended notices within this time.
const SLEEP_MAX: Duration = Duration::from_secs(15);
/// How long the gateway has to close when the seat ends.
const LEAVE_GRACE: Duration = Duration::from_secs(2);
/// How often room is looked for while there is none.
const PROBE_EVERY_MS: u64 = 2_000;

/// Everything that a running seat holds.
pub(super) struct Driver {
    pub(super) home: Home,
    pub(super) policy: Arc<Policy>,
    pub(super) connector: Connector,
    pub(super) outbound: Outbound,
    pub(super) rest: Rest,
    pub(super) engine: Arc<dyn Engine>,
    pub(super) host: Host,
    pub(super) waiting: Waiting,
    pub(super) clocks: Clocks,
    pub(super) intents: Intents,
    pub(super) brakes: journal::Brakes,
    pub(super) jobs: Sender<Job>,
    pub(super) spool_jobs: Sender<SpoolJob>,
    pub(super) answers: UnboundedReceiver<Done>,
    pub(super) session: SessionState,
    pub(super) keep: Keep,
    pub(super) watch: Watch,
    pub(super) control: Option<Control>,
}

/// What changes while it runs.
pub(super) struct Running {
    pub(super) inputs: UnboundedSender<Input>,
    pub(super) runs: BTreeMap<RowId, Run>,
    pub(super) gateway: Option<(Handle, EventStream)>,
    pub(super) begun: Begun,
    writing: Writing,
    pub(super) checkpoint: CheckpointStep,
    room: Room,
    probe_at: Option<Mono>,
    /// The newest event that was given to the connector and not yet told as committed.
    pub(super) newest: Option<Seq>,
    pub(super) exit: Option<Exit>,
    pub(super) reloads: Reloads,
    /// Answers to other commands that wait for the disk.
    pub(super) owed: Vec<Owed>,
    /// Tells that the bot is not in the server.
    pub(super) lost: UnboundedSender<()>,
}

/// What woke the driver.
enum Wake {
    Disk(Done),
    Gateway(Option<Event>),
    Input(Input),
    Signal(Signalled),
    Asked(Asked),
    Looked(Looked),
}

/// Whether the connector was told what the last process left.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Begun {
    /// Discord's clock is waited for.
    NotYet,
    Yes,
}

/// What the disk is busy with.
enum Writing {
    Nothing,
    /// The parts of answers. These records say that they are there, so they come after.
    Parts(Vec<Record>),
    Group,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum CheckpointStep {
    /// None is due.
    NotDue,
    /// One is due as soon as nothing waits for the disk.
    Due,
    /// One is being made; nothing else is written.
    Making,
}

impl Driver {
    /// Runs until the connector says to end, or Discord or the disk make it impossible to go on.
    pub(super) async fn run(mut self, start: Start, signals: &mut Signals) -> Result<(), Failure> {
        let (inputs, mut received) = unbounded_channel();
        let (lost, mut not_found) = unbounded_channel();
        let mut running = Running {
            inputs,
            runs: BTreeMap::new(),
            gateway: None,
            begun: Begun::NotYet,
            writing: Writing::Nothing,
            checkpoint: CheckpointStep::NotDue,
            room: Room::Enough,
            probe_at: None,
            newest: None,
            exit: None,
            reloads: Reloads::default(),
            owed: Vec::new(),
            lost,
        };
        self.begin(&mut running, start);
        let ended = self
            .serve(&mut running, &mut received, &mut not_found, signals)
            .await;
        self.leave(running, ended).await
    }

    /// Tells the connector what the last process left. Where that is a post in doubt, Discord's clock
    /// has to be known first.
    fn begin(&mut self, running: &mut Running, start: Start) {
        let start = Input::Started(start);
        if self.connector.open_deliveries().is_empty() {
            let at = self.moment();
            return self.decide(running, &at, start);
        }
        let (rest, inputs) = (self.rest.clone(), running.inputs.clone());
        tokio::spawn(async move {
            time::known(&rest).await;
            send(&inputs, start);
        });
    }

    async fn serve(
        &mut self,
        running: &mut Running,
        received: &mut UnboundedReceiver<Input>,
        lost: &mut UnboundedReceiver<()>,
        signals: &mut Signals,
    ) -> Result<Exit, Failure> {
        loop {
            if let Some(exit) = running.exit.take() {
                return Ok(exit);
            }
            // A checkpoint needs a moment without news.
            let open = running.checkpoint == CheckpointStep::NotDue;
            let sleep = self.sleep(running);
            let wake = tokio::select! {
                Some(done) = self.answers.recv() => Wake::Disk(done),
                event = next_event(&mut running.gateway), if open => Wake::Gateway(event),
                Some(input) = received.recv(), if open => Wake::Input(input),
                which = signals.next() => Wake::Signal(which),
                asked = Control::next(&mut self.control), if running.begun == Begun::Yes => Wake::Asked(asked),
                looked = self.watch.look() => Wake::Looked(looked),
                Some(()) = lost.recv() => return Err(not_in_guild(&self.policy)),
                () = tokio::time::sleep(sleep) => Wake::Input(Input::Tick),
            };
            // Clocks and brakes are read once for everything that this wake decides.
            let at = self.moment();
            match wake {
                Wake::Disk(done) => self.written(running, &at, done)?,
                Wake::Gateway(event) => self.heard_many(running, &at, event)?,
                Wake::Input(input) => self.decide(running, &at, input),
                Wake::Signal(which) => self.signalled(running, &at, which),
                Wake::Asked(asked) => self.asked(running, &at, asked),
                Wake::Looked(looked) => self.looked(&at, looked),
            }
            self.after_wake(running);
        }
    }

    fn sleep(&self, running: &Running) -> Duration {
        let now = self.clocks.mono();
        let times = [
            self.connector.deadline(),
            self.keep.due(),
            running.probe_at,
            Some(self.watch.due()),
        ];
        let next = times.into_iter().flatten().min();
        let wait = next.map_or(SLEEP_MAX, |at| {
            Duration::from_millis(at.0.saturating_sub(now.0))
        });
        wait.min(SLEEP_MAX)
    }

    pub(super) fn moment(&self) -> Moment {
        if let Some(heard) = self.rest.server_time() {
            let ago = i64::try_from(heard.heard.elapsed().as_millis()).unwrap_or(0);
            self.clocks.heard(heard.unix_ms, ago);
        }
        let brake = |path| match read_brake(path) {
            journal::Brake::Absent => Brake::Off,
            journal::Brake::Set { .. } => Brake::On,
        };
        let brakes = Brakes {
            stop: brake(&self.brakes.stop),
            estop: brake(&self.brakes.estop),
        };
        Moment {
            mono: self.clocks.mono(),
            wall: self.clocks.wall(),
            brakes,
        }
    }

    /// Lets the connector decide, and starts what may start.
    pub(super) fn decide(&mut self, running: &mut Running, at: &Moment, input: Input) {
        if let Input::Run(row, guildhall_connector::run::RunEvent::Ended(_)) = &input {
            running.runs.remove(row);
        }
        if matches!(input, Input::Started(_)) {
            running.begun = Begun::Yes;
        }
        if let Input::Ordered(Order::Reload(policy, _)) = &input {
            self.policy = Arc::clone(policy);
            self.host.reloaded(policy);
            workshop::know_secrets(policy);
        }
        let reloaded = reload::outcome(&input);
        let step = self.connector.on(at, input);
        let now = self.outbound.push(step);
        for command in now {
            self.carry_out(running, command);
        }
        self.write_next(running);
        if let Some(outcome) = reloaded {
            self.reload_ended(running, &outcome);
        }
    }

    /// Gives the disk its next group, when it is free.
    fn write_next(&mut self, running: &mut Running) {
        let is_busy = !matches!(running.writing, Writing::Nothing);
        if is_busy || running.checkpoint == CheckpointStep::Making {
            return;
        }
        if running.checkpoint == CheckpointStep::Due && self.outbound.is_idle() {
            running.checkpoint = CheckpointStep::Making;
            let checkpoint = Box::new(self.connector.durable().checkpoint());
            self.job(Job::Checkpoint(self.clocks.wall(), checkpoint));
            return;
        }
        let Some(group) = self.outbound.next_group() else {
            return;
        };
        failpoint("driver.before-group");
        if group.spool.is_empty() {
            return self.write_group(running, group.records);
        }
        running.writing = Writing::Parts(group.records);
        if self.spool_jobs.send(SpoolJob::Put(group.spool)).is_err() {
            tracing::error!("the spool's thread has ended");
        }
    }

    fn write_group(&mut self, running: &mut Running, records: Vec<Record>) {
        running.writing = Writing::Group;
        self.job(Job::Group(self.clocks.wall(), records));
    }

    pub(super) fn job(&self, job: Job) {
        if self.jobs.send(job).is_err() {
            tracing::error!("the journal's thread has ended");
        }
    }

    /// The disk answered.
    fn written(&mut self, running: &mut Running, at: &Moment, done: Done) -> Result<(), Failure> {
        match done {
            Done::Broken(what) => {
                return Err(Failure::failed(format!(
                    "the disk does not keep what it is given: {what}"
                ))
                .hint(
                    "nothing more was acknowledged; the next start goes on from what is on disk",
                ));
            }
            Done::Checkpoint => running.checkpoint = CheckpointStep::NotDue,
            Done::Room(room) => self.room(running, at, room),
            Done::Spool => {
                if let Writing::Parts(records) =
                    std::mem::replace(&mut running.writing, Writing::Nothing)
                {
                    failpoint("driver.parts-durable");
                    self.write_group(running, records);
                }
            }
            Done::Group {
                room,
                wants_checkpoint,
            } => {
                running.writing = Writing::Nothing;
                if wants_checkpoint && running.checkpoint == CheckpointStep::NotDue {
                    running.checkpoint = CheckpointStep::Due;
                }
                self.room(running, at, room);
            }
        }
        let is_idle = matches!(running.writing, Writing::Nothing);
        if is_idle && running.checkpoint != CheckpointStep::Making {
            failpoint("driver.group-durable");
            for command in self.outbound.durable() {
                self.carry_out(running, command);
            }
        }
        self.write_next(running);
        Ok(())
    }

    fn room(&mut self, running: &mut Running, at: &Moment, room: journal::Room) {
        let room = match room {
            journal::Room::Enough => Room::Enough,
            journal::Room::NoRoom => Room::None,
        };
        running.probe_at =
            (room == Room::None).then(|| Mono(self.clocks.mono().0 + PROBE_EVERY_MS));
        if room != running.room {
            running.room = room;
            match room {
                Room::None => tracing::error!("no room on the disk: nothing new is accepted"),
                Room::Enough => tracing::info!("there is room on the disk again"),
            }
            self.decide(running, at, Input::Journal(room));
        }
    }

    /// What is due after every wake: the gateway's sequence, the files that are replaced.
    fn after_wake(&mut self, running: &mut Running) {
        let idle = self.outbound.is_idle() && !self.connector.is_undecided();
        if idle && let (Some(seq), Some((handle, _))) = (running.newest.take(), &running.gateway) {
            handle.committed(seq);
        }
        let now = self.clocks.mono();
        if running.probe_at.is_some_and(|at| at <= now) {
            running.probe_at = Some(Mono(now.0 + PROBE_EVERY_MS));
            self.job(Job::Probe);
        }
        let session = running.gateway.as_ref().map(|(handle, _)| handle.session());
        if let Some(session) = session {
            self.session = session.borrow().clone();
        }
        self.watch(running, now);
        self.pay(running);
        if self.keep.is_due(now) {
            let at = self.moment();
            self.keep_files(running, &at);
        }
    }

    /// Has the files written that are replaced.
    fn keep_files(&mut self, running: &Running, at: &Moment) {
        let idle = self.outbound.is_idle();
        let cursors = (idle && running.begun == Begun::Yes).then(|| self.connector.cursors());
        let shown = self.shown(running, at);
        let session = SessionState {
            // A session that tells nothing is not worth going on with.
            session: (self.session.session.clone()).filter(|_| !self.watch.health.is_deaf()),
            identifies: self.session.identifies,
        };
        for (path, bytes) in self.keep.files(at, &shown, &session, cursors) {
            self.job(Job::Replace(path, bytes));
        }
    }

    /// What `status` shows.
    pub(super) fn shown(&mut self, running: &Running, at: &Moment) -> serde_json::Value {
        let link = running.gateway.as_ref().map(|(handle, _)| handle.link());
        let status = self.connector.status(at);
        self.keep.shown(at, &status, link, &self.watch.health)
    }

    fn signalled(&mut self, running: &mut Running, at: &Moment, which: Signalled) {
        match which {
            Signalled::End => {
                tracing::info!("draining: what runs is finished, nothing more is started");
                self.watch.stopping();
                self.decide(running, at, Input::Ordered(Order::Drain));
            }
            Signalled::Reload => self.reload(running, None),
        }
    }

    /// Ends: the gateway closes, the disk gets everything, the exit says why.
    async fn leave(
        mut self,
        mut running: Running,
        ended: Result<Exit, Failure>,
    ) -> Result<(), Failure> {
        self.watch.stopping();
        // Nobody may ask any more; who waits is told so.
        self.control = None;
        running.owed.clear();
        if let Some((handle, mut stream)) = running.gateway.take() {
            let for_good = read_brake(&self.brakes.stop) != journal::Brake::Absent;
            handle.leave(if for_good {
                Leave::ForGood
            } else {
                Leave::ToResume
            });
            let closed = async { while stream.next().await.is_some() {} };
            if tokio::time::timeout(LEAVE_GRACE, closed).await.is_err() {
                tracing::debug!("the gateway took too long to close");
            }
            self.session = handle.session().borrow().clone();
        }
        let at = self.moment();
        if let Err(failure) = &ended {
            self.keep.error(failure.what.clone());
        }
        self.keep_files(&running, &at);
        if self.outbound.is_idle() {
            let checkpoint = Box::new(self.connector.durable().checkpoint());
            self.job(Job::Checkpoint(at.wall, checkpoint));
        }
        self.job(Job::End);
        if self.spool_jobs.send(SpoolJob::End).is_err() {
            tracing::debug!("the spool's thread has ended");
        }
        match ended? {
            Exit::Drained => {
                tracing::info!("ended: nothing is under way");
                Ok(())
            }
            Exit::Unauthorized => Err(fatal_failure(Fatal::Unauthorized)),
            Exit::Unresolved(open) => Err(unresolved(&open, self.policy.name.as_str())),
        }
    }
}

async fn next_event(gateway: &mut Option<(Handle, EventStream)>) -> Option<Event> {
    match gateway {
        Some((_, stream)) => stream.next().await,
        None => std::future::pending().await,
    }
}
