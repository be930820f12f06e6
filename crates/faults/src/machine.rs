//! The machine: one process, one disk, one Discord, one clock.
//!
//! In: a plan, and perhaps a mutation. Out: what was seen, and which invariants it breaks. Never:
//! a thread, a real clock, or an order of events that depends on anything but the plan.

mod actions;
mod host;
mod network;
mod process;
mod quiet;
mod watch;

use crate::{
    discord::{Discord, Enforces},
    disk::Disk,
    engine::Engine,
    gateway::{Event, Gateway, Seat},
    ledger::Ledger,
    mutation::Mutation,
    plan::{Action, Behaviour, CallPlan, DiskFault, Down, EchoFault, LookUpFault, Plan, PostFault},
    prng::Prng,
    settings::{Speaker, Variant},
    violation::{Invariant, Violation},
};
use guildhall_authority::ask::AskId;
use guildhall_binding::ids::{ChannelId, MessageId};
use guildhall_connector::{
    ids::{Nonce, RowId},
    input::{Input, Learned, Press, Receipt, Room},
    moment::{Brakes, Moment, Mono, Wall},
    run::RunEvent,
    step::{CardEdit, LookUp},
    turn::ReadReceipt,
};
use network::{Flight, Then};
use process::Process;
use std::collections::{BTreeMap, VecDeque};

/// A midnight UTC, from which runs count back; its date means nothing.
const MIDNIGHT_MS: u64 = 1_796_083_200_000;
/// What the monotonic clock shows when a run begins.
const MONO_AT_START: u64 = 1_000;
/// Events of one run, at most: far more than any schedule makes.
const EVENTS_MAX_COUNT: usize = 60_000;
/// Ticks in a row that the connector may ask for without time going on.
const SPINS_MAX_COUNT: u32 = 50;

/// Whether a run tells what it does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trace {
    /// It keeps a line for each thing that happens.
    On,
    /// It does not.
    Off,
}

/// What a run came to.
#[derive(Clone, Debug, Default)]
pub struct Outcome {
    /// What does not hold.
    pub violations: Vec<Violation>,
    /// What happened, where a trace was asked for.
    pub trace: Vec<String>,
    /// What there was of everything, to see that runs are not empty.
    pub counts: Counts,
}

/// What there was in a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Messages that people wrote.
    pub said: u64,
    /// Messages that the seat posted.
    pub posted: u64,
    /// Runs of the engine.
    pub runs: u64,
    /// Processes.
    pub processes: u64,
    /// Things that happened.
    pub events: u64,
}

/// Something that is due.
#[derive(Debug)]
enum Fire {
    Step(usize),
    PlanOver,
    Restart,
    Operator,
    Connect(u32),
    LinkDown(u32),
    Deliver(u32),
    Replayed(u32),
    Repeated(u32, Event),
    Synced(u32),
    WriteFails(u32, Down),
    FlushDrop(u32, usize),
    Arrives(Box<Flight>, Then),
    Answered(u32, Nonce, Receipt),
    Looks(u32, LookUp, u64),
    Learned(u32, Box<Learned>),
    Eyes(u32, RowId, ReadReceipt),
    Says(u32, RowId, Box<RunEvent>),
    Calls(u32, RowId, u32, CallPlan),
    CallGone(u32, RowId, u32),
    Redeems(u32, RowId, u32, AskId),
    Works(u32, RowId, u32),
    CallEnds(u32, RowId, u32),
    Pressed(u32, Speaker, Box<Press>),
    EditArrives(u32, Box<CardEdit>, Option<u64>),
    Edited(u32, AskId, Receipt),
}

/// Faults that wait for their occasion.
#[derive(Debug, Default)]
struct Faults {
    post: VecDeque<PostFault>,
    look_up: VecDeque<LookUpFault>,
    engine: VecDeque<Behaviour>,
    calls: VecDeque<CallPlan>,
    disk: VecDeque<DiskFault>,
    echo: VecDeque<EchoFault>,
    guild_late: Option<u64>,
    /// Until then nothing of this kind gets an answer.
    no_posts_until: u64,
    no_look_ups_until: u64,
}

/// What `gateway.json` says.
#[derive(Clone, Debug, Default)]
struct Saved {
    seat: Option<Seat>,
    cursors: BTreeMap<ChannelId, MessageId>,
    dropped: Vec<MessageId>,
}

/// How far a run is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    Plan,
    Quiet,
    Encore,
}

/// Whose delays are drawn; each has a stream of its own, so that taking an action out changes
/// little else.
#[derive(Clone, Copy)]
enum Draw {
    Network,
    Disk,
    Engine,
    Driver,
}

/// The machine, whole.
pub(crate) struct Machine<'p> {
    plan: &'p Plan,
    mutation: Option<Mutation>,
    now: u64,
    /// How far the wall clock is off, and its highest reading so far.
    jumped: i64,
    jumped_most: i64,
    fires: BTreeMap<(u64, u64), Fire>,
    next_fire: u64,
    chances: [Prng; 4],
    pub(crate) discord: Discord,
    gateway: Gateway,
    /// Before this the gateway delivers nothing.
    gateway_floor: u64,
    pub(crate) disk: Disk,
    engine: Engine,
    pub(crate) host: host::Host,
    pub(crate) process: Option<Process>,
    processes: u32,
    brakes: Brakes,
    room: Room,
    variant: Variant,
    faults: Faults,
    saved: Saved,
    /// Deliveries that the last process could not settle.
    by_hand: Vec<Nonce>,
    stage: Stage,
    operator_calls: u32,
    spins: u32,
    pub(crate) ledger: Ledger,
    trace: Option<Vec<String>>,
    counts: Counts,
}

impl<'p> Machine<'p> {
    pub(crate) fn new(plan: &'p Plan, mutation: Option<Mutation>, trace: Trace) -> Self {
        let enforces = match mutation {
            Some(Mutation::NotEnforced) => Enforces::Nothing,
            Some(_) | None => Enforces::Nonces,
        };
        let epoch = MIDNIGHT_MS - plan.knobs.midnight_ms;
        let stream = |stream| Prng::new(plan.seed, stream);
        Self {
            plan,
            mutation,
            now: 0,
            jumped: 0,
            jumped_most: 0,
            fires: BTreeMap::new(),
            next_fire: 0,
            chances: [stream(11), stream(12), stream(13), stream(14)],
            discord: Discord::new(&plan.knobs, epoch, enforces),
            gateway: Gateway::new(plan.knobs.resume_ms),
            gateway_floor: 0,
            disk: Disk::new(mutation),
            engine: Engine::default(),
            host: host::Host::default(),
            process: None,
            processes: 0,
            brakes: Brakes::default(),
            room: Room::Enough,
            variant: Variant::Base,
            faults: Faults::default(),
            saved: Saved::default(),
            by_hand: Vec::new(),
            stage: Stage::Plan,
            operator_calls: 0,
            spins: 0,
            ledger: Ledger::default(),
            trace: match trace {
                Trace::On => Some(Vec::new()),
                Trace::Off => None,
            },
            counts: Counts::default(),
        }
    }

    /// Runs the plan to its end, and judges.
    pub(crate) fn run(&mut self) {
        self.fire_in(0, Fire::Restart);
        for (index, step) in self.plan.steps.iter().enumerate() {
            self.fire_in(step.at_ms, Fire::Step(index));
        }
        let last = self.plan.steps.last().map_or(0, |step| step.at_ms);
        self.fire_in(last + 1_000, Fire::PlanOver);
        while self.is_going_on() {
            self.counts.events += 1;
            if self.counts.events > EVENTS_MAX_COUNT as u64 {
                self.blame(Invariant::Restless, "the run does not end".to_owned());
                return;
            }
        }
    }

    /// Does what is due next; says whether anything was left to do.
    fn is_going_on(&mut self) -> bool {
        let due = self.fires.first_key_value().map(|((at, _), _)| *at);
        match (due, self.deadline()) {
            (None, None) => self.is_next_stage_begun(),
            (Some(at), deadline) if deadline.is_none_or(|deadline| at <= deadline) => {
                if at > self.now {
                    self.spins = 0;
                }
                self.now = at;
                if let Some((_, fire)) = self.fires.pop_first() {
                    self.dispatch(fire);
                }
                true
            }
            (_, Some(deadline)) => {
                self.spins = if deadline > self.now {
                    0
                } else {
                    self.spins + 1
                };
                if self.spins > SPINS_MAX_COUNT {
                    self.blame(Invariant::Restless, "the connector spins".to_owned());
                    return false;
                }
                self.now = deadline;
                self.feed(Input::Tick);
                true
            }
            (Some(_), None) => true,
        }
    }

    fn deadline(&self) -> Option<u64> {
        let Mono(at) = self.process.as_ref()?.connector.deadline()?;
        Some(at.saturating_sub(MONO_AT_START).max(self.now))
    }

    fn fire_in(&mut self, ms: u64, fire: Fire) {
        self.next_fire += 1;
        self.fires.insert((self.now + ms, self.next_fire), fire);
    }

    fn dispatch(&mut self, fire: Fire) {
        let living = self.process.as_ref().map(|process| process.id);
        let of_dead = |process: u32| living != Some(process);
        match fire {
            Fire::Step(index) => {
                if let Some(step) = self.plan.steps.get(index) {
                    self.act(step.action);
                }
            }
            Fire::PlanOver => self.calm_down(),
            Fire::Restart => self.restart(),
            Fire::Operator => self.look_after(),
            Fire::Arrives(flight, then) => self.arrives(*flight, then),
            Fire::Deliver(link) => self.deliver(link),
            Fire::Replayed(link) => self.replayed(link),
            Fire::Repeated(link, event) => self.repeated(link, event),
            Fire::Pressed(link, who, press) => self.pressed(link, who, *press),
            Fire::EditArrives(process, edit, back) => self.edit_arrives(process, &edit, back),
            Fire::LinkDown(process)
            | Fire::Connect(process)
            | Fire::Synced(process)
            | Fire::WriteFails(process, _)
            | Fire::FlushDrop(process, _)
            | Fire::Answered(process, ..)
            | Fire::Looks(process, ..)
            | Fire::Learned(process, _)
            | Fire::Eyes(process, ..)
            | Fire::Says(process, ..)
            | Fire::Calls(process, ..)
            | Fire::CallGone(process, ..)
            | Fire::Redeems(process, ..)
            | Fire::Works(process, ..)
            | Fire::CallEnds(process, ..)
            | Fire::Edited(process, ..)
                if of_dead(process) => {}
            Fire::LinkDown(_) => self.feed(Input::Link(guildhall_connector::input::Link::Down)),
            Fire::Connect(_) => self.connect(),
            Fire::Synced(_) => self.synced(),
            Fire::WriteFails(_, down) => self.die(down),
            Fire::FlushDrop(_, index) => self.flush_drop(index),
            Fire::Answered(_, nonce, receipt) => {
                if matches!(receipt, Receipt::Refused { .. } | Receipt::ReferenceGone) {
                    self.ledger.noes.insert(nonce);
                }
                self.feed(Input::Sent(nonce, receipt));
            }
            Fire::Looks(process, look_up, back) => self.looks(process, look_up, back),
            Fire::Learned(_, learned) => self.feed(Input::Learned(*learned)),
            Fire::Eyes(_, row, receipt) => self.feed(Input::Eyes(row, receipt)),
            Fire::Says(process, row, event) => self.says(process, row, event),
            Fire::Calls(_, row, call, plan) => self.calls(row, call, plan),
            Fire::CallGone(_, row, call) => self.call_gone(row, call),
            Fire::Redeems(_, row, call, ask) => self.redeems(row, call, ask),
            Fire::Works(process, row, call) => self.works(process, row, call),
            Fire::CallEnds(_, row, call) => self.call_ends(row, call),
            Fire::Edited(_, ask, receipt) => self.feed(Input::CardEdited(ask, receipt)),
        }
    }

    pub(crate) const fn plan(&self) -> &Plan {
        self.plan
    }

    /// Whether a plan has such an action.
    pub(crate) fn plans(&self, such: impl Fn(&Action) -> bool) -> bool {
        self.plan.steps.iter().any(|step| such(&step.action))
    }

    pub(crate) fn clock_jumps(&self) -> bool {
        self.plans(|action| matches!(action, Action::WallJump(_)))
    }

    /// Whether no safeguard was taken away.
    pub(crate) const fn is_whole(&self) -> bool {
        self.mutation.is_none()
    }

    pub(crate) fn moment(&self) -> Moment {
        Moment {
            mono: Mono(MONO_AT_START + self.now),
            wall: self.wall(),
            brakes: self.brakes,
        }
    }

    /// The wall clock as the process reads it.
    fn wall(&self) -> Wall {
        Wall(self.true_wall().0 + self.jumped)
    }

    /// The wall clock of Discord.
    fn true_wall(&self) -> Wall {
        self.true_wall_at(self.now)
    }

    /// What it showed so many milliseconds after the begin of the run.
    pub(crate) fn true_wall_at(&self, at_ms: u64) -> Wall {
        let begin = MIDNIGHT_MS - self.plan.knobs.midnight_ms;
        Wall(i64::try_from(begin + at_ms).unwrap_or(i64::MAX))
    }

    fn between(&mut self, draw: Draw, low: u64, high: u64) -> u64 {
        let [network, disk, engine, driver] = &mut self.chances;
        let chance = match draw {
            Draw::Network => network,
            Draw::Disk => disk,
            Draw::Engine => engine,
            Draw::Driver => driver,
        };
        chance.between(low, high)
    }

    pub(crate) fn blame(&mut self, invariant: Invariant, about: String) {
        self.note(|| format!("!! {}: {about}", invariant.code()));
        self.ledger.blame(self.now, invariant, about);
    }

    /// Keeps a line of the trace; it is only made where one is wanted.
    fn note(&mut self, line: impl FnOnce() -> String) {
        let now = self.now;
        if let Some(trace) = &mut self.trace {
            trace.push(format!("{now:>9} {}", line()));
        }
    }

    /// What the run came to.
    pub(crate) fn outcome(self) -> Outcome {
        let mut counts = self.counts;
        let own = |message: &&crate::discord::Message| message.intent.is_some();
        counts.posted = self.discord.messages.values().filter(own).count() as u64;
        counts.said = self.discord.messages.len() as u64 - counts.posted;
        counts.runs = self.ledger.starts.len() as u64;
        counts.processes = u64::from(self.processes);
        Outcome {
            violations: self.ledger.violations,
            trace: self.trace.unwrap_or_default(),
            counts,
        }
    }
}
