//! New, changed and deleted messages, whoever asks for them.
//!
//! In: a checked draft. Out: the stored message, its dispatches, and word to the page.
//! Never: checks a permission or a limit; that was done by whoever made the draft.

mod mention;

use serde_json::{Map, Value, json};

use crate::clock::Moment;
use crate::id::Id;
use crate::model::{
    Archive, Attachment, Author, Message, Pinned, Reaction, Reference, message_kind,
};
use crate::world::World;
use crate::world::dispatch::{Audience, intent};
use crate::world::store::StoredFile;

pub(crate) use mention::{Allowed, AllowedMentions, ReplyPing};

/// A file that comes with a draft.
#[derive(Clone, Debug)]
pub(crate) struct Upload {
    pub(crate) filename: String,
    pub(crate) content_type: Option<String>,
    pub(crate) description: Option<String>,
    pub(crate) bytes: Vec<u8>,
}

/// A message that is about to be.
#[derive(Clone, Debug)]
pub(crate) struct Draft {
    /// An id that is already settled, such as that of a forum post.
    pub(crate) id: Option<Id>,
    pub(crate) author: Author,
    pub(crate) kind: u8,
    pub(crate) content: String,
    pub(crate) flags: u64,
    pub(crate) reference: Option<Reference>,
    pub(crate) nonce: Option<Value>,
    pub(crate) components: Vec<Value>,
    pub(crate) embeds: Vec<Value>,
    pub(crate) uploads: Vec<Upload>,
    pub(crate) extra: Map<String, Value>,
    pub(crate) application: Option<Id>,
    pub(crate) only_for: Option<Id>,
    pub(crate) allowed_mentions: AllowedMentions,
}

impl Draft {
    /// Plain talk.
    pub(crate) fn text(author: Author, content: &str) -> Self {
        Self {
            id: None,
            author,
            kind: message_kind::DEFAULT,
            content: content.to_owned(),
            flags: 0,
            reference: None,
            nonce: None,
            components: Vec::new(),
            embeds: Vec::new(),
            uploads: Vec::new(),
            extra: Map::new(),
            application: None,
            only_for: None,
            allowed_mentions: AllowedMentions::default(),
        }
    }
}

/// What an edit changes; what is absent stays.
#[derive(Clone, Debug, Default)]
pub(crate) struct Change {
    pub(crate) content: Option<String>,
    pub(crate) flags: Option<u64>,
    pub(crate) components: Option<Vec<Value>>,
    pub(crate) embeds: Option<Vec<Value>>,
    /// Ids of the attachments that stay.
    pub(crate) keep_attachments: Option<Vec<Id>>,
    pub(crate) uploads: Vec<Upload>,
    /// Absent means Discord's defaults, on an edit too.
    pub(crate) allowed_mentions: AllowedMentions,
}

impl World {
    /// Stores `draft` in `channel` and tells everybody. Gives the id of the new message.
    pub(crate) fn post(&mut self, now: Moment, channel: Id, draft: Draft) -> Id {
        self.wake_thread(now, channel);
        if draft.only_for.is_none() {
            self.join_thread(now, channel, draft.author.id());
        }
        let id = draft.id.unwrap_or_else(|| self.ids.next(now));
        let mentions = self.mentions(&draft, channel, now);
        let attachments = draft
            .uploads
            .into_iter()
            .map(|upload| self.keep_file(now, upload))
            .collect();
        let nonce = draft.nonce;
        let author = draft.author.id();
        let message = Message {
            id,
            channel,
            author: draft.author,
            kind: draft.kind,
            content: draft.content,
            created: now,
            edited: None,
            flags: draft.flags,
            mentions,
            reference: draft.reference,
            nonce: nonce.clone(),
            reactions: Vec::new(),
            components: draft.components,
            embeds: draft.embeds,
            attachments,
            extra: draft.extra,
            application: draft.application,
            only_for: draft.only_for,
            thread: None,
            pinned: Pinned::No,
            old_edits: Vec::new(),
        };
        // An ephemeral message is part of no history, so it counts for no thread.
        if message.only_for.is_none() {
            self.count_in_thread(channel, id);
        }
        self.store(message);
        if let Some(nonce) = nonce.as_ref().and_then(nonce_text) {
            self.nonces.remember(author, nonce, channel, id, now);
        }
        self.announce("MESSAGE_CREATE", channel, id);
        id
    }

    /// The first message of a forum post has the post's id and is not counted.
    fn count_in_thread(&mut self, channel: Id, message: Id) {
        if let Some(thread) = self
            .channels
            .get_mut(&channel)
            .and_then(|c| c.thread.as_mut())
            && channel != message
        {
            thread.messages = thread.messages.saturating_add(1);
            thread.total_sent = thread.total_sent.saturating_add(1);
        }
    }

    fn keep_file(&mut self, now: Moment, upload: Upload) -> Attachment {
        let id = self.ids.next(now);
        let size = upload.bytes.len();
        let content_type = upload
            .content_type
            .clone()
            .unwrap_or_else(|| "application/octet-stream".to_owned());
        self.files.add(
            id,
            StoredFile {
                content_type,
                bytes: upload.bytes,
            },
        );
        Attachment {
            id,
            filename: upload.filename,
            content_type: upload.content_type,
            description: upload.description,
            size,
        }
    }

    /// Changes a stored message and tells everybody.
    pub(crate) fn change(&mut self, now: Moment, channel: Id, id: Id, change: Change) {
        let uploads: Vec<_> = change
            .uploads
            .into_iter()
            .map(|upload| self.keep_file(now, upload))
            .collect();
        let Some(message) = self.message_mut(channel, id) else {
            return;
        };
        message.edited = Some(now);
        if now.since(message.created) > OLD_MESSAGE_MS {
            message.old_edits.push(now);
        }
        if let Some(content) = change.content {
            message.content = content;
        }
        if let Some(flags) = change.flags {
            message.flags = flags;
        }
        if let Some(components) = change.components {
            message.components = components;
        }
        if let Some(embeds) = change.embeds {
            message.embeds = embeds;
        }
        if let Some(keep) = change.keep_attachments {
            message.attachments.retain(|file| keep.contains(&file.id));
        }
        message.attachments.extend(uploads);
        let changed = message.clone();
        let mentions = self.mentions_of(&changed, &change.allowed_mentions, now);
        if let Some(message) = self.message_mut(channel, id) {
            message.mentions = mentions;
        }
        self.announce("MESSAGE_UPDATE", channel, id);
    }

    /// Takes a message away and tells everybody. Says whether it was there.
    pub(crate) fn delete(&mut self, channel: Id, id: Id) -> Option<Message> {
        let gone = self.messages.get_mut(&channel)?.remove(&id)?;
        if let Some(thread) = self
            .channels
            .get_mut(&channel)
            .and_then(|c| c.thread.as_mut())
            && gone.only_for.is_none()
        {
            thread.messages = thread.messages.saturating_sub(1);
        }
        let data = json!({ "id": id, "channel_id": channel, "guild_id": self.guild_of(channel) });
        if gone.only_for.is_none() {
            let wanted = self.message_intent(channel);
            self.dispatch(
                "MESSAGE_DELETE",
                wanted,
                Audience::Channel(channel),
                |_, _| data.clone(),
            );
        }
        self.tell_page(&json!({ "type": "delete", "channel": channel, "id": id }));
        Some(gone)
    }

    /// Sends a message event to the bots and to the page.
    pub(crate) fn announce(&mut self, name: &'static str, channel: Id, id: Id) {
        let Some(message) = self.message(channel, id).cloned() else {
            return;
        };
        // An ephemeral message goes to the one person only, and that is never a bot here.
        if message.only_for.is_none() {
            let wanted = self.message_intent(channel);
            self.dispatch(name, wanted, Audience::Channel(channel), |world, viewer| {
                world.message_event_json(&message, viewer)
            });
        }
        let event = json!({ "type": "message", "message": self.page_message_json(&message) });
        self.tell_page(&event);
    }

    /// Adds a reaction. Says whether it is new.
    pub(crate) fn react(
        &mut self,
        channel: Id,
        message: Id,
        user: Id,
        emoji: &crate::model::Emoji,
    ) {
        let Some(found) = self.message_mut(channel, message) else {
            return;
        };
        let new = match found.reactions.iter_mut().find(|r| &r.emoji == emoji) {
            Some(reaction) => reaction.users.insert(user),
            None => {
                let users = [user].into_iter().collect();
                found.reactions.push(Reaction {
                    emoji: emoji.clone(),
                    users,
                });
                true
            }
        };
        if new {
            self.announce_reaction("MESSAGE_REACTION_ADD", channel, message, user, emoji);
        }
    }

    /// Takes a reaction back; nothing happens when it was not there.
    pub(crate) fn unreact(
        &mut self,
        channel: Id,
        message: Id,
        user: Id,
        emoji: &crate::model::Emoji,
    ) {
        let Some(found) = self.message_mut(channel, message) else {
            return;
        };
        let Some(reaction) = found.reactions.iter_mut().find(|r| &r.emoji == emoji) else {
            return;
        };
        if reaction.users.remove(&user) {
            found
                .reactions
                .retain(|reaction| !reaction.users.is_empty());
            self.announce_reaction("MESSAGE_REACTION_REMOVE", channel, message, user, emoji);
        }
    }

    fn announce_reaction(
        &mut self,
        name: &'static str,
        channel: Id,
        message: Id,
        user: Id,
        emoji: &crate::model::Emoji,
    ) {
        let data = self.reaction_event_json(channel, message, user, emoji, name);
        let wanted = match self.guild_of(channel) {
            Some(_) => intent::GUILD_MESSAGE_REACTIONS,
            None => intent::DIRECT_MESSAGE_REACTIONS,
        };
        self.dispatch(name, wanted, Audience::Channel(channel), |_, _| {
            data.clone()
        });
        if let Some(message) = self.message(channel, message) {
            let event = json!({ "type": "message", "message": self.page_message_json(message) });
            self.tell_page(&event);
        }
    }

    /// Shows `user` as typing; it lasts ten seconds (Discord API docs, Typing Start).
    pub(crate) fn type_in(&mut self, now: Moment, channel: Id, user: Id) {
        let data = self.typing_event_json(now, channel, user);
        let wanted = match self.guild_of(channel) {
            Some(_) => intent::GUILD_MESSAGE_TYPING,
            None => intent::DIRECT_MESSAGE_TYPING,
        };
        self.dispatch(
            "TYPING_START",
            wanted,
            Audience::Channel(channel),
            |_, _| data.clone(),
        );
        self.tell_page(&json!({ "type": "typing", "channel": channel, "user": user }));
    }

    /// A new message in an archived thread opens it again.
    fn wake_thread(&mut self, now: Moment, channel: Id) {
        let thread = self.channels.get(&channel).and_then(|c| c.thread.as_ref());
        if thread.is_some_and(|thread| thread.archive == Archive::Archived) {
            self.set_archive(now, channel, Archive::Active);
        }
    }
}

/// Age above which edits have their own limit. Source: Discord API docs, code 30046.
pub(crate) const OLD_MESSAGE_MS: u64 = 3_600_000;

/// A nonce as a text, which is how strings and integers are compared.
pub(crate) fn nonce_text(nonce: &Value) -> Option<String> {
    match nonce {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => None,
    }
}
