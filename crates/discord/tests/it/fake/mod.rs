//! A Discord that does what a test says, and remembers what it was asked.

mod gateway;
mod rest;

pub(crate) use gateway::{Gateway, Step};
pub(crate) use rest::{Answer, Api, Asked, Part};

use guildhall_binding::ids::{ChannelId, GuildId, MessageId, UserId};
use guildhall_discord::{
    ApiBase, Rest, Token,
    gateway::{Clock, Now},
    rest::Deadlines,
};
use serde_json::{Value, json};
use std::time::Duration;
use tokio::time::Instant;

pub(crate) const BOT: u64 = 100;
pub(crate) const ANA: u64 = 200;
pub(crate) const GUILD: u64 = 300;
pub(crate) const HALL: u64 = 400;

/// The first millisecond of the tests' wall clock.
const WALL_MS: u64 = 1_764_000_000_000;
/// How long a test waits for what must come: long, because machines are slow at times.
pub(crate) const PATIENCE: Duration = Duration::from_secs(30);

pub(crate) fn bot() -> UserId {
    UserId::from_number(BOT).expect("not zero")
}

pub(crate) fn guild() -> GuildId {
    GuildId::from_number(GUILD).expect("not zero")
}

pub(crate) fn hall() -> ChannelId {
    ChannelId::from_number(HALL).expect("not zero")
}

pub(crate) fn message_id(number: u64) -> MessageId {
    MessageId::from_number(number).expect("not zero")
}

/// A client of a fake. The token does not look like a real one.
pub(crate) fn client(api: &Api) -> Rest {
    let base = ApiBase::parse(api.origin()).expect("a loopback origin");
    Rest::new(&base, Token::parse("a-fake-token").expect("a token"), bot())
}

/// A client that does not wait long.
pub(crate) fn hasty_client(api: &Api) -> Rest {
    hasty_client_at(api.origin())
}

/// The same for a server that is no [`Api`].
pub(crate) fn hasty_client_at(origin: &str) -> Rest {
    let base = ApiBase::parse(origin).expect("a loopback origin");
    let token = Token::parse("a-fake-token").expect("a token");
    let exchange = Duration::from_millis(400);
    let deadlines = Deadlines {
        exchange,
        patience: Duration::from_secs(2),
        press: Duration::from_millis(200),
    };
    Rest::with_deadlines(&base, token, bot(), deadlines)
}

/// A clock that follows the runtime's own, paused or not.
pub(crate) fn clock() -> Clock {
    let started = Instant::now();
    Clock::new(move || {
        let passed = u64::try_from(started.elapsed().as_millis()).expect("a short test");
        Now {
            mono_ms: passed,
            wall_ms: WALL_MS + passed,
        }
    })
}

/// A message as Discord tells it.
pub(crate) fn message(id: u64, text: &str) -> Value {
    json!({
        "id": id.to_string(),
        "channel_id": HALL.to_string(),
        "guild_id": GUILD.to_string(),
        "type": 0,
        "content": text,
        "author": { "id": ANA.to_string(), "username": "ana", "global_name": null },
        "member": { "nick": "Ana", "roles": [] },
        "mentions": [],
        "attachments": [],
        "timestamp": "2026-11-30T13:08:38.838000+00:00",
        "edited_timestamp": null,
    })
}

/// The answer of `GET /gateway/bot`.
pub(crate) fn gateway_bot(url: &str) -> Value {
    json!({
        "url": url,
        "shards": 1,
        "session_start_limit": {
            "total": 1000, "remaining": 900, "reset_after": 86_400_000, "max_concurrency": 1,
        },
    })
}

/// A dispatch.
pub(crate) fn dispatch(seq: u64, kind: &str, body: Value) -> Value {
    json!({ "op": 0, "s": seq, "t": kind, "d": body })
}

/// A READY whose session is resumed at `resume_url`.
pub(crate) fn ready(seq: u64, resume_url: &str) -> Value {
    dispatch(
        seq,
        "READY",
        json!({
            "v": 10,
            "user": { "id": BOT.to_string(), "username": "seat", "bot": true },
            "guilds": [{ "id": GUILD.to_string(), "unavailable": true }],
            "session_id": "session-1",
            "resume_gateway_url": resume_url,
            "application": { "id": "101", "flags": 0 },
        }),
    )
}
