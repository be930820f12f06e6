//! JSON in Discord's shape, and one answer in a provider's.
//!
//! In: ids and texts. Out: bodies and frames. Never: a field that the program needs for no turn.

use serde_json::{Value, json};

/// The one server.
pub(crate) const GUILD: &str = "700000000000000001";
/// The bot.
pub(crate) const BOT: &str = "800000000000000001";
/// The listed channel.
pub(crate) const CHANNEL: &str = "710000000000000001";
/// The listed person.
pub(crate) const ANA: &str = "900000000000000001";
/// A person who is not listed.
pub(crate) const EVE: &str = "900000000000000003";
/// The bot's token here; it opens nothing.
pub(crate) const TOKEN: &str = "bench.token-of-no-bot.none";

/// A user.
pub(crate) fn user(id: &str) -> Value {
    json!({
        "id": id, "username": "someone", "global_name": "Someone", "discriminator": "0",
        "avatar": null, "public_flags": 0, "primary_guild": null, "bot": id == BOT,
    })
}

/// A member, without its user.
pub(crate) fn member() -> Value {
    json!({
        "nick": null, "avatar": null, "roles": [], "joined_at": "2026-01-01T00:00:00.000000+00:00",
        "premium_since": null, "deaf": false, "mute": false, "flags": 0, "pending": false,
        "communication_disabled_until": null,
    })
}

/// The channel.
pub(crate) fn channel() -> Value {
    json!({
        "id": CHANNEL, "type": 0, "name": "general", "guild_id": GUILD, "position": 0,
        "permission_overwrites": [], "nsfw": false, "last_message_id": null,
    })
}

/// The server.
pub(crate) fn guild() -> Value {
    // View, send, react, read history, send in threads, create public threads.
    let everyone = (1_u64 << 10) | (1 << 11) | (1 << 6) | (1 << 16) | (1 << 38) | (1 << 35);
    json!({
        "id": GUILD, "name": "Bench", "owner_id": "900000000000000009", "features": [],
        "emojis": [], "stickers": [], "icon": null,
        "roles": [{
            "id": GUILD, "name": "@everyone", "permissions": everyone.to_string(), "position": 0,
            "color": 0, "hoist": false, "managed": false, "mentionable": false, "flags": 0,
        }],
    })
}

/// What GUILD_CREATE says.
pub(crate) fn guild_create() -> Value {
    let mut guild = guild();
    guild["channels"] = json!([channel()]);
    guild["threads"] = json!([]);
    let mut own = member();
    own["user"] = user(BOT);
    guild["members"] = json!([own]);
    guild["unavailable"] = json!(false);
    guild["joined_at"] = json!("2026-01-01T00:00:00.000000+00:00");
    guild
}

/// What READY says.
pub(crate) fn ready(gateway: &str) -> Value {
    json!({
        "v": 10, "user": user(BOT), "guilds": [{"id": GUILD, "unavailable": true}],
        "session_id": "bench", "resume_gateway_url": gateway, "shard": [0, 1],
        "application": {"id": "800000000000000002", "flags": 1 << 19}, "private_channels": [],
    })
}

/// The application.
pub(crate) fn application() -> Value {
    json!({
        "id": "800000000000000002", "name": "Bench", "description": "", "icon": null,
        "flags": 1 << 19, "bot": user(BOT), "interactions_endpoint_url": null, "bot_public": true,
        "bot_require_code_grant": false, "verify_key": "", "team": null,
    })
}

/// A message as REST answers it.
pub(crate) fn message(id: u64, author: &str, content: &str) -> Value {
    json!({
        "id": id.to_string(), "type": 0, "channel_id": CHANNEL, "author": user(author),
        "content": content, "timestamp": "2026-11-30T13:08:38.838000+00:00",
        "edited_timestamp": null, "tts": false, "mention_everyone": false, "mentions": [],
        "mention_roles": [], "attachments": [], "embeds": [], "components": [], "pinned": false,
        "flags": 0,
    })
}

/// A MESSAGE_CREATE frame of the size that a busy server's have, about 1.8 KB.
pub(crate) fn message_frame(sequence: u64, id: u64, author: &str, content: &str) -> String {
    let mut body = message(id, author, content);
    body["guild_id"] = json!(GUILD);
    body["member"] = member();
    body["member"]["roles"] = (0..24)
        .map(|n| json!((720_000_000_000_000_000_u64 + n).to_string()))
        .collect();
    body["mentions"] = json!([user("900000000000000005"), user("900000000000000006")]);
    frame(0, &body, Some(sequence), Some("MESSAGE_CREATE"))
}

/// A gateway frame.
pub(crate) fn frame(op: u8, body: &Value, sequence: Option<u64>, name: Option<&str>) -> String {
    json!({"op": op, "d": body, "s": sequence, "t": name}).to_string()
}

/// A provider's whole answer as server-sent events.
pub(crate) fn completion(text: &str) -> String {
    let chunk = |choices: Value, usage: Value| {
        let body = json!({
            "id": "bench", "object": "chat.completion.chunk", "created": 1, "model": "bench",
            "choices": choices, "usage": usage,
        });
        format!("data: {body}\n\n")
    };
    let delta = |delta: Value, finish: Value| json!([{"index": 0, "delta": delta, "finish_reason": finish}]);
    let usage = json!({"prompt_tokens": 50, "completion_tokens": 9, "total_tokens": 59});
    [
        chunk(
            delta(json!({"role": "assistant", "content": text}), Value::Null),
            Value::Null,
        ),
        chunk(delta(json!({}), json!("stop")), Value::Null),
        chunk(json!([]), usage),
        "data: [DONE]\n\n".to_owned(),
    ]
    .concat()
}

#[cfg(test)]
mod tests {
    use super::{ANA, message_frame};

    #[test]
    fn a_frame_has_the_size_of_a_busy_server_s() {
        let length = message_frame(1, 2, ANA, "say hello").len();
        assert!((1_500..2_200).contains(&length), "{length}");
    }
}
