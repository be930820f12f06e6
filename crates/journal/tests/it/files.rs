//! The small files: the spool, what is replaced whole, private files, scans, brakes.

use std::fs::{self, OpenOptions};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::PathBuf;

use guildhall_journal::scan::{self, Reach};
use guildhall_journal::{
    Absent, Brake, BrakeSet, PrivateErrorKind, Spool, SpoolError, ensure_private_folder,
    read_brake, read_private, read_replaced, release_brake, replace, set_brake,
};
use proptest::prelude::*;

use crate::support::{AT, Place, append, dropped, seen};

fn folder() -> Place {
    let place = Place::new();
    ensure_private_folder(&place.folder()).expect("a folder");
    place
}

fn put_private(path: PathBuf, bytes: &[u8]) {
    fs::write(&path, bytes).expect("a file");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).expect("a mode");
}

#[test]
fn a_spool_gives_back_its_entries_until_they_are_compacted_away() {
    let place = folder();
    let path = place.file("spool.jsonl");
    let (mut spool, fresh) = Spool::open(&path).expect("a spool");
    assert_eq!(fresh.entries, Vec::<String>::new());
    spool
        .put(&[r#"{"part":1}"#, r#"{"part":2}"#])
        .expect("two entries");
    spool.put(&[r#"{"part":3}"#]).expect("an entry");
    drop(spool);
    let (mut spool, back) = Spool::open(&path).expect("the spool");
    assert_eq!(
        back.entries,
        [r#"{"part":1}"#, r#"{"part":2}"#, r#"{"part":3}"#]
    );
    spool.compact(&[r#"{"part":3}"#]).expect("a compaction");
    spool.put(&[r#"{"part":4}"#]).expect("an entry");
    drop(spool);
    let (_, back) = Spool::open(&path).expect("the spool");
    assert_eq!((back.entries.len(), back.unreadable_count), (2, 0));
    assert_eq!(
        fs::metadata(&path).expect("the file").permissions().mode() & 0o777,
        0o600
    );
}

#[test]
fn a_spool_cut_at_any_byte_gives_back_a_prefix_and_goes_on() {
    let place = folder();
    let path = place.file("spool.jsonl");
    let entries = [r#"{"part":1,"text":"a"}"#, r#"{"part":2}"#, r#"{"part":3}"#];
    let (mut spool, _) = Spool::open(&path).expect("a spool");
    spool.put(&entries).expect("entries");
    let used = usize::try_from(spool.length()).expect("a length");
    drop(spool);
    let whole = fs::read(&path).expect("bytes");
    for padding in [0, 100] {
        for cut in 0..=used {
            let mut bytes = whole[..cut].to_vec();
            bytes.resize(cut + padding, 0);
            fs::write(&path, bytes).expect("a cut");
            let (mut spool, back) = Spool::open(&path).expect("the spool");
            let kept: Vec<_> = entries.iter().take(back.entries.len()).collect();
            assert!(back.entries.iter().eq(kept.iter().copied()), "cut at {cut}");
            spool.put(&[r#"{"part":9}"#]).expect("an entry");
            drop(spool);
            let (_, again) = Spool::open(&path).expect("the spool");
            assert_eq!(again.unreadable_count, 0, "cut at {cut}");
            assert_eq!(again.entries.len(), back.entries.len() + 1, "cut at {cut}");
        }
    }
}

#[test]
fn a_spool_refuses_what_is_no_entry_and_notices_that_it_was_replaced() {
    let place = folder();
    let path = place.file("spool.jsonl");
    let (mut spool, _) = Spool::open(&path).expect("a spool");
    for entry in ["", "1", "{\"a\":\n1}", "{\"a\":1", "{} "] {
        assert!(
            matches!(spool.put(&[entry]), Err(SpoolError::BadEntry)),
            "{entry:?}"
        );
    }
    assert_eq!(spool.length(), 0);
    fs::remove_file(&path).expect("a removal");
    assert!(matches!(spool.put(&["{}"]), Err(SpoolError::Replaced(at)) if at == path));
    assert!(matches!(spool.put(&["{}"]), Err(SpoolError::Poisoned)));
}

#[test]
fn a_replaced_file_is_read_back_or_its_absence_explained() {
    let place = folder();
    let path = place.file("gateway.json");
    let read = || read_replaced::<Vec<u32>>(&path);
    assert!(matches!(read(), Err(Absent::Missing)));
    replace(&path, b"[1,2]").expect("a file");
    replace(&path, b"[3]").expect("a replacement");
    assert_eq!(read().expect("numbers"), [3]);
    let names: Vec<_> = fs::read_dir(place.folder()).expect("a folder").collect();
    assert_eq!(names.len(), 1, "nothing is left beside it");
    for rubbish in [&b"[3"[..], b"", b"{\"secret\":1}", b"\xff"] {
        fs::write(&path, rubbish).expect("rubbish");
        let Err(Absent::Rubbish(why)) = read() else {
            panic!("{rubbish:?}")
        };
        assert!(!why.contains("secret"), "{why}");
    }
    fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).expect("a mode");
    assert!(matches!(read(), Err(Absent::Unreadable(_))));
}

#[test]
fn each_reason_why_a_private_file_is_not_read_has_its_name() {
    let place = folder();
    let read = |name: &str| read_private(&place.file(name), 10);
    put_private(place.file("token"), b"0123456789");
    assert_eq!(read("token").expect("ten bytes"), b"0123456789");
    put_private(place.file("long"), b"0123456789A");
    put_private(place.file("open"), b"x");
    fs::set_permissions(place.file("open"), fs::Permissions::from_mode(0o640)).expect("a mode");
    symlink(place.file("token"), place.file("link")).expect("a link");
    fs::create_dir(place.file("folder")).expect("a folder");
    let socket = std::os::unix::net::UnixListener::bind(place.file("socket")).expect("a socket");
    type Is = fn(&PrivateErrorKind) -> bool;
    let cases: [(&str, Is); 7] = [
        ("nothing", |kind| matches!(kind, PrivateErrorKind::Missing)),
        ("long", |kind| {
            matches!(kind, PrivateErrorKind::TooLarge { bytes: 11, max: 10 })
        }),
        ("open", |kind| {
            matches!(kind, PrivateErrorKind::ModeTooOpen { mode: 0o640, .. })
        }),
        ("link", |kind| matches!(kind, PrivateErrorKind::Symlink)),
        ("folder", |kind| {
            matches!(kind, PrivateErrorKind::NotRegular)
        }),
        ("socket", |kind| {
            matches!(kind, PrivateErrorKind::NotRegular)
        }),
        ("token/x", |kind| {
            matches!(kind, PrivateErrorKind::NotAFolder)
        }),
    ];
    for (name, is_right) in cases {
        let error = read(name).expect_err(name);
        assert!(is_right(&error.kind), "{name}: {error:?}");
        assert_eq!(error.path, place.file(name));
    }
    drop(socket);
}

#[test]
fn a_brake_is_set_once_read_and_released() {
    let place = folder();
    let stop = place.file("STOP");
    assert_eq!(read_brake(&stop), Brake::Absent);
    assert_eq!(
        set_brake(&stop, "lunch\nis ready").expect("a brake"),
        BrakeSet::Written
    );
    assert_eq!(
        set_brake(&stop, "again").expect("a brake"),
        BrakeSet::AlreadySet
    );
    assert_eq!(
        read_brake(&stop),
        Brake::Set {
            why: Some("lunch is ready".into())
        }
    );
    assert!(release_brake(&stop).expect("a release"));
    assert!(!release_brake(&stop).expect("nothing to release"));
    assert_eq!(read_brake(&stop), Brake::Absent);
}

#[test]
fn whatever_has_the_name_of_a_brake_is_one() {
    type Make = fn(PathBuf);
    let cases: [(&str, Make, Option<&str>); 5] = [
        (
            "an empty file",
            |path| fs::write(path, "").expect("a file"),
            None,
        ),
        (
            "an open file",
            |path| fs::write(path, "by hand\nmore").expect("a file"),
            Some("by hand"),
        ),
        (
            "a folder",
            |path| fs::create_dir(path).expect("a folder"),
            None,
        ),
        (
            "a dangling link",
            |path| symlink("/nowhere/at/all", path).expect("a link"),
            None,
        ),
        (
            "odd bytes",
            |path| fs::write(path, [0xff, 0, b'x']).expect("a file"),
            Some("\u{fffd}x"),
        ),
    ];
    for (name, make, why) in cases {
        let place = folder();
        make(place.file("STOP"));
        let why = why.map(str::to_owned);
        assert_eq!(
            read_brake(&place.file("STOP")),
            Brake::Set { why },
            "{name}"
        );
    }
    let place = folder();
    fs::write(place.file("file"), "").expect("a file");
    assert_eq!(
        read_brake(&place.file("file/STOP")),
        Brake::Set { why: None },
        "doubt refuses"
    );
}

#[test]
fn lines_are_read_across_the_files_that_were_put_aside_without_an_unfinished_one() {
    let place = folder();
    let long = format!("{{\"pad\":\"{}\"}}", "x".repeat(1024 * 1024 - 20));
    put_private(place.file("drops.2.jsonl"), b"{\"n\":1}\n\n{\"n\":2}\n");
    put_private(
        place.file("drops.10.jsonl"),
        format!("{long}\n{long}\n{{\"n\":3}}\n").as_bytes(),
    );
    put_private(place.file("drops.jsonl"), b"{\"n\":4}\n{\"n\":");
    let read = |reach| {
        let mut lines = scan::lines(&place.folder(), "drops", reach).expect("lines");
        let mut found = Vec::new();
        while let Some(line) = lines.next().expect("a line") {
            found.push((line.offset, line.text.len(), line.text.last().copied()));
        }
        found
    };
    let end = Some(b'}');
    let length = long.len();
    let at = (length as u64 + 1, length as u64 * 2 + 2);
    let put_aside = [(0, 7, end), (8, 0, None), (9, 7, end), (0, length, end)];
    let rest = [(at.0, length, end), (at.1, 7, end), (0, 7, end)];
    assert_eq!(read(Reach::Present), [(0, 7, end)]);
    assert_eq!(
        read(Reach::WithPutAside),
        [&put_aside[..], &rest[..]].concat()
    );
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, ..ProptestConfig::default() })]

    #[test]
    fn ids_are_those_that_a_plain_reader_finds(
        rows in prop::collection::vec(any::<u64>(), 0..60),
        pad in 0_usize..60_000,
        cut in 0_usize..40,
    ) {
        let place = folder();
        let mut text = String::new();
        let mut want = Vec::new();
        for row in &rows {
            text.push_str(&format!("{{\"k\":\"seen\",\"row\":\"{row}\",\"pad\":\"{}\"}}\n", "x".repeat(pad)));
        }
        text.truncate(text.len().saturating_sub(cut));
        for line in text.split_inclusive('\n').filter(|line| line.ends_with('\n')) {
            let value: serde_json::Value = serde_json::from_str(line).expect("JSON");
            want.push(value["row"].as_str().expect("a row").parse::<u64>().expect("a number"));
        }
        want.sort_unstable();
        want.dedup();
        put_private(place.file("inbox.jsonl"), text.as_bytes());
        prop_assert_eq!(scan::ids(&place.folder(), "inbox", "row").expect("ids"), want);
    }

    #[test]
    fn any_history_comes_back_as_it_was_written(
        steps in prop::collection::vec((0_u8..6, 0_u64..50), 0..25),
        garbage in prop::collection::vec(1_u8..255, 0..40),
    ) {
        let place = Place::new();
        let (mut journal, _) = place.open();
        let mut want = Vec::new();
        for (step, row) in steps {
            match step {
                0 => {
                    drop(journal);
                    journal = place.open().0;
                }
                1 => {
                    want.drain(..want.len() / 2);
                    let open: Vec<_> = want.iter().map(|record: &(u64, &str, String)| {
                        (record.1, record.2.clone())
                    }).collect();
                    journal.checkpoint(AT, &serde_json::json!(row), &open).expect("a checkpoint");
                }
                2 => {
                    journal.unsynced(AT, "drops", &dropped(row).1).expect("a line");
                    journal.flush_unsynced().expect("a flush");
                }
                _ => {
                    let group = [seen(row), dropped(row)];
                    let g = append(&mut journal, &group);
                    want.extend(group.into_iter().map(|(log, json)| (g, log, json)));
                }
            }
        }
        drop(journal);
        // A torn line of anything at all.
        let mut segment = fs::read(place.segment()).expect("the segment");
        let used = segment.iter().rposition(|byte| *byte != 0).map_or(0, |last| last + 1);
        let torn: Vec<_> = garbage.into_iter().filter(|byte| *byte != b'\n').collect();
        segment.splice(used..used + torn.len(), torn.iter().copied());
        let file = OpenOptions::new().write(true).open(place.segment()).expect("the segment");
        std::os::unix::fs::FileExt::write_all_at(&file, &segment, 0).expect("a torn line");
        let (_journal, back) = place.open();
        let texts = |records: Vec<(&'static str, String)>| records;
        let found = texts(back.records.iter().map(|r| (r.log, r.json.clone())).collect());
        let want = texts(want.into_iter().map(|(_, log, json)| (log, json)).collect());
        prop_assert_eq!(found, want);
        prop_assert_eq!(back.torn.is_empty(), torn.is_empty());
    }
}
