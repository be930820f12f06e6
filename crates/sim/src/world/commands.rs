//! Registered commands, and the people who use them.
//!
//! In: a name and the values of its options. Out: an interaction for the command's application.
//! Never: checks what the options mean; that is up to whoever plays the person.

use serde_json::{Map, Value, json};

use crate::clock::Moment;
use crate::error::ApiError;
use crate::id::Id;
use crate::permission::Permissions;
use crate::world::interactions::{APPLICATION_COMMAND, By};
use crate::world::{AppIndex, World};

/// One registered command.
#[derive(Clone, Debug)]
pub(crate) struct Command {
    pub(crate) id: Id,
    /// The application, and the guild for a command of one guild only.
    pub(crate) place: (Id, Option<Id>),
    pub(crate) name: String,
    pub(crate) json: Value,
}

impl Command {
    /// Whether one would take the place of the other.
    pub(crate) fn is_like(&self, other: &Self) -> bool {
        self.place == other.place
            && self.name == other.name
            && self.json["type"] == other.json["type"]
    }

    /// Gives it the id of the command that it replaces.
    pub(crate) fn rename(&mut self, id: Id) {
        self.id = id;
        self.json["id"] = json!(id);
    }
}

/// A person's use of a command.
#[derive(Clone, Debug)]
pub(crate) struct Use {
    pub(crate) user: Id,
    pub(crate) channel: Id,
    pub(crate) name: String,
    pub(crate) options: Map<String, Value>,
}

impl World {
    /// A person uses a command. Gives the interaction's id.
    ///
    /// # Errors
    ///
    /// 10003 or 50001 for a channel that the person cannot see, 50013 for one in which they cannot
    /// write, 10063 for a command that nobody registered, 50035 for an option that it does not have.
    pub(crate) fn use_command(&mut self, now: Moment, wish: &Use) -> Result<Id, ApiError> {
        self.allowed(wish.user, wish.channel, Permissions::VIEW_CHANNEL, now)?;
        self.may_write(wish.user, wish.channel, now)?;
        let command = self
            .commands
            .iter()
            .find(|command| command.name == wish.name);
        let command = command.ok_or(ApiError::UNKNOWN_COMMAND)?;
        let app = self.apps.iter().position(|app| app.id == command.place.0);
        let app = app.map(AppIndex).ok_or(ApiError::UNKNOWN_APPLICATION)?;
        let known = command.json["options"]
            .as_array()
            .map(Vec::as_slice)
            .unwrap_or_default();
        let mut options = Vec::new();
        for (name, value) in &wish.options {
            let option = known.iter().find(|option| option["name"] == name.as_str());
            let Some(option) = option else {
                let text = "The command has no such option.";
                return Err(ApiError::form(&["options", name], "OPTION_UNKNOWN", text));
            };
            options.push(json!({ "name": name, "type": option["type"], "value": value }));
        }
        let data = json!({
            "id": command.id, "name": command.name, "type": command.json["type"],
            "guild_id": self.guild_of(wish.channel), "options": options,
        });
        let by = By {
            user: wish.user,
            channel: wish.channel,
            app,
        };
        Ok(self.interact(
            now,
            by,
            None,
            &json!({ "type": APPLICATION_COMMAND, "data": data }),
        ))
    }
}
