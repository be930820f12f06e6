//! What a plan's actions do.
//!
//! In: one action. Out: changes to the model, inputs for the process. Never: an action that waits.

use super::{Fire, Machine, process::Wants};
use crate::{
    discord::Whose,
    gateway::Event,
    ledger::Claimed,
    plan::{Action, Announced, Requests, Session, Word},
    settings::{ATTIC, GENERAL, HELP, OFF, QUIET, Speaker, Spot},
};
use guildhall_authority::ask::Answer;
use guildhall_connector::input::{Input, Order, ReloadNote, Room};
use std::sync::Arc;

/// How far the wall clock may fall back behind its highest reading, in milliseconds.
const BACK_MAX_MS: i64 = 25_000;

impl Machine<'_> {
    pub(super) fn act(&mut self, action: Action) {
        self.note(|| format!("==  {action:?}"));
        match action {
            Action::Say(who, spot, shape) => {
                let place = self.place(spot);
                self.say(who, place, shape);
            }
            Action::Burst(who, spot, count) => {
                let place = self.place(spot);
                for _ in 0..count {
                    self.say(who, place, crate::plan::Shape::Plain);
                }
            }
            Action::Edit(back) => self.edit(back),
            Action::Delete(back) => self.delete(Whose::People, back),
            Action::DeleteOwn(back) => self.delete(Whose::Own, back),
            Action::OpenThread(spot, announced) => self.open_thread(spot, announced),
            Action::Post(fault) => self.faults.post.push_back(fault),
            Action::LookUp(fault) => self.faults.look_up.push_back(fault),
            Action::Engine(behaviour) => self.faults.engine.push_back(behaviour),
            Action::Disk(fault) => self.faults.disk.push_back(fault),
            Action::Echo(fault) => self.faults.echo.push_back(fault),
            Action::GuildLate(ms) => self.faults.guild_late = Some(ms),
            Action::Outage(Requests::Posts, ms) => self.faults.no_posts_until = self.now + ms,
            Action::Outage(Requests::LookUps, ms) => self.faults.no_look_ups_until = self.now + ms,
            Action::Rights(spot, access) => {
                let place = self.place(spot);
                self.discord.grant(place, access);
            }
            Action::WallJump(ms) => self.jump(ms),
            Action::LinkDrop(ms, session) => {
                self.drop_link(ms);
                if session == Session::Forgotten {
                    self.gateway.forget();
                }
            }
            Action::Repeat(count) => {
                let link = self.gateway.link;
                if self.gateway.is_up() {
                    for event in self.gateway.recent(count) {
                        self.fire_in(5, Fire::Repeated(link, event));
                    }
                }
            }
            Action::Calls(plan) => self.faults.calls.push_back(plan),
            Action::Press(..) | Action::ReplyCard(..) | Action::Terminal(_) => self.answer(action),
            Action::Checkpoint
            | Action::NoRoom
            | Action::Room
            | Action::Stop(_)
            | Action::Estop(_)
            | Action::Reload(_)
            | Action::Drain(_)
            | Action::Kill(_)
            | Action::KillIn(..)
            | Action::Cancel
            | Action::AbortTurn => self.operate(action),
        }
    }

    fn answer(&mut self, action: Action) {
        if let Action::Press(who, back, word, times) = action {
            self.press(who, back, word, times);
        }
        if let Action::ReplyCard(who, back, word) = action {
            self.reply_to_card(who, back, word);
        }
        if let Action::Terminal(word) = action {
            self.answer_by_hand(match word {
                Word::Once => Answer::Once,
                Word::Deny => Answer::Denied,
                Word::Other => Answer::Stopped,
            });
        }
    }

    fn operate(&mut self, action: Action) {
        match action {
            Action::Checkpoint => {
                if let Some(process) = &mut self.process {
                    process.wants_checkpoint = Wants::Checkpoint;
                }
                self.pump();
            }
            Action::NoRoom => self.set_room(Room::None),
            Action::Room => self.set_room(Room::Enough),
            Action::Stop(brake) => self.brakes.stop = brake,
            Action::Estop(brake) => self.brakes.estop = brake,
            Action::Reload(variant) => {
                self.variant = variant;
                let policy = Arc::new(self.policy());
                let note = ReloadNote::default();
                self.feed(Input::Ordered(Order::Reload(policy, note)));
            }
            Action::Drain(down_ms) => {
                if let Some(process) = &mut self.process {
                    process.drained_for = Some(down_ms);
                }
                self.feed(Input::Ordered(Order::Drain));
            }
            Action::Kill(down) => self.die(down),
            Action::KillIn(steps, down) => {
                if let Some(process) = &mut self.process {
                    process.kill_in = Some((steps, down));
                }
            }
            Action::Cancel => self.order(Claimed::No, Order::Cancel),
            Action::AbortTurn => self.order(Claimed::Yes, Order::Abort),
            Action::Say(..)
            | Action::Burst(..)
            | Action::Edit(_)
            | Action::Delete(_)
            | Action::DeleteOwn(_)
            | Action::OpenThread(..)
            | Action::Post(_)
            | Action::LookUp(_)
            | Action::Engine(_)
            | Action::Disk(_)
            | Action::LinkDrop(..)
            | Action::Repeat(_)
            | Action::Echo(_)
            | Action::GuildLate(_)
            | Action::WallJump(_)
            | Action::Outage(..)
            | Action::Calls(_)
            | Action::Press(..)
            | Action::ReplyCard(..)
            | Action::Terminal(_)
            | Action::Rights(..) => {}
        }
    }

    fn order(
        &mut self,
        claimed: Claimed,
        order: impl FnOnce(guildhall_connector::ids::RowId) -> Order,
    ) {
        let process = self.process.as_ref();
        if let Some(row) = process.and_then(|process| process.rows.first(claimed)) {
            self.feed(Input::Ordered(order(row)));
        }
    }

    pub(super) fn set_room(&mut self, room: Room) {
        self.room = room;
        self.feed(Input::Journal(room));
    }

    fn place(&self, spot: Spot) -> u64 {
        match spot {
            Spot::General => GENERAL,
            Spot::Help => HELP,
            Spot::Quiet => QUIET,
            Spot::Attic => ATTIC,
            Spot::Off => OFF,
            Spot::Thread(back) => {
                let newest_first = self.discord.threads.iter().rev();
                let thread = newest_first.map(|(id, _)| *id).nth(usize::from(back));
                thread.unwrap_or(GENERAL)
            }
        }
    }

    fn say(&mut self, who: Speaker, place: u64, shape: crate::plan::Shape) {
        let id = self.discord.say(self.now, who, place, shape);
        self.note(|| format!("    {who:?} writes {id} in {place}"));
        if let Some(said) = self.discord.messages.get(&id) {
            let event = Event::said(said);
            self.emit(event);
        }
    }

    fn edit(&mut self, back: u8) {
        let Some(id) = self.discord.back(Whose::People, back) else {
            return;
        };
        self.discord.edit(id);
        self.note(|| format!("    {id} is edited"));
        if let Some(said) = self.discord.messages.get(&id) {
            let event = Event::Edited(Box::new(said.said()));
            self.emit(event);
        }
    }

    fn delete(&mut self, whose: Whose, back: u8) {
        let Some(id) = self.discord.back(whose, back) else {
            return;
        };
        self.discord.delete(self.now, id);
        self.note(|| format!("    {id} is deleted"));
        if let Some(said) = self.discord.messages.get(&id) {
            let channel = said.channel;
            self.emit(Event::Deleted { id, channel });
        }
    }

    fn open_thread(&mut self, spot: Spot, announced: Announced) {
        let parent = self.place(spot);
        let thread = self.discord.open_thread(self.now, parent);
        self.note(|| format!("    thread {thread} is opened in {parent}"));
        if announced == Announced::Yes {
            self.emit(Event::Place { thread, parent });
        }
    }

    fn jump(&mut self, ms: i64) {
        let to = self.jumped + ms;
        if self.jumped_most - to <= BACK_MAX_MS {
            self.jumped = to;
            self.jumped_most = self.jumped_most.max(to);
        }
    }
}
