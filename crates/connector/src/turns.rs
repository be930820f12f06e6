//! Turns: from a row that waits to an engine's answer.
//!
//! In: rows of idle routes, texts that were read again, what engines report, deadlines. Out: claims,
//! runs, and the answer or the fixed line that is to be delivered. Never: two rows of a route at
//! work, a row that is claimed without being judged by the policy of now.

use crate::{
    connector::{Connector, Out},
    delivery::NewDelivery,
    durable::{AskEnd, RowState},
    ids::{Nonce, Route, RowId},
    input::Found,
    intake::pause,
    line::Line,
    live::{AbortWhy, Aborting, Active, Notes, Phase, Preparing, Running},
    moment::{Brake, Mono},
    paste, prompt,
    record::{Content, Descriptor, Owner, Purpose, Record, RowRecord},
    runs::line_of_abort,
    step::{Command, LookUp, StartRun, Tell},
};
use guildhall_authority::{
    admission::{DropReason, still_admitted},
    event::{MessageText, Said},
    scope::{Origin, Requester, TurnKey, TurnScope, workspace_of},
};
use std::{sync::Arc, time::Duration};

/// How long an aborted run has to say that it ended; then it counts as ended.
const ABORT_GRACE: Duration = Duration::from_secs(30);
/// Runs that never said that they ended, of which it is still known.
const UNENDED_MAX_COUNT: usize = 256;
/// How often typing is shown while a turn runs. Discord shows it for ten seconds.
const TYPE_EVERY: Duration = Duration::from_secs(8);

impl Connector {
    /// Starts what may start: the oldest waiting row of each idle route, as far as the bound goes.
    pub(crate) fn advance(&mut self, out: &mut Out<'_>) {
        let held = out.at.brakes.stop == Brake::On || out.at.brakes.estop == Brake::On;
        if self.live.phase != Phase::Serving || held {
            return;
        }
        let mut candidates: Vec<_> = self
            .durable
            .queues
            .keys()
            .filter(|route| !self.live.routes.contains_key(*route))
            .filter(|route| !self.durable.paused.contains_key(*route))
            .filter_map(|route| self.next_waiting(*route).map(|row| (row, *route)))
            .collect();
        candidates.sort_unstable();
        for (row, route) in candidates {
            if self.at_work() >= self.policy.limits.parallel_turns {
                return;
            }
            self.prepare(out, route, row);
            // A row that was cancelled at its claim lets the next one of its route go at once.
            while !self.live.routes.contains_key(&route)
                && let Some(row) = self.next_waiting(route)
            {
                self.prepare(out, route, row);
            }
        }
    }

    fn next_waiting(&self, route: Route) -> Option<RowId> {
        let queue = self.durable.queues.get(&route)?;
        let first = queue.iter().find(|row| !self.live.parked.contains(row))?;
        let open = self.durable.rows.get(first)?;
        (open.state == RowState::Queued).then_some(*first)
    }

    fn at_work(&self) -> usize {
        let works = |active: &&Active| match active {
            Active::Preparing(_) | Active::Running(_) => true,
            Active::Delivering(_) => false,
        };
        self.live.routes.values().filter(works).count()
    }

    /// The row that a route is at, if any.
    pub(crate) fn row_at_work(&self, route: Route) -> Option<RowId> {
        self.live.routes.get(&route).map(|active| match active {
            Active::Preparing(preparing) => preparing.row,
            Active::Running(running) => running.row,
            Active::Delivering(row) => *row,
        })
    }

    /// Whether a row was claimed and is not settled.
    pub(crate) fn is_under_way(&self, row: RowId) -> bool {
        self.durable
            .rows
            .get(&row)
            .is_some_and(|open| open.state != RowState::Queued)
    }

    fn prepare(&mut self, out: &mut Out<'_>, route: Route, row: RowId) {
        if let Some(said) = self.live.texts.get(&row) {
            let said = said.clone();
            return match paste::unread(&said) {
                Some(url) => self.look_up_for(out, route, LookUp::Paste { row, url }, row),
                None => self.claim(out, route, row, &said),
            };
        }
        let Some(open) = self.durable.rows.get(&row) else {
            return;
        };
        let Content::Message(message) = open.content else {
            // A person's row without its message is no row that this program wrote.
            return self.cancel_queued(out, row, DropReason::Gone);
        };
        let channel = open.place.target();
        let look_up = LookUp::Text {
            row,
            channel,
            message,
        };
        self.look_up_for(out, route, look_up, row);
    }

    fn look_up_for(&mut self, out: &mut Out<'_>, route: Route, look_up: LookUp, row: RowId) {
        let preparing = Preparing {
            row,
            look_up: look_up.clone(),
            tries: 0,
            again: None,
        };
        self.live.routes.insert(route, Active::Preparing(preparing));
        out.later(Command::LookUp(look_up));
    }

    /// The route that is being prepared for this row, and what it waits for.
    fn preparing(&mut self, row: RowId) -> Option<(Route, &mut Preparing)> {
        let route = self.durable.rows.get(&row)?.route;
        match self.live.routes.get_mut(&route)? {
            Active::Preparing(preparing) if preparing.row == row => Some((route, preparing)),
            Active::Preparing(_) | Active::Running(_) | Active::Delivering(_) => None,
        }
    }

    /// What a row asks was read again after a restart.
    pub(crate) fn learned_text(&mut self, out: &mut Out<'_>, row: RowId, found: Found<Box<Said>>) {
        let Some((route, preparing)) = self.preparing(row) else {
            self.live.counts.ignored += 1;
            return;
        };
        match found {
            Found::NoAnswer => preparing.wait(out.at.mono),
            Found::Nothing => self.cancel_queued(out, row, DropReason::Gone),
            Found::Here(said) => {
                // An edit that came meanwhile is newer than the look-up.
                self.live.texts.entry(row).or_insert(said);
                self.live.routes.remove(&route);
            }
        }
    }

    /// The text file that a row's message brought was read, or will not be.
    pub(crate) fn learned_paste(
        &mut self,
        out: &mut Out<'_>,
        row: RowId,
        found: Found<MessageText>,
    ) {
        let Some((route, preparing)) = self.preparing(row) else {
            self.live.counts.ignored += 1;
            return;
        };
        let text = match found {
            Found::NoAnswer if preparing.tries < paste::TRIES_MAX_COUNT => {
                return preparing.wait(out.at.mono);
            }
            Found::NoAnswer | Found::Nothing => None,
            Found::Here(text) => Some(text),
        };
        if let Some(said) = self.live.texts.get_mut(&row) {
            paste::put(said, text);
        }
        self.live.routes.remove(&route);
    }

    fn claim(&mut self, out: &mut Out<'_>, route: Route, row: RowId, said: &Said) {
        let Some(open) = self.durable.rows.get(&row) else {
            return;
        };
        let (place, who) = (open.place, open.who.user());
        let verdict = match who {
            Some(who) => still_admitted(&self.policy, who, place),
            None => Err(DropReason::UserNotListed),
        };
        let too_long = said.text.chars() > self.policy.limits.inbound_max_chars;
        let verdict = if too_long {
            verdict.and(Err(DropReason::Oversize))
        } else {
            verdict
        };
        if let Err(why) = verdict {
            self.cancel_queued(out, row, why);
            if why == DropReason::Oversize {
                self.notice(out, said, crate::record::NoticeKey::Oversize(said.id));
            }
            return;
        }
        self.live.texts.remove(&row);
        let epoch = self.durable.epoch;
        self.commit(out, Record::Rows(RowRecord::Claimed { row, epoch }));
        self.live.notes.entry(row).or_default().timing.claimed = Some(out.at.wall);
        if self.is_spent(out.at.wall.day()) {
            // It was accepted while there was money, so it is told.
            return self.fail(out, row, Line::CostCeiling);
        }
        let running = Running {
            row,
            policy: Arc::clone(&self.policy),
            sources: prompt::sources(said),
            deadline: out.at.mono.plus(self.policy.limits.turn_timeout),
            type_at: out.at.mono.plus(TYPE_EVERY),
            stands_since: None,
            aborting: None,
        };
        self.live
            .routes
            .insert(route, Active::Running(Box::new(running)));
        out.later(Command::Type(place.target()));
        let prompt = prompt::of_message(&self.policy, place, said);
        let requester = Requester {
            id: said.author.id,
            name: said.author.name.as_str().to_owned(),
        };
        let scope = TurnScope::of(
            TurnKey::new(&row.to_string()),
            Origin::User,
            Some(requester),
            workspace_of(&self.policy, said.text.as_str()),
            Arc::clone(&self.policy),
        );
        out.later(Command::Start(StartRun {
            turn: row,
            route,
            prompt,
            scope,
        }));
    }

    pub(crate) fn running(&mut self, row: RowId) -> Option<&mut Running> {
        let route = self.durable.rows.get(&row)?.route;
        match self.live.routes.get_mut(&route)? {
            Active::Running(running) if running.row == row => Some(running),
            Active::Running(_) | Active::Preparing(_) | Active::Delivering(_) => None,
        }
    }

    /// Intends a fixed line as a reply to the row's message.
    pub(crate) fn say_line(&mut self, out: &mut Out<'_>, row: RowId, purpose: Purpose, line: Line) {
        let Some(open) = self.durable.rows.get(&row) else {
            return;
        };
        let (place, reply_to) = (open.place.target(), row.message());
        let (line, text) = (Some(line), line.text().to_owned());
        let owner = Owner::Row(row);
        self.intend(
            out,
            NewDelivery {
                owner,
                purpose,
                part: 1,
                of: 1,
                place,
                reply_to,
                line,
                text,
                card: None,
            },
        );
    }

    /// Ends a turn that runs, by operator.
    pub(crate) fn abort_row(&mut self, out: &mut Out<'_>, row: RowId) {
        self.abort(out, row, AbortWhy::Operator);
    }

    fn abort(&mut self, out: &mut Out<'_>, row: RowId, why: AbortWhy) {
        let until = out.at.mono.plus(ABORT_GRACE);
        if let Some(running) = self.running(row)
            && running.aborting.is_none()
        {
            running.aborting = Some(Aborting { why, until });
            out.later(Command::Abort(row));
            self.end_asks_of(out, row, AskEnd::Withdrawn);
        }
    }

    /// ESTOP came: what runs is aborted, what was being prepared goes back to waiting.
    pub(crate) fn emergency_stop(&mut self, out: &mut Out<'_>) {
        self.live
            .routes
            .retain(|_, active| !matches!(active, Active::Preparing(_)));
        let rows: Vec<_> = self
            .live
            .routes
            .keys()
            .filter_map(|r| self.row_at_work(*r))
            .collect();
        for row in rows {
            self.abort(out, row, AbortWhy::Estop);
        }
    }

    pub(crate) fn tick_routes(&mut self, out: &mut Out<'_>) {
        let (mut timed_out, mut ended) = (Vec::new(), Vec::new());
        for active in self.live.routes.values_mut() {
            match active {
                Active::Preparing(preparing) => {
                    if preparing.again.is_some_and(|again| again <= out.at.mono) {
                        preparing.again = None;
                        let look_up = preparing.look_up.clone();
                        out.step.at_once.push(Command::LookUp(look_up));
                    }
                }
                Active::Running(running) => match running.aborting {
                    Some(Aborting { until, why }) if until <= out.at.mono => {
                        ended.push((running.row, why));
                    }
                    Some(_) => {}
                    // Waiting for a person takes no time of the turn, and nobody types.
                    None if running.stands_since.is_some() => {}
                    None if running.deadline <= out.at.mono => timed_out.push(running.row),
                    None if running.type_at <= out.at.mono => {
                        running.type_at = out.at.mono.plus(TYPE_EVERY);
                        if let Some(open) = self.durable.rows.get(&running.row) {
                            out.step.at_once.push(Command::Type(open.place.target()));
                        }
                    }
                    None => {}
                },
                Active::Delivering(_) => {}
            }
        }
        for row in timed_out {
            self.abort(out, row, AbortWhy::TimedOut);
        }
        for (row, why) in ended {
            self.live.unended.insert(row);
            if self.live.unended.len() > UNENDED_MAX_COUNT {
                self.live.unended.pop_first();
            }
            self.fail(out, row, line_of_abort(why));
            self.turn_over(out, row);
        }
    }

    /// Pauses the routes of rows that this program must not guess about.
    pub(crate) fn pause_foreign_routes(&mut self, out: &mut Out<'_>) {
        let why = |descriptor: &Descriptor| match descriptor {
            Descriptor::Native => None,
            Descriptor::Unknown(_) => Some("permission_denied"),
            Descriptor::PluginOriginV1
            | Descriptor::Automation
            | Descriptor::Peer
            | Descriptor::Schedule => Some("not_served"),
        };
        let foreign: Vec<_> = self
            .durable
            .rows
            .values()
            .filter_map(|open| why(&open.descriptor).map(|why| (open.route, why)))
            .filter(|(route, _)| !self.durable.paused.contains_key(route))
            .collect();
        for (route, why) in foreign {
            if !self.durable.paused.contains_key(&route) {
                let why = why.to_owned();
                self.commit(out, Record::Rows(RowRecord::RoutePaused { route, why }));
            }
        }
        for route in self.durable.paused.keys() {
            out.tell(Tell::RoutePaused(*route));
        }
    }

    /// The nonce of a row's or a notice's delivery.
    pub(crate) fn nonce(&self, owner: Owner, purpose: Purpose, part: u32) -> Nonce {
        Nonce::derive(
            self.policy.name.as_str(),
            &owner.to_string(),
            purpose.word(),
            part,
            0,
        )
    }

    /// The notes of a row, where this process has any.
    pub(crate) fn take_notes(&mut self, row: RowId) -> Notes {
        self.live.notes.remove(&row).unwrap_or_default()
    }
}

impl Preparing {
    fn wait(&mut self, now: Mono) {
        self.tries += 1;
        self.again = Some(now.plus(pause(self.tries)));
    }
}
