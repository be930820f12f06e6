//! The process: the real connector, driven as its contract says.
//!
//! In: inputs, the disk's news. Out: commands carried out: those of `at_once` now, those of `after`
//! once their group is durable. Never: a rule of its own, except where a mutation asks for one.

use super::{Draw, Fire, Machine, Saved};
use crate::{
    ledger::{Dropped, Flushed, Rows},
    mutation::Mutation,
    plan::{Behaviour, DiskFault, Down, Fate, Hints},
    settings::{Variant, message, policy},
    violation::Invariant,
};
use guildhall_authority::{admission::DropReason, permit::found};
use guildhall_binding::ids::MessageId;
use guildhall_connector::{
    Connector,
    durable::Durable,
    ids::{Nonce, RowId},
    input::{Input, Order, Room, Start, Verdict},
    outbound::{Group, Outbound},
    record::Record,
    step::{Command, Exit, Post, StartRun, Step, Tell},
    turn::ReadReceipt,
};
use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

/// Drop lines are buffered for so long, in milliseconds.
const DROPS_BUFFER_MS: u64 = 100;
/// How long an ordinary run takes, at most.
const RUN_MAX_MS: u64 = 5_000;

/// One process.
pub(crate) struct Process {
    pub(crate) id: u32,
    pub(crate) connector: Connector,
    pub(crate) outbound: Outbound,
    pub(super) kill_in: Option<(u8, Down)>,
    /// How long it is down after a drain.
    pub(super) drained_for: Option<u64>,
    pub(super) rows: Rows,
    pub(super) variant: Variant,
    /// The newest text of each message that this process was told.
    pub(super) told: BTreeMap<u64, usize>,
    /// The newest text of each row's message at its claim.
    pub(super) claimed_with: BTreeMap<RowId, usize>,
    /// Rows that were deleted while they waited.
    pub(super) withdrawn: BTreeSet<RowId>,
    flushed: Vec<MessageId>,
    pub(super) wants_checkpoint: Wants,
    /// Parts of answers as they went to the spool, for the mutation that posts too early.
    pub(super) parts: BTreeMap<(RowId, u32), (Nonce, String)>,
}

/// Whether a checkpoint is due.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wants {
    Checkpoint,
    Nothing,
}

/// Whether the process that was at work still lives.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Lives {
    Yes,
    No,
}

impl Machine<'_> {
    /// A process comes up.
    pub(super) fn restart(&mut self) {
        if self.process.is_some() {
            return;
        }
        for nonce in std::mem::take(&mut self.by_hand) {
            self.settle_offline(nonce);
        }
        let durable = self.recover();
        self.processes += 1;
        let id = self.processes;
        self.note(|| format!("process {id} starts"));
        self.gateway.known = self.saved.seat;
        let dropped = self.saved.dropped.iter();
        self.ledger
            .hinted
            .extend(dropped.map(|message| (id, message.get())));
        self.process = Some(Process {
            id,
            connector: Connector::new(Arc::new(self.policy()), durable, found().1),
            outbound: Outbound::default(),
            kill_in: None,
            drained_for: None,
            rows: self.ledger.durable_rows.clone(),
            variant: self.variant,
            told: BTreeMap::new(),
            claimed_with: BTreeMap::new(),
            withdrawn: BTreeSet::new(),
            flushed: self.saved.dropped.clone(),
            wants_checkpoint: Wants::Nothing,
            parts: BTreeMap::new(),
        });
        let start = Start {
            spool: self.disk.spool(),
            cursors: self.saved.cursors.clone(),
            dropped: self.saved.dropped.clone(),
        };
        self.feed(Input::Started(start));
        if self.room == Room::None {
            self.feed(Input::Journal(Room::None));
        }
    }

    fn recover(&mut self) -> Durable {
        self.disk.recover().unwrap_or_else(|fault| {
            self.blame(Invariant::Fold, fault);
            self.disk.shadow().clone()
        })
    }

    pub(super) fn policy(&self) -> guildhall_binding::Policy {
        policy(&self.plan.knobs.bounds, self.variant)
    }

    /// A person settles a delivery while the process is down: what is decided goes to disk, and
    /// what is to be done waits for the next start.
    fn settle_offline(&mut self, nonce: Nonce) {
        let mut connector = Connector::new(Arc::new(self.policy()), self.recover(), found().1);
        let order = Order::Settle(nonce, self.look(nonce));
        self.note(|| format!("offline {order:?}"));
        let step = connector.on(&self.moment(), Input::Ordered(order));
        for record in &step.commit {
            self.ledger.decide(self.now, record);
        }
        let (records, spool) = (step.commit, step.spool);
        self.disk.begin(Group { records, spool });
        let records = self.disk.synced();
        self.keep(records);
    }

    /// A person settles a delivery that the process has given up.
    pub(super) fn settle_by_hand(&mut self, nonce: Nonce) {
        let verdict = self.look(nonce);
        self.feed(Input::Ordered(Order::Settle(nonce, verdict)));
    }

    /// A person looks at the channel and says what stands there.
    fn look(&self, nonce: Nonce) -> Verdict {
        let mut own = self.discord.messages.values();
        let stands = own.find(|own| own.intent == Some(nonce) && own.deleted_ms.is_none());
        stands.map_or(Verdict::NotThere, |own| Verdict::There(message(own.id)))
    }

    /// One input, one step, carried out.
    pub(super) fn feed(&mut self, input: Input) {
        if self.step_of_driver() == Lives::No {
            return;
        }
        self.remember(&input);
        let at = self.moment();
        self.note(|| format!("in  {input:?}"));
        let Some(process) = &mut self.process else {
            return;
        };
        let pressed = matches!(input, Input::Pressed(_));
        let step = process.connector.on(&at, input);
        let answers = step.at_once.iter();
        let answers = answers.filter(|it| matches!(it, Command::AnswerPress(_)));
        if answers.count() != usize::from(pressed) {
            self.blame(
                Invariant::Decision,
                "a press is not answered once".to_owned(),
            );
        }
        self.observe(&step, &at);
        let step = self.mutate(step);
        let Some(process) = &mut self.process else {
            return;
        };
        let commands = process.outbound.push(step);
        self.carry_out(commands);
        self.pump();
        self.save_hints();
    }

    /// Counts the driver's steps towards a kill.
    fn step_of_driver(&mut self) -> Lives {
        let Some(process) = &mut self.process else {
            return Lives::No;
        };
        match &mut process.kill_in {
            None => Lives::Yes,
            Some((0, down)) => {
                let down = *down;
                self.die(down);
                Lives::No
            }
            Some((left, _)) => {
                *left -= 1;
                Lives::Yes
            }
        }
    }

    /// Moves commands where a mutation wants them.
    fn mutate(&self, mut step: Step) -> Step {
        let early = |command: &Command| match self.mutation {
            Some(Mutation::PostEarly) => matches!(command, Command::Post(_)),
            Some(Mutation::StartEarly) => matches!(command, Command::Start(_)),
            Some(Mutation::DecideEarly) => matches!(command, Command::Decide(_)),
            Some(Mutation::BeginEarly) => matches!(command, Command::Begin { .. }),
            Some(_) | None => false,
        };
        let (first, rest) = step.after.into_iter().partition(early);
        step.at_once.extend::<Vec<_>>(first);
        step.after = rest;
        step
    }

    fn carry_out(&mut self, commands: Vec<Command>) {
        for command in commands {
            if self.step_of_driver() == Lives::No {
                return;
            }
            self.note(|| {
                if let Command::Decide(it) = &command {
                    // Which book a decision is of is no part of a schedule.
                    return format!("out Decide({}, {:?})", it.ask(), it.answer());
                }
                format!("out {command:?}")
            });
            self.carry_out_one(command);
        }
    }

    fn carry_out_one(&mut self, command: Command) {
        let Some(process) = &self.process else { return };
        let id = process.id;
        match command {
            Command::Post(post) => self.post(post),
            Command::React { row, .. } => {
                let ms = self.between(Draw::Network, 20, 400);
                self.fire_in(ms, Fire::Eyes(id, row, ReadReceipt::Shown));
            }
            Command::LookUp(look_up) => self.look_up(id, look_up),
            Command::Start(run) => self.start_run(id, &run),
            Command::Abort(row) => {
                let ms = self.between(Draw::Engine, 10, 2_000);
                for (ms, event) in self.engine.abort(row, ms) {
                    self.fire_in(ms, Fire::Says(id, row, Box::new(event)));
                }
            }
            Command::Drop(line) => {
                let dropped = Dropped {
                    message: line.message,
                    why: line.why,
                    process: id,
                    kept: Flushed::No,
                };
                self.ledger.dropped.push(dropped);
                let index = self.ledger.dropped.len() - 1;
                self.fire_in(DROPS_BUFFER_MS, Fire::FlushDrop(id, index));
            }
            Command::Forget(row) => self.disk.forget(row),
            Command::Connect => {
                let ms = self.between(Draw::Network, 100, 1_500);
                self.fire_in(ms, Fire::Connect(id));
            }
            Command::Exit(exit) => self.exit(&exit),
            Command::Tell(Tell::Twin(message)) if self.is_whole() && !self.clock_jumps() => {
                self.blame(Invariant::Twin, format!("{message} is taken for a twin's"));
            }
            Command::Type(_)
            | Command::Tell(_)
            // That each press is answered is judged when its step is observed.
            | Command::AnswerPress(_) => {}
            Command::Decide(decision) => self.decided(id, &decision),
            Command::Begin { turn, call } => self.begins(id, turn, call),
            Command::EditCard(edit) => self.edit_card(id, edit),
        }
    }

    pub(super) fn flush_drop(&mut self, index: usize) {
        let Some(dropped) = self.ledger.dropped.get_mut(index) else {
            return;
        };
        dropped.kept = Flushed::Yes;
        let (row, why) = (dropped.message, dropped.why);
        if let (Some(process), Some(message)) = (&mut self.process, row.message())
            && why != DropReason::Duplicate
        {
            process.flushed.push(message);
        }
    }

    fn start_run(&mut self, process: u32, run: &StartRun) {
        let row = run.turn;
        if !self.ledger.durable_claims.contains(&row) {
            self.blame(
                Invariant::WriteOrder,
                format!("row {row} runs before its claim is durable"),
            );
        }
        self.judge_text(row, run);
        self.ledger.starts.push(row);
        let behaviour = self
            .faults
            .engine
            .pop_front()
            .unwrap_or(Behaviour::Parts(1));
        let ms = self.between(Draw::Engine, 50, RUN_MAX_MS);
        for (ms, event) in self.engine.start(row, behaviour, ms) {
            self.fire_in(ms, Fire::Says(process, row, Box::new(event)));
        }
        self.plan_calls(process, row);
    }

    /// Gives the disk the next group, when it has none.
    pub(super) fn pump(&mut self) {
        let Some(process) = &mut self.process else {
            return;
        };
        let id = process.id;
        if let Some(group) = process.outbound.next_group() {
            self.disk.begin(group);
            if self.step_of_driver() == Lives::No {
                return;
            }
            let quick = self.between(Draw::Disk, 1, 12);
            match self.faults.disk.pop_front() {
                None => self.fire_in(quick, Fire::Synced(id)),
                Some(DiskFault::Slow(ms)) => self.fire_in(ms, Fire::Synced(id)),
                Some(DiskFault::Fails(down)) => self.fire_in(quick, Fire::WriteFails(id, down)),
            }
        } else if process.wants_checkpoint == Wants::Checkpoint && process.outbound.is_idle() {
            process.wants_checkpoint = Wants::Nothing;
            self.disk.checkpoint(process.connector.durable());
            self.note(|| "checkpoint".to_owned());
        }
    }

    /// The group is durable.
    pub(super) fn synced(&mut self) {
        if self.step_of_driver() == Lives::No {
            return;
        }
        let records = self.disk.synced();
        self.keep(records);
        let Some(process) = &mut self.process else {
            return;
        };
        let commands = process.outbound.durable();
        self.carry_out(commands);
        self.pump();
        self.save_hints();
    }

    fn keep(&mut self, records: Result<Vec<Record>, String>) {
        match records {
            Ok(records) => self.ledger.keep(self.now, records),
            Err(fault) => self.blame(Invariant::Fold, fault),
        }
    }

    /// `gateway.json` follows now and then, never ahead of what is committed.
    fn save_hints(&mut self) {
        let lags = self.between(Draw::Driver, 0, 1) == 0;
        let Some(process) = &self.process else { return };
        if lags || !process.outbound.is_idle() || process.connector.is_undecided() {
            return;
        }
        self.saved = Saved {
            seat: self.gateway.known,
            cursors: process.connector.cursors().into_iter().collect(),
            dropped: process.flushed.clone(),
        };
    }

    /// The process dies.
    pub(super) fn die(&mut self, down: Down) {
        let Some(process) = self.process.take() else {
            return;
        };
        let id = process.id;
        self.note(|| format!("process {id} dies: {down:?}"));
        let records = self.disk.crash(down.fate);
        self.keep(records);
        if down.fate == Fate::GroupAlone {
            self.note_lost_spool();
        }
        if down.hints == Hints::Lost {
            self.saved = Saved::default();
        }
        self.gone(id, down.for_ms);
    }

    fn gone(&mut self, id: u32, down_ms: u64) {
        self.engine.die();
        self.host.die();
        self.gateway.breaks(self.now);
        self.ledger.deaths.push((id, self.now));
        self.fire_in(down_ms, Fire::Restart);
    }

    fn exit(&mut self, exit: &Exit) {
        let Some(process) = self.process.take() else {
            return;
        };
        self.note(|| format!("process {} exits: {exit:?}", process.id));
        // A process that ends by itself writes out its drop lines first.
        for dropped in &mut self.ledger.dropped {
            if dropped.process == process.id {
                dropped.kept = Flushed::Yes;
            }
        }
        let down_ms = match exit {
            Exit::Drained => process.drained_for.unwrap_or(5_000),
            Exit::Unresolved(nonces) => {
                self.by_hand.clone_from(nonces);
                60_000
            }
            Exit::Unauthorized => 30_000,
        };
        self.gone(process.id, down_ms);
    }

    /// A text of the spool, for the mutation that posts part 2 too early.
    pub(super) fn second_part(&self, post: &Post) -> Option<Post> {
        let process = self.process.as_ref()?;
        let mut parts = process.parts.iter();
        let ((row, _), _) =
            parts.find(|((_, part), (nonce, _))| *part == 1 && *nonce == post.nonce)?;
        let (nonce, content) = process.parts.get(&(*row, 2))?.clone();
        let channel = post.channel;
        Some(Post {
            nonce,
            channel,
            content,
            reply_to: None,
            card: None,
        })
    }
}
