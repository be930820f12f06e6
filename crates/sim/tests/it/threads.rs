//! Threads and forum posts.

use serde_json::{Value, json};

use crate::harness::Hall;

#[tokio::test]
async fn a_thread_from_a_message_has_the_messages_id() {
    let hall = Hall::open().await;
    let (mut gateway, _) = hall.login().await;
    let said = hall.say("general", "Ana", "a topic").await;
    let general = hall.channel("general");
    let path = format!(
        "/channels/{general}/messages/{}/threads",
        said["id"].as_str().expect("an id")
    );
    let body = json!({ "name": "The topic", "auto_archive_duration": 60 });
    let made = hall.bot("POST", &path, Some(body.clone())).await;
    assert_eq!(made.status, 201);
    let made = made.json();
    assert_eq!(
        (&made["id"], &made["parent_id"]),
        (&said["id"], &json!(general))
    );
    assert_eq!(made["thread_metadata"]["auto_archive_duration"], 60);
    let event = gateway.event("THREAD_CREATE").await;
    assert_eq!(
        (&event["id"], &event["newly_created"]),
        (&said["id"], &json!(true))
    );
    let starter = gateway.event("MESSAGE_CREATE").await;
    assert_eq!(
        (&starter["type"], &starter["channel_id"]),
        (&json!(21), &said["id"])
    );
    assert_eq!(
        hall.bot("POST", &path, Some(body)).await.refusal(),
        (400, 160004)
    );
}

#[tokio::test]
async fn a_thread_without_a_type_becomes_private() {
    let hall = Hall::open().await;
    let path = format!("/channels/{}/threads", hall.channel("general"));
    for (kind, want) in [(None, 12), (Some(11), 11), (Some(12), 12)] {
        let mut body = json!({ "name": "t" });
        if let Some(kind) = kind {
            body["type"] = json!(kind);
        }
        let made = hall.bot("POST", &path, Some(body)).await;
        assert_eq!((made.status, &made.json()["type"]), (201, &json!(want)));
    }
    let wrong = json!({ "name": "", "type": 11, "auto_archive_duration": 5 });
    let answer = hall.bot("POST", &path, Some(wrong)).await;
    assert_eq!(answer.refusal(), (400, 50035));
}

#[tokio::test]
async fn a_private_thread_is_unknown_to_those_outside_until_they_are_added() {
    let hall = Hall::open().await;
    let (mut gateway, _) = hall.login().await;
    let wish = json!({ "channel": "general", "user": "Ana", "name": "quiet", "private": true });
    let thread = hall.control("POST", "/threads", wish).await;
    let thread = thread["id"].as_str().expect("an id").to_owned();
    hall.say(&thread, "Ana", "unheard").await;
    assert_eq!(gateway.drain().await, Vec::<Value>::new());
    assert_eq!(
        hall.get(&format!("/channels/{thread}")).await.refusal(),
        (403, 50001)
    );
    hall.control(
        "PATCH",
        "/threads",
        json!({ "thread": thread, "add": "Seat" }),
    )
    .await;
    let event = gateway.event("THREAD_CREATE").await;
    assert_eq!(event["id"], thread);
    assert!(
        event.get("newly_created").is_none(),
        "an old thread for a new member"
    );
    hall.say(&thread, "Ana", "heard").await;
    assert_eq!(gateway.event("MESSAGE_CREATE").await["content"], "heard");
}

#[tokio::test]
async fn a_forum_takes_posts_and_no_messages() {
    let hall = Hall::open().await;
    let (mut gateway, _) = hall.login().await;
    assert_eq!(
        hall.post("questions", json!({ "content": "x" }))
            .await
            .refusal(),
        (400, 40058)
    );
    let path = format!("/channels/{}/threads", hall.channel("questions"));
    let body = json!({ "name": "A post", "message": { "content": "its first message" } });
    let made = hall.bot("POST", &path, Some(body)).await;
    assert_eq!(made.status, 201);
    let made = made.json();
    assert_eq!(
        made["message"]["id"], made["id"],
        "the first message has the post's id"
    );
    let thread = gateway.event("THREAD_CREATE").await;
    let first = gateway.event("MESSAGE_CREATE").await;
    assert_eq!((&thread["id"], &first["id"]), (&made["id"], &made["id"]));
    let bare = hall
        .bot("POST", &path, Some(json!({ "name": "No message" })))
        .await;
    assert_eq!(bare.refusal(), (400, 50035));
}

#[tokio::test]
async fn an_archived_thread_opens_for_a_message_and_for_nothing_else() {
    let hall = Hall::open().await;
    let (mut gateway, _) = hall.login().await;
    let thread = hall.channel("release notes");
    let sent = hall
        .post("release notes", json!({ "content": "before" }))
        .await
        .json();
    let id = sent["id"].as_str().expect("an id");
    hall.control(
        "PATCH",
        "/threads",
        json!({ "thread": thread, "archived": true }),
    )
    .await;
    gateway.event("THREAD_UPDATE").await;
    let message = format!("/channels/{thread}/messages/{id}");
    let edit = hall
        .bot("PATCH", &message, Some(json!({ "content": "x" })))
        .await;
    assert_eq!(edit.refusal(), (400, 50083));
    let react = hall
        .bot(
            "PUT",
            &format!("{message}/reactions/%F0%9F%91%80/@me"),
            None,
        )
        .await;
    assert_eq!(react.refusal(), (400, 50083));
    let listed = hall
        .get(&format!(
            "/channels/{}/threads/archived/public",
            hall.channel("general")
        ))
        .await;
    assert_eq!(listed.json()["threads"][0]["id"], thread);

    assert_eq!(
        hall.post("release notes", json!({ "content": "after" }))
            .await
            .status,
        200
    );
    let event = gateway.event("THREAD_UPDATE").await;
    assert_eq!(event["thread_metadata"]["archived"], false);
    gateway.event("THREAD_MEMBER_UPDATE").await;
}

#[tokio::test]
async fn a_locked_thread_is_closed_to_those_who_do_not_manage_it() {
    let hall = Hall::open().await;
    let wish = json!({ "thread": "release notes", "locked": true, "archived": true });
    hall.control("PATCH", "/threads", wish).await;
    let text = json!({ "content": "x" });
    assert_eq!(
        hall.post("release notes", text.clone()).await.refusal(),
        (403, 160005)
    );
    let wish = json!({ "channel": "general", "target": "Seat", "allow": ["MANAGE_THREADS"] });
    hall.control("POST", "/overwrites", wish).await;
    assert_eq!(hall.post("release notes", text).await.status, 200);
}

#[tokio::test]
async fn sending_joins_and_leaving_leaves() {
    let hall = Hall::open().await;
    let thread = hall.channel("release notes");
    let me = format!("/channels/{thread}/thread-members/@me");
    assert_eq!(hall.get(&me).await.refusal(), (404, 10007));
    hall.post("release notes", json!({ "content": "here" }))
        .await;
    assert_eq!(hall.get(&me).await.status, 200);
    assert_eq!(
        hall.get(&format!("/channels/{thread}")).await.json()["member"]["id"],
        thread
    );
    assert_eq!(hall.bot("DELETE", &me, None).await.status, 204);
    assert_eq!(hall.get(&me).await.refusal(), (404, 10007));
    assert_eq!(hall.bot("PUT", &me, None).await.status, 204);
    assert_eq!(hall.get(&me).await.status, 200);
}

#[tokio::test]
async fn the_owner_of_a_thread_may_archive_it_and_only_managers_may_lock_it() {
    let hall = Hall::open().await;
    let path = format!("/channels/{}/threads", hall.channel("general"));
    let made = hall
        .bot("POST", &path, Some(json!({ "name": "t", "type": 11 })))
        .await
        .json();
    let path = format!("/channels/{}", made["id"].as_str().expect("an id"));
    let lock = hall
        .bot("PATCH", &path, Some(json!({ "locked": true })))
        .await;
    assert_eq!(lock.refusal(), (403, 50013));
    let archive = hall
        .bot("PATCH", &path, Some(json!({ "archived": true })))
        .await;
    assert_eq!(archive.json()["thread_metadata"]["archived"], true);
    let rename = hall
        .bot("PATCH", &path, Some(json!({ "name": "other" })))
        .await;
    assert_eq!(rename.refusal(), (400, 50083));
    assert_eq!(
        hall.bot("DELETE", &path, None).await.refusal(),
        (403, 50013)
    );
}

#[tokio::test]
async fn a_guild_has_room_for_a_thousand_active_threads() {
    let hall = Hall::open().await;
    let wish = json!({ "channel": "help", "user": "Ana", "name": "t" });
    // Two are there from the start.
    for _ in 0..998 {
        hall.control("POST", "/threads", wish.clone()).await;
    }
    assert_eq!(
        hall.try_control("POST", "/threads", wish).await.refusal(),
        (400, 160006)
    );
    let path = format!("/channels/{}/threads", hall.channel("general"));
    let body = json!({ "name": "t", "type": 11 });
    assert_eq!(
        hall.bot("POST", &path, Some(body.clone())).await.refusal(),
        (400, 160006)
    );
    let wish = json!({ "thread": "release notes", "archived": true });
    hall.control("PATCH", "/threads", wish).await;
    assert_eq!(hall.bot("POST", &path, Some(body)).await.status, 201);
}
