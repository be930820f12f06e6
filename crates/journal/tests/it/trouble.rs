//! What is refused, noticed or survived: modes, links, versions, replaced files, rotation.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::PathBuf;

use guildhall_journal::{
    AppendErrorKind, CheckpointError, Journal, JournalSpec, OpenErrorKind, PrivateErrorKind,
    WriteOnce,
};
use serde_json::json;

use crate::support::{AT, Place, SPEC, append, copy, dropped, queued, seen, tree, turn};

const NONE: &[(&str, &str)] = &[];

fn set_mode(path: PathBuf, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).expect("a mode");
}

fn filled() -> Place {
    let place = Place::new();
    let (mut journal, _) = place.open();
    append(
        &mut journal,
        &[seen(1), queued(1), turn(1, "ok"), dropped(1)],
    );
    place
}

#[test]
fn everything_is_made_private() {
    let place = filled();
    for (name, mode) in [
        ("", 0o700),
        ("commits", 0o700),
        ("commits/1.jsonl", 0o600),
        ("inbox.jsonl", 0o600),
        ("turns", 0o700),
        ("turns/1.json", 0o600),
    ] {
        let found = fs::metadata(place.file(name))
            .expect(name)
            .permissions()
            .mode()
            & 0o7777;
        assert_eq!(found, mode, "{name}");
    }
}

#[test]
fn what_is_not_private_is_refused_by_name_and_left_as_it_is() {
    for (name, mode) in [
        ("", 0o750),
        ("commits", 0o755),
        ("commits/1.jsonl", 0o640),
        ("inbox.jsonl", 0o604),
        ("turns", 0o701),
        ("turns/1.json", 0o660),
    ] {
        let place = filled();
        set_mode(place.file(name), mode);
        let refused = place.try_open().expect_err(name);
        let OpenErrorKind::Private(error) = refused.kind else {
            panic!("{name}: {refused:?}")
        };
        let PrivateErrorKind::ModeTooOpen { mode: found, .. } = error.kind else {
            panic!("{name}: {error:?}")
        };
        assert_eq!(
            (error.path, found),
            (place.folder().join(name).components().collect(), mode)
        );
    }
}

#[test]
fn links_are_not_followed() {
    for name in [
        "",
        "commits",
        "commits/1.jsonl",
        "inbox.jsonl",
        "turns",
        "turns/1.json",
    ] {
        let place = filled();
        let path: PathBuf = place.folder().join(name).components().collect();
        let moved = place.folder().with_file_name("moved");
        fs::rename(&path, &moved).expect("a move");
        symlink(&moved, &path).expect("a link");
        let refused = place.try_open().expect_err(name);
        let OpenErrorKind::Private(error) = refused.kind else {
            panic!("{name}: {refused:?}")
        };
        assert!(
            matches!(error.kind, PrivateErrorKind::Symlink),
            "{name}: {error:?}"
        );
        assert_eq!(error.path, path);
    }
}

#[test]
fn a_newer_version_is_refused_and_nothing_is_written() {
    let newer = |text: &str| text.replace("{\"v\":1,", "{\"v\":2,");
    for (name, is_log_kept) in [
        ("commits/1.jsonl", true),
        ("inbox.jsonl", false),
        ("rows.jsonl", false),
    ] {
        let place = filled();
        let text = fs::read_to_string(place.file(name)).expect("text");
        fs::write(place.file(name), newer(&text)).expect("a newer file");
        if !is_log_kept {
            fs::remove_dir_all(place.file("commits")).expect("the commit log goes");
        }
        let before = tree(&place.folder());
        let refused = place.try_open().expect_err(name);
        let OpenErrorKind::TooNew { file, found, known } = refused.kind else {
            panic!("{name}: {refused:?}")
        };
        assert_eq!((file, found, known), (place.file(name), 2, 1));
        assert!(tree(&place.folder()) == before, "{name}");
        assert_eq!(place.file("commits").exists(), is_log_kept, "{name}");
    }
}

#[test]
fn a_group_of_a_newer_version_behind_older_ones_is_refused_too() {
    let place = filled();
    let text = fs::read_to_string(place.segment()).expect("the segment");
    let used = text.trim_end_matches('\0');
    let line = format!("{{\"v\":2,\"g\":2,\"at\":\"{AT}\",\"sealed\":\"x\"}}\n");
    fs::write(place.segment(), format!("{used}{line}")).expect("one more group");
    let refused = place.try_open().expect_err("a newer group");
    assert!(
        matches!(refused.kind, OpenErrorKind::TooNew { found: 2, .. }),
        "{refused:?}"
    );
}

#[test]
fn a_log_that_is_not_known_is_refused_by_name() {
    let place = filled();
    let refused = Journal::open(&place.folder(), AT, JournalSpec::new(&["inbox"]));
    let refused = refused.expect_err("an unknown log");
    assert!(matches!(&refused.kind, OpenErrorKind::UnknownLog(log) if log == "rows"));
}

#[test]
fn a_write_once_file_with_other_contents_is_refused_at_the_start() {
    let place = filled();
    fs::write(
        place.file("turns/1.json"),
        "{\"k\":\"turn\",\"row\":\"2\"}\n",
    )
    .expect("a change");
    let refused = place.try_open().expect_err("a changed record");
    let OpenErrorKind::WrittenOnce { file } = refused.kind else {
        panic!("{refused:?}")
    };
    assert_eq!(file, place.file("turns/1.json"));
}

#[test]
fn a_copy_that_lost_what_was_synced_is_refused() {
    let place = Place::new();
    let (mut journal, _) = place.open();
    append(&mut journal, &[seen(1)]);
    journal
        .checkpoint(AT, &json!(1), NONE)
        .expect("a checkpoint");
    drop(journal);
    let length = fs::metadata(place.file("inbox.jsonl"))
        .expect("the copy")
        .len();
    fs::write(place.file("inbox.jsonl"), "{").expect("a shorter copy");
    let refused = place.try_open().expect_err("shortened");
    let OpenErrorKind::Shortened {
        file,
        found_bytes,
        synced_bytes,
    } = refused.kind
    else {
        panic!("{refused:?}")
    };
    assert_eq!(
        (file, found_bytes, synced_bytes),
        (place.file("inbox.jsonl"), 1, length)
    );
}

#[test]
fn what_is_replaced_under_the_journal_is_noticed_at_the_next_group() {
    type Change = fn(&Place);
    let cases: [(&str, Change); 6] = [
        ("", |place| {
            fs::rename(place.folder(), place.folder().with_extension("away")).expect("a move")
        }),
        ("", |place| {
            let away = place.folder().with_extension("away");
            fs::rename(place.folder(), &away).expect("a move");
            copy(&away, &place.folder());
        }),
        ("commits", |place| {
            fs::rename(place.file("commits"), place.file("gone")).expect("a move");
        }),
        ("commits/1.jsonl", |place| {
            fs::remove_file(place.segment()).expect("a removal")
        }),
        ("inbox.jsonl", |place| {
            fs::remove_file(place.file("inbox.jsonl")).expect("a removal")
        }),
        ("inbox.jsonl", |place| {
            fs::copy(place.file("inbox.jsonl"), place.file("other")).expect("a copy");
            fs::rename(place.file("other"), place.file("inbox.jsonl")).expect("a replacement");
        }),
    ];
    for (name, change) in cases {
        let place = Place::new();
        let (mut journal, _) = place.open();
        append(&mut journal, &[seen(1)]);
        change(&place);
        let refused = journal.append(AT, &[seen(2)]).expect_err(name);
        let AppendErrorKind::Replaced { path } = refused.kind else {
            panic!("{name}: {refused:?}")
        };
        assert_eq!(
            path,
            place.folder().join(name).components().collect::<PathBuf>()
        );
        let closed = journal.append(AT, &[seen(2)]).expect_err("closed");
        assert!(matches!(closed.kind, AppendErrorKind::Poisoned));
        let closed = journal.checkpoint(AT, &json!(1), NONE).expect_err("closed");
        assert!(matches!(closed, CheckpointError::Poisoned));
    }
}

#[test]
fn a_line_that_somebody_else_adds_is_noticed_at_the_next_group_of_that_log() {
    let place = Place::new();
    let (mut journal, _) = place.open();
    append(&mut journal, &[seen(1)]);
    let text = place.text("inbox.jsonl");
    fs::write(place.file("inbox.jsonl"), format!("{text}{{}}\n")).expect("one more line");
    append(&mut journal, &[queued(1)]);
    let refused = journal.append(AT, &[seen(2)]).expect_err("a foreign line");
    let AppendErrorKind::Foreign { file, offset } = refused.kind else {
        panic!("{refused:?}")
    };
    assert_eq!(
        (file, offset),
        (place.file("inbox.jsonl"), text.len() as u64)
    );
    assert!(journal.is_poisoned());
}

#[test]
fn a_log_of_drops_is_put_aside_at_a_checkpoint_and_the_oldest_of_eight_goes() {
    const SMALL: JournalSpec = JournalSpec {
        unsynced: &["drops"],
        write_once: &[WriteOnce {
            log: "turns",
            id: "row",
        }],
        aside_max_bytes: 200,
        ..SPEC
    };
    let place = Place::new();
    let (mut journal, _) = Journal::open(&place.folder(), AT, SMALL).expect("a journal");
    for round in 1..=10 {
        for row in 0..3 {
            journal
                .unsynced(AT, "drops", &dropped(row).1)
                .expect("a line");
        }
        append(&mut journal, &[dropped(round)]);
        journal
            .checkpoint(AT, &json!(round), NONE)
            .expect("a checkpoint");
        append(&mut journal, &[dropped(100 + round)]);
        drop(journal);
        let opened = Journal::open(&place.folder(), AT, SMALL).expect("a journal");
        assert_eq!(opened.1.torn, [], "round {round}");
        journal = opened.0;
    }
    let kept: Vec<_> = (1..=10)
        .filter(|n| place.file(&format!("drops.{n}.jsonl")).exists())
        .collect();
    assert_eq!(kept, [3, 4, 5, 6, 7, 8, 9, 10]);
    let lines = place.text("drops.10.jsonl");
    assert_eq!(
        lines.lines().count(),
        5,
        "one group from before, three strangers, one group"
    );
    assert_eq!(place.text("drops.jsonl").lines().count(), 1);
}

#[test]
fn a_rotation_that_was_announced_and_not_made_is_made_at_the_start() {
    let spec = JournalSpec {
        aside_max_bytes: 50,
        ..SPEC
    };
    let place = Place::new();
    let (mut journal, _) = Journal::open(&place.folder(), AT, spec).expect("a journal");
    append(&mut journal, &[dropped(1)]);
    journal
        .checkpoint(AT, &json!(1), NONE)
        .expect("a checkpoint");
    append(&mut journal, &[seen(2)]);
    drop(journal);
    // As if the crash had come before the rename.
    fs::rename(place.file("drops.1.jsonl"), place.file("drops.jsonl")).expect("a move back");
    let (mut journal, _) = Journal::open(&place.folder(), AT, spec).expect("a journal");
    assert!(place.file("drops.1.jsonl").exists() && !place.file("drops.jsonl").exists());
    append(&mut journal, &[dropped(3)]);
    assert_eq!(place.text("drops.jsonl").lines().count(), 1);
}

#[test]
fn files_of_version_one_are_read_as_ever() {
    let fixtures = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures");
    for (name, groups) in [("v1-commit-log", 3), ("v1-named-files", 3)] {
        let place = Place::new();
        copy(&fixtures.join(name), &place.folder());
        let (mut journal, back) = place.open();
        assert_eq!(back.next_group, groups + 1, "{name}");
        let told: Vec<_> = back
            .records
            .iter()
            .map(|r| (r.g, r.log, &*r.json))
            .collect();
        let queued = r#"{"k":"queued","row":"2","route":"seat"}"#;
        assert!(told.contains(&(2, "rows", queued)), "{name}: {told:?}");
        assert_eq!(
            journal.scan_ids("inbox", "row").expect("ids"),
            [1, 2, 3],
            "{name}"
        );
        append(&mut journal, &[seen(4)]);
    }
}
