//! The day's money: what runs cost, and what happens when it is spent.

use crate::world::*;
use guildhall_authority::event::MessageText;
use guildhall_binding::{Channel, ChannelMode, Policy, SessionScope};
use guildhall_connector::{
    durable::Durable,
    input::{Input, Order, ReloadNote},
    line::Line,
    moment::Wall,
    record::{Record, RowRecord, Settlement},
    run::{RunFailure, RunOutcome},
    step::Command,
};
use std::sync::Arc;

const DAY_MS: i64 = 86_400_000;
/// Channels in which something may run at once, from this number on.
const ROOMS: u64 = 200;

/// A millionth of a dollar is a unit; ten of them a day.
fn policy_of_ten() -> Policy {
    let mut policy = policy();
    policy.limits.micro_usd_per_day = Some(10);
    policy
}

/// As many places that do not wait for each other, and as many turns at once.
fn policy_of_rooms(count: u64) -> Policy {
    let mut policy = policy_of_ten();
    policy.scope = SessionScope::Thread;
    policy.limits.parallel_turns = usize::try_from(count).expect("small");
    for id in ROOMS..ROOMS + count {
        let id = channel(id);
        let (name, mode) = (format!("room-{id}"), ChannelMode::Open);
        policy.channels.insert(id, Channel { id, name, mode });
    }
    policy
}

fn reload(world: &mut World, ceiling: Option<u64>) -> Vec<Command> {
    let mut policy = policy();
    policy.limits.micro_usd_per_day = ceiling;
    let note = ReloadNote {
        file: None,
        lines: Vec::new(),
    };
    world.on(Input::Ordered(Order::Reload(Arc::new(policy), note)))
}

fn say_in(world: &mut World, id: u64, place: u64) -> Vec<Command> {
    world.on(Input::Said(Box::new(said(id, ANA, place, "hello"))))
}

fn answered() -> RunOutcome {
    RunOutcome::Answered(vec![MessageText::new("hi")])
}

fn drops(world: &World) -> Vec<String> {
    let dropped = |record: &Record| match record {
        Record::Drops(line) => Some(line.why.code().to_owned()),
        _ => None,
    };
    world.records.iter().filter_map(dropped).collect()
}

fn spent(world: &World) -> (u64, u64) {
    let status = world.connector.status(&world.at);
    let folded = world
        .records
        .iter()
        .fold(Durable::default(), |mut it, record| {
            it.apply(record).expect("legal");
            it
        });
    let day = world.at.wall.day();
    let carried = Durable::of_checkpoint(folded.checkpoint()).expect("legal");
    assert_eq!(
        folded.spent_on(day),
        carried.spent_on(day),
        "a checkpoint keeps it"
    );
    (status.micro_usd_today, folded.spent_on(day))
}

#[test]
fn what_is_spent_is_told_once_a_day_and_then_it_is_silent_until_midnight() {
    let mut world = World::serving(policy_of_ten());
    let _ = world.say(1000, "one");
    let commands = world.end_for(1000, answered(), 9);
    assert_eq!(world.deliver_all(commands, 5000), ["hi"]);
    assert_eq!(spent(&world), (9, 9));
    assert_eq!(starts(&world.say(1001, "two")), [row(1001)], "one is left");
    let commands = world.end_for(1001, answered(), 9);
    assert_eq!(world.deliver_all(commands, 5010), ["hi"]);
    assert_eq!(spent(&world), (18, 18));

    let commands = world.say(1002, "three");
    assert_eq!(
        world.deliver_all(commands, 5020),
        [Line::CostCeiling.text()]
    );
    assert_eq!(posts(&world.say(1003, "four")), []);
    assert_eq!(drops(&world), ["cost-ceiling", "cost-ceiling"]);
    let _ = world.pass(86_400_000);
    assert_eq!(starts(&world.say(1004, "five")), [row(1004)]);
    assert_eq!(spent(&world), (0, 0));
}

#[test]
fn a_row_that_waited_while_the_money_went_is_told_and_not_run() {
    let mut world = World::serving(policy_of_ten());
    let _ = world.say(1000, "one");
    assert_eq!(starts(&world.say(1001, "two")), []);
    assert_eq!(starts(&world.say(1002, "three")), []);
    let commands = world.end_for(1000, answered(), 10);
    let said = world.deliver_all(commands, 5000);
    let line = Line::CostCeiling.text();
    assert_eq!(said, ["hi", line, line]);
    let settled = |record: &Record| match record {
        Record::Rows(RowRecord::Settled { row, how, why }) => Some((*row, *how, why.clone())),
        _ => None,
    };
    let settled: Vec<_> = world.records.iter().filter_map(settled).collect();
    let why = Some("cost-ceiling".to_owned());
    assert_eq!(
        settled,
        [
            (row(1000), Settlement::Done, None),
            (row(1001), Settlement::Failed, why.clone()),
            (row(1002), Settlement::Failed, why),
        ]
    );
    assert_eq!(world.connector.open_deliveries(), []);
}

#[test]
fn runs_without_an_answer_cost_too_and_each_of_them_once() {
    let mut world = World::serving(policy_of_ten());
    let _ = world.say(1000, "fails");
    let commands = world.end_for(1000, RunOutcome::Failed(RunFailure::TooLong), 2);
    let _ = world.deliver_all(commands, 5000);
    assert_eq!(spent(&world), (2, 2));
    let _ = world.end_for(1000, answered(), 2);
    assert_eq!(spent(&world), (2, 2), "a second end of a run costs nothing");

    let _ = world.say(1001, "takes too long");
    let _ = world.pass(180_000);
    let commands = world.pass(30_000);
    assert_eq!(world.deliver_all(commands, 5010), [Line::TimedOut.text()]);
    let _ = world.end_for(1001, answered(), 3);
    assert_eq!(spent(&world), (5, 5), "it ended after it had been given up");
    let _ = world.end_for(1001, answered(), 3);
    assert_eq!(spent(&world), (5, 5));
}

#[test]
fn runs_of_unknown_cost_never_reach_a_ceiling() {
    let mut world = World::serving(policy_of_ten());
    for id in 1000..1040 {
        assert_eq!(starts(&world.say(id, "hello")), [row(id)]);
        let commands = world.end_for(id, answered(), 0);
        let _ = world.deliver_all(commands, 5000 + id);
    }
    assert_eq!(spent(&world), (0, 0));
}

#[test]
fn a_reload_moves_the_ceiling_at_once() {
    let mut world = World::serving(policy());
    let _ = world.say(1000, "one");
    let commands = world.end_for(1000, answered(), 50);
    let _ = world.deliver_all(commands, 5000);
    let asks = |commands: &[Command]| !starts(commands).is_empty();
    for (id, ceiling, runs) in [
        (1001, None, true),
        (1002, Some(50), false),
        (1003, Some(51), true),
    ] {
        let _ = reload(&mut world, ceiling);
        let commands = world.say(id, "again");
        assert_eq!(asks(&commands), runs, "{ceiling:?}");
        let commands = if runs {
            world.end_for(id, answered(), 0)
        } else {
            commands
        };
        let _ = world.deliver_all(commands, 5000 + id);
    }
}

#[test]
fn a_reload_counts_for_rows_that_wait_too() {
    for (before, after, runs) in [
        (Some(10), Some(11), true),
        (Some(10), None, true),
        (Some(11), Some(10), false),
        (None, Some(10), false),
        (Some(11), Some(12), true),
        (Some(9), Some(10), false),
    ] {
        let mut policy = policy();
        policy.limits.micro_usd_per_day = before;
        let mut world = World::serving(policy);
        let _ = world.say(1000, "one");
        let _ = world.say(1001, "two");
        let _ = reload(&mut world, after);
        let commands = world.end_for(1000, answered(), 10);
        let said = world.deliver_all(commands, 5000);
        let case = format!("{before:?} {after:?}");
        assert_eq!(world.connector.durable().is_open(row(1001)), runs, "{case}");
        let line = Line::CostCeiling.text();
        let want = if runs { vec!["hi"] } else { vec!["hi", line] };
        assert_eq!(said, want, "{case}");
    }
}

#[test]
fn a_row_that_waited_over_midnight_is_paid_by_the_new_day() {
    for (pass_ms, runs) in [(0, false), (20_000, true)] {
        let mut world = World::new(policy_of_rooms(2));
        let midnight = (NOW / DAY_MS + 1) * DAY_MS;
        world.at.wall = Wall(midnight - 10_000);
        let _ = world.come_up();
        let _ = say_in(&mut world, 1000, ROOMS);
        let _ = say_in(&mut world, 1001, ROOMS);
        let _ = say_in(&mut world, 1002, ROOMS + 1);
        let commands = world.end_for(1002, answered(), 10);
        let _ = world.deliver_all(commands, 5000);
        let _ = world.pass(pass_ms);
        let commands = world.end_for(1000, answered(), 1);
        let said = world.deliver_all(commands, 5010);
        assert_eq!(said.len(), if runs { 1 } else { 2 }, "{pass_ms}: {said:?}");
        assert_eq!(
            world.connector.durable().is_open(row(1001)),
            runs,
            "{pass_ms}"
        );
        let day = if runs { (1, 1) } else { (11, 11) };
        assert_eq!(spent(&world), day, "{pass_ms}");
    }
}
