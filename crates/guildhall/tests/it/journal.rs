//! What a seat wrote, as any other program could read it.
//!
//! In: the folder of a binding. Out: lines and records. Never: the product's own code, so that a
//! mistake in it cannot hide here.

use serde_json::Value;
use std::{
    fs::{self, File},
    io::{self, Read as _, Seek as _, SeekFrom},
    path::{Path, PathBuf},
};

/// How much of the end of a log is read: more than any test leaves open.
const TAIL_BYTES: u64 = 1024 * 1024;

/// A binding's folder.
#[derive(Clone, Debug)]
pub(crate) struct Journal(pub(crate) PathBuf);

impl Journal {
    /// The last whole lines of a log; one that is being written is left out.
    pub(crate) fn lines(&self, log: &str) -> Vec<Value> {
        self.lines_with(log, "")
    }

    /// Those of them in which a text stands. A log may be long, so only they are parsed.
    fn lines_with(&self, log: &str, text: &str) -> Vec<Value> {
        let bytes = tail(&self.0.join(format!("{log}.jsonl"))).unwrap_or_default();
        let whole = bytes.iter().rposition(|byte| *byte == b'\n').unwrap_or(0);
        let lines = std::str::from_utf8(&bytes[..whole]).expect("UTF-8").lines();
        lines
            .filter(|line| line.contains(text))
            .map(|line| serde_json::from_str(line).expect("a line of JSON"))
            .collect()
    }

    /// The lines of a kind that belong to a row.
    pub(crate) fn about(&self, log: &str, kind: &str, row: u64) -> Vec<Value> {
        let row = row.to_string();
        let mut lines = self.lines_with(log, &row);
        lines.retain(|line| line["k"] == kind && (line["row"] == *row || line["owner"] == *row));
        lines
    }

    /// Whether every one of these rows is settled, its turn's record included.
    pub(crate) fn has_settled(&self, rows: &[u64]) -> bool {
        rows.iter().all(|row| {
            let settled = self.about("rows", "settled", *row);
            // A row that was cancelled before its claim had no turn.
            let has_record = |line: &Value| line["how"] == "cancelled" || self.turn(*row).is_some();
            settled.first().is_some_and(has_record)
        })
    }

    /// The record of a turn, if there is one.
    pub(crate) fn turn(&self, row: u64) -> Option<Value> {
        let bytes = fs::read(self.0.join("turns").join(format!("{row}.json"))).ok()?;
        serde_json::from_slice(&bytes).ok()
    }

    /// The length of a log, in bytes.
    pub(crate) fn length(&self, log: &str) -> u64 {
        fs::metadata(self.0.join(format!("{log}.jsonl"))).map_or(0, |meta| meta.len())
    }

    /// The commit log's files.
    pub(crate) fn segments(&self) -> Vec<PathBuf> {
        let mut files = files_of(&self.0.join("commits"));
        files.retain(|path| path.extension().is_some_and(|end| end == "jsonl"));
        files
    }
}

/// The end of a file, from the beginning of a line on.
fn tail(path: &Path) -> io::Result<Vec<u8>> {
    let mut file = File::open(path)?;
    let length = file.metadata()?.len();
    let from = length.saturating_sub(TAIL_BYTES);
    file.seek(SeekFrom::Start(from))?;
    let mut bytes = Vec::new();
    file.take(TAIL_BYTES).read_to_end(&mut bytes)?;
    if from > 0 {
        let begin = bytes.iter().position(|byte| *byte == b'\n');
        bytes.drain(..=begin.unwrap_or(0));
    }
    Ok(bytes)
}

/// The files of a folder, in order of their names.
pub(crate) fn files_of(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).expect("a folder");
    let paths = entries.map(|entry| entry.expect("an entry").path());
    let mut files: Vec<_> = paths.filter(|path| path.is_file()).collect();
    files.sort();
    files
}
