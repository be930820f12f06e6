//! What may vanish in a crash.
//!
//! In: nothing; the connector keeps it beside the durable state. Out: texts, deadlines, what is
//! under way. Never: anything that a restart could not do without.

use crate::{
    ids::{Nonce, Route, RowId},
    input::Room,
    moment::{Brake, Mono, Wall},
    record::{RefusedWhy, RunSummary},
    step::{CardParts, LookUp},
    turn::{Changed, ReadReceipt, Timing},
};
use guildhall_authority::{
    ask::{AskId, AskSpec},
    event::Said,
};
use guildhall_binding::{
    Policy,
    ids::{ChannelId, MessageId},
};
use std::{
    collections::{BTreeMap, BTreeSet, VecDeque},
    sync::Arc,
};

/// The part of the state that a crash may take.
#[derive(Debug, Default)]
pub(crate) struct Live {
    pub(crate) phase: Phase,
    pub(crate) linked: Linked,
    pub(crate) started: Wall,
    pub(crate) last: Mono,
    pub(crate) room: Room,
    pub(crate) estop: Brake,
    /// What each busy route is at; a route that is not here is idle.
    pub(crate) routes: BTreeMap<Route, Active>,
    /// Texts of rows that wait.
    pub(crate) texts: BTreeMap<RowId, Box<Said>>,
    /// What the turn record will say of open rows.
    pub(crate) notes: BTreeMap<RowId, Notes>,
    /// Runs that were given up and have not said yet that they ended.
    pub(crate) unended: BTreeSet<RowId>,
    /// Open deliveries.
    pub(crate) sendings: BTreeMap<Nonce, Sending>,
    /// Parts of answered rows.
    pub(crate) spool: BTreeMap<Nonce, String>,
    /// Rows that wait for a person: a delivery of theirs cannot be settled.
    pub(crate) parked: BTreeSet<RowId>,
    /// Messages that wait until their channel's parent is known.
    pub(crate) strays: BTreeMap<ChannelId, Strays>,
    pub(crate) catch_up: CatchUp,
    pub(crate) guild: GuildDue,
    /// Places whose history is being looked up: one look-up each, so that an old answer is never
    /// taken for a new one.
    pub(crate) asked: BTreeSet<ChannelId>,
    /// What became of messages while pages were on their way, which may show them as they were.
    pub(crate) meanwhile: BTreeMap<MessageId, Meanwhile>,
    /// Newest message that was looked at, by place.
    pub(crate) cursors: BTreeMap<ChannelId, MessageId>,
    /// Newest message of each active thread, as the guild last told.
    pub(crate) threads: BTreeMap<ChannelId, Option<MessageId>>,
    pub(crate) nonces: Ring<Nonce>,
    /// Messages that deliveries became, those of settled rows too.
    pub(crate) posted: Ring<MessageId>,
    pub(crate) dropped: Ring<MessageId>,
    /// Asks that wait for a person.
    pub(crate) asks: BTreeMap<AskId, OpenAsk>,
    /// Cards that are to show how their ask ended.
    pub(crate) cards: BTreeMap<AskId, CardWork>,
    pub(crate) counts: Counts,
}

/// How far the process is.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub(crate) enum Phase {
    /// Nothing was heard of the driver yet.
    #[default]
    New,
    /// These deliveries of the last process are not settled yet.
    Reconciling(BTreeSet<Nonce>),
    /// Everything of the last process is settled; the link comes up.
    Connecting,
    /// Rows are claimed.
    Serving,
    /// Nothing more is claimed. Once no turn runs, open deliveries have until then.
    Draining(Option<Mono>),
    /// The exit was ordered.
    Over,
}

/// The link to Discord.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub(crate) enum Linked {
    #[default]
    Down,
    Up,
}

/// Whether the guild of a fresh session has not come yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub(crate) enum GuildDue {
    Yes,
    #[default]
    No,
}

/// What a busy route is at.
#[derive(Clone, Debug)]
pub(crate) enum Active {
    /// What its first row still needs is being read.
    Preparing(Preparing),
    /// Its first row's engine runs.
    Running(Box<Running>),
    /// Its first row's answer or line is being delivered.
    Delivering(RowId),
}

#[derive(Clone, Debug)]
pub(crate) struct Preparing {
    pub(crate) row: RowId,
    pub(crate) look_up: LookUp,
    pub(crate) tries: u32,
    /// When to ask again; `None` while the look-up is under way.
    pub(crate) again: Option<Mono>,
}

#[derive(Clone, Debug)]
pub(crate) struct Running {
    pub(crate) row: RowId,
    /// The policy that the row was claimed with: its limits hold for the whole turn.
    pub(crate) policy: Arc<Policy>,
    /// What its message brought beside its own text, for the cards of its asks.
    pub(crate) sources: Vec<String>,
    pub(crate) deadline: Mono,
    pub(crate) type_at: Mono,
    /// Since when its clock stands still, while it waits for a person.
    pub(crate) stands_since: Option<Mono>,
    pub(crate) aborting: Option<Aborting>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Aborting {
    pub(crate) why: AbortWhy,
    /// When the run counts as ended though it never said so.
    pub(crate) until: Mono,
}

/// Why a run was aborted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AbortWhy {
    TimedOut,
    Estop,
    Operator,
}

/// What the turn record will say.
#[derive(Clone, Debug, Default)]
pub(crate) struct Notes {
    pub(crate) timing: Timing,
    pub(crate) receipt: ReadReceipt,
    pub(crate) changed: Vec<Changed>,
    pub(crate) summary: RunSummary,
}

/// An open delivery.
#[derive(Clone, Debug)]
pub(crate) struct Sending {
    /// What is posted; `None` where the spool lost it, so that it can only be looked for.
    pub(crate) text: Option<String>,
    /// What makes it a card.
    pub(crate) card: Option<CardParts>,
    pub(crate) reply: ReplyMark,
    /// Whether any try may have reached Discord.
    pub(crate) reached: Reached,
    pub(crate) step: SendStep,
    pub(crate) tries: u32,
    pub(crate) looks: u32,
    pub(crate) last_try: Mono,
    /// What Discord said to a repeat, which proves nothing about the first try.
    pub(crate) no: Option<(RefusedWhy, Option<u64>)>,
}

/// Whether the post still names the message that it replies to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ReplyMark {
    Kept,
    Left,
}

/// Whether any try may have reached Discord.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reached {
    No,
    Perhaps,
}

/// What an open delivery waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SendStep {
    /// The end of a post, or of the group before it.
    Posting,
    /// The time of the next try.
    Waiting(Mono),
    /// The channel's history.
    Reading,
    /// A person.
    Stuck,
}

/// Messages of one channel whose parent is being looked up.
#[derive(Clone, Debug, Default)]
pub(crate) struct Strays {
    pub(crate) said: Vec<Said>,
    pub(crate) tries: u32,
    pub(crate) again: Option<Mono>,
}

/// What became of a message.
#[derive(Clone, Debug)]
pub(crate) enum Meanwhile {
    Edited(Box<Said>),
    Deleted,
}

/// Reading what was said while the link was down.
#[derive(Clone, Debug, Default)]
pub(crate) enum CatchUp {
    /// Not under way.
    #[default]
    Idle,
    /// A fresh session: the guild's threads come next. Events wait.
    AwaitingGuild { until: Mono, events: Vec<Said> },
    /// Pages are being read. Events wait until all are there, or until then.
    Reading {
        until: Mono,
        pending: BTreeMap<ChannelId, Reading>,
        events: Vec<Said>,
    },
    /// Events go on; late pages are still awaited.
    Late {
        pending: BTreeMap<ChannelId, Reading>,
    },
}

/// One place that is being read.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reading {
    pub(crate) after: u64,
    pub(crate) got: usize,
    pub(crate) tries: u32,
    pub(crate) again: Option<Mono>,
    pub(crate) answer: Answer,
}

/// What the look-up that is under way will tell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Answer {
    /// What this reading asked.
    Ours,
    /// What an earlier reading asked: it may be older than the gap that this one is about.
    Older,
}

/// An ask that waits for a person.
#[derive(Debug)]
pub(crate) struct OpenAsk {
    pub(crate) turn: RowId,
    pub(crate) until: Mono,
    pub(crate) spec: AskSpec,
}

/// A card that is to show how its ask ended.
#[derive(Clone, Default)]
pub(crate) struct CardWork {
    /// What its ask was about; lost with the process that asked.
    pub(crate) what: Option<String>,
    /// What it is known to say.
    pub(crate) shown: Option<String>,
    /// What an edit that is under way says.
    pub(crate) under_way: Option<String>,
    pub(crate) tries: u32,
    /// When to try again.
    pub(crate) again: Option<Mono>,
}

impl std::fmt::Debug for CardWork {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "CardWork({} tries, again {:?})", self.tries, self.again)
    }
}

/// The last few of something.
#[derive(Clone, Debug)]
pub(crate) struct Ring<T> {
    order: VecDeque<T>,
    set: BTreeSet<T>,
}

/// How many a [`Ring`] remembers.
const RING_COUNT: usize = 4096;

impl<T> Default for Ring<T> {
    fn default() -> Self {
        Self {
            order: VecDeque::new(),
            set: BTreeSet::new(),
        }
    }
}

impl<T: Ord + Copy> Ring<T> {
    pub(crate) fn insert(&mut self, item: T) {
        if self.set.insert(item) {
            self.order.push_back(item);
            if self.order.len() > RING_COUNT
                && let Some(oldest) = self.order.pop_front()
            {
                self.set.remove(&oldest);
            }
        }
    }

    pub(crate) fn contains(&self, item: T) -> bool {
        self.set.contains(&item)
    }
}

/// Counts since the start, for `status`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Counts {
    /// Messages that were looked at.
    pub messages: u64,
    /// Messages that were dropped.
    pub dropped: u64,
    /// Turns that were settled.
    pub turns: u64,
    /// Inputs that fitted nothing that is open.
    pub ignored: u64,
    /// Own messages that nobody here intended.
    pub twins: u64,
    /// Asks that were opened.
    pub asks: u64,
    /// Presses that decided nothing.
    pub presses_refused: u64,
}
