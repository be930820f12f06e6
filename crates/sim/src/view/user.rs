//! Users, members and roles.

use serde_json::{Value, json};

use crate::id::Id;
use crate::model::{Member, Role, User, UserKind};
use crate::world::World;

impl World {
    /// A user as it stands in messages. Both `public_flags` and `primary_guild` are required by
    /// the OpenAPI description.
    pub(crate) fn user_json(&self, id: Id) -> Value {
        let Some(user) = self.users.get(&id) else {
            return deleted_user(id);
        };
        user_json(user)
    }

    /// The bot itself, as `GET /users/@me` shows it.
    pub(crate) fn me_json(&self, id: Id) -> Value {
        let mut me = self.user_json(id);
        if let Some(map) = me.as_object_mut() {
            map.insert("mfa_enabled".to_owned(), json!(true));
            map.insert("locale".to_owned(), json!("en-US"));
            map.insert("verified".to_owned(), json!(true));
            map.insert("email".to_owned(), Value::Null);
        }
        me
    }

    /// A member without `user`, as messages carry it.
    pub(crate) fn partial_member_json(&self, user: Id) -> Option<Value> {
        self.members.get(&user).map(member_json)
    }

    /// A member with `user`.
    pub(crate) fn member_json(&self, user: Id) -> Option<Value> {
        let mut member = self.partial_member_json(user)?;
        member
            .as_object_mut()?
            .insert("user".to_owned(), self.user_json(user));
        Some(member)
    }
}

fn user_json(user: &User) -> Value {
    let mut json = json!({
        "id": user.id,
        "username": user.username,
        "discriminator": if user.kind == UserKind::Bot { "0001" } else { "0" },
        "global_name": user.global_name,
        "avatar": null,
        "banner": null,
        "accent_color": null,
        "public_flags": 0,
        "flags": 0,
        "avatar_decoration_data": null,
        "collectibles": null,
        "primary_guild": null,
    });
    if user.kind == UserKind::Bot
        && let Some(map) = json.as_object_mut()
    {
        map.insert("bot".to_owned(), json!(true));
    }
    json
}

/// Stands for an author that this world does not know, such as a removed account.
fn deleted_user(id: Id) -> Value {
    json!({
        "id": id, "username": "Deleted User", "discriminator": "0000", "global_name": null,
        "avatar": null, "public_flags": 0, "flags": 0, "primary_guild": null,
    })
}

fn member_json(member: &Member) -> Value {
    json!({
        "nick": member.nick,
        "avatar": null,
        "banner": null,
        "roles": member.roles,
        "joined_at": member.joined.to_string(),
        "premium_since": null,
        "communication_disabled_until": member.timed_out_until.map(|until| until.to_string()),
        "deaf": false,
        "mute": false,
        "pending": false,
        "flags": 0,
    })
}

pub(crate) fn role_json(role: &Role) -> Value {
    let mut json = json!({
        "id": role.id,
        "name": role.name,
        "permissions": role.permissions,
        "position": role.position,
        "color": 0,
        "colors": { "primary_color": 0, "secondary_color": null, "tertiary_color": null },
        "hoist": false,
        "managed": role.bot.is_some(),
        "mentionable": role.bot.is_none() && role.position > 0,
        "icon": null,
        "unicode_emoji": null,
        "flags": 0,
    });
    if let (Some(bot), Some(map)) = (role.bot, json.as_object_mut()) {
        map.insert("tags".to_owned(), json!({ "bot_id": bot }));
    }
    json
}
