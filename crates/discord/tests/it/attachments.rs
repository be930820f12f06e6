//! Files that are read, and files that are not.

use crate::fake::{Answer, Api, client, hasty_client};
use guildhall_discord::TextFault;
use std::time::Duration;

fn text(body: String) -> Answer {
    Answer::Page(200, "text/plain", body, Vec::new())
}

#[tokio::test]
async fn a_text_of_up_to_64_kib_is_read_and_nothing_else_is() {
    type Case = (
        &'static str,
        fn() -> Answer,
        Result<&'static str, TextFault>,
    );
    let cases: [Case; 8] = [
        ("text", || text("pasted".into()), Ok("pasted")),
        (
            "with a byte order mark",
            || text("\u{feff}pasted".into()),
            Ok("pasted"),
        ),
        (
            "over the cap",
            || text("x".repeat(64 * 1024 + 1)),
            Err(TextFault::TooLarge),
        ),
        (
            "redirect",
            || {
                let to = vec![("location", "http://127.0.0.1:1/".to_owned())];
                Answer::Page(302, "", String::new(), to)
            },
            Err(TextFault::Unreachable),
        ),
        ("expired", || Answer::Empty(403), Err(TextFault::Gone)),
        ("gone", || Answer::Empty(404), Err(TextFault::Gone)),
        (
            "stalled",
            || Answer::HeadOnly(200),
            Err(TextFault::TooLarge),
        ),
        ("silent", || Answer::Silence, Err(TextFault::Unreachable)),
    ];
    for (name, answer, want) in cases {
        let api = Api::start(move |_| answer()).await;
        let url = format!("{}/attachments/1/2/message.txt?ex=1", api.origin());
        let got = hasty_client(&api).fetch_text_attachment(&url).await;
        assert_eq!(got, want.map(str::to_owned), "{name}");
        let asked = &api.asked()[0];
        assert_eq!(asked.path, "/attachments/1/2/message.txt?ex=1");
        assert_eq!(
            asked.header("authorization"),
            None,
            "the token stays at home"
        );
    }
    let whole = "x".repeat(64 * 1024);
    let body = whole.clone();
    let api = Api::start(move |_| text(body.clone())).await;
    let url = format!("{}/message.txt", api.origin());
    assert_eq!(client(&api).fetch_text_attachment(&url).await, Ok(whole));
}

#[tokio::test]
async fn a_file_that_comes_a_byte_at_a_time_is_given_up_at_the_deadline() {
    let drip = || Answer::Drip("x".repeat(1_000), Duration::from_millis(20));
    let api = Api::start(move |_| drip()).await;
    let url = format!("{}/message.txt", api.origin());
    let got = hasty_client(&api).fetch_text_attachment(&url).await;
    assert_eq!(got, Err(TextFault::TooLarge));
    // The same server is heard out when it is done in time.
    let drip = || Answer::Drip("slow".into(), Duration::from_millis(20));
    let api = Api::start(move |_| drip()).await;
    let url = format!("{}/message.txt", api.origin());
    let got = client(&api).fetch_text_attachment(&url).await;
    assert_eq!(got, Ok("slow".to_owned()));
}

#[tokio::test]
async fn no_other_host_is_asked() {
    let api = Api::start(|_| text("x".into())).await;
    for url in [
        "https://evil.example/a",
        "http://10.0.0.1/a",
        "file:///etc/passwd",
        "a",
    ] {
        let got = client(&api).fetch_text_attachment(url).await;
        assert_eq!(got, Err(TextFault::ForeignHost), "{url}");
    }
}
