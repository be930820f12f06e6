//! Asks from the call to the card's last words, and calls that change something.

mod crashes;
mod refused;

use crate::world::{
    ANA, EVE, GENERAL, HELP, World, channel, message, policy, posts, row, said, user,
};
use guildhall_authority::{
    ask::{Answer, AskId, AskSpec, Content, Shown},
    call::{CallBegun, CallEnd, CallEnded},
    event::SaidKind,
    offer::ToolName,
    permit::EffectDigest,
    scope::TurnKey,
};
use guildhall_binding::{Policy, Standing, User, UserChannels};
use guildhall_connector::{
    input::{
        FileSeen, Found, Input, Learned, Order, OwnMessage, Press, Proof, ReadBack, Receipt,
        Refusal,
    },
    line::Line,
    moment::Brake,
    record::{ApprovalRecord, CallRecord, DoneBy, InboxRecord, Record, UnknownWhy},
    reply,
    run::RunFailure,
    step::{Command, LookUp, Post, PressHow},
};

const OPERATOR: u64 = 20;
const CARD: u64 = 7000;

fn with_operator() -> Policy {
    let mut policy = policy();
    let operator = User {
        id: user(OPERATOR),
        name: "Olga".into(),
        channels: UserChannels::Every,
        standing: Standing::Operator,
    };
    policy.users.insert(operator.id, operator);
    policy
}

fn digest() -> EffectDigest {
    EffectDigest::of("test", &[b"one effect"])
}

fn spec(turn: u64, call: u32) -> AskSpec {
    let turn = TurnKey::new(&turn.to_string());
    AskSpec {
        id: AskId::derive(&turn, call),
        turn,
        call,
        tool: ToolName::Create,
        digest: digest(),
        shown: Shown {
            what: "Create notes/today.md".into(),
            facts: vec![("workspace".into(), "notes".into())],
            content: Some(Content {
                name: "today.md".into(),
                text: "hello\n".into(),
            }),
            read: vec!["notes/yesterday.md".into()],
        },
    }
}

/// A turn that runs and asks, and the post of its card.
fn asking() -> (World, AskId, Post) {
    let mut world = World::serving(with_operator());
    let _ = world.say(1000, "write it down");
    let asked = spec(1000, 0);
    let id = asked.id;
    let [post] = posts(&world.on(Input::Asked(asked)))
        .try_into()
        .expect("a card");
    (world, id, post)
}

/// The same, with the card in its channel.
fn carded() -> (World, AskId) {
    let (mut world, id, post) = asking();
    let _ = world.on(posted(&post));
    (world, id)
}

fn posted(post: &Post) -> Input {
    let there = Receipt::Posted {
        message: message(CARD),
        channel: post.channel,
    };
    Input::Sent(post.nonce, there)
}

fn press(who: u64, custom_id: &str) -> Press {
    Press {
        interaction: 1,
        token: "secret".into(),
        who: user(who),
        channel: channel(GENERAL),
        message: message(CARD),
        custom_id: custom_id.into(),
    }
}

fn once(id: AskId) -> Input {
    Input::Pressed(press(OPERATOR, &format!("ask:{id}:once")))
}

fn decisions(commands: &[Command]) -> Vec<Answer> {
    let decided = |command: &Command| match command {
        Command::Decide(decision) => Some(decision.answer()),
        _ => None,
    };
    commands.iter().filter_map(decided).collect()
}

fn edits(commands: &[Command]) -> Vec<String> {
    let edited = |command: &Command| match command {
        Command::EditCard(edit) => Some(edit.content.clone()),
        _ => None,
    };
    commands.iter().filter_map(edited).collect()
}

fn answers(commands: &[Command]) -> Vec<PressHow> {
    let answered = |command: &Command| match command {
        Command::AnswerPress(answer) => Some(answer.how),
        _ => None,
    };
    commands.iter().filter_map(answered).collect()
}

fn edited(world: &mut World, id: AskId) -> Vec<Command> {
    let receipt = Receipt::Posted {
        message: message(CARD),
        channel: channel(GENERAL),
    };
    world.on(Input::CardEdited(id, receipt))
}

fn begun(ask: Option<AskId>, call: u32) -> CallBegun {
    CallBegun {
        turn: TurnKey::new("1000"),
        call,
        tool: ToolName::Create,
        root: Some("notes".into()),
        target: "today.md".into(),
        digest: digest(),
        after: Some("00".into()),
        ask,
    }
}

fn begins(commands: &[Command]) -> usize {
    let begins = |command: &&Command| matches!(command, Command::Begin { .. });
    commands.iter().filter(begins).count()
}

fn is_closed(world: &World) -> bool {
    world.connector.durable().asks().next().is_none()
}

fn reply_to_card(id: u64, who: u64, text: &str) -> Input {
    let mut said = said(id, who, GENERAL, text);
    said.kind = SaidKind::Reply;
    said.replies_to = Some(message(CARD));
    Input::Said(Box::new(said))
}

#[test]
fn a_press_decides_once_and_the_card_tells_the_whole_story() {
    let (mut world, id) = carded();
    let commands = world.on(once(id));
    assert_eq!(answers(&commands), [PressHow::Deferred]);
    assert_eq!(decisions(&commands), [Answer::Once]);
    assert!(
        edits(&commands)[0].ends_with("Allowed once by `Olga`."),
        "{commands:?}"
    );

    let again = world.on(once(id));
    assert_eq!(answers(&again), [PressHow::Private(Line::AskAllowed)]);
    assert_eq!(decisions(&again), []);

    let commands = world.on(Input::CallBegins(begun(Some(id), 0)));
    assert_eq!(begins(&commands), 1);
    assert_eq!(edits(&edited(&mut world, id)), [""; 0]);
    let ended = CallEnded {
        turn: TurnKey::new("1000"),
        call: 0,
        end: CallEnd::Done,
    };
    let commands = world.on(Input::CallEnds(ended));
    assert!(edits(&commands)[0].ends_with("Allowed once by `Olga`, and done."));
    assert!(!is_closed(&world));
    let _ = edited(&mut world, id);
    assert!(is_closed(&world));
    let commands = world.answer(1000, "done");
    let _ = world.deliver_all(commands, 8000);
    assert!(world.connector.durable().checkpoint().restated.is_empty());
}

#[test]
fn a_press_that_does_not_count_gets_one_private_line_and_decides_nothing() {
    let (mut world, id) = carded();
    let other = AskId::derive(&TurnKey::new("1000"), 9);
    let mine = format!("ask:{id}:once");
    let mut elsewhere = press(OPERATOR, &mine);
    elsewhere.channel = channel(HELP);
    let mut on_another = press(OPERATOR, &mine);
    on_another.message = message(1);
    let cases = [
        (press(ANA, &mine), Line::NotDecider),
        (press(EVE, &mine), Line::NotDecider),
        (press(EVE, "nonsense"), Line::NotDecider),
        (press(OPERATOR, "nonsense"), Line::NoSuchAsk),
        (
            press(OPERATOR, &format!("ask:{id}:always")),
            Line::NoSuchAsk,
        ),
        (
            press(OPERATOR, &format!("ask:{id}:once:x")),
            Line::NoSuchAsk,
        ),
        (
            press(OPERATOR, &format!("ask:{other}:once")),
            Line::NoSuchAsk,
        ),
        (elsewhere, Line::NoSuchAsk),
        (on_another, Line::NoSuchAsk),
    ];
    for (press, line) in cases {
        let name = format!("{press:?}");
        let commands = world.on(Input::Pressed(press));
        assert_eq!(answers(&commands), [PressHow::Private(line)], "{name}");
        assert_eq!(decisions(&commands), [], "{name}");
        let dropped = commands.iter().filter(|it| matches!(it, Command::Drop(_)));
        assert_eq!(dropped.count(), 1, "{name}");
    }
    assert_eq!(decisions(&world.on(once(id))), [Answer::Once]);
}

#[test]
fn who_may_decide_is_looked_up_at_the_press() {
    let (mut world, id) = carded();
    let without = std::sync::Arc::new(policy());
    let _ = world.on(Input::Ordered(Order::Reload(without, Default::default())));
    let commands = world.on(once(id));
    assert_eq!(answers(&commands), [PressHow::Private(Line::NotDecider)]);
    assert_eq!(decisions(&commands), []);
}

#[test]
fn a_reply_of_one_word_decides_and_never_reaches_the_engine() {
    let cases = [
        (OPERATOR, "once", Some(Answer::Once)),
        (OPERATOR, " ONCE\n", Some(Answer::Once)),
        (OPERATOR, "Deny", Some(Answer::Denied)),
        (ANA, "once", None),
    ];
    for (who, text, answer) in cases {
        let (mut world, _) = carded();
        let commands = world.on(reply_to_card(2000, who, text));
        assert_eq!(decisions(&commands).first().copied(), answer, "{text}");
        let lines: Vec<_> = posts(&commands)
            .into_iter()
            .map(|post| post.content)
            .collect();
        let want: &[&str] = if answer.is_some() {
            &[]
        } else {
            &[Line::NotDecider.text()]
        };
        assert_eq!(lines, want, "{text}");
        assert!(!world.connector.durable().is_open(row(2000)), "{text}");
        let again = world.on(reply_to_card(2000, who, text));
        assert_eq!(decisions(&again), [], "a repeat of {text}");
    }
}

#[test]
fn any_other_word_to_a_card_is_an_ordinary_message() {
    for text in [
        "",
        "ok",
        "once please",
        "approve",
        "yes",
        "once.",
        "deny it",
        "o n c e",
    ] {
        let (mut world, _) = carded();
        let commands = world.on(reply_to_card(2000, OPERATOR, text));
        assert_eq!(decisions(&commands), [], "{text}");
        assert!(world.connector.durable().is_open(row(2000)), "{text}");
    }
}

#[test]
fn a_stranger_and_a_bot_are_dropped_as_ever_when_they_reply_to_a_card() {
    let (mut world, _) = carded();
    let commands = world.on(reply_to_card(2000, EVE, "once"));
    assert_eq!((decisions(&commands).len(), posts(&commands).len()), (0, 0));
    assert!(matches!(commands[..], [Command::Drop(_)]), "{commands:?}");
}

#[test]
fn an_edit_never_decides() {
    let (mut world, _) = carded();
    let _ = world.on(reply_to_card(2000, OPERATOR, "let me think"));
    let Input::Said(said) = reply_to_card(2000, OPERATOR, "once") else {
        unreachable!("a reply is said")
    };
    let edited = guildhall_authority::event::Edited { said: *said };
    let commands = world.on(Input::Edited(Box::new(edited)));
    assert_eq!(decisions(&commands), []);
}

#[test]
fn the_terminal_decides_too_with_once_or_deny_and_nothing_else() {
    for answer in [Answer::Once, Answer::Denied] {
        let (mut world, id) = carded();
        for no in [
            Answer::TimedOut,
            Answer::Undelivered,
            Answer::Withdrawn,
            Answer::Stopped,
        ] {
            assert_eq!(
                decisions(&world.on(Input::Ordered(Order::Decide(id, no)))),
                []
            );
        }
        let commands = world.on(Input::Ordered(Order::Decide(id, answer)));
        assert_eq!(decisions(&commands), [answer]);
    }
}

#[test]
fn no_answer_in_time_is_a_no_of_its_own_and_takes_no_time_of_the_turn() {
    let (mut world, id) = carded();
    assert_eq!(decisions(&world.pass(299_000)), []);
    let commands = world.pass(1_000);
    assert_eq!(decisions(&commands), [Answer::TimedOut]);
    assert!(edits(&commands)[0].contains("Nobody answered in time"));
    let late = world.on(once(id));
    assert_eq!(answers(&late), [PressHow::Private(Line::AskTimedOut)]);

    // A turn of 600 seconds whose asks wait 300 each still has what it had.
    let mut world = World::serving(with_operator());
    let _ = world.say(1000, "write it down");
    let _ = world.pass(1_000);
    let timeout = u64::try_from(with_operator().limits.turn_timeout.as_millis()).expect("small");
    for call in 0..4 {
        let _ = world.on(Input::Asked(spec(1000, call)));
        let _ = world.pass(300_000);
    }
    let aborts = |commands: &[Command]| commands.iter().any(|it| matches!(it, Command::Abort(_)));
    assert!(!aborts(&world.pass(timeout - 2_000)));
    assert!(aborts(&world.pass(2_000)));
}

#[test]
fn whatever_ends_an_open_ask_ends_it_once() {
    type Happens = fn(&mut World, AskId) -> Vec<Command>;
    let cases: [(&str, Happens, Answer); 7] = [
        (
            "the call is gone",
            |world, id| world.on(Input::AskGone(id)),
            Answer::Withdrawn,
        ),
        (
            "the turn ends",
            |world, _| world.answer(1000, "done"),
            Answer::Withdrawn,
        ),
        (
            "the turn is aborted",
            |world, _| world.on(Input::Ordered(Order::Abort(row(1000)))),
            Answer::Withdrawn,
        ),
        (
            "a drain",
            |world, _| world.on(Input::Ordered(Order::Drain)),
            Answer::Stopped,
        ),
        (
            "STOP",
            |world, _| {
                world.stop(Brake::On);
                world.pass(1_000)
            },
            Answer::Stopped,
        ),
        (
            "ESTOP",
            |world, _| {
                world.at.brakes.estop = Brake::On;
                world.pass(1_000)
            },
            Answer::Stopped,
        ),
        (
            "the deadline",
            |world, _| world.pass(300_000),
            Answer::TimedOut,
        ),
    ];
    for (name, happens, answer) in cases {
        let (mut world, id) = carded();
        let commands = happens(&mut world, id);
        assert_eq!(decisions(&commands), [answer], "{name}");
        assert_eq!(edits(&commands).len(), 1, "{name}");
        assert_eq!(decisions(&world.on(once(id))), [], "{name}");
        let _ = edited(&mut world, id);
        assert!(is_closed(&world), "{name}");
    }
}

#[test]
fn nothing_is_asked_under_a_brake_while_draining_or_of_a_turn_that_is_over() {
    type Before = fn(&mut World);
    let cases: [(Before, Answer); 3] = [
        (|world| world.stop(Brake::On), Answer::Stopped),
        (
            |world| drop(world.on(Input::Ordered(Order::Drain))),
            Answer::Stopped,
        ),
        (|world| drop(world.answer(1000, "done")), Answer::Withdrawn),
    ];
    for (before, answer) in cases {
        let mut world = World::serving(with_operator());
        let _ = world.say(1000, "write it down");
        before(&mut world);
        let commands = world.on(Input::Asked(spec(1000, 0)));
        assert_eq!(decisions(&commands), [answer]);
        assert_eq!(posts(&commands), []);
        assert!(is_closed(&world));
    }
}

#[test]
fn a_card_that_is_refused_is_told_apart_from_a_no() {
    let (mut world, _, post) = asking();
    let no = Receipt::Refused {
        kind: Refusal::NoAccess,
        code: Some(50_013),
    };
    let commands = world.on(Input::Sent(post.nonce, no));
    assert_eq!(decisions(&commands), [Answer::Undelivered]);
    assert!(is_closed(&world));
}

#[test]
fn a_press_on_a_card_whose_answer_was_lost_tells_which_message_it_is() {
    let (mut world, id, post) = asking();
    let unknown = Receipt::Unknown(UnknownWhy::NoAnswer);
    let _ = world.on(Input::Sent(post.nonce, unknown));
    let commands = world.on(once(id));
    assert_eq!(decisions(&commands), [Answer::Once]);
    assert_eq!(edits(&commands).len(), 1);
    assert_eq!(world.connector.open_deliveries(), []);
}

#[test]
fn a_card_is_not_sent_any_more_once_its_ask_has_ended() {
    let (mut world, id, post) = asking();
    let _ = world.on(Input::Sent(post.nonce, Receipt::NotSent { wait_ms: 5_000 }));
    let commands = world.on(Input::AskGone(id));
    assert_eq!(posts(&commands), []);
    assert!(is_closed(&world));
    assert_eq!(posts(&world.pass(60_000)), []);
}

#[test]
fn a_turn_that_fails_after_a_change_does_not_say_that_nothing_was_done() {
    let refused = CallEnd::Refused { why: "gone".into() };
    for (changes, line) in [
        (None, Line::RawToolCall),
        (Some(refused), Line::RawToolCall),
        (Some(CallEnd::Done), Line::RawToolCallLate),
    ] {
        let (mut world, id) = carded();
        let _ = world.on(once(id));
        if let Some(end) = changes {
            let _ = world.on(Input::CallBegins(begun(Some(id), 0)));
            let turn = TurnKey::new("1000");
            let _ = world.on(Input::CallEnds(CallEnded { turn, call: 0, end }));
        }
        let commands = world.fail(1000, RunFailure::RawToolCall);
        let said = posts(&commands).into_iter().map(|post| post.content);
        assert_eq!(said.collect::<Vec<_>>(), [line.text()]);
    }
}
