//! Threads that begin, are joined, are archived and are locked.
//!
//! In: a checked wish. Out: the changed thread and its events.
//! Never: a second thread on one message.

use serde_json::json;

use crate::clock::Moment;
use crate::id::Id;
use crate::model::{
    Archive, Author, Channel, ChannelKind, Lock, Reference, ReferenceKind, UserKind, message_flag,
    message_kind,
};
use crate::view::channel::{merged, thread_member_json};
use crate::world::build::new_thread;
use crate::world::dispatch::{Audience, intent};
use crate::world::{Draft, World};

/// A thread that is about to be.
#[derive(Clone, Debug)]
pub(crate) struct NewThread {
    pub(crate) parent: Id,
    pub(crate) owner: Id,
    pub(crate) name: String,
    pub(crate) kind: ChannelKind,
    pub(crate) auto_archive_minutes: u32,
    /// The message that it grows from, whose id it takes.
    pub(crate) from: Option<Id>,
}

impl World {
    /// Opens a thread and tells everybody. Gives its id.
    pub(crate) fn open_thread(&mut self, now: Moment, new: NewThread) -> Id {
        let id = new.from.unwrap_or_else(|| self.ids.next(now));
        let mut thread = new_thread(new.owner, now);
        thread.auto_archive_minutes = new.auto_archive_minutes;
        thread.members.insert(new.owner, now);
        let channel = Channel {
            id,
            kind: new.kind,
            name: new.name.clone(),
            topic: None,
            parent: Some(new.parent),
            position: 0,
            overwrites: Vec::new(),
            last_message: None,
            recipients: Vec::new(),
            thread: Some(thread),
        };
        self.channels.insert(id, channel);
        self.announce_thread("THREAD_CREATE", id, json!({ "newly_created": true }));
        if let Some(message) = new.from {
            self.attach_thread(now, &new, message);
        } else if self.channels.get(&new.parent).map(|c| c.kind) == Some(ChannelKind::Text)
            && new.kind == ChannelKind::PublicThread
        {
            let reference = Reference {
                kind: ReferenceKind::Default,
                channel: id,
                message: None,
            };
            self.post(
                now,
                new.parent,
                Draft {
                    kind: message_kind::THREAD_CREATED,
                    reference: Some(reference),
                    ..Draft::text(Author::User(new.owner), &new.name)
                },
            );
        }
        id
    }

    /// Marks the message that the thread grew from, and puts the pointer into the thread.
    fn attach_thread(&mut self, now: Moment, new: &NewThread, message: Id) {
        if let Some(starter) = self.message_mut(new.parent, message) {
            starter.thread = Some(message);
            starter.flags |= message_flag::HAS_THREAD;
        }
        self.announce("MESSAGE_UPDATE", new.parent, message);
        let reference = Reference {
            kind: ReferenceKind::Default,
            channel: new.parent,
            message: Some(message),
        };
        self.post(
            now,
            message,
            Draft {
                kind: message_kind::THREAD_STARTER,
                reference: Some(reference),
                ..Draft::text(Author::User(new.owner), "")
            },
        );
    }

    fn announce_thread(&mut self, name: &'static str, id: Id, extra: serde_json::Value) {
        self.dispatch(
            name,
            intent::GUILDS,
            Audience::Channel(id),
            |world, viewer| {
                let thread = world.channels.get(&id);
                let json = thread.map(|thread| world.channel_json(thread, Some(viewer.user)));
                merged(json.unwrap_or_default(), extra.clone())
            },
        );
        self.tell_page_of_channel(id);
    }

    /// Makes `user` a member of a thread; nothing happens when it is one, or this is no thread.
    pub(crate) fn join_thread(&mut self, now: Moment, channel: Id, user: Id) {
        let thread = self
            .channels
            .get_mut(&channel)
            .and_then(|c| c.thread.as_mut());
        let Some(thread) = thread else { return };
        if !self.users.contains_key(&user) || thread.members.contains_key(&user) {
            return;
        }
        thread.members.insert(user, now);
        let count = thread.members.len();
        let is_bot = self
            .users
            .get(&user)
            .is_some_and(|user| user.kind == UserKind::Bot);
        if is_bot {
            // A bot that is added learns of the thread; it is no new one.
            self.dispatch(
                "THREAD_CREATE",
                intent::GUILDS,
                Audience::Bot(user),
                |world, viewer| {
                    let thread = world.channels.get(&channel);
                    thread.map_or_else(Default::default, |t| {
                        world.channel_json(t, Some(viewer.user))
                    })
                },
            );
        }
        let member = self.members_update_json(now, channel, user, count);
        self.dispatch(
            "THREAD_MEMBERS_UPDATE",
            intent::GUILD_MEMBERS,
            Audience::Channel(channel),
            |_, _| member.clone(),
        );
        self.tell_page_of_channel(channel);
    }

    fn members_update_json(
        &self,
        now: Moment,
        thread: Id,
        user: Id,
        count: usize,
    ) -> serde_json::Value {
        let mut member = thread_member_json(thread, user, now);
        if let Some(full) = self.member_json(user) {
            member["member"] = full;
            member["presence"] = serde_json::Value::Null;
        }
        json!({
            "id": thread, "guild_id": self.guild.id, "member_count": count.min(50),
            "added_members": [member],
        })
    }

    /// Takes `user` out of a thread.
    pub(crate) fn leave_thread(&mut self, channel: Id, user: Id) {
        let thread = self
            .channels
            .get_mut(&channel)
            .and_then(|c| c.thread.as_mut());
        let Some(thread) = thread else { return };
        if thread.members.remove(&user).is_none() {
            return;
        }
        let data = json!({
            "id": channel, "guild_id": self.guild.id, "member_count": thread.members.len().min(50),
            "removed_member_ids": [user],
        });
        self.dispatch(
            "THREAD_MEMBERS_UPDATE",
            intent::GUILD_MEMBERS,
            Audience::Channel(channel),
            |_, _| data.clone(),
        );
        self.tell_page_of_channel(channel);
    }

    /// Archives a thread or opens it again, and tells everybody.
    pub(crate) fn set_archive(&mut self, now: Moment, channel: Id, archive: Archive) {
        let thread = self
            .channels
            .get_mut(&channel)
            .and_then(|c| c.thread.as_mut());
        let Some(thread) = thread else { return };
        if thread.archive == archive {
            return;
        }
        thread.archive = archive;
        thread.archive_changed = now;
        self.thread_changed(channel);
    }

    /// Locks a thread or unlocks it, and tells everybody.
    pub(crate) fn set_lock(&mut self, channel: Id, lock: Lock) {
        let thread = self
            .channels
            .get_mut(&channel)
            .and_then(|c| c.thread.as_mut());
        let Some(thread) = thread else { return };
        if thread.lock != lock {
            thread.lock = lock;
            self.thread_changed(channel);
        }
    }

    /// Tells everybody how a thread is now; its members get their membership, too.
    pub(crate) fn thread_changed(&mut self, channel: Id) {
        self.announce_thread("THREAD_UPDATE", channel, json!({}));
        let members: Vec<(Id, Moment)> = self
            .channels
            .get(&channel)
            .and_then(|c| c.thread.as_ref())
            .map(|thread| thread.members.iter().map(|(id, at)| (*id, *at)).collect())
            .unwrap_or_default();
        let guild = self.guild.id;
        for (user, joined) in members {
            self.dispatch(
                "THREAD_MEMBER_UPDATE",
                intent::GUILDS,
                Audience::Bot(user),
                |_, _| {
                    merged(
                        thread_member_json(channel, user, joined),
                        json!({ "guild_id": guild }),
                    )
                },
            );
        }
    }

    /// Removes a thread with all its messages, and tells everybody.
    pub(crate) fn delete_thread(&mut self, channel: Id) {
        let Some(found) = self.channels.get(&channel) else {
            return;
        };
        let data = json!({
            "id": channel, "guild_id": self.guild.id, "parent_id": found.parent,
            "type": found.kind as u8,
        });
        let audience = Audience::Channel(channel);
        self.dispatch("THREAD_DELETE", intent::GUILDS, audience, |_, _| {
            data.clone()
        });
        self.channels.remove(&channel);
        self.messages.remove(&channel);
        self.tell_page(&json!({ "type": "channel_gone", "id": channel }));
    }
}
