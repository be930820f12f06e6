//! A route's conversation across runs, restarts and models with little room.

use super::{native, parts};
use crate::{
    contract,
    provider::{Provider, Step, answers, status, stream_head, text},
    support::{answer, observe, outcome, request},
};
use guildhall_connector::run::{RunFailure, RunOutcome};
use guildhall_engine::{Native, NativeParts};
use std::os::unix::fs::PermissionsExt as _;

fn asked(seen: &crate::provider::Seen) -> Vec<String> {
    let messages = seen.body["messages"].as_array().expect("messages");
    let last_line = |text: &str| text.lines().last().unwrap_or_default().to_owned();
    let talk = messages.iter().skip(1);
    talk.map(|message| last_line(message["content"].as_str().expect("text")))
        .collect()
}

#[tokio::test]
async fn a_conversation_goes_on_after_a_restart_and_stays_on_its_route() {
    let root = tempfile::tempdir().expect("a folder");
    let provider = Provider::play(vec![answers("A"), answers("B"), answers("C")]).await;
    answer(
        &native(root.path(), &provider),
        request("thread-5", "1", "first"),
    )
    .await;
    let later = native(root.path(), &provider);
    answer(&later, request("thread-5", "2", "second")).await;
    answer(&later, request("seat", "3", "other")).await;
    let seen = provider.seen();
    assert_eq!(asked(&seen[1]), ["first", "A", "second"]);
    assert_eq!(asked(&seen[2]), ["other"]);

    let file = root
        .path()
        .join("sessions/discord-oak/thread-5/native.jsonl");
    let mode = std::fs::metadata(&file)
        .expect("there")
        .permissions()
        .mode();
    assert_eq!(mode & 0o7777, 0o600);
    let kept = std::fs::read_to_string(&file).expect("there");
    assert!(!kept.contains("sk-do-not-tell") && !kept.contains("Be brief"));
}

#[tokio::test]
async fn turns_without_an_answer_are_not_remembered() {
    let root = tempfile::tempdir().expect("a folder");
    let provider = Provider::play(vec![
        status("401 Unauthorized", "", "{}"),
        vec![stream_head(), text("half"), Step::Hold],
        answers("yes"),
    ])
    .await;
    let engine = native(root.path(), &provider);
    outcome(&engine, request("seat", "1", "refused")).await;
    contract::an_abort_ends_the_run(&engine, request("seat", "2", "aborted")).await;
    answer(&engine, request("seat", "3", "answered")).await;
    assert_eq!(asked(&provider.seen()[2]), ["answered"]);
}

#[tokio::test]
async fn a_model_with_little_room_is_asked_again_with_less() {
    let root = tempfile::tempdir().expect("a folder");
    let long = "word ".repeat(4_000);
    let full = || {
        let body = "{\"error\":{\"code\":400,\"type\":\"exceed_context_size_error\"}}";
        status("400 Bad Request", "", body)
    };
    let provider = Provider::play(vec![
        answers(&long),
        answers(&long),
        full(),
        full(),
        answers("yes"),
    ])
    .await;
    let engine = native(root.path(), &provider);
    for turn in ["1", "2"] {
        answer(&engine, request("seat", turn, "tell")).await;
    }
    assert_eq!(answer(&engine, request("seat", "3", "and?")).await, ["yes"]);
    let lengths: Vec<usize> = provider
        .seen()
        .iter()
        .map(|seen| asked(seen).len())
        .collect();
    assert_eq!(lengths, [1, 3, 5, 3, 1]);
    let last = provider.seen()[4].body["messages"][1]["content"].to_string();
    assert!(last.contains("left out here: 2."), "{last}");
}

#[tokio::test]
async fn an_ask_that_is_too_long_by_itself_is_refused() {
    let root = tempfile::tempdir().expect("a folder");
    let body = "{\"error\":{\"code\":\"context_length_exceeded\"}}";
    let provider = Provider::play(vec![status("400 Bad Request", "", body), answers("no")]).await;
    let run = observe(
        &native(root.path(), &provider),
        request("seat", "1", "hello"),
    );
    let refused = RunOutcome::Failed(RunFailure::ProviderRefused);
    assert_eq!(run.ended().await.1.outcome, refused);
    assert_eq!(provider.seen().len(), 1);
}

#[tokio::test]
async fn a_session_of_a_later_version_is_not_touched() {
    let root = tempfile::tempdir().expect("a folder");
    let provider = Provider::play(vec![answers("yes"), answers("no")]).await;
    let engine = native(root.path(), &provider);
    answer(&engine, request("seat", "1", "hello")).await;
    let file = root.path().join("sessions/discord-oak/seat/native.jsonl");
    std::fs::write(&file, "{\"v\":2,\"k\":\"page\"}\n").expect("room");
    let unavailable = RunOutcome::Failed(RunFailure::EngineUnavailable);
    assert_eq!(
        outcome(&engine, request("seat", "2", "hello")).await,
        unavailable
    );
    assert_eq!(
        std::fs::read(&file).expect("there"),
        b"{\"v\":2,\"k\":\"page\"}\n"
    );
}

#[tokio::test]
async fn the_folder_of_practice_is_kept_when_the_engine_is_switched() {
    let root = tempfile::tempdir().expect("a folder");
    let practice = guildhall_engine::Practice::new(guildhall_engine::PracticeParts {
        sessions_folder: root.path().join("sessions/discord-oak"),
        delay: std::time::Duration::ZERO,
    });
    answer(&practice, request("seat", "1", "is it late")).await;
    let provider = Provider::play(vec![answers("yes")]).await;
    let engine = Native::new(NativeParts {
        thinking: Some("low".to_owned()),
        ..parts(root.path(), &provider)
    })
    .expect("good settings");
    answer(&engine, request("seat", "2", "hello")).await;
    let said = answer(&practice, request("seat", "3", "what did I ask before?")).await;
    assert!(said[0].contains("is it late"), "{said:?}");
}
