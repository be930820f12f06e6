//! Posting: what goes out, and what is said about how it ended.

use crate::fake::{
    Answer, Api, BOT, HALL, client, hall, hasty_client, hasty_client_at, message, message_id,
};
use guildhall_discord::DialFault;
use guildhall_discord::rest::{
    Content, Nonce, NotSentWhy, Outcome, Posted, Reason, Refused, Reply, UnknownWhy,
};
use serde_json::{Value, json};
use tokio::net::TcpListener;

fn own(id: u64, text: &str, nonce: &str) -> Value {
    let mut own = message(id, text);
    own["author"] = json!({ "id": BOT.to_string(), "username": "seat", "bot": true });
    own["nonce"] = json!(nonce);
    own
}

async fn post(api: &Api) -> Outcome<Posted> {
    let nonce = Nonce::parse("nonce-1").expect("a nonce");
    let content = Content::text("hello @everyone");
    client(api)
        .create_message(hall(), content, &nonce, Reply::To(message_id(7)))
        .await
}

#[tokio::test]
async fn a_post_has_an_enforced_nonce_pings_nobody_and_survives_a_deleted_question() {
    let api = Api::start(|_| Answer::ok(own(9, "hello @everyone", "nonce-1"))).await;
    let Outcome::Done(posted) = post(&api).await else {
        panic!("it was answered");
    };
    assert_eq!((posted.id, posted.channel), (message_id(9), hall()));
    assert_eq!(posted.nonce.as_deref(), Some("nonce-1"));
    let said = posted.said.expect("an author");
    assert_eq!(
        (said.author.id.get(), said.text.as_str()),
        (BOT, "hello @everyone")
    );

    let asked = &api.asked()[0];
    assert_eq!(asked.method, "POST");
    assert_eq!(asked.path, format!("/api/v10/channels/{HALL}/messages"));
    assert_eq!(asked.header("authorization"), Some("Bot a-fake-token"));
    assert_eq!(asked.header("content-type"), Some("application/json"));
    let agent = asked.header("user-agent").expect("a user agent");
    assert!(agent.starts_with("DiscordBot ("), "{agent}");
    assert_eq!(
        asked.json(),
        json!({
            "content": "hello @everyone",
            "nonce": "nonce-1",
            "enforce_nonce": true,
            "allowed_mentions": { "parse": [], "replied_user": false },
            "message_reference": { "message_id": "7", "fail_if_not_exists": false },
            "components": [],
        })
    );
}

/// Name, what the fake answers, how the call ends.
type Case = (&'static str, fn() -> Answer, Outcome<()>);

#[tokio::test]
async fn an_end_says_whether_the_post_may_stand() {
    let refused = |status, code, reason| {
        Outcome::Refused(Refused {
            status,
            code,
            reason,
        })
    };
    let cases: [Case; 8] = [
        (
            "lost answer",
            || Answer::Lost,
            Outcome::Unknown(UnknownWhy::AnswerLost),
        ),
        (
            "500",
            || Answer::failure(500, 0),
            Outcome::Unknown(UnknownWhy::Server(500)),
        ),
        (
            "502 page",
            || Answer::Page(502, "text/html", "<html>".into(), Vec::new()),
            Outcome::Unknown(UnknownWhy::Server(502)),
        ),
        (
            "redirect",
            || Answer::Empty(302),
            Outcome::Unknown(UnknownWhy::OddStatus(302)),
        ),
        (
            "page that claims success",
            || Answer::Page(200, "text/html", "<html>".into(), Vec::new()),
            Outcome::Unknown(UnknownWhy::Unreadable),
        ),
        (
            "403",
            || Answer::failure(403, 50_013),
            refused(403, 50_013, Reason::NoPermission),
        ),
        (
            "404",
            || Answer::failure(404, 10_003),
            refused(404, 10_003, Reason::UnknownChannel),
        ),
        (
            "401",
            || Answer::failure(401, 0),
            refused(401, 0, Reason::Unauthorized),
        ),
    ];
    for (name, answer, want) in cases {
        let api = Api::start(move |_| answer()).await;
        let got = match post(&api).await {
            Outcome::Done(_) => Outcome::Done(()),
            Outcome::Refused(no) => Outcome::Refused(no),
            Outcome::NotSent(no) => Outcome::NotSent(no),
            Outcome::Unknown(why) => Outcome::Unknown(why),
        };
        assert_eq!(got, want, "{name}");
        assert_eq!(api.asked().len(), 1, "one exchange: {name}");
    }
}

#[tokio::test]
async fn a_port_where_nobody_listens_means_that_nothing_was_sent() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a free port");
    let origin = format!("http://{}", listener.local_addr().expect("an address"));
    drop(listener);
    let base = guildhall_discord::ApiBase::parse(&origin).expect("a loopback origin");
    let token = guildhall_discord::Token::parse("a-fake-token").expect("a token");
    let rest = guildhall_discord::Rest::new(&base, token, crate::fake::bot());
    let Outcome::NotSent(not_sent) = rest.typing(hall()).await else {
        panic!("nobody listens");
    };
    assert!(matches!(not_sent.why, NotSentWhy::NoConnection(_)));
}

#[tokio::test]
async fn a_server_that_takes_connections_and_never_speaks_tls_means_that_nothing_was_sent() {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    let origin = format!("https://{}", listener.local_addr().expect("an address"));
    let taking = tokio::spawn(async move {
        let mut taken = Vec::new();
        while let Ok((stream, _)) = listener.accept().await {
            taken.push(stream);
        }
    });
    let nonce = Nonce::parse("nonce-1").expect("a nonce");
    let got = hasty_client_at(&origin)
        .create_message(hall(), Content::text("x"), &nonce, Reply::No)
        .await;
    taking.abort();
    let Outcome::NotSent(not_sent) = got else {
        panic!("nothing can have been read: {got:?}");
    };
    assert_eq!(not_sent.why, NotSentWhy::NoConnection(DialFault::TimedOut));
}

#[tokio::test]
async fn one_deadline_stands_over_the_whole_exchange() {
    let cases: [Case; 5] = [
        (
            "no answer",
            || Answer::Silence,
            Outcome::Unknown(UnknownWhy::TimedOut),
        ),
        (
            "success without its body",
            || Answer::HeadOnly(200),
            Outcome::Unknown(UnknownWhy::Unreadable),
        ),
        (
            "server error without its body",
            || Answer::HeadOnly(503),
            Outcome::Unknown(UnknownWhy::Server(503)),
        ),
        (
            "refusal without its body",
            || Answer::HeadOnly(404),
            Outcome::Refused(Refused {
                status: 404,
                code: 0,
                reason: Reason::UnknownOther,
            }),
        ),
        (
            "no content",
            || Answer::Empty(200),
            Outcome::Unknown(UnknownWhy::Unreadable),
        ),
    ];
    for (name, answer, want) in cases {
        let api = Api::start(move |_| answer()).await;
        let nonce = Nonce::parse("nonce-1").expect("a nonce");
        let rest = hasty_client(&api);
        let got = rest
            .create_message(hall(), Content::text("x"), &nonce, Reply::No)
            .await;
        let got = match got {
            Outcome::Done(_) => Outcome::Done(()),
            Outcome::Refused(no) => Outcome::Refused(no),
            Outcome::NotSent(no) => Outcome::NotSent(no),
            Outcome::Unknown(why) => Outcome::Unknown(why),
        };
        assert_eq!((got, api.asked().len()), (want, 1), "{name}");
    }
}

#[tokio::test]
async fn a_reply_that_cannot_be_one_is_posted_without_its_reference() {
    let unknown = || {
        let fault = json!({ "_errors": [{ "code": "MESSAGE_REFERENCE_UNKNOWN_MESSAGE" }] });
        let body = json!({ "code": 50_035, "errors": { "message_reference": fault } });
        Answer::Json(400, body, Vec::new())
    };
    let no_history = || Answer::failure(400, 160_002);
    for refusal in [unknown as fn() -> Answer, no_history] {
        let api = Api::start(move |asked| {
            if asked.json().get("message_reference").is_some() {
                refusal()
            } else {
                Answer::ok(own(9, "hello", "nonce-1"))
            }
        })
        .await;
        assert!(matches!(post(&api).await, Outcome::Done(_)));
        let asked = api.asked();
        assert_eq!(asked.len(), 2);
        assert_eq!(asked[0].json()["nonce"], asked[1].json()["nonce"]);
    }
    // "Unknown message" is the reference at a first try, and the post itself at a repeat.
    let gone = |asked: &crate::fake::Asked| {
        if asked.json().get("message_reference").is_some() {
            Answer::failure(404, 10_008)
        } else {
            Answer::ok(own(9, "hello", "nonce-1"))
        }
    };
    let nonce = Nonce::parse("nonce-1").expect("a nonce");
    for (reply, exchanges) in [
        (Reply::FirstTo(message_id(7)), 2),
        (Reply::To(message_id(7)), 1),
    ] {
        let api = Api::start(gone).await;
        let content = Content::text("hello");
        let got = client(&api)
            .create_message(hall(), content, &nonce, reply)
            .await;
        assert_eq!(matches!(got, Outcome::Done(_)), exchanges == 2);
        assert_eq!(api.asked().len(), exchanges);
    }
    // Other refusals of the same status are what they are.
    let api = Api::start(|_| Answer::failure(400, 50_006)).await;
    assert!(matches!(post(&api).await, Outcome::Refused(no) if no.reason == Reason::Empty));
    assert_eq!(api.asked().len(), 1);
}

#[tokio::test]
async fn a_repeats_answer_tells_which_message_stands_there() {
    let mut earlier = own(8, "another text", "nonce-1");
    earlier["channel_id"] = json!("999");
    let api = Api::start(move |_| Answer::ok(earlier.clone())).await;
    let Outcome::Done(posted) = post(&api).await else {
        panic!("it was answered");
    };
    assert_ne!(posted.channel, hall());
    assert_eq!(
        posted.said.expect("an author").text.as_str(),
        "another text"
    );
}

#[tokio::test]
async fn connections_are_kept_and_discords_clock_is_heard() {
    let date = "Mon, 30 Nov 2026 21:04:48 GMT";
    let api =
        Api::start(move |_| Answer::Page(204, "", String::new(), vec![("date", date.to_owned())]))
            .await;
    let rest = client(&api);
    assert_eq!(rest.server_time(), None);
    for _ in 0..3 {
        assert_eq!(rest.typing(hall()).await, Outcome::Done(()));
    }
    let heard = rest.server_time().expect("a date");
    assert_eq!(heard.unix_ms, 1_796_072_688_000);
    assert_eq!(api.connections(), 1);
}
