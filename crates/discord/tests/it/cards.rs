//! Cards: a post with buttons and a file, its edit, and the answers to presses.

use crate::fake::{
    Answer, Api, BOT, HALL, Part, bot, client, hall, hasty_client, message, message_id,
};
use guildhall_authority::ask::AskId;
use guildhall_discord::{
    InteractionId, InteractionToken,
    rest::{
        Button, Content, Nonce, NotSentWhy, Outcome, Posted, Press, Reason, Reply, UnknownWhy,
        Upload,
    },
};
use serde_json::{Value, json};
use std::time::Duration;

const DIFF: &str = "+ a line\n\u{1f600} ``` \r\n--guildhall-part-0--\r\n";

fn own(text: &str) -> Value {
    let mut own = message(9, text);
    own["author"] = json!({ "id": BOT.to_string(), "username": "seat", "bot": true });
    own
}

fn ask() -> AskId {
    "00112233445566aa".parse().expect("the id of an ask")
}

fn press() -> (InteractionId, InteractionToken) {
    let id = InteractionId::from_number(12).expect("not zero");
    let token = InteractionToken::parse("aW50ZXJhY3Rpb24").expect("a token");
    (id, token)
}

async fn post(api: &Api) -> Outcome<Posted> {
    let rows = [Button::once_and_deny(ask())];
    let card = Content {
        text: "Create notes/today.md?",
        pings: &[bot()],
        buttons: &rows,
    };
    let nonce = Nonce::parse("nonce-1").expect("a nonce");
    let files = [("change.diff", DIFF), ("request.txt", "Create\n")]
        .map(|(name, text)| Upload::new(name, text).expect("it is small"));
    client(api)
        .create_message_with_files(hall(), card, &files, &nonce, Reply::To(message_id(7)))
        .await
}

#[tokio::test]
async fn a_card_with_files_keeps_its_nonce_reference_pings_and_buttons() {
    let api = Api::start(|_| Answer::ok(own("Create notes/today.md?"))).await;
    let posted = post(&api).await.done().expect("it was answered");
    assert_eq!(posted.id, message_id(9));

    let asked = &api.asked()[0];
    assert_eq!(asked.path, format!("/api/v10/channels/{HALL}/messages"));
    assert_eq!(
        asked.json(),
        json!({
            "content": "Create notes/today.md?",
            "nonce": "nonce-1",
            "enforce_nonce": true,
            "allowed_mentions": {
                "parse": [], "users": [BOT.to_string()], "replied_user": false,
            },
            "message_reference": { "message_id": "7", "fail_if_not_exists": false },
            "components": [{ "type": 1, "components": [
                {
                    "type": 2, "style": 3, "label": "Once", "disabled": false,
                    "custom_id": "ask:00112233445566aa:once",
                },
                {
                    "type": 2, "style": 4, "label": "Deny", "disabled": false,
                    "custom_id": "ask:00112233445566aa:deny",
                },
            ] }],
            "attachments": [
                { "id": "0", "filename": "change.diff" },
                { "id": "1", "filename": "request.txt" },
            ],
        })
    );
    let parts = asked.parts();
    let file = Part {
        head: "Content-Disposition: form-data; name=\"files[0]\"; filename=\"change.diff\"\r\n\
               Content-Type: text/plain; charset=utf-8"
            .to_owned(),
        body: DIFF.to_owned(),
    };
    assert_eq!(parts.len(), 3);
    assert_eq!((&parts[1], parts[2].body.as_str()), (&file, "Create\n"));
}

#[tokio::test]
async fn a_card_that_cannot_be_a_reply_is_posted_alone_with_its_files() {
    let api = Api::start(|asked| {
        if asked.json().get("message_reference").is_some() {
            Answer::failure(400, 160_002)
        } else {
            Answer::ok(own("x"))
        }
    })
    .await;
    assert!(post(&api).await.done().is_some());
    let asked = api.asked();
    assert_eq!(asked.len(), 2);
    assert_eq!(asked[0].json()["nonce"], asked[1].json()["nonce"]);
    assert_eq!(asked[0].parts()[1], asked[1].parts()[1]);
}

/// What the fake answers, what the refusal is.
type Case = (u16, u64, Option<Reason>);

#[tokio::test]
async fn a_card_that_is_refused_is_not_posted_without_its_file() {
    let cases: [Case; 4] = [
        (403, 50_013, Some(Reason::NoPermission)),
        (413, 40_005, Some(Reason::TooLong)),
        (400, 50_045, Some(Reason::TooLong)),
        (500, 0, None),
    ];
    for (status, code, want) in cases {
        let api = Api::start(move |_| Answer::failure(status, code)).await;
        let got = match post(&api).await {
            Outcome::Refused(no) => Some(no.reason),
            Outcome::Unknown(UnknownWhy::Server(500)) => None,
            Outcome::Done(_) | Outcome::NotSent(_) | Outcome::Unknown(_) => Some(Reason::Other),
        };
        assert_eq!((got, api.asked().len()), (want, 1), "{status}");
    }
}

#[tokio::test]
async fn an_edited_card_loses_its_buttons_and_keeps_its_file() {
    type Case = (&'static str, fn() -> Answer, &'static str);
    let cases: [Case; 4] = [
        ("done", || Answer::ok(own("Allowed once.")), "done"),
        ("gone", || Answer::failure(404, 10_008), "refused"),
        ("late", || Answer::failure(502, 0), "unknown"),
        ("slow", || Answer::failure(429, 0), "not sent"),
    ];
    for (name, answer, want) in cases {
        let api = Api::start(move |_| answer()).await;
        let content = Content::text("Allowed once.");
        let edited = client(&api)
            .edit_message(hall(), message_id(9), content)
            .await;
        let got = match edited {
            Outcome::Done(posted) if posted.id == message_id(9) => "done",
            Outcome::Done(_) => "another",
            Outcome::Refused(no) if no.reason == Reason::UnknownMessage => "refused",
            Outcome::Refused(_) => "refused otherwise",
            Outcome::NotSent(no) if matches!(no.why, NotSentWhy::Held(_)) => "not sent",
            Outcome::NotSent(_) => "not sent otherwise",
            Outcome::Unknown(_) => "unknown",
        };
        assert_eq!(got, want, "{name}");
        let asked = &api.asked()[0];
        assert_eq!(asked.method, "PATCH");
        assert_eq!(
            asked.json(),
            json!({
                "content": "Allowed once.",
                "allowed_mentions": { "parse": [], "replied_user": false },
                "components": [],
            }),
            "attachments that are not named stay"
        );
    }
}

#[tokio::test]
async fn a_press_is_answered_in_its_two_ways_without_the_bots_token() {
    let api = Api::start(|_| Answer::Empty(204)).await;
    let rest = client(&api);
    let (id, token) = press();
    let deferred = rest.answer_press(id, &token, Press::Deferred).await;
    let line = Press::Private("Only an operator may decide this.");
    let private = rest.answer_press(id, &token, line).await;
    assert_eq!((deferred, private), (Outcome::Done(()), Outcome::Done(())));
    let asked = api.asked();
    let bodies: Vec<Value> = asked.iter().map(crate::fake::Asked::json).collect();
    assert_eq!(bodies[0], json!({ "type": 6 }));
    assert_eq!(
        bodies[1],
        json!({ "type": 4, "data": {
            "content": "Only an operator may decide this.",
            "flags": 64,
            "allowed_mentions": { "parse": [] },
        } })
    );
    for asked in &asked {
        assert_eq!(
            asked.path,
            "/api/v10/interactions/12/aW50ZXJhY3Rpb24/callback"
        );
        assert_eq!(asked.header("authorization"), None);
    }
}

#[tokio::test]
async fn a_press_is_answered_while_its_channel_and_everything_else_is_held_back() {
    let api = Api::start(|asked| {
        if asked.path.ends_with("/callback") {
            return Answer::Empty(204);
        }
        let body = json!({ "message": "", "retry_after": 3600.0, "global": true });
        Answer::Json(429, body, vec![("x-ratelimit-scope", "global".to_owned())])
    })
    .await;
    let rest = client(&api);
    assert!(matches!(rest.typing(hall()).await, Outcome::NotSent(_)));
    let (id, token) = press();
    let answered = rest.answer_press(id, &token, Press::Deferred).await;
    assert_eq!(answered, Outcome::Done(()));
}

#[tokio::test]
async fn an_answer_to_a_press_does_not_outlast_the_press() {
    // The press's own deadline ends the call: an exchange may take twice as long.
    let late = || {
        let wait = Duration::from_millis(300);
        Answer::Late(wait, Box::new(Answer::Empty(204)))
    };
    for answer in [late as fn() -> Answer, || Answer::Silence] {
        let api = Api::start(move |_| answer()).await;
        let (id, token) = press();
        let rest = hasty_client(&api);
        let got = rest.answer_press(id, &token, Press::Deferred).await;
        assert_eq!(got, Outcome::Unknown(UnknownWhy::TimedOut));
    }
    let limited = Vec::from([("x-ratelimit-reset-after", "1".to_owned())]);
    let api =
        Api::start(move |_| Answer::Json(429, json!({ "retry_after": 1.0 }), limited.clone()))
            .await;
    let (id, token) = press();
    let rest = hasty_client(&api);
    let held = rest.answer_press(id, &token, Press::Deferred).await;
    assert!(matches!(held, Outcome::NotSent(_)), "{held:?}");
}

#[tokio::test]
async fn a_press_that_is_over_ends_nothing_but_itself() {
    for (status, code) in [(404, 10_062), (400, 40_060), (401, 50_027)] {
        let api = Api::start(move |_| Answer::failure(status, code)).await;
        let (id, token) = press();
        let rest = client(&api);
        let late = rest.answer_press(id, &token, Press::Deferred).await;
        assert!(matches!(late, Outcome::Refused(no) if no.reason == Reason::InteractionOver));
        assert!(!rest.is_halted());
    }
}
