//! Where a seat can die, and what leads it there.
//!
//! In: the journal's own list, and the driver's. Out: one table. Never: a point that is not in the
//! code, or one of the code that is not here.

use std::{collections::BTreeSet, fs, path::Path};

/// What leads to a point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Way {
    /// Messages.
    Serving,
    /// SIGTERM.
    Ending,
    /// A start after a crash.
    Starting,
    /// `guildhall unlock` after a crash.
    Unlocking,
}

/// A named place in the code.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Point {
    pub(crate) name: &'static str,
    pub(crate) way: Way,
    /// Up to how many passes are waited for.
    passes: u64,
}

impl Point {
    /// At which pass run number `nth` dies: the first one first, then any up to the bound.
    pub(crate) fn pass(self, nth: u64) -> u64 {
        1 + (nth * 3) % self.passes
    }

    /// Has each point begin with another mix.
    pub(crate) fn salt(self) -> u64 {
        self.name.len() as u64
    }
}

const fn point(name: &'static str, way: Way, passes: u64) -> Point {
    Point { name, way, passes }
}

/// Every point, in the order in which a message meets them.
pub(crate) const POINTS: &[Point] = &[
    point("lock.made", Way::Starting, 1),
    point("lock.published", Way::Starting, 1),
    point("recover.braked", Way::Starting, 1),
    point("clear.record-removed", Way::Starting, 1),
    point("recover.cleared", Way::Starting, 1),
    point("brake.moved", Way::Starting, 1),
    point("unlock.braked", Way::Unlocking, 1),
    point("driver.before-group", Way::Serving, 8),
    point("journal.before-line", Way::Serving, 8),
    point("journal.line", Way::Serving, 8),
    point("journal.line-written", Way::Serving, 8),
    point("journal.sync", Way::Serving, 8),
    point("journal.line-synced", Way::Serving, 8),
    point("journal.copy", Way::Serving, 14),
    point("journal.copy-written", Way::Serving, 14),
    point("journal.copies-written", Way::Serving, 8),
    point("driver.group-durable", Way::Serving, 8),
    point("discord.before-connect", Way::Serving, 1),
    point("discord.before-look-up", Way::Serving, 3),
    point("discord.after-look-up", Way::Serving, 3),
    point("discord.before-eyes", Way::Serving, 2),
    point("discord.after-eyes", Way::Serving, 2),
    point("engine.before-run", Way::Serving, 2),
    point("engine.after-run", Way::Serving, 2),
    point("spool.entry", Way::Serving, 2),
    point("spool.written", Way::Serving, 2),
    point("spool.sync", Way::Serving, 2),
    point("spool.synced", Way::Serving, 2),
    point("driver.parts-durable", Way::Serving, 2),
    point("discord.before-post", Way::Serving, 4),
    point("discord.after-post", Way::Serving, 4),
    point("spool.compacted", Way::Ending, 1),
    point("checkpoint.copies-synced", Way::Ending, 1),
    point("checkpoint.segment", Way::Ending, 1),
    point("checkpoint.segment-written", Way::Ending, 1),
    point("checkpoint.segment-named", Way::Ending, 1),
    point("checkpoint.old-removed", Way::Ending, 1),
];

/// Points that are passed only when a segment grows by megabytes, and those of asks and changes,
/// which have a table of their own.
const ELSEWHERE: [&str; 5] = [
    "journal.room",
    "tools.begun",
    "tools.ended",
    "discord.before-edit",
    "discord.after-edit",
];

#[test]
fn the_table_names_every_fail_point_of_the_code() {
    let mut named: BTreeSet<_> = guildhall_journal::FAIL_POINTS
        .iter()
        .chain(guildhall_journal::FAILING_POINTS)
        .map(|name| (*name).to_owned())
        .collect();
    let own = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    named.extend(named_in(&own));
    for elsewhere in ELSEWHERE {
        assert!(named.remove(elsewhere), "{elsewhere} is gone");
    }
    let table: BTreeSet<_> = POINTS.iter().map(|point| point.name.to_owned()).collect();
    assert_eq!(table, named);
}

/// Names that the sources of a folder give to `failpoint`.
fn named_in(folder: &Path) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            names.extend(named_in(&path));
            continue;
        }
        let text = fs::read_to_string(&path).expect("a source file");
        let calls = text.split("failpoint(\"").skip(1);
        names.extend(calls.filter_map(|call| Some(call.split_once('"')?.0.to_owned())));
    }
    names
}
