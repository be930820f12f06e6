//! The very first start, killed: what it leaves behind can be started.
//!
//! In: an empty data root. Out: a seat that serves, whatever the first process had done. Never: a
//! folder that a person has to mend.

use crate::{
    ask::{Ask, say},
    hall::{CHANNELS, Hall},
    pool::{AT_ONCE, all_hold, case},
    seat::{Ended, Seat},
    verdict::judge,
    waiting::PATIENCE,
};

/// Where a first start passes before anybody has spoken.
const POINTS: [&str; 14] = [
    "lock.made",
    "lock.published",
    "checkpoint.segment",
    "driver.before-group",
    "journal.before-line",
    "journal.line",
    "journal.line-written",
    "journal.sync",
    "journal.line-synced",
    "journal.copy",
    "journal.copy-written",
    "journal.copies-written",
    "driver.group-durable",
    "discord.before-connect",
];

#[test]
fn a_first_start_that_is_killed_anywhere_leaves_something_that_starts() {
    let cases = POINTS.map(|point| case(point, move || killed_at(point)));
    all_hold(&cases, AT_ONCE);
}

fn killed_at(point: &str) {
    let hall = Hall::open();
    let mut seat = Seat::new(&hall);
    seat.start(Some(point));
    assert_eq!(seat.end(), Ended::Killed);
    seat.serve();
    let said = say(&hall, CHANNELS[0], Ask::Short(1));
    assert!(seat.settles(&[said.row], PATIENCE), "{}", seat.last_words());
    let verdict = judge(&hall, &seat.journal(), &[said]);
    assert!(verdict.faults.is_empty(), "{verdict:#?}");
}
