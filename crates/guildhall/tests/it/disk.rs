//! Faults of the disk: no room, errors of the device, lines that a crash left unfinished.
//!
//! In: errors at each write and sync, a file size limit, files that were torn. Out: what was accepted
//! is answered, what was refused is caught up, and a disk that lies ends the process. Never: an
//! acknowledgement of something that is not on disk.

mod torn; // files as a power cut leaves them

use crate::{
    ask::{Ask, Mix, say},
    hall::CHANNELS,
    pool::{all_hold, case},
    seat::Ended,
    stage::{HERE, Stage},
    waiting::{PATIENCE, until, within},
};
use rustix::process::{Resource, Rlimit, prlimit};
use std::fs;

/// Cases at once: nearly all of their time is waiting.
const AT_ONCE: usize = 6;

#[test]
fn a_write_without_room_is_waited_for_and_nothing_is_lost() {
    let points = [
        "journal.line:3-4=ENOSPC",
        "journal.line:5=ENOSPC",
        "journal.copy:2-9=ENOSPC",
        "journal.copy:6-12=ENOSPC",
        "spool.entry:1=ENOSPC",
        "spool.entry:2=ENOSPC",
        "journal.room:1-3=ENOSPC",
    ];
    let cases = points.map(|point| case(point, move || without_room(point)));
    all_hold(&cases, AT_ONCE);
}

/// The process lives through it.
fn without_room(point: &str) {
    let mut stage = Stage::open();
    assert_eq!(stage.seat.terminate(), Ended::Exit(0));
    stage.seat.start(Some(point));
    stage.seat.connected();
    let said = stage.say(Mix::TwoRoutes);
    stage.answered(&said);
    assert_eq!(
        stage.seat.terminate(),
        Ended::Exit(0),
        "{}",
        stage.seat.last_words()
    );
    // The clean end left the whole story behind.
    stage.seat.serve();
    stage.greet(90);
}

#[test]
fn an_end_without_room_for_a_checkpoint_is_clean_all_the_same() {
    let mut stage = Stage::open();
    assert_eq!(stage.seat.terminate(), Ended::Exit(0));
    stage.seat.start(Some("checkpoint.segment=ENOSPC"));
    stage.seat.connected();
    stage.greet(1);
    assert_eq!(stage.seat.terminate(), Ended::Exit(0));
    stage.seat.serve();
    stage.greet(2);
}

#[test]
fn a_device_that_fails_ends_the_process_and_the_next_one_goes_on() {
    let points = [
        "journal.line:3=EIO",
        "journal.line:6=EROFS",
        "journal.sync:2=EIO",
        "journal.sync:4=EIO",
        "journal.sync:5=ENOSPC",
        "journal.copy:5=EIO",
        "spool.entry=EIO",
        "spool.sync=EIO",
        "spool.sync:2=ENOSPC",
    ];
    let cases = points.map(|point| case(point, move || with_a_broken_device(point)));
    all_hold(&cases, AT_ONCE);
}

fn with_a_broken_device(point: &str) {
    let mut stage = Stage::open();
    assert_eq!(stage.seat.terminate(), Ended::Exit(0));
    let said = stage.say(Mix::TwoRoutes);
    stage.seat.start(Some(point));
    assert_eq!(
        stage.seat.end(),
        Ended::Exit(1),
        "{}",
        stage.seat.last_words()
    );
    assert!(
        stage
            .seat
            .log()
            .contains("the disk does not keep what it is given")
    );
    assert!(
        !stage.seat.journal().0.join("run.lock").exists(),
        "the lock was given back"
    );
    stage.seat.start(None);
    stage.accounted(&said);
}

/// A limit on file sizes stands for a disk that is full: what has its room written ahead goes on,
/// and nothing else does.
#[test]
fn a_full_disk_refuses_what_is_new_and_catches_it_up_when_there_is_room() {
    let mut stage = Stage::open();
    for number in 1..=8 {
        stage.greet(number);
    }
    // A fresh segment is short, and the named files are long.
    assert_eq!(stage.seat.terminate(), Ended::Exit(0));
    stage.seat.serve();
    stage.greet(9);
    let rows = stage.seat.journal().0.join("rows.jsonl");
    limit(&stage, Some(fs::metadata(rows).expect("rows").len()));
    let [one, two] = HERE;
    let accepted = say(&stage.hall, one, Ask::Long);
    until("the last of the room", || {
        stage.seat.log().contains("nothing new is accepted")
    });
    let refused = [
        say(&stage.hall, one, Ask::Short(1)),
        say(&stage.hall, two, Ask::Short(2)),
    ];
    until("one line in each channel", || {
        [one, two]
            .iter()
            .all(|place| told(&stage, place, accepted.row) == 1)
    });
    assert!(stage.seat.ended().is_none(), "{}", stage.seat.last_words());
    limit(&stage, None);
    stage.answered(&[accepted, refused[0], refused[1]]);
    let twice = [one, two]
        .iter()
        .any(|place| told(&stage, place, accepted.row) != 1);
    assert!(!twice, "a channel is told once");
    assert_eq!(stage.seat.terminate(), Ended::Exit(0));
}

/// How many lines about the room a channel got.
fn told(stage: &Stage, channel: &str, since: u64) -> usize {
    let posts = stage.hall.bot_posts(channel, since);
    let about = posts
        .iter()
        .filter(|post| post.content.starts_with("I have no room"));
    about.count()
}

/// Limits the size of the seat's files, or lifts the limit.
fn limit(stage: &Stage, bytes: Option<u64>) {
    let pid = stage.seat.pid().expect("it runs");
    let maximum = None;
    let current = bytes;
    prlimit(Some(pid), Resource::Fsize, Rlimit { current, maximum }).expect("a limit");
}

#[test]
fn a_seat_that_finds_no_room_at_its_start_says_so_and_starts_later() {
    let mut stage = Stage::open();
    assert_eq!(stage.seat.terminate(), Ended::Exit(0));
    let said = say(&stage.hall, CHANNELS[1], Ask::Short(1));
    // Every write of the journal fails from the first one on.
    stage.seat.start(Some("journal.line:1+=ENOSPC"));
    let spoke = within(PATIENCE, || {
        stage.seat.log().contains("no room to write").then_some(())
    });
    assert!(spoke.is_some(), "{}", stage.seat.last_words());
    stage.crash();
    stage.answered(&[said]);
}
