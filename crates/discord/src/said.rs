//! Messages: from Discord's wire to our words.
//!
//! In: a message object, from the gateway or from REST. Out: what was said, by whom, and what was
//! enclosed, each thing named. Never: a lost message over a field that we do not need, a guess at
//! who wrote it, an address of a file outside Discord's own hosts.

use crate::{
    address::Reach,
    attachment,
    wire::{
        Field,
        objects::{
            Attachment, Deletion, Member, Message, Poll, PollAnswer, PollMedia, Reference,
            Snapshot, Sticker, User,
        },
    },
};
use guildhall_authority::event::{
    Author, AuthorKind, Deleted, Enclosed, Mentioned, MessageText, Said, SaidKind,
};
use guildhall_binding::ids::{ChannelId, GuildId, MessageId, UserId};
use std::borrow::Cow;

/// Kind number of a plain message. Source: Discord API reference, "Message Types".
const KIND_PLAIN: u64 = 0;
/// Kind number of a reply.
const KIND_REPLY: u64 = 19;
/// Kind number of a reference that is a forward; a reply has 0 or none.
const REFERENCE_FORWARD: u64 = 1;
/// Things enclosed in one message that are named; Discord itself allows ten attachments.
const ENCLOSED_COUNT: usize = 32;
/// Answers of a poll that are named. Source: Discord API reference, "Poll".
const POLL_ANSWER_COUNT: usize = 10;

/// How messages are looked at.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Lens {
    /// Whose mention counts.
    pub(crate) bot: UserId,
    /// Where files may lie beside Discord's own hosts: on loopback with a stand-in.
    pub(crate) reach: Reach,
}

/// A message with the nonce that its sender gave it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Heard {
    /// The message.
    pub said: Said,
    /// The nonce; only the bot's own messages are ever looked up by it.
    pub nonce: Option<String>,
}

/// Reads a message; `None` where its id, channel or author is not there.
pub(crate) fn heard(message: &Message<'_>, guild: Option<GuildId>, lens: Lens) -> Option<Heard> {
    let author: User<'_> = message.author.object().unwrap_or_default();
    let reference: Reference<'_> = message.message_reference.object().unwrap_or_default();
    let forward = reference.kind.number() == Some(REFERENCE_FORWARD);
    let kind = kind(message.kind);
    let said = Said {
        id: message.id.id()?,
        channel: message.channel_id.id()?,
        guild: message.guild_id.id().or(guild),
        author: Author {
            id: author.id.id()?,
            kind: author_kind(message, &author),
            name: name(message.member.object().as_ref(), &author),
        },
        kind,
        text: text(message.content),
        mentions_bot: mentions(message.mentions, lens.bot),
        enclosed: enclosed(message, lens),
        replies_to: reference
            .message_id
            .id()
            .filter(|_| !forward && kind == SaidKind::Reply),
    };
    let nonce = message.nonce.text().map(Cow::into_owned);
    // A number is an honest nonce as well.
    let nonce = nonce.or_else(|| message.nonce.number().map(|n| n.to_string()));
    Some(Heard { said, nonce })
}

/// Whether an update can be an edit by a person: embeds that were unfurled, pins and flags come as
/// updates too, and those say that nothing was edited.
pub(crate) fn is_edit(message: &Message<'_>) -> bool {
    message.content.is_there() && message.author.is_there() && !message.edited_timestamp.is_null()
}

/// Reads a deletion of one message or of many.
pub(crate) fn deleted(deletion: &Deletion<'_>) -> Vec<Deleted> {
    let Some(channel) = deletion.channel_id.id::<ChannelId>() else {
        return Vec::new();
    };
    let one: Option<MessageId> = deletion.id.id();
    let ids = one.into_iter().chain(deletion.ids.ids());
    ids.map(|id| Deleted { id, channel }).collect()
}

fn kind(field: Field<'_>) -> SaidKind {
    match field.number() {
        Some(KIND_PLAIN) => SaidKind::Plain,
        Some(KIND_REPLY) => SaidKind::Reply,
        Some(other) => SaidKind::Other(other),
        None if field.is_there() => SaidKind::Other(u64::MAX),
        None => SaidKind::Plain,
    }
}

fn author_kind(message: &Message<'_>, author: &User<'_>) -> AuthorKind {
    if message.webhook_id.is_there() {
        AuthorKind::Webhook
    } else if author.system.is_true() {
        AuthorKind::System
    } else if author.bot.is_true() {
        AuthorKind::Bot
    } else {
        AuthorKind::Person
    }
}

/// The name that the server shows.
pub(crate) fn name(member: Option<&Member<'_>>, author: &User<'_>) -> MessageText {
    let nick = member.and_then(|member| member.nick.filled_text());
    let name = nick
        .or_else(|| author.global_name.filled_text())
        .or_else(|| author.username.filled_text());
    MessageText::new(name.unwrap_or_default())
}

fn text(field: Field<'_>) -> MessageText {
    MessageText::new(field.text().unwrap_or_default())
}

fn mentions(field: Field<'_>, bot: UserId) -> Mentioned {
    let users = field.objects::<User<'_>>();
    if users.iter().any(|user| user.id.id() == Some(bot)) {
        Mentioned::Yes
    } else {
        Mentioned::No
    }
}

fn enclosed(message: &Message<'_>, lens: Lens) -> Vec<Enclosed> {
    let mut all = Vec::new();
    if let Some(quoted) = message.referenced_message.object::<Message<'_>>() {
        let author: User<'_> = quoted.author.object().unwrap_or_default();
        all.push(Enclosed::Quoted {
            author: name(quoted.member.object().as_ref(), &author),
            text: quoted_text(&quoted, lens),
        });
    }
    for snapshot in message.message_snapshots.objects::<Snapshot<'_>>() {
        if let Some(forwarded) = snapshot.message.object::<Message<'_>>() {
            all.push(Enclosed::Forwarded {
                text: text(forwarded.content),
            });
            beside_the_text(&forwarded, lens, &mut all);
        }
    }
    beside_the_text(message, lens, &mut all);
    all.truncate(ENCLOSED_COUNT);
    all
}

/// What a quoted message says, after the names of what stands beside its text: it has the files of
/// another message, which are named and never read.
fn quoted_text(quoted: &Message<'_>, lens: Lens) -> MessageText {
    let mut beside = Vec::new();
    beside_the_text(quoted, lens, &mut beside);
    let mut lines: Vec<String> = beside
        .iter()
        .take(ENCLOSED_COUNT)
        .filter_map(named)
        .collect();
    let text = quoted.content.text().unwrap_or_default();
    if !text.is_empty() || lines.is_empty() {
        lines.push(text.into_owned());
    }
    MessageText::new(lines.join("\n"))
}

/// One line for what stands beside the text of a quoted message.
fn named(one: &Enclosed) -> Option<String> {
    match one {
        Enclosed::Attachment { name, bytes, .. } => {
            let name = name.as_str();
            Some(format!("(attached: \"{name}\", {bytes} bytes; not read)"))
        }
        Enclosed::Sticker { name } => Some(format!("(sticker: \"{}\")", name.as_str())),
        Enclosed::Poll { question, .. } => Some(format!("(poll: \"{}\")", question.as_str())),
        Enclosed::Quoted { .. } | Enclosed::Forwarded { .. } => None,
    }
}

fn beside_the_text(message: &Message<'_>, lens: Lens, all: &mut Vec<Enclosed>) {
    for file in message.attachments.objects::<Attachment<'_>>() {
        let url = file.url.text().map(Cow::into_owned);
        all.push(Enclosed::Attachment {
            name: text(file.filename),
            media: file.content_type.filled_text().map(MessageText::new),
            bytes: file.size.number().unwrap_or(0),
            url: url.filter(|url| attachment::place(url, lens.reach).is_some()),
            text: None,
        });
    }
    for sticker in message.sticker_items.objects::<Sticker<'_>>() {
        all.push(Enclosed::Sticker {
            name: text(sticker.name),
        });
    }
    if let Some(poll) = message.poll.object::<Poll<'_>>() {
        let media = |field: Field<'_>| {
            let media: PollMedia<'_> = field.object().unwrap_or_default();
            text(media.text)
        };
        let answers = poll.answers.objects::<PollAnswer<'_>>();
        all.push(Enclosed::Poll {
            question: media(poll.question),
            answers: answers
                .iter()
                .take(POLL_ANSWER_COUNT)
                .map(|answer| media(answer.poll_media))
                .collect(),
        });
    }
}

#[cfg(test)]
mod tests;
