//! What goes out over the wire, and what must not show anywhere else.

use crate::{
    reply::Reply,
    stage::{Script, Stage},
};
use guildhall_web::{Cut, USER_AGENT};
use std::collections::BTreeSet;

#[tokio::test]
async fn a_request_says_who_asks_and_what_can_be_read_and_nothing_else() {
    let stage = Stage::new(
        Script::public(&["example.com", "www.example.com"]),
        |number, _| {
            let cookie = ("Set-Cookie", "a=b; Path=/");
            match number {
                0 => Reply::new(
                    302,
                    &[("Location", "https://www.example.com./c?d=é"), cookie],
                    "",
                ),
                1 => Reply::new(
                    302,
                    &[("Location", "https://www.example.com./c?d#e"), cookie],
                    "",
                ),
                _ => Reply::html("<p>x"),
            }
        },
    )
    .await;
    let first = stage.fetch("https://EXAMPLE.com:443/ä?q=ü#frag").await;
    assert!(first.is_err(), "a Location that is not ASCII");
    let page = stage
        .fetch("https://example.com/ä?q=ü#frag")
        .await
        .expect("a page");
    assert_eq!(page.final_url, "https://www.example.com./c?d#e");
    let heard = stage.heard();
    assert!(
        heard[1].starts_with("GET /%C3%A4?q=%C3%BC HTTP/1.1\r\n"),
        "{}",
        heard[1]
    );
    assert!(
        heard[2].starts_with("GET /c?d HTTP/1.1\r\n"),
        "{}",
        heard[2]
    );
    assert!(
        heard[2].contains("host: www.example.com\r\n"),
        "{}",
        heard[2]
    );
    for head in &heard {
        let lines = head.trim_end().lines().skip(1);
        let names: BTreeSet<&str> = lines.filter_map(|line| line.split(':').next()).collect();
        let want = [
            "accept",
            "accept-encoding",
            "connection",
            "host",
            "user-agent",
        ];
        assert_eq!(names, BTreeSet::from(want), "{head}");
        assert!(
            head.contains(&format!("user-agent: {USER_AGENT}\r\n")),
            "{head}"
        );
    }
    assert_eq!(USER_AGENT, concat!("guildhall/", env!("CARGO_PKG_VERSION")));
}

#[tokio::test]
async fn a_literal_address_is_never_looked_up() {
    for (url, host) in [
        ("https://93.184.215.14/", "93.184.215.14"),
        ("https://1572394766/", "93.184.215.14"),
        ("https://[2606:4700:4700::1111]/", "[2606:4700:4700::1111]"),
    ] {
        let stage = Stage::that_says(Script::default(), Reply::html("<p>x")).await;
        assert!(stage.fetch(url).await.is_ok(), "{url}");
        assert!(stage.lookups().is_empty());
        assert!(
            stage.heard()[0].contains(&format!("host: {host}\r\n")),
            "{url}"
        );
    }
}

#[tokio::test]
async fn a_page_is_all_that_a_model_needs_of_it() {
    let body = "<title> A  title </title><h1>Head</h1><p>See <a href=b>there</a>.";
    let stage = Stage::that_says(Script::public(&["example.com"]), Reply::html(body)).await;
    let page = stage.fetch("https://example.com/a").await.expect("a page");
    assert_eq!(page.final_url, "https://example.com/a");
    assert_eq!(
        (page.status, page.bytes, page.cut),
        (200, body.len(), Cut::Whole)
    );
    assert_eq!(page.content_type, "text/html");
    assert_eq!(page.title.as_deref(), Some("A title"));
    assert_eq!(page.text, "# Head\n\nSee there (https://example.com/b).");
    let shown = format!("{page:?}");
    let words = ["title>", "A title", "Head", "there", "example"];
    assert!(words.iter().all(|word| !shown.contains(word)), "{shown}");
}

#[tokio::test]
async fn text_that_is_not_html_passes_as_it_is() {
    let cases = [
        ("text/plain", "a  <b>\n\n\n c"),
        ("application/json", "{\"a\":  [1,\n2]}"),
        ("application/xml", "<a>\n  <b/>\n</a>"),
        ("text/markdown; charset=utf-8", "# A\n\n* b"),
    ];
    for (kind, text) in cases {
        let reply = Reply::new(200, &[("Content-Type", kind)], text);
        let stage = Stage::that_says(Script::public(&["example.com"]), reply).await;
        let page = stage.fetch("https://example.com/a").await.expect("a page");
        assert_eq!((page.text.as_str(), page.title), (text, None), "{kind}");
    }
}

#[tokio::test]
async fn a_page_of_scripts_says_that_there_is_nothing_to_read() {
    let reply = Reply::html("<div id=app></div><script>render()</script>");
    let stage = Stage::that_says(Script::public(&["example.com"]), reply).await;
    let page = stage.fetch("https://example.com/").await.expect("a page");
    assert!(
        page.text.starts_with("[the page has no text to read"),
        "{}",
        page.text
    );
}
