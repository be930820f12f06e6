//! Asks and calls that a process left when it died, and what the fault machine found.

use super::*;
use guildhall_connector::record::{ConfirmedBy, OutboxRecord};

#[test]
fn what_was_open_at_a_crash_is_void_and_its_card_says_so() {
    let (mut world, id) = carded();
    let commands = world.restart_with(with_operator());
    assert_eq!(decisions(&commands), []);
    assert!(edits(&commands)[0].contains("Expired"), "{commands:?}");
    let _ = world.come_up_link();
    let late = world.on(once(id));
    assert_eq!(answers(&late), [PressHow::Private(Line::AskOver)]);
    assert_eq!(decisions(&late), []);
    let _ = edited(&mut world, id);
    assert!(is_closed(&world));
    let late = world.on(once(id));
    assert_eq!(answers(&late), [PressHow::Private(Line::AskOver)]);
    let _ = world.on(reply_to_card(2000, OPERATOR, "once"));
    assert!(!world.connector.durable().is_open(row(2000)));
}

#[test]
fn whoever_answers_a_card_of_an_earlier_process_is_told_how_it_ended() {
    for (word, line) in [("once", Line::AskAllowed), ("deny", Line::AskDenied)] {
        let (mut world, id) = carded();
        let pressed = press(OPERATOR, &format!("ask:{id}:{word}"));
        let _ = world.on(Input::Pressed(pressed));
        let _ = world.restart_with(with_operator());
        let _ = world.come_up_link();
        let _ = edited(&mut world, id);
        assert!(is_closed(&world), "{word}");
        for _ in 0..2 {
            let _ = world.restart_with(with_operator());
            let _ = world.come_up_link();
            let late = world.on(once(id));
            assert_eq!(answers(&late), [PressHow::Private(line)]);
            assert_eq!(decisions(&late), []);
        }
        let _ = world.on(reply_to_card(2000, OPERATOR, "once"));
        assert!(!world.connector.durable().is_open(row(2000)), "{word}");
    }
}

#[test]
fn what_was_allowed_and_had_not_begun_at_a_crash_is_told_as_not_carried_out() {
    let (mut world, id) = carded();
    let _ = world.on(once(id));
    let commands = world.restart_with(with_operator());
    assert!(
        edits(&commands)[0].contains("not carried out"),
        "{commands:?}"
    );
    assert_eq!(begins(&world.on(Input::CallBegins(begun(Some(id), 0)))), 0);
}

#[test]
fn a_card_in_doubt_at_a_crash_is_looked_for_and_never_sent_again() {
    let (mut world, id, post) = asking();
    let commands = world.restart_with(with_operator());
    assert!(
        commands.iter().any(|it| matches!(it, Command::Connect)),
        "nothing waits for it"
    );
    assert_eq!(
        posts(&commands)
            .iter()
            .filter(|it| it.nonce == post.nonce)
            .count(),
        0
    );
    let look = world.pass(20_000);
    let looks = |it: &&Command| matches!(it, Command::LookUp(LookUp::ReadBack { nonce, .. }) if *nonce == post.nonce);
    assert_eq!(look.iter().filter(looks).count(), 1, "{look:?}");
    let own = OwnMessage {
        id: message(CARD),
        replies_to: Some(message(1000)),
        nonce: None,
        text: reply::digest_text(&post.content),
    };
    let page = ReadBack {
        proof: Proof::Whole,
        own: vec![own],
    };
    let commands = world.on(Input::Learned(Learned::ReadBack(
        post.nonce,
        Found::Here(page),
    )));
    assert!(edits(&commands)[0].contains("Expired"), "{commands:?}");
    let _ = edited(&mut world, id);
    assert!(is_closed(&world));
}

#[test]
fn a_cards_edit_is_tried_again_with_a_bound_and_left_to_the_next_start() {
    let (mut world, id) = carded();
    let mut tries = edits(&world.on(once(id))).len();
    for _ in 0..40 {
        let _ = world.on(Input::CardEdited(
            id,
            Receipt::Unknown(UnknownWhy::NoAnswer),
        ));
        tries += edits(&world.pass(60_000)).len();
    }
    assert_eq!(tries, 12);
    let commands = world.restart_with(with_operator());
    assert_eq!(edits(&commands).len(), 1);
    let _ = world.on(Input::CardEdited(id, Receipt::ReferenceGone));
    assert!(
        is_closed(&world),
        "a card that was deleted needs no more words"
    );
}

#[test]
fn a_call_begins_only_in_a_turn_that_runs_and_as_it_was_allowed() {
    let (mut world, id) = carded();
    assert_eq!(
        begins(&world.on(Input::CallBegins(begun(Some(id), 0)))),
        0,
        "undecided"
    );
    assert_eq!(
        begins(&world.on(Input::CallBegins(begun(None, 5)))),
        1,
        "by the policy"
    );
    assert_eq!(
        begins(&world.on(Input::CallBegins(begun(None, 5)))),
        0,
        "twice"
    );
    let _ = world.on(once(id));
    let mut other = begun(Some(id), 0);
    other.digest = EffectDigest::of("test", &[b"another"]);
    assert_eq!(
        begins(&world.on(Input::CallBegins(other))),
        0,
        "another effect"
    );
    assert_eq!(
        begins(&world.on(Input::CallBegins(begun(Some(id), 1)))),
        0,
        "another call"
    );
    let _ = world.on(Input::Ordered(Order::Abort(row(1000))));
    assert_eq!(
        begins(&world.on(Input::CallBegins(begun(Some(id), 0)))),
        0,
        "aborting"
    );
}

#[test]
fn a_call_that_had_begun_at_a_crash_is_looked_at() {
    let done = |call| CallRecord::Done {
        turn: row(1000),
        call,
        by: DoneBy::Look,
    };
    let unknown = |why: &str| CallRecord::Unknown {
        turn: row(1000),
        call: 0,
        why: why.into(),
    };
    let cases = [
        (Found::Here(FileSeen::AsMeant), done(0), "done"),
        (
            Found::Here(FileSeen::Otherwise),
            unknown("other-content"),
            "unknown",
        ),
        (Found::Nothing, unknown("no-file"), "unknown"),
        (Found::NoAnswer, unknown("not-looked-at"), "unknown"),
    ];
    for (found, record, outcome) in cases {
        let mut world = World::serving(with_operator());
        let _ = world.say(1000, "write it down");
        let _ = world.on(Input::CallBegins(begun(None, 0)));
        let commands = world.restart_with(with_operator());
        let looks = |it: &Command| matches!(it, Command::LookUp(LookUp::File { path, .. }) if path == "today.md");
        assert!(commands.iter().any(looks), "{commands:?}");
        let _ = world.on(Input::Learned(Learned::File(row(1000), 0, found)));
        assert!(world.records.contains(&Record::Calls(record)));
        let _ = world.deliver_all(commands, 8000);
        let turn = world.records.iter().find_map(|record| match record {
            Record::Turns(turn) => Some(turn.tools.clone()),
            _ => None,
        });
        let tools = turn.expect("a turn record");
        assert_eq!((tools.len(), tools[0].outcome.as_str()), (1, outcome));
        assert!(world.connector.durable().checkpoint().restated.is_empty());
    }
}

#[test]
fn open_asks_are_told_in_the_status() {
    let (world, id) = carded();
    let status = world.connector.status(&world.at);
    assert_eq!(status.asks.len(), 1);
    assert_eq!((status.asks[0].ask, status.asks[0].turn), (id, row(1000)));
    assert_eq!(world.connector.open_asks().count(), 1);
}

#[test]
fn no_record_and_no_debug_output_holds_what_was_asked_about() {
    let (mut world, id) = carded();
    let commands = world.on(once(id));
    let opened = world
        .records
        .iter()
        .any(|record| matches!(record, Record::Approvals(ApprovalRecord::Opened { .. })));
    assert!(opened);
    for record in &world.records {
        let json = record.to_json();
        assert!(
            !json.contains("hello") && !json.contains("today.md"),
            "{json}"
        );
    }
    let shown = format!("{commands:?}{:?}{:?}", spec(1000, 0), press(ANA, "x"));
    assert!(
        !shown.contains("today.md") && !shown.contains("secret"),
        "{shown}"
    );
}

#[test]
fn a_card_is_not_taken_for_an_answer_whose_text_is_lost() {
    let (mut world, id) = carded();
    let [shown] = edits(&world.on(once(id))).try_into().expect("an edit");
    let [answer] = posts(&world.answer(1000, "done"))
        .try_into()
        .expect("an answer");
    world.spool.clear();
    let _ = world.restart_with(with_operator());
    let _ = world.pass(20_000);
    let own = OwnMessage {
        id: message(CARD),
        replies_to: Some(message(1000)),
        nonce: None,
        text: reply::digest_text(&shown),
    };
    let page = ReadBack {
        proof: Proof::Whole,
        own: vec![own],
    };
    let found = Learned::ReadBack(answer.nonce, Found::Here(page));
    let lines = posts(&world.on(Input::Learned(found)));
    assert_eq!(lines[0].content, Line::Interrupted.text());
}

#[test]
fn a_reply_to_a_card_in_a_thread_that_is_not_known_waits_like_any_message() {
    let mut world = World::serving(with_operator());
    let at = guildhall_authority::place::Whereabouts::ThreadOf(channel(GENERAL));
    let _ = world.on(Input::Link(guildhall_connector::input::Link::Place(
        channel(900),
        at,
    )));
    let _ = world.on(Input::Said(Box::new(said(1000, ANA, 900, "write it down"))));
    let [post] = posts(&world.on(Input::Asked(spec(1000, 0))))
        .try_into()
        .expect("a card");
    let _ = world.on(posted(&post));
    // A later process of the same card's time would not know the thread; this one forgets it.
    let durable = world.connector.durable().clone();
    assert_eq!(durable.asks().count(), 1);
    let _ = world.restart_with(with_operator());
    for (who, waits) in [(ANA, true), (OPERATOR, false)] {
        let mut reply = said(2000 + who, who, 900, "once");
        reply.kind = SaidKind::Reply;
        reply.replies_to = Some(message(CARD));
        let commands = world.on(Input::Said(Box::new(reply)));
        let looks = |it: &Command| matches!(it, Command::LookUp(LookUp::Whereabouts(_)));
        assert_eq!(commands.iter().any(looks), waits, "{who}");
    }
}

#[test]
fn a_reply_to_a_card_while_there_is_no_room_does_not_pass_what_was_refused() {
    let (mut world, _) = carded();
    let _ = world.on(Input::Journal(guildhall_connector::input::Room::None));
    let _ = world.say(1999, "no room for this");
    let commands = world.on(reply_to_card(2000, OPERATOR, "once"));
    assert_eq!(decisions(&commands), [Answer::Once]);
    let passed = world.records.iter().any(|record| match record {
        Record::Inbox(InboxRecord::Seen { row: of, channel }) => {
            *of == row(2000) && channel.is_some()
        }
        _ => false,
    });
    assert!(!passed);
}

#[test]
fn a_card_that_a_person_found_while_no_process_was_up_is_edited_by_the_next() {
    let (mut world, _, post) = asking();
    let confirmed = OutboxRecord::Confirmed {
        nonce: post.nonce,
        message: Some(message(CARD)),
        by: ConfirmedBy::Operator,
    };
    let mut durable = world.connector.durable().clone();
    let record = Record::Outbox(confirmed);
    durable.apply(&record).expect("a legal order");
    world.records.push(record);
    world.connector = guildhall_connector::Connector::new(
        std::sync::Arc::new(with_operator()),
        durable,
        guildhall_authority::permit::found().1,
    );
    let commands = world.restart_with(with_operator());
    assert!(edits(&commands)[0].contains("Expired"), "{commands:?}");
}
