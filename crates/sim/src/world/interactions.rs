//! Pressed buttons and what their tokens still allow.
//!
//! In: a press, an answer, time. Out: INTERACTION_CREATE, and whether a token is good.
//! Never: accepts an answer twice, or after three seconds; a follow-up after fifteen minutes.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::clock::Moment;
use crate::error::ApiError;
use crate::id::Id;
use crate::permission::Permissions;
use crate::view::Viewer;
use crate::world::dispatch::{Audience, intent};
use crate::world::{AppIndex, World};

/// Most interactions that are remembered; the oldest is forgotten first.
const INTERACTIONS_MAX_COUNT: usize = 2_000;

/// A person's press of one component.
#[derive(Clone, Debug)]
pub(crate) struct Press {
    pub(crate) user: Id,
    pub(crate) channel: Id,
    pub(crate) message: Id,
    pub(crate) custom_id: String,
    /// What was picked, for a select menu.
    pub(crate) values: Option<Vec<String>>,
}

/// Interaction types. Source: Discord API docs, Interaction Type.
pub(crate) const APPLICATION_COMMAND: u8 = 2;
const MESSAGE_COMPONENT: u8 = 3;

/// Who interacts where, and with which application.
#[derive(Clone, Copy, Debug)]
pub(crate) struct By {
    pub(crate) user: Id,
    pub(crate) channel: Id,
    pub(crate) app: AppIndex,
}

#[derive(Debug)]
pub(crate) struct Interaction {
    pub(crate) id: Id,
    pub(crate) token: String,
    pub(crate) app: AppIndex,
    pub(crate) user: Id,
    pub(crate) channel: Id,
    /// The message with the button; a command has none.
    pub(crate) source: Option<Id>,
    pub(crate) created: Moment,
    pub(crate) answer: Answered,
    /// The message that `@original` means.
    pub(crate) original: Option<Id>,
}

/// How far an interaction got.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Answered {
    Waiting,
    /// With a callback type of Discord's list.
    With(u8),
    /// Three seconds went by; the person was told that it failed.
    Failed,
}

/// Interactions by id.
#[derive(Debug, Default)]
pub(crate) struct Interactions(BTreeMap<Id, Interaction>);

impl Interactions {
    fn add(&mut self, interaction: Interaction) {
        self.0.insert(interaction.id, interaction);
        while self.0.len() > INTERACTIONS_MAX_COUNT {
            self.0.pop_first();
        }
    }

    pub(crate) fn get_mut(&mut self, id: Id) -> Option<&mut Interaction> {
        self.0.get_mut(&id)
    }

    pub(crate) fn by_token(&self, token: &str) -> Option<&Interaction> {
        self.0
            .values()
            .find(|interaction| interaction.token == token)
    }
}

impl World {
    /// A person presses a component. Gives the interaction's id.
    ///
    /// # Errors
    ///
    /// 10008 when the message is gone, 50001 when the person cannot see it, 50035 when it has no
    /// such component or it is disabled.
    pub(crate) fn press(&mut self, now: Moment, press: &Press) -> Result<Id, ApiError> {
        self.visible(press.user, press.channel)?;
        let message = self
            .message(press.channel, press.message)
            .ok_or(ApiError::UNKNOWN_MESSAGE)?;
        let component = find_component(&message.components, &press.custom_id)
            .filter(|component| component["disabled"] != json!(true))
            .ok_or_else(|| {
                let text = "No enabled component has this custom_id.";
                ApiError::form(&["custom_id"], "COMPONENT_UNKNOWN", text)
            })?
            .clone();
        let author = message.author.id();
        let app = self.apps.iter().position(|app| app.bot == author);
        let app = app.map(AppIndex).ok_or(ApiError::UNKNOWN_APPLICATION)?;
        let mut data = json!({
            "component_type": component["type"], "custom_id": press.custom_id,
            "id": component["id"],
        });
        if let Some(values) = &press.values {
            data["values"] = json!(values);
        }
        let by = By {
            user: press.user,
            channel: press.channel,
            app,
        };
        let source = Some(press.message);
        Ok(self.interact(
            now,
            by,
            source,
            &json!({ "type": MESSAGE_COMPONENT, "data": data }),
        ))
    }

    /// Remembers an interaction and tells its bot. `what` is its type and data.
    pub(crate) fn interact(&mut self, now: Moment, by: By, source: Option<Id>, what: &Value) -> Id {
        let id = self.ids.next(now);
        let token = format!("interaction-token-{id}");
        let data = self.interaction_json(now, by, what, (id, &token));
        self.interactions.add(Interaction {
            id,
            token,
            app: by.app,
            user: by.user,
            channel: by.channel,
            source,
            created: now,
            answer: Answered::Waiting,
            original: None,
        });
        let bot = self.app(by.app).bot;
        self.dispatch(
            "INTERACTION_CREATE",
            intent::NONE,
            Audience::Bot(bot),
            |world, viewer| {
                let mut data = data.clone();
                if let Some(source) = source {
                    data["message"] = world.interaction_message_json((by.channel, source), viewer);
                }
                data
            },
        );
        id
    }

    fn interaction_message_json(&self, (channel, message): (Id, Id), viewer: Viewer) -> Value {
        // An interaction's message is always whole, whatever the intents.
        let viewer = Viewer {
            content: crate::view::Content::Full,
            ..viewer
        };
        self.message(channel, message)
            .map_or(Value::Null, |m| self.message_json(m, viewer))
    }

    fn interaction_json(
        &self,
        now: Moment,
        by: By,
        what: &Value,
        (id, token): (Id, &str),
    ) -> Value {
        let app = self.app(by.app);
        let guild = self.guild_of(by.channel);
        let channel = self.channels.get(&by.channel);
        let mut json = json!({
            "id": id,
            "application_id": app.id,
            "type": what["type"],
            "token": token,
            "version": 1,
            "channel_id": by.channel,
            "channel": channel.map(|channel| self.channel_json(channel, Some(app.bot))),
            "data": what["data"],
            "app_permissions": self.permissions(app.bot, by.channel, now),
            "locale": "en-US",
            "entitlements": [],
            "authorizing_integration_owners": { "0": guild },
            "context": if guild.is_some() { 0 } else { 1 },
            "attachment_size_limit": 10_485_760,
        });
        let permissions = self.permissions(by.user, by.channel, now);
        match (guild, self.interaction_member_json(by.user, permissions)) {
            (Some(guild), Some(member)) => {
                json["guild_id"] = json!(guild);
                json["guild"] = json!({ "id": guild, "locale": "en-US", "features": [] });
                json["guild_locale"] = json!("en-US");
                json["member"] = member;
            }
            _ => json["user"] = self.user_json(by.user),
        }
        json
    }

    fn interaction_member_json(&self, user: Id, permissions: Permissions) -> Option<Value> {
        let mut member = self.member_json(user)?;
        member["permissions"] = json!(permissions);
        Some(member)
    }

    /// The live interaction of a token, for follow-ups.
    ///
    /// # Errors
    ///
    /// 10015 when the token is unknown, belongs to another application, or has run out.
    pub(crate) fn interaction_by_token(
        &self,
        now: Moment,
        application: Id,
        token: &str,
    ) -> Result<&Interaction, ApiError> {
        self.interactions
            .by_token(token)
            .filter(|interaction| self.app(interaction.app).id == application)
            .filter(|interaction| now.since(interaction.created) < self.rules.interaction_token_ms)
            .ok_or(ApiError::UNKNOWN_WEBHOOK)
    }

    /// Tells the people whose press nobody answered in time.
    pub(crate) fn expire_interactions(&mut self, now: Moment) {
        let limit = self.rules.interaction_answer_ms;
        let failed: Vec<Value> = self
            .interactions
            .0
            .values_mut()
            .filter(|one| one.answer == Answered::Waiting && now.since(one.created) >= limit)
            .map(|one| {
                one.answer = Answered::Failed;
                json!({ "type": "interaction_failed", "id": one.id, "user": one.user,
                    "channel": one.channel, "message": one.source })
            })
            .collect();
        for event in failed {
            self.tell_page(&event);
        }
    }
}

/// The component with this `custom_id`, wherever it is nested.
fn find_component<'a>(components: &'a [Value], custom_id: &str) -> Option<&'a Value> {
    components.iter().find_map(|component| {
        if component["custom_id"] == custom_id {
            return Some(component);
        }
        let inner = component["components"]
            .as_array()
            .map(Vec::as_slice)
            .unwrap_or_default();
        find_component(inner, custom_id).or_else(|| {
            find_component(std::slice::from_ref(component.get("accessory")?), custom_id)
        })
    })
}
