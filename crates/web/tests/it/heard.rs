//! What is known of a call that gave no page.

use crate::{
    reply::Reply,
    stage::{AMPLE, Script, Stage},
};
use guildhall_web::{FetchLimits, Heard, WebRefusal};
use std::time::Duration;

const HOST: &str = "example.com";
const URL: &str = "https://example.com/";
const PLAIN: (&str, &str) = ("Content-Type", "text/plain");
const GZIP: (&str, &str) = ("Content-Encoding", "gzip");
const NINE: (&str, &str) = ("Content-Length", "9");

/// What is known after one fetch with this answer.
async fn after(reply: Reply, deadline: Duration) -> (WebRefusal, Option<u16>, usize) {
    let stage = Stage::that_says(Script::public(&[HOST]), reply).await;
    let (heard, limits) = (
        Heard::default(),
        FetchLimits {
            max_bytes: 1_000,
            deadline,
        },
    );
    let refused = stage.fence.fetch_telling(URL, limits, &heard).await;
    let refused = refused.expect_err("a refusal");
    (refused, heard.status(), heard.bytes())
}

#[tokio::test]
async fn a_refusal_after_the_head_leaves_the_status_and_how_much_was_read() {
    let picture = ("Content-Type", "image/png");
    let cases = [
        (
            Reply::new(203, &[picture], "x"),
            (WebRefusal::ContentType, Some(203), 0),
        ),
        (
            Reply::new(200, &[PLAIN], "a\0b"),
            (WebRefusal::Binary, Some(200), 3),
        ),
        (
            Reply::new(200, &[PLAIN, NINE], "abc"),
            (WebRefusal::BadResponse, Some(200), 3),
        ),
        (
            Reply::new(200, &[PLAIN, GZIP], "abc"),
            (WebRefusal::BadResponse, Some(200), 0),
        ),
        (
            Reply::new(200, &[PLAIN, ("Transfer-Encoding", "chunked"), NINE], ""),
            (WebRefusal::BadResponse, Some(200), 0),
        ),
        (
            Reply::new(404, &[PLAIN], "abc"),
            (WebRefusal::Status(404), Some(404), 0),
        ),
        (
            Reply::new(301, &[], ""),
            (WebRefusal::BadRedirect, Some(301), 0),
        ),
        (Reply::to("/"), (WebRefusal::TooManyRedirects, Some(302), 0)),
        (
            Reply::to("https://gone.example.com/"),
            (WebRefusal::Unresolved, Some(302), 0),
        ),
        (
            Reply::raw("SSH-2.0-x\r\n"),
            (WebRefusal::BadResponse, None, 0),
        ),
    ];
    for (reply, want) in cases {
        assert_eq!(after(reply, AMPLE).await, want);
    }
}

#[tokio::test]
async fn a_body_that_does_not_end_in_time_leaves_what_came_of_it() {
    let slow = Reply::new(200, &[PLAIN], "abc").then_silence();
    let (refused, status, bytes) = after(slow, Duration::from_millis(700)).await;
    assert_eq!(
        (refused, status, bytes),
        (WebRefusal::Timeout, Some(200), 3)
    );
    let silent = Reply::raw("").then_silence();
    let (refused, status, _) = after(silent, Duration::from_millis(300)).await;
    assert_eq!((refused, status), (WebRefusal::Timeout, None));
}

#[tokio::test]
async fn a_page_leaves_its_own_status_and_bytes() {
    let stage = Stage::new(Script::public(&[HOST]), |number, _| match number {
        0 => Reply::to("/there"),
        _ => Reply::new(200, &[PLAIN], "a".repeat(2_000)),
    })
    .await;
    let (heard, limits) = (
        Heard::default(),
        FetchLimits {
            max_bytes: 1_000,
            deadline: AMPLE,
        },
    );
    let page = stage.fence.fetch_telling(URL, limits, &heard).await;
    let page = page.expect("a page");
    assert_eq!(heard.status(), Some(page.status));
    assert_eq!((heard.bytes(), page.bytes), (1_000, 1_000));
}
