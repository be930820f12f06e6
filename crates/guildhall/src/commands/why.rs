//! `guildhall why`: one message's life.
//!
//! In: the journal's named files. Out: every line about one message, in order, in words. Never: a
//! text of a message; the journal holds none.

use super::{Output, print, terminal::on_a_line};
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
    "approvals",
    "outbox",
    "calls",
];
/// Fields by which a line says what it is about, and fields that lead on to further lines.
const ABOUT: [&str; 4] = ["row", "message", "owner", "turn"];
const LEADS: [&str; 2] = ["nonce", "ask"];

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
        for used in record["tools"].as_array().into_iter().flatten() {
            print(format!("tool: {}", tool_words(used)));
        }
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
    // The message itself, and the deliveries and asks that it led to.
    let mut known = vec![wanted.clone()];
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
            let hit = known.iter().any(|id| text.contains(id.as_str()));
            let Some(value) = hit
                .then(|| serde_json::from_str::<Value>(text).ok())
                .flatten()
            else {
                continue;
            };
            if !is_about(&value, &wanted, &known) {
                continue;
            }
            for lead in LEADS {
                if let Some(id) = value[lead].as_str()
                    && !known.iter().any(|known| known == id)
                {
                    known.push(id.to_owned());
                }
            }
            found.push((log, value));
        }
    }
    found.sort_by_key(|(_, value)| (value["at"].as_str().map(str::to_owned), value["g"].as_u64()));
    Ok(found)
}

/// One tool call of the turn record in words.
fn tool_words(used: &Value) -> String {
    let parts = ["name", "root", "path", "url", "query", "outcome", "reason"];
    let told = parts.iter().filter(|key| used[**key].is_string());
    let told: Vec<_> = told.map(|key| on_a_line(&used[*key])).collect();
    told.join(" ")
}

/// Whether a line is about the message, or about a delivery or an ask of it.
fn is_about(line: &Value, wanted: &str, known: &[String]) -> bool {
    let owned = |text: &str, id: &str| text == id || text.ends_with(&format!(":{id}"));
    ABOUT.iter().any(|key| {
        let text = line[*key].as_str();
        text.is_some_and(|text| owned(text, wanted))
    }) || LEADS.iter().chain(&["owner"]).any(|key| {
        let text = line[*key].as_str();
        text.is_some_and(|text| known.iter().any(|id| owned(text, id)))
    })
}

/// One line in words.
fn words(log: &str, line: &Value) -> String {
    let field = |key: &str| match line[key].is_null() {
        true => "-".to_owned(),
        false => on_a_line(&line[key]),
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
        ("approvals" | "calls", _) => work_words(log, line, &field),
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

/// A line about an ask or a call that changes something.
fn work_words(log: &str, line: &Value, field: &dyn Fn(&str) -> String) -> String {
    match (log, line["k"].as_str()) {
        ("approvals", Some("opened")) => format!(
            "asked for permission: {}, ask {}, until {}",
            field("tool"),
            field("ask"),
            field("until")
        ),
        ("approvals", Some("posted")) => format!("its card is message {}", field("message")),
        ("approvals", Some("decided")) => format!(
            "decided: {} by {}, via {}",
            field("answer"),
            field("by"),
            field("via")
        ),
        ("approvals", Some("refused")) => {
            format!(
                "refused after it was allowed, before it began: {}",
                field("why")
            )
        }
        ("approvals", Some("closed")) => "its card shows how it ended".to_owned(),
        ("calls", Some("begun")) => format!(
            "call {} begins to change something: {} {} in {}",
            field("call"),
            field("tool"),
            field("target"),
            field("root")
        ),
        ("calls", Some(how)) => match line["why"].as_str() {
            Some(why) => format!("call {} ended {how}: {why}", field("call")),
            None => format!("call {} ended {how}", field("call")),
        },
        (log, kind) => format!("{log}: {}", kind.unwrap_or("?")),
    }
}
