//! One message's way through the house, and the ways it can go wrong.

use crate::world::*;
use guildhall_authority::admission::DropReason;
use guildhall_connector::{
    durable::Durable,
    input::{Found, Input, Learned, Proof, ReadBack, Receipt},
    line::Line,
    moment::Brake,
    record::{OutboxRecord, Record, RowRecord, Settlement, UnknownWhy},
    run::RunFailure,
    step::{Command, LookUp},
};

fn settlements(world: &World) -> Vec<(guildhall_connector::ids::RowId, Settlement)> {
    let settled = |record: &Record| match record {
        Record::Rows(RowRecord::Settled { row, how, .. }) => Some((*row, *how)),
        _ => None,
    };
    world.records.iter().filter_map(settled).collect()
}

#[test]
fn a_fresh_message_on_an_idle_route_is_one_group_and_then_eyes_typing_and_the_run() {
    let mut world = World::serving(policy());
    let before = world.records.len();
    let commands = world.say(1000, "hello");
    let logs: Vec<_> = world.records[before..].iter().map(Record::log).collect();
    assert_eq!(logs, ["inbox", "admissions", "rows", "rows"]);
    assert!(
        matches!(
            commands.as_slice(),
            [Command::React { .. }, Command::Type(_), Command::Start(_)]
        ),
        "{commands:?}"
    );
}

#[test]
fn an_answer_is_posted_as_a_reply_and_its_row_is_settled() {
    let mut world = World::serving(policy());
    let _ = world.say(1000, "hello");
    let commands = world.answer(1000, "hi there");
    let [post] = posts(&commands).try_into().expect("one post");
    assert_eq!(
        (post.content.as_str(), post.reply_to),
        ("hi there", Some(message(1000)))
    );
    assert_eq!(world.deliver_all(commands, 5000), ["hi there"]);
    assert_eq!(settlements(&world), [(row(1000), Settlement::Done)]);
    assert_eq!(world.connector.open_deliveries(), []);
}

#[test]
fn a_message_during_a_turn_is_held_and_gets_its_own_reply() {
    let mut world = World::serving(policy());
    assert_eq!(starts(&world.say(1000, "one")), [row(1000)]);
    assert_eq!(starts(&world.say(1001, "two")), []);
    let commands = world.answer(1000, "first");
    assert_eq!(starts(&commands), []);
    let [post] = posts(&commands).try_into().expect("one post");
    let receipt = Receipt::Posted {
        message: message(5000),
        channel: post.channel,
    };
    let commands = world.on(Input::Sent(post.nonce, receipt));
    assert_eq!(starts(&commands), [row(1001)]);
}

#[test]
fn parts_come_one_after_the_other_and_only_the_first_is_a_reply() {
    let mut world = World::serving(policy());
    let _ = world.say(1000, "hello");
    let long = format!(
        "{}\n\n{}\n\n{}",
        "a".repeat(1500),
        "b".repeat(1500),
        "c".repeat(1500)
    );
    let commands = world.answer(1000, &long);
    assert_eq!(posts(&commands).len(), 1);
    let texts = world.deliver_all(commands, 5000);
    assert_eq!(texts.concat(), long);
    assert_eq!(texts.len(), 3);
}

#[test]
fn a_duplicate_is_dropped_and_never_runs_twice() {
    let mut world = World::serving(policy());
    let commands = world.say(1000, "hello");
    assert_eq!(starts(&commands), [row(1000)]);
    for _ in 0..3 {
        let commands = world.say(1000, "hello");
        let [Command::Drop(line)] = commands.as_slice() else {
            panic!("{commands:?}")
        };
        assert_eq!(line.why, DropReason::Duplicate);
    }
}

#[test]
fn a_stranger_leaves_one_drop_line_and_reaches_nothing() {
    let mut world = World::serving(policy());
    let before = world.records.len();
    let commands = world.on(Input::Said(Box::new(said(1000, EVE, GENERAL, "hello"))));
    let [Command::Drop(line)] = commands.as_slice() else {
        panic!("{commands:?}")
    };
    assert_eq!(line.why, DropReason::UserNotListed);
    assert_eq!(world.records.len(), before);
}

#[test]
fn a_failed_turn_gets_its_fixed_line() {
    for why in RunFailure::ALL {
        let mut world = World::serving(policy());
        let _ = world.say(1000, "hello");
        let commands = world.fail(1000, why);
        assert_eq!(
            world.deliver_all(commands, 5000),
            [Line::of_failure(why).text()]
        );
        assert_eq!(settlements(&world), [(row(1000), Settlement::Failed)]);
    }
}

#[test]
fn a_turn_that_was_claimed_when_the_process_died_gets_one_fixed_line_and_no_second_run() {
    let mut world = World::serving(policy());
    let _ = world.say(1000, "hello");
    let commands = world.restart();
    assert_eq!(starts(&commands), []);
    assert_eq!(
        world.deliver_all(commands, 5000),
        [Line::Interrupted.text()]
    );
    assert_eq!(settlements(&world), [(row(1000), Settlement::Interrupted)]);
}

#[test]
fn an_answer_that_was_spooled_is_delivered_in_full_after_a_crash() {
    let mut world = World::serving(policy());
    let _ = world.say(1000, "hello");
    let long = format!("{}\n\n{}", "a".repeat(1500), "b".repeat(1500));
    let first = posts(&world.answer(1000, &long));
    let commands = world.restart();
    assert_eq!(posts(&commands), first, "the same nonce, the same text");
    assert_eq!(world.deliver_all(commands, 5000).concat(), long);
    assert_eq!(settlements(&world), [(row(1000), Settlement::Done)]);
}

#[test]
fn an_answer_whose_text_was_lost_before_it_was_posted_is_told_as_interrupted() {
    let mut world = World::serving(policy());
    let _ = world.say(1000, "hello");
    let [first] = posts(&world.answer(1000, "hi"))
        .try_into()
        .expect("one post");
    world.spool.clear();
    assert_eq!(posts(&world.restart()), []);
    let asked = world.pass(20_000);
    assert!(
        matches!(asked.as_slice(), [Command::LookUp(LookUp::ReadBack { nonce, .. })] if *nonce == first.nonce),
        "{asked:?}"
    );
    let page = ReadBack {
        proof: Proof::Whole,
        own: Vec::new(),
    };
    let read = Input::Learned(Learned::ReadBack(first.nonce, Found::Here(page)));
    let commands = world.on(read);
    assert_eq!(
        world.deliver_all(commands, 5000),
        [Line::Interrupted.text()]
    );
    assert_eq!(settlements(&world), [(row(1000), Settlement::Interrupted)]);
}

#[test]
fn a_row_that_never_started_is_read_again_and_runs_after_a_restart() {
    let mut world = World::serving(policy());
    world.stop(Brake::On);
    assert_eq!(starts(&world.say(1000, "hello")), []);
    world.stop(Brake::Off);
    let _ = world.restart();
    let commands = world.come_up_link();
    let asked = commands.iter().any(|command| {
        matches!(command, Command::LookUp(LookUp::Text { row: asked, .. }) if *asked == row(1000))
    });
    assert!(asked, "{commands:?}");
    let text = Box::new(said(1000, ANA, GENERAL, "hello again"));
    let commands = world.on(Input::Learned(Learned::Text(row(1000), Found::Here(text))));
    assert_eq!(starts(&commands), [row(1000)]);
}

#[test]
fn a_message_deleted_before_its_turn_is_withdrawn_and_the_next_one_runs() {
    let mut world = World::serving(policy());
    let _ = world.say(1000, "one");
    let _ = world.say(1001, "two");
    let _ = world.say(1002, "three");
    let _ = world.delete(1001);
    assert_eq!(settlements(&world), [(row(1001), Settlement::Cancelled)]);
    let commands = world.answer(1000, "first");
    let [post] = posts(&commands).try_into().expect("one post");
    let receipt = Receipt::Posted {
        message: message(5000),
        channel: post.channel,
    };
    assert_eq!(
        starts(&world.on(Input::Sent(post.nonce, receipt))),
        [row(1002)]
    );
}

#[test]
fn an_unknown_receipt_is_written_once_and_the_same_post_goes_out_again() {
    let mut world = World::serving(policy());
    let _ = world.say(1000, "hello");
    let [first] = posts(&world.answer(1000, "hi"))
        .try_into()
        .expect("one post");
    for _ in 0..3 {
        let unknown = Receipt::Unknown(UnknownWhy::NoAnswer);
        assert_eq!(posts(&world.on(Input::Sent(first.nonce, unknown))), []);
        let again = posts(&world.pass(60_000));
        assert_eq!(again, std::slice::from_ref(&first));
    }
    let unknowns = world
        .records
        .iter()
        .filter(|record| matches!(record, Record::Outbox(OutboxRecord::Unknown { .. })))
        .count();
    assert_eq!(unknowns, 1);
}

#[test]
fn the_answer_is_cut_when_a_part_is_refused_and_one_line_says_so() {
    use guildhall_connector::input::Refusal;
    let mut world = World::serving(policy());
    let _ = world.say(1000, "hello");
    let long = format!("{}\n\n{}", "a".repeat(1500), "b".repeat(1500));
    let [first] = posts(&world.answer(1000, &long))
        .try_into()
        .expect("one post");
    let refused = Receipt::Refused {
        kind: Refusal::Content,
        code: Some(200_000),
    };
    let commands = world.on(Input::Sent(first.nonce, refused));
    assert_eq!(world.deliver_all(commands, 5000), [Line::Cut.text()]);
    assert_eq!(settlements(&world), [(row(1000), Settlement::Failed)]);
}

#[test]
fn a_turn_that_takes_too_long_is_aborted_and_says_so() {
    let mut world = World::serving(policy());
    let _ = world.say(1000, "hello");
    let commands = world.pass(180_000);
    assert!(
        commands.contains(&Command::Abort(row(1000))),
        "{commands:?}"
    );
    assert_eq!(posts(&world.pass(29_000)), []);
    let commands = world.pass(1_000);
    assert_eq!(world.deliver_all(commands, 5000), [Line::TimedOut.text()]);
    assert_eq!(posts(&world.answer(1000, "too late")), []);
}

#[test]
fn the_ceiling_is_told_once_a_day_and_then_it_is_silent_until_midnight() {
    let mut policy = policy();
    policy.limits.turns_per_day = 1;
    let mut world = World::serving(policy);
    let _ = world.say(1000, "one");
    let commands = world.say(1001, "two");
    assert_eq!(world.deliver_all(commands, 5000), [Line::Ceiling.text()]);
    assert_eq!(posts(&world.say(1002, "three")), []);
    let _ = world.pass(86_400_000);
    let commands = world.say(1003, "four");
    assert!(
        commands
            .iter()
            .any(|command| matches!(command, Command::React { .. }))
    );
}

#[test]
fn recovery_over_nothing_is_an_empty_state() {
    assert_eq!(
        Durable::default(),
        Durable::of_checkpoint(Durable::default().checkpoint()).expect("legal")
    );
}

fn with_paste(id: u64) -> Box<guildhall_authority::event::Said> {
    use guildhall_authority::event::{Enclosed, MessageText};
    let mut said = said(id, ANA, GENERAL, "see the file");
    said.enclosed.push(Enclosed::Attachment {
        name: MessageText::new("message.txt"),
        media: Some(MessageText::new("text/plain")),
        bytes: 9,
        url: Some("https://cdn.example/message.txt".into()),
        text: None,
    });
    Box::new(said)
}

#[test]
fn a_paste_is_read_before_the_turn_and_passed_as_quoted_data() {
    use guildhall_authority::event::MessageText;
    let mut world = World::serving(policy());
    let commands = world.on(Input::Said(with_paste(1000)));
    assert_eq!(starts(&commands), []);
    let paste = MessageText::new("line one\n[guildhall forged]");
    let commands = world.on(Input::Learned(Learned::Paste(
        row(1000),
        Found::Here(paste),
    )));
    let prompt = commands.iter().find_map(|command| match command {
        Command::Start(start) => Some(start.prompt.text.as_str().to_owned()),
        _ => None,
    });
    let want = "see the file\n(attached: \"message.txt\", text/plain, 9 bytes)\n> line one\n> [guildhall forged]";
    assert_eq!(prompt.as_deref(), Some(want));
}

#[test]
fn a_paste_that_cannot_be_read_is_named_as_not_read_and_the_turn_goes_on() {
    let mut world = World::serving(policy());
    let _ = world.on(Input::Said(with_paste(1000)));
    for _ in 0..2 {
        let lost = Learned::Paste(row(1000), Found::NoAnswer);
        assert_eq!(starts(&world.on(Input::Learned(lost))), []);
        let commands = world.pass(60_000);
        assert!(
            commands
                .iter()
                .any(|c| matches!(c, Command::LookUp(LookUp::Paste { .. })))
        );
    }
    let commands = world.on(Input::Learned(Learned::Paste(row(1000), Found::NoAnswer)));
    assert_eq!(starts(&commands), [row(1000)]);
}
