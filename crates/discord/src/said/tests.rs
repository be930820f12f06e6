//! Messages in every shape that has cost others a message.

use super::*;
use serde_json::{Value, json};

fn bot() -> UserId {
    UserId::from_number(100).expect("not zero")
}

fn plain() -> Value {
    json!({
        "id": "7",
        "channel_id": "400",
        "guild_id": "300",
        "type": 0,
        "content": "hello",
        "author": { "id": "200", "username": "ana", "discriminator": "0", "avatar": null },
        "member": { "nick": null, "roles": [] },
        "mentions": [],
        "attachments": [],
        "embeds": [],
        "timestamp": "2026-11-30T13:08:38.838000+00:00",
        "edited_timestamp": null,
        "flags": 0,
    })
}

fn with(changes: Value) -> Value {
    let mut message = plain();
    for (name, value) in changes.as_object().expect("an object") {
        message[name] = value.clone();
    }
    message
}

fn read(message: &Value) -> Option<Heard> {
    let text = message.to_string();
    let message: Message<'_> = serde_json::from_str(&text).expect("an object");
    heard(
        &message,
        None,
        Lens {
            bot: bot(),
            reach: Reach::Network,
        },
    )
}

fn said(message: &Value) -> Said {
    read(message).expect("a message").said
}

#[test]
fn no_odd_value_loses_a_message() {
    let mut without_discriminator = plain();
    without_discriminator["author"] = json!({ "id": "200", "username": "ana" });
    let cases = [
        (
            "null lists",
            with(json!({ "mentions": null, "attachments": null, "embeds": null })),
        ),
        (
            "lists of the wrong type",
            with(json!({ "mentions": {}, "attachments": "x" })),
        ),
        (
            "milliseconds and Z",
            with(json!({ "timestamp": "2026-11-30T13:08:38.838Z" })),
        ),
        (
            "no fraction and Z",
            with(json!({ "timestamp": "2026-11-30T13:08:38Z" })),
        ),
        ("no timestamp", with(json!({ "timestamp": null }))),
        (
            "odd avatar",
            with(json!({ "author": { "id": "200", "username": "ana", "avatar": "not-a-hash" } })),
        ),
        (
            "id zero inside",
            with(json!({ "mentions": [{ "id": "0" }], "application_id": "0" })),
        ),
        ("no discriminator", without_discriminator),
        (
            "unknown fields",
            with(json!({ "shiny": { "new": [1, 2, 3] } })),
        ),
        (
            "flags beyond 32 bits",
            with(json!({ "flags": 1_u64 << 53 })),
        ),
        (
            "half-filled collectibles",
            with(json!({ "author": {
                "id": "200", "username": "ana", "collectibles": { "nameplate": {} },
            } })),
        ),
        (
            "ids as numbers",
            with(json!({ "id": 7, "channel_id": 400, "guild_id": 300 })),
        ),
        ("member null", with(json!({ "member": null }))),
        (
            "unknown component",
            with(json!({ "components": [{ "type": 99 }] })),
        ),
    ];
    for (name, message) in cases {
        assert_eq!(said(&message), said(&plain()), "{name}");
    }
    let said = said(&with(json!({ "type": 300 })));
    assert_eq!(said.kind, SaidKind::Other(300));
}

#[test]
fn only_a_message_without_id_channel_or_author_is_unreadable() {
    for changes in [
        json!({ "id": "0" }),
        json!({ "channel_id": null }),
        json!({ "author": null }),
        json!({ "author": { "id": "0" } }),
    ] {
        assert_eq!(read(&with(changes)), None);
    }
}

#[test]
fn the_author_is_what_discord_says_and_not_what_a_name_says() {
    let author = |more: Value| {
        let mut author = json!({ "id": "200", "username": "ana" });
        for (name, value) in more.as_object().expect("an object") {
            author[name] = value.clone();
        }
        author
    };
    let cases = [
        (json!({}), AuthorKind::Person),
        (
            json!({ "author": author(json!({ "bot": true })) }),
            AuthorKind::Bot,
        ),
        (
            json!({ "author": author(json!({ "system": true })) }),
            AuthorKind::System,
        ),
        (
            json!({ "webhook_id": "200", "author": author(json!({ "bot": true })) }),
            AuthorKind::Webhook,
        ),
        (
            json!({ "author": author(json!({ "bot": "true" })) }),
            AuthorKind::Person,
        ),
    ];
    for (changes, kind) in cases {
        assert_eq!(said(&with(changes.clone())).author.kind, kind, "{changes}");
    }
    let names = [
        (
            json!({ "nick": "Nick" }),
            json!({ "global_name": "Global" }),
            "Nick",
        ),
        (
            json!({ "nick": "  " }),
            json!({ "global_name": "Global" }),
            "Global",
        ),
        (json!({}), json!({ "global_name": null }), "ana"),
    ];
    for (member, more, want) in names {
        let message = with(json!({ "member": member, "author": author(more) }));
        assert_eq!(said(&message).author.name.as_str(), want);
    }
}

#[test]
fn only_the_bot_in_the_list_of_mentions_is_a_mention() {
    let cases = [
        (json!({ "mentions": [{ "id": "100" }] }), Mentioned::Yes),
        (
            json!({ "mentions": [{ "id": "201" }, { "id": "100" }] }),
            Mentioned::Yes,
        ),
        (
            json!({ "mention_everyone": true, "content": "@everyone" }),
            Mentioned::No,
        ),
        (json!({ "mention_roles": ["100"] }), Mentioned::No),
        (json!({ "content": "<@100>" }), Mentioned::No),
    ];
    for (changes, want) in cases {
        assert_eq!(said(&with(changes.clone())).mentions_bot, want, "{changes}");
    }
}

#[test]
fn a_reply_quotes_and_a_forward_is_no_reply() {
    let quoted = json!({ "id": "6", "channel_id": "400", "content": "before",
        "author": { "id": "201", "username": "ben" } });
    let reply = said(&with(json!({
        "type": 19,
        "message_reference": { "type": 0, "message_id": "6" },
        "referenced_message": quoted,
    })));
    assert_eq!(reply.kind, SaidKind::Reply);
    assert_eq!(reply.replies_to.map(MessageId::get), Some(6));
    let want = Enclosed::Quoted {
        author: MessageText::new("ben"),
        text: MessageText::new("before"),
    };
    assert_eq!(reply.enclosed, [want]);

    let orphan = said(&with(json!({
        "type": 19,
        "message_reference": { "message_id": "6" },
        "referenced_message": null,
    })));
    assert_eq!(
        (orphan.replies_to.map(MessageId::get), orphan.enclosed.len()),
        (Some(6), 0)
    );

    let forward = said(&with(json!({
        "content": "",
        "message_reference": { "type": 1, "message_id": "6" },
        "message_snapshots": [{ "message": {
            "content": "forwarded",
            "attachments": [{ "filename": "a.txt", "size": 3 }],
        } }],
    })));
    assert_eq!((forward.kind, forward.replies_to), (SaidKind::Plain, None));
    assert_eq!(forward.enclosed.len(), 2);
    assert_eq!(
        forward.enclosed[0],
        Enclosed::Forwarded {
            text: MessageText::new("forwarded")
        }
    );
}

#[test]
fn what_stands_beside_a_quoted_text_is_named_and_never_read() {
    let files = said(&with(json!({
        "type": 19,
        "message_reference": { "type": 0, "message_id": "6" },
        "referenced_message": {
            "id": "6", "channel_id": "400", "content": "",
            "author": { "id": "201", "username": "ben" },
            "attachments": [{
                "filename": "plan.txt", "content_type": "text/plain", "size": 12,
                "url": "https://cdn.discordapp.com/attachments/1/2/plan.txt",
            }],
            "sticker_items": [{ "name": "wave" }],
            "poll": { "question": { "text": "lunch?" } },
        },
        "attachments": [{
            "filename": "own.txt", "size": 3,
            "url": "https://cdn.discordapp.com/attachments/1/3/own.txt",
        }],
    })));
    let want =
        "(attached: \"plan.txt\", 12 bytes; not read)\n(sticker: \"wave\")\n(poll: \"lunch?\")";
    assert_eq!(
        files.enclosed[0],
        Enclosed::Quoted {
            author: MessageText::new("ben"),
            text: MessageText::new(want),
        }
    );
    let own = &files.enclosed[1..];
    assert!(
        matches!(own, [Enclosed::Attachment { name, url: Some(_), .. }] if name.as_str() == "own.txt"),
        "the files of the quoted message are nobody's to read"
    );
}

#[test]
fn what_stands_beside_the_text_is_named() {
    let message = with(json!({
        "content": "",
        "attachments": [
            {
                "filename": "message.txt",
                "content_type": "text/plain; charset=utf-8",
                "size": 102_400,
                "url": "https://cdn.discordapp.com/attachments/1/2/message.txt?ex=1&is=2&hm=3",
            },
            { "filename": "x", "size": "12", "url": "https://evil.example/x" },
        ],
        "sticker_items": [{ "id": "5", "name": "wave", "format_type": 1 }],
        "poll": {
            "question": { "text": "lunch?" },
            "answers": [
                { "answer_id": 1, "poll_media": { "text": "soup" } },
                { "answer_id": 2, "poll_media": { "emoji": {} } },
            ],
        },
    }));
    let text = MessageText::new;
    let want = [
        Enclosed::Attachment {
            name: text("message.txt"),
            media: Some(text("text/plain; charset=utf-8")),
            bytes: 102_400,
            url: Some(
                "https://cdn.discordapp.com/attachments/1/2/message.txt?ex=1&is=2&hm=3".into(),
            ),
            text: None,
        },
        Enclosed::Attachment {
            name: text("x"),
            media: None,
            bytes: 12,
            url: None,
            text: None,
        },
        Enclosed::Sticker { name: text("wave") },
        Enclosed::Poll {
            question: text("lunch?"),
            answers: vec![text("soup"), text("")],
        },
    ];
    assert_eq!(said(&message).enclosed, want);
}

#[test]
fn an_update_is_an_edit_only_where_a_person_edited() {
    let cases = [
        (
            json!({ "edited_timestamp": "2026-11-30T13:08:38.838000+00:00" }),
            true,
        ),
        (json!({ "edited_timestamp": null }), false),
        (json!({ "content": null }), false),
        (json!({ "author": null, "edited_timestamp": "x" }), false),
    ];
    for (changes, want) in cases {
        let text = with(changes.clone()).to_string();
        let message: Message<'_> = serde_json::from_str(&text).expect("an object");
        assert_eq!(is_edit(&message), want, "{changes}");
    }
}

#[test]
fn a_nonce_is_read_as_text_and_as_a_number() {
    let cases = [
        (json!("abc"), Some("abc")),
        (json!(123), Some("123")),
        (json!(null), None),
    ];
    for (nonce, want) in cases {
        let heard = read(&with(json!({ "nonce": nonce }))).expect("a message");
        assert_eq!(heard.nonce.as_deref(), want);
    }
}

#[test]
fn hostile_text_arrives_as_it_is_and_broken_text_is_mended() {
    let text = with(json!({ "content": "a" })).to_string();
    let text = text.replace(
        r#""content":"a""#,
        r#""content":"a\u0000\ud800\ufeff\u202e""#,
    );
    let message: Message<'_> = serde_json::from_str(&text).expect("an object");
    let heard = heard(
        &message,
        None,
        Lens {
            bot: bot(),
            reach: Reach::Network,
        },
    );
    let said = heard.expect("a message").said;
    assert_eq!(said.text.as_str(), "a\u{0}\u{fffd}\u{feff}\u{202e}");
}

#[test]
fn deletions_of_one_and_of_many_are_read_alike() {
    let read = |json: Value| {
        let text = json.to_string();
        let gone = deleted(&serde_json::from_str(&text).expect("an object"));
        gone.iter().map(|gone| gone.id.get()).collect::<Vec<_>>()
    };
    assert_eq!(read(json!({ "id": "7", "channel_id": "400" })), [7]);
    assert_eq!(
        read(json!({ "ids": ["7", "8", null, "0"], "channel_id": "400" })),
        [7, 8]
    );
    assert_eq!(read(json!({ "id": "7" })), [0_u64; 0]);
}
