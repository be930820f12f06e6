//! What a person asks first: is it running, what is in flight, what is wrong.
//!
//! In: the connector's state. Out: ids, counts and states. Never: a text.

use crate::{
    connector::Connector,
    durable::RowState,
    ids::{Nonce, Route, RowId},
    input::Room,
    live::{Active, Counts, Linked, Phase, SendStep},
    moment::{Moment, Wall},
    record::Owner,
};
use guildhall_authority::ask::{AskId, AskSpec};
use guildhall_binding::ids::{ChannelId, MessageId};
use serde::Serialize;

/// The connector's own words for `status.json`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Status {
    /// `reconciling`, `connecting`, `serving`, `draining` or `over`.
    pub phase: &'static str,
    /// `up` or `down`.
    pub link: &'static str,
    /// `enough` or `none`.
    pub room: &'static str,
    /// This process, counted.
    pub epoch: u64,
    /// Turns of the day, and their ceiling.
    pub turns_today: u32,
    /// The ceiling.
    pub turns_per_day: u32,
    /// What today's runs cost so far, in millionths of a US dollar.
    pub micro_usd_today: u64,
    /// The ceiling of that, where there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub micro_usd_per_day: Option<u64>,
    /// What is at work, route by route.
    pub at_work: Vec<AtWork>,
    /// Rows that wait, route by route.
    pub waiting: Vec<(Route, usize)>,
    /// Deliveries that are not settled.
    pub deliveries: Vec<OpenDelivery>,
    /// Asks that wait for a person.
    pub asks: Vec<AskShown>,
    /// Asks that ended, and whose card does not show it yet.
    pub cards_to_close: usize,
    /// Routes of which nothing runs, and why.
    pub paused: Vec<(Route, String)>,
    /// Messages whose place is being looked up.
    pub undecided: usize,
    /// Counts since the start.
    pub counts: Counts,
}

/// One busy route.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct AtWork {
    /// The route.
    pub route: Route,
    /// Its row.
    pub row: RowId,
    /// `preparing`, `running`, `aborting` or `delivering`.
    pub step: &'static str,
}

/// One delivery that is not settled.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct OpenDelivery {
    /// Its nonce.
    pub nonce: Nonce,
    /// Whose.
    pub owner: Owner,
    /// `posting`, `waiting`, `reading` or `stuck`.
    pub step: &'static str,
}

/// One ask that waits for a person.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct AskShown {
    /// Its id.
    pub ask: AskId,
    /// Whose turn.
    pub turn: RowId,
    /// Which call of the turn.
    pub call: u32,
    /// The tool's name.
    pub tool: String,
    /// Where its card is.
    pub place: ChannelId,
    /// When no answer becomes a no.
    pub until: Wall,
    /// The card, where its id is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub card: Option<MessageId>,
}

impl Connector {
    /// What there is to tell.
    #[must_use]
    pub fn status(&self, at: &Moment) -> Status {
        Status {
            phase: phase(&self.live.phase),
            link: match self.live.linked {
                Linked::Up => "up",
                Linked::Down => "down",
            },
            room: match self.live.room {
                Room::Enough => "enough",
                Room::None => "none",
            },
            epoch: self.durable.epoch,
            turns_today: self.durable.turns_on(at.wall.day()),
            turns_per_day: self.policy.limits.turns_per_day,
            micro_usd_today: self.durable.spent_on(at.wall.day()),
            micro_usd_per_day: self.policy.limits.micro_usd_per_day,
            at_work: self
                .live
                .routes
                .iter()
                .map(|(route, active)| at_work(*route, active))
                .collect(),
            waiting: self.waiting(),
            deliveries: self.deliveries(),
            asks: self.asks_shown(),
            cards_to_close: self.durable.asks.len() - self.live.asks.len(),
            paused: self.durable.paused.clone().into_iter().collect(),
            undecided: self
                .live
                .strays
                .values()
                .map(|strays| strays.said.len())
                .sum(),
            counts: self.live.counts,
        }
    }

    fn asks_shown(&self) -> Vec<AskShown> {
        let shown = |(spec, ask): (&AskSpec, &crate::durable::Ask)| AskShown {
            ask: spec.id,
            turn: ask.turn,
            call: ask.call,
            tool: ask.tool.clone(),
            place: ask.place,
            until: ask.until,
            card: ask.message,
        };
        self.open_asks().map(shown).collect()
    }

    fn waiting(&self) -> Vec<(Route, usize)> {
        let queued = |row: &&RowId| {
            self.durable
                .rows
                .get(*row)
                .is_some_and(|open| open.state == RowState::Queued)
        };
        let queues = self.durable.queues.iter();
        let counts = queues.map(|(route, queue)| (*route, queue.iter().filter(queued).count()));
        counts.filter(|(_, count)| *count > 0).collect()
    }

    fn deliveries(&self) -> Vec<OpenDelivery> {
        let step = |step| match step {
            SendStep::Posting => "posting",
            SendStep::Waiting(_) => "waiting",
            SendStep::Reading => "reading",
            SendStep::Stuck => "stuck",
        };
        let open = self.live.sendings.iter().filter_map(|(nonce, sending)| {
            let owner = self.durable.outbox.get(nonce)?.owner;
            Some(OpenDelivery {
                nonce: *nonce,
                owner,
                step: step(sending.step),
            })
        });
        open.collect()
    }
}

const fn phase(phase: &Phase) -> &'static str {
    match phase {
        Phase::New | Phase::Reconciling(_) => "reconciling",
        Phase::Connecting => "connecting",
        Phase::Serving => "serving",
        Phase::Draining(_) => "draining",
        Phase::Over => "over",
    }
}

fn at_work(route: Route, active: &Active) -> AtWork {
    let (row, step) = match active {
        Active::Preparing(preparing) => (preparing.row, "preparing"),
        Active::Running(running) if running.aborting.is_some() => (running.row, "aborting"),
        Active::Running(running) => (running.row, "running"),
        Active::Delivering(row) => (*row, "delivering"),
    };
    AtWork { route, row, step }
}
