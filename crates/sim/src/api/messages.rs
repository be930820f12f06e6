//! Messages by REST.
//!
//! In: a bot's wish about messages of one channel. Out: the message, the list, or the refusal.
//! Never: shows an ephemeral message in a history.

use serde_json::{Value, json};

use super::form::Form;
use super::write::Sender;
use super::{Answer, Caller, Outcome, Request};
use crate::clock::Moment;
use crate::error::ApiError;
use crate::id::Id;
use crate::model::{Message, message_kind};
use crate::permission::Permissions;
use crate::view::{Content, Viewer};
use crate::world::World;
use crate::world::post::{OLD_MESSAGE_MS, nonce_text};

/// Sizes of a page of history. Source: Discord API docs, Get Channel Messages.
const LIST_DEFAULT_COUNT: usize = 50;
const LIST_MAX_COUNT: usize = 100;
const HOUR_MS: u64 = 3_600_000;

impl World {
    /// How a bot sees messages by REST: by its portal switch, for there is no IDENTIFY here.
    pub(crate) fn rest_viewer(&self, caller: Caller) -> Viewer {
        let on = self.app(caller.app).portal.message_content.is_on();
        let content = if on { Content::Full } else { Content::Withheld };
        Viewer {
            user: caller.bot,
            content,
        }
    }

    pub(super) fn create_message(
        &mut self,
        now: Moment,
        channel: Id,
        request: &Request,
        caller: Caller,
    ) -> Outcome {
        self.may_write(caller.bot, channel, now)?;
        let mut form = Form::read(request)?;
        let draft = self.draft(now, channel, caller.bot, &mut form, Sender::Bot)?;
        let bits = self.permissions(caller.bot, channel, now);
        if !draft.uploads.is_empty() && !bits.contains(Permissions::ATTACH_FILES) {
            return Err(ApiError::MISSING_PERMISSIONS);
        }
        let nonce = draft.nonce.as_ref().and_then(nonce_text);
        let window = self.rules.nonce_window_ms;
        let earlier = nonce
            .filter(|_| form.is_true("enforce_nonce"))
            .and_then(|nonce| self.nonces.find(caller.bot, &nonce, now, window));
        let (channel, id) = match earlier {
            Some(made) => (made.channel, made.message),
            None => (channel, self.post(now, channel, draft)),
        };
        // A retry whose first message was deleted meanwhile fails, on purpose.
        let message = self.message(channel, id).ok_or(ApiError::UNKNOWN_MESSAGE)?;
        let mut body = self.message_json(message, self.rest_viewer(caller));
        if let Some(nonce) = &message.nonce {
            body["nonce"] = nonce.clone();
        }
        Ok(Answer::ok(&body))
    }

    pub(super) fn get_message(
        &mut self,
        now: Moment,
        channel: Id,
        id: Id,
        caller: Caller,
    ) -> Outcome {
        self.allowed(caller.bot, channel, Permissions::READ_MESSAGE_HISTORY, now)?;
        let message = self.public_message(channel, id)?;
        Ok(Answer::ok(
            &self.message_json(message, self.rest_viewer(caller)),
        ))
    }

    /// A message that is in the history.
    pub(crate) fn public_message(&self, channel: Id, id: Id) -> Result<&Message, ApiError> {
        let found = self
            .message(channel, id)
            .filter(|message| message.only_for.is_none());
        found.ok_or(ApiError::UNKNOWN_MESSAGE)
    }

    /// History, newest first. Without the permission to read it, it is empty and no error.
    pub(super) fn list_messages(
        &mut self,
        now: Moment,
        channel: Id,
        request: &Request,
        caller: Caller,
    ) -> Outcome {
        let found = self.visible(caller.bot, channel)?;
        if !found.kind.holds_messages() {
            return Err(ApiError::WRONG_CHANNEL_TYPE);
        }
        let limit = match request.query("limit").map(str::parse) {
            None => LIST_DEFAULT_COUNT,
            Some(Ok(limit)) if (1..=LIST_MAX_COUNT).contains(&limit) => limit,
            Some(_) => {
                let text = "int value should be between 1 and 100.";
                return Err(ApiError::form(&["limit"], "NUMBER_TYPE_MAX", text));
            }
        };
        let readable = self
            .permissions(caller.bot, channel, now)
            .contains(Permissions::READ_MESSAGE_HISTORY);
        let bound = |key: &str| request.query(key).and_then(|text| text.parse::<Id>().ok());
        let window = Window {
            after: bound("after"),
            before: bound("before"),
            around: bound("around"),
            limit,
        };
        let viewer = self.rest_viewer(caller);
        let page = if readable {
            self.window(channel, &window)
        } else {
            Vec::new()
        };
        let list: Vec<Value> = page.iter().map(|m| self.message_json(m, viewer)).collect();
        Ok(Answer::ok(&Value::Array(list)))
    }

    /// The messages of a window, newest first.
    fn window(&self, channel: Id, window: &Window) -> Vec<&Message> {
        let Some(kept) = self.messages.get(&channel) else {
            return Vec::new();
        };
        let limit = window.limit;
        let public = |message: &&Message| message.only_for.is_none();
        if let Some(around) = window.around {
            let newer = kept.range(around..).map(|(_, m)| m).filter(public);
            let mut page: Vec<_> = newer.take(limit.div_ceil(2)).collect();
            page.reverse();
            let older = kept.range(..around).rev().map(|(_, m)| m).filter(public);
            page.extend(older.take(limit - page.len()));
            return page;
        }
        if let Some(after) = window.after {
            let newer = kept.values().filter(public).filter(|m| m.id > after);
            let mut page: Vec<_> = newer.take(limit).collect();
            page.reverse();
            return page;
        }
        let older = kept.values().rev().filter(public);
        older
            .filter(|m| window.before.is_none_or(|before| m.id < before))
            .take(limit)
            .collect()
    }

    pub(super) fn edit_message(
        &mut self,
        now: Moment,
        channel: Id,
        id: Id,
        request: &Request,
        caller: Caller,
    ) -> Outcome {
        self.visible(caller.bot, channel)?;
        let message = self.public_message(channel, id)?;
        if message.author.id() != caller.bot {
            return Err(ApiError::NOT_AUTHOR);
        }
        self.not_archived(channel)?;
        let recent = message
            .old_edits
            .iter()
            .filter(|at| now.since(**at) < HOUR_MS)
            .count();
        let old = now.since(message.created) > OLD_MESSAGE_MS;
        if old && recent >= self.rules.old_edits_per_hour {
            return Err(ApiError::OLD_EDITS);
        }
        let mut form = Form::read(request)?;
        let change = self.edit_of(message, &mut form, Sender::Bot)?;
        self.change(now, channel, id, change);
        let message = self.message(channel, id).ok_or(ApiError::UNKNOWN_MESSAGE)?;
        Ok(Answer::ok(
            &self.message_json(message, self.rest_viewer(caller)),
        ))
    }

    pub(super) fn delete_message(
        &mut self,
        now: Moment,
        channel: Id,
        id: Id,
        caller: Caller,
    ) -> Outcome {
        self.visible(caller.bot, channel)?;
        let message = self.public_message(channel, id)?;
        let own = message.author.id() == caller.bot;
        if message.kind == message_kind::THREAD_STARTER {
            return Err(ApiError::SYSTEM_MESSAGE);
        }
        let manages = self
            .permissions(caller.bot, channel, now)
            .contains(Permissions::MANAGE_MESSAGES);
        if !own && !manages {
            return Err(ApiError::MISSING_PERMISSIONS);
        }
        self.not_archived(channel)?;
        self.delete(channel, id);
        Ok(Answer::empty(204))
    }

    pub(super) fn start_typing(&mut self, now: Moment, channel: Id, caller: Caller) -> Outcome {
        self.may_write(caller.bot, channel, now)?;
        self.type_in(now, channel, caller.bot);
        Ok(Answer::empty(204))
    }

    /// Opens the direct channel with a person, or gives the one there is.
    pub(super) fn open_direct_message(
        &mut self,
        now: Moment,
        request: &Request,
        caller: Caller,
    ) -> Outcome {
        let mut form = Form::read(request)?;
        if form.get("recipient_id").is_none() {
            let text = "This field is required";
            form.errors
                .add(&["recipient_id"], "BASE_TYPE_REQUIRED", text);
        }
        form.finish()?;
        let recipient = form.get("recipient_id").and_then(Id::of);
        let user = recipient.filter(|id| self.users.contains_key(id));
        let user = user.ok_or(ApiError::UNKNOWN_USER)?;
        if user == caller.bot || self.apps.iter().any(|app| app.bot == user) {
            return Err(ApiError::CANNOT_DM);
        }
        let channel = self.direct_channel(now, caller.bot, user);
        let found = self
            .channels
            .get(&channel)
            .ok_or(ApiError::UNKNOWN_CHANNEL)?;
        let body = self.channel_json(found, Some(caller.bot));
        Ok(Answer::ok(&body))
    }
}

/// Which part of a history is wanted; `around` wins over `after`, which wins over `before`.
struct Window {
    after: Option<Id>,
    before: Option<Id>,
    around: Option<Id>,
    limit: usize,
}

impl World {
    /// Where the gateway is, without a token.
    pub(super) fn gateway(&self) -> Outcome {
        Ok(Answer::ok(&json!({ "url": self.gateway_url() })))
    }

    /// Where the gateway is, and how many IDENTIFYs are left.
    pub(super) fn gateway_bot(&mut self, now: Moment, caller: Caller) -> Outcome {
        let used = self.identifies_used(now, caller.app);
        Ok(Answer::ok(&json!({
            "url": self.gateway_url(),
            "shards": 1,
            "session_start_limit": {
                "total": self.rules.identify_total,
                "remaining": self.rules.identify_total.saturating_sub(used),
                "reset_after": self.identify_reset_ms(now, caller.app),
                "max_concurrency": self.rules.max_concurrency,
            },
        })))
    }
}
