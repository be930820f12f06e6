//! The tool host and the people who answer it: calls that ask, presses, replies, cards.
//!
//! In: commands about asks and calls, a plan's presses and replies. Out: inputs for the process, and
//! effects that happen or do not. Never: an effect that the process did not let begin.

use super::{Draw, Fire, Machine, Stage};
use crate::{
    discord::ENGINE_MARK,
    gateway::Event,
    mutation::Mutation,
    plan::{CallPlan, Word},
    settings::{Speaker, channel, message, operators, user},
    violation::Invariant,
};
use guildhall_authority::{
    ask::{Answer, AskId, AskSpec, Content, Decision, Shown},
    call::{CallBegun, CallEnd, CallEnded},
    offer::ToolName,
    permit::EffectDigest,
    scope::TurnKey,
};
use guildhall_connector::{
    ids::RowId,
    input::{FileSeen, Found, Input, Order, Press, Receipt},
    record::UnknownWhy,
    run::RunEvent,
    step::{CardEdit, Post},
};
use std::collections::{BTreeMap, BTreeSet};

/// How long a turn's end waits before it looks again whether its calls have ended.
const LOOK_AGAIN_MS: u64 = 1_000;

/// A call of the process that lives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum HostCall {
    /// It waits for a person.
    Asks(AskId),
    /// A person has allowed it; it has not asked for leave yet.
    Allowed(AskId),
    /// It waits for leave to begin.
    Begins,
    /// It changes something.
    Works,
}

/// The host, and what its calls did to the world.
#[derive(Debug, Default)]
pub(crate) struct Host {
    pub(crate) calls: BTreeMap<(RowId, u32), HostCall>,
    /// Asks of the process that lives.
    pub(crate) asked: BTreeSet<AskId>,
    /// Asks of all processes, with their calls.
    pub(crate) all: BTreeMap<AskId, (RowId, u32)>,
    /// Decisions that were given.
    pub(crate) decided: BTreeMap<AskId, Answer>,
    /// Asks that somebody who may decide allowed.
    pub(crate) allowed: BTreeSet<AskId>,
    /// Calls whose effect happened.
    pub(crate) effects: BTreeMap<(RowId, u32), u32>,
}

impl Host {
    /// Its process died.
    pub(crate) fn die(&mut self) {
        self.calls.clear();
        self.asked.clear();
    }

    fn is_busy(&self, row: RowId) -> bool {
        self.calls.keys().any(|(of, _)| *of == row)
    }
}

fn digest(row: RowId, call: u32) -> EffectDigest {
    EffectDigest::of("effect", &[row.to_string().as_bytes(), &call.to_be_bytes()])
}

fn begun(row: RowId, call: u32, ask: Option<AskId>) -> CallBegun {
    CallBegun {
        turn: TurnKey::new(&row.to_string()),
        call,
        tool: ToolName::Create,
        root: Some("notes".to_owned()),
        target: format!("{row}-{call}.md"),
        digest: digest(row, call),
        after: Some(digest(row, call).to_string()),
        ask,
    }
}

impl Machine<'_> {
    /// A run that makes calls begins.
    pub(super) fn plan_calls(&mut self, process: u32, row: RowId) {
        let Some(plan) = self.faults.calls.pop_front() else {
            return;
        };
        for call in 0..u32::from(plan.count) {
            let ms = self.between(Draw::Engine, 1, 400);
            self.fire_in(ms, Fire::Calls(process, row, call, plan));
        }
    }

    pub(super) fn calls(&mut self, row: RowId, call: u32, plan: CallPlan) {
        if !self.engine.runs(row) {
            return;
        }
        let turn = TurnKey::new(&row.to_string());
        if !plan.asks {
            self.host.calls.insert((row, call), HostCall::Begins);
            return self.feed(Input::CallBegins(begun(row, call, None)));
        }
        let id = AskId::derive(&turn, call);
        self.host.calls.insert((row, call), HostCall::Asks(id));
        self.host.asked.insert(id);
        self.host.all.insert(id, (row, call));
        if let (Some(ms), Some(process)) = (plan.gone_ms, &self.process) {
            let process = process.id;
            self.fire_in(ms, Fire::CallGone(process, row, call));
        }
        let text = "a word in a line\n".repeat(usize::from(plan.lines));
        self.feed(Input::Asked(AskSpec {
            id,
            turn,
            call,
            tool: ToolName::Create,
            digest: digest(row, call),
            shown: Shown {
                what: format!("Create {ENGINE_MARK} {row}"),
                content: Some(Content {
                    name: "a.md".to_owned(),
                    text,
                }),
                ..Shown::default()
            },
        }));
    }

    pub(super) fn call_gone(&mut self, row: RowId, call: u32) {
        let call_is = self.host.calls.get(&(row, call)).copied();
        if let Some(HostCall::Asks(id) | HostCall::Allowed(id)) = call_is {
            self.host.calls.remove(&(row, call));
            self.feed(Input::AskGone(id));
        }
    }

    /// A run says something; its end waits for its calls, but for a run that breaks off.
    pub(super) fn says(&mut self, process: u32, row: RowId, event: Box<RunEvent>) {
        if matches!(*event, RunEvent::Progress(_)) {
            return self.feed(Input::Run(row, *event));
        }
        let waits = self.host.is_busy(row) && self.engine.runs(row) && !self.engine.aborted(row);
        if waits && self.between(Draw::Engine, 0, 400) > 0 {
            return self.fire_in(LOOK_AGAIN_MS, Fire::Says(process, row, event));
        }
        let works = |call: &HostCall| *call == HostCall::Works;
        self.host
            .calls
            .retain(|(of, _), call| *of != row || works(call));
        self.engine.over(row);
        self.feed(Input::Run(row, *event));
    }

    pub(super) fn decided(&mut self, process: u32, decision: &Decision) {
        let (id, answer) = (decision.ask(), decision.answer());
        if !self.host.asked.contains(&id) {
            self.blame(
                Invariant::Decision,
                format!("{id} is of an earlier process"),
            );
        }
        if let Some(first) = self.host.decided.insert(id, answer) {
            self.blame(
                Invariant::Decision,
                format!("{id} is {answer:?} after {first:?}"),
            );
        }
        if answer == Answer::Once {
            if !self.ledger.durable_allowed.contains(&id) {
                self.blame(
                    Invariant::WriteOrder,
                    format!("{id} is decided before its record"),
                );
            }
            if !self.host.allowed.contains(&id) {
                self.blame(
                    Invariant::Decision,
                    format!("{id}: nobody who may has allowed it"),
                );
            }
        }
        let Some(key) = self.host.all.get(&id).copied() else {
            return;
        };
        if self.host.calls.get(&key) != Some(&HostCall::Asks(id)) {
            return;
        }
        self.host.calls.remove(&key);
        if answer == Answer::Once {
            self.host.calls.insert(key, HostCall::Allowed(id));
            let ms = self.between(Draw::Engine, 1, 300);
            self.fire_in(ms, Fire::Redeems(process, key.0, key.1, id));
        }
    }

    pub(super) fn redeems(&mut self, row: RowId, call: u32, ask: AskId) {
        if self.host.calls.get(&(row, call)) != Some(&HostCall::Allowed(ask)) {
            return;
        }
        // One in eight, by the clock: the other draws of a schedule are the same without it.
        if self.now.is_multiple_of(8) {
            self.host.calls.remove(&(row, call));
            let (turn, why) = (TurnKey::new(&row.to_string()), "root-readonly".to_owned());
            let end = CallEnd::Refused { why };
            return self.feed(Input::CallEnds(CallEnded { turn, call, end }));
        }
        self.host.calls.insert((row, call), HostCall::Begins);
        self.feed(Input::CallBegins(begun(row, call, Some(ask))));
    }

    pub(super) fn begins(&mut self, process: u32, row: RowId, call: u32) {
        if !self.ledger.durable_begun.contains(&(row, call)) {
            self.blame(
                Invariant::WriteOrder,
                format!("{row} {call} begins before its record"),
            );
        }
        let waits = self.host.calls.get(&(row, call)) == Some(&HostCall::Begins);
        if waits && self.engine.runs(row) {
            self.host.calls.insert((row, call), HostCall::Works);
            // A change is often made before anything else happens.
            match self.between(Draw::Engine, 0, 2) {
                0 => {
                    let ms = self.between(Draw::Engine, 1, 200);
                    self.fire_in(ms, Fire::Works(process, row, call));
                }
                _ => self.works(process, row, call),
            }
        }
    }

    /// The effect happens; its end is told a little later.
    pub(super) fn works(&mut self, process: u32, row: RowId, call: u32) {
        *self.host.effects.entry((row, call)).or_default() += 1;
        let ms = self.between(Draw::Engine, 0, 200);
        self.fire_in(ms, Fire::CallEnds(process, row, call));
    }

    pub(super) fn call_ends(&mut self, row: RowId, call: u32) {
        self.host.calls.remove(&(row, call));
        let turn = TurnKey::new(&row.to_string());
        let end = CallEnd::Done;
        self.feed(Input::CallEnds(CallEnded { turn, call, end }));
    }

    pub(super) fn file(&self, turn: RowId, call: u32) -> Found<FileSeen> {
        if self.host.effects.contains_key(&(turn, call)) {
            Found::Here(FileSeen::AsMeant)
        } else {
            Found::Nothing
        }
    }

    /// No card is posted by a process whose host did not ask.
    pub(super) fn judge_card(&mut self, post: &Post) {
        if let Some(card) = &post.card
            && !self.host.asked.contains(&card.ask)
        {
            let about = format!("{} is asked again by another process", card.ask);
            self.blame(Invariant::Card, about);
        }
    }

    /// Somebody presses a button of the card so many back, perhaps more than once.
    pub(super) fn press(&mut self, who: Speaker, back: u8, word: Word, times: u8) {
        let Some((id, place, ask)) = self.discord.card(back) else {
            return;
        };
        let word = match word {
            Word::Once => "once",
            Word::Deny => "deny",
            Word::Other => "always",
        };
        for _ in 0..times {
            let press = Press {
                interaction: self.now,
                token: "token".to_owned(),
                who: user(who.id()),
                channel: channel(place),
                message: message(id),
                custom_id: format!("ask:{ask}:{word}"),
            };
            if self.gateway.is_up() {
                let (ms, link) = (self.between(Draw::Network, 5, 250), self.gateway.link);
                self.fire_in(ms, Fire::Pressed(link, who, Box::new(press)));
            }
        }
    }

    pub(super) fn pressed(&mut self, link: u32, who: Speaker, mut press: Press) {
        let Some(process) = &self.process else { return };
        if link != self.gateway.link || !self.gateway.is_up() {
            return;
        }
        let allows =
            press.custom_id.ends_with(":once") && operators(process.variant).contains(&who);
        let ask = press.custom_id.get(4..20).and_then(|id| id.parse().ok());
        if let (true, Some(ask)) = (allows, ask) {
            self.host.allowed.insert(ask);
        }
        if self.mutation == Some(Mutation::AnybodyPresses) {
            press.who = user(Speaker::Ana.id());
        }
        self.feed(Input::Pressed(press));
    }

    /// Somebody replies to the card so many back.
    pub(super) fn reply_to_card(&mut self, who: Speaker, back: u8, word: Word) {
        let Some((card, place, ask)) = self.discord.card(back) else {
            return;
        };
        let text = match word {
            Word::Once => "Once ",
            Word::Deny => "deny",
            Word::Other => "once more?",
        };
        let id = self.discord.reply(self.now, who, (place, card), text);
        self.note(|| format!("    {who:?} replies {word:?} to {card} as {id}"));
        // Who may decide is looked up when the message is considered; nobody else ever may.
        if word == Word::Once && [Speaker::Ana, Speaker::Bea].contains(&who) {
            self.host.allowed.insert(ask);
        }
        if let Some(said) = self.discord.messages.get(&id) {
            let event = Event::said(said);
            self.emit(event);
        }
    }

    /// The operator answers the oldest open ask in the terminal.
    pub(super) fn answer_by_hand(&mut self, answer: Answer) {
        let at = self.moment();
        let Some(process) = &self.process else { return };
        let status = process.connector.status(&at);
        let Some(open) = status.asks.first() else {
            return;
        };
        if answer == Answer::Once {
            self.host.allowed.insert(open.ask);
        }
        self.feed(Input::Ordered(Order::Decide(open.ask, answer)));
    }

    /// One edit of a card: it ends once.
    pub(super) fn edit_card(&mut self, process: u32, edit: CardEdit) {
        let there = self.between(Draw::Network, 10, 200);
        let back = self.between(Draw::Network, 10, 200);
        let outage = self.now < self.faults.no_posts_until;
        let luck = match self.stage {
            Stage::Plan if outage => 2,
            Stage::Plan => self.between(Draw::Network, 0, 9),
            Stage::Quiet | Stage::Encore => 9,
        };
        let id = edit.ask;
        let no_answer = Receipt::Unknown(UnknownWhy::NoAnswer);
        match luck {
            0 => {
                self.fire_in(there, Fire::EditArrives(process, Box::new(edit), None));
                self.fire_in(
                    super::network::EXCHANGE_MS,
                    Fire::Edited(process, id, no_answer),
                );
            }
            1 => {
                let wait_ms = 2_000;
                self.fire_in(
                    back,
                    Fire::Edited(process, id, Receipt::NotSent { wait_ms }),
                );
            }
            2 => self.fire_in(
                super::network::EXCHANGE_MS,
                Fire::Edited(process, id, no_answer),
            ),
            _ => self.fire_in(
                there,
                Fire::EditArrives(process, Box::new(edit), Some(back)),
            ),
        }
    }

    pub(super) fn edit_arrives(&mut self, process: u32, edit: &CardEdit, back: Option<u64>) {
        let there = self.discord.edit_card(edit.message.get(), &edit.content);
        let receipt = if there {
            Receipt::Posted {
                message: edit.message,
                channel: edit.channel,
            }
        } else {
            Receipt::ReferenceGone
        };
        if let Some(ms) = back {
            self.fire_in(ms, Fire::Edited(process, edit.ask, receipt));
        }
    }
}
