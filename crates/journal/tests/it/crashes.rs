//! The process dies at each named durable step, for real.

use guildhall_journal::{FAIL_POINTS, Source, Spool, Standing};
use serde_json::json;

use crate::child::{self, Role};
use crate::support::{Place, append, dropped, queued, seen, turn};

/// Fail points that a plain run of `role` passes, with how often.
fn points(role: Role) -> Vec<String> {
    let of_role = |point: &&&str| match role {
        Role::Commit => point.starts_with("journal.") || point.starts_with("checkpoint."),
        Role::Spool => point.starts_with("spool."),
        Role::Claim | Role::Recover | Role::Fill | Role::Three | Role::Endless => false,
    };
    let mut points = Vec::new();
    for point in FAIL_POINTS.iter().filter(of_role) {
        let times = match *point {
            "journal.copy-written" => 13,
            point if point.starts_with("journal.") => 4,
            "spool.written" | "spool.synced" => 2,
            _ => 1,
        };
        points.extend((1..=times).map(|n| format!("{point}:{n}")));
    }
    points
}

#[test]
fn a_group_that_was_acknowledged_is_there_after_a_crash_at_any_step() {
    let points = points(Role::Commit);
    assert!(points.len() > 20);
    for point in points {
        let place = Place::new();
        let said = child::dies_at(Role::Commit, &place.folder(), &point);
        let acknowledged: u64 = said
            .iter()
            .filter_map(|s| s.parse::<u64>().ok())
            .max()
            .unwrap_or(0);
        let is_checkpointed = said.iter().any(|s| s == "checkpoint");
        let (mut journal, back) = place.open();
        assert_eq!(back.source, Source::CommitLog, "{point}");
        let last = back.next_group - 1;
        // One more than was acknowledged may have reached the disk.
        assert!(
            last == acknowledged || last == acknowledged + 1,
            "{point}: {last}"
        );
        match &back.carry {
            Some(carry) => {
                assert_eq!(carry, &json!("carried"), "{point}");
                let restated = back
                    .records
                    .iter()
                    .filter(|r| r.standing == Standing::Restated);
                assert_eq!(
                    restated.map(|r| r.json.clone()).collect::<Vec<_>>(),
                    [queued(3).1]
                );
            }
            None => {
                assert!(!is_checkpointed, "{point}");
                let want = (1..=last).flat_map(|row| {
                    [seen(row), queued(row), turn(row, "ok"), dropped(row)].map(|record| record.1)
                });
                let found: Vec<_> = back.records.iter().map(|r| r.json.clone()).collect();
                assert_eq!(found, want.collect::<Vec<_>>(), "{point}");
            }
        }
        // The copies are whole, and the journal goes on.
        let ids = journal.scan_ids("inbox", "row").expect("ids");
        assert_eq!(ids, (1..=last).collect::<Vec<_>>(), "{point}");
        for row in 1..=last.min(3) {
            assert!(
                place.text(&format!("turns/{row}.json")).ends_with("}\n"),
                "{point}"
            );
        }
        append(&mut journal, &[seen(99)]);
        drop(journal);
        let (_journal, again) = place.open();
        assert_eq!(
            (again.next_group, again.torn),
            (last + 2, vec![]),
            "{point}"
        );
        assert!(place.segment().exists(), "{point}: one segment");
    }
}

#[test]
fn a_process_killed_at_any_moment_loses_nothing_that_it_acknowledged() {
    let place = Place::new();
    let mut acknowledged = 0;
    for round in 0..25_u64 {
        let mut writer = child::start(Role::Endless, &place.folder(), &[]);
        // Somewhere in the middle of a group or of a checkpoint; the seed is the round.
        for _ in 0..=(round * 7919 % 31) {
            let said = child::line(&mut writer).parse();
            acknowledged = said.expect("a group's number");
        }
        writer.kill().expect("a kill");
        // What it said before it died and nobody read yet counts as well.
        let output = writer.wait_with_output().expect("its end");
        let late = child::said(&output.stdout)
            .last()
            .and_then(|said| said.parse().ok());
        acknowledged = late.unwrap_or(acknowledged);
        let (journal, back) = place.open();
        let last = back.next_group - 1;
        assert!(
            last == acknowledged || last == acknowledged + 1,
            "{last} {acknowledged}"
        );
        let ids = journal.scan_ids("inbox", "row").expect("ids");
        assert_eq!(ids, (1..=last).collect::<Vec<_>>(), "round {round}");
    }
}

#[test]
fn a_spooled_part_that_was_acknowledged_is_there_after_a_crash_at_any_step() {
    let points = points(Role::Spool);
    assert_eq!(points.len(), 5);
    for point in points {
        let place = Place::new();
        let said = child::dies_at(Role::Spool, &place.folder(), &point);
        let (_spool, back) = Spool::open(&place.file("spool.jsonl")).expect("the spool");
        let parts = |n: u64| {
            (1..=n)
                .map(|n| format!("{{\"part\":{n}}}"))
                .collect::<Vec<_>>()
        };
        let wants = match (&*said.join(","), point.starts_with("spool.compacted")) {
            (_, true) => vec![parts(2).split_off(1)],
            ("", _) => vec![parts(0), parts(1)],
            ("1", _) => vec![parts(1), parts(2)],
            other => panic!("{point}: {other:?}"),
        };
        assert!(wants.contains(&back.entries), "{point}: {back:?}");
    }
}
