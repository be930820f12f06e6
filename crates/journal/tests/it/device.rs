//! A device that fails: nothing more is acknowledged, and the next start finds what was.
//!
//! Each case runs in a child process, because a fail point is armed once for a process.

use crate::child::{self, Role};
use crate::support::{Place, append, seen};

#[test]
fn a_journal_that_finds_no_room_to_begin_says_so() {
    for (point, want) in [
        ("checkpoint.segment=ENOSPC", "no-room"),
        ("checkpoint.segment=EIO", "io"),
    ] {
        let place = Place::new();
        assert_eq!(
            child::says(Role::Three, &place.folder(), point),
            [want],
            "{point}"
        );
        let (_journal, back) = place.open();
        assert_eq!(back.next_group, 1, "{point}");
    }
}

/// What the child says of three groups: their number, or the error's name.
#[test]
fn each_failure_of_a_write_or_a_sync_has_its_answer() {
    let cases = [
        // A failed sync closes the journal, whatever it was.
        ("journal.sync:2=EIO", "1,io,poisoned", 1..=2),
        ("journal.sync:2=ENOSPC", "1,io,poisoned", 1..=2),
        // So does a failed write, but for want of room.
        ("journal.line:2=EIO", "1,io,poisoned", 1..=1),
        ("journal.line:2=EROFS", "1,io,poisoned", 1..=1),
        ("journal.line:2=ENOSPC", "1,no-room,2", 2..=2),
        // A copy without room only falls behind, and catches up.
        ("journal.copy:2=ENOSPC", "1,2,3", 3..=3),
        ("journal.copy:2-3=ENOSPC", "1,2 no-room,3", 3..=3),
        ("journal.copy:2+=ENOSPC", "1,2 no-room,3 no-room", 3..=3),
        ("journal.copy:2=EIO", "1,io,poisoned", 2..=2),
    ];
    for (point, want, groups) in cases {
        let place = Place::new();
        let said = child::says(Role::Three, &place.folder(), point);
        assert_eq!(said.join(","), want, "{point}");
        let (mut journal, back) = place.open();
        let last = back.next_group - 1;
        assert!(groups.contains(&last), "{point}: {last}");
        let rows = journal.scan_ids("inbox", "row").expect("ids");
        assert_eq!(rows.len() as u64, last, "{point}");
        append(&mut journal, &[seen(99)]);
    }
}
