//! Searches of an instance that follows SearXNG's JSON, over TLS and over plain loopback.

use crate::{
    reply::Reply,
    stage::{AMPLE, Answers, Heard, Script, Stage, head_of},
};
use guildhall_web::{Fence, FenceParts, WebRefusal};
use tokio::net::TcpListener;

const BASE: &str = "https://searx.example.com/";
const JSON: (&str, &str) = ("Content-Type", "application/json");
/// As a real instance of August 2026 gave them, over one engine of made-up results: three hits,
/// none, and none because the engine failed.
const RECORDED: &str = include_str!("../../../../testdata/pages/searxng.json");
const NOTHING: &str = include_str!("../../../../testdata/pages/searxng-nothing.json");
const BROKEN: &str = include_str!("../../../../testdata/pages/searxng-broken.json");

async fn instance(reply: Reply) -> Stage {
    // The operator's own instance may be in a private network.
    let address = vec!["10.0.0.7".parse().expect("an address")];
    let script = Script::default().with("searx.example.com", Answers::InTurn(vec![address]));
    Stage::that_says(script, reply).await
}

#[tokio::test]
async fn an_instances_answer_becomes_hits() {
    let stage = instance(Reply::new(200, &[JSON], RECORDED)).await;
    let answer = stage.fence.search(BASE, "guild halls").await.expect("hits");
    let flat: Vec<[&str; 3]> = answer
        .hits
        .iter()
        .map(|hit| [hit.title.as_str(), hit.url.as_str(), hit.snippet.as_str()])
        .collect();
    let want = [
        [
            "Guildhalls of the north",
            "https://halls.example.org/north?page=2",
            "Where the weavers met, and what became of the roof.",
        ],
        [
            "A hall & its seats",
            "http://seats.example.net/",
            "Thirty seats, one table.",
        ],
        ["", "https://bare.example.org/x", ""],
    ];
    assert_eq!(flat, want);
    let heard = stage.heard();
    assert!(heard[0].starts_with("GET /search?q=guild+halls&format=json HTTP/1.1\r\n"));
    assert!(heard[0].contains("host: searx.example.com\r\n"));
    assert_eq!(
        stage.dialled(),
        ["10.0.0.7:443".parse().expect("an address")]
    );
}

#[tokio::test]
async fn a_search_that_finds_nothing_is_an_answer_of_no_hits() {
    for (body, unresponsive) in [(NOTHING, 0), (BROKEN, 1)] {
        let stage = instance(Reply::new(200, &[JSON], body)).await;
        let answer = stage.fence.search(BASE, "q").await.expect("an answer");
        assert_eq!(
            (answer.hits.len(), answer.unresponsive.len()),
            (0, unresponsive)
        );
    }
}

#[tokio::test]
async fn an_answer_that_is_no_answer_is_refused_by_name() {
    let cases = [
        ("a page", Reply::html("<p>results"), WebRefusal::NotJson),
        (
            "rubbish",
            Reply::new(200, &[JSON], "\0\u{1}{"),
            WebRefusal::NotJson,
        ),
        (
            "half",
            Reply::new(200, &[JSON], &RECORDED[..200]),
            WebRefusal::NotJson,
        ),
        (
            "too many",
            Reply::new(429, &[JSON], "{}"),
            WebRefusal::RateLimited,
        ),
        (
            "no json",
            Reply::new(403, &[JSON], "{}"),
            WebRefusal::JsonDisabled,
        ),
        (
            "broken",
            Reply::new(500, &[JSON], RECORDED),
            WebRefusal::Status(500),
        ),
        (
            "elsewhere",
            Reply::to("https://searx.example.com/x"),
            WebRefusal::Status(302),
        ),
        (
            "without an end",
            Reply::new(200, &[JSON], r#"{"results": [""#).then_forever(&[b'a'; 4_096]),
            WebRefusal::TooLarge,
        ),
        (
            "no HTTP",
            Reply::raw("SSH-2.0-x\r\n"),
            WebRefusal::BadResponse,
        ),
    ];
    for (name, reply, want) in cases {
        let stage = instance(reply).await;
        assert_eq!(stage.fence.search(BASE, "q").await, Err(want), "{name}");
        assert_eq!(stage.heard().len(), 1, "{name}");
    }
}

#[tokio::test]
async fn a_query_or_a_base_that_cannot_be_used_asks_nobody() {
    let stage = instance(Reply::new(200, &[JSON], RECORDED)).await;
    let long = "q".repeat(401);
    let cases = [
        (BASE, "", WebRefusal::QueryEmpty),
        (BASE, long.as_str(), WebRefusal::QueryTooLong),
        ("http://searx.example.com/", "q", WebRefusal::SearchBase),
        ("https://gone.example.com/", "q", WebRefusal::Unresolved),
    ];
    for (base, query, want) in cases {
        assert_eq!(
            stage.fence.search(base, query).await,
            Err(want),
            "{base} {query:.9}"
        );
    }
    assert!(stage.dialled().is_empty());
}

#[tokio::test]
async fn an_instance_on_loopback_is_asked_in_plain_by_the_systems_own_means() {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    let port = listener.local_addr().expect("an address").port();
    let heard = Heard::default();
    let hears = Heard::clone(&heard);
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let head = head_of(&mut stream).await.expect("a request");
            hears.lock().expect("no panic under it").push(head);
            let reply = Reply::new(200, &[JSON], RECORDED);
            reply.send(&mut stream).await.expect("a reader");
        }
    });
    let fence = Fence::new(FenceParts::system());
    for host in ["127.0.0.1", "localhost"] {
        let base = format!("http://{host}:{port}/searx");
        let answer = fence.search(&base, "a&b=c").await.expect("hits");
        assert_eq!(answer.hits.len(), 3);
    }
    let heard = heard.lock().expect("no panic under it");
    assert!(heard[0].starts_with("GET /searx/search?q=a%26b%3Dc&format=json HTTP/1.1\r\n"));
    assert!(heard[0].contains(&format!("host: 127.0.0.1:{port}\r\n")));
}

#[tokio::test]
async fn an_instance_behind_tls_is_asked_by_the_systems_own_means() {
    let stage = instance(Reply::new(200, &[JSON], RECORDED)).await;
    let (fence, base) = stage.in_earnest();
    let answer = fence.search(&base, "q").await.expect("hits");
    assert_eq!(answer.hits.len(), 3);
    // The same server is a stranger to whoever trusts the built-in roots alone.
    let strict = Fence::new(FenceParts::system());
    assert_eq!(strict.search(&base, "q").await, Err(WebRefusal::Tls));
    // And nothing to fetch from, whoever trusts it.
    let limits = guildhall_web::FetchLimits::default();
    let refused = fence.fetch("https://localhost/", limits).await;
    assert_eq!(refused, Err(WebRefusal::LocalName));
    assert_eq!(stage.heard().len(), 1);
}

#[tokio::test]
async fn an_instance_that_says_nothing_is_given_up_at_the_deadline() {
    tokio::time::timeout(AMPLE, async {
        let stage = instance(Reply::raw("").then_silence()).await;
        // The clock runs ahead once nothing else is left to do.
        let search = stage.fence.search(BASE, "q");
        let heard = async {
            while stage.heard().is_empty() {
                tokio::task::yield_now().await;
            }
            tokio::time::pause();
            std::future::pending::<()>().await;
        };
        tokio::select! {
            outcome = search => assert_eq!(outcome, Err(WebRefusal::Timeout)),
            () = heard => {}
        }
    })
    .await
    .expect("an end");
}
