//! The network between the process and Discord: posts, look-ups, the gateway's events.
//!
//! In: commands, faults that wait. Out: receipts, answers and events, late, lost or repeated. Never:
//! more than one end for a post or a look-up.

use super::{Draw, Fire, Machine};
use crate::{
    discord::Answer,
    gateway::{Event, Opened},
    mutation::Mutation,
    plan::{EchoFault, LookUpFault, PostFault},
    settings::{channel, message},
    violation::Invariant,
};
use guildhall_authority::{
    event::{Deleted, Edited},
    place::Whereabouts,
};
use guildhall_connector::{
    ids::Nonce,
    input::{
        Echo, Found, HistoryPage, Input, Learned, Link, Proof, ReadBack, Receipt, Refusal, Rest,
    },
    record::UnknownWhy,
    step::{LookUp, Post},
};

/// How long one exchange may take, in milliseconds; after it the REST client says Unknown.
pub(super) const EXCHANGE_MS: u64 = 15_000;

/// A request on its way.
#[derive(Clone, Debug)]
pub(super) struct Flight {
    process: u32,
    post: Post,
    wire: Nonce,
}

/// What comes of a request once it arrived.
#[derive(Clone, Copy, Debug)]
pub(super) enum Then {
    /// Its answer, after so many milliseconds.
    Answer(u64),
    /// Nothing that the process hears of.
    Silence,
}

impl Machine<'_> {
    /// One exchange: it ends once, whatever happens to it.
    pub(super) fn post(&mut self, post: Post) {
        let Some(process) = &self.process else { return };
        let (id, nonce) = (process.id, post.nonce);
        if !self.ledger.durable_intents.contains(&nonce) {
            self.blame(
                Invariant::WriteOrder,
                format!("{nonce} is posted before its intent is durable"),
            );
        }
        self.judge_card(&post);
        if self.mutation == Some(Mutation::PartTwoEarly)
            && let Some(second) = self.second_part(&post)
        {
            let ms = self.between(Draw::Network, 10, 200);
            let flight = self.flight(id, second);
            self.fire_in(ms, Fire::Arrives(Box::new(flight), Then::Silence));
        }
        let flight = Box::new(self.flight(id, post));
        let there = self.between(Draw::Network, 10, 200);
        let back = self.between(Draw::Network, 10, 200);
        let unknown = |why| Fire::Answered(id, nonce, Receipt::Unknown(why));
        let refused = |kind, code| {
            let code = Some(code);
            Fire::Answered(id, nonce, Receipt::Refused { kind, code })
        };
        let no_answer = unknown(UnknownWhy::NoAnswer);
        let outage = (self.now < self.faults.no_posts_until).then_some(PostFault::NeverArrives);
        match self.faults.post.pop_front().or(outage) {
            None => self.fire_in(there, Fire::Arrives(flight, Then::Answer(back))),
            Some(PostFault::AnswerSlow(ms)) => {
                self.fire_in(there, Fire::Arrives(flight, Then::Answer(ms)));
            }
            Some(PostFault::NotSent(wait_ms)) => {
                self.fire_in(
                    back,
                    Fire::Answered(id, nonce, Receipt::NotSent { wait_ms }),
                );
            }
            Some(PostFault::AnswerLost) => {
                self.fire_in(there, Fire::Arrives(flight, Then::Silence));
                self.fire_in(EXCHANGE_MS, no_answer);
            }
            Some(PostFault::NeverArrives) => self.fire_in(EXCHANGE_MS, no_answer),
            Some(PostFault::ArrivesLate(ms)) => {
                self.fire_in(EXCHANGE_MS, no_answer);
                self.fire_in(EXCHANGE_MS + ms, Fire::Arrives(flight, Then::Silence));
            }
            Some(PostFault::FaultBefore) => self.fire_in(back, unknown(UnknownWhy::ServerFault)),
            Some(PostFault::FaultAfter) => {
                self.fire_in(there, Fire::Arrives(flight, Then::Silence));
                self.fire_in(there + back, unknown(UnknownWhy::ServerFault));
            }
            Some(PostFault::ContentRefused) => {
                self.fire_in(back, refused(Refusal::Content, 50_035));
            }
            Some(PostFault::Unauthorized) => self.fire_in(back, refused(Refusal::Unauthorized, 0)),
        }
    }

    fn flight(&mut self, process: u32, post: Post) -> Flight {
        let wire = match self.mutation {
            Some(Mutation::FreshNonce) => {
                let fresh = self.between(Draw::Driver, 0, u64::MAX - 1).to_string();
                Nonce::derive("fresh", &fresh, "post", 1, 0)
            }
            Some(_) | None => post.nonce,
        };
        Flight {
            process,
            post,
            wire,
        }
    }

    /// A request arrives at Discord, perhaps after the process that sent it died.
    pub(super) fn arrives(&mut self, flight: Flight, then: Then) {
        let mut deaths = self.ledger.deaths.iter();
        let died = deaths.find(|(process, _)| *process == flight.process);
        if let Some((_, died)) = died {
            let too_late = self.now - died > EXCHANGE_MS;
            if too_late || self.between(Draw::Network, 0, 2) == 0 {
                return;
            }
        }
        let Flight {
            process,
            post,
            wire,
        } = flight;
        let answer = self.discord.post(self.now, &post, wire);
        let nonce = post.nonce;
        self.note(|| format!("    {nonce} arrives: {answer:?}"));
        if let Answer::Made(id) = answer {
            self.echo(id);
        }
        let posted = |id| Receipt::Posted {
            message: message(id),
            channel: post.channel,
        };
        let receipt = match answer {
            Answer::Made(id) | Answer::Known(id) => posted(id),
            Answer::KnownAndDeleted => Receipt::PostedAndDeleted,
            Answer::ReferenceGone => Receipt::ReferenceGone,
            Answer::NoAccess => Receipt::Refused {
                kind: Refusal::NoAccess,
                code: Some(50_013),
            },
        };
        if let Then::Answer(ms) = then {
            self.fire_in(ms, Fire::Answered(process, nonce, receipt));
        }
    }

    /// A message of the seat's own goes out over the gateway.
    fn echo(&mut self, id: u64) {
        let event = Event::Own { id };
        match self.faults.echo.pop_front() {
            None => self.emit(event),
            Some(EchoFault::Lost) => {}
            Some(EchoFault::Twice) => {
                self.emit(event.clone());
                self.emit(event);
            }
            Some(EchoFault::Late(ms)) => {
                let link = self.gateway.link;
                self.fire_in(ms, Fire::Repeated(link, event));
            }
        }
    }

    pub(super) fn emit(&mut self, event: Event) {
        if self.gateway.push(event) {
            let ms = self.between(Draw::Network, 5, 250);
            self.deliver_in(ms);
        }
    }

    fn deliver_in(&mut self, ms: u64) {
        let ms = ms.max(self.gateway_floor.saturating_sub(self.now));
        let link = self.gateway.link;
        self.fire_in(ms, Fire::Deliver(link));
    }

    /// The process's gateway task connects, and resumes where it can.
    pub(super) fn connect(&mut self) {
        if self.gateway.is_up() {
            return;
        }
        let threads = self.discord.known_threads();
        let opened = self.gateway.open(self.now, threads);
        self.note(|| format!("    link up: {opened:?}"));
        self.gateway_floor = self.now;
        match opened {
            Opened::Fresh => {
                self.deliver_in(20);
                let late = self.faults.guild_late.take().unwrap_or(40);
                self.gateway_floor = self.now + late;
                self.deliver_in(late);
            }
            Opened::Resumed(missed) => {
                for index in 0..missed {
                    self.deliver_in(20 + index as u64);
                }
                let link = self.gateway.link;
                self.gateway_floor = self.now + 21 + missed as u64;
                self.fire_in(20 + missed as u64, Fire::Replayed(link));
            }
        }
    }

    pub(super) fn deliver(&mut self, link: u32) {
        if link != self.gateway.link || self.process.is_none() {
            return;
        }
        if let Some(event) = self.gateway.next() {
            self.take(event);
        }
    }

    pub(super) fn replayed(&mut self, link: u32) {
        if link == self.gateway.link {
            self.feed(Input::Link(Link::Resumed));
        }
    }

    pub(super) fn repeated(&mut self, link: u32, event: Event) {
        if link == self.gateway.link {
            self.take(event);
        }
    }

    fn take(&mut self, event: Event) {
        let input = match event {
            Event::Ready => Input::Link(Link::Ready),
            Event::Guild(threads) => Input::Link(Link::Guild(threads)),
            Event::Said(said) => Input::Said(said),
            Event::Edited(said) => Input::Edited(Box::new(Edited { said: *said })),
            Event::Deleted { id, channel: place } => Input::Deleted(Deleted {
                id: message(id),
                channel: channel(place),
            }),
            Event::Own { id } => {
                let Some(own) = self.discord.messages.get(&id) else {
                    return;
                };
                Input::Echoed(Echo {
                    nonce: own.wire,
                    message: message(id),
                    channel: channel(own.channel),
                })
            }
            Event::Place { thread, parent } => {
                let at = Whereabouts::ThreadOf(channel(parent));
                Input::Link(Link::Place(channel(thread), at))
            }
        };
        self.feed(input);
    }

    /// The link breaks and is mended; what was on its way over it is lost, or replayed.
    pub(super) fn drop_link(&mut self, mended_in: u64) {
        if !self.gateway.is_up() {
            return;
        }
        self.gateway.breaks(self.now);
        if let Some(process) = &self.process {
            let id = process.id;
            self.fire_in(1, Fire::LinkDown(id));
            self.fire_in(mended_in.max(2), Fire::Connect(id));
        }
    }

    pub(super) fn look_up(&mut self, process: u32, look_up: LookUp) {
        let there = self.between(Draw::Network, 10, 200);
        let back = self.between(Draw::Network, 10, 200);
        let outage = (self.now < self.faults.no_look_ups_until).then_some(LookUpFault::NoAnswer);
        match self.faults.look_up.pop_front().or(outage) {
            None => self.fire_in(there, Fire::Looks(process, look_up, back)),
            Some(LookUpFault::Slow(ms)) => self.fire_in(there, Fire::Looks(process, look_up, ms)),
            Some(LookUpFault::NoAnswer) => {
                let learned = match look_up {
                    LookUp::Whereabouts(id) => Learned::Whereabouts(id, Found::NoAnswer),
                    LookUp::Text { row, .. } => Learned::Text(row, Found::NoAnswer),
                    LookUp::Paste { row, .. } => Learned::Paste(row, Found::NoAnswer),
                    LookUp::History { channel, .. } => Learned::History(channel, Found::NoAnswer),
                    LookUp::ReadBack { nonce, .. } => Learned::ReadBack(nonce, Found::NoAnswer),
                    LookUp::File { turn, call, .. } => Learned::File(turn, call, Found::NoAnswer),
                };
                self.fire_in(EXCHANGE_MS, Fire::Learned(process, Box::new(learned)));
            }
        }
    }

    /// A look-up arrives: what it shows is what is true now.
    pub(super) fn looks(&mut self, process: u32, look_up: LookUp, back: u64) {
        let learned = match look_up {
            LookUp::Whereabouts(id) => {
                Learned::Whereabouts(id, Found::Here(self.discord.whereabouts(id)))
            }
            LookUp::Paste { row, .. } => {
                let id = row.message().map_or(0, |id| id.get());
                Learned::Paste(row, self.discord.paste(id))
            }
            LookUp::Text { row, message, .. } => {
                Learned::Text(row, self.discord.text(message.get()))
            }
            LookUp::File { turn, call, .. } => Learned::File(turn, call, self.file(turn, call)),
            LookUp::History { channel, after } => {
                Learned::History(channel, self.history(channel.get(), after))
            }
            LookUp::ReadBack {
                nonce,
                channel,
                after,
                since_ms,
            } => {
                let place = channel.get();
                let mut page = self
                    .discord
                    .read_back(place, after.map(|id| id.get()), since_ms);
                if self.mutation == Some(Mutation::BlindReadBack) {
                    page = ReadBack {
                        proof: Proof::Whole,
                        own: Vec::new(),
                    };
                }
                Learned::ReadBack(nonce, Found::Here(page))
            }
        };
        self.fire_in(back, Fire::Learned(process, Box::new(learned)));
    }

    fn history(&mut self, place: u64, after: u64) -> Found<HistoryPage> {
        if self.mutation == Some(Mutation::EmptyCatchUp) {
            return Found::Here(HistoryPage {
                said: Vec::new(),
                rest: Rest::Nothing,
            });
        }
        let found = self.discord.history(place, after);
        if found == Found::Nothing {
            self.ledger.unread.insert(place);
        }
        found
    }
}
