//! This test binary as a child process: what must die, or hold something, in a process of its own.

use std::io::{BufRead, BufReader, Read};
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use guildhall_journal::lock::{Owner, RunLock, recover};
use guildhall_journal::{Brakes, FAIL_POINT_VARIABLE, Journal, Spool, arm};
use serde_json::json;

use crate::support::{AT, SPEC, dropped, queued, seen, turn};

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
    /// Puts two replies into a spool and compacts it.
    Spool,
}

impl Role {
    const ALL: [Self; 4] = [Self::Claim, Self::Recover, Self::Commit, Self::Spool];

    fn name(self) -> String {
        format!("{self:?}")
    }
}

/// Starts this binary in a role.
pub(crate) fn start(role: Role, folder: &Path, more: &[(&str, &str)]) -> Child {
    let binary = std::env::current_exe().expect("this binary");
    Command::new(binary)
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

/// Waits for the child and says which signal ended it.
pub(crate) fn signal_that_ended(mut child: Child) -> Option<i32> {
    let _input = child.stdin.take();
    let output = child.wait_with_output().expect("its end");
    output.status.signal()
}

/// Runs a role that has to die at a fail point; returns what it said before.
pub(crate) fn dies_at(role: Role, folder: &Path, point: &str) -> Vec<String> {
    let mut child = start(role, folder, &[(FAIL_POINT_VARIABLE, point)]);
    drop(child.stdin.take());
    let output = child.wait_with_output().expect("its end");
    assert_eq!(output.status.signal(), Some(9), "{point}: {output:?}");
    let said = BufReader::new(&*output.stdout)
        .lines()
        .map_while(Result::ok);
    said.filter_map(|line| line.rsplit_once("said ").map(|said| said.1.to_owned()))
        .collect()
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
