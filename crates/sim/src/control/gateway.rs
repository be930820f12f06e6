//! Faults, the clock, the portal, and who may do what.
//!
//! In: a wish about the network or the server's settings. Out: what is true now.
//! Never: anything that a person could do by themselves; see `people`.

use serde::Deserialize;
use serde_json::{Value, json};

use super::{Call, Done, Refused, channel_of, user_of};
use crate::clock::Moment;
use crate::permission::{Overwrite, OverwriteTarget, Permissions};
use crate::scenario::Switch;
use crate::server::Shared;
use crate::world::dispatch::{Audience, intent};
use crate::world::{ConnectionId, Fault, GatewayFault, World};

#[derive(Deserialize)]
struct Strike {
    #[serde(flatten)]
    what: GatewayFault,
    /// One connection; all of them when absent.
    connection: Option<u64>,
}

/// Does something to gateway connections at once.
pub(super) fn strike(world: &mut World, now: Moment, call: &Call) -> Done {
    let wish: Strike = call.read()?;
    let hit: Vec<ConnectionId> = world
        .sessions
        .connections
        .keys()
        .copied()
        .filter(|id| wish.connection.is_none_or(|only| only == id.0))
        .collect();
    for id in &hit {
        world.strike(now, *id, wish.what);
    }
    Ok(json!({ "connections": hit.len() }))
}

pub(super) fn faults(world: &World) -> Value {
    json!(world.faults.list())
}

pub(super) fn arm(world: &mut World, call: &Call) -> Done {
    let fault: Fault = call.read()?;
    world
        .faults
        .arm(fault)
        .map_err(|_| Refused::new(409, "too many faults are armed"))?;
    world.tell_page_of_faults();
    Ok(faults(world))
}

pub(super) fn clear(world: &mut World) -> Value {
    world.faults.clear();
    world.tell_page_of_faults();
    faults(world)
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Advance {
    advance_ms: i64,
    /// Whether open connections feel the jump, as after a suspended machine.
    #[serde(default)]
    connections_feel_it: bool,
}

pub(super) fn advance(shared: &Shared, call: &Call) -> Done {
    let wish: Advance = call.read()?;
    Ok(shared.with_clock(|world, clock| {
        clock.advance(wish.advance_ms);
        let now = clock.now();
        if !wish.connections_feel_it {
            world.shift_heartbeats(now);
        }
        world.tick(now);
        json!({ "now_ms": now })
    }))
}

/// Changes the numbers that the body names; the others stay. The bounds of what is kept count from
/// the next entry on, and those of the log and the files are fixed at the start.
pub(super) fn change_rules(world: &mut World, call: &Call) -> Done {
    let wish: serde_json::Map<String, Value> = call.read()?;
    let mut rules = json!(world.rules);
    for (key, value) in wish {
        rules[key.as_str()] = value;
    }
    world.rules =
        serde_json::from_value(rules).map_err(|error| Refused::new(400, error.to_string()))?;
    Ok(json!(world.rules))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PortalWish {
    bot: Option<String>,
    message_content: Option<Switch>,
    members: Option<Switch>,
    presence: Option<Switch>,
}

/// Switches privileged intents in the developer portal.
pub(super) fn portal(world: &mut World, call: &Call) -> Done {
    let wish: PortalWish = call.read()?;
    let bot = match &wish.bot {
        Some(bot) => user_of(world, bot)?,
        None => world.apps[0].bot,
    };
    let app = world.apps.iter_mut().find(|app| app.bot == bot);
    let portal = &mut app
        .ok_or_else(|| Refused::new(400, "this is no bot"))?
        .portal;
    portal.message_content = wish.message_content.unwrap_or(portal.message_content);
    portal.members = wish.members.unwrap_or(portal.members);
    portal.presence = wish.presence.unwrap_or(portal.presence);
    Ok(json!({
        "message_content": portal.message_content.is_on(), "members": portal.members.is_on(),
        "presence": portal.presence.is_on(),
    }))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct OverwriteWish {
    channel: String,
    /// A role, person or bot, by name; people by id, too.
    target: String,
    #[serde(default)]
    allow: Permissions,
    #[serde(default)]
    deny: Permissions,
}

/// Sets one permission exception of a channel; an empty one removes it.
pub(super) fn overwrite(world: &mut World, call: &Call) -> Done {
    let wish: OverwriteWish = call.read()?;
    let channel = channel_of(world, &wish.channel)?;
    let role = world
        .roles
        .values()
        .find(|role| role.name == wish.target && role.bot.is_none());
    let target = match role.map(|role| role.id) {
        Some(role) => OverwriteTarget::Role(role),
        None => OverwriteTarget::Member(user_of(world, &wish.target)?),
    };
    let empty = wish.allow == Permissions::NONE && wish.deny == Permissions::NONE;
    if let Some(found) = world.channels.get_mut(&channel) {
        found
            .overwrites
            .retain(|overwrite| overwrite.target != target);
        if !empty {
            found.overwrites.push(Overwrite {
                target,
                allow: wish.allow,
                deny: wish.deny,
            });
        }
    }
    world.rename(channel, None, None);
    Ok(json!({}))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct MemberWish {
    user: String,
    /// Milliseconds of time-out from now; zero ends it.
    timeout_ms: Option<u64>,
    /// Roles by name, all of them; managed ones stay.
    roles: Option<Vec<String>>,
    nick: Option<String>,
}

/// Changes a member and tells the bots.
pub(super) fn member(world: &mut World, now: Moment, call: &Call) -> Done {
    let wish: MemberWish = call.read()?;
    let user = user_of(world, &wish.user)?;
    let roles = match &wish.roles {
        None => None,
        Some(names) => Some(
            names
                .iter()
                .map(|name| {
                    let role = world.roles.values().find(|role| &role.name == name);
                    role.map(|role| role.id)
                        .ok_or_else(|| Refused::new(404, format!("there is no role {name:?}")))
                })
                .collect::<Result<Vec<_>, _>>()?,
        ),
    };
    let managed: Vec<_> = world
        .roles
        .values()
        .filter(|role| role.bot == Some(user))
        .map(|role| role.id)
        .collect();
    let member = world.members.get_mut(&user);
    let member = member.ok_or_else(|| Refused::new(404, "this user is no member"))?;
    if let Some(roles) = roles {
        member.roles = roles.into_iter().chain(managed).collect();
    }
    if let Some(ms) = wish.timeout_ms {
        member.timed_out_until = (ms > 0).then(|| now.plus_ms(ms));
    }
    if let Some(nick) = wish.nick {
        member.nick = Some(nick).filter(|nick| !nick.is_empty());
    }
    let mut data = world.member_json(user).unwrap_or_default();
    data["guild_id"] = json!(world.guild.id);
    // A bot hears of itself without the privileged intent.
    let wanted = match world.apps.iter().any(|app| app.bot == user) {
        true => intent::GUILDS,
        false => intent::GUILD_MEMBERS,
    };
    world.dispatch("GUILD_MEMBER_UPDATE", wanted, Audience::Guild, |_, _| {
        data.clone()
    });
    Ok(data)
}
