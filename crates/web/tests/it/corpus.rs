//! Every line of `urls.jsonl`.
//!
//! Lines whose server or resolver never ends are run with all of their times divided by the same
//! number, so that what is late stays late.

use crate::{
    line::{DripPart, Expect, Hop, Kind, Line, LookUps, Named, all},
    reply::Reply,
    stage::{AMPLE, Answers, Script, Stage},
};
use flate2::{Compress, Compression, FlushCompress};
use guildhall_web::{Cut, Page, WebRefusal, is_public};
use std::{collections::BTreeSet, time::Duration};

/// By how much the times of endless lines are divided.
const FASTER: u64 = 40;

fn of(kind: Kind) -> Vec<Line> {
    let lines: Vec<Line> = all().into_iter().filter(|line| line.kind == kind).collect();
    assert!(!lines.is_empty());
    lines
}

/// Holds a line's outcome against what it expects.
fn judge(line: &Line, outcome: &Result<Page, WebRefusal>) {
    let id = &line.id;
    let was = match outcome {
        Ok(page) if page.cut == Cut::Whole => "ok",
        Ok(_) => "cut",
        Err(refusal) => refusal.code(),
    };
    match line.expect {
        Expect::Allow => assert!(outcome.is_ok(), "{id}: {was}"),
        Expect::Refuse => {
            let right = was == line.reason || line.reason_any.iter().any(|any| any == was);
            assert!(right, "{id}: {was} instead of {}", line.reason);
        }
    }
    let Ok(page) = outcome else { return };
    if let Some(want) = &line.expect_text {
        assert_eq!(&page.text, want, "{id}");
    }
    let most = line.expect_max_chars.unwrap_or(12_000);
    assert!(page.text.chars().count() <= most, "{id}");
    let unseen =
        |c: char| c.is_control() && c != '\n' && c != '\t' || "\u{202e}\u{200b}".contains(c);
    assert!(!page.text.contains(unseen), "{id}");
}

#[test]
fn the_corpus_is_whole() {
    let lines = all();
    assert_eq!(lines.len(), 327);
    let ids: BTreeSet<&str> = lines.iter().map(|line| line.id.as_str()).collect();
    assert_eq!(ids.len(), lines.len());
    let kinds: BTreeSet<Kind> = lines.iter().map(|line| line.kind).collect();
    assert_eq!(kinds.len(), 6);
}

#[test]
fn each_address_is_told_from_the_public_ones() {
    for line in of(Kind::Address) {
        let address = line.addr.expect("an address line has an address");
        let class = is_public(address).map_err(|class| class.code());
        let want = match line.expect {
            Expect::Allow => Ok(()),
            Expect::Refuse => Err(line.reason.as_str()),
        };
        assert_eq!(class, want, "{}", line.id);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn each_url_is_fetched_or_refused_before_anything_is_connected() {
    for line in of(Kind::Url) {
        let stage = Stage::that_says(Script::of(&line.resolve), Reply::html("<p>x")).await;
        let outcome = stage.fetch(&line.url).await;
        judge(&line, &outcome);
        let dialled = stage.dialled();
        match &outcome {
            Ok(_) => assert_eq!(dialled.len(), 1, "{}", line.id),
            Err(_) => assert!(
                dialled.is_empty() && stage.heard().is_empty(),
                "{}",
                line.id
            ),
        }
        assert!(
            dialled
                .iter()
                .all(|to| is_public(to.ip()).is_ok() && to.port() == 443)
        );
        if outcome == Err(WebRefusal::LocalName) || outcome == Err(WebRefusal::SingleLabel) {
            assert!(stage.lookups().is_empty(), "{}", line.id);
        }
    }
}

fn hop(hop: &Hop) -> Reply {
    let headers: Vec<(&str, &str)> = match hop {
        Hop::None => Vec::new(),
        Hop::One(location) => vec![("Location", location)],
        Hop::Several(all) => all.iter().map(|one| ("Location", one.as_str())).collect(),
    };
    Reply::new(302, &headers, "")
}

#[tokio::test(flavor = "multi_thread")]
async fn each_redirect_is_vetted_like_a_first_url() {
    for line in of(Kind::Redirect) {
        let hops = line.hops.clone();
        let stage = Stage::new(Script::of(&line.resolve), move |number, _| {
            hops.get(number).map_or_else(|| Reply::html("<p>x"), hop)
        })
        .await;
        judge(&line, &stage.fetch(&line.url).await);
        assert!(stage.dialled().iter().all(|to| is_public(to.ip()).is_ok()));
        // One look-up for each connection, and the first request and three more at most.
        assert!(
            stage.lookups().len() >= stage.dialled().len(),
            "{}",
            line.id
        );
        assert!(stage.heard().len() <= 4, "{}", line.id);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn each_name_is_looked_up_once_and_every_answer_counts() {
    for line in of(Kind::Dns) {
        let host = line
            .url
            .trim_start_matches("https://")
            .trim_end_matches('/');
        let answers = match line.answers.clone().expect("answers") {
            LookUps::InTurn(turns) => Answers::InTurn(turns),
            LookUps::Named(Named::Hang) => Answers::Never,
        };
        let script = Script::default().with(host, answers);
        let stage = Stage::that_says(script, Reply::html("<p>x")).await;
        let deadline = line
            .deadline_ms
            .map_or(AMPLE, |ms| Duration::from_millis(ms / FASTER));
        let outcome = stage.fetch_within(&line.url, deadline).await;
        // A second answer is never asked for, so it cannot refuse anything.
        judge(&line, &outcome);
        assert_eq!(
            stage.lookups().len(),
            line.expect_lookups.unwrap_or(1),
            "{}",
            line.id
        );
        let dialled: Vec<_> = stage
            .dialled()
            .iter()
            .map(std::net::SocketAddr::ip)
            .collect();
        if let Some(address) = line.expect_connect {
            assert_eq!(dialled, [address], "{}", line.id);
        }
        assert!(dialled.len() <= 8, "{}", line.id);
    }
}

/// A gibibyte of text in a mebibyte of gzip. The end is left out: nobody gets there.
fn bomb() -> Vec<u8> {
    let text = vec![b'x'; 1 << 20];
    let mut block = Vec::with_capacity(1 << 16);
    Compress::new(Compression::best(), false)
        .compress_vec(&text, &mut block, FlushCompress::Full)
        .expect("room");
    let mut packed = b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\xff".to_vec();
    packed.extend(block.repeat(1_024));
    packed
}

fn body(line: &Line) -> Vec<u8> {
    if let Some(text) = &line.body {
        return text.clone().into_bytes();
    }
    if let Some(text) = &line.body_b64 {
        return data_encoding::BASE64
            .decode(text.as_bytes())
            .expect("base64");
    }
    if let Some(size) = line.body_size {
        return vec![b'x'; size];
    }
    if let Some(repeat) = &line.body_repeat {
        return repeat.text.repeat(repeat.count).into_bytes();
    }
    match line.body_bomb.as_deref() {
        None => Vec::new(),
        Some(named) => {
            assert_eq!(named, "gzip:1GiB", "{}: an unknown bomb", line.id);
            bomb()
        }
    }
}

fn reply(line: &Line) -> Reply {
    if let Some(raw) = &line.raw {
        return Reply::raw(raw.clone());
    }
    let status = line.status.expect("a status");
    if let Some(flood) = line.header_flood {
        let value = "v".repeat(flood.size);
        let names: Vec<String> = (0..flood.count).map(|n| format!("X-{n}")).collect();
        let headers: Vec<(&str, &str)> = names.iter().map(|n| (n.as_str(), &*value)).collect();
        return Reply::new(status, &headers, "");
    }
    let headers: Vec<(&str, &str)> = line.headers.iter().map(|(n, v)| (&**n, &**v)).collect();
    let Some(drip) = line.drip else {
        return Reply::new(status, &headers, body(line));
    };
    let pause = Duration::from_millis(drip.ms / FASTER);
    let begun = match drip.part {
        DripPart::Headers => Reply::raw(format!("HTTP/1.1 {status} Said\r\nX: ")),
        DripPart::Body => Reply::new(status, &headers, ""),
    };
    begun.then_drip(b'x', pause)
}

#[tokio::test(flavor = "multi_thread")]
async fn each_answer_ends_as_text_or_with_a_reason() {
    for line in of(Kind::Response) {
        let stage = Stage::that_says(Script::of(&line.resolve), reply(&line)).await;
        let deadline = match (line.expect, line.deadline_ms) {
            (Expect::Refuse, Some(ms)) => Duration::from_millis(ms / FASTER),
            (Expect::Allow, _) | (Expect::Refuse, None) => AMPLE,
        };
        judge(&line, &stage.fetch_within(&line.url, deadline).await);
        assert_eq!(stage.heard().len(), 1, "{}", line.id);
    }
}
