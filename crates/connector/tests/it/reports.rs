//! What people reported of bots like this one, each as the behaviour that is expected here.
//!
//! `docs/regressions.md` has the whole list and names the test of each.

use crate::world::*;
use guildhall_authority::{admission::DropReason, event::MessageText, place::Whereabouts};
use guildhall_binding::SessionScope;
use guildhall_connector::{
    input::{Echo, Found, HistoryPage, Input, Learned, Link, Order, Receipt, Refusal, Rest},
    line::Line,
    moment::{Brake, Wall},
    record::{OutboxRecord, Record, RowRecord, Settlement, UnknownWhy},
    run::{Ended, RunEvent, RunFailure, RunOutcome, Usage},
    step::{Command, LookUp, Post},
};

fn ended(id: u64, outcome: RunOutcome) -> Input {
    let ended = Ended {
        outcome,
        usage: Usage::default(),
        engine_turns: 1,
        tools: Vec::new(),
    };
    Input::Run(row(id), RunEvent::Ended(Box::new(ended)))
}

fn answered(id: u64, texts: &[&str]) -> Input {
    let texts = texts.iter().map(|text| MessageText::new(*text)).collect();
    ended(id, RunOutcome::Answered(texts))
}

fn posted(post: &Post, id: u64) -> Input {
    let receipt = Receipt::Posted {
        message: message(id),
        channel: post.channel,
    };
    Input::Sent(post.nonce, receipt)
}

fn only_post(commands: &[Command]) -> Post {
    let [post] = posts(commands).try_into().expect("one post");
    post
}

fn three_parts() -> String {
    ["a", "b", "c"]
        .map(|letter| letter.repeat(1_500))
        .join("\n\n")
}

fn typing(commands: &[Command]) -> usize {
    let types = |command: &&Command| matches!(command, Command::Type(_));
    commands.iter().filter(types).count()
}

fn settlement(world: &World, id: u64) -> Option<Settlement> {
    world.records.iter().find_map(|record| match record {
        Record::Rows(RowRecord::Settled { row: of, how, .. }) if *of == row(id) => Some(*how),
        _ => None,
    })
}

#[test]
fn a_second_end_of_a_run_changes_nothing() {
    let second = [
        RunOutcome::Failed(RunFailure::ProviderBusy),
        RunOutcome::Answered(vec![MessageText::new("another answer")]),
        RunOutcome::Aborted,
    ];
    for outcome in second {
        let mut world = World::serving(policy());
        let _ = world.say(1000, "hello");
        let post = only_post(&world.answer(1000, "hi"));
        let before = world.records.len();
        assert_eq!(world.on(ended(1000, outcome.clone())), [], "{outcome:?}");
        assert_eq!(world.records.len(), before);
        assert_eq!(posts(&world.on(posted(&post, 5000))), []);
        assert_eq!(world.on(ended(1000, outcome.clone())), [], "{outcome:?}");
        assert_eq!(settlement(&world, 1000), Some(Settlement::Done));
    }
}

#[test]
fn a_part_whose_answer_is_late_is_repeated_under_its_nonce_and_the_next_part_waits() {
    for by_echo in [false, true] {
        let mut world = World::serving(policy());
        let _ = world.say(1000, "hello");
        let first = only_post(&world.answer(1000, &three_parts()));
        let second = only_post(&world.on(posted(&first, 5000)));
        let unknown = Receipt::Unknown(UnknownWhy::NoAnswer);
        assert_eq!(posts(&world.on(Input::Sent(second.nonce, unknown))), []);
        let third = if by_echo {
            let echo = Echo {
                nonce: Some(second.nonce),
                message: message(5001),
                channel: second.channel,
            };
            only_post(&world.on(Input::Echoed(echo)))
        } else {
            assert_eq!(only_post(&world.pass(60_000)), second);
            only_post(&world.on(posted(&second, 5001)))
        };
        assert!(third.content.starts_with('c'), "in order");
        assert_eq!(posts(&world.on(posted(&third, 5002))), []);
        assert_eq!(posts(&world.pass(600_000)), [], "nothing is tried again");
        assert_eq!(settlement(&world, 1000), Some(Settlement::Done));
    }
}

#[test]
fn a_message_that_comes_while_an_answer_is_on_its_way_does_not_repeat_it() {
    // When the follow-up comes: before the last part's answer, or after the part's echo.
    for echo_first in [false, true] {
        let mut world = World::serving(policy());
        let _ = world.say(1000, "hello");
        let post = only_post(&world.answer(1000, "hi"));
        if echo_first {
            let echo = Echo {
                nonce: Some(post.nonce),
                message: message(5000),
                channel: post.channel,
            };
            assert_eq!(posts(&world.on(Input::Echoed(echo))), []);
        }
        let commands = world.say(1001, "and?");
        assert_eq!(posts(&commands), []);
        let mut started = starts(&commands);
        let commands = world.on(posted(&post, 5000));
        assert_eq!(posts(&commands), []);
        started.extend(starts(&commands));
        assert_eq!(started, [row(1001)]);
        assert_eq!(posts(&world.pass(60_000)), []);
    }
}

#[test]
fn every_text_of_a_run_is_posted_in_order_and_one_that_is_told_twice_only_once() {
    let long = "word ".repeat(1_000);
    let cases: [(&[&str], &str); 5] = [
        (&["first", "second"], "first\n\nsecond"),
        (&["same", "same"], "same"),
        (&["", "  ", "only"], "only"),
        (&["a", "b", "a"], "a\n\nb\n\na"),
        (&[&long, &long], &long),
    ];
    for (texts, want) in cases {
        let mut world = World::serving(policy());
        let _ = world.say(1000, "hello");
        let commands = world.on(answered(1000, texts));
        let shown = world.deliver_all(commands, 5000).concat();
        assert_eq!(shown.trim_end(), want.trim_end());
    }
}

#[test]
fn a_refused_reply_is_settled_and_no_restart_sends_it_again() {
    for code in [50_001, 50_013] {
        let mut world = World::serving(policy());
        let _ = world.say(1000, "hello");
        let first = only_post(&world.answer(1000, &three_parts()));
        let refused = Receipt::Refused {
            kind: Refusal::NoAccess,
            code: Some(code),
        };
        let line = only_post(&world.on(Input::Sent(first.nonce, refused)));
        assert_eq!(line.content, Line::Cut.text(), "one try of a short line");
        assert_eq!(posts(&world.on(Input::Sent(line.nonce, refused))), []);
        assert_eq!(settlement(&world, 1000), Some(Settlement::Failed));
        let kept = world.records.iter().any(|record| {
            matches!(record, Record::Outbox(OutboxRecord::Refused { code: kept, .. }) if *kept == Some(code))
        });
        assert!(kept, "the code is on disk");
        for _ in 0..2 {
            assert_eq!(posts(&world.restart()), []);
            assert_eq!(posts(&world.come_up_link()), []);
            assert_eq!(posts(&world.pass(600_000)), []);
        }
    }
}

#[test]
fn what_was_said_in_a_pause_is_answered_in_order_and_not_again_when_it_is_replayed() {
    let mut world = World::serving(policy());
    let _ = world.on(Input::Link(Link::Down));
    let hour = 3_600_000;
    let _ = world.pass(hour);
    let _ = world.on(Input::Link(Link::Ready));
    let asked = world.on(Input::Link(Link::Guild(Vec::new())));
    let now = u64::try_from(world.at.wall.0).expect("after 1970");
    let id_at = |ms: u64| (ms - guildhall_binding::ids::DISCORD_EPOCH_MS) << 22;
    let oldest = id_at(now - 900_000);
    for command in &asked {
        let Command::LookUp(LookUp::History { channel, after }) = command else {
            panic!("{command:?}")
        };
        assert!(*after >= oldest, "nothing older than the limit is read");
        let ids = if channel.get() == GENERAL {
            vec![oldest + 7, oldest + 8]
        } else {
            Vec::new()
        };
        let said = ids.iter().map(|id| said(*id, ANA, GENERAL, "missed"));
        let page = HistoryPage {
            said: said.collect(),
            rest: Rest::Nothing,
        };
        let _ = world.on(Input::Learned(Learned::History(
            *channel,
            Found::Here(page),
        )));
    }
    for id in [oldest + 7, oldest + 8] {
        let commands = world.say(id, "missed");
        let [Command::Drop(line)] = commands.as_slice() else {
            panic!("{commands:?}")
        };
        assert_eq!(line.why, DropReason::Duplicate);
    }
    let post = only_post(&world.answer(oldest + 7, "one"));
    let commands = world.on(posted(&post, oldest + 9));
    assert_eq!(starts(&commands), [row(oldest + 8)]);
}

#[test]
fn a_turn_s_time_is_not_moved_by_the_clock_on_the_wall() {
    for jump in [-3_600_000, 3_600_000] {
        let mut world = World::serving(policy());
        let _ = world.say(1000, "hello");
        world.at.wall = Wall(world.at.wall.0 + jump);
        let abort = Command::Abort(row(1000));
        assert!(!world.pass(179_000).contains(&abort), "{jump}");
        assert!(world.pass(1_000).contains(&abort), "{jump}");
    }
}

#[test]
fn turns_that_hang_give_their_places_back() {
    let mut policy = policy();
    policy.scope = SessionScope::Thread;
    policy.limits.parallel_turns = 2;
    let mut world = World::serving(policy);
    let threads = [500, 501, 502];
    for (thread, id) in threads.into_iter().zip(1000..) {
        let at = Whereabouts::ThreadOf(channel(GENERAL));
        let _ = world.on(Input::Link(Link::Place(channel(thread), at)));
        let commands = world.on(Input::Said(Box::new(said(id, ANA, thread, "hello"))));
        let eyes = commands.iter().any(|c| matches!(c, Command::React { .. }));
        assert!(eyes, "who waits sees that it was taken");
        assert_eq!(starts(&commands).is_empty(), id == 1002);
    }
    // The engine says nothing at all, not even that it was aborted.
    let _ = world.pass(180_000);
    let commands = world.pass(30_000);
    assert_eq!(posts(&commands).len(), 2, "each is told");
    assert_eq!(starts(&commands), [row(1002)]);
}

#[test]
fn nobody_types_after_the_end_of_a_turn() {
    type End = (&'static str, fn(&mut World) -> Vec<Command>);
    let ends: [End; 5] = [
        ("answered", |world| world.answer(1000, "hi")),
        ("failed", |world| world.fail(1000, RunFailure::EngineDied)),
        ("out of time", |world| {
            let _ = world.pass(180_000);
            world.pass(30_000)
        }),
        ("stopped", |world| {
            world.at.brakes.estop = Brake::On;
            let _ = world.pass(1);
            world.on(ended(1000, RunOutcome::Aborted))
        }),
        ("aborted", |world| {
            let _ = world.on(Input::Ordered(Order::Abort(row(1000))));
            world.on(ended(1000, RunOutcome::Aborted))
        }),
    ];
    for (name, end) in ends {
        let mut world = World::serving(policy());
        assert_eq!(typing(&world.say(1000, "hello")), 1, "{name}");
        assert_eq!(typing(&world.pass(8_000)), 1, "{name}");
        let commands = end(&mut world);
        assert_eq!(typing(&commands), 0, "{name}");
        let post = only_post(&commands);
        for _ in 0..5 {
            assert_eq!(typing(&world.pass(8_000)), 0, "{name}: on its way");
        }
        let _ = world.on(posted(&post, 5000));
        for _ in 0..5 {
            assert_eq!(typing(&world.pass(8_000)), 0, "{name}");
        }
    }
}

#[test]
fn a_message_is_as_long_as_it_has_characters_whatever_their_bytes() {
    let line = Line::Oversize.text();
    for one in ["a", "\u{301}", "\u{1f642}", "\u{6f22}"] {
        let mut world = World::serving(policy());
        assert_eq!(
            starts(&world.say(1000, &one.repeat(4_000))),
            [row(1000)],
            "{one:?}"
        );
        let mut world = World::serving(policy());
        let commands = world.say(1000, &one.repeat(4_001));
        assert_eq!(starts(&commands), []);
        assert_eq!(world.deliver_all(commands, 5000), [line], "{one:?}");
    }
}
