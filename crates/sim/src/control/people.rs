//! What people do: speak, change their minds, react, press buttons, open threads.
//!
//! In: a wish, with people and places by id or name. Out: what came of it.
//! Never: something that the person could not do on Discord, unless the wish says `force`.

use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::{Call, Done, Refused, channel_of, message_of, user_of};
use crate::clock::Moment;
use crate::error::ApiError;
use crate::id::Id;
use crate::model::{
    Archive, Author, ChannelKind, Emoji, Lock, Reference, ReferenceKind, message_kind,
};
use crate::permission::Permissions;
use crate::world::commands::Use;
use crate::world::post::Change;
use crate::world::threads::NewThread;
use crate::world::{Draft, Press, Upload, World};

/// Longest text that a person can send without a subscription.
const CONTENT_MAX_CHARS: usize = 2_000;

/// A file that a person attaches.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FileWish {
    filename: String,
    content_type: Option<String>,
    /// The text of the file.
    content: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Send {
    channel: String,
    author: String,
    #[serde(default)]
    content: String,
    reply_to: Option<String>,
    /// A message to forward, as `{channel, message}`.
    forward: Option<Spot>,
    #[serde(default)]
    files: Vec<FileWish>,
    /// Fields that are taken as they are, such as `type`, `poll` or `sticker_items`.
    #[serde(default)]
    raw: Map<String, Value>,
    /// Name of a webhook that speaks instead of the author.
    webhook: Option<String>,
    /// Whether the person's permissions are left out of account.
    #[serde(default)]
    force: bool,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Spot {
    channel: String,
    message: String,
}

pub(super) fn send(world: &mut World, now: Moment, call: &Call) -> Done {
    let wish: Send = call.read()?;
    let channel = channel_of(world, &wish.channel)?;
    let author = user_of(world, &wish.author)?;
    if !wish.force {
        world.may_write(author, channel, now)?;
    }
    if wish.content.chars().count() > CONTENT_MAX_CHARS {
        return Err(Refused::new(400, "content is longer than 2000 code points"));
    }
    let mut draft = Draft::text(Author::User(author), wish.content.trim());
    if let Some(name) = wish.webhook {
        draft.author = Author::Webhook {
            id: world.ids.next(now),
            name,
        };
    }
    if let Some(target) = &wish.reply_to {
        reply_to(world, channel, message_of(target)?, &mut draft)?;
    }
    if let Some(spot) = &wish.forward {
        forward(world, spot, &mut draft)?;
    }
    draft.uploads = wish.files.into_iter().map(upload).collect();
    let kind = wish.raw.get("type").and_then(Value::as_u64);
    draft.kind = kind
        .and_then(|kind| u8::try_from(kind).ok())
        .unwrap_or(draft.kind);
    draft.flags |= wish.raw.get("flags").and_then(Value::as_u64).unwrap_or(0);
    draft.extra.extend(
        wish.raw
            .into_iter()
            .filter(|(key, _)| key != "type" && key != "flags"),
    );
    if draft.content.is_empty()
        && draft.uploads.is_empty()
        && draft.extra.is_empty()
        && message_kind::TALK.contains(&draft.kind)
    {
        return Err(ApiError::EMPTY_MESSAGE.into());
    }
    let id = world.post(now, channel, draft);
    Ok(shown(world, channel, id))
}

fn upload(file: FileWish) -> Upload {
    Upload {
        filename: file.filename,
        content_type: file
            .content_type
            .or_else(|| Some("text/plain; charset=utf-8".to_owned())),
        description: None,
        bytes: file.content.into_bytes(),
    }
}

fn reply_to(world: &World, channel: Id, target: Id, draft: &mut Draft) -> Result<(), Refused> {
    world
        .message(channel, target)
        .ok_or(ApiError::UNKNOWN_MESSAGE)?;
    let kind = ReferenceKind::Default;
    draft.reference = Some(Reference {
        kind,
        channel,
        message: Some(target),
    });
    draft.kind = message_kind::REPLY;
    Ok(())
}

fn forward(world: &World, spot: &Spot, draft: &mut Draft) -> Result<(), Refused> {
    let channel = channel_of(world, &spot.channel)?;
    let id = message_of(&spot.message)?;
    let source = world
        .message(channel, id)
        .ok_or(ApiError::UNKNOWN_MESSAGE)?;
    let snapshot = crate::api::write::snapshot(source);
    draft
        .extra
        .insert("message_snapshots".to_owned(), json!([snapshot]));
    let kind = ReferenceKind::Forward;
    draft.reference = Some(Reference {
        kind,
        channel,
        message: Some(id),
    });
    Ok(())
}

fn shown(world: &World, channel: Id, id: Id) -> Value {
    world
        .message(channel, id)
        .map_or(Value::Null, |message| world.page_message_json(message))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Edit {
    channel: String,
    message: String,
    content: String,
}

pub(super) fn edit(world: &mut World, now: Moment, call: &Call) -> Done {
    let wish: Edit = call.read()?;
    let channel = channel_of(world, &wish.channel)?;
    let id = message_of(&wish.message)?;
    world
        .message(channel, id)
        .ok_or(ApiError::UNKNOWN_MESSAGE)?;
    let content = Some(wish.content.trim().to_owned());
    world.change(
        now,
        channel,
        id,
        Change {
            content,
            ..Change::default()
        },
    );
    Ok(shown(world, channel, id))
}

pub(super) fn delete(world: &mut World, call: &Call) -> Done {
    let wish: Spot = call.read()?;
    let channel = channel_of(world, &wish.channel)?;
    let gone = world.delete(channel, message_of(&wish.message)?);
    gone.ok_or(ApiError::UNKNOWN_MESSAGE)?;
    Ok(json!({}))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct React {
    channel: String,
    message: String,
    user: String,
    emoji: String,
}

impl React {
    fn resolve(&self, world: &World) -> Result<(Id, Id, Id, Emoji), Refused> {
        let emoji = Emoji::parse(&self.emoji).ok_or(ApiError::UNKNOWN_EMOJI)?;
        let channel = channel_of(world, &self.channel)?;
        Ok((
            channel,
            message_of(&self.message)?,
            user_of(world, &self.user)?,
            emoji,
        ))
    }
}

pub(super) fn react(world: &mut World, now: Moment, call: &Call) -> Done {
    let (channel, message, user, emoji) = call.read::<React>()?.resolve(world)?;
    world.may_react(now, (channel, message), &emoji, user)?;
    world.react(channel, message, user, &emoji);
    Ok(shown(world, channel, message))
}

pub(super) fn unreact(world: &mut World, call: &Call) -> Done {
    let (channel, message, user, emoji) = call.read::<React>()?.resolve(world)?;
    world.unreact(channel, message, user, &emoji);
    Ok(shown(world, channel, message))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PressWish {
    channel: String,
    message: String,
    user: String,
    custom_id: String,
    values: Option<Vec<String>>,
}

pub(super) fn press(world: &mut World, now: Moment, call: &Call) -> Done {
    let wish: PressWish = call.read()?;
    let press = Press {
        user: user_of(world, &wish.user)?,
        channel: channel_of(world, &wish.channel)?,
        message: message_of(&wish.message)?,
        custom_id: wish.custom_id,
        values: wish.values,
    };
    Ok(json!({ "interaction": world.press(now, &press)? }))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct CommandWish {
    channel: String,
    user: String,
    name: String,
    #[serde(default)]
    options: Map<String, Value>,
}

pub(super) fn command(world: &mut World, now: Moment, call: &Call) -> Done {
    let wish: CommandWish = call.read()?;
    let wish = Use {
        user: user_of(world, &wish.user)?,
        channel: channel_of(world, &wish.channel)?,
        name: wish.name,
        options: wish.options,
    };
    Ok(json!({ "interaction": world.use_command(now, &wish)? }))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct UserSpot {
    channel: String,
    user: String,
}

pub(super) fn typing(world: &mut World, now: Moment, call: &Call) -> Done {
    let wish: UserSpot = call.read()?;
    let channel = channel_of(world, &wish.channel)?;
    let user = user_of(world, &wish.user)?;
    world.may_write(user, channel, now)?;
    world.type_in(now, channel, user);
    Ok(json!({}))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Open {
    channel: String,
    user: String,
    name: String,
    /// The message that the thread grows from.
    message: Option<String>,
    /// The first message; a forum post must have one.
    content: Option<String>,
    #[serde(default)]
    private: bool,
}

pub(super) fn open_thread(world: &mut World, now: Moment, call: &Call) -> Done {
    let wish: Open = call.read()?;
    let parent = channel_of(world, &wish.channel)?;
    let owner = user_of(world, &wish.user)?;
    let length = wish.name.trim().chars().count();
    if !(1..=100).contains(&length) {
        return Err(Refused::new(400, "a name has 1 to 100 code points"));
    }
    let forum = world.channels.get(&parent).map(|c| c.kind) == Some(ChannelKind::Forum);
    if forum
        && wish
            .content
            .as_deref()
            .is_none_or(|text| text.trim().is_empty())
    {
        return Err(Refused::new(400, "a post needs content"));
    }
    let needed = match (forum, wish.private) {
        (true, _) => Permissions::SEND_MESSAGES,
        (false, true) => Permissions::CREATE_PRIVATE_THREADS,
        (false, false) => Permissions::CREATE_PUBLIC_THREADS,
    };
    world.allowed(owner, parent, needed, now)?;
    world.room_for_thread()?;
    let from = wish.message.as_deref().map(message_of).transpose()?;
    if let Some(from) = from {
        world.public_message(parent, from)?;
        if world.channels.contains_key(&from) {
            return Err(ApiError::THREAD_EXISTS.into());
        }
    }
    let kind = if wish.private {
        ChannelKind::PrivateThread
    } else {
        ChannelKind::PublicThread
    };
    let id = world.open_thread(
        now,
        NewThread {
            parent,
            owner,
            name: wish.name.trim().to_owned(),
            kind,
            auto_archive_minutes: 4_320,
            from,
        },
    );
    if let Some(content) = wish.content {
        // The first message of a forum post has the post's id.
        let draft = Draft::text(Author::User(owner), content.trim());
        world.post(
            now,
            id,
            Draft {
                id: forum.then_some(id),
                ..draft
            },
        );
    }
    Ok(json!({ "id": id }))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ThreadChange {
    thread: String,
    archived: Option<bool>,
    locked: Option<bool>,
    /// Somebody to add.
    add: Option<String>,
    /// Somebody to remove.
    remove: Option<String>,
}

pub(super) fn change_thread(world: &mut World, now: Moment, call: &Call) -> Done {
    let wish: ThreadChange = call.read()?;
    let thread = channel_of(world, &wish.thread)?;
    if let Some(user) = &wish.add {
        let user = user_of(world, user)?;
        world.join_thread(now, thread, user);
    }
    if let Some(user) = &wish.remove {
        let user = user_of(world, user)?;
        world.leave_thread(thread, user);
    }
    if let Some(locked) = wish.locked {
        world.set_lock(thread, if locked { Lock::Locked } else { Lock::Open });
    }
    if let Some(archived) = wish.archived {
        let archive = if archived {
            Archive::Archived
        } else {
            Archive::Active
        };
        world.set_archive(now, thread, archive);
    }
    Ok(json!({}))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ThreadOnly {
    thread: String,
}

pub(super) fn delete_thread(world: &mut World, call: &Call) -> Done {
    let wish: ThreadOnly = call.read()?;
    let thread = channel_of(world, &wish.thread)?;
    if !world
        .channels
        .get(&thread)
        .is_some_and(|channel| channel.kind.is_thread())
    {
        return Err(Refused::new(400, "this is no thread"));
    }
    world.delete_thread(thread);
    Ok(json!({}))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Direct {
    user: String,
    bot: Option<String>,
}

/// Opens the direct channel of a person and a bot.
pub(super) fn direct(world: &mut World, now: Moment, call: &Call) -> Done {
    let wish: Direct = call.read()?;
    let user = user_of(world, &wish.user)?;
    let bot = match &wish.bot {
        Some(bot) => user_of(world, bot)?,
        None => world.apps[0].bot,
    };
    Ok(json!({ "id": world.direct_channel(now, bot, user) }))
}
