//! What the fault machine found, each in its shortest form.

use crate::world::*;
use guildhall_authority::{event::Edited, place::Whereabouts};
use guildhall_connector::{
    input::{
        Found, HistoryPage, Input, KnownThread, Learned, Link, Order, OwnMessage, Proof, ReadBack,
        Receipt, Rest, Room, Verdict,
    },
    line::Line,
    moment::Brake,
    record::{InboxRecord, OutboxRecord, Record, UnknownWhy},
    run::RunFailure,
    step::{Command, LookUp, StartRun},
};

const THREAD: u64 = 500;

fn histories(commands: &[Command]) -> Vec<u64> {
    let place = |command: &Command| match command {
        Command::LookUp(LookUp::History { channel, .. }) => Some(channel.get()),
        _ => None,
    };
    commands.iter().filter_map(place).collect()
}

fn page(place: u64, ids: &[u64]) -> Input {
    let said = ids
        .iter()
        .map(|id| said(*id, ANA, place, "missed"))
        .collect();
    let rest = Rest::Nothing;
    let page = HistoryPage { said, rest };
    Input::Learned(Learned::History(channel(place), Found::Here(page)))
}

fn no_page(place: u64) -> Input {
    Input::Learned(Learned::History(channel(place), Found::NoAnswer))
}

/// Ids that are accepted, with whether their place becomes the cursor of the next start.
fn seen(world: &World) -> Vec<(String, Option<u64>)> {
    let seen = |record: &Record| match record {
        Record::Inbox(InboxRecord::Seen { row, channel }) => {
            Some((row.to_string(), channel.map(|id| id.get())))
        }
        _ => None,
    };
    world.records.iter().filter_map(seen).collect()
}

fn asked(commands: &[Command]) -> Vec<String> {
    let text = |command: &Command| match command {
        Command::Start(StartRun { prompt, .. }) => Some(prompt.text.as_str().to_owned()),
        _ => None,
    };
    commands.iter().filter_map(text).collect()
}

fn edit(id: u64, text: &str) -> Input {
    let said = said(id, ANA, GENERAL, text);
    Input::Edited(Box::new(Edited { said }))
}

/// A fresh session whose pages have not come yet. Ids are of now, so that they are caught up.
fn reading() -> (World, u64) {
    let mut world = World::serving(policy());
    let now = u64::try_from(NOW).expect("after 1970");
    let id = (now - guildhall_binding::ids::DISCORD_EPOCH_MS + 60_000) << 22;
    let _ = world.pass(60_000);
    let _ = world.on(Input::Link(Link::Ready));
    let commands = world.on(Input::Link(Link::Guild(Vec::new())));
    assert_eq!(histories(&commands), [GENERAL, HELP]);
    (world, id)
}

#[test]
fn nothing_is_decided_for_good_while_something_is_being_read_or_there_is_no_room() {
    let (mut world, _) = reading();
    assert!(world.connector.is_undecided());
    let _ = world.on(page(GENERAL, &[]));
    assert!(world.connector.is_undecided());
    let _ = world.on(page(HELP, &[]));
    assert!(!world.connector.is_undecided());
    let _ = world.on(Input::Journal(Room::None));
    assert!(world.connector.is_undecided());
}

#[test]
fn nothing_is_decided_for_good_before_the_threads_of_a_fresh_session_are_known() {
    let (mut world, _) = reading();
    let _ = world.on(Input::Link(Link::Ready));
    let _ = world.pass(20_000);
    for place in [GENERAL, HELP, GENERAL, HELP] {
        let _ = world.on(page(place, &[]));
    }
    assert!(
        world.connector.is_undecided(),
        "a late guild may still come"
    );
    let _ = world.on(Input::Link(Link::Guild(Vec::new())));
    for place in [GENERAL, HELP] {
        let _ = world.on(page(place, &[]));
    }
    assert!(!world.connector.is_undecided());
}

#[test]
fn a_later_part_is_read_back_from_the_message_that_was_asked_and_not_by_the_clock() {
    let mut world = World::serving(policy());
    let _ = world.say(1000, "hello");
    let long = format!("{}\n\n{}", "a".repeat(1500), "b".repeat(1500));
    let [first] = posts(&world.answer(1000, &long))
        .try_into()
        .expect("one post");
    let there = Receipt::Posted {
        message: message(5000),
        channel: first.channel,
    };
    let [second] = posts(&world.on(Input::Sent(first.nonce, there)))
        .try_into()
        .expect("one post");
    world.at.wall = guildhall_connector::moment::Wall(world.at.wall.0 + 300_000);
    let unknown = Receipt::Unknown(UnknownWhy::NoAnswer);
    let _ = world.on(Input::Sent(second.nonce, unknown));
    let after: Vec<_> = world
        .pass(20_000)
        .iter()
        .filter_map(|command| match command {
            Command::LookUp(LookUp::ReadBack { after, .. }) => Some(*after),
            _ => None,
        })
        .collect();
    assert_eq!(after, [Some(message(1000))]);
}

#[test]
fn an_answer_from_before_a_gap_does_not_end_the_reading_of_the_gap() {
    let (mut world, id) = reading();
    let _ = world.on(Input::Link(Link::Ready));
    let commands = world.on(Input::Link(Link::Guild(Vec::new())));
    assert!(histories(&commands).is_empty(), "one look-up at a time");
    for place in [GENERAL, HELP] {
        assert_eq!(histories(&world.on(page(place, &[]))), [place]);
    }
    let _ = world.on(page(HELP, &[]));
    assert_eq!(starts(&world.on(page(GENERAL, &[id]))), [row(id)]);
}

#[test]
fn a_message_that_overtakes_a_page_does_not_move_the_cursor_of_the_next_start() {
    let (mut world, id) = reading();
    let _ = world.on(page(HELP, &[]));
    let _ = world.say(id + 9, "overtakes");
    let _ = world.pass(15_000);
    assert_eq!(seen(&world), [((id + 9).to_string(), None)]);
    let _ = world.on(page(GENERAL, &[id]));
    let _ = world.say(id + 10, "after the page");
    let want = [
        (id + 9, None),
        (id, Some(GENERAL)),
        (id + 10, Some(GENERAL)),
    ];
    assert_eq!(
        seen(&world),
        want.map(|(id, place)| (id.to_string(), place))
    );
}

#[test]
fn a_place_that_gives_no_answer_is_asked_until_it_does() {
    let (mut world, id) = reading();
    let _ = world.on(page(HELP, &[]));
    for _ in 0..20 {
        assert!(histories(&world.on(no_page(GENERAL))).is_empty());
        assert_eq!(histories(&world.pass(60_000)), [GENERAL]);
    }
    assert_eq!(starts(&world.on(page(GENERAL, &[id]))), [row(id)]);
}

#[test]
fn a_thread_that_spoke_while_there_was_no_room_is_read_when_there_is() {
    for known in [true, false] {
        let (mut world, id) = reading();
        let _ = world.on(page(GENERAL, &[]));
        let _ = world.on(page(HELP, &[]));
        let thread = KnownThread {
            id: channel(THREAD),
            parent: channel(GENERAL),
            newest: Some(message(id)),
        };
        let _ = if known {
            let _ = world.on(Input::Said(Box::new(said(id, ANA, THREAD, "before"))));
            world.on(Input::Link(Link::Guild(vec![thread])))
        } else {
            let at = Whereabouts::ThreadOf(channel(GENERAL));
            world.on(Input::Link(Link::Place(channel(THREAD), at)))
        };
        let _ = world.on(Input::Journal(Room::None));
        let _ = world.on(Input::Said(Box::new(said(id + 1, ANA, THREAD, "no room"))));
        let commands = world.on(Input::Journal(Room::Enough));
        assert_eq!(histories(&commands), [GENERAL, HELP, THREAD], "{known}");
    }
}

#[test]
fn an_edit_counts_wherever_its_message_waits() {
    let (mut world, id) = reading();
    let _ = world.say(id, "as first said");
    let _ = world.on(edit(id, "as edited"));
    let _ = world.on(page(HELP, &[]));
    let commands = world.on(page(GENERAL, &[id]));
    assert_eq!(asked(&commands), ["as edited"], "held");

    let (mut world, id) = reading();
    let _ = world.on(edit(id, "as edited"));
    let _ = world.on(page(HELP, &[]));
    let commands = world.on(page(GENERAL, &[id]));
    assert_eq!(asked(&commands), ["as edited"], "on its page");

    let mut world = World::serving(policy());
    world.stop(Brake::On);
    let _ = world.say(1000, "as first said");
    world.stop(Brake::Off);
    let _ = world.restart();
    let _ = world.come_up_link();
    let _ = world.on(edit(1000, "as edited"));
    let text = Box::new(said(1000, ANA, GENERAL, "as first said"));
    let text = Input::Learned(Learned::Text(row(1000), Found::Here(text)));
    assert_eq!(asked(&world.on(text)), ["as edited"], "read again");
}

#[test]
fn a_message_that_was_deleted_before_its_page_came_is_not_taken() {
    let (mut world, id) = reading();
    let _ = world.delete(id);
    let _ = world.on(page(HELP, &[]));
    let commands = world.on(page(GENERAL, &[id, id + 1]));
    assert_eq!(starts(&commands), [row(id + 1)]);
}

#[test]
fn a_channel_is_read_back_twenty_seconds_after_the_last_try_ended() {
    let mut world = World::serving(policy());
    let _ = world.say(1000, "hello");
    let [post] = posts(&world.answer(1000, "hi"))
        .try_into()
        .expect("one post");
    // The exchange took as long as the window: the post may still arrive.
    world.at.mono = guildhall_connector::moment::Mono(world.at.mono.0 + 241_000);
    world.at.wall = guildhall_connector::moment::Wall(world.at.wall.0 + 241_000);
    let unknown = Receipt::Unknown(UnknownWhy::NoAnswer);
    let _ = world.on(Input::Sent(post.nonce, unknown));
    let read_back = |commands: &[Command]| {
        let looks = |command: &Command| matches!(command, Command::LookUp(LookUp::ReadBack { .. }));
        commands.iter().any(looks)
    };
    assert!(!read_back(&world.pass(19_000)));
    assert!(read_back(&world.pass(1_000)));
}

#[test]
fn a_line_that_lost_its_reference_is_not_taken_for_the_same_line_of_another_turn() {
    let mut world = World::serving(policy());
    let _ = world.say(1000, "one");
    let _ = world.say(1001, "two");
    let one = world.fail(1000, RunFailure::EngineDied);
    let _ = world.deliver_all(one, 5000);
    let two = world.fail(1001, RunFailure::EngineDied);
    let [two] = posts(&two).try_into().expect("one line");
    world.at.wall = guildhall_connector::moment::Wall(world.at.wall.0 + 300_000);
    let unknown = Receipt::Unknown(UnknownWhy::NoAnswer);
    let _ = world.on(Input::Sent(two.nonce, unknown));
    let _ = world.pass(20_000);
    // The first message was deleted before its line was posted, so the line stands alone.
    let page = ReadBack {
        proof: Proof::Whole,
        own: vec![OwnMessage {
            id: message(5000),
            replies_to: None,
            nonce: None,
            text: guildhall_connector::reply::digest_text(Line::EngineDied.text()),
        }],
    };
    let learned = Learned::ReadBack(two.nonce, Found::Here(page));
    let _ = world.on(Input::Learned(learned));
    let confirmed = world.records.iter().filter(|record| {
        matches!(record, Record::Outbox(OutboxRecord::Confirmed { nonce, .. }) if *nonce == two.nonce)
    });
    assert_eq!(confirmed.count(), 0);
}

#[test]
fn a_delivery_that_is_under_way_is_not_settled_by_hand() {
    let mut world = World::serving(policy());
    let _ = world.say(1000, "hello");
    let [post] = posts(&world.answer(1000, "hi"))
        .try_into()
        .expect("one post");
    let settle = Input::Ordered(Order::Settle(post.nonce, Verdict::NotThere));
    assert_eq!(world.on(settle), []);
    assert_eq!(world.connector.open_deliveries().len(), 1);
}

#[test]
fn a_delivery_settled_while_no_process_is_up_leaves_the_rest_to_the_next_start() {
    let mut world = World::serving(policy());
    let _ = world.say(1000, "hello");
    let long = format!("{}\n\n{}", "a".repeat(1500), "b".repeat(1500));
    let [first] = posts(&world.answer(1000, &long))
        .try_into()
        .expect("one post");
    let durable = world.connector.durable().clone();
    let (_, book) = guildhall_authority::permit::found();
    let policy = std::sync::Arc::new(policy());
    world.connector = guildhall_connector::Connector::new(policy, durable, book);
    let before = world.records.len();
    let there = Verdict::There(message(5000));
    assert_eq!(
        world.on(Input::Ordered(Order::Settle(first.nonce, there))),
        []
    );
    assert_eq!(world.records.len(), before + 1);
    let [second] = posts(&world.restart()).try_into().expect("one post");
    assert!(second.content.starts_with('b'));
}

#[test]
fn no_debug_output_shows_a_text() {
    let mut world = World::serving(policy());
    let _ = world.say(1000, "hello");
    let _ = world.answer(1000, "a secret answer");
    let spool = world.spool.clone();
    assert_eq!(spool.len(), 1);
    let start = Input::Started(guildhall_connector::input::Start {
        spool,
        ..Default::default()
    });
    let own = guildhall_connector::input::OwnMessage {
        id: message(5000),
        replies_to: None,
        nonce: None,
        text: "a secret answer".to_owned(),
    };
    for shown in [format!("{start:?}"), format!("{own:?}")] {
        assert!(!shown.contains("secret"), "{shown}");
    }
}

#[test]
fn an_answer_in_which_nothing_can_be_seen_is_told_as_empty() {
    for unseen in ["", " \n", "\u{200b}", "\u{2060}\u{feff} "] {
        let mut world = World::serving(policy());
        let _ = world.say(1000, "hello");
        let commands = world.answer(1000, unseen);
        assert_eq!(
            world.deliver_all(commands, 5000),
            [Line::EmptyAnswer.text()],
            "{unseen:?}"
        );
    }
}

#[test]
fn a_run_that_is_being_aborted_asks_for_no_deadline_in_the_past() {
    let mut world = World::serving(policy());
    let _ = world.say(1000, "hello");
    let _ = world.pass(180_000);
    for _ in 0..30 {
        let deadline = world.connector.deadline().expect("a run is under way");
        assert!(deadline > world.at.mono, "{deadline:?}");
        let _ = world.pass(900);
    }
}
