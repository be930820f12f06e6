//! A model of Discord: messages, threads, rights, and the memory for nonces.
//!
//! In: what people and the seat do, at a moment. Out: message ids, answers to posts and look-ups.
//! Never: a rule of the product. What the real service does and what is only assumed is told apart
//! in `docs/faults.md`.

use crate::{
    plan::{Access, GoneReference, HistoryNonce, Knobs, Shape},
    settings::{BOT, ELSEWHERE, GUILD, Speaker, channel, guild, message, user},
};
use guildhall_authority::{
    ask::AskId,
    event::{Author, AuthorKind, Enclosed, Mentioned, MessageText, Said, SaidKind},
    place::Whereabouts,
};
use guildhall_binding::ids::{ChannelId, DISCORD_EPOCH_MS};
use guildhall_connector::{
    ids::Nonce,
    input::{Found, HistoryPage, KnownThread, OwnMessage, Proof, ReadBack, Rest},
    reply,
    step::Post,
};
use std::collections::BTreeMap;

/// The word in every text that a person writes; no record may hold it.
pub(crate) const PERSON_MARK: &str = "zqperson";
/// The word in every text that an engine writes; no record may hold it.
pub(crate) const ENGINE_MARK: &str = "zqengine";

/// A message, deleted or not.
#[derive(Clone, Debug)]
pub(crate) struct Message {
    pub(crate) id: u64,
    pub(crate) channel: u64,
    pub(crate) author: u64,
    pub(crate) kind: AuthorKind,
    pub(crate) shape: Shape,
    /// Every text it ever had; the last one stands.
    pub(crate) texts: Vec<String>,
    pub(crate) replies_to: Option<u64>,
    /// The ask whose card it is, or was.
    pub(crate) ask: Option<AskId>,
    /// The nonce that Discord was told.
    pub(crate) wire: Option<Nonce>,
    /// The intent that it was posted for.
    pub(crate) intent: Option<Nonce>,
    pub(crate) at_ms: u64,
    pub(crate) deleted_ms: Option<u64>,
}

impl Message {
    fn text(&self) -> &str {
        self.texts.last().map_or("", String::as_str)
    }

    /// As the product sees it now.
    pub(crate) fn said(&self) -> Said {
        let elsewhere = self.shape == Shape::Elsewhere;
        Said {
            id: message(self.id),
            channel: channel(self.channel),
            guild: Some(guild(if elsewhere { ELSEWHERE } else { GUILD })),
            author: Author {
                id: user(self.author),
                kind: self.kind,
                name: MessageText::new("Ana"),
            },
            kind: match self.shape {
                Shape::Pin => SaidKind::Other(6),
                Shape::Plain
                | Shape::Mention
                | Shape::Paste
                | Shape::Oversize
                | Shape::Elsewhere => SaidKind::Plain,
            },
            text: MessageText::new(self.text()),
            mentions_bot: match self.shape {
                Shape::Mention => Mentioned::Yes,
                Shape::Plain | Shape::Paste | Shape::Oversize | Shape::Pin | Shape::Elsewhere => {
                    Mentioned::No
                }
            },
            enclosed: match self.shape {
                Shape::Paste => vec![file(self.id)],
                Shape::Plain | Shape::Mention | Shape::Oversize | Shape::Pin | Shape::Elsewhere => {
                    Vec::new()
                }
            },
            replies_to: self.replies_to.map(message),
        }
    }
}

/// What Discord answers to a post.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Answer {
    /// A new message.
    Made(u64),
    /// The nonce is known, and this is its message.
    Known(u64),
    /// The nonce is known, and its message was deleted.
    KnownAndDeleted,
    /// The message replied to is gone, and nothing was posted.
    ReferenceGone,
    /// The seat may not post here.
    NoAccess,
}

/// Discord, whole.
#[derive(Debug)]
pub(crate) struct Discord {
    pub(crate) messages: BTreeMap<u64, Message>,
    /// Threads in the order of their opening, with their parents.
    pub(crate) threads: Vec<(u64, u64)>,
    rights: BTreeMap<u64, Access>,
    nonces: BTreeMap<Nonce, u64>,
    enforces: Enforces,
    window_ms: u64,
    gone_reference: GoneReference,
    history_nonce: HistoryNonce,
    page: usize,
    counter: u64,
    epoch_ms: u64,
}

/// Whether Discord keeps its promise about nonces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Enforces {
    /// It does.
    Nonces,
    /// It posts whatever comes.
    Nothing,
}

impl Discord {
    pub(crate) fn new(knobs: &Knobs, epoch_ms: u64, enforces: Enforces) -> Self {
        Self {
            messages: BTreeMap::new(),
            threads: Vec::new(),
            rights: BTreeMap::new(),
            nonces: BTreeMap::new(),
            enforces,
            window_ms: knobs.nonce_window_ms,
            gone_reference: knobs.gone_reference,
            history_nonce: knobs.history_nonce,
            page: knobs.page,
            counter: 0,
            epoch_ms,
        }
    }

    fn snowflake(&mut self, now: u64) -> u64 {
        self.counter += 1;
        ((self.epoch_ms + now - DISCORD_EPOCH_MS) << 22) | (self.counter & 0x003f_ffff)
    }

    /// Somebody writes.
    pub(crate) fn say(&mut self, now: u64, who: Speaker, place: u64, shape: Shape) -> u64 {
        let id = self.snowflake(now);
        let text = text_of(id, 0, shape);
        let said = Message {
            id,
            channel: place,
            author: who.id(),
            kind: who.kind(),
            shape,
            texts: vec![text],
            replies_to: None,
            ask: None,
            wire: None,
            intent: None,
            at_ms: now,
            deleted_ms: None,
        };
        self.messages.insert(id, said);
        id
    }

    /// Somebody replies to a message of a place, in so many words.
    pub(crate) fn reply(&mut self, now: u64, who: Speaker, to: (u64, u64), text: &str) -> u64 {
        let id = self.say(now, who, to.0, Shape::Plain);
        if let Some(said) = self.messages.get_mut(&id) {
            said.texts = vec![text.to_owned()];
            said.replies_to = Some(to.1);
        }
        id
    }

    /// The card so many back, with its place and its ask.
    pub(crate) fn card(&self, back: u8) -> Option<(u64, u64, AskId)> {
        let newest_first = self.messages.values().rev();
        let cards = newest_first.filter(|it| it.deleted_ms.is_none());
        let mut cards = cards.filter_map(|it| Some((it.id, it.channel, it.ask?)));
        cards.nth(usize::from(back))
    }

    /// A card gets its last words; says whether it stands.
    pub(crate) fn edit_card(&mut self, id: u64, content: &str) -> bool {
        match self.messages.get_mut(&id) {
            Some(card) if card.deleted_ms.is_none() => {
                card.texts.push(content.to_owned());
                true
            }
            Some(_) | None => false,
        }
    }

    /// A message gets another text.
    pub(crate) fn edit(&mut self, id: u64) {
        if let Some(said) = self.messages.get_mut(&id) {
            let text = text_of(id, said.texts.len(), said.shape);
            said.texts.push(text);
        }
    }

    /// A message goes.
    pub(crate) fn delete(&mut self, now: u64, id: u64) {
        if let Some(said) = self.messages.get_mut(&id) {
            said.deleted_ms = said.deleted_ms.or(Some(now));
        }
    }

    /// A thread is opened in a channel.
    pub(crate) fn open_thread(&mut self, now: u64, parent: u64) -> u64 {
        let id = self.snowflake(now);
        self.threads.push((id, parent));
        id
    }

    /// The listed or unlisted channel that a place belongs to.
    pub(crate) fn parent(&self, place: u64) -> u64 {
        let thread = self.threads.iter().find(|(id, _)| *id == place);
        thread.map_or(place, |(_, parent)| *parent)
    }

    pub(crate) fn grant(&mut self, place: u64, access: Access) {
        self.rights.insert(place, access);
    }

    pub(crate) fn grant_all(&mut self) {
        self.rights.clear();
    }

    fn access(&self, place: u64) -> Access {
        let parent = self.parent(place);
        self.rights.get(&parent).copied().unwrap_or(Access::Whole)
    }

    pub(crate) fn stands(&self, id: u64) -> bool {
        self.messages
            .get(&id)
            .is_some_and(|said| said.deleted_ms.is_none())
    }

    /// A post arrives.
    pub(crate) fn post(&mut self, now: u64, post: &Post, wire: Nonce) -> Answer {
        let place = post.channel.get();
        if self.access(place) == Access::NoPost {
            return Answer::NoAccess;
        }
        let known = self.nonces.get(&wire).copied().and_then(|id| {
            let made = self.messages.get(&id)?;
            (made.at_ms + self.window_ms > now).then_some((id, made.deleted_ms.is_some()))
        });
        match (self.enforces, known) {
            (Enforces::Nonces, Some((id, false))) => return Answer::Known(id),
            (Enforces::Nonces, Some((_, true))) => return Answer::KnownAndDeleted,
            (Enforces::Nonces, None) | (Enforces::Nothing, _) => {}
        }
        let replies_to = post.reply_to.map(|id| id.get());
        let gone = replies_to.is_some_and(|id| !self.stands(id));
        if gone && self.gone_reference == GoneReference::Refuses {
            return Answer::ReferenceGone;
        }
        let id = self.snowflake(now);
        let made = Message {
            id,
            channel: place,
            author: BOT,
            kind: AuthorKind::Bot,
            shape: Shape::Plain,
            texts: vec![post.content.clone()],
            replies_to: replies_to.filter(|_| !gone),
            ask: post.card.as_ref().map(|card| card.ask),
            wire: Some(wire),
            intent: Some(post.nonce),
            at_ms: now,
            deleted_ms: None,
        };
        self.messages.insert(id, made);
        self.nonces.insert(wire, id);
        Answer::Made(id)
    }

    /// The threads of the server, with the newest message of each.
    pub(crate) fn known_threads(&self) -> Vec<KnownThread> {
        let newest = |thread: u64| {
            let there = self.messages.values().rev();
            there
                .filter(|said| said.channel == thread)
                .map(|said| message(said.id))
                .next()
        };
        let known = |(id, parent): &(u64, u64)| KnownThread {
            id: channel(*id),
            parent: channel(*parent),
            newest: newest(*id),
        };
        self.threads.iter().map(known).collect()
    }

    pub(crate) fn whereabouts(&self, id: ChannelId) -> Whereabouts {
        let thread = self.threads.iter().find(|(thread, _)| *thread == id.get());
        thread.map_or(Whereabouts::NoThread, |(_, parent)| {
            Whereabouts::ThreadOf(channel(*parent))
        })
    }

    /// What a message says now.
    pub(crate) fn text(&self, id: u64) -> Found<Box<Said>> {
        match self.messages.get(&id) {
            Some(said) if said.deleted_ms.is_none() => Found::Here(Box::new(said.said())),
            Some(_) | None => Found::Nothing,
        }
    }

    /// What the text file of a message says.
    pub(crate) fn paste(&self, id: u64) -> Found<MessageText> {
        if self.stands(id) {
            Found::Here(MessageText::new(paste_of(id)))
        } else {
            Found::Nothing
        }
    }

    /// One page of what was said in a place after an id, oldest first.
    pub(crate) fn history(&self, place: u64, after: u64) -> Found<HistoryPage> {
        if self.access(place) == Access::NoHistory {
            return Found::Nothing;
        }
        let mut later = self
            .messages
            .values()
            .filter(|said| said.channel == place && said.id > after && said.deleted_ms.is_none());
        let said: Vec<_> = later.by_ref().take(self.page).map(Message::said).collect();
        let rest = if later.next().is_some() {
            Rest::More
        } else {
            Rest::Nothing
        };
        Found::Here(HistoryPage { said, rest })
    }

    /// The seat's own messages after the one that a delivery replies to.
    pub(crate) fn read_back(&self, place: u64, after: Option<u64>, since_ms: i64) -> ReadBack {
        if self.access(place) == Access::NoHistory {
            // Without the right, Discord shows an empty channel.
            return ReadBack {
                proof: Proof::Doubtful,
                own: Vec::new(),
            };
        }
        // Five seconds before the intent, since the seat's clock may be ahead of Discord's.
        let floor = u64::try_from(since_ms).unwrap_or(0).saturating_sub(5_000);
        let floor = floor.saturating_sub(DISCORD_EPOCH_MS) << 22;
        let after = after.unwrap_or(floor);
        let own = self
            .messages
            .values()
            .filter(|said| said.channel == place && said.id > after)
            .filter(|said| said.author == BOT && said.deleted_ms.is_none());
        let own = own.map(|said| OwnMessage {
            id: message(said.id),
            replies_to: said.replies_to.map(message),
            nonce: match self.history_nonce {
                HistoryNonce::Shown => said.wire,
                HistoryNonce::Hidden => None,
            },
            text: reply::digest_text(said.text()),
        });
        ReadBack {
            proof: Proof::Whole,
            own: own.collect(),
        }
    }

    /// The message of people's, or of the seat, that many back, deleted ones left out.
    pub(crate) fn back(&self, whose: Whose, back: u8) -> Option<u64> {
        self.messages
            .values()
            .rev()
            .filter(|said| said.deleted_ms.is_none())
            .filter(|said| (said.author == BOT) == (whose == Whose::Own))
            .map(|said| said.id)
            .nth(usize::from(back))
    }
}

/// Whose message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Whose {
    /// The seat's own.
    Own,
    /// Anybody else's.
    People,
}

fn text_of(id: u64, version: usize, shape: Shape) -> String {
    let head = format!("{PERSON_MARK} {id} version {version}.");
    match shape {
        Shape::Oversize => format!("{head} {}", "long ".repeat(100)),
        Shape::Plain | Shape::Mention | Shape::Paste | Shape::Pin | Shape::Elsewhere => head,
    }
}

fn file(id: u64) -> Enclosed {
    Enclosed::Attachment {
        name: MessageText::new("message.txt"),
        media: Some(MessageText::new("text/plain; charset=utf-8")),
        bytes: 4_000,
        url: Some(format!("https://cdn.example/{id}/message.txt")),
        text: None,
    }
}

/// What the text file of a message says.
pub(crate) fn paste_of(id: u64) -> String {
    format!("{PERSON_MARK} pasted {id}")
}
