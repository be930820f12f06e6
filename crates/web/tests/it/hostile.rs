//! Servers that never end, and servers that lie about what they send.

use crate::{
    reply::Reply,
    stage::{AMPLE, Script, Stage},
};
use flate2::{Compression, write::GzEncoder};
use guildhall_web::{Cut, FetchLimits, WebRefusal};
use std::{io::Write as _, time::Duration};

const HOST: &str = "example.com";
const URL: &str = "https://example.com/";
const HTML: (&str, &str) = ("Content-Type", "text/html");
const PLAIN: (&str, &str) = ("Content-Type", "text/plain");
const GZIP: (&str, &str) = ("Content-Encoding", "gzip");
/// Shorter than any server here takes, and long enough for a connection on a busy machine.
const SHORT: Duration = Duration::from_millis(700);

fn gzip(text: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(text).expect("memory");
    encoder.finish().expect("memory")
}

async fn said(reply: Reply) -> Stage {
    Stage::that_says(Script::public(&[HOST]), reply).await
}

#[tokio::test]
async fn an_answer_that_does_not_come_to_its_end_is_given_up_at_the_deadline() {
    let pause = Duration::from_millis(20);
    let chunked = ("Transfer-Encoding", "chunked");
    let cases = [
        ("nothing", Reply::raw("").then_silence()),
        (
            "half a head",
            Reply::raw("HTTP/1.1 200 OK\r\nA: b").then_silence(),
        ),
        (
            "a slow head",
            Reply::raw("HTTP/1.1 200 OK\r\nA: ").then_drip(b'b', pause),
        ),
        (
            "a slow body",
            Reply::new(200, &[PLAIN], "").then_drip(b'b', pause),
        ),
        (
            "a body without its end",
            Reply::new(200, &[HTML], "<p>x").then_silence(),
        ),
        (
            "a chunk without its end",
            Reply::new(200, &[HTML, chunked], "ff\r\nx").then_silence(),
        ),
        (
            "a chunk size without its end",
            Reply::new(200, &[HTML, chunked], "").then_drip(b'0', pause),
        ),
        (
            "slow gzip",
            Reply::new(200, &[HTML, GZIP], gzip(b"x")).then_silence(),
        ),
        (
            "news that it goes on, for ever",
            Reply::raw("").then_forever(b"HTTP/1.1 103 Early Hints\r\n\r\n"),
        ),
    ];
    let fetches = cases.map(|(name, reply)| {
        tokio::spawn(async move { (name, said(reply).await.fetch_within(URL, SHORT).await) })
    });
    for fetch in fetches {
        let (name, outcome) = fetch.await.expect("no panic");
        assert_eq!(outcome, Err(WebRefusal::Timeout), "{name}");
    }
}

#[tokio::test]
async fn a_head_without_an_end_is_refused_at_its_limit() {
    let cases = [
        (
            "one long line",
            Reply::raw("HTTP/1.1 200 OK\r\nA: ").then_forever(&[b'a'; 4_096]),
        ),
        (
            "line after line",
            Reply::raw("HTTP/1.1 200 OK\r\n").then_forever(b"A: a\r\n"),
        ),
        (
            "a long status",
            Reply::raw("HTTP/1.1 200 ").then_forever(&[b'O'; 4_096]),
        ),
    ];
    for (name, reply) in cases {
        let outcome = said(reply).await.fetch(URL).await;
        assert_eq!(outcome, Err(WebRefusal::HeaderLimit), "{name}");
    }
}

#[tokio::test]
async fn a_body_without_an_end_is_cut_at_the_limit() {
    let chunk = [&b"1000\r\n"[..], &[b'y'; 4_096], b"\r\n"].concat();
    let member = gzip(b"");
    let cases = [
        (
            "plain",
            Reply::new(200, &[PLAIN], "").then_forever(b"no end "),
            Cut::AtChars,
        ),
        (
            "html",
            Reply::new(200, &[HTML], "<p>x").then_forever(b"<b></b>"),
            Cut::AtBytes,
        ),
        (
            "an open comment",
            Reply::new(200, &[HTML], "x<!--").then_forever(b"y"),
            Cut::AtBytes,
        ),
        (
            "chunks",
            Reply::new(200, &[PLAIN, ("Transfer-Encoding", "chunked")], "").then_forever(&chunk),
            Cut::AtChars,
        ),
        (
            "gzip that unpacks to nothing",
            Reply::new(200, &[PLAIN, GZIP], gzip(b"x")).then_forever(&member),
            Cut::AtBytes,
        ),
    ];
    for (name, reply, cut) in cases {
        let page = said(reply).await.fetch(URL).await.expect(name);
        assert_eq!(page.cut, cut, "{name}");
        assert!(page.bytes <= 1 << 20, "{name}");
        assert!(page.text.contains("[cut here: "), "{name}");
    }
}

#[tokio::test]
async fn the_limit_counts_bytes_after_unpacking_and_the_text_says_that_it_was_cut() {
    let text = "0123456789".repeat(100);
    let limits = FetchLimits {
        max_bytes: 500,
        deadline: AMPLE,
    };
    for (headers, body) in [
        (&[PLAIN][..], text.clone().into_bytes()),
        (&[PLAIN, GZIP], gzip(text.as_bytes())),
    ] {
        let stage = said(Reply::new(200, headers, body)).await;
        let page = stage.fence.fetch(URL, limits).await.expect("a page");
        assert_eq!((page.bytes, page.cut), (500, Cut::AtBytes));
        let want = format!(
            "{}\n\n[cut here: the page is larger than what is fetched]",
            &text[..500]
        );
        assert_eq!(page.text, want);
    }
}

async fn are_refused<const N: usize>(cases: [(&str, Reply, WebRefusal); N]) {
    for (name, reply, want) in cases {
        assert_eq!(said(reply).await.fetch(URL).await, Err(want), "{name}");
    }
}

#[tokio::test]
async fn a_body_that_is_not_the_text_that_it_claims_to_be_is_refused() {
    let png = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR";
    let answer = |headers: &[(&str, &str)], body: &[u8]| Reply::new(200, headers, body);
    let image = ("Content-Type", "image/png");
    are_refused([
        ("a picture", answer(&[HTML], png), WebRefusal::Binary),
        (
            "a PDF",
            answer(&[PLAIN], b"%PDF-1.7\n1 0 obj"),
            WebRefusal::Binary,
        ),
        (
            "gzip unsaid",
            answer(&[PLAIN], &gzip(b"x")),
            WebRefusal::Binary,
        ),
        (
            "a packed picture",
            answer(&[HTML, GZIP], &gzip(png)),
            WebRefusal::Binary,
        ),
        (
            "two kinds",
            answer(&[HTML, image], b"<p>x"),
            WebRefusal::ContentType,
        ),
        ("no kind", answer(&[], b"<p>x"), WebRefusal::ContentType),
    ])
    .await;
}

#[tokio::test]
async fn an_answer_that_breaks_off_or_cannot_be_unpacked_is_refused() {
    let answer = |headers: &[(&str, &str)], body: &[u8]| Reply::new(200, headers, body);
    let (nine, chunked) = (("Content-Length", "9"), ("Transfer-Encoding", "chunked"));
    let brotli = ("Content-Encoding", "br");
    are_refused([
        (
            "no gzip",
            answer(&[HTML, GZIP], b"<p>x"),
            WebRefusal::BadResponse,
        ),
        (
            "half a gzip",
            answer(&[HTML, GZIP], &gzip(b"<p>x")[..12]),
            WebRefusal::BadResponse,
        ),
        (
            "too short",
            answer(&[HTML, nine], b"<p>x"),
            WebRefusal::BadResponse,
        ),
        (
            "half a chunk",
            answer(&[HTML, chunked], b"4\r\n<p>x\r\n"),
            WebRefusal::BadResponse,
        ),
        (
            "brotli",
            answer(&[HTML, brotli], b"x"),
            WebRefusal::ContentEncoding,
        ),
        (
            "two packings",
            answer(&[HTML, GZIP, GZIP], b"x"),
            WebRefusal::ContentEncoding,
        ),
        (
            "mail",
            Reply::raw("220 mail.example.com ESMTP\r\n"),
            WebRefusal::BadResponse,
        ),
        ("nothing", Reply::raw(""), WebRefusal::BadResponse),
    ])
    .await;
}

#[tokio::test]
async fn a_status_without_a_page_is_named() {
    for status in [204, 205, 300, 304, 400, 404, 410, 429, 500, 503] {
        let stage = said(Reply::new(status, &[HTML], "<p>x")).await;
        let refused = stage.fetch(URL).await;
        assert_eq!(refused, Err(WebRefusal::Status(status)));
    }
    let shown = WebRefusal::Status(404).to_string();
    assert_eq!(
        shown,
        "the server gave no page; it answered with status 404"
    );
}

#[tokio::test]
async fn a_server_with_a_certificate_for_another_name_gets_no_request() {
    let script = Script::public(&[HOST]);
    let stage = Stage::that_says(script, Reply::html("<p>x")).await;
    // The dialer leads there, but its certificate does not speak for this address.
    let refused = stage.fetch("https://93.184.215.99/").await;
    assert_eq!(refused, Err(WebRefusal::Tls));
    assert_eq!((stage.heard().len(), stage.dialled().len()), (0, 1));
}

#[tokio::test]
async fn a_dropped_fetch_closes_its_connection() {
    let stage = said(Reply::new(200, &[HTML], "").then_forever(b"<!-- -->")).await;
    let limits = FetchLimits {
        max_bytes: usize::MAX >> 8,
        deadline: AMPLE,
    };
    {
        let fetch = stage.fence.fetch(URL, limits);
        let started = async {
            while stage.heard().is_empty() {
                tokio::task::yield_now().await;
            }
        };
        tokio::select! {
            page = fetch => panic!("a body without an end ended: {page:?}"),
            () = started => {}
        }
    }
    // The server's task ends with its connection, and that was the only other one.
    let handle = tokio::runtime::Handle::current();
    let alone = async {
        while handle.metrics().num_alive_tasks() > 1 {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(AMPLE, alone)
        .await
        .expect("the connection's tasks end");
}
