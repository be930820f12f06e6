//! Budgets and compaction of conversations.

use super::*;

fn exchange(number: usize, answer_bytes: usize) -> Exchange {
    Exchange {
        turn: number.to_string(),
        asked: format!("[guildhall message_id=\"{number}\"]\nask {number}"),
        answered: "a".repeat(answer_bytes),
    }
}

fn conversation(root: &tempfile::TempDir) -> Transcript {
    Transcript::open(&root.path().join("s"), "seat").expect("a session")
}

fn texts(messages: &[Message]) -> Vec<&str> {
    messages
        .iter()
        .map(|message| message.text.as_str())
        .collect()
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
    let messages = conversation(&root).messages("now", 10_000);
    let first = exchange(1, 3);
    let second = exchange(2, 3);
    assert_eq!(
        texts(&messages),
        [&first.asked, "aaa", &second.asked, "aaa", "now"]
    );
    for (at, message) in messages.iter().enumerate() {
        let want = if at % 2 == 0 {
            Role::User
        } else {
            Role::Assistant
        };
        assert_eq!(message.role, want);
    }
}

#[test]
fn the_oldest_turns_go_first_and_are_named() {
    let root = root();
    for number in 1..=10 {
        conversation(&root).keep(exchange(number, 3_000), 100_000);
    }
    let messages = conversation(&root).messages("now", 4_500);
    assert_eq!(messages.len(), 7, "three turns and the ask");
    let first = &messages[0].text;
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
        let messages = conversation(&root).messages("now", budget);
        assert_eq!(messages.len(), 1);
        assert!(messages[0].text.ends_with("\n\nnow"));
        assert!(messages[0].role == Role::User);
    }
}

#[test]
fn what_is_sent_fits_the_budget() {
    let root = root();
    for number in 1..=40 {
        conversation(&root).keep(exchange(number, 97 * number % 700), 100_000);
    }
    for budget in (1_200..20_000).step_by(377) {
        let messages = conversation(&root).messages("now", budget);
        let sum: usize = messages.iter().map(|message| estimate(&message.text)).sum();
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
    let first = &transcript.messages("now", 80_000)[0].text;
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
