//! The journal's thread: groups and drop lines in, news of durability out.
//!
//! In: jobs, in order. Out: one answer for each group and checkpoint. Never: two groups at once, a
//! group that is acknowledged before it is synced, a rule.

use guildhall_connector::{carry::Checkpoint, moment::Wall, record::Record, step::SpoolEntry};
use guildhall_journal::{
    AppendErrorKind, Buffered, CheckpointError, Journal, Room, Spool, SpoolError,
};
use serde_json::json;
use std::{
    collections::BTreeMap,
    path::PathBuf,
    sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel},
    thread::JoinHandle,
    time::{Duration, Instant},
};
use tokio::sync::mpsc::UnboundedSender;

/// How long a drop line waits before it is written.
const FLUSH_AFTER: Duration = Duration::from_millis(100);
/// How long nothing may be spooled before what is settled is cleared away.
const SPOOL_IDLE: Duration = Duration::from_secs(2);
/// How often room is looked for while there is none.
const PROBE_EVERY: Duration = Duration::from_secs(5);

/// Something for the disk.
pub(crate) enum Job {
    /// One group, to be synced.
    Group(Wall, Vec<Record>),
    /// A line that need not be synced.
    Drop(Wall, Record),
    /// A fresh segment over this state.
    Checkpoint(Wall, Box<Checkpoint>),
    /// Replace a small file; nothing comes back.
    Replace(PathBuf, Vec<u8>),
    /// Say whether there is room.
    Probe,
    /// Write what waits, then end.
    End,
}

/// What became of it.
#[derive(Debug)]
pub(crate) enum Done {
    /// The group is durable.
    Group { room: Room, wants_checkpoint: bool },
    /// The parts are durable.
    Spool,
    /// The checkpoint stands, or could not be made now.
    Checkpoint,
    /// Whether there is room.
    Room(Room),
    /// Nothing more can be acknowledged: the process ends, in these words.
    Broken(String),
}

/// Where answers go.
pub(crate) type Answers = UnboundedSender<Done>;

/// Starts the journal's thread.
pub(crate) fn start_journal(journal: Journal, answers: Answers) -> (Sender<Job>, JoinHandle<()>) {
    let (jobs, inbox) = channel();
    let thread = std::thread::spawn(move || write_journal(journal, &inbox, &answers));
    (jobs, thread)
}

fn write_journal(mut journal: Journal, inbox: &Receiver<Job>, answers: &Answers) {
    let mut flush_at: Option<Instant> = None;
    loop {
        let job = match flush_at {
            None => inbox.recv().unwrap_or(Job::End),
            Some(at) => match inbox.recv_timeout(at.saturating_duration_since(Instant::now())) {
                Ok(job) => job,
                Err(RecvTimeoutError::Timeout) => {
                    flush_at = None;
                    flush(&mut journal);
                    continue;
                }
                Err(RecvTimeoutError::Disconnected) => Job::End,
            },
        };
        let done = match job {
            Job::Group(at, records) => group(&mut journal, at, &records),
            Job::Checkpoint(at, checkpoint) => checkpointed(&mut journal, at, &checkpoint),
            Job::Probe => match journal.probe_room() {
                Ok(room) => Done::Room(room),
                Err(error) => Done::Broken(crate::exit::chain(&error)),
            },
            Job::Replace(path, bytes) => {
                if let Err(error) = guildhall_journal::replace(&path, &bytes) {
                    tracing::warn!(%error, "a file could not be replaced");
                }
                continue;
            }
            Job::Drop(at, record) => {
                flush_at.get_or_insert_with(|| Instant::now() + FLUSH_AFTER);
                drop_line(&mut journal, at, &record);
                continue;
            }
            Job::End => return flush(&mut journal),
        };
        if answers.send(done).is_err() {
            return;
        }
    }
}

/// Takes a drop line. A full buffer is written out first; what the disk does not take then is the
/// one loss that is allowed.
fn drop_line(journal: &mut Journal, at: Wall, record: &Record) {
    let (at, line) = (at.rfc3339(), record.to_json());
    for _ in 0..2 {
        match journal.unsynced(&at, record.log(), &line) {
            Ok(Buffered::Kept) => return,
            Ok(Buffered::Discarded) => flush(journal),
            Err(error) => return tracing::warn!(%error, "a drop line could not be written"),
        }
    }
}

fn flush(journal: &mut Journal) {
    if let Err(error) = journal.flush_unsynced() {
        tracing::warn!(%error, "drop lines could not be written");
    }
}

fn group(journal: &mut Journal, at: Wall, records: &[Record]) -> Done {
    if records.is_empty() {
        let (room, wants_checkpoint) = (journal.room(), journal.wants_checkpoint());
        return Done::Group {
            room,
            wants_checkpoint,
        };
    }
    let lines: Vec<_> = records
        .iter()
        .map(|record| (record.log(), record.to_json()))
        .collect();
    loop {
        match journal.append(&at.rfc3339(), &lines) {
            Ok(committed) => {
                let wants_checkpoint = journal.wants_checkpoint();
                return Done::Group {
                    room: committed.room,
                    wants_checkpoint,
                };
            }
            // Even the reserve is used up: what was accepted waits here until there is room. The
            // core takes nothing more meanwhile, since nothing is acknowledged.
            Err(error) if matches!(error.kind, AppendErrorKind::NoRoom) => {
                tracing::error!("no room to write; waiting for room");
                std::thread::sleep(PROBE_EVERY);
            }
            Err(error) => return Done::Broken(crate::exit::chain(&error)),
        }
    }
}

fn checkpointed(journal: &mut Journal, at: Wall, checkpoint: &Checkpoint) -> Done {
    let carry = serde_json::to_value(&checkpoint.carry).unwrap_or_else(|_| json!({}));
    let restated: Vec<_> = checkpoint
        .restated
        .iter()
        .map(|record| (record.log(), record.to_json()))
        .collect();
    match journal.checkpoint(&at.rfc3339(), &carry, &restated) {
        Ok(()) | Err(CheckpointError::NoRoom) => Done::Checkpoint,
        Err(error) => Done::Broken(crate::exit::chain(&error)),
    }
}

/// Waits until both threads have written what they were given.
pub(crate) fn join(threads: [JoinHandle<()>; 2]) {
    for thread in threads {
        if thread.join().is_err() {
            tracing::error!("a writer's thread ended in a panic");
        }
    }
}

/// Something for the spool.
pub(crate) enum SpoolJob {
    /// Parts that must be durable.
    Put(Vec<SpoolEntry>),
    /// This row's parts are not needed any more.
    Forget(String),
    /// End.
    End,
}

/// Starts the spool's thread over the parts that are still open, by row.
pub(crate) fn start_spool(
    spool: Spool,
    open: BTreeMap<String, Vec<String>>,
    answers: Answers,
) -> (Sender<SpoolJob>, JoinHandle<()>) {
    let (jobs, inbox) = channel();
    let thread = std::thread::spawn(move || write_spool(spool, open, &inbox, &answers));
    (jobs, thread)
}

fn write_spool(
    mut spool: Spool,
    mut open: BTreeMap<String, Vec<String>>,
    inbox: &Receiver<SpoolJob>,
    answers: &Answers,
) {
    loop {
        let stale = open.is_empty() && spool.length() > 0;
        let job = match inbox.recv_timeout(SPOOL_IDLE) {
            Ok(job) => job,
            Err(RecvTimeoutError::Disconnected) => SpoolJob::End,
            Err(RecvTimeoutError::Timeout) => {
                if stale || spool.wants_compaction() {
                    compact(&mut spool, &open);
                }
                if open.is_empty() && spool.length() == 0 {
                    // Nothing to clear away: sleep until there is something to do.
                    match inbox.recv() {
                        Ok(job) => job,
                        Err(_) => SpoolJob::End,
                    }
                } else {
                    continue;
                }
            }
        };
        match job {
            SpoolJob::Put(entries) => {
                let done = put(&mut spool, &mut open, &entries);
                if answers.send(done).is_err() {
                    return;
                }
            }
            SpoolJob::Forget(row) => {
                open.remove(&row);
                if spool.wants_compaction() {
                    compact(&mut spool, &open);
                }
            }
            SpoolJob::End => {
                if open.is_empty() && spool.length() > 0 {
                    compact(&mut spool, &open);
                }
                return;
            }
        }
    }
}

fn put(
    spool: &mut Spool,
    open: &mut BTreeMap<String, Vec<String>>,
    entries: &[SpoolEntry],
) -> Done {
    let lines: Vec<_> = entries.iter().map(line).collect();
    loop {
        match spool.put(&lines) {
            Ok(()) => break,
            Err(SpoolError::NoRoom) => {
                tracing::error!("no room for an answer; waiting for room");
                compact(spool, open);
                std::thread::sleep(PROBE_EVERY);
            }
            Err(error) => return Done::Broken(crate::exit::chain(&error)),
        }
    }
    for (entry, line) in entries.iter().zip(lines) {
        open.entry(entry.row.to_string()).or_default().push(line);
    }
    Done::Spool
}

fn compact(spool: &mut Spool, open: &BTreeMap<String, Vec<String>>) {
    let keep: Vec<_> = open.values().flatten().collect();
    if let Err(error) = spool.compact(&keep) {
        tracing::warn!(%error, "the spool could not be cleared");
    }
}

/// A spool entry as its line.
fn line(entry: &SpoolEntry) -> String {
    json!({
        "v": 1,
        "row": entry.row.to_string(),
        "part": entry.part,
        "nonce": entry.nonce.to_string(),
        "text": entry.text,
    })
    .to_string()
}
