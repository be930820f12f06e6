//! Answers to interactions, and what follows them.
//!
//! In: the token in the path, which is the only credential. Out: messages and edits.
//! Never: a second answer, a late one, a follow-up after the token's life.

use serde_json::{Value, json};

use super::form::Form;
use super::route::FollowUp;
use super::write::Sender;
use super::{Answer, Outcome, Request};
use crate::clock::Moment;
use crate::error::ApiError;
use crate::id::Id;
use crate::model::{Message, message_flag, message_kind};
use crate::view::{Content, Viewer};
use crate::world::interactions::{APPLICATION_COMMAND, Answered};
use crate::world::post::Change;
use crate::world::{AppIndex, World};

/// Callback types. Source: Discord API docs, Interaction Callback Type.
mod callback {
    pub(super) const MESSAGE: u64 = 4;
    pub(super) const DEFERRED_MESSAGE: u64 = 5;
    pub(super) const DEFERRED_UPDATE: u64 = 6;
    pub(super) const UPDATE: u64 = 7;
    pub(super) const MODAL: u64 = 9;
}

/// What an answer needs to know of its interaction.
#[derive(Clone, Copy)]
struct Known {
    app: AppIndex,
    user: Id,
    channel: Id,
    /// The message with the button; a command has none.
    source: Option<Id>,
    id: Id,
}

impl Known {
    /// The interaction's type: a command has no message, a component always has one.
    fn kind(self) -> u8 {
        if self.source.is_some() {
            3
        } else {
            APPLICATION_COMMAND
        }
    }
}

impl World {
    pub(super) fn callback(
        &mut self,
        now: Moment,
        (id, token): (Id, &str),
        request: &Request,
    ) -> Outcome {
        let limit = self.rules.interaction_answer_ms;
        let found = self
            .interactions
            .get_mut(id)
            .filter(|one| one.token == token);
        let found = found.ok_or(ApiError::UNKNOWN_INTERACTION)?;
        match found.answer {
            Answered::With(_) => return Err(ApiError::ALREADY_ANSWERED),
            Answered::Failed => return Err(ApiError::UNKNOWN_INTERACTION),
            Answered::Waiting if now.since(found.created) >= limit => {
                return Err(ApiError::UNKNOWN_INTERACTION);
            }
            Answered::Waiting => {}
        }
        let known = Known {
            app: found.app,
            user: found.user,
            channel: found.channel,
            source: found.source,
            id,
        };
        let mut form = Form::read(request)?;
        let kind = form.number("type").unwrap_or(0);
        form.finish()?;
        let data = form.get("data").cloned().unwrap_or_default();
        let message = self.answer_interaction(now, known, kind, &data, form)?;
        if let Some(found) = self.interactions.get_mut(id) {
            found.answer = Answered::With(u8::try_from(kind).unwrap_or(u8::MAX));
            found.original = message.or(match kind {
                callback::UPDATE | callback::DEFERRED_UPDATE => known.source,
                _ => None,
            });
        }
        self.tell_page(&json!({ "type": "interaction_answered", "id": id, "user": known.user }));
        let wants_body = matches!(request.query("with_response"), Some("1" | "true" | "True"));
        if !wants_body {
            return Ok(Answer::empty(204));
        }
        Ok(Answer::ok(&self.callback_json(known, kind, message)))
    }

    /// Does what the answer asks. Gives the new message, if there is one.
    fn answer_interaction(
        &mut self,
        now: Moment,
        known: Known,
        kind: u64,
        data: &Value,
        mut form: Form,
    ) -> Result<Option<Id>, ApiError> {
        let mut inner = Form::of(data, std::mem::take(&mut form.uploads));
        match kind {
            callback::MESSAGE => self.interaction_message(now, known, &mut inner).map(Some),
            callback::DEFERRED_MESSAGE => {
                let flags = inner.number("flags").unwrap_or(0) & message_flag::EPHEMERAL;
                let mut draft = crate::world::Draft::text(
                    crate::model::Author::User(self.app(known.app).bot),
                    "",
                );
                draft.flags = flags | message_flag::LOADING;
                draft.application = Some(self.app(known.app).id);
                draft.only_for = (flags != 0).then_some(known.user);
                Ok(Some(self.post(now, known.channel, draft)))
            }
            callback::UPDATE | callback::DEFERRED_UPDATE if known.source.is_none() => {
                let text = "Interaction has no message to update.";
                Err(ApiError::form(
                    &["type"],
                    "INTERACTION_CALLBACK_INVALID",
                    text,
                ))
            }
            callback::UPDATE => {
                let id = known.source.ok_or(ApiError::UNKNOWN_MESSAGE)?;
                let source = self
                    .message(known.channel, id)
                    .ok_or(ApiError::UNKNOWN_MESSAGE)?;
                let change = self.edit_of(source, &mut inner, Sender::Interaction)?;
                self.change(now, known.channel, id, change);
                Ok(None)
            }
            callback::DEFERRED_UPDATE => Ok(None),
            callback::MODAL => {
                let event = json!({ "type": "modal", "user": known.user, "data": data });
                self.tell_page(&event);
                Ok(None)
            }
            _ => {
                let text = "Value must be one of {4, 5, 6, 7, 9}.";
                Err(ApiError::form(&["type"], "BASE_TYPE_CHOICES", text))
            }
        }
    }

    fn interaction_message(
        &mut self,
        now: Moment,
        known: Known,
        form: &mut Form,
    ) -> Result<Id, ApiError> {
        let app = self.app(known.app);
        let (bot, application) = (app.bot, app.id);
        let mut draft = self.draft(now, known.channel, bot, form, Sender::Interaction)?;
        draft.nonce = None;
        if known.source.is_none() {
            draft.kind = message_kind::COMMAND;
        }
        draft.application = Some(application);
        draft.only_for = (draft.flags & message_flag::EPHEMERAL != 0).then_some(known.user);
        draft
            .extra
            .insert("interaction_metadata".to_owned(), self.metadata_json(known));
        Ok(self.post(now, known.channel, draft))
    }

    fn metadata_json(&self, known: Known) -> Value {
        let mut json = json!({
            "id": known.id, "type": known.kind(), "user": self.user_json(known.user),
            "authorizing_integration_owners": { "0": self.guild.id },
        });
        if let Some(source) = known.source {
            json["interacted_message_id"] = json!(source);
        }
        json
    }

    fn callback_json(&self, known: Known, kind: u64, message: Option<Id>) -> Value {
        let mut body = json!({ "interaction": {
            "id": known.id, "type": known.kind(), "channel_id": known.channel,
            "guild_id": self.guild_of(known.channel),
        } });
        if let Some(map) = body["interaction"].as_object_mut() {
            map.retain(|_, value| !value.is_null());
            if let Some(id) = message {
                map.insert("response_message_id".to_owned(), json!(id));
            }
            if kind == callback::DEFERRED_MESSAGE {
                map.insert("response_message_loading".to_owned(), json!(true));
            }
        }
        let shown = match kind {
            callback::UPDATE => known.source,
            _ => message,
        };
        if let Some(message) = shown.and_then(|id| self.message(known.channel, id)) {
            let viewer = self.app_viewer(known.app);
            body["resource"] =
                json!({ "type": kind, "message": self.message_json(message, viewer) });
        }
        body
    }

    fn app_viewer(&self, app: AppIndex) -> Viewer {
        Viewer {
            user: self.app(app).bot,
            content: Content::Full,
        }
    }

    fn known(&self, now: Moment, application: Id, token: &str) -> Result<Known, ApiError> {
        let found = self.interaction_by_token(now, application, token)?;
        Ok(Known {
            app: found.app,
            user: found.user,
            channel: found.channel,
            source: found.source,
            id: found.id,
        })
    }

    /// A follow-up. The first one after a deferred answer takes the place of the spinner.
    pub(super) fn follow_up(
        &mut self,
        now: Moment,
        (application, token): (Id, &str),
        request: &Request,
    ) -> Outcome {
        let known = self.known(now, application, token)?;
        let answered = self
            .interactions
            .get_mut(known.id)
            .map(|one| (one.answer, one.original));
        let Some((Answered::With(_), original)) = answered else {
            return Err(ApiError::UNKNOWN_WEBHOOK);
        };
        let mut form = Form::read(request)?;
        let spinner = original.filter(|id| {
            let message = self.message(known.channel, *id);
            message.is_some_and(|message| message.flags & message_flag::LOADING != 0)
        });
        let id = match spinner {
            Some(id) => {
                self.fill_spinner(now, known, id, &mut form)?;
                id
            }
            None => self.interaction_message(now, known, &mut form)?,
        };
        let message = self
            .message(known.channel, id)
            .ok_or(ApiError::UNKNOWN_MESSAGE)?;
        Ok(Answer::ok(
            &self.message_json(message, self.app_viewer(known.app)),
        ))
    }

    fn fill_spinner(
        &mut self,
        now: Moment,
        known: Known,
        id: Id,
        form: &mut Form,
    ) -> Result<(), ApiError> {
        let message = self
            .message(known.channel, id)
            .ok_or(ApiError::UNKNOWN_MESSAGE)?;
        let flags = message.flags & !message_flag::LOADING;
        let change = self.edit_of(message, form, Sender::Interaction)?;
        let flags = change
            .flags
            .map_or(flags, |wanted| wanted & !message_flag::LOADING);
        self.change(
            now,
            known.channel,
            id,
            Change {
                flags: Some(flags),
                ..change
            },
        );
        Ok(())
    }

    fn follow_up_message(
        &self,
        now: Moment,
        (application, token): (Id, &str),
        which: FollowUp,
    ) -> Result<(Known, &Message), ApiError> {
        let known = self.known(now, application, token)?;
        let id = match which {
            FollowUp::Message(id) => Some(id),
            FollowUp::Original => self
                .interactions
                .by_token(token)
                .and_then(|one| one.original),
        };
        let message = id.and_then(|id| self.message(known.channel, id));
        let message = message.ok_or(ApiError::UNKNOWN_MESSAGE)?;
        let own = message.application == Some(application) || Some(message.id) == known.source;
        if own {
            Ok((known, message))
        } else {
            Err(ApiError::UNKNOWN_MESSAGE)
        }
    }

    pub(super) fn get_follow_up(
        &mut self,
        now: Moment,
        path: (Id, &str),
        which: FollowUp,
    ) -> Outcome {
        let (known, message) = self.follow_up_message(now, path, which)?;
        Ok(Answer::ok(
            &self.message_json(message, self.app_viewer(known.app)),
        ))
    }

    pub(super) fn edit_follow_up(
        &mut self,
        now: Moment,
        path: (Id, &str),
        which: FollowUp,
        request: &Request,
    ) -> Outcome {
        let (known, message) = self.follow_up_message(now, path, which)?;
        let id = message.id;
        let mut form = Form::read(request)?;
        self.fill_spinner(now, known, id, &mut form)?;
        let message = self
            .message(known.channel, id)
            .ok_or(ApiError::UNKNOWN_MESSAGE)?;
        Ok(Answer::ok(
            &self.message_json(message, self.app_viewer(known.app)),
        ))
    }

    pub(super) fn delete_follow_up(
        &mut self,
        now: Moment,
        path: (Id, &str),
        which: FollowUp,
    ) -> Outcome {
        let (known, message) = self.follow_up_message(now, path, which)?;
        let id = message.id;
        self.delete(known.channel, id);
        Ok(Answer::empty(204))
    }
}
