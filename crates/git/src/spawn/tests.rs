//! Children of all kinds, by a shell that the tests start.

use super::{Cancel, Ended, Run, run};
use crate::refusal::GitRefusal;
use std::{
    path::Path,
    thread,
    time::{Duration, Instant},
};

fn shell(script: &str) -> Run {
    Run {
        program: "/bin/sh".into(),
        args: vec!["-c".into(), script.into()],
        env: vec![("PATH".into(), "/usr/bin:/bin".into())],
        folder: "/".into(),
        input: Vec::new(),
        keep: 1024,
        deadline: Duration::from_secs(30),
    }
}

fn ended(script: &str) -> Ended {
    run(&shell(script), &Cancel::new(), None).expect("it ends")
}

/// Whether a process is there and not merely waiting to be reaped.
fn lives(pid: &str) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", pid.trim()));
    stat.is_ok_and(|stat| !stat.contains(") Z "))
}

fn gone(pid: &str) -> bool {
    let begun = Instant::now();
    while lives(pid) {
        if begun.elapsed() > Duration::from_secs(20) {
            return false;
        }
        thread::yield_now();
    }
    true
}

#[test]
fn what_a_child_says_and_how_it_ends_comes_back() {
    let found = ended("echo out; echo err >&2; exit 3");
    assert_eq!(found.code, Some(3));
    assert_eq!(found.out, b"out\n");
    assert_eq!(found.err, b"err\n");
    assert!(!found.out_cut && !found.is_ok());
    let signalled = ended("kill -9 $$");
    assert_eq!(signalled.code, None);
}

#[test]
fn output_over_the_bound_is_read_and_dropped() {
    let found = ended("yes | head -c 3000000");
    assert_eq!(found.out.len(), 1024);
    assert!(found.out_cut && found.is_ok());
}

#[test]
fn a_child_has_only_the_environment_and_descriptors_that_it_was_given() {
    let found = ended("env; exec ls -m /proc/self/fd");
    let said = String::from_utf8(found.out).expect("text");
    let names: Vec<&str> = said
        .lines()
        .filter_map(|l| l.split_once('='))
        .map(|p| p.0)
        .collect();
    // A shell adds where it is.
    assert!(
        names
            .iter()
            .all(|n| ["PATH", "PWD", "OLDPWD", "SHLVL", "_"].contains(n)),
        "{names:?}"
    );
    // `ls` opens the folder that it lists as its fourth.
    assert!(said.ends_with("0, 1, 2, 3\n"), "{said}");
}

#[test]
fn input_is_written_whole_and_closed() {
    let text = vec![b'x'; 1 << 20];
    let script = shell("wc -c").input(text);
    let found = run(&script, &Cancel::new(), None).expect("it ends");
    assert_eq!(String::from_utf8_lossy(&found.out).trim(), "1048576");
    let silent = ended("cat; echo end");
    assert_eq!(silent.out, b"end\n");
}

#[test]
fn a_child_that_reads_nothing_of_a_long_input_ends_all_the_same() {
    let script = shell("exit 0").input(vec![b'x'; 1 << 22]);
    assert!(run(&script, &Cancel::new(), None).expect("it ends").is_ok());
}

#[test]
fn the_deadline_ends_the_whole_group() {
    let place = tempfile::tempdir().expect("a folder");
    let note = place.path().join("pid");
    let script = format!("sleep 600 & echo $! > {}; wait", note.display());
    let mut slow = shell(&script);
    slow.deadline = Duration::from_millis(300);
    let found = run(&slow, &Cancel::new(), None);
    assert_eq!(found.err(), Some(GitRefusal::TimedOut));
    assert!(gone(&std::fs::read_to_string(note).expect("it began")));
}

#[test]
fn a_cancelled_call_ends_the_whole_group() {
    let place = tempfile::tempdir().expect("a folder");
    let note = place.path().join("pid");
    let script = format!("sleep 600 & echo $! > {}; wait", note.display());
    let cancel = Cancel::new();
    let other = cancel.clone();
    let watched = note.clone();
    let canceller = thread::spawn(move || {
        while std::fs::read_to_string(&watched)
            .is_ok_and(|pid| pid.ends_with('\n'))
            .eq(&false)
        {
            thread::yield_now();
        }
        other.cancel();
    });
    let found = run(&shell(&script), &cancel, None);
    canceller.join().expect("it cancels");
    assert_eq!(found.err(), Some(GitRefusal::Cancelled));
    assert!(gone(&std::fs::read_to_string(note).expect("it began")));
    let next = run(&shell("true"), &cancel, None);
    assert_eq!(next.err(), Some(GitRefusal::Cancelled));
}

#[test]
fn what_a_child_left_running_ends_with_it() {
    let found = ended("sleep 600 & echo $!");
    assert!(found.is_ok());
    assert!(gone(&String::from_utf8_lossy(&found.out)));
}

#[test]
fn a_missing_program_is_a_refusal() {
    let mut missing = shell("true");
    missing.program = Path::new("/no/such/program").to_owned();
    let found = run(&missing, &Cancel::new(), None);
    assert!(matches!(found.err(), Some(GitRefusal::NoProgram(_))));
}
