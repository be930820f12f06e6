//! Messages, as one viewer gets to see them.

use serde_json::{Value, json};

use crate::id::Id;
use crate::model::{
    Attachment, Author, Emoji, Everyone, Message, Pinned, Reaction, Reference, message_flag,
};
use crate::world::World;

/// For whom a message is rendered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Viewer {
    pub(crate) user: Id,
    pub(crate) content: Content,
}

/// Whether the viewer has the message content intent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Content {
    /// Everything is filled in.
    Full,
    /// The content fields come empty, unless the viewer wrote it, is mentioned or is in a DM.
    Withheld,
}

impl World {
    /// A message without what only the gateway adds.
    pub(crate) fn message_json(&self, message: &Message, viewer: Viewer) -> Value {
        let mut json = self.basic_message_json(message, viewer);
        let Some(map) = json.as_object_mut() else {
            return json;
        };
        if let Some(Reference {
            message: Some(target),
            channel,
            ..
        }) = message.reference
            && message.kind != crate::model::message_kind::DEFAULT
        {
            let target = self.message(channel, target);
            let target = target.map(|target| self.basic_message_json(target, viewer));
            map.insert(
                "referenced_message".to_owned(),
                target.unwrap_or(Value::Null),
            );
        }
        if !message.reactions.is_empty() {
            let reactions = message
                .reactions
                .iter()
                .map(|r| reaction_json(r, viewer.user));
            map.insert("reactions".to_owned(), reactions.collect());
        }
        json
    }

    fn basic_message_json(&self, message: &Message, viewer: Viewer) -> Value {
        let withheld = self.is_withheld(message, viewer);
        let mut json = json!({
            "id": message.id,
            "channel_id": message.channel,
            "type": message.kind,
            "author": self.author_json(&message.author),
            "content": if withheld { "" } else { &message.content },
            "timestamp": message.created.to_string(),
            "edited_timestamp": message.edited.map(|at| at.to_string()),
            "tts": false,
            "mention_everyone": message.mentions.everyone == Everyone::Pinged,
            "mentions":
                message.mentions.users.iter().map(|&id| self.user_json(id)).collect::<Vec<_>>(),
            "mention_roles": message.mentions.roles,
            "attachments": if withheld { json!([]) } else { self.attachments_json(message) },
            "embeds": if withheld { &[][..] } else { &message.embeds[..] },
            "components": if withheld { &[][..] } else { &message.components[..] },
            "pinned": message.pinned == Pinned::Yes,
            "flags": message.flags,
        });
        if let Some(map) = json.as_object_mut() {
            for (key, value) in &message.extra {
                if !(withheld && (key == "poll" || key == "message_snapshots")) {
                    map.insert(key.clone(), value.clone());
                }
            }
            if let Some(reference) = &message.reference {
                map.insert(
                    "message_reference".to_owned(),
                    self.reference_json(reference),
                );
            }
            match (&message.author, message.application) {
                (Author::Webhook { id, .. }, _) => {
                    map.insert("webhook_id".to_owned(), json!(id));
                }
                (Author::User(_), Some(application)) => {
                    map.insert("webhook_id".to_owned(), json!(application));
                    map.insert("application_id".to_owned(), json!(application));
                }
                (Author::User(_), None) => {}
            }
            if let Some(thread) = message.thread.and_then(|id| self.channels.get(&id)) {
                map.insert(
                    "thread".to_owned(),
                    self.channel_json(thread, Some(viewer.user)),
                );
            }
        }
        json
    }

    /// A message as MESSAGE_CREATE and MESSAGE_UPDATE carry it.
    pub(crate) fn message_event_json(&self, message: &Message, viewer: Viewer) -> Value {
        let mut json = self.message_json(message, viewer);
        let Some(channel) = self.channels.get(&message.channel) else {
            return json;
        };
        let mentions: Vec<Value> = message
            .mentions
            .users
            .iter()
            .map(|&user| {
                let mut json = self.user_json(user);
                if let (Some(map), Some(member)) =
                    (json.as_object_mut(), self.partial_member_json(user))
                {
                    map.insert("member".to_owned(), member);
                }
                json
            })
            .collect();
        if let Some(map) = json.as_object_mut() {
            map.insert("channel_type".to_owned(), json!(channel.kind as u8));
            map.insert("mentions".to_owned(), Value::Array(mentions));
            // Ephemeral messages and direct ones carry no guild.
            if channel.recipients.is_empty() && message.flags & message_flag::EPHEMERAL == 0 {
                map.insert("guild_id".to_owned(), json!(self.guild.id));
                if let (Author::User(user), None) = (&message.author, message.application)
                    && let Some(member) = self.partial_member_json(*user)
                {
                    map.insert("member".to_owned(), member);
                }
            }
            if let Some(nonce) = &message.nonce {
                map.insert("nonce".to_owned(), nonce.clone());
            }
        }
        json
    }

    fn is_withheld(&self, message: &Message, viewer: Viewer) -> bool {
        let direct = self
            .channels
            .get(&message.channel)
            .is_some_and(|c| !c.recipients.is_empty());
        viewer.content == Content::Withheld
            && message.author.id() != viewer.user
            && !message.mentions.users.contains(&viewer.user)
            && !direct
    }

    fn author_json(&self, author: &Author) -> Value {
        match author {
            Author::User(id) => self.user_json(*id),
            Author::Webhook { id, name } => json!({
                "id": id, "username": name, "discriminator": "0000", "global_name": null,
                "avatar": null, "public_flags": 0, "flags": 0, "primary_guild": null, "bot": true,
            }),
        }
    }

    fn reference_json(&self, reference: &Reference) -> Value {
        let mut json = json!({ "type": reference.kind as u8, "channel_id": reference.channel });
        if let Some(map) = json.as_object_mut() {
            if let Some(message) = reference.message {
                map.insert("message_id".to_owned(), json!(message));
            }
            if self
                .channels
                .get(&reference.channel)
                .is_none_or(|c| c.recipients.is_empty())
            {
                map.insert("guild_id".to_owned(), json!(self.guild.id));
            }
        }
        json
    }

    fn attachments_json(&self, message: &Message) -> Value {
        message
            .attachments
            .iter()
            .map(|file| self.attachment_json(message.channel, file))
            .collect()
    }

    fn attachment_json(&self, channel: Id, file: &Attachment) -> Value {
        let name: String = file
            .filename
            .chars()
            .map(|c| {
                if c.is_ascii_alphanumeric() || "._-".contains(c) {
                    c
                } else {
                    '_'
                }
            })
            .collect();
        let url = format!("{}/attachments/{channel}/{}/{name}", self.origin, file.id);
        let mut json = json!({
            "id": file.id, "filename": file.filename, "size": file.size,
            "url": url, "proxy_url": url,
        });
        if let Some(map) = json.as_object_mut() {
            for (key, value) in [
                ("content_type", &file.content_type),
                ("description", &file.description),
            ] {
                if let Some(value) = value {
                    map.insert(key.to_owned(), json!(value));
                }
            }
        }
        json
    }
}

fn reaction_json(reaction: &Reaction, viewer: Id) -> Value {
    json!({
        "emoji": emoji_json(&reaction.emoji),
        "count": reaction.users.len(),
        "count_details": { "burst": 0, "normal": reaction.users.len() },
        "burst_colors": [],
        "me_burst": false,
        "me": reaction.users.contains(&viewer),
        "burst_me": false,
        "burst_count": 0,
    })
}

/// An emoji as reactions carry it.
pub(crate) fn emoji_json(emoji: &Emoji) -> Value {
    match emoji {
        Emoji::Unicode(name) => json!({ "id": null, "name": name }),
        Emoji::Custom { id, name } => json!({ "id": id, "name": name }),
    }
}
