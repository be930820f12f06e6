//! Threads and forum posts by REST.
//!
//! In: a bot's wish about threads. Out: the thread, or the refusal.
//! Never: a thread in a thread.

use serde_json::{Value, json};

use super::form::Form;
use super::write::Sender;
use super::{Answer, Caller, Outcome, Request};
use crate::clock::Moment;
use crate::error::ApiError;
use crate::id::Id;
use crate::model::{Archive, Channel, ChannelKind};
use crate::permission::Permissions;
use crate::view::channel::{merged, thread_member_json};
use crate::world::World;
use crate::world::threads::NewThread;

/// Allowed values of `auto_archive_duration`. Source: Discord API docs, Start Thread.
const ARCHIVE_MINUTES: [u32; 4] = [60, 1_440, 4_320, 10_080];
const NAME_MAX_CHARS: usize = 100;

impl World {
    /// A thread without a starter message, or a forum post with its first message.
    pub(super) fn create_thread(
        &mut self,
        now: Moment,
        parent: Id,
        request: &Request,
        caller: Caller,
    ) -> Outcome {
        let kind = self.visible(caller.bot, parent)?.kind;
        let mut form = Form::read(request)?;
        let name = form.required_text("name", 1, NAME_MAX_CHARS);
        let minutes = read_minutes(&mut form);
        match kind {
            ChannelKind::Forum => self.create_post(now, (parent, name, minutes), form, caller),
            ChannelKind::Text | ChannelKind::Announcement => {
                // Discord's default for a thread without a starter is a private one.
                let kind = match form.number("type") {
                    None | Some(12) => ChannelKind::PrivateThread,
                    Some(10) => ChannelKind::AnnouncementThread,
                    Some(11) => ChannelKind::PublicThread,
                    Some(_) => {
                        let text = "Value must be one of {10, 11, 12}.";
                        form.errors.add(&["type"], "BASE_TYPE_CHOICES", text);
                        ChannelKind::PrivateThread
                    }
                };
                form.finish()?;
                self.may_open(now, parent, kind, caller)?;
                let new = NewThread {
                    parent,
                    owner: caller.bot,
                    name,
                    kind,
                    auto_archive_minutes: minutes,
                    from: None,
                };
                let id = self.open_thread(now, new);
                self.thread_answer(id, caller)
            }
            ChannelKind::Dm
            | ChannelKind::Voice
            | ChannelKind::Category
            | ChannelKind::AnnouncementThread
            | ChannelKind::PublicThread
            | ChannelKind::PrivateThread => Err(ApiError::WRONG_CHANNEL_TYPE),
        }
    }

    fn may_open(
        &self,
        now: Moment,
        parent: Id,
        kind: ChannelKind,
        caller: Caller,
    ) -> Result<(), ApiError> {
        let wanted = if kind == ChannelKind::PrivateThread {
            Permissions::CREATE_PRIVATE_THREADS
        } else {
            Permissions::CREATE_PUBLIC_THREADS
        };
        self.allowed(caller.bot, parent, wanted, now)?;
        self.room_for_thread()
    }

    /// A post needs SEND_MESSAGES; its first message has the post's own id.
    fn create_post(
        &mut self,
        now: Moment,
        (parent, name, minutes): (Id, String, u32),
        mut form: Form,
        caller: Caller,
    ) -> Outcome {
        self.allowed(caller.bot, parent, Permissions::SEND_MESSAGES, now)?;
        self.room_for_thread()?;
        let message = form.get("message").cloned();
        if message.is_none() {
            form.errors
                .add(&["message"], "BASE_TYPE_REQUIRED", "This field is required");
        }
        form.finish()?;
        let mut inner = Form::of(
            &message.unwrap_or_default(),
            std::mem::take(&mut form.uploads),
        );
        let mut draft = self.draft(now, parent, caller.bot, &mut inner, Sender::Bot)?;
        let new = NewThread {
            parent,
            owner: caller.bot,
            name,
            kind: ChannelKind::PublicThread,
            auto_archive_minutes: minutes,
            from: None,
        };
        let id = self.open_thread(now, new);
        draft.id = Some(id);
        self.post(now, id, draft);
        let mut answer = self.thread_body(id, caller)?;
        if let Some(message) = self.message(id, id) {
            answer["message"] = self.message_json(message, self.rest_viewer(caller));
        }
        Ok(Answer::json(201, &answer))
    }

    pub(super) fn create_thread_from(
        &mut self,
        now: Moment,
        (parent, message): (Id, Id),
        request: &Request,
        caller: Caller,
    ) -> Outcome {
        let parent_kind = self.visible(caller.bot, parent)?.kind;
        let kind = if parent_kind == ChannelKind::Announcement {
            ChannelKind::AnnouncementThread
        } else if parent_kind == ChannelKind::Text {
            ChannelKind::PublicThread
        } else {
            return Err(ApiError::WRONG_CHANNEL_TYPE);
        };
        self.allowed(caller.bot, parent, Permissions::READ_MESSAGE_HISTORY, now)?;
        self.may_open(now, parent, kind, caller)?;
        self.public_message(parent, message)?;
        if self.channels.contains_key(&message) {
            return Err(ApiError::THREAD_EXISTS);
        }
        let mut form = Form::read(request)?;
        let name = form.required_text("name", 1, NAME_MAX_CHARS);
        let minutes = read_minutes(&mut form);
        form.finish()?;
        let new = NewThread {
            parent,
            owner: caller.bot,
            name,
            kind,
            auto_archive_minutes: minutes,
            from: Some(message),
        };
        let id = self.open_thread(now, new);
        self.thread_answer(id, caller)
    }

    fn thread_body(&self, id: Id, caller: Caller) -> Result<Value, ApiError> {
        let thread = self.channels.get(&id).ok_or(ApiError::UNKNOWN_CHANNEL)?;
        Ok(self.channel_json(thread, Some(caller.bot)))
    }

    fn thread_answer(&self, id: Id, caller: Caller) -> Outcome {
        Ok(Answer::json(201, &self.thread_body(id, caller)?))
    }

    pub(super) fn active_threads(&mut self, guild: Id, caller: Caller) -> Outcome {
        self.known_guild(guild)?;
        let threads = self.threads_where(caller, |_, archive| archive == Archive::Active);
        Ok(Answer::ok(&threads))
    }

    pub(super) fn archived_threads(&mut self, parent: Id, caller: Caller) -> Outcome {
        self.visible(caller.bot, parent)?;
        let threads = self.threads_where(caller, |channel, archive| {
            channel.parent == Some(parent) && archive == Archive::Archived
        });
        Ok(Answer::ok(&threads))
    }

    fn threads_where(&self, caller: Caller, wanted: impl Fn(&Channel, Archive) -> bool) -> Value {
        let found: Vec<&Channel> = self
            .channels
            .values()
            .filter(|channel| {
                channel
                    .thread
                    .as_ref()
                    .is_some_and(|thread| wanted(channel, thread.archive))
                    && self.can_see(caller.bot, channel.id)
            })
            .collect();
        let members: Vec<Value> = found
            .iter()
            .filter_map(|channel| {
                let joined = channel.thread.as_ref()?.members.get(&caller.bot)?;
                Some(thread_member_json(channel.id, caller.bot, *joined))
            })
            .collect();
        let threads: Vec<Value> = found
            .iter()
            .map(|channel| self.channel_json(channel, Some(caller.bot)))
            .collect();
        json!({ "threads": threads, "members": members, "has_more": false })
    }

    /// The thread, if the bot can see it and it is one.
    fn seen_thread(&self, channel: Id, caller: Caller) -> Result<&Channel, ApiError> {
        let found = self.visible(caller.bot, channel)?;
        if found.kind.is_thread() {
            Ok(found)
        } else {
            Err(ApiError::WRONG_CHANNEL_TYPE)
        }
    }

    pub(super) fn thread_members(&mut self, channel: Id, caller: Caller) -> Outcome {
        let found = self.seen_thread(channel, caller)?;
        let members = found.thread.iter().flat_map(|thread| &thread.members);
        let list: Vec<Value> = members
            .map(|(user, at)| thread_member_json(channel, *user, *at))
            .collect();
        Ok(Answer::ok(&Value::Array(list)))
    }

    pub(super) fn thread_member(&mut self, channel: Id, user: Id, caller: Caller) -> Outcome {
        let found = self.seen_thread(channel, caller)?;
        let joined = found
            .thread
            .as_ref()
            .and_then(|thread| thread.members.get(&user));
        let joined = joined.ok_or(ApiError::UNKNOWN_MEMBER)?;
        let member = thread_member_json(channel, user, *joined);
        let full = self.member_json(user).map(|full| json!({ "member": full }));
        Ok(Answer::ok(&merged(member, full.unwrap_or_default())))
    }

    pub(super) fn add_thread_member(
        &mut self,
        now: Moment,
        channel: Id,
        user: Id,
        caller: Caller,
    ) -> Outcome {
        self.seen_thread(channel, caller)?;
        self.not_archived(channel)?;
        if !self.members.contains_key(&user) {
            return Err(ApiError::UNKNOWN_MEMBER);
        }
        self.join_thread(now, channel, user);
        Ok(Answer::empty(204))
    }

    pub(super) fn remove_thread_member(
        &mut self,
        now: Moment,
        channel: Id,
        user: Id,
        caller: Caller,
    ) -> Outcome {
        self.seen_thread(channel, caller)?;
        self.not_archived(channel)?;
        if user != caller.bot {
            self.allowed(caller.bot, channel, Permissions::MANAGE_THREADS, now)?;
        }
        self.leave_thread(channel, user);
        Ok(Answer::empty(204))
    }
}

/// `auto_archive_duration`, three days when absent.
pub(super) fn read_minutes(form: &mut Form) -> u32 {
    let Some(wish) = form.number("auto_archive_duration") else {
        return 4_320;
    };
    let minutes = ARCHIVE_MINUTES
        .into_iter()
        .find(|known| u64::from(*known) == wish);
    minutes.unwrap_or_else(|| {
        let text = "Value must be one of {60, 1440, 4320, 10080}.";
        form.errors
            .add(&["auto_archive_duration"], "BASE_TYPE_CHOICES", text);
        4_320
    })
}
