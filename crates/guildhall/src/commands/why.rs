//! `guildhall why`: one message's life.
//!
//! In: the journal's named files. Out: every line about one message, in order, in words. Never: a
//! text of a message; the journal holds none.

use super::{Output, print};
use crate::{
    cli::WhyArgs,
    exit::{Failure, chain},
    home::Home,
};
use guildhall_binding::ids::MessageId;
use guildhall_journal::scan::{self, Reach};
use serde_json::{Value, json};
use std::path::Path;

/// Logs that speak of messages, in the order of a message's life.
const LOGS: [&str; 7] = [
    "drops",
    "inbox",
    "admissions",
    "rows",
    "outbox",
    "calls",
    "approvals",
];

pub(super) fn run(home: &Home, args: &WhyArgs, output: Output) -> Result<(), Failure> {
    let folder = home.checked_folder(&args.binding)?;
    let id = message_id(&args.message)?;
    let lines = collect(&folder, id)?;
    let record = std::fs::read_to_string(folder.join("turns").join(format!("{id}.json"))).ok();
    let record = record.and_then(|text| serde_json::from_str::<Value>(&text).ok());
    if output == Output::Json {
        print(
            json!({"message": id, "lines": lines.iter().map(|l| &l.1).collect::<Vec<_>>(), "turn": record}),
        );
        return Ok(());
    }
    if lines.is_empty() {
        print(format!("nothing is known of message {id}"));
        print("it was not received, or it was dropped so long ago that its line is gone");
        return Ok(());
    }
    for (log, line) in &lines {
        print(format!(
            "{}  {}",
            line["at"].as_str().unwrap_or("-"),
            words(log, line)
        ));
    }
    if let Some(record) = record {
        print(format!(
            "turn record: {}",
            folder.join("turns").join(format!("{id}.json")).display()
        ));
        if let Some(error) = record["error"].as_str() {
            print(format!("error: {error}"));
        }
    }
    Ok(())
}

/// A message id, or the last part of a link to a message.
fn message_id(text: &str) -> Result<MessageId, Failure> {
    let last = text
        .trim_end_matches('/')
        .rsplit('/')
        .next()
        .unwrap_or(text);
    last.parse().map_err(|_| {
        Failure::new(
            crate::exit::ExitReason::Usage,
            format!("{text:?} is no message id and no link to a message"),
        )
    })
}

/// Every line about a message, by group and then by the order of a message's life.
pub(super) fn collect(folder: &Path, id: MessageId) -> Result<Vec<(&'static str, Value)>, Failure> {
    let wanted = id.to_string();
    let mut found = Vec::new();
    let mut nonces = Vec::new();
    for log in LOGS {
        let mut lines = scan::lines(folder, log, Reach::WithPutAside)
            .map_err(|error| Failure::failed(format!("cannot read {log}: {}", chain(&error))))?;
        while let Some(line) = lines
            .next()
            .map_err(|error| Failure::failed(format!("cannot read {log}: {}", chain(&error))))?
        {
            let Ok(text) = std::str::from_utf8(line.text) else {
                continue;
            };
            // A search before a parse: most lines are about something else.
            let hit =
                text.contains(&wanted) || nonces.iter().any(|nonce: &String| text.contains(nonce));
            let Some(value) = hit
                .then(|| serde_json::from_str::<Value>(text).ok())
                .flatten()
            else {
                continue;
            };
            let about = ["row", "message", "owner", "turn"].iter().any(|key| {
                value[*key]
                    .as_str()
                    .is_some_and(|text| text == wanted || text.ends_with(&format!(":{wanted}")))
            });
            let nonce = value["nonce"].as_str();
            if let (true, Some(nonce)) = (about, nonce) {
                nonces.push(nonce.to_owned());
            }
            if about || nonce.is_some_and(|nonce| nonces.iter().any(|known| known == nonce)) {
                found.push((log, value));
            }
        }
    }
    found.sort_by_key(|(_, value)| (value["at"].as_str().map(str::to_owned), value["g"].as_u64()));
    Ok(found)
}

/// One line in words.
fn words(log: &str, line: &Value) -> String {
    let field = |key: &str| match (line[key].as_str(), line[key].is_null()) {
        (Some(text), _) => text.to_owned(),
        (None, true) => "-".to_owned(),
        (None, false) => line[key].to_string(),
    };
    match (log, line["k"].as_str()) {
        ("drops", _) => format!("dropped: {}", field("why")),
        ("inbox", _) => format!("seen in {}", field("channel")),
        ("admissions", _) => format!("admitted on route {}, by {}", field("route"), field("who")),
        ("rows", Some("queued")) => format!("queued on route {}", field("route")),
        ("rows", Some("claimed")) => format!("its engine run began, in process {}", field("epoch")),
        ("rows", Some("answered")) => format!(
            "answered: {} characters in {} parts",
            field("chars"),
            field("parts")
        ),
        ("rows", Some("settled")) => match line["why"].as_str() {
            Some(why) => format!("settled {}: {why}", field("how")),
            None => format!("settled {}", field("how")),
        },
        ("outbox", Some("intent")) => {
            let (purpose, part, of) = (field("purpose"), field("part"), field("of"));
            format!("intent: {purpose} {part} of {of}, nonce {}", field("nonce"))
        }
        ("outbox", Some("confirmed")) => {
            format!(
                "confirmed: message {}, by {}",
                field("message"),
                field("by")
            )
        }
        ("outbox", Some("refused")) => {
            format!("refused: {} (code {})", field("why"), field("code"))
        }
        ("outbox", Some("unknown")) => format!("unknown whether it stands: {}", field("why")),
        (log, kind) => format!("{log}: {}", kind.unwrap_or("?")),
    }
}
