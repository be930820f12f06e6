//! The page's panel: what the seat is doing, from its own files.
//!
//! In: status.json and the ends of the journal's named files. Out: lines and rows for the page.
//! Never: a text of a message; the files hold none.

use super::{BINDING, seat_process::SeatProcess};
use crate::seat::STATUS_FILE;
use guildhall_sim::PanelSource;
use serde_json::{Value, json};
use std::{
    collections::BTreeMap,
    io::{Read as _, Seek as _, SeekFrom},
    path::{Path, PathBuf},
    sync::{Arc, OnceLock},
    time::{Duration, SystemTime},
};

/// How much of the end of a log is read, in bytes.
const TAIL_BYTES: u64 = 8 * 1024;
/// Journal lines that are shown.
const SHOWN_COUNT: usize = 12;

/// Reads the seat's files.
pub(super) struct Panel {
    folder: PathBuf,
    seat: SeatProcess,
    /// Names of channels and threads by id, once the stand-in is up.
    names: Arc<OnceLock<BTreeMap<String, String>>>,
}

impl Panel {
    pub(super) fn new(root: &Path, seat: SeatProcess) -> Self {
        Self {
            folder: folder(root),
            seat,
            names: Arc::default(),
        }
    }

    /// Where the names go once they are known.
    pub(super) fn names(&self) -> Arc<OnceLock<BTreeMap<String, String>>> {
        Arc::clone(&self.names)
    }

    /// A route as people know its place.
    fn route(&self, route: &Value) -> String {
        let route = route.as_str().unwrap_or("-");
        let named = route.split_once('-').and_then(|(kind, id)| {
            let name = self.names.get()?.get(id)?;
            Some(if kind == "channel" {
                format!("#{name}")
            } else {
                name.clone()
            })
        });
        named.unwrap_or_else(|| route.to_owned())
    }
}

fn folder(root: &Path) -> PathBuf {
    root.join("discord").join(BINDING)
}

/// Waits until the seat serves.
pub(super) async fn serving(root: &Path) {
    let file = folder(root).join(STATUS_FILE);
    while status(&file)["connector"]["phase"] != "serving" {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

fn status(file: &Path) -> Value {
    std::fs::read(file)
        .ok()
        .and_then(|bytes| serde_json::from_slice(&bytes).ok())
        .unwrap_or(Value::Null)
}

/// What changes when the files change.
pub(super) fn stamp(root: &Path) -> Option<Vec<(SystemTime, u64)>> {
    let folder = folder(root);
    let files = [
        STATUS_FILE,
        "rows.jsonl",
        "outbox.jsonl",
        "drops.jsonl",
        "approvals.jsonl",
        "calls.jsonl",
        "run.lock",
    ];
    let stamp = |file: &&str| {
        let found = std::fs::metadata(folder.join(file)).ok()?;
        Some((found.modified().ok()?, found.len()))
    };
    Some(files.iter().filter_map(stamp).collect())
}

impl PanelSource for Panel {
    fn panel(&self) -> Option<Value> {
        let status = status(&self.folder.join(STATUS_FILE));
        let connector = &status["connector"];
        let (process, tone) = self.seat.words();
        let text = |value: &Value| value.as_str().unwrap_or("-").to_owned();
        let at_work = list(&connector["atWork"], |busy| {
            format!("{} in {}", text(&busy["step"]), self.route(&busy["route"]))
        });
        let waiting = list(&connector["waiting"], |row| {
            format!("{} in {}", row[1], self.route(&row[0]))
        });
        let asks = list(&connector["asks"], |ask| text(&ask["tool"]));
        let deliveries = list(&connector["deliveries"], |delivery| text(&delivery["step"]));
        Some(json!({
            "title": "What the seat is doing",
            "state": if tone == "good" { text(&connector["phase"]) } else { "down".to_owned() },
            "lines": [
                {"label": "process", "value": process, "tone": tone},
                {"label": "link to Discord", "value": text(&connector["link"])},
                {"label": "at work", "value": at_work},
                {"label": "waiting", "value": waiting},
                {"label": "asks for permission", "value": asks},
                {"label": "open deliveries", "value": deliveries},
                {"label": "turns today", "value": connector["turnsToday"].to_string()},
            ],
            "sections": [{"title": "Journal, newest first", "rows": self.journal()}],
        }))
    }
}

impl Panel {
    fn journal(&self) -> Vec<[String; 2]> {
        let mut lines = Vec::new();
        for log in ["drops", "inbox", "rows", "approvals", "calls", "outbox"] {
            for (place, line) in tail(&self.folder.join(format!("{log}.jsonl")))
                .into_iter()
                .enumerate()
            {
                let at = line["at"].as_str().unwrap_or_default().to_owned();
                let g = line["g"].as_u64().unwrap_or(0);
                lines.push(((at, g, place), log, line));
            }
        }
        lines.sort_by(|a, b| b.0.cmp(&a.0));
        let clock = |line: &Value| {
            line["at"]
                .as_str()
                .and_then(|at| at.get(11..19))
                .unwrap_or("-")
                .to_owned()
        };
        let shown = lines.into_iter().take(SHOWN_COUNT);
        shown
            .map(|(_, log, line)| [clock(&line), words(log, &line)])
            .collect()
    }
}

fn list(value: &Value, word: impl Fn(&Value) -> String) -> String {
    let words: Vec<_> = value.as_array().into_iter().flatten().map(word).collect();
    if words.is_empty() {
        "nothing".to_owned()
    } else {
        words.join(", ")
    }
}

/// The whole lines at the end of a log.
fn tail(path: &Path) -> Vec<Value> {
    let read = || -> std::io::Result<Vec<u8>> {
        let mut file = std::fs::File::open(path)?;
        let length = file.metadata()?.len();
        file.seek(SeekFrom::Start(length.saturating_sub(TAIL_BYTES)))?;
        let mut bytes = Vec::new();
        file.take(TAIL_BYTES).read_to_end(&mut bytes)?;
        Ok(bytes)
    };
    let bytes = read().unwrap_or_default();
    bytes
        .split(|byte| *byte == b'\n')
        .filter_map(|line| serde_json::from_slice(line).ok())
        .collect()
}

fn words(log: &str, line: &Value) -> String {
    let kind = line["k"].as_str().unwrap_or("?");
    let field = |key: &str| line[key].as_str().unwrap_or("-").to_owned();
    match (log, kind) {
        ("drops", _) => format!("dropped: {}", field("why")),
        ("inbox", _) => "message accepted".to_owned(),
        ("rows", "settled") => format!("settled: {}", field("how")),
        ("rows", "answered") => format!("answered in {} parts", line["parts"]),
        ("rows", "started") => format!("process {} of this seat came up", line["epoch"]),
        ("rows", kind) => kind.replace('-', " "),
        ("approvals", "opened") => format!("asks for permission: {}", field("tool")),
        ("approvals", "posted") => "the card stands".to_owned(),
        ("approvals", "decided") => format!("decided: {}, by {}", field("answer"), field("via")),
        ("approvals", "refused") => format!("allowed, and refused then: {}", field("why")),
        ("approvals", "closed") => "the card shows how it ended".to_owned(),
        ("calls", "begun") => format!("{} begins: {}", field("tool"), field("target")),
        ("calls", how) => format!("the call ended: {how}"),
        ("outbox", "intent") => format!(
            "will post: {} {} of {}",
            field("purpose"),
            line["part"],
            line["of"]
        ),
        ("outbox", "confirmed") => format!("posted, known by {}", field("by")),
        ("outbox", kind) => kind.to_owned(),
        (_, kind) => kind.to_owned(),
    }
}
