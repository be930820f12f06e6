//! The body of a new or changed message, whoever sends it.
//!
//! In: a form. Out: a draft or a change, checked against Discord's limits.
//! Never: stores anything.

use serde_json::{Map, Value, json};

use super::components::{self, Layout};
use super::form::Form;
use super::{embeds, polls};
use crate::clock::Moment;
use crate::error::{ApiError, FormErrors};
use crate::id::Id;
use crate::model::{
    Author, Everyone, Message, Reference, ReferenceKind, message_flag, message_kind,
};
use crate::permission::Permissions;
use crate::world::post::{Allowed, AllowedMentions, Change, ReplyPing};
use crate::world::{Draft, World};

/// Longest content, counted in Unicode code points.
/// Source: Discord API docs, Create Message; the OpenAPI description allows more and is overruled.
const CONTENT_MAX_CHARS: usize = 2_000;
/// Longest nonce. Source: Discord API docs, Create Message.
const NONCE_MAX_CHARS: usize = 25;
/// Flags that a sender may set. Source: Discord API docs, Create Message.
const SETTABLE_FLAGS: u64 = message_flag::SUPPRESS_EMBEDS
    | message_flag::SUPPRESS_NOTIFICATIONS
    | message_flag::VOICE_MESSAGE
    | message_flag::COMPONENTS_V2;

/// Who sends, which decides what is allowed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sender {
    /// A bot by `POST /channels/{id}/messages`.
    Bot,
    /// An interaction's answer or follow-up.
    Interaction,
}

impl World {
    /// Reads the body of a new message. References are resolved in `channel`.
    ///
    /// # Errors
    ///
    /// 50035 for wrong fields, 50006 when there is nothing to send, 160002 for a reply without
    /// the permission to read.
    pub(crate) fn draft(
        &self,
        now: Moment,
        channel: Id,
        author: Id,
        form: &mut Form,
        sender: Sender,
    ) -> Result<Draft, ApiError> {
        let mut draft = Draft::text(Author::User(author), "");
        draft.content = read_content(form);
        draft.flags = form.number("flags").unwrap_or(0) & settable(sender);
        draft.nonce = read_nonce(form);
        draft.embeds = embeds::read(form).unwrap_or_default();
        let layout = Layout::of(draft.flags);
        draft.components = components::read(form, layout).unwrap_or_default();
        draft.allowed_mentions = read_allowed_mentions(form, sender);
        if let Some(poll) = polls::read(form, now) {
            draft.extra.insert("poll".to_owned(), poll);
        }
        if layout == Layout::V2 && !(draft.content.is_empty() && draft.embeds.is_empty()) {
            let text = "The 'content' and 'embeds' fields cannot be used with components v2.";
            form.errors.add(
                &["content"],
                "MESSAGE_CANNOT_USE_LEGACY_FIELDS_WITH_COMPONENTS_V2",
                text,
            );
        }
        let stickers = form.list("sticker_ids", 3).unwrap_or_default();
        let wish = form.get("message_reference").cloned();
        form.finish()?;
        draft.uploads = std::mem::take(&mut form.uploads);
        if let Some(wish) = wish {
            self.refer(now, (channel, author), &wish, &mut draft)?;
        }
        if draft.is_empty() && stickers.is_empty() {
            return Err(ApiError::EMPTY_MESSAGE);
        }
        Ok(draft)
    }

    /// Resolves `message_reference`.
    fn refer(
        &self,
        now: Moment,
        (channel, author): (Id, Id),
        wish: &Value,
        draft: &mut Draft,
    ) -> Result<(), ApiError> {
        let id = |key: &str| Id::of(&wish[key]);
        let forward = wish["type"].as_u64() == Some(1);
        let Some(message) = id("message_id") else {
            let text = "This field is required";
            return Err(ApiError::form(
                &["message_reference", "message_id"],
                "BASE_TYPE_REQUIRED",
                text,
            ));
        };
        let from = id("channel_id").filter(|_| forward).unwrap_or(channel);
        if !self
            .permissions(author, from, now)
            .contains(Permissions::READ_MESSAGE_HISTORY)
        {
            return Err(ApiError::REPLY_NEEDS_HISTORY);
        }
        let misplaced = !forward && id("channel_id").is_some_and(|other| other != channel);
        let target = self
            .message(from, message)
            .filter(|found| !misplaced && found.only_for.is_none());
        let Some(target) = target else {
            if wish["fail_if_not_exists"] == json!(false) && !forward {
                return Ok(());
            }
            return Err(ApiError::form(
                &["message_reference"],
                "MESSAGE_REFERENCE_UNKNOWN_MESSAGE",
                "Unknown message",
            ));
        };
        if !message_kind::TALK.contains(&target.kind) {
            return Err(ApiError::form(
                &["message_reference"],
                "REPLIES_CANNOT_REPLY_TO_SYSTEM_MESSAGE",
                "Cannot reply to a system message",
            ));
        }
        let kind = if forward {
            ReferenceKind::Forward
        } else {
            ReferenceKind::Default
        };
        draft.reference = Some(Reference {
            kind,
            channel: from,
            message: Some(message),
        });
        if forward {
            draft
                .extra
                .insert("message_snapshots".to_owned(), json!([snapshot(target)]));
        } else {
            draft.kind = message_kind::REPLY;
        }
        Ok(())
    }

    /// Reads the body of an edit.
    ///
    /// # Errors
    ///
    /// 50035 for wrong fields, 50006 when the edit leaves nothing.
    pub(crate) fn edit_of(
        &self,
        message: &Message,
        form: &mut Form,
        sender: Sender,
    ) -> Result<Change, ApiError> {
        let content = form.has("content").then(|| read_content(form));
        let embeds = form
            .has("embeds")
            .then(|| embeds::read(form).unwrap_or_default());
        let flags = form.number("flags").map(|flags| {
            let wanted = flags & (message_flag::SUPPRESS_EMBEDS | message_flag::COMPONENTS_V2);
            // Components v2 can be switched on and never off again.
            (message.flags & !message_flag::SUPPRESS_EMBEDS) | wanted
        });
        let layout = Layout::of(flags.unwrap_or(message.flags));
        let components = form
            .has("components")
            .then(|| components::read(form, layout).unwrap_or_default());
        let allowed_mentions = read_allowed_mentions(form, sender);
        let keep = form.list("attachments", 10).map(|list| {
            list.iter()
                .filter_map(|entry| Id::of(&entry["id"]))
                .collect()
        });
        form.finish()?;
        let change = Change {
            content,
            flags,
            components,
            embeds,
            keep_attachments: keep,
            uploads: std::mem::take(&mut form.uploads),
            allowed_mentions,
        };
        if change.leaves_nothing(message) {
            Err(ApiError::EMPTY_MESSAGE)
        } else {
            Ok(change)
        }
    }
}

impl Draft {
    fn is_empty(&self) -> bool {
        self.content.is_empty()
            && self.embeds.is_empty()
            && self.components.is_empty()
            && self.uploads.is_empty()
            && self.extra.is_empty()
    }
}

impl Change {
    fn leaves_nothing(&self, message: &Message) -> bool {
        self.content.as_ref().unwrap_or(&message.content).is_empty()
            && self.embeds.as_ref().unwrap_or(&message.embeds).is_empty()
            && self
                .components
                .as_ref()
                .unwrap_or(&message.components)
                .is_empty()
            && self.uploads.is_empty()
            && match &self.keep_attachments {
                Some(keep) => !message
                    .attachments
                    .iter()
                    .any(|file| keep.contains(&file.id)),
                None => message.attachments.is_empty(),
            }
            && message.extra.is_empty()
    }
}

fn settable(sender: Sender) -> u64 {
    match sender {
        Sender::Bot => SETTABLE_FLAGS,
        Sender::Interaction => SETTABLE_FLAGS | message_flag::EPHEMERAL,
    }
}

/// White space at both ends is cut off, as the real service does; white space alone is nothing.
fn read_content(form: &mut Form) -> String {
    let content = form
        .text("content", 0, CONTENT_MAX_CHARS)
        .unwrap_or_default();
    content.trim().to_owned()
}

fn read_nonce(form: &mut Form) -> Option<Value> {
    let nonce = form.get("nonce")?.clone();
    if nonce
        .as_str()
        .is_some_and(|text| text.chars().count() > NONCE_MAX_CHARS)
    {
        form.errors.length(&["nonce"], 0, NONCE_MAX_CHARS);
        return None;
    }
    if nonce.is_string() || nonce.is_i64() {
        return Some(nonce);
    }
    form.errors.wrong_type(&["nonce"], "string");
    None
}

fn read_allowed_mentions(form: &mut Form, sender: Sender) -> AllowedMentions {
    let Some(wish) = form.get("allowed_mentions").cloned() else {
        return match sender {
            Sender::Bot => AllowedMentions::default(),
            Sender::Interaction => AllowedMentions::users_only(),
        };
    };
    let parse: Vec<&str> = wish["parse"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect();
    let errors = &mut form.errors;
    AllowedMentions {
        users: read_allowed("users", &parse, &wish, errors),
        roles: read_allowed("roles", &parse, &wish, errors),
        everyone: if parse.contains(&"everyone") {
            Everyone::Pinged
        } else {
            Everyone::Silent
        },
        replied_user: if wish["replied_user"] == json!(true) {
            ReplyPing::Ping
        } else {
            ReplyPing::Silent
        },
    }
}

fn read_allowed(kind: &str, parse: &[&str], wish: &Value, errors: &mut FormErrors) -> Allowed {
    let listed: Vec<Id> = wish[kind]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(Id::of)
        .collect();
    if !parse.contains(&kind) {
        return Allowed::Only(listed);
    }
    if !listed.is_empty() {
        let text = format!("parse:[\"{kind}\"] and {kind}: [ids...] are mutually exclusive.");
        let code = "MESSAGE_ALLOWED_MENTIONS_PARSE_EXCLUSIVE";
        errors.add(&["allowed_mentions"], code, &text);
    }
    Allowed::All
}

/// What a forward shows of its source. It has no author, on purpose.
pub(crate) fn snapshot(source: &Message) -> Value {
    let mut message = Map::new();
    for (key, value) in [
        ("type", json!(source.kind)),
        ("content", json!(source.content)),
        ("mentions", json!([])),
        ("mention_roles", json!([])),
        ("attachments", json!([])),
        ("embeds", json!(source.embeds)),
        ("timestamp", json!(source.created.to_string())),
        (
            "edited_timestamp",
            json!(source.edited.map(|at| at.to_string())),
        ),
        ("flags", json!(source.flags)),
        ("components", json!(source.components)),
    ] {
        message.insert(key.to_owned(), value);
    }
    json!({ "message": message })
}
