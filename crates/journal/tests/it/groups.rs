//! Groups in, groups out.

use std::fs;

use guildhall_journal::{AppendErrorKind, Journal, OpenErrorKind, Source, Standing};
use serde_json::json;

use crate::support::{AT, Place, SPEC, append, dropped, queued, seen, told, turn};

#[test]
fn groups_come_back_in_order_with_their_records() {
    let place = Place::new();
    let (mut journal, fresh) = place.open();
    assert_eq!(
        (fresh.next_group, fresh.records.len(), fresh.carry),
        (1, 0, None)
    );
    assert_eq!(append(&mut journal, &[seen(1), queued(1)]), 1);
    assert_eq!(append(&mut journal, &[turn(1, "ok")]), 2);
    drop(journal);
    let (journal, back) = place.open();
    let want: Vec<_> = [(1, seen(1)), (1, queued(1)), (2, turn(1, "ok"))]
        .into_iter()
        .map(|(g, (log, json))| (g, log, json))
        .collect();
    assert_eq!(told(&back), want);
    assert_eq!(
        (back.source, back.torn, journal.next_group()),
        (Source::CommitLog, vec![], 3)
    );
}

#[test]
fn every_record_is_copied_to_its_file_as_one_line() {
    let place = Place::new();
    let (mut journal, _) = place.open();
    append(&mut journal, &[seen(1), queued(1), turn(1, "ok")]);
    append(&mut journal, &[seen(2)]);
    let head = |g: u64| format!(r#"{{"v":1,"g":{g},"at":"{AT}","#);
    assert_eq!(
        place.text("inbox.jsonl"),
        format!(
            "{}\"k\":\"seen\",\"row\":\"1\",\"channel\":\"7\"}}\n{}\"k\":\"seen\",\"row\":\"2\",\"channel\":\"7\"}}\n",
            head(1),
            head(2)
        )
    );
    assert_eq!(
        place.text("turns/1.json"),
        format!(
            "{}\"k\":\"turn\",\"row\":\"1\",\"outcome\":\"ok\"}}\n",
            head(1)
        )
    );
}

#[test]
fn a_checkpoint_carries_what_it_was_given_and_restates_what_is_open() {
    let place = Place::new();
    let (mut journal, _) = place.open();
    append(&mut journal, &[seen(1), queued(1)]);
    append(&mut journal, &[seen(2), queued(2)]);
    journal
        .checkpoint(AT, &json!({"turns_today": 3}), &[queued(2)])
        .expect("a checkpoint");
    append(&mut journal, &[seen(3)]);
    drop(journal);
    let before = place.text("rows.jsonl");
    let (_journal, back) = place.open();
    assert_eq!(back.carry, Some(json!({"turns_today": 3})));
    let standings: Vec<_> = back
        .records
        .iter()
        .map(|r| (r.g, r.log, r.standing))
        .collect();
    assert_eq!(
        standings,
        [(2, "rows", Standing::Restated), (3, "inbox", Standing::New)]
    );
    assert_eq!(
        place.text("rows.jsonl"),
        before,
        "a restated record is not copied again"
    );
    assert!(place.segment().ends_with("commits/3.jsonl"));
}

#[test]
fn two_checkpoints_without_a_group_between_them_leave_one_segment() {
    let place = Place::new();
    let (mut journal, _) = place.open();
    append(&mut journal, &[seen(1)]);
    for turn in 0..3 {
        let none: &[(&str, &str)] = &[];
        journal
            .checkpoint(AT, &json!(turn), none)
            .expect("a checkpoint");
    }
    drop(journal);
    let (_journal, back) = place.open();
    assert_eq!((back.carry, back.next_group), (Some(json!(2)), 2));
    assert!(place.segment().ends_with("commits/2.jsonl"));
}

#[test]
fn without_a_commit_log_the_named_files_are_merged_by_group() {
    let place = Place::new();
    let (mut journal, _) = place.open();
    append(&mut journal, &[queued(1)]);
    append(&mut journal, &[seen(2), queued(2)]);
    journal
        .unsynced(AT, "drops", &dropped(9).1)
        .expect("a line");
    journal.flush_unsynced().expect("a flush");
    drop(journal);
    fs::remove_dir_all(place.file("commits")).expect("the commit log goes");
    for _ in 0..2 {
        // The second time there is a segment, which says that it does not stand for the rest.
        let (journal, back) = place.open();
        assert_eq!(back.source, Source::NamedFiles);
        assert_eq!(
            told(&back),
            [(1, "rows", queued(1).1), (2, "rows", queued(2).1)]
        );
        assert_eq!(journal.next_group(), 3);
    }
    let (mut journal, _) = place.open();
    append(&mut journal, &[queued(3)]);
    drop(journal);
    let (mut journal, back) = place.open();
    assert_eq!(back.records.len(), 3);
    journal
        .checkpoint(AT, &json!(1), &[queued(3)])
        .expect("a checkpoint");
    drop(journal);
    let (_journal, back) = place.open();
    assert_eq!((back.source, back.records.len()), (Source::CommitLog, 1));
}

#[test]
fn unsynced_lines_stand_between_committed_ones_and_do_not_confuse_a_start() {
    let place = Place::new();
    let (mut journal, _) = place.open();
    for row in 0..3 {
        journal
            .unsynced(AT, "drops", &dropped(100 + row).1)
            .expect("a line");
        journal.flush_unsynced().expect("a flush");
        append(&mut journal, &[dropped(row)]);
    }
    drop(journal);
    let before = place.text("drops.jsonl");
    assert_eq!(before.lines().count(), 6);
    let (_journal, back) = place.open();
    assert_eq!((back.torn, place.text("drops.jsonl")), (vec![], before));
}

#[test]
fn a_second_opening_is_refused_until_the_first_is_closed() {
    let place = Place::new();
    let (journal, _) = place.open();
    let refused = place.try_open().expect_err("busy");
    assert!(matches!(refused.kind, OpenErrorKind::Busy));
    drop(journal);
    let (_journal, _) = place.open();
}

#[test]
fn a_peek_reads_the_same_while_the_journal_is_open() {
    let place = Place::new();
    let (mut journal, _) = place.open();
    append(&mut journal, &[seen(1), queued(1)]);
    let peeked = Journal::peek(&place.folder(), SPEC).expect("a peek");
    assert_eq!(told(&peeked).len(), 2);
    assert_eq!(peeked.next_group, 2);
}

#[test]
fn what_cannot_be_a_group_is_refused_and_leaves_no_trace() {
    let place = Place::new();
    let (mut journal, _) = place.open();
    append(&mut journal, &[turn(1, "ok")]);
    let before = crate::support::tree(&place.folder());
    let long = format!(
        r#"{{"k":"x","text":"{}"}}"#,
        "x".repeat(guildhall_journal::GROUP_MAX_BYTES)
    );
    type Case = (&'static str, &'static str, Vec<(&'static str, String)>);
    let cases: [Case; 9] = [
        ("no records", AT, vec![]),
        ("no time", "yesterday", vec![seen(1)]),
        ("unknown log", AT, vec![("nowhere", seen(1).1)]),
        ("no kind", AT, vec![("inbox", r#"{"row":"1"}"#.into())]),
        (
            "a line break",
            AT,
            vec![("inbox", "{\"k\":\"a\",\n\"b\":1}".into())],
        ),
        ("not JSON", AT, vec![("inbox", r#"{"k":"a""#.into())]),
        ("too long", AT, vec![("inbox", long)]),
        (
            "a path as id",
            AT,
            vec![("turns", r#"{"k":"turn","row":"../x"}"#.into())],
        ),
        ("written once already", AT, vec![turn(1, "failed")]),
    ];
    for (name, at, records) in cases {
        let refused = journal.append(at, &records).expect_err(name);
        assert!(
            !matches!(
                refused.kind,
                AppendErrorKind::Io { .. } | AppendErrorKind::Poisoned
            ),
            "{name}: {refused:?}"
        );
        assert_eq!(crate::support::tree(&place.folder()), before, "{name}");
    }
    append(&mut journal, &[turn(1, "ok"), seen(1)]);
}
