//! `guildhall reload`: have a running process take the edited binding.
//!
//! In: the file. Out: what the process made of it. Never: a signal over a file that is not valid.

use super::{Output, print};
use crate::{
    exit::{Failure, chain},
    home::Home,
    seat::digest,
};
use guildhall_connector::record::{Record, ReloadRecord};
use guildhall_journal::lock::{self, LockError, OwnerSignal, Verdict};
use serde_json::json;
use std::{
    io::{Read as _, Seek as _, SeekFrom},
    path::Path,
    time::{Duration, Instant},
};

/// How long the command waits for the outcome.
const WAIT: Duration = Duration::from_secs(30);
/// Where the process says what came of a reload.
const LOG: &str = "reloads.jsonl";
/// How much of what it says meanwhile is looked at, in bytes.
const LINES_MAX_BYTES: u64 = 4 * 1024 * 1024;
const POLL: Duration = Duration::from_millis(50);
/// How long a refusal that names no file is held: a reading that began before ours may have made it,
/// and then ours follows.
const EARLIER: Duration = Duration::from_secs(2);

pub(super) fn run(home: &Home, name: &str, output: Output) -> Result<(), Failure> {
    let (_, bytes) = home.policy_and_bytes(name)?;
    let file = digest(&bytes);
    let folder = home.folder(name);
    let before = length(&folder);
    lock::signal_owner(&folder, OwnerSignal::Reload).map_err(|error| match &error {
        LockError::Refused {
            verdict: Verdict::NothingThere,
            ..
        } => Failure::failed("nothing runs: the file applies at the next start"),
        LockError::Braked(_)
        | LockError::Refused { .. }
        | LockError::ForeignEntry(_)
        | LockError::Busy
        | LockError::Private(_) => {
            Failure::failed(format!("no process was told: {}", chain(&error)))
        }
    })?;
    let until = Instant::now() + WAIT;
    let mut unread_since = None;
    while Instant::now() < until {
        let lines = lines_after(&folder, before);
        let (mut of_ours, mut unread) = (None, None);
        for outcome in lines.lines().filter_map(|line| outcome(line, &file)) {
            match outcome {
                ReloadRecord::Refused { file: None, .. } => unread = Some(outcome),
                ReloadRecord::Refused { .. } | ReloadRecord::Applied { .. } => {
                    of_ours = of_ours.or(Some(outcome));
                }
            }
        }
        let held =
            unread.filter(|_| unread_since.get_or_insert_with(Instant::now).elapsed() >= EARLIER);
        if let Some(outcome) = of_ours.or(held) {
            return told(outcome, output);
        }
        std::thread::sleep(POLL);
    }
    Err(
        Failure::failed("the process did not say what became of the reload")
            .hint(format!("`guildhall status {name}` shows what it does")),
    )
}

fn length(folder: &Path) -> u64 {
    std::fs::metadata(folder.join(LOG)).map_or(0, |found| found.len())
}

/// What was written to the log after its first `skip` bytes.
fn lines_after(folder: &Path, skip: u64) -> String {
    let read = || -> std::io::Result<String> {
        let mut file = std::fs::File::open(folder.join(LOG))?;
        file.seek(SeekFrom::Start(skip))?;
        let mut text = String::new();
        file.take(LINES_MAX_BYTES).read_to_string(&mut text)?;
        Ok(text)
    };
    read().unwrap_or_default()
}

/// The outcome that a line tells of this file, or of one that could not be read.
fn outcome(line: &str, file: &str) -> Option<ReloadRecord> {
    match Record::parse("reloads", line) {
        Ok(Record::Reloads(record)) => match &record {
            ReloadRecord::Applied { file: told, .. } if told == file => Some(record),
            ReloadRecord::Refused { file: told, .. }
                if told.as_deref().is_none_or(|told| told == file) =>
            {
                Some(record)
            }
            ReloadRecord::Applied { .. } | ReloadRecord::Refused { .. } => None,
        },
        Ok(_) | Err(_) => None,
    }
}

fn told(outcome: ReloadRecord, output: Output) -> Result<(), Failure> {
    match outcome {
        ReloadRecord::Applied { changes, .. } => {
            match output {
                Output::Json => print(json!({"outcome": "applied", "changes": changes})),
                Output::Text if changes.is_empty() => print("applied: nothing has changed"),
                Output::Text => print(format!("applied\n  {}", changes.join("\n  "))),
            }
            Ok(())
        }
        ReloadRecord::Refused { why, .. } => {
            Err(Failure::failed(format!("refused: {}", why.join("; ")))
                .hint("the process goes on with the binding that it had"))
        }
    }
}
