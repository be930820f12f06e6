//! The bot itself, its application, the guild and its members by REST.
//!
//! In: a bot's question. Out: the record, or the refusal.
//! Never: another guild; there is one.

use serde_json::{Value, json};

use super::form::Form;
use super::{Answer, Caller, Outcome, Request};
use crate::error::ApiError;
use crate::id::Id;
use crate::scenario::Switch;
use crate::world::World;

/// Most members of one answer. Source: Discord API docs, List Guild Members.
const MEMBERS_MAX_COUNT: usize = 1_000;
/// Longest search text. Source: Discord's OpenAPI description.
const QUERY_MAX_CHARS: usize = 100;

impl World {
    pub(super) fn me(&mut self, caller: Caller) -> Outcome {
        Ok(Answer::ok(&self.me_json(caller.bot)))
    }

    pub(super) fn my_application(&mut self, caller: Caller) -> Outcome {
        Ok(Answer::ok(&self.application_json(self.app(caller.app))))
    }

    /// A token holder may switch the limited intents by `flags`, as the real service lets it.
    pub(super) fn change_application(&mut self, request: &Request, caller: Caller) -> Outcome {
        let mut form = Form::read(request)?;
        let flags = form.number("flags");
        form.finish()?;
        if let Some(flags) = flags {
            let switch = |bit: u64| {
                if flags & bit == 0 {
                    Switch::Off
                } else {
                    Switch::On
                }
            };
            let portal = &mut self.apps[caller.app.0].portal;
            portal.presence = switch(1 << 13);
            portal.members = switch(1 << 15);
            portal.message_content = switch(1 << 19);
        }
        self.my_application(caller)
    }

    pub(super) fn my_guilds(&mut self, caller: Caller) -> Outcome {
        Ok(Answer::ok(&json!([{
            "id": self.guild.id,
            "name": self.guild.name,
            "icon": null,
            "banner": null,
            "owner": false,
            "permissions": self.base_permissions(caller.bot),
            "features": [],
        }])))
    }

    pub(super) fn get_user(&mut self, user: Id) -> Outcome {
        if self.users.contains_key(&user) {
            Ok(Answer::ok(&self.user_json(user)))
        } else {
            Err(ApiError::UNKNOWN_USER)
        }
    }

    /// Passes for this world's guild.
    ///
    /// # Errors
    ///
    /// 10004 for any other.
    pub(crate) fn known_guild(&self, guild: Id) -> Result<(), ApiError> {
        if guild == self.guild.id {
            Ok(())
        } else {
            Err(ApiError::UNKNOWN_GUILD)
        }
    }

    pub(super) fn get_guild(&mut self, guild: Id, request: &Request) -> Outcome {
        self.known_guild(guild)?;
        let mut body = self.guild_json();
        if request.query("with_counts") == Some("true") {
            body["approximate_member_count"] = json!(self.members.len());
            body["approximate_presence_count"] = json!(self.members.len());
        }
        Ok(Answer::ok(&body))
    }

    pub(super) fn list_channels(&mut self, guild: Id, caller: Caller) -> Outcome {
        self.known_guild(guild)?;
        Ok(Answer::ok(&Value::Array(
            self.guild_channels_json(caller.bot),
        )))
    }

    pub(super) fn list_roles(&mut self, guild: Id) -> Outcome {
        self.known_guild(guild)?;
        Ok(Answer::ok(&Value::Array(self.roles_json())))
    }

    /// All members; needs the members intent in the portal, as on the real service.
    pub(super) fn list_members(&mut self, guild: Id, request: &Request, caller: Caller) -> Outcome {
        self.known_guild(guild)?;
        if !self.app(caller.app).portal.members.is_on() {
            return Err(ApiError::MISSING_ACCESS);
        }
        let limit = read_limit(request)?;
        let after = request
            .query("after")
            .and_then(|text| text.parse::<Id>().ok());
        let list: Vec<Value> = self
            .members
            .keys()
            .filter(|id| after.is_none_or(|after| **id > after))
            .take(limit)
            .filter_map(|id| self.member_json(*id))
            .collect();
        Ok(Answer::ok(&Value::Array(list)))
    }

    /// Members whose name begins with the query; no privileged intent is needed.
    pub(super) fn search_members(&mut self, guild: Id, request: &Request) -> Outcome {
        self.known_guild(guild)?;
        let limit = read_limit(request)?;
        let query = request.query("query").unwrap_or_default().to_lowercase();
        if query.is_empty() || query.chars().count() > QUERY_MAX_CHARS {
            let text = format!("Must be between 1 and {QUERY_MAX_CHARS} in length.");
            return Err(ApiError::form(&["query"], "BASE_TYPE_BAD_LENGTH", &text));
        }
        let list: Vec<Value> = self
            .members
            .keys()
            .filter(|id| self.is_named(**id, &query))
            .take(limit)
            .filter_map(|id| self.member_json(*id))
            .collect();
        Ok(Answer::ok(&Value::Array(list)))
    }

    pub(super) fn get_member(&mut self, guild: Id, user: Id) -> Outcome {
        self.known_guild(guild)?;
        match self.member_json(user) {
            Some(member) => Ok(Answer::ok(&member)),
            None if self.users.contains_key(&user) => Err(ApiError::UNKNOWN_MEMBER),
            None => Err(ApiError::UNKNOWN_USER),
        }
    }
}

/// `limit`, one when absent.
fn read_limit(request: &Request) -> Result<usize, ApiError> {
    match request.query("limit").map(str::parse) {
        None => Ok(1),
        Some(Ok(limit)) if (1..=MEMBERS_MAX_COUNT).contains(&limit) => Ok(limit),
        Some(_) => {
            let text = "int value should be between 1 and 1000.";
            Err(ApiError::form(&["limit"], "NUMBER_TYPE_MAX", text))
        }
    }
}
