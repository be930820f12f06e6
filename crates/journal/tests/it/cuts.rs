//! A crash can cut the last line of any file at any byte.

use std::fs::{self, OpenOptions};
use std::os::unix::fs::FileExt;

use guildhall_journal::{OpenErrorKind, Source, TornFate};

use crate::support::{Place, Told, append, copy, dropped, queued, seen, told, tree, turn};

/// Three groups, with a copy of the folder before each and after the last.
fn history() -> (Place, Vec<Told>, Vec<Place>) {
    let place = Place::new();
    let (mut journal, _) = place.open();
    let groups = [
        vec![seen(1), queued(1)],
        vec![dropped(5), seen(2), turn(1, "ok")],
        vec![queued(2)],
    ];
    let mut stages = Vec::new();
    let mut records = Vec::new();
    for group in groups {
        let stage = Place::new();
        copy(&place.folder(), &stage.folder());
        stages.push(stage);
        let g = append(&mut journal, &group);
        records.extend(group.into_iter().map(|(log, json)| (g, log, json)));
    }
    drop(journal);
    (place, records, stages)
}

#[test]
fn a_group_cut_at_any_byte_is_there_whole_or_not_at_all() {
    let (place, records, stages) = history();
    let full = fs::read(place.segment()).expect("the segment");
    let mut ends: Vec<usize> = Vec::new();
    for (at, byte) in full.iter().enumerate() {
        if *byte == b'\n' {
            ends.push(at + 1);
        }
    }
    for (index, stage) in stages.iter().enumerate() {
        // The line of this group begins where the one before ends; the header is line zero.
        let (start, end) = (ends[index], ends[index + 1]);
        let whole: Vec<_> = records
            .iter()
            .filter(|r| r.0 <= index as u64)
            .cloned()
            .collect();
        let with: Vec<_> = records
            .iter()
            .filter(|r| r.0 <= index as u64 + 1)
            .cloned()
            .collect();
        for cut in start..=end {
            let crashed = Place::new();
            copy(&stage.folder(), &crashed.folder());
            let segment = OpenOptions::new()
                .write(true)
                .open(crashed.segment())
                .expect("open");
            segment
                .write_all_at(&full[start..cut], start as u64)
                .expect("a part of the line");
            let (mut journal, back) = crashed.open();
            let want = if cut == end { &with } else { &whole };
            assert_eq!(&told(&back), want, "cut at {cut}");
            let is_torn = cut > start && cut < end;
            assert_eq!(
                back.torn.iter().any(|t| t.fate == TornFate::Dropped),
                is_torn
            );
            append(&mut journal, &[seen(77)]);
            drop(journal);
            let (_journal, again) = crashed.open();
            assert_eq!(again.records.len(), want.len() + 1, "cut at {cut}");
            assert_eq!(again.torn, []);
        }
    }
}

#[test]
fn a_segment_that_ends_early_gives_a_prefix_of_whole_groups() {
    let (place, records, stages) = history();
    let full = fs::read(place.segment()).expect("the segment");
    let used = full
        .iter()
        .rposition(|byte| *byte == b'\n')
        .expect("a line")
        + 1;
    for cut in 0..=used {
        let crashed = Place::new();
        copy(&stages[0].folder(), &crashed.folder());
        fs::write(crashed.segment(), &full[..cut]).expect("a shorter segment");
        let (_journal, back) = crashed.open();
        let found = told(&back);
        assert!(records.starts_with(&found), "cut at {cut}");
        let next = records.get(found.len()).map_or(4, |record| record.0);
        assert_eq!(back.next_group, next, "cut at {cut}: only whole groups");
    }
}

#[test]
fn a_copy_cut_at_any_byte_is_finished_from_the_commit_log() {
    let (place, records, _) = history();
    let whole = tree(&place.folder());
    for name in ["inbox.jsonl", "rows.jsonl", "drops.jsonl", "turns/1.json"] {
        let length = fs::metadata(place.file(name)).expect("the copy").len();
        // Every byte for a cut; every fifth for a cut with lost bytes behind it.
        for (blank, step) in [(0, 1), (7, 5)] {
            for cut in (0..=length).step_by(step) {
                let crashed = Place::new();
                copy(&place.folder(), &crashed.folder());
                let file = OpenOptions::new()
                    .write(true)
                    .open(crashed.file(name))
                    .expect("open");
                file.set_len(cut).expect("a cut");
                // A power loss can leave the length and lose the bytes.
                file.set_len(cut + blank).expect("blank bytes");
                let (journal, back) = crashed.open();
                assert_eq!(told(&back), records, "{name} cut at {cut}");
                let torn_files = back
                    .torn
                    .iter()
                    .filter(|t| t.fate == TornFate::Finished)
                    .count();
                if !name.starts_with("turns") {
                    assert_eq!(torn_files, usize::from(cut < length), "{name} cut at {cut}");
                }
                drop(journal);
                let mended: Vec<_> = tree(&crashed.folder()).into_iter().map(|f| f.1).collect();
                let want: Vec<_> = whole.iter().map(|f| f.1.clone()).collect();
                assert!(mended == want, "{name} cut at {cut}");
            }
        }
    }
}

#[test]
fn a_missing_copy_is_made_again() {
    let (place, records, _) = history();
    let whole = tree(&place.folder());
    for name in ["inbox.jsonl", "rows.jsonl", "drops.jsonl", "turns/1.json"] {
        fs::remove_file(place.file(name)).expect("the copy goes");
    }
    let (_journal, back) = place.open();
    assert_eq!((told(&back), back.source), (records, Source::CommitLog));
    assert!(tree(&place.folder()) == whole);
}

#[test]
fn damage_before_the_last_line_is_refused_by_file_and_offset() {
    let (place, _, _) = history();
    let full = fs::read(place.segment()).expect("the segment");
    let ends: Vec<u64> = (0u64..)
        .zip(&full)
        .filter(|(_, byte)| **byte == b'\n')
        .map(|(at, _)| at + 1)
        .collect();
    // The first byte of each line but the last: header, group 1, group 2.
    for line_start in [0, ends[0], ends[1]] {
        let damaged = Place::new();
        copy(&place.folder(), &damaged.folder());
        let segment = OpenOptions::new()
            .write(true)
            .open(damaged.segment())
            .expect("open");
        segment.write_all_at(b"#", line_start).expect("damage");
        let before = tree(&damaged.folder());
        let refused = damaged.try_open().expect_err("damage is refused");
        let OpenErrorKind::Damaged { file, offset } = refused.kind else {
            panic!("{refused:?}")
        };
        assert_eq!((file, offset), (damaged.segment(), line_start));
        assert!(tree(&damaged.folder()) == before, "nothing was written");
    }
}

#[test]
fn a_changed_bit_before_the_last_line_is_never_taken_for_history() {
    let place = Place::new();
    let (mut journal, _) = place.open();
    append(&mut journal, &[seen(1), queued(1)]);
    append(&mut journal, &[dropped(5), seen(2)]);
    append(&mut journal, &[queued(2)]);
    drop(journal);
    let full = fs::read(place.segment()).expect("the segment");
    let ends: Vec<_> = (0..full.len()).filter(|at| full[*at] == b'\n').collect();
    let used = full[..=ends[3]].to_vec();
    let damaged = Place::new();
    copy(&place.folder(), &damaged.folder());
    for at in ends[0] + 1..ends[2] {
        for bit in [1, 2, 0x20, 0x80] {
            let mut bytes = used.clone();
            bytes[at] ^= bit;
            fs::write(damaged.segment(), bytes).expect("damage");
            // Either the line cannot be read, or it says something else than its copies.
            let found = damaged.try_open().map(|(_, back)| told(&back));
            assert!(found.is_err(), "bit {bit} of byte {at}: {found:?}");
        }
    }
}

#[test]
fn lines_of_somebody_else_are_refused_by_file_and_offset() {
    let (place, _, _) = history();
    let line = b"{\"v\":1,\"g\":4,\"at\":\"2026-11-30T14:04:05.123Z\",\"k\":\"seen\"}\n";
    for name in ["inbox.jsonl", "rows.jsonl", "drops.jsonl"] {
        let touched = Place::new();
        copy(&place.folder(), &touched.folder());
        let mut bytes = fs::read(touched.file(name)).expect("the copy");
        let length = bytes.len() as u64;
        bytes.extend_from_slice(line);
        fs::write(touched.file(name), bytes).expect("one more line");
        let before = tree(&touched.folder());
        let refused = touched.try_open().expect_err("a foreign line is refused");
        let OpenErrorKind::Foreign { file, offset } = refused.kind else {
            panic!("{refused:?}")
        };
        assert_eq!((file, offset), (touched.file(name), length));
        assert!(tree(&touched.folder()) == before, "nothing was written");
    }
}

#[test]
fn an_unfinished_line_behind_everything_is_dropped_and_told() {
    let (place, _, _) = history();
    let whole = tree(&place.folder());
    for name in ["inbox.jsonl", "rows.jsonl", "drops.jsonl"] {
        let mut bytes = fs::read(place.file(name)).expect("the copy");
        bytes.extend_from_slice(br#"{"v":1,"g":4,"at":"2026-11"#);
        fs::write(place.file(name), bytes).expect("half a line");
    }
    let (_journal, back) = place.open();
    let fates: Vec<_> = back
        .torn
        .iter()
        .map(|torn| (torn.fate, torn.bytes))
        .collect();
    assert_eq!(fates, [(TornFate::Dropped, 26); 3]);
    assert!(tree(&place.folder()) == whole);
}
