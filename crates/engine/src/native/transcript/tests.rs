//! Budgets and compaction of conversations.

use super::*;
use crate::native::api::Called;
use guildhall_tools::Outcome;
use std::{sync::Arc, sync::atomic::Ordering, time::Duration};

fn exchange(number: usize, answer_bytes: usize) -> Exchange {
    Exchange {
        turn: number.to_string(),
        asked: format!("[guildhall message_id=\"{number}\"]\nask {number}"),
        steps: Vec::new(),
        answered: "a".repeat(answer_bytes),
    }
}

fn step(result_bytes: usize) -> Step {
    Step {
        text: "I look.".to_owned(),
        thoughts: Vec::new(),
        calls: vec![Called {
            id: "a".to_owned(),
            name: "read".to_owned(),
            arguments: "{\"path\":\"x\"}".to_owned(),
            outcome: Outcome::Done,
            result: "r".repeat(result_bytes),
        }],
    }
}

fn with_steps(number: usize, steps: &[Step]) -> Exchange {
    Exchange {
        steps: steps.iter().map(KeptStep::from).collect(),
        ..exchange(number, 3)
    }
}

fn conversation(root: &tempfile::TempDir) -> Transcript {
    let file = SessionFile::of(&root.path().join("s"), "seat", "native.jsonl").expect("a route");
    Transcript::read(file).expect("a session")
}

fn sent(transcript: &Transcript, budget: usize) -> Vec<Message> {
    transcript
        .messages("now", &[], budget, Shown::Calls)
        .messages
}

/// A message's text as it counts against the budget.
fn text(message: &Message) -> String {
    match message {
        Message::User(text) | Message::Assistant(text) => text.clone(),
        Message::Step(step) => format!("{step:?}"),
    }
}

fn texts(messages: &[Message]) -> Vec<String> {
    messages.iter().map(text).collect()
}

fn root() -> tempfile::TempDir {
    tempfile::tempdir().expect("a folder")
}

#[test]
fn turns_come_back_in_order_and_roles_alternate() {
    let root = root();
    for number in 1..=2 {
        conversation(&root).keep(exchange(number, 3), 10_000);
    }
    let messages = sent(&conversation(&root), 10_000);
    let first = exchange(1, 3);
    let second = exchange(2, 3);
    assert_eq!(
        texts(&messages),
        [first.asked.as_str(), "aaa", &second.asked, "aaa", "now"]
    );
    for (at, message) in messages.iter().enumerate() {
        assert_eq!(at % 2 == 0, matches!(message, Message::User(_)));
    }
}

#[test]
fn the_oldest_turns_go_first_and_are_named() {
    let root = root();
    for number in 1..=10 {
        conversation(&root).keep(exchange(number, 3_000), 100_000);
    }
    let messages = sent(&conversation(&root), 4_500);
    assert_eq!(messages.len(), 7, "three turns and the ask");
    let first = &text(&messages[0]);
    assert!(first.contains("left out here: 7."), "{first}");
    assert!(first.contains("\n> ask 7)"), "{first}");
    assert!(
        !first.contains("> ask 1\n"),
        "only the last ones are named: {first}"
    );
    assert!(first.ends_with("\nask 8"), "{first}");
}

#[test]
fn a_budget_that_holds_nothing_still_holds_the_ask() {
    let root = root();
    conversation(&root).keep(exchange(1, 30), 100);
    for budget in [0, 1, 100] {
        let messages = sent(&conversation(&root), budget);
        assert_eq!(messages.len(), 1);
        assert!(text(&messages[0]).ends_with("\n\nnow"));
        assert!(matches!(messages[0], Message::User(_)));
    }
}

#[test]
fn what_is_sent_fits_the_budget() {
    let root = root();
    for number in 1..=40 {
        conversation(&root).keep(exchange(number, 97 * number % 700), 100_000);
    }
    for budget in (1_200..20_000).step_by(377) {
        let messages = sent(&conversation(&root), budget);
        let sum: usize = messages
            .iter()
            .map(|message| estimate(&text(message)))
            .sum();
        assert!(sum <= budget, "{sum} tokens of {budget}");
    }
}

#[test]
fn a_long_file_is_compacted_and_remembers_how_much_is_gone() {
    let root = root();
    let file = root.path().join("s/seat/native.jsonl");
    for number in 1..=12 {
        conversation(&root).keep(exchange(number, 100_000), 80_000);
    }
    let bytes = std::fs::metadata(&file).expect("there").len();
    assert!(bytes < FILE_MAX_BYTES / 2, "{bytes}");
    let transcript = conversation(&root);
    assert_eq!(transcript.left_out + transcript.turns.len() as u64, 12);
    assert!(transcript.turns.len() >= 2);
    let first = &text(&sent(&transcript, 80_000)[0]);
    assert!(first.starts_with("(Earlier turns"), "{}", &first[..80]);
}

#[test]
fn a_turn_that_a_crash_tore_is_left_out_whole() {
    let root = root();
    let file = root.path().join("s/seat/native.jsonl");
    for number in 1..=2 {
        conversation(&root).keep(exchange(number, 3), 10_000);
    }
    let bytes = std::fs::read(&file).expect("there");
    std::fs::write(&file, &bytes[..bytes.len() - 4]).expect("room");
    conversation(&root).keep(exchange(3, 3), 10_000);
    let ids: Vec<String> = conversation(&root)
        .turns
        .into_iter()
        .map(|t| t.turn)
        .collect();
    assert_eq!(ids, ["1", "3"]);
}

#[test]
fn a_call_and_its_result_come_back_together_or_not_at_all() {
    let root = root();
    for number in 1..=30 {
        conversation(&root).keep(with_steps(number, &[step(900), step(5)]), 100_000);
    }
    let transcript = conversation(&root);
    for budget in (1_000..40_000).step_by(501) {
        let messages = sent(&transcript, budget);
        let users = messages
            .iter()
            .filter(|m| matches!(m, Message::User(_)))
            .count();
        let steps = messages
            .iter()
            .filter(|m| matches!(m, Message::Step(_)))
            .count();
        let said = messages
            .iter()
            .filter(|m| matches!(m, Message::Assistant(_)))
            .count();
        assert_eq!(
            (users - 1, (users - 1) * 2),
            (said, steps),
            "whole turns at {budget}"
        );
    }
    let without = transcript
        .messages("now", &[], 100_000, Shown::Texts)
        .messages;
    assert!(
        without
            .iter()
            .all(|message| !matches!(message, Message::Step(_)))
    );
    assert_eq!(text(&without[1]), "I look.\n\nI look.\n\naaa");
}

#[test]
fn ids_of_earlier_turns_are_all_different() {
    let root = root();
    for number in 1..=5 {
        conversation(&root).keep(with_steps(number, &[step(5), step(5)]), 100_000);
    }
    let messages = sent(&conversation(&root), 100_000);
    let ids = messages.iter().filter_map(|message| match message {
        Message::Step(step) => Some(step.calls[0].id.clone()),
        Message::User(_) | Message::Assistant(_) => None,
    });
    let ids: std::collections::BTreeSet<String> = ids.collect();
    assert_eq!(ids.len(), 10);
}

#[test]
fn long_results_and_arguments_are_kept_in_part_and_say_so() {
    let root = root();
    let mut long = step(100_000);
    long.calls[0].arguments = serde_json::json!({"text": "t".repeat(50_000)}).to_string();
    conversation(&root).keep(with_steps(1, &[long]), 100_000);
    let kept = &conversation(&root).turns[0].steps[0].calls[0];
    assert!(kept.result.len() < 5_000 && kept.result.ends_with("bytes more)"));
    let arguments: serde_json::Value = serde_json::from_str(&kept.arguments).expect("JSON");
    assert!(arguments.is_object() && kept.arguments.len() < 100);
}

#[test]
fn the_turn_at_work_is_sent_whole_until_it_is_over_its_share() {
    let root = root();
    let transcript = conversation(&root);
    let steps = [step(90_000), step(300)];
    let results = |budget| {
        let sent = transcript.messages("now", &steps, budget, Shown::Calls);
        let lengths: Vec<usize> = sent
            .messages
            .iter()
            .filter_map(|message| match message {
                Message::Step(step) => Some(step.calls[0].result.len()),
                Message::User(_) | Message::Assistant(_) => None,
            })
            .collect();
        (lengths, sent.shrinks)
    };
    assert_eq!(results(24_000), (vec![90_000, 300], true));
    let (cut, shrinks) = results(3_000);
    assert!(cut[0] < 20_000 && cut[1] == 300 && shrinks, "{cut:?}");
    let (cut, shrinks) = results(10);
    assert!(cut[0] < 1_100 && !shrinks, "{cut:?}");
}

#[test]
fn a_line_of_before_there_were_tools_is_read() {
    let root = root();
    conversation(&root).keep(exchange(1, 3), 10_000);
    let file = root.path().join("s/seat/native.jsonl");
    let line = std::fs::read_to_string(&file).expect("there");
    assert!(
        line.starts_with("{\"v\":1,\"k\":\"turn\",\"turn\":\"1\",\"asked\":"),
        "{line}"
    );
    assert!(!line.contains("steps"), "{line}");
    conversation(&root).keep(with_steps(2, &[step(5)]), 10_000);
    let turns = conversation(&root).turns;
    assert_eq!(
        (turns.len(), turns[0].steps.len(), turns[1].steps.len()),
        (2, 0, 1)
    );
}

#[tokio::test(start_paused = true)]
async fn a_warm_route_is_read_once_and_a_changed_file_again() {
    let root = root();
    let all = Arc::new(Conversations::new(
        root.path().join("s"),
        Duration::from_secs(300),
    ));
    let reads = || all.reads.load(Ordering::SeqCst);
    for number in 1..=20 {
        let transcript = all.open("seat").await.expect("a session");
        assert_eq!(transcript.turns.len(), number - 1);
        all.keep("seat", transcript, exchange(number, 3), 10_000);
    }
    assert_eq!(reads(), 1, "twenty turns");

    let file = root.path().join("s/seat/native.jsonl");
    std::fs::write(&file, "").expect("ours");
    assert!(all.open("seat").await.expect("a session").turns.is_empty());
    assert_eq!(reads(), 2, "somebody emptied the file");

    all.open("seat").await.expect("a session");
    tokio::time::advance(Duration::from_secs(301)).await;
    all.open("seat").await.expect("a session");
    assert_eq!(reads(), 3, "the route went cold");
}

#[tokio::test]
async fn without_idle_time_nothing_is_kept_in_memory() {
    let root = root();
    let all = Arc::new(Conversations::new(root.path().join("s"), Duration::ZERO));
    for number in 1..=3 {
        let transcript = all.open("seat").await.expect("a session");
        all.keep("seat", transcript, exchange(number, 3), 10_000);
    }
    assert_eq!(all.reads.load(Ordering::SeqCst), 3);
    assert_eq!(all.open("seat").await.expect("a session").turns.len(), 3);
}
