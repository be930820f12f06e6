//! A journal that is older than its seat.
//!
//! In: the journal of a seat that ended cleanly, a number. Out: the same journal with so many accepted
//! messages before its own, as the product would have written them. Never: a line that the commit log
//! does not account for.

use crate::journal::Journal;
use serde_json::{Value, json};
use std::{
    fs::{self, OpenOptions},
    io::{BufWriter, Write as _},
};

/// Lengthens the inbox and the commit log's account of it. Gives one of the ids.
pub(super) fn lengthen(journal: &Journal, messages: u64) -> Option<u64> {
    let [segment] = journal
        .segments()
        .try_into()
        .expect("one segment after a clean end");
    let bytes = fs::read(&segment).expect("a segment");
    let end = bytes
        .iter()
        .position(|byte| *byte == b'\n')
        .expect("a header");
    let mut header: Value = serde_json::from_slice(&bytes[..end]).expect("a header of JSON");
    let rest = bytes[end + 1..].iter().any(|byte| *byte != 0);
    assert!(!rest, "nothing is open after a clean end");
    let newest = journal.lines("inbox").last().cloned().expect("a message");
    let first: u64 = newest["row"]
        .as_str()
        .and_then(|id| id.parse().ok())
        .expect("an id");
    // Sixteen messages a second, back from the seat's own.
    let id = |nth: u64| first - (((messages - nth) * 60) << 22);
    let path = journal.0.join("inbox.jsonl");
    let file = OpenOptions::new()
        .append(true)
        .open(path)
        .expect("an inbox");
    let mut file = BufWriter::new(file);
    let (g, at, channel) = (&newest["g"], &newest["at"], &newest["channel"]);
    for nth in 0..messages {
        let row = id(nth);
        writeln!(
            file,
            r#"{{"v":1,"g":{g},"at":{at},"k":"seen","row":"{row}","channel":{channel}}}"#
        )
        .expect("room");
    }
    file.flush().expect("room");
    header["lengths"]["inbox"] = json!(journal.length("inbox"));
    fs::write(&segment, format!("{header}\n")).expect("room");
    (messages > 0).then(|| id(messages / 2))
}
