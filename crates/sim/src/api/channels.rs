//! Channels by REST.
//!
//! In: a bot's wish about one channel. Out: the channel, or the refusal.
//! Never: creates a channel; scenarios do.

use serde_json::Value;

use super::form::Form;
use super::threads::read_minutes;
use super::{Answer, Caller, Outcome, Request};
use crate::clock::Moment;
use crate::error::ApiError;
use crate::id::Id;
use crate::model::{Archive, Channel, ChannelKind, Lock, Thread};
use crate::permission::Permissions;
use crate::world::World;
use crate::world::dispatch::{Audience, intent};

const NAME_MAX_CHARS: usize = 100;
const TOPIC_MAX_CHARS: usize = 1_024;

impl World {
    pub(super) fn get_channel(&mut self, channel: Id, caller: Caller) -> Outcome {
        let found = self.visible(caller.bot, channel)?;
        Ok(Answer::ok(&self.channel_json(found, Some(caller.bot))))
    }

    pub(super) fn change_channel(
        &mut self,
        now: Moment,
        channel: Id,
        request: &Request,
        caller: Caller,
    ) -> Outcome {
        let kind = self.visible(caller.bot, channel)?.kind;
        let mut form = Form::read(request)?;
        if kind.is_thread() {
            self.change_thread(now, channel, &mut form, caller)?;
        } else {
            self.allowed(caller.bot, channel, Permissions::MANAGE_CHANNELS, now)?;
            let name = form.text("name", 1, NAME_MAX_CHARS);
            let topic = form
                .has("topic")
                .then(|| form.text("topic", 0, TOPIC_MAX_CHARS));
            form.finish()?;
            self.rename(channel, name, topic);
        }
        let found = self
            .channels
            .get(&channel)
            .ok_or(ApiError::UNKNOWN_CHANNEL)?;
        Ok(Answer::ok(&self.channel_json(found, Some(caller.bot))))
    }

    /// Changes what a text channel is called and tells everybody.
    pub(crate) fn rename(
        &mut self,
        channel: Id,
        name: Option<String>,
        topic: Option<Option<String>>,
    ) {
        let Some(found) = self.channels.get_mut(&channel) else {
            return;
        };
        if let Some(name) = name {
            found.name = name;
        }
        if let Some(topic) = topic {
            found.topic = topic;
        }
        self.dispatch(
            "CHANNEL_UPDATE",
            intent::GUILDS,
            Audience::Channel(channel),
            |world, v| {
                let found = world.channels.get(&channel);
                found.map_or(Value::Null, |found| world.channel_json(found, Some(v.user)))
            },
        );
        self.tell_page_of_channel(channel);
    }

    /// The owner may rename and archive; everything else needs MANAGE_THREADS.
    fn change_thread(
        &mut self,
        now: Moment,
        channel: Id,
        form: &mut Form,
        caller: Caller,
    ) -> Result<(), ApiError> {
        let wish = ThreadWish::read(form)?;
        let thread = self.channels.get(&channel).and_then(|c| c.thread.as_ref());
        let thread = thread.ok_or(ApiError::UNKNOWN_CHANNEL)?;
        let manages = self
            .permissions(caller.bot, channel, now)
            .contains(Permissions::MANAGE_THREADS);
        let owns = thread.owner == caller.bot;
        // Anybody who can write in a thread may open it again while it is not locked.
        let wakes = wish.archive == Some(Archive::Active) && wish.only_archive();
        let may = manages
            || (owns && thread.lock == Lock::Open && wish.lock.is_none())
            || (wakes
                && thread.lock == Lock::Open
                && self.may_write(caller.bot, channel, now).is_ok());
        if !may {
            return Err(ApiError::MISSING_PERMISSIONS);
        }
        let wakes = wish.archive == Some(Archive::Active);
        if thread.archive == Archive::Archived && !wakes {
            return Err(ApiError::ARCHIVED);
        }
        if let Some(found) = self.channels.get_mut(&channel) {
            wish.apply(now, found);
        }
        self.thread_changed(channel);
        Ok(())
    }

    pub(super) fn remove_channel(&mut self, now: Moment, channel: Id, caller: Caller) -> Outcome {
        let found = self.visible(caller.bot, channel)?;
        if !found.kind.is_thread() {
            return Err(ApiError::MISSING_PERMISSIONS);
        }
        let body = self.channel_json(found, Some(caller.bot));
        self.allowed(caller.bot, channel, Permissions::MANAGE_THREADS, now)?;
        self.delete_thread(channel);
        Ok(Answer::ok(&body))
    }

    /// The direct channel of two people, which is made when there is none.
    pub(crate) fn direct_channel(&mut self, now: Moment, one: Id, other: Id) -> Id {
        let found = self.channels.values().find(|channel| {
            channel.recipients.contains(&one) && channel.recipients.contains(&other)
        });
        if let Some(found) = found {
            return found.id;
        }
        let id = self.ids.next(now);
        let channel = Channel {
            id,
            kind: ChannelKind::Dm,
            name: String::new(),
            topic: None,
            parent: None,
            position: 0,
            overwrites: Vec::new(),
            last_message: None,
            recipients: vec![one, other],
            thread: None,
        };
        self.channels.insert(id, channel);
        self.dispatch(
            "CHANNEL_CREATE",
            intent::DIRECT_MESSAGES,
            Audience::Channel(id),
            |world, v| {
                let found = world.channels.get(&id);
                found.map_or(Value::Null, |found| world.channel_json(found, Some(v.user)))
            },
        );
        self.tell_page_of_channel(id);
        id
    }
}

/// What a PATCH wants of a thread.
struct ThreadWish {
    name: Option<String>,
    archive: Option<Archive>,
    lock: Option<Lock>,
    minutes: Option<u32>,
}

impl ThreadWish {
    fn read(form: &mut Form) -> Result<Self, ApiError> {
        let name = form.text("name", 1, NAME_MAX_CHARS);
        let archive =
            form.get("archived")
                .and_then(Value::as_bool)
                .map(|archived| match archived {
                    true => Archive::Archived,
                    false => Archive::Active,
                });
        let lock = form
            .get("locked")
            .and_then(Value::as_bool)
            .map(|locked| match locked {
                true => Lock::Locked,
                false => Lock::Open,
            });
        let minutes = form
            .get("auto_archive_duration")
            .is_some()
            .then(|| read_minutes(form));
        form.finish()?;
        Ok(Self {
            name,
            archive,
            lock,
            minutes,
        })
    }

    fn only_archive(&self) -> bool {
        self.name.is_none() && self.lock.is_none() && self.minutes.is_none()
    }

    fn apply(self, now: Moment, channel: &mut Channel) {
        if let Some(name) = self.name {
            channel.name = name;
        }
        let Some(thread) = &mut channel.thread else {
            return;
        };
        if let Some(lock) = self.lock {
            thread.lock = lock;
        }
        if let Some(minutes) = self.minutes {
            thread.auto_archive_minutes = minutes;
        }
        set_archive(thread, self.archive, now);
    }
}

fn set_archive(thread: &mut Thread, archive: Option<Archive>, now: Moment) {
    if let Some(archive) = archive.filter(|archive| *archive != thread.archive) {
        thread.archive = archive;
        thread.archive_changed = now;
    }
}
