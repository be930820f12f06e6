//! Every kind of event that we use, and what becomes of it.

use super::*;
use crate::{
    PressIgnored,
    address::Reach,
    place::{PlaceKind, ThreadState},
    wire::field,
};
use guildhall_binding::ids::{ChannelId, GuildId, RoleId};
use serde_json::{Value, json};

const BOT: u64 = 100;

fn bot() -> UserId {
    UserId::from_number(BOT).expect("not zero")
}

fn news(kind: &str, body: &Value) -> Option<News> {
    let text = body.to_string();
    let body = field::read(text.as_bytes()).expect("json");
    read(
        kind,
        body,
        Lens {
            bot: bot(),
            reach: Reach::Network,
        },
    )
}

fn channel(number: u64) -> ChannelId {
    ChannelId::from_number(number).expect("not zero")
}

fn thread(id: u64) -> Value {
    json!({
        "id": id.to_string(),
        "type": 11,
        "parent_id": "400",
        "owner_id": "200",
        "name": "a thread",
        "last_message_id": "9",
        "thread_metadata": { "archived": false, "locked": false, "auto_archive_duration": 60 },
    })
}

#[test]
fn a_server_comes_with_channels_threads_and_roles_that_know_where_they_are() {
    let News::Guild(guild) = news(
        "GUILD_CREATE",
        &json!({
            "id": "300",
            "name": "hall",
            "owner_id": "1",
            "roles": [
                { "id": "300", "name": "@everyone", "permissions": "1024" },
                { "id": "301", "name": "seat", "permissions": "0", "tags": { "bot_id": "100" } },
                null,
            ],
            "channels": [
                { "id": "400", "type": 0, "permission_overwrites": [
                    { "id": "300", "type": 0, "allow": "0", "deny": "2048" },
                    { "id": "300", "type": 7, "allow": "0", "deny": "0" },
                ] },
                { "id": "0", "type": 0 },
                { "id": "401", "type": 999 },
            ],
            "threads": [thread(500)],
        }),
    )
    .expect("news") else {
        panic!("a server");
    };
    let here = GuildId::from_number(300).ok();
    assert_eq!(guild.own_role(bot()), RoleId::from_number(301).ok());
    assert_eq!(
        (guild.channels.len(), guild.channels[0].overwrites.len()),
        (2, 1)
    );
    assert_eq!(guild.channels[1].kind, PlaceKind::Other(999));
    let thread = &guild.threads[0];
    assert_eq!((thread.parent, thread.guild), (Some(channel(400)), here));
    assert_eq!(
        (thread.kind, thread.state),
        (PlaceKind::PublicThread, ThreadState::Active)
    );
    assert_eq!(thread.owner.map(UserId::get), Some(200));
    assert_eq!(thread.last_message.map(MessageId::get), Some(9));
}

#[test]
fn an_outage_is_not_a_farewell() {
    let guild = GuildId::from_number(300).expect("not zero");
    let cases = [
        (
            "GUILD_DELETE",
            json!({ "id": "300", "unavailable": true }),
            News::GuildUnavailable(guild),
        ),
        (
            "GUILD_CREATE",
            json!({ "id": "300", "unavailable": true }),
            News::GuildUnavailable(guild),
        ),
        (
            "GUILD_DELETE",
            json!({ "id": "300" }),
            News::GuildRemoved(guild),
        ),
    ];
    for (kind, body, want) in cases {
        assert_eq!(news(kind, &body), Some(want));
    }
}

#[test]
fn threads_are_heard_of_from_every_event() {
    let of = |kind: &str, body: &Value| news(kind, body).expect("news");
    assert!(
        matches!(of("THREAD_CREATE", &thread(500)), News::ThreadCreated(t) if t.id == channel(500))
    );
    let mut archived = thread(500);
    archived["thread_metadata"] = json!({ "archived": true, "locked": true });
    let News::ThreadUpdated(updated) = of("THREAD_UPDATE", &archived) else {
        panic!("an update");
    };
    assert_eq!(updated.state, ThreadState::Locked);
    archived["thread_metadata"] = json!({ "archived": true });
    let News::ThreadUpdated(updated) = of("THREAD_UPDATE", &archived) else {
        panic!("an update");
    };
    assert_eq!(updated.state, ThreadState::Archived);
    let deleted = json!({ "id": "500", "guild_id": "300", "parent_id": "400", "type": 11 });
    assert_eq!(
        of("THREAD_DELETE", &deleted),
        News::ThreadDeleted(channel(500))
    );
    let sync = json!({ "guild_id": "300", "channel_ids": ["400"], "threads": [thread(500)] });
    let News::Threads { parents, threads } = of("THREAD_LIST_SYNC", &sync) else {
        panic!("a list");
    };
    assert_eq!((parents, threads.len()), (vec![channel(400)], 1));
}

#[test]
fn what_may_change_permissions_is_told() {
    let guild = GuildId::from_number(300).ok();
    let role = json!({ "guild_id": "300", "role": { "id": "301" } });
    let member = |user: u64| json!({ "guild_id": "300", "user": { "id": user.to_string() } });
    let cases = [
        ("GUILD_ROLE_UPDATE", role.clone(), true),
        ("GUILD_ROLE_DELETE", role, true),
        ("GUILD_MEMBER_UPDATE", member(BOT), true),
        ("GUILD_MEMBER_UPDATE", member(200), false),
    ];
    for (kind, body, want) in cases {
        let want = want.then_some(News::PermissionsMoved(guild));
        assert_eq!(news(kind, &body), want, "{kind}");
    }
    let changed = json!({ "id": "400", "type": 0, "guild_id": "300" });
    assert!(matches!(
        news("CHANNEL_UPDATE", &changed),
        Some(News::Channel(_))
    ));
    let deleted = news("CHANNEL_DELETE", &changed);
    assert_eq!(deleted, Some(News::ChannelDeleted(channel(400))));
}

#[test]
fn a_press_says_who_what_and_where_and_hides_its_token() {
    let press = json!({
        "id": "12",
        "application_id": "101",
        "type": 3,
        "token": "aW50ZXJhY3Rpb24",
        "guild_id": "300",
        "channel_id": "500",
        "channel": { "id": "500", "type": 11 },
        "member": { "nick": "Ana", "user": { "id": "200", "username": "ana" }, "roles": [] },
        "message": { "id": "9", "channel_id": "500" },
        "data": { "component_type": 2, "custom_id": "ask:x:once", "id": 3 },
    });
    let Some(News::Pressed(pressed)) = news("INTERACTION_CREATE", &press) else {
        panic!("a press");
    };
    assert_eq!(pressed.id.get(), 12);
    assert_eq!(pressed.custom_id, "ask:x:once");
    assert_eq!((pressed.user.get(), pressed.name.as_str()), (200, "Ana"));
    assert_eq!(pressed.message.map(MessageId::get), Some(9));
    assert_eq!(pressed.channel, Some(channel(500)));
    assert_eq!(pressed.token.reveal(), "aW50ZXJhY3Rpb24");
    assert!(!format!("{pressed:?}").contains("aW50"));

    for (field, value) in [
        ("type", json!(2)),
        ("data", json!({ "component_type": 3, "custom_id": "x" })),
        ("token", json!("../../users/@me")),
        ("member", json!(null)),
    ] {
        let mut other = press.clone();
        other[field] = value;
        assert_eq!(news("INTERACTION_CREATE", &other), None, "{field}");
    }
}

#[test]
fn a_press_outside_the_bound_server_is_ignored_for_a_reason() {
    let guild = |number| GuildId::from_number(number).expect("not zero");
    let press = json!({
        "id": "12", "type": 3, "token": "aW50ZXJhY3Rpb24", "guild_id": "300", "channel_id": "500",
        "member": { "user": { "id": "200", "username": "ana" } },
        "message": { "id": "9" },
        "data": { "component_type": 2, "custom_id": "ask:x:once" },
    });
    let read = |fields: &[(&str, Value)]| {
        let mut press = press.clone();
        for (field, value) in fields {
            press[*field] = value.clone();
        }
        let pressed = match news("INTERACTION_CREATE", &press) {
            Some(News::Pressed(pressed)) => Some(*pressed),
            _ => None,
        };
        pressed.map(|pressed| pressed.on_a_card_in(guild(300)))
    };
    let nobody = json!(null);
    let ana = json!({ "id": "200", "username": "ana" });
    let direct = [
        ("guild_id", nobody.clone()),
        ("member", nobody.clone()),
        ("user", ana.clone()),
    ];
    assert_eq!(read(&direct), Some(Err(PressIgnored::DirectMessage)));
    let cases = [
        ("guild_id", json!("301"), PressIgnored::OtherGuild),
        ("message", json!({}), PressIgnored::NoMessage),
        ("message", nobody.clone(), PressIgnored::NoMessage),
        ("channel_id", nobody.clone(), PressIgnored::NoMessage),
    ];
    for (field, value, want) in cases {
        assert_eq!(read(&[(field, value)]), Some(Err(want)), "{field}");
    }
    // In a server nobody but the member is the presser, whoever else the event names.
    assert_eq!(read(&[("member", nobody), ("user", ana)]), None);

    let card = read(&[]).expect("a press").expect("of this server");
    assert_eq!((card.id.get(), card.user.get()), (12, 200));
    assert_eq!((card.channel, card.message.get()), (channel(500), 9));
    assert!(!format!("{card:?}").contains("aW50"));
    assert_eq!(card.token.into_secret(), "aW50ZXJhY3Rpb24");
}

#[test]
fn kinds_without_use_are_nothing_and_broken_ones_lose_nothing_else() {
    for kind in ["TYPING_START", "PRESENCE_UPDATE", "NEVER_HEARD_OF", ""] {
        assert_eq!(news(kind, &json!({ "id": "1" })), None);
    }
    for kind in [
        "MESSAGE_DELETE",
        "THREAD_CREATE",
        "CHANNEL_UPDATE",
        "INTERACTION_CREATE",
    ] {
        for body in [json!(null), json!([]), json!({}), json!({ "id": "0" })] {
            assert_eq!(news(kind, &body), None, "{kind}");
        }
    }
    let broken = news("MESSAGE_CREATE", &json!({ "id": "7" }));
    let message = MessageId::from_number(7).ok();
    assert_eq!(
        broken,
        Some(News::Unreadable {
            event: "MESSAGE_CREATE",
            message
        })
    );
}
