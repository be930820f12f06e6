//! `guildhall status`: is it running, what is in flight, what is wrong.
//!
//! In: the lock, the brakes, the seat itself where it answers, else what it wrote last. Out: a few
//! lines or one JSON object for each binding. Never: a change; a seat that is down, or does not
//! answer, is no failure.

use super::{
    Output, print,
    socket::{Answer, ask},
};
use crate::{
    exit::Failure,
    home::Home,
    seat::{self, STATUS_FILE},
};
use guildhall_journal::{
    Brake,
    lock::{self, Holder, LockState},
    read_brake, read_replaced,
};
use serde_json::{Value, json};
use std::path::Path;

pub(super) fn run(home: &Home, name: Option<&str>, output: Output) -> Result<(), Failure> {
    let names = match name {
        Some(name) => {
            home.checked_folder(name)?;
            vec![name.to_owned()]
        }
        None => home.names(),
    };
    if names.is_empty() && output == Output::Text {
        print(format!("no binding in {}", home.root().display()));
        print("`guildhall demo` tries it without one");
    }
    for name in names {
        let found = look(home, &name);
        match output {
            Output::Json => print(found),
            Output::Text => tell(&name, &found),
        }
    }
    Ok(())
}

/// Everything there is to know, as JSON.
pub(super) fn look(home: &Home, name: &str) -> Value {
    let folder = home.folder(name);
    let brakes = home.brakes(name);
    let brake = |path| match read_brake(path) {
        Brake::Absent => Value::Null,
        Brake::Set { why } => json!({"set": true, "why": why}),
    };
    let (running, pid) = match lock::inspect(&folder) {
        Ok(LockState::Free) => ("no", None),
        Ok(LockState::Held {
            record,
            holder: Holder::Live,
        }) => ("yes", Some(record.pid)),
        Ok(LockState::Held {
            record,
            holder: Holder::Dead(_),
        }) => ("died", Some(record.pid)),
        Ok(LockState::Held {
            record,
            holder: Holder::Unverifiable(_),
        }) => ("unknown", Some(record.pid)),
        Ok(LockState::NoRecord) => ("start interrupted", None),
        Ok(LockState::Unparsable(_) | LockState::NotAFolder | LockState::Unreadable(_))
        | Err(_) => ("unknown", None),
    };
    let (answers, last) = last_words(&folder, running);
    let open = if running == "yes" {
        None
    } else {
        seat::recovery::peek(&folder).ok()
    };
    let unresolved: Option<Vec<_>> = open.map(|durable| {
        durable
            .open_deliveries()
            .map(|(nonce, _)| nonce.to_string())
            .collect()
    });
    json!({
        "binding": name,
        "running": running,
        "pid": pid,
        "stop": brake(&brakes.stop),
        "estop": brake(&brakes.estop),
        "unresolvedDeliveries": unresolved,
        "answers": answers,
        "last": last,
    })
}

/// What the seat says now, else what it wrote last; and whether one that runs has answered.
fn last_words(folder: &Path, running: &str) -> (Value, Value) {
    let kept = || read_replaced::<Value>(&folder.join(STATUS_FILE)).unwrap_or(Value::Null);
    if running != "yes" {
        return (Value::Null, kept());
    }
    match ask(folder, &json!({"do": "status"})) {
        Answer::Said(mut said) if said["ok"] == true => (json!(true), said["status"].take()),
        Answer::Said(_) | Answer::Silent(_) => (json!(false), kept()),
        // It has taken the lock and does not serve yet.
        Answer::Nobody => (Value::Null, kept()),
    }
}

fn tell(name: &str, found: &Value) {
    let last = &found["last"];
    let text = |value: &Value| value.as_str().unwrap_or("-").to_owned();
    let running = match (found["running"].as_str(), found["pid"].as_i64()) {
        (Some("yes"), Some(pid)) => {
            format!("running, process {pid}, since {}", text(&last["started"]))
        }
        (Some("died"), Some(pid)) => {
            format!("not running: process {pid} died; `guildhall unlock {name}` clears its lock")
        }
        (Some(other), _) => format!("running: {other}"),
        (None, _) => "unknown".to_owned(),
    };
    print(format!("{name}: {running}"));
    if found["answers"] == false {
        print("  it does not answer; what follows is what it wrote last");
    }
    for (brake, words) in [("stop", "STOP"), ("estop", "ESTOP")] {
        if !found[brake].is_null() {
            let why = found[brake]["why"].as_str().unwrap_or("no reason given");
            print(format!("  {words} is set: {why}"));
        }
    }
    if !last.is_null() {
        tell_last(found, last);
    }
}

/// Today's turns, and what they cost where that is known or bounded.
fn tell_today(connector: &Value) {
    print(format!(
        "  turns today {} of {}",
        connector["turnsToday"], connector["turnsPerDay"]
    ));
    let dollars = |micro: u64| format!("{}.{:06} USD", micro / 1_000_000, micro % 1_000_000);
    let spent = connector["microUsdToday"].as_u64().unwrap_or(0);
    match connector["microUsdPerDay"].as_u64() {
        Some(ceiling) => print(format!(
            "  spent today {} of {}",
            dollars(spent),
            dollars(ceiling)
        )),
        None if spent > 0 => print(format!("  spent today {}", dollars(spent))),
        None => {}
    }
}

/// What the seat itself wrote last.
fn tell_last(found: &Value, last: &Value) {
    let connector = &last["connector"];
    let text = |value: &Value| value.as_str().unwrap_or("-").to_owned();
    let wrong = last["degraded"].as_array().map_or(&[][..], Vec::as_slice);
    let word = match found["running"].as_str() {
        Some("yes") => "degraded since",
        Some(_) | None => "was degraded from",
    };
    for condition in wrong {
        print(format!(
            "  {word} {}: {}",
            text(&condition["since"]),
            text(&condition["words"])
        ));
    }
    let engine = &last["engine"];
    let model = engine["model"]
        .as_str()
        .map(|m| format!(" {m}"))
        .unwrap_or_default();
    print(format!("  engine {}{model}", text(&engine["kind"])));
    print(format!(
        "  phase {}, link {}, room {}",
        text(&connector["phase"]),
        text(&connector["link"]),
        text(&connector["room"])
    ));
    tell_today(connector);
    for (key, words) in [
        ("atWork", "at work"),
        ("waiting", "waiting"),
        ("deliveries", "deliveries"),
        ("asks", "wait for a permission"),
        ("paused", "paused"),
    ] {
        let empty = connector[key].as_array().is_none_or(Vec::is_empty);
        if !empty {
            print(format!("  {words}: {}", connector[key]));
        }
    }
    for (channel, event) in last["channels"].as_object().into_iter().flatten() {
        print(format!(
            "  last message in channel {channel}: {}",
            text(&event["at"])
        ));
    }
    if let Some(open) = found["unresolvedDeliveries"]
        .as_array()
        .filter(|open| !open.is_empty())
    {
        print(format!("  unresolved deliveries: {}", open.len()));
    }
    if let Some(what) = last["lastError"]["what"].as_str() {
        print(format!(
            "  last error {}: {what}",
            text(&last["lastError"]["at"])
        ));
    }
}
