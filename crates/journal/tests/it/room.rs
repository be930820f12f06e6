//! A full disk: what was accepted finishes, nothing new is promised, nothing is lost.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::Command;

use crate::child::{self, Role};
use crate::support::Place;

/// What the child that fills its journal says, step by step; see [`Role::Fill`].
#[derive(Debug, Default)]
struct Story {
    enough: u64,
    no_room: u64,
    refused: u64,
    last: u64,
    room_again: bool,
}

fn story_of(mut child: std::process::Child) -> Story {
    let mut story = Story::default();
    loop {
        let line = child::line(&mut child);
        let (what, g) = line.split_once(' ').unwrap_or((&line, "0"));
        let g: u64 = g.parse().expect("a number");
        match what {
            "enough" => story.enough += 1,
            "no-room" => story.no_room += 1,
            "refused" => story.refused += 1,
            "room-again" => story.room_again = true,
            "end" => break,
            other => child::fail(child, other),
        }
        story.last = story.last.max(g);
    }
    child::finish(child);
    story
}

/// The journal is whole after a full disk: every acknowledged group, every copy.
fn check(place: &Place, story: &Story) {
    let (journal, back) = place.open();
    assert_eq!(back.next_group, story.last + 1, "{story:?}");
    let ids = journal.scan_ids("inbox", "row").expect("ids");
    assert_eq!(ids, (1..=story.last).collect::<Vec<_>>());
    assert_eq!(back.records.len() as u64, story.last);
}

#[test]
fn at_a_file_size_limit_the_reserve_carries_on_and_then_the_group_is_refused() {
    let place = Place::new();
    // The first segment is 1.5 MiB with its padding; one piece more is allowed, not two.
    let story = story_of(child::start(
        Role::Fill,
        &place.folder(),
        &[("LIMIT", "2200000")],
    ));
    assert!(story.enough > 0 && story.refused > 0, "{story:?}");
    // Groups of 8 KiB and a reserve of a mebibyte: more than a hundred went in after the warning.
    assert!(story.no_room > 100, "{story:?}");
    assert!(!story.room_again, "{story:?}");
    check(&place, &story);
}

#[test]
fn on_a_full_file_system_copies_fall_behind_and_catch_up_when_there_is_room_again() {
    let place = Place::new();
    fs::create_dir(place.folder()).expect("a folder");
    fs::set_permissions(place.folder(), fs::Permissions::from_mode(0o700)).expect("a mode");
    // A file system of its own for the child alone, in a namespace that ends with it.
    let can_mount = Command::new("unshare")
        .args([
            "-rm",
            "mount",
            "-t",
            "tmpfs",
            "-o",
            "size=8m,mode=700",
            "tmpfs",
        ])
        .arg(place.folder())
        .status()
        .is_ok_and(|status| status.success());
    if !can_mount {
        eprintln!("skipped: this system lets us mount no file system of our own");
        return;
    }
    let saved = Place::new();
    let copy = saved.folder();
    let story = story_of(child::start(
        Role::Fill,
        &place.folder(),
        &[("MOUNT", "8m"), ("SAVE_TO", copy.to_str().expect("a path"))],
    ));
    assert!(story.enough > 0 && story.no_room > 100, "{story:?}");
    assert!(story.room_again, "{story:?}");
    check(&saved, &story);
}
