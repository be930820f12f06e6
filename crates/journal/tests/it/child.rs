//! This test binary as a child process: what must die, or hold something, in a process of its own.

use std::io::{BufRead, BufReader, Read};
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use guildhall_journal::lock::{Owner, RunLock, recover};
use guildhall_journal::{
    AppendErrorKind, Brakes, CheckpointError, Committed, FAIL_POINT_VARIABLE, Journal, Room, Spool,
    arm,
};
use rustix::process::{Resource, Rlimit, setrlimit};
use serde_json::json;

use crate::support::{AT, SPEC, copy, dropped, queued, seen, turn};

const ROLE: &str = "GUILDHALL_JOURNAL_TEST_ROLE";
const FOLDER: &str = "GUILDHALL_JOURNAL_TEST_FOLDER";

/// What a child does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    /// Claims the lock, says `won` or `held`, and keeps it until its input ends.
    Claim,
    /// Clears the way for a supervised start.
    Recover,
    /// Opens the journal, commits three groups, makes a checkpoint, and says each step.
    Commit,
    /// Commits groups until none fits any more, then makes room if it can, and says each step.
    Fill,
    /// Commits groups and makes checkpoints until it is killed; says each group.
    Endless,
    /// Commits three groups and says what became of each.
    Three,
    /// Puts two replies into a spool and compacts it.
    Spool,
}

impl Role {
    const ALL: [Self; 7] = [
        Self::Claim,
        Self::Recover,
        Self::Commit,
        Self::Fill,
        Self::Three,
        Self::Endless,
        Self::Spool,
    ];

    fn name(self) -> String {
        format!("{self:?}")
    }
}

/// Starts this binary in a role. With `MOUNT` it gets a file system of that size in the folder.
pub(crate) fn start(role: Role, folder: &Path, more: &[(&str, &str)]) -> Child {
    let binary = std::env::current_exe().expect("this binary");
    let mut command = match more.iter().find(|(name, _)| *name == "MOUNT") {
        None => Command::new(binary),
        Some((_, size)) => {
            let mut command = Command::new("unshare");
            let script = "mount -t tmpfs -o size=$0,mode=700 tmpfs \"$1\" && shift && exec \"$@\"";
            command
                .args(["-rm", "sh", "-c", script, size])
                .arg(folder)
                .arg(binary);
            command
        }
    };
    command
        .args([
            "--exact",
            "child::plays_its_role",
            "--ignored",
            "--nocapture",
        ])
        .env(ROLE, role.name())
        .env(FOLDER, folder)
        .envs(more.iter().copied())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("a child")
}

/// The next line that the child says, without what the test harness says around it.
pub(crate) fn line(child: &mut Child) -> String {
    let stdout = child.stdout.as_mut().expect("its output");
    let mut line = Vec::new();
    let mut byte = [0];
    // Byte by byte: what follows is still to be read by others.
    while stdout.read(&mut byte).expect("a byte") == 1 {
        if byte[0] != b'\n' {
            line.push(byte[0]);
            continue;
        }
        let text = String::from_utf8_lossy(&line).into_owned();
        if let Some(said) = text.rsplit_once("said ") {
            return said.1.to_owned();
        }
        line.clear();
    }
    "nothing".into()
}

/// Ends the child's input and expects it to end well.
pub(crate) fn finish(mut child: Child) {
    drop(child.stdin.take());
    let output = child.wait_with_output().expect("its end");
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
}

/// Fails the test with what a child said last, and its errors.
#[expect(
    clippy::panic,
    reason = "the failure of a child is the failure of its test"
)]
pub(crate) fn fail(mut child: Child, said: &str) -> ! {
    drop(child.stdin.take());
    let output = child.wait_with_output().expect("its end");
    panic!(
        "{said}: {}: {}",
        output.status,
        String::from_utf8_lossy(&output.stderr)
    );
}

/// Waits for the child and says which signal ended it.
pub(crate) fn signal_that_ended(mut child: Child) -> Option<i32> {
    let _input = child.stdin.take();
    let output = child.wait_with_output().expect("its end");
    output.status.signal()
}

/// Runs a role with an armed fail point to its end; returns what it said.
pub(crate) fn says(role: Role, folder: &Path, point: &str) -> Vec<String> {
    let mut child = start(role, folder, &[(FAIL_POINT_VARIABLE, point)]);
    drop(child.stdin.take());
    let output = child.wait_with_output().expect("its end");
    assert!(output.status.success(), "{point}: {output:?}");
    said(&output.stdout)
}

pub(crate) fn said(output: &[u8]) -> Vec<String> {
    let lines = BufReader::new(output).lines().map_while(Result::ok);
    lines
        .filter_map(|line| line.rsplit_once("said ").map(|said| said.1.to_owned()))
        .collect()
}

/// Runs a role that has to die at a fail point; returns what it said before.
pub(crate) fn dies_at(role: Role, folder: &Path, point: &str) -> Vec<String> {
    let mut child = start(role, folder, &[(FAIL_POINT_VARIABLE, point)]);
    drop(child.stdin.take());
    let output = child.wait_with_output().expect("its end");
    assert_eq!(output.status.signal(), Some(9), "{point}: {output:?}");
    said(&output.stdout)
}

fn say(what: impl std::fmt::Display) {
    println!("said {what}");
}

#[test]
#[ignore = "other tests run it as a child process"]
fn plays_its_role() {
    let role = std::env::var(ROLE).expect("a role");
    let folder = PathBuf::from(std::env::var(FOLDER).expect("a folder"));
    let point = std::env::var(FAIL_POINT_VARIABLE).ok();
    arm(point.as_deref()).expect("a fail point");
    let role = Role::ALL
        .into_iter()
        .find(|known| known.name() == role)
        .expect("a known role");
    match role {
        Role::Claim => claim(&folder),
        Role::Recover => {
            recover(&folder, &Brakes::of(&folder, &folder))
                .map(drop)
                .expect("a recovery");
        }
        Role::Commit => commit(&folder),
        Role::Fill => fill(&folder),
        Role::Three => three(&folder),
        Role::Endless => endless(&folder),
        Role::Spool => spool(&folder),
    }
}

fn claim(folder: &Path) {
    let held = RunLock::claim(folder, &Brakes::of(folder, folder), &Owner::current());
    say(if held.is_ok() { "won" } else { "held" });
    let mut rest = Vec::new();
    std::io::stdin()
        .read_to_end(&mut rest)
        .expect("the end of the input");
}

fn commit(folder: &Path) {
    let (mut journal, _) = Journal::open(folder, AT, SPEC).expect("a journal");
    for row in 1..=3 {
        let group = [seen(row), queued(row), turn(row, "ok"), dropped(row)];
        let committed = journal.append(AT, &group).expect("a group");
        say(committed.g);
    }
    journal
        .checkpoint(AT, &json!("carried"), &[queued(3)])
        .expect("a checkpoint");
    say("checkpoint");
    let committed = journal.append(AT, &[seen(4)]).expect("a group");
    say(committed.g);
}

fn spool(folder: &Path) {
    let (mut spool, _) = Spool::open(&folder.join("spool.jsonl")).expect("a spool");
    for part in 1..=2 {
        spool
            .put(&[format!("{{\"part\":{part}}}")])
            .expect("an entry");
        say(part);
    }
    spool.compact(&["{\"part\":2}"]).expect("a compaction");
    say("compacted");
}

/// About 8 KiB, so that a mebibyte is a hundred groups.
fn big(row: u64) -> (&'static str, String) {
    (
        "inbox",
        format!(
            r#"{{"k":"seen","row":"{row}","pad":"{}"}}"#,
            "x".repeat(8000)
        ),
    )
}

fn fill(folder: &Path) {
    if let Ok(limit) = std::env::var("LIMIT") {
        let limit = Some(limit.parse().expect("a number of bytes"));
        let limit = Rlimit {
            current: limit,
            maximum: limit,
        };
        setrlimit(Resource::Fsize, limit).expect("a limit");
    }
    // Something that can be given up later; it takes what a small file system has to spare.
    let ballast = folder.join("ballast");
    if std::env::var("MOUNT").is_ok() {
        std::fs::write(&ballast, vec![b'x'; 4 * 1024 * 1024]).expect("ballast");
    }
    let (mut journal, _) = Journal::open(folder, AT, SPEC).expect("a journal");
    let mut row = 1;
    let mut refused = 0;
    while refused < 3 {
        match journal.append(AT, &[big(row)]) {
            Ok(Committed { g, room }) => {
                row += 1;
                say(format!(
                    "{} {g}",
                    if room == Room::Enough {
                        "enough"
                    } else {
                        "no-room"
                    }
                ));
            }
            Err(error) => {
                assert!(matches!(error.kind, AppendErrorKind::NoRoom), "{error:?}");
                refused += 1;
                say("refused 0");
            }
        }
    }
    assert_eq!(journal.probe_room().expect("an answer"), Room::NoRoom);
    if ballast.exists() {
        let none: &[(&str, &str)] = &[];
        let checkpoint = journal.checkpoint(AT, &json!(1), none);
        assert!(
            matches!(checkpoint, Err(CheckpointError::NoRoom)),
            "{checkpoint:?}"
        );
        std::fs::remove_file(&ballast).expect("room");
        if journal.probe_room().expect("an answer") == Room::Enough {
            say("room-again 0");
        }
        let committed = journal.append(AT, &[big(row)]).expect("a group");
        say(format!("enough {}", committed.g));
    }
    drop(journal);
    if let Ok(target) = std::env::var("SAVE_TO") {
        copy(folder, Path::new(&target));
    }
    say("end 0");
}

fn three(folder: &Path) {
    let mut journal = match Journal::open(folder, AT, SPEC) {
        Ok((journal, _)) => journal,
        Err(error) => {
            return say(if error.kind.is_no_room() {
                "no-room"
            } else {
                "io"
            });
        }
    };
    for row in 1..=3 {
        match journal.append(AT, &[seen(row)]) {
            Ok(Committed {
                g,
                room: Room::Enough,
            }) => say(g),
            Ok(Committed {
                g,
                room: Room::NoRoom,
            }) => say(format!("{g} no-room")),
            Err(error) if matches!(error.kind, AppendErrorKind::Io { .. }) => say("io"),
            Err(error) if matches!(error.kind, AppendErrorKind::NoRoom) => say("no-room"),
            Err(error) if matches!(error.kind, AppendErrorKind::Poisoned) => say("poisoned"),
            Err(error) => say(error),
        }
    }
}

fn endless(folder: &Path) {
    let (mut journal, _) = Journal::open(folder, AT, SPEC).expect("a journal");
    loop {
        let row = journal.next_group();
        let group = [seen(row), queued(row), turn(row, "ok"), dropped(row)];
        let committed = journal.append(AT, &group).expect("a group");
        say(committed.g);
        if committed.g % 5 == 0 {
            journal
                .checkpoint(AT, &json!(committed.g), &[queued(row)])
                .expect("a checkpoint");
        }
    }
}
