//! Measures what the journal's shape rests on, and prints it. Nothing is asserted.
//!
//! `cargo run --release -p guildhall-journal --example measure [folder on the disk to measure]`
//!
//! 1. One synced append: into a file that grows, and into a file that was padded ahead.
//! 2. A group: the commit log alone, the journal with its copies, three named files synced each.
//! 3. A start: the ids of a million accepted messages, and a journal with that inbox.

use std::error::Error;
use std::fs::{self, File, OpenOptions};
use std::io::{BufWriter, Write};
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use guildhall_journal::{Journal, JournalSpec};

type Outcome<T> = Result<T, Box<dyn Error>>;

const AT: &str = "2026-11-30T14:04:05.123Z";
const ROUNDS_COUNT: u64 = 2000;
/// Rounds of one kind in a row: a sync right after that of another file costs less or more.
const BLOCK_COUNT: u64 = 100;
const LINE: [u8; 400] =
    *b"01234567890123456789012345678901234567890123456789012345678901234567890123456789\
01234567890123456789012345678901234567890123456789012345678901234567890123456789\
01234567890123456789012345678901234567890123456789012345678901234567890123456789\
01234567890123456789012345678901234567890123456789012345678901234567890123456789\
0123456789012345678901234567890123456789012345678901234567890123456789012345678\n";

fn main() -> Outcome<()> {
    let chosen = std::env::args().nth(1).map(PathBuf::from);
    let place = match &chosen {
        Some(folder) => tempfile::tempdir_in(folder)?,
        None => tempfile::tempdir()?,
    };
    println!("{ROUNDS_COUNT} rounds; in brackets the ratio to the first line");
    let kinds: [(&str, Step); 4] = [
        (
            "synced append, growing file",
            growing(&place.path().join("growing"))?,
        ),
        (
            "synced append, padded file",
            padded(&place.path().join("padded"))?,
        ),
        (
            "three growing files, each synced",
            three_files(place.path())?,
        ),
        (
            "a group of three records with its copies",
            groups(&place.path().join("groups"))?,
        ),
    ];
    let measured = in_turns(kinds)?;
    for (what, found) in &measured {
        report(what, *found, measured[0].1);
    }
    million(&place.path().join("million"))
}

/// Half of all rounds took less, and 95 of 100 did.
#[derive(Clone, Copy, Debug)]
struct Timed {
    half: Duration,
    most: Duration,
}

fn timed(mut rounds: Vec<Duration>) -> Timed {
    rounds.sort_unstable();
    let at = |percent: usize| {
        rounds
            .get(rounds.len() * percent / 100)
            .copied()
            .unwrap_or_default()
    };
    Timed {
        half: at(50),
        most: at(95),
    }
}

fn report(what: &str, found: Timed, base: Timed) {
    let ratio = |found: Duration, base: Duration| found.as_secs_f64() / base.as_secs_f64();
    println!(
        "{what:45} p50 {:>9.1?} ({:.2})  p95 {:>9.1?} ({:.2})",
        found.half,
        ratio(found.half, base.half),
        found.most,
        ratio(found.most, base.most),
    );
}

/// One round of something; it is given the round's number.
type Step = Box<dyn FnMut(u64) -> Outcome<()>>;

/// Takes all kinds in turns, so that whatever else the machine does hits them alike.
fn in_turns<const N: usize>(
    kinds: [(&'static str, Step); N],
) -> Outcome<[(&'static str, Timed); N]> {
    let mut kinds = kinds.map(|(what, step)| (what, step, Vec::new()));
    for block in 0..ROUNDS_COUNT / BLOCK_COUNT {
        for (_, step, taken) in &mut kinds {
            for round in block * BLOCK_COUNT..(block + 1) * BLOCK_COUNT {
                let begun = Instant::now();
                step(round)?;
                taken.push(begun.elapsed());
            }
        }
    }
    Ok(kinds.map(|(what, _, taken)| (what, timed(taken))))
}

fn growing(path: &Path) -> Outcome<Step> {
    let mut file = create(path)?;
    Ok(Box::new(move |_| {
        file.write_all(&LINE)?;
        Ok(file.sync_data()?)
    }))
}

fn padded(path: &Path) -> Outcome<Step> {
    let file = create(path)?;
    let length = LINE.len() as u64;
    file.write_all_at(&vec![0; usize::try_from(length * ROUNDS_COUNT)?], 0)?;
    file.sync_all()?;
    Ok(Box::new(move |round| {
        file.write_all_at(&LINE, round * length)?;
        Ok(file.sync_data()?)
    }))
}

fn three_files(folder: &Path) -> Outcome<Step> {
    let mut files = Vec::new();
    for name in ["one", "two", "three"] {
        files.push(create(&folder.join(name))?);
    }
    Ok(Box::new(move |_| {
        for file in &mut files {
            file.write_all(&LINE[..LINE.len() / 3])?;
            file.sync_data()?;
        }
        Ok(())
    }))
}

fn groups(folder: &Path) -> Outcome<Step> {
    let spec = JournalSpec::new(&["inbox", "rows", "admissions"]);
    let (mut journal, _) = Journal::open(folder, AT, spec)?;
    Ok(Box::new(move |round| {
        let group = [
            (
                "inbox",
                format!(r#"{{"k":"seen","row":"{round}","channel":"7"}}"#),
            ),
            (
                "rows",
                format!(r#"{{"k":"queued","row":"{round}","route":"seat","who":"12"}}"#),
            ),
            (
                "admissions",
                format!(r#"{{"k":"admitted","row":"{round}","route":"seat"}}"#),
            ),
        ];
        Ok(journal.append(AT, &group).map(drop)?)
    }))
}

/// A journal that has accepted a million messages: how long a start reads.
fn million(folder: &Path) -> Outcome<()> {
    let spec = JournalSpec {
        bulk: &["inbox"],
        ..JournalSpec::new(&["inbox", "rows"])
    };
    let (mut journal, _) = Journal::open(folder, AT, spec)?;
    drop(journal);
    fs::remove_dir_all(folder.join("commits"))?;
    let mut inbox = BufWriter::new(create(&folder.join("inbox.jsonl"))?);
    for row in 0..1_000_000_u64 {
        let row = 1_300_000_000_000_000_000 + row * 4_194_304;
        writeln!(
            inbox,
            r#"{{"v":1,"g":0,"at":"{AT}","k":"seen","row":"{row}","channel":"1200000000000000001"}}"#
        )?;
    }
    inbox.flush()?;
    let bytes = inbox.get_ref().metadata()?.len();
    let opened = Journal::open(folder, AT, spec)?;
    journal = opened.0;
    journal.checkpoint(AT, &serde_json::json!({}), &[("", ""); 0])?;
    let mut last = 0;
    while !journal.wants_checkpoint() {
        let group = [(
            "rows",
            format!(
                r#"{{"k":"queued","row":"{last}","text":"{}"}}"#,
                "x".repeat(2000)
            ),
        )];
        last = journal.append(AT, &group)?.g;
    }
    drop(journal);
    let begun = Instant::now();
    let (journal, recovered) = Journal::open(folder, AT, spec)?;
    let opened = begun.elapsed();
    let begun = Instant::now();
    let ids = journal.scan_ids("inbox", "row")?;
    let scanned = begun.elapsed();
    println!(
        "a start: {} records of a full segment in {opened:.1?}; {} ids from {} MiB in {scanned:.1?}; peak memory {}",
        recovered.records.len(),
        ids.len(),
        bytes / 1024 / 1024,
        peak_memory().unwrap_or_default(),
    );
    Ok(())
}

/// The process's largest resident size so far.
fn peak_memory() -> Option<String> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:"))?;
    Some(line.trim().to_owned())
}

fn create(path: &Path) -> Outcome<File> {
    Ok(OpenOptions::new()
        .read(true)
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(path)?)
}
