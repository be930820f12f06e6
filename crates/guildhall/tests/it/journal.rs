//! What a seat wrote, as any other program could read it.
//!
//! In: the folder of a binding. Out: lines and records. Never: the product's own code, so that a
//! mistake in it cannot hide here.

use serde_json::Value;
use std::{fs, path::PathBuf};

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

    /// Whether every one of these rows is settled.
    pub(crate) fn has_settled(&self, rows: &[u64]) -> bool {
        let lines = self.lines("rows");
        rows.iter().all(|row| {
            let row = row.to_string();
            lines
                .iter()
                .any(|line| line["k"] == "settled" && line["row"] == *row)
        })
    }

    /// The record of a turn, if there is one.
    pub(crate) fn turn(&self, row: u64) -> Option<Value> {
        let bytes = fs::read(self.0.join("turns").join(format!("{row}.json"))).ok()?;
        serde_json::from_slice(&bytes).ok()
    }
}
