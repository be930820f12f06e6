//! Events on their way to the bots.
//!
//! In: an event, which intents ask for it, and where it happened. Out: numbered frames for every
//! session that may have it, kept for a replay.
//! Never: an event of a channel that the bot cannot see; content without the content intent.

use std::collections::HashMap;
use std::sync::Arc;

use serde_json::{Value, json};

use crate::clock::Moment;
use crate::id::Id;
use crate::model::Emoji;
use crate::view::{Content, Viewer};
use crate::world::World;
use crate::world::session::SessionKey;

/// Gateway intents. Source: Discord API docs, Gateway, List of Intents.
pub(crate) mod intent {
    pub(crate) const GUILDS: u64 = 1 << 0;
    pub(crate) const GUILD_MEMBERS: u64 = 1 << 1;
    pub(crate) const GUILD_PRESENCES: u64 = 1 << 8;
    pub(crate) const GUILD_MESSAGES: u64 = 1 << 9;
    pub(crate) const GUILD_MESSAGE_REACTIONS: u64 = 1 << 10;
    pub(crate) const GUILD_MESSAGE_TYPING: u64 = 1 << 11;
    pub(crate) const DIRECT_MESSAGES: u64 = 1 << 12;
    pub(crate) const DIRECT_MESSAGE_REACTIONS: u64 = 1 << 13;
    pub(crate) const DIRECT_MESSAGE_TYPING: u64 = 1 << 14;
    pub(crate) const MESSAGE_CONTENT: u64 = 1 << 15;
    /// No intent is asked for.
    pub(crate) const NONE: u64 = 0;
    /// Every bit that means something: 0 to 16, 20, 21, 24 and 25.
    pub(crate) const KNOWN: u64 = 0x1_ffff | 1 << 20 | 1 << 21 | 1 << 24 | 1 << 25;
}

/// Whom an event is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Audience {
    /// Every bot that can see the channel.
    Channel(Id),
    /// Every bot of the guild.
    Guild,
    /// One bot user.
    Bot(Id),
}

impl World {
    /// Sends an event to every session that may have it.
    pub(crate) fn dispatch(
        &mut self,
        name: &'static str,
        wanted: u64,
        audience: Audience,
        render: impl Fn(&Self, Viewer) -> Value,
    ) {
        let mut rendered: HashMap<Viewer, Option<Arc<str>>> = HashMap::new();
        for key in self.sessions.keys() {
            let Some(viewer) = self.listener(key, wanted) else {
                continue;
            };
            let data = rendered.entry(viewer).or_insert_with(|| {
                let reached = match audience {
                    Audience::Channel(channel) => self.can_see(viewer.user, channel),
                    Audience::Guild => true,
                    Audience::Bot(bot) => bot == viewer.user,
                };
                reached.then(|| render(self, viewer).to_string().into())
            });
            if let Some(data) = data.clone() {
                self.push(key, name, data);
            }
        }
    }

    /// How a session sees events, if it asked for any of the intents `wanted`.
    fn listener(&self, key: SessionKey, wanted: u64) -> Option<Viewer> {
        let session = self.sessions.get(key)?;
        let asked = wanted == intent::NONE || session.intents & wanted != 0;
        let content = match session.intents & intent::MESSAGE_CONTENT {
            0 => Content::Withheld,
            _ => Content::Full,
        };
        asked.then(|| Viewer {
            user: self.app(session.app).bot,
            content,
        })
    }

    /// The intent that message events of `channel` need.
    pub(crate) fn message_intent(&self, channel: Id) -> u64 {
        match self.guild_of(channel) {
            Some(_) => intent::GUILD_MESSAGES,
            None => intent::DIRECT_MESSAGES,
        }
    }

    /// The guild that `channel` belongs to; none for a direct message.
    pub(crate) fn guild_of(&self, channel: Id) -> Option<Id> {
        let direct = self
            .channels
            .get(&channel)
            .is_some_and(|c| !c.recipients.is_empty());
        (!direct).then_some(self.guild.id)
    }

    pub(crate) fn reaction_event_json(
        &self,
        channel: Id,
        message: Id,
        user: Id,
        emoji: &Emoji,
        name: &str,
    ) -> Value {
        let mut json = json!({
            "user_id": user,
            "channel_id": channel,
            "message_id": message,
            "emoji": crate::view::message::emoji_json(emoji),
            "burst": false,
            "type": 0,
        });
        let author = self
            .message(channel, message)
            .map(|message| message.author.id());
        if let Some(map) = json.as_object_mut() {
            if let Some(guild) = self.guild_of(channel) {
                map.insert("guild_id".to_owned(), json!(guild));
            }
            if name == "MESSAGE_REACTION_ADD" {
                map.insert("message_author_id".to_owned(), json!(author));
                if let Some(member) = self.member_json(user) {
                    map.insert("member".to_owned(), member);
                }
            }
        }
        json
    }

    pub(crate) fn typing_event_json(&self, now: Moment, channel: Id, user: Id) -> Value {
        let mut json = json!({
            "channel_id": channel, "user_id": user, "timestamp": now.as_ms() / 1_000,
        });
        if let (Some(guild), Some(map)) = (self.guild_of(channel), json.as_object_mut()) {
            map.insert("guild_id".to_owned(), json!(guild));
            if let Some(member) = self.member_json(user) {
                map.insert("member".to_owned(), member);
            }
        }
        json
    }
}
