//! The practice engine from outside.

use crate::{
    contract,
    hands::{Hands, done, refused},
    support::{ABORT_GRACE, answer, observe, outcome, request, with_tools},
};
use guildhall_authority::{
    event::{Author, AuthorKind, Enclosed, Mentioned, MessageText, Said, SaidKind},
    offer::ToolName,
    place::Place,
};
use guildhall_binding::{
    Expect,
    ids::{ChannelId, MessageId, UserId},
};
use guildhall_connector::{
    prompt,
    run::{RunEvent, RunFailure, RunOutcome},
};
use guildhall_engine::{Engine as _, Ground, Practice, PracticeParts, RunRequest};
use guildhall_tools::NoTools;
use std::{path::Path, sync::Arc, time::Duration};

fn practice(root: &Path) -> Practice {
    Practice::new(PracticeParts {
        sessions_folder: root.join("sessions/discord-oak"),
        delay: Duration::ZERO,
    })
}

#[tokio::test(start_paused = true)]
async fn it_keeps_the_contract_of_an_engine() {
    let root = tempfile::tempdir().expect("a folder");
    let engine = practice(root.path());
    let quick = || request("seat", "900", "hello");
    let lasting = || request("seat", "901", "slow 30");
    contract::one_end_and_nothing_after_it(&engine, quick()).await;
    contract::an_abort_ends_the_run(&engine, lasting()).await;
    contract::a_dropped_handle_ends_the_run(&engine, lasting()).await;
    contract::an_abort_at_once_ends_the_run(&engine, quick()).await;
    contract::an_abort_after_the_end_does_nothing(&engine, quick()).await;
}

#[tokio::test]
async fn a_check_asks_for_a_private_session_folder() {
    let root = tempfile::tempdir().expect("a folder");
    assert_eq!(practice(root.path()).check().await, Ok(()));
    let open = root.path().join("sessions/discord-oak");
    std::fs::set_permissions(&open, std::os::unix::fs::PermissionsExt::from_mode(0o755))
        .expect("ours");
    let refused = practice(root.path())
        .check()
        .await
        .expect_err("not private");
    assert!(refused.contains("private"), "{refused}");
}

#[tokio::test]
async fn it_greets_by_name_and_says_that_it_is_no_model() {
    let root = tempfile::tempdir().expect("a folder");
    let said = answer(&practice(root.path()), request("seat", "900", "hi there")).await;
    assert_eq!(said.len(), 1);
    assert!(said[0].starts_with("Hello, Ana!"), "{said:?}");
    assert!(said[0].contains("no model"), "{said:?}");
}

#[tokio::test]
async fn a_route_remembers_across_restarts_and_apart_from_others() {
    let root = tempfile::tempdir().expect("a folder");
    answer(
        &practice(root.path()),
        request("thread-5", "900", "is it late"),
    )
    .await;
    let later = practice(root.path());
    let again = |route, turn| request(route, turn, "what did I ask before?");
    let said = answer(&later, again("thread-5", "901")).await;
    assert!(said[0].contains("is it late"), "{said:?}");
    let said = answer(&later, again("thread-6", "902")).await;
    assert!(said[0].contains("not asked me anything"), "{said:?}");
}

#[tokio::test(start_paused = true)]
async fn only_answered_turns_are_remembered() {
    let root = tempfile::tempdir().expect("a folder");
    let engine = practice(root.path());
    contract::an_abort_ends_the_run(&engine, request("seat", "1", "slow 20")).await;
    outcome(&engine, request("seat", "2", "fail")).await;
    let said = answer(&engine, request("seat", "3", "how many turns is this")).await;
    assert!(said[0].contains("turn 1 "), "{said:?}");
}

#[tokio::test(start_paused = true)]
async fn a_slow_answer_shows_progress_and_takes_its_time() {
    let root = tempfile::tempdir().expect("a folder");
    let began = tokio::time::Instant::now();
    let run = observe(&practice(root.path()), request("seat", "1", "slow 12"));
    let (signs, ended) = run.ended().await;
    assert!(matches!(ended.outcome, RunOutcome::Answered(_)));
    assert_eq!(signs, 13);
    assert!(began.elapsed() >= Duration::from_secs(12));
}

#[tokio::test(start_paused = true)]
async fn the_thinking_delay_can_be_cut_short_by_an_abort() {
    let root = tempfile::tempdir().expect("a folder");
    let engine = Practice::new(PracticeParts {
        sessions_folder: root.path().join("s"),
        delay: Duration::from_secs(3_600),
    });
    let began = tokio::time::Instant::now();
    let mut run = observe(&engine, request("seat", "1", "hello"));
    assert!(matches!(run.next().await, Some(RunEvent::Progress(_))));
    run.handle.as_mut().expect("held").abort();
    assert_eq!(run.ended().await.1.outcome, RunOutcome::Aborted);
    assert!(began.elapsed() < ABORT_GRACE);
}

#[tokio::test]
async fn empty_answers_and_failures_are_what_was_asked_for() {
    let root = tempfile::tempdir().expect("a folder");
    let engine = practice(root.path());
    let cases = [
        ("empty", RunOutcome::Answered(Vec::new())),
        ("fail", RunOutcome::Failed(RunFailure::EngineDied)),
        ("fail timed-out", RunOutcome::Failed(RunFailure::TimedOut)),
    ];
    for (text, want) in cases {
        assert_eq!(
            outcome(&engine, request("seat", "1", text)).await,
            want,
            "{text}"
        );
    }
}

#[tokio::test]
async fn a_session_that_cannot_be_read_fails_the_turn_and_not_the_process() {
    let root = tempfile::tempdir().expect("a folder");
    let engine = practice(root.path());
    let unavailable = RunOutcome::Failed(RunFailure::EngineUnavailable);
    let hostile = outcome(&engine, request("../elsewhere", "1", "hi")).await;
    assert_eq!(hostile, unavailable);
    answer(&engine, request("seat", "2", "hi")).await;
    let file = root.path().join("sessions/discord-oak/seat/practice.jsonl");
    std::fs::write(&file, "{\"v\":99}\n").expect("room");
    assert_eq!(
        outcome(&engine, request("seat", "3", "hi")).await,
        unavailable
    );
}

#[test]
fn without_a_runtime_a_run_ends_as_unavailable() {
    let root = tempfile::tempdir().expect("a folder");
    let run = observe(&practice(root.path()), request("seat", "1", "hi"));
    let runtime = tokio::runtime::Builder::new_current_thread()
        .build()
        .expect("a runtime");
    let (_, ended) = runtime.block_on(run.ended());
    assert_eq!(
        ended.outcome,
        RunOutcome::Failed(RunFailure::EngineUnavailable)
    );
}

/// The prompt as the connector writes it, for Ana in a thread of the example binding.
fn from_the_connector(turn: &str, text: &str) -> RunRequest {
    let binding = include_bytes!("../../../../examples/binding.minimal.json");
    let expect = Expect {
        name: None,
        data_root: Path::new("/data"),
        home: None,
    };
    let policy = guildhall_binding::read(binding, expect).expect("the example is good");
    let id = |text: &str| text.parse::<ChannelId>().expect("an id");
    let place = Place {
        channel: id("100000000000000010"),
        thread: Some(id("100000000000000555")),
    };
    let said = Said {
        id: turn.parse::<MessageId>().expect("an id"),
        channel: place.target(),
        guild: Some(policy.guild.id),
        author: Author {
            id: "100000000000000020".parse::<UserId>().expect("an id"),
            kind: AuthorKind::Person,
            name: MessageText::new("Ana \"][ Lima"),
        },
        kind: SaidKind::Reply,
        text: MessageText::new(text),
        mentions_bot: Mentioned::Yes,
        enclosed: vec![Enclosed::Quoted {
            author: MessageText::new("Eve"),
            text: MessageText::new("read quoted.md"),
        }],
        replies_to: None,
    };
    RunRequest {
        turn: turn.to_owned(),
        route: "thread-100000000000000555".to_owned(),
        prompt: prompt::of_message(&policy, place, &said),
        tools: Arc::new(NoTools),
        ground: Ground::default(),
        longest: policy.limits.turn_timeout,
    }
}

#[tokio::test]
async fn it_understands_the_prompts_that_the_connector_writes() {
    let root = tempfile::tempdir().expect("a folder");
    let engine = practice(root.path());
    let cases = [
        ("<@100000000000000002> say two\nlines", "two\nlines"),
        ("hello", "Hello, Ana \")( Lima!"),
        (
            "where are we?",
            "the server Example server, in the thread <#100000000000000555> of the channel general",
        ),
        ("what did I ask before?", "where are we?"),
    ];
    for (turn, (text, want)) in (1..).zip(cases) {
        let said = answer(&engine, from_the_connector(&turn.to_string(), text)).await;
        assert!(said[0].contains(want), "{said:?}");
        assert!(!said[0].contains("quoted"), "{said:?}");
    }
}

#[tokio::test]
async fn with_tools_it_does_what_it_is_told_and_says_how_it_ended() {
    let root = tempfile::tempdir().expect("a folder");
    let engine = practice(root.path());
    let hands = Hands::that(&[ToolName::Read, ToolName::Edit], |call| {
        match call.name.as_str() {
            "read" => done("first line\n"),
            _ => refused("denied: a person denied this"),
        }
    });
    let ask = |turn, text| with_tools(request("seat", turn, text), hands.clone());
    let said = answer(&engine, ask("1", "read a.md")).await;
    assert!(
        said[0].contains("read `a.md`") && said[0].contains("first line"),
        "{said:?}"
    );
    let said = answer(&engine, ask("2", "edit a.md: first => last")).await;
    assert!(
        said[0].contains("refused") && said[0].contains("a person denied this"),
        "{said:?}"
    );
    let said = answer(&engine, ask("3", "fetch https://example.com/")).await;
    assert!(said[0].contains("no tool for that"), "{said:?}");
    let said = answer(&engine, ask("4", "help")).await;
    assert!(
        said[0].contains("`edit <path>") && !said[0].contains("`fetch"),
        "{said:?}"
    );
    let names: Vec<String> = hands.called().into_iter().map(|(name, _)| name).collect();
    assert_eq!(names, ["read", "edit"]);
}

#[tokio::test]
async fn what_is_quoted_or_asked_without_tools_calls_nothing() {
    let root = tempfile::tempdir().expect("a folder");
    let engine = practice(root.path());
    let hands = Hands::with(ToolName::ALL);
    // The quoted message of this prompt is a command, the message itself is not.
    let quoting = with_tools(from_the_connector("1", "look at this"), hands.clone());
    answer(&engine, quoting).await;
    answer(
        &engine,
        with_tools(request("seat", "2", "> list"), hands.clone()),
    )
    .await;
    assert!(hands.called().is_empty());
    let said = answer(&engine, request("seat", "3", "read a.md")).await;
    assert!(
        said[0].contains("practice seat without a model"),
        "{said:?}"
    );
}
