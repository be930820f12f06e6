//! Sending, editing, reading and deleting.

use guildhall_sim::{Rules, Scenario};
use serde_json::{Value, json};

use crate::harness::Hall;

#[tokio::test]
async fn content_is_counted_in_code_points() {
    let hall = Hall::open().await;
    let cases = [
        ("2000 letters", "a".repeat(2_000), 200),
        ("2001 letters", "a".repeat(2_001), 400),
        ("2000 code points of four bytes", "😀".repeat(2_000), 200),
        ("2001 code points of four bytes", "😀".repeat(2_001), 400),
    ];
    for (name, content, status) in cases {
        let answer = hall.post("general", json!({ "content": content })).await;
        assert_eq!(answer.status, status, "{name}");
        if status == 400 {
            let error = &answer.json()["errors"]["content"]["_errors"][0];
            assert_eq!(error["code"], "BASE_TYPE_MAX_LENGTH", "{name}");
        }
    }
}

#[tokio::test]
async fn a_body_with_nothing_to_send_is_refused() {
    let hall = Hall::open().await;
    let cases = [
        json!({}),
        json!({ "content": "" }),
        json!({ "content": " \n " }),
        json!({ "content": null }),
    ];
    for body in cases {
        assert_eq!(
            hall.post("general", body.clone()).await.refusal(),
            (400, 50006),
            "{body}"
        );
    }
}

#[tokio::test]
async fn every_wrong_field_of_a_form_is_named() {
    let hall = Hall::open().await;
    let body = json!({
        "content": 5,
        "nonce": "x".repeat(26),
        "embeds": [{ "title": "t".repeat(257) }],
        "allowed_mentions": { "parse": ["users"], "users": ["1"] },
        "components": [{ "type": 1, "components": [
            { "type": 2, "style": 1, "label": "a", "custom_id": "same" },
            { "type": 2, "style": 9, "label": "l".repeat(81), "custom_id": "same" },
        ] }],
    });
    let answer = hall.post("general", body).await;
    assert_eq!(answer.refusal(), (400, 50035));
    let errors = &answer.json()["errors"];
    let second = "/components/0/components/1";
    for path in [
        "/content",
        "/nonce",
        "/embeds/0/title",
        "/allowed_mentions",
        &format!("{second}/style"),
        &format!("{second}/label"),
        &format!("{second}/custom_id"),
    ] {
        let found = errors.pointer(&format!("{path}/_errors/0/code"));
        assert!(found.is_some_and(Value::is_string), "{path} in {errors:#}");
    }
}

#[tokio::test]
async fn an_enforced_nonce_gives_back_the_earlier_message_within_its_window() {
    let hall = Hall::frozen(Scenario::for_tests()).await;
    let body = |content: &str| json!({ "content": content, "nonce": "n", "enforce_nonce": true });
    let first = hall.post("general", body("one")).await.json();
    // Neither the channel nor the content counts.
    let again = hall.post("help", body("two")).await.json();
    assert_eq!(
        (&again["id"], &again["content"]),
        (&first["id"], &json!("one"))
    );
    assert_eq!(again["channel_id"], first["channel_id"]);

    let free = hall
        .post("general", json!({ "content": "three", "nonce": "n" }))
        .await
        .json();
    assert_ne!(
        free["id"], first["id"],
        "without enforcement there is a new message"
    );

    hall.advance(300_000).await;
    let late = hall.post("general", body("four")).await.json();
    assert_eq!(late["content"], "four", "outside the window");
}

#[tokio::test]
async fn an_enforced_nonce_whose_message_was_deleted_is_refused() {
    let hall = Hall::open().await;
    let body = json!({ "content": "one", "nonce": "n", "enforce_nonce": true });
    let first = hall.post("general", body.clone()).await.json();
    let id = first["id"].as_str().expect("an id");
    let path = format!("/channels/{}/messages/{id}", hall.channel("general"));
    assert_eq!(hall.bot("DELETE", &path, None).await.status, 204);
    assert_eq!(hall.post("general", body).await.refusal(), (404, 10008));
}

#[tokio::test]
async fn a_reply_to_a_message_that_is_gone_fails_unless_the_sender_says_otherwise() {
    let hall = Hall::open().await;
    let body = |flag: Option<bool>| {
        let mut reference = json!({ "message_id": "12345" });
        if let Some(flag) = flag {
            reference["fail_if_not_exists"] = json!(flag);
        }
        json!({ "content": "re", "message_reference": reference })
    };
    for flag in [None, Some(true)] {
        let answer = hall.post("general", body(flag)).await;
        assert_eq!(answer.refusal(), (400, 50035));
        let code = &answer.json()["errors"]["message_reference"]["_errors"][0]["code"];
        assert_eq!(code, "MESSAGE_REFERENCE_UNKNOWN_MESSAGE");
    }
    let sent = hall.post("general", body(Some(false))).await.json();
    assert_eq!(sent["type"], 0);
    assert!(sent.get("message_reference").is_none());
}

#[tokio::test]
async fn mentions_follow_what_the_sender_allows() {
    let hall = Hall::open().await;
    let ana = hall.user("Ana");
    let text = format!("<@{ana}> @everyone");
    let said = hall.say("general", "Ana", "hello").await;
    let reply = |allowed: Value| {
        let mut body =
            json!({ "content": "re", "message_reference": { "message_id": said["id"] } });
        if !allowed.is_null() {
            body["allowed_mentions"] = allowed;
        }
        body
    };
    let cases = [
        ("the default", json!({ "content": text }), 1),
        (
            "nothing",
            json!({ "content": text, "allowed_mentions": { "parse": [] } }),
            0,
        ),
        (
            "this user",
            json!({ "content": text, "allowed_mentions": { "users": [ana] } }),
            1,
        ),
        (
            "another user",
            json!({ "content": text, "allowed_mentions": { "users": ["5"] } }),
            0,
        ),
        ("a reply by default", reply(Value::Null), 1),
        ("a silent reply", reply(json!({ "parse": [] })), 0),
        (
            "a reply that pings",
            reply(json!({ "parse": [], "replied_user": true })),
            1,
        ),
    ];
    for (name, body, count) in cases {
        let sent = hall.post("general", body).await.json();
        assert_eq!(
            sent["mentions"].as_array().map(Vec::len),
            Some(count),
            "{name}"
        );
        assert_eq!(sent["mention_everyone"], false, "{name}: the bot may not");
    }
}

#[tokio::test]
async fn history_comes_newest_first_in_windows() {
    let hall = Hall::open().await;
    let mut ids = Vec::new();
    for number in 0..5 {
        ids.push(hall.say("help", "Ana", &number.to_string()).await["id"].clone());
    }
    let channel = hall.channel("help");
    let id = |index: usize| ids[index].as_str().expect("an id");
    let cases = [
        ("all", String::new(), vec!["4", "3", "2", "1", "0"]),
        ("limited", "?limit=2".to_owned(), vec!["4", "3"]),
        (
            "before",
            format!("?before={}&limit=2", id(3)),
            vec!["2", "1"],
        ),
        ("after", format!("?after={}&limit=2", id(1)), vec!["3", "2"]),
        (
            "around",
            format!("?around={}&limit=3", id(2)),
            vec!["3", "2", "1"],
        ),
    ];
    for (name, query, want) in cases {
        let page = hall
            .get(&format!("/channels/{channel}/messages{query}"))
            .await
            .json();
        let got: Vec<&str> = page
            .as_array()
            .expect("a list")
            .iter()
            .filter_map(|m| m["content"].as_str())
            .collect();
        assert_eq!(got, want, "{name}");
    }
    let wrong = hall
        .get(&format!("/channels/{channel}/messages?limit=101"))
        .await;
    assert_eq!(wrong.refusal(), (400, 50035));
}

#[tokio::test]
async fn edits_change_only_what_they_name_and_only_own_messages() {
    let hall = Hall::open().await;
    let (mut gateway, _) = hall.login().await;
    let general = hall.channel("general");
    let body = json!({ "content": "one", "embeds": [{ "title": "t" }] });
    let sent = hall.post("general", body).await.json();
    let path = format!(
        "/channels/{general}/messages/{}",
        sent["id"].as_str().expect("an id")
    );
    let edited = hall
        .bot("PATCH", &path, Some(json!({ "content": "two" })))
        .await
        .json();
    assert_eq!(
        (&edited["content"], &edited["embeds"][0]["title"]),
        (&json!("two"), &json!("t"))
    );
    assert!(edited["edited_timestamp"].is_string());
    let event = gateway.event("MESSAGE_UPDATE").await;
    assert_eq!(
        (&event["content"], &event["author"]["id"]),
        (&json!("two"), &sent["author"]["id"])
    );

    let empty = json!({ "content": "", "embeds": [] });
    assert_eq!(
        hall.bot("PATCH", &path, Some(empty)).await.refusal(),
        (400, 50006)
    );
    let other = hall.say("general", "Ana", "mine").await;
    let path = format!(
        "/channels/{general}/messages/{}",
        other["id"].as_str().expect("an id")
    );
    let answer = hall
        .bot("PATCH", &path, Some(json!({ "content": "x" })))
        .await;
    assert_eq!(answer.refusal(), (403, 50005));
    assert_eq!(
        hall.bot("DELETE", &path, None).await.refusal(),
        (403, 50013)
    );
}

#[tokio::test]
async fn old_messages_can_be_edited_only_a_few_times_an_hour() {
    let rules = Rules {
        old_edits_per_hour: 2,
        ..Rules::lenient()
    };
    let hall = Hall::frozen(Scenario {
        rules,
        ..Scenario::for_tests()
    })
    .await;
    let sent = hall
        .post("general", json!({ "content": "one" }))
        .await
        .json();
    let id = sent["id"].as_str().expect("an id");
    let path = format!("/channels/{}/messages/{id}", hall.channel("general"));
    let edit = async || {
        hall.bot("PATCH", &path, Some(json!({ "content": "two" })))
            .await
    };
    assert_eq!(edit().await.status, 200, "a young message");
    hall.advance(3_600_001).await;
    assert_eq!([edit().await.status, edit().await.status], [200, 200]);
    assert_eq!(edit().await.refusal(), (429, 30046));
    hall.advance(3_600_000).await;
    assert_eq!(edit().await.status, 200, "an hour later");
}

#[tokio::test]
async fn unknown_things_are_named() {
    let hall = Hall::open().await;
    let (guild, general) = (hall.sim.guild(), hall.channel("general"));
    let cases = [
        ("GET", "/channels/5".to_owned(), (404, 10003)),
        (
            "GET",
            format!("/channels/{general}/messages/5"),
            (404, 10008),
        ),
        (
            "DELETE",
            format!("/channels/{general}/messages/5"),
            (404, 10008),
        ),
        ("GET", "/guilds/5".to_owned(), (404, 10004)),
        ("GET", "/users/5".to_owned(), (404, 10013)),
        ("GET", format!("/guilds/{guild}/members/5"), (404, 10013)),
        ("GET", "/nowhere".to_owned(), (404, 0)),
        ("PUT", "/gateway/bot".to_owned(), (405, 0)),
    ];
    for (method, path, want) in cases {
        assert_eq!(
            hall.bot(method, &path, None).await.refusal(),
            want,
            "{method} {path}"
        );
    }
}

#[tokio::test]
async fn a_direct_message_is_opened_once_and_reaches_both() {
    let hall = Hall::open().await;
    let (mut gateway, _) = hall.login().await;
    let body = json!({ "recipient_id": hall.user("Ana") });
    let open = async || {
        hall.bot("POST", "/users/@me/channels", Some(body.clone()))
            .await
            .json()
    };
    let first = open().await;
    assert_eq!(first["id"], open().await["id"]);
    assert_eq!(first["recipients"][0]["global_name"], "Ana");
    let channel = first["id"].as_str().expect("an id").to_owned();
    hall.say(&channel, "Ana", "psst").await;
    let event = gateway.event("MESSAGE_CREATE").await;
    assert_eq!(
        (&event["content"], &event["channel_type"]),
        (&json!("psst"), &json!(1))
    );
    assert!(event.get("guild_id").is_none());
    let path = format!("/channels/{channel}/messages");
    assert_eq!(
        hall.bot("POST", &path, Some(json!({ "content": "yes?" })))
            .await
            .status,
        200
    );
}

#[tokio::test]
async fn files_forwards_and_polls_arrive_in_their_own_shape() {
    let hall = Hall::open().await;
    let (mut gateway, _) = hall.login().await;
    let file = json!({ "filename": "a b.txt", "content": "long text" });
    let wish = json!({ "channel": "general", "author": "Ana", "files": [file] });
    hall.control("POST", "/messages", wish).await;
    let event = gateway.event("MESSAGE_CREATE").await;
    let attachment = &event["attachments"][0];
    assert_eq!(
        (&attachment["filename"], &attachment["size"]),
        (&json!("a b.txt"), &json!(9))
    );
    let url = attachment["url"].as_str().expect("an address");
    let request = hyper::Request::get(url)
        .body(Default::default())
        .expect("a request");
    assert_eq!(
        hall.request(request).await.expect("the file").text,
        "long text"
    );

    let source = hall.say("general", "Ben", "look at this").await;
    let forward = json!({ "channel": "general", "message": source["id"] });
    let wish = json!({ "channel": "help", "author": "Ana", "forward": forward });
    hall.control("POST", "/messages", wish).await;
    gateway.event("MESSAGE_CREATE").await;
    let event = gateway.event("MESSAGE_CREATE").await;
    assert_eq!((&event["content"], &event["type"]), (&json!(""), &json!(0)));
    assert_eq!(
        event["message_snapshots"][0]["message"]["content"],
        "look at this"
    );
    assert_eq!(event["message_reference"]["type"], 1);

    let poll = json!({ "question": { "text": "Lunch?" }, "answers": [{ "poll_media": { "text": "Yes" } }] });
    let sent = hall.post("general", json!({ "poll": poll })).await.json();
    assert_eq!(sent["poll"]["answers"][0]["answer_id"], 1);
}

#[tokio::test]
async fn a_bot_uploads_a_file_by_multipart() {
    let hall = Hall::open().await;
    let payload =
        json!({ "content": "see file", "attachments": [{ "id": 0, "description": "notes" }] });
    let body = format!(
        "--b\r\nContent-Disposition: form-data; name=\"payload_json\"\r\n\r\n{payload}\r\n\
         --b\r\nContent-Disposition: form-data; name=\"files[0]\"; filename=\"n.txt\"\r\n\
         Content-Type: text/plain\r\n\r\nnotes\r\n--b--\r\n"
    );
    let uri = format!(
        "{}/api/v10/channels/{}/messages",
        hall.sim.origin(),
        hall.channel("general")
    );
    let request = hyper::Request::post(uri)
        .header("authorization", format!("Bot {}", hall.sim.token()))
        .header("content-type", "multipart/form-data; boundary=b")
        .body(body.into())
        .expect("a request");
    let sent = hall.request(request).await.expect("an answer").json();
    let file = &sent["attachments"][0];
    assert_eq!(
        (&file["filename"], &file["description"]),
        (&json!("n.txt"), &json!("notes"))
    );
}
