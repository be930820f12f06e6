//! Application commands by REST.
//!
//! In: what a bot registers. Out: the commands as people will find them.
//! Never: a command of another application; two of one name in one place.

use serde_json::{Value, json};

use super::form::Form;
use super::{Answer, Caller, Method, Outcome, Request};
use crate::clock::Moment;
use crate::error::ApiError;
use crate::id::Id;
use crate::world::World;
use crate::world::commands::Command;

/// Commands of one kind in one place. Source: Discord API docs, code 30032.
const COMMANDS_MAX_COUNT: usize = 100;
const NAME_MAX_CHARS: usize = 32;
const DESCRIPTION_MAX_CHARS: usize = 100;
const OPTIONS_MAX_COUNT: usize = 25;

/// The application, and the guild for commands of one guild only.
type Place = (Id, Option<Id>);

impl World {
    /// `.../commands`: lists, adds one, or replaces all.
    pub(super) fn commands_of(
        &mut self,
        now: Moment,
        place: Place,
        request: &Request,
        caller: Caller,
    ) -> Outcome {
        self.own_place(place, caller)?;
        match request.method {
            Method::Get => Ok(Answer::ok(&self.commands_json(place))),
            Method::Post => self.add_command(now, place, request),
            Method::Put => {
                let list: Value =
                    serde_json::from_slice(&request.body).map_err(|_| ApiError::BAD_JSON)?;
                let list = list.as_array().ok_or(ApiError::BAD_JSON)?;
                if list.len() > COMMANDS_MAX_COUNT {
                    return Err(ApiError::TOO_MANY_COMMANDS);
                }
                let made = list
                    .iter()
                    .map(|one| self.read_command(now, place, &mut Form::of(one, Vec::new())))
                    .collect::<Result<Vec<_>, _>>()?;
                self.commands.retain(|command| command.place != place);
                self.commands.extend(made);
                Ok(Answer::ok(&self.commands_json(place)))
            }
            Method::Patch | Method::Delete => Err(ApiError::METHOD),
        }
    }

    fn add_command(&mut self, now: Moment, place: Place, request: &Request) -> Outcome {
        let command = self.read_command(now, place, &mut Form::read(request)?)?;
        let here = self
            .commands
            .iter()
            .filter(|one| one.place == place)
            .count();
        let known = self.commands.iter().any(|one| one.is_like(&command));
        if !known && here >= COMMANDS_MAX_COUNT {
            return Err(ApiError::TOO_MANY_COMMANDS);
        }
        self.commands.retain(|one| !one.is_like(&command));
        let body = command.json.clone();
        self.commands.push(command);
        Ok(Answer::json(if known { 200 } else { 201 }, &body))
    }

    /// `.../commands/{id}`: shows, changes or removes one.
    pub(super) fn command(
        &mut self,
        now: Moment,
        place: Place,
        id: Id,
        request: &Request,
        caller: Caller,
    ) -> Outcome {
        self.own_place(place, caller)?;
        let found = self
            .commands
            .iter()
            .find(|one| one.place == place && one.id == id);
        let mut json = found.ok_or(ApiError::UNKNOWN_COMMAND)?.json.clone();
        match request.method {
            Method::Get => Ok(Answer::ok(&json)),
            Method::Delete => {
                self.commands.retain(|one| one.id != id);
                Ok(Answer::empty(204))
            }
            Method::Patch => {
                for (key, value) in Form::read(request)?.map {
                    json[key.as_str()] = value;
                }
                let mut changed =
                    self.read_command(now, place, &mut Form::of(&json, Vec::new()))?;
                changed.rename(id);
                let body = changed.json.clone();
                self.commands.retain(|one| one.id != id);
                self.commands.push(changed);
                Ok(Answer::ok(&body))
            }
            Method::Post | Method::Put => Err(ApiError::METHOD),
        }
    }

    fn own_place(&self, (app, guild): Place, caller: Caller) -> Result<(), ApiError> {
        if self.app(caller.app).id != app {
            return Err(ApiError::MISSING_ACCESS);
        }
        guild.map_or(Ok(()), |guild| self.known_guild(guild))
    }

    fn commands_json(&self, place: Place) -> Value {
        let here = self
            .commands
            .iter()
            .filter(|command| command.place == place);
        here.map(|command| command.json.clone()).collect()
    }

    fn read_command(
        &mut self,
        now: Moment,
        place: Place,
        form: &mut Form,
    ) -> Result<Command, ApiError> {
        let name = form.required_text("name", 1, NAME_MAX_CHARS);
        let kind = form.number("type").unwrap_or(1);
        let description = match kind {
            1 => form.required_text("description", 1, DESCRIPTION_MAX_CHARS),
            _ => String::new(),
        };
        if !(1..=3).contains(&kind) {
            form.errors.add(
                &["type"],
                "BASE_TYPE_CHOICES",
                "Value must be one of {1, 2, 3}.",
            );
        }
        let options = read_options(form);
        form.finish()?;
        let id = self.ids.next(now);
        let mut json = json!({
            "id": id, "application_id": place.0, "version": self.ids.next(now), "type": kind,
            "name": name, "description": description, "default_member_permissions": null,
            "nsfw": form.is_true("nsfw"),
        });
        if let Some(guild) = place.1 {
            json["guild_id"] = json!(guild);
        } else {
            json["dm_permission"] = json!(true);
            json["contexts"] = Value::Null;
            json["integration_types"] = json!([0]);
        }
        if let Some(options) = options {
            json["options"] = Value::Array(options);
        }
        Ok(Command {
            id,
            place,
            name,
            json,
        })
    }
}

/// The options, each with what every kind of option has to have.
fn read_options(form: &mut Form) -> Option<Vec<Value>> {
    let mut options = form.list("options", OPTIONS_MAX_COUNT)?;
    for (index, option) in options.iter_mut().enumerate() {
        let index = index.to_string();
        let Some(map) = option.as_object_mut() else {
            let text = "Only dictionaries may be used in a DictType";
            form.errors
                .add(&["options", &index], "DICT_TYPE_CONVERT", text);
            continue;
        };
        map.retain(|_, value| !value.is_null());
        for key in ["name", "description"] {
            if !map.get(key).is_some_and(Value::is_string) {
                let text = "This field is required";
                form.errors
                    .add(&["options", &index, key], "BASE_TYPE_REQUIRED", text);
            }
        }
        let kind = map.get("type").and_then(Value::as_u64).unwrap_or(0);
        if !(1..=11).contains(&kind) {
            let text = "Value must be one of {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}.";
            form.errors
                .add(&["options", &index, "type"], "BASE_TYPE_CHOICES", text);
        }
    }
    Some(options)
}
