//! Questions of a test: what is there, what was said, what went over the wire.
//!
//! In: a question. Out: JSON.
//! Never: changes anything.

use serde_json::{Value, json};

use super::{Call, Done, Refused, channel_of};
use crate::clock::Moment;
use crate::id::Id;
use crate::world::World;
use crate::world::session::Link;

/// Messages of one answer.
const MESSAGES_MAX_COUNT: usize = 1_000;
/// Log entries of one answer.
const ENTRIES_MAX_COUNT: usize = 5_000;

/// What `guildhall sim --json` prints, and a little more.
pub(super) fn all(world: &World) -> Value {
    let app = &world.apps[0];
    let bots = world.apps.iter().map(
        |app| json!({ "id": app.bot, "application": app.id, "name": app.name, "token": app.token }),
    );
    json!({
        "origin": world.origin,
        "control": format!("{}/control", world.origin),
        "gateway": world.gateway_url(),
        "token": app.token,
        "guild": world.guild.id,
        "bot": app.bot,
        "application": app.id,
        "bots": bots.collect::<Vec<_>>(),
        "users": world.people(),
        "channels": world.named_channels(),
    })
}

/// The messages of a channel, oldest first; ephemeral ones too.
pub(super) fn messages(world: &World, call: &Call) -> Done {
    let channel = call
        .query("channel")
        .ok_or_else(|| Refused::new(400, "channel is missing"))?;
    let channel = channel_of(world, channel)?;
    let after = call.query("after").and_then(|text| text.parse::<Id>().ok());
    let kept = world.messages.get(&channel);
    let all = kept.into_iter().flat_map(|kept| kept.values());
    let list: Vec<Value> = all
        .filter(|message| after.is_none_or(|after| message.id > after))
        .take(MESSAGES_MAX_COUNT)
        .map(|message| {
            let mut json = world.page_message_json(message);
            if let Some(nonce) = &message.nonce {
                json["nonce"] = nonce.clone();
            }
            json
        })
        .collect();
    Ok(Value::Array(list))
}

/// Entries of the log after a number, oldest first.
pub(super) fn log(world: &World, call: &Call) -> Done {
    let after = match call.query("after").map(str::parse) {
        None => 0,
        Some(Ok(after)) => after,
        Some(Err(_)) => return Err(Refused::new(400, "after is no number")),
    };
    let entries: Vec<Value> = world
        .log
        .after(after, call.query("kind"))
        .take(ENTRIES_MAX_COUNT)
        .map(crate::world::log::Entry::json)
        .collect();
    Ok(json!({ "last": world.log.last(), "entries": entries }))
}

/// The bots' sessions and connections.
pub(super) fn bots(world: &World, now: Moment) -> Value {
    let bots = world.apps.iter().enumerate().map(|(index, app)| {
        let sessions = world
            .sessions
            .iter()
            .filter(|(_, session)| session.app.0 == index);
        let sessions = sessions.map(|(_, session)| {
            let (state, connection) = match session.link {
                Link::Connected(id) => ("connected", Some(id)),
                Link::Dropped(_) => ("dropped", None),
            };
            json!({
                "session": session.id, "state": state, "connection": connection,
                "intents": session.intents, "seq": session.seq,
            })
        });
        json!({
            "id": app.bot, "name": app.name, "sessions": sessions.collect::<Vec<_>>(),
            "identifies": world.identifies_used(now, crate::world::AppIndex(index)),
        })
    });
    json!({
        "connections": world.sessions.connections.keys().collect::<Vec<_>>(),
        "bots": bots.collect::<Vec<_>>(),
    })
}

/// What the bots registered.
pub(super) fn commands(world: &World) -> Value {
    world
        .commands
        .iter()
        .map(|command| command.json.clone())
        .collect()
}
