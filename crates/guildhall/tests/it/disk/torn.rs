//! Files as a crash or a power cut leaves them.
//!
//! In: a seat that was killed with work under way, and its files, torn by hand only where a real disk
//! may tear them. Out: a start that mends them. Never: the loss of something that was synced.

use super::AT_ONCE;
use crate::{
    ask::Mix,
    journal::files_of,
    pool::{all_hold, case},
    seat::{Ended, Seat},
    stage::Stage,
};
use std::{
    fs::{self, OpenOptions},
    io::{Seek as _, SeekFrom, Write as _},
    path::Path,
};

/// The beginning of a line that was never finished.
const HALF: &[u8] = br#"{"v":1,"g":999999,"at":"2026-"#;

/// What is done to the files of a seat that was killed at a point.
type Tear = fn(&Seat);
/// A name, a point and a tear.
type Torn = (&'static str, &'static str, Tear);

/// Where the seat dies, and what the disk makes of the commit log.
fn commit_log() -> Vec<Torn> {
    vec![
        (
            "half a group after the last one",
            "discord.after-post",
            |seat| {
                seat.journal()
                    .segments()
                    .iter()
                    .for_each(|file| write_at_end(file, HALF));
            },
        ),
        (
            "half a group behind the padding",
            "discord.after-post",
            |seat| {
                seat.journal()
                    .segments()
                    .iter()
                    .for_each(|file| append(file, HALF));
            },
        ),
        (
            "a group of which half was written",
            "journal.line-written:4",
            |seat| {
                seat.journal()
                    .segments()
                    .iter()
                    .for_each(|file| cut_last_line(file, 2));
            },
        ),
        (
            "a group that never reached the device",
            "journal.line-written:5",
            |seat| {
                seat.journal()
                    .segments()
                    .iter()
                    .for_each(|file| cut_last_line(file, 1));
            },
        ),
    ]
}

fn other_files() -> Vec<Torn> {
    vec![
        (
            "half a line in every log",
            "journal.copies-written:4",
            |seat| {
                logs(seat).iter().for_each(|file| append(file, HALF));
            },
        ),
        (
            "no last line in any log",
            "journal.copies-written:5",
            |seat| {
                logs(seat).iter().for_each(|file| shorten(file, 9));
            },
        ),
        (
            "an answer of which half was written",
            "spool.written",
            |seat| {
                cut_last_line(&seat.spool(), 2);
            },
        ),
        (
            "an answer with half a line behind it",
            "discord.before-post",
            |seat| {
                write_at_end(&seat.spool(), HALF);
            },
        ),
        ("no spool at all", "discord.before-post", |seat| {
            fs::remove_file(seat.spool()).expect("a spool");
        }),
        (
            "files that may be lost, full of rubbish",
            "discord.before-post:2",
            |seat| {
                for name in ["gateway.json", "status.json"] {
                    fs::write(seat.journal().0.join(name), b"{\"v\":1,\"ses").expect("room");
                }
            },
        ),
        (
            "files that may be lost, gone",
            "driver.group-durable:4",
            |seat| {
                for name in ["gateway.json", "status.json"] {
                    fs::remove_file(seat.journal().0.join(name)).expect("it was written");
                }
            },
        ),
    ]
}

#[test]
fn a_torn_last_line_is_mended_wherever_it_stands() {
    let mut all = Vec::new();
    for (name, point, tear) in commit_log().into_iter().chain(other_files()) {
        for mix in [Mix::Parts, Mix::TwoRoutes] {
            all.push(case(name, move || torn(point, tear, mix)));
        }
    }
    all_hold(&all, AT_ONCE);
}

fn torn(point: &str, tear: Tear, mix: Mix) {
    let mut stage = Stage::open();
    assert_eq!(stage.seat.terminate(), Ended::Exit(0));
    let said = stage.say(mix);
    stage.seat.start(Some(point));
    assert_eq!(stage.seat.end(), Ended::Killed);
    tear(&stage.seat);
    stage.seat.start(None);
    stage.accounted(&said);
    stage.greet(70);
}

fn logs(seat: &Seat) -> Vec<std::path::PathBuf> {
    let mut files = files_of(&seat.journal().0);
    files.retain(|path| path.extension().is_some_and(|end| end == "jsonl"));
    files
}

fn append(path: &Path, bytes: &[u8]) {
    let mut file = OpenOptions::new().append(true).open(path).expect("a file");
    file.write_all(bytes).expect("room");
}

/// Where the padding begins.
fn end_of_lines(path: &Path) -> usize {
    let bytes = fs::read(path).expect("a file");
    bytes
        .iter()
        .rposition(|byte| *byte != 0)
        .map_or(0, |last| last + 1)
}

fn write_at_end(path: &Path, bytes: &[u8]) {
    let end = end_of_lines(path);
    let mut file = OpenOptions::new().write(true).open(path).expect("a file");
    file.seek(SeekFrom::Start(end as u64)).expect("a place");
    file.write_all(bytes).expect("room");
}

/// Turns the last line, or its last half, back into padding.
fn cut_last_line(path: &Path, divisor: usize) {
    let mut bytes = fs::read(path).expect("a file");
    let end = end_of_lines(path);
    let lines = &bytes[..end.saturating_sub(1)];
    let begin = lines
        .iter()
        .rposition(|byte| *byte == b'\n')
        .map_or(0, |last| last + 1);
    let length = end - begin;
    let keep = length - length / divisor;
    bytes[begin + keep..end].fill(0);
    let mut file = OpenOptions::new().write(true).open(path).expect("a file");
    file.write_all(&bytes).expect("room");
}

fn shorten(path: &Path, by: u64) {
    let file = OpenOptions::new().write(true).open(path).expect("a file");
    let length = file.metadata().expect("a length").len();
    file.set_len(length.saturating_sub(by)).expect("shorter");
}
