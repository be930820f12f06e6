//! What a seat wrote, as any other program could read it.
//!
//! In: the folder of a binding. Out: lines and records. Never: the product's own code, so that a
//! mistake in it cannot hide here.

use serde_json::Value;
use std::{
    fs,
    path::{Path, PathBuf},
};

/// A binding's folder.
#[derive(Clone, Debug)]
pub(crate) struct Journal(pub(crate) PathBuf);

impl Journal {
    /// The whole lines of a log; one that is being written is left out.
    pub(crate) fn lines(&self, log: &str) -> Vec<Value> {
        let bytes = fs::read(self.0.join(format!("{log}.jsonl"))).unwrap_or_default();
        let whole = bytes.iter().rposition(|byte| *byte == b'\n').unwrap_or(0);
        let lines = bytes[..whole].split(|byte| *byte == b'\n');
        lines
            .filter(|line| !line.is_empty())
            .map(|line| serde_json::from_slice(line).expect("a line of JSON"))
            .collect()
    }

    /// The lines of a kind that belong to a row.
    pub(crate) fn about(&self, log: &str, kind: &str, row: u64) -> Vec<Value> {
        let row = row.to_string();
        let mut lines = self.lines(log);
        lines.retain(|line| line["k"] == kind && (line["row"] == *row || line["owner"] == *row));
        lines
    }

    /// Whether every one of these rows is settled, its turn's record included.
    pub(crate) fn has_settled(&self, rows: &[u64]) -> bool {
        let lines = self.lines("rows");
        rows.iter().all(|row| {
            let id = row.to_string();
            let mut settled = lines.iter().filter(|line| line["k"] == "settled");
            let settled = settled.find(|line| line["row"] == *id);
            // A row that was cancelled before its claim had no turn.
            settled.is_some_and(|line| line["how"] == "cancelled" || self.turn(*row).is_some())
        })
    }

    /// The record of a turn, if there is one.
    pub(crate) fn turn(&self, row: u64) -> Option<Value> {
        let bytes = fs::read(self.0.join("turns").join(format!("{row}.json"))).ok()?;
        serde_json::from_slice(&bytes).ok()
    }

    /// The commit log's files.
    pub(crate) fn segments(&self) -> Vec<PathBuf> {
        let mut files = files_of(&self.0.join("commits"));
        files.retain(|path| path.extension().is_some_and(|end| end == "jsonl"));
        files
    }
}

/// The files of a folder, in order of their names.
pub(crate) fn files_of(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).expect("a folder");
    let paths = entries.map(|entry| entry.expect("an entry").path());
    let mut files: Vec<_> = paths.filter(|path| path.is_file()).collect();
    files.sort();
    files
}
