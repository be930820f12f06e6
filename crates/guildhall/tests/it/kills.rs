//! The kill table: a seat that dies at any durable or network step loses and doubles nothing.
//!
//! In: every fail point there is, how often it is passed first, what is said. Out: a table, and no
//! fault. Never: a point of the code that the table leaves out.

mod asked; // a change that a person allows
mod first; // the very first start
mod points; // start here: where a seat can die, and how it gets there
mod table;

use crate::{
    ask::{Ask, Mix, Said, say},
    hall::{CHANNELS, Hall},
    pool::{AT_ONCE, each},
    seat::{Ended, NAME, Seat},
    verdict::{Verdict, judge},
    waiting::{PATIENCE, until, within},
};
use points::{POINTS, Point, Way};
use std::{fs, time::Duration};
use table::{Line, Run, print};

/// How often each point is tried; the chore `kills` sets it.
const TIMES_VARIABLE: &str = "GUILDHALL_KILLS_TIMES";
/// In every run of the tests: once at the first pass, once later.
const TIMES_DEFAULT: u64 = 2;

#[test]
fn a_seat_that_is_killed_at_any_step_loses_and_doubles_nothing() {
    let times = std::env::var(TIMES_VARIABLE).ok();
    let times = times.map_or(TIMES_DEFAULT, |times| times.parse().expect("a number"));
    let lines = each(POINTS, AT_ONCE, |point| try_point(*point, times));
    print(&lines);
    let mut faults = Vec::new();
    for line in &lines {
        faults.extend(
            line.faults()
                .map(|fault| format!("{}: {fault}", line.point)),
        );
        if line.died() == 0 {
            faults.push(format!("{}: nobody died there", line.point));
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

/// One seat dies at one point again and again, each time with another history behind it.
fn try_point(point: Point, times: u64) -> Line {
    let hall = Hall::open();
    let mut seat = Seat::new(&hall);
    seat.serve();
    let first = say(&hall, CHANNELS[0], Ask::Short(0));
    assert!(
        seat.settles(&[first.row], PATIENCE),
        "{}",
        seat.last_words()
    );
    assert_eq!(seat.terminate(), Ended::Exit(0));
    let runs = (0..times).map(|nth| try_once(&hall, &mut seat, point, nth));
    let runs = runs.collect();
    Line {
        point: point.name,
        runs,
    }
}

fn try_once(hall: &Hall, seat: &mut Seat, point: Point, nth: u64) -> Run {
    let mix = Mix::ALL[usize::try_from((nth + point.salt()) % 5).unwrap_or(0)];
    let turn = usize::try_from(nth % 6).unwrap_or(0) * 2;
    let channels = [CHANNELS[turn], CHANNELS[turn + 1]];
    let say = |hall: &Hall| mix.say(hall, channels, nth + 1);
    let armed = format!("{}:{}", point.name, point.pass(nth));
    let (said, died) = match point.way {
        Way::Serving => serving(hall, seat, &armed, nth, say),
        Way::Ending => ending(hall, seat, &armed, nth, say),
        Way::Starting => starting(hall, seat, &armed, say),
        Way::Unlocking => unlocking(hall, seat, &armed, say),
    };
    seat.start(None);
    let rows: Vec<_> = said.iter().map(|said| said.row).collect();
    let mut verdict = Verdict::default();
    if seat.settles(&rows, PATIENCE) {
        verdict = judge(hall, &seat.journal(), &said);
        judge_views(seat, &mut verdict);
    } else {
        let words = seat.last_words();
        verdict
            .faults
            .push(format!("not settled: {said:?}: {words}"));
    }
    // Half of the next runs begin after a clean end, the others after a crash.
    if nth.is_multiple_of(2) {
        seat.kill();
    } else if seat.terminate() != Ended::Exit(0) {
        let words = seat.last_words();
        verdict.faults.push(format!("no clean end: {words}"));
    }
    let context = format!("{armed} {mix:?} run {nth}");
    Run {
        context,
        died,
        verdict,
    }
}

/// It dies while it serves; half of the time what is said is already there when it starts.
fn serving(
    hall: &Hall,
    seat: &mut Seat,
    armed: &str,
    nth: u64,
    say: impl Fn(&Hall) -> Vec<Said>,
) -> (Vec<Said>, bool) {
    let before = (nth % 2 == 1).then(|| say(hall));
    seat.start(Some(armed));
    let mut ended = None;
    let said = before.unwrap_or_else(|| {
        within(PATIENCE, || {
            ended = ended.or(seat.ended());
            (ended.is_some() || seat.is_connected()).then_some(())
        });
        say(hall)
    });
    let rows: Vec<_> = said.iter().map(|said| said.row).collect();
    let journal = seat.journal();
    within(PATIENCE, || {
        ended = ended.or_else(|| seat.ended());
        (ended.is_some() || journal.has_settled(&rows)).then_some(())
    });
    let ended = ended.unwrap_or_else(|| {
        seat.connected();
        seat.terminate()
    });
    (said, ended == Ended::Killed)
}

/// It dies while it ends; half of the time in the middle of its work.
fn ending(
    hall: &Hall,
    seat: &mut Seat,
    armed: &str,
    nth: u64,
    say: impl Fn(&Hall) -> Vec<Said>,
) -> (Vec<Said>, bool) {
    seat.start(Some(armed));
    seat.connected();
    let said = say(hall);
    let rows: Vec<_> = said.iter().map(|said| said.row).collect();
    if nth.is_multiple_of(2) {
        seat.settles(&rows, PATIENCE);
    } else {
        seat.settles(&rows[..1], Duration::from_secs(20));
    }
    let ended = seat.terminate();
    (said, ended == Ended::Killed)
}

/// It dies while it takes over what a crash left.
fn starting(
    hall: &Hall,
    seat: &mut Seat,
    armed: &str,
    say: impl Fn(&Hall) -> Vec<Said>,
) -> (Vec<Said>, bool) {
    let said = crash_at_work(hall, seat, say);
    seat.start(Some(armed));
    let rows: Vec<_> = said.iter().map(|said| said.row).collect();
    let journal = seat.journal();
    let ended = within(PATIENCE, || match seat.ended() {
        Some(ended) => Some(ended),
        None => (journal.has_settled(&rows) && seat.is_connected()).then(|| seat.terminate()),
    });
    (said, ended == Some(Ended::Killed))
}

/// A command of a person dies while it clears what a crash left.
fn unlocking(
    hall: &Hall,
    seat: &mut Seat,
    armed: &str,
    say: impl Fn(&Hall) -> Vec<Said>,
) -> (Vec<Said>, bool) {
    let said = crash_at_work(hall, seat, say);
    let mut unlock = seat.command(&["unlock", NAME]);
    unlock.env("GUILDHALL_FAIL_POINT", armed);
    let output = unlock.output().expect("it starts");
    let died = output.status.code().is_none();
    // The brake stands first, and stays until a person takes it away.
    let stop = seat.journal().0.join("STOP");
    assert!(stop.exists(), "{output:?}");
    assert!(seat.tool(&["unlock", NAME]).status.success());
    fs::remove_file(stop).expect("the brake");
    (said, died)
}

/// A process that has something to do is killed from outside.
fn crash_at_work(hall: &Hall, seat: &mut Seat, say: impl Fn(&Hall) -> Vec<Said>) -> Vec<Said> {
    seat.serve();
    let said = say(hall);
    let journal = seat.journal();
    until("the first message taken", || {
        !journal.about("inbox", "seen", said[0].row).is_empty()
    });
    seat.kill();
    said
}

/// What the program itself says about a seat that has nothing to do.
fn judge_views(seat: &mut Seat, verdict: &mut Verdict) {
    seat.connected();
    let (deliveries, rows) = (seat.ask(&["deliveries", NAME]), seat.ask(&["rows", NAME]));
    if !deliveries.is_empty() || !rows.is_empty() {
        verdict
            .faults
            .push(format!("left open: {deliveries:?} {rows:?}"));
    }
    let status = seat.ask(&["status", NAME]);
    let sane = status.len() == 1
        && status[0]["running"] == "yes"
        && status[0]["stop"].is_null()
        && status[0]["estop"].is_null();
    if !sane {
        verdict.faults.push(format!("status: {status:?}"));
    }
}
