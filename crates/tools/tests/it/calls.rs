//! Names, ids, arguments, limits, and the end of a turn.

use crate::scene::{PATIENCE, Scene, code};
use guildhall_authority::scope::Origin;
use guildhall_tools::{CallTools, NoTools, Outcome, ToolCall, ToolResult};
use serde_json::{Value, json};

fn read_a() -> Value {
    json!({"root": "docs", "path": "a.txt"})
}

async fn raw(turn: &crate::scene::TestTurn, name: &str, arguments: &str) -> ToolResult {
    let work = turn.tools.call(turn.call_of(name, arguments));
    tokio::time::timeout(PATIENCE, work).await.expect("in time")
}

#[tokio::test]
async fn arguments_that_do_not_fit_are_refused_without_a_word_of_them() {
    let scene = Scene::new();
    scene.put("docs/a.txt", "alpha\n");
    let turn = scene.turn();
    let cases = [
        ("", "the arguments are not JSON"),
        ("{", "the arguments are not JSON"),
        ("[]", "the arguments are no JSON object"),
        ("null", "the arguments are no JSON object"),
        (r#"{"root":"docs","path":123}"#, "`path` must be a text"),
        (r#"{"root":"docs"}"#, "`path` is missing"),
        (
            r#"{"root":"docs","path":"a.txt","follow":true}"#,
            "there is an argument that the tool does not have",
        ),
        (
            r#"{"root":"docs","path":"b.txt","path":"a.txt"}"#,
            "an argument is given twice",
        ),
        (
            r#"{"root":"docs","path":"a.txt"} {}"#,
            "the arguments are not JSON",
        ),
    ];
    for (arguments, sentence) in cases {
        let result = raw(&turn, "read_file", arguments).await;
        assert_eq!(result.outcome, Outcome::Refused, "{arguments}");
        assert_eq!(
            result.text,
            format!("bad-arguments: {sentence}"),
            "{arguments}"
        );
    }
    let flag = r#"{"root":"docs","pattern":"a","regex":"yes"}"#;
    let result = raw(&turn, "search", flag).await;
    assert_eq!(result.text, "bad-arguments: `regex` must be true or false");
}

#[tokio::test]
async fn roots_are_known_by_their_exact_names() {
    let scene = Scene::new();
    scene.put("docs/a.txt", "alpha\n");
    let turn = scene.turn();
    for name in ["nope", "../docs", "Docs", "docs/", ""] {
        let arguments = json!({"root": name, "path": "a.txt"});
        assert_eq!(
            turn.refused("read_file", arguments).await,
            "unknown-root",
            "{name}"
        );
    }
    let arguments = json!({"root": "docs", "path": "b.txt", "text": "x"});
    assert_eq!(turn.refused("write_file", arguments).await, "root-readonly");
}

#[tokio::test]
async fn tools_that_the_turn_does_not_have_are_refused_and_named_by_nobody() {
    let scene = Scene::new();
    let turn = scene.turn();
    for name in ["web_fetch", "git_commit", "bash", "", "read_file\n"] {
        assert_eq!(turn.refused(name, json!({})).await, "not-offered", "{name}");
    }
    let names: Vec<String> = turn
        .tools
        .uses()
        .into_iter()
        .map(|used| used.name)
        .collect();
    assert_eq!(
        names,
        ["web_fetch", "git_commit", "unknown", "unknown", "unknown"]
    );
}

#[tokio::test]
async fn a_workspaces_tool_answers_to_its_name_on_the_wire_too() {
    let scene = Scene::new();
    scene.put("site/a.txt", "alpha\n");
    let turn = scene.turn();
    assert_eq!(
        turn.done("workspace_read", json!({"path": "a.txt"})).await,
        "alpha\n"
    );
    assert_eq!(turn.tools.uses()[0].name, "read");
}

#[tokio::test]
async fn one_id_is_good_for_one_call() {
    let scene = Scene::new();
    scene.put("docs/a.txt", "alpha\n");
    let turn = scene.turn();
    let call = turn.call_of("read_file", &read_a().to_string());
    assert_eq!(turn.tools.call(call.clone()).await.outcome, Outcome::Done);
    assert_eq!(code(&turn.tools.call(call.clone()).await), "call-id");
    let long = ToolCall {
        id: "x".repeat(513),
        ..call
    };
    assert_eq!(code(&turn.tools.call(long).await), "call-id");
    let outcomes: Vec<String> = turn
        .tools
        .uses()
        .into_iter()
        .map(|used| used.outcome)
        .collect();
    assert_eq!(outcomes, ["done", "refused", "refused"]);
}

#[tokio::test]
async fn the_ninth_call_of_a_message_and_all_after_it_are_refused_until_the_next() {
    let scene = Scene::with(
        |place| json!({"maxCallsPerTurn": 8, "roots": [{"name": "docs", "path": place.join("docs")}]}),
    );
    scene.put("docs/a.txt", "alpha\n");
    let turn = scene.turn();
    assert_eq!(turn.refused("bash", json!({})).await, "not-offered");
    for _ in 0..7 {
        turn.done("read_file", read_a()).await;
    }
    for _ in 0..100 {
        assert_eq!(turn.refused("read_file", read_a()).await, "call-limit");
    }
    // An engine that calls for ever fills nothing.
    assert_eq!(turn.tools.uses().len(), 8 + 64);
    scene.turn().done("read_file", read_a()).await;
}

#[tokio::test]
async fn calls_after_the_turn_are_revoked_and_leave_no_trace() {
    let scene = Scene::new();
    scene.put("docs/a.txt", "alpha\n");
    let write = json!({"root": "notes", "path": "b.txt", "text": "x"});
    let turn = scene.turn();
    let call = turn.call_of("write_file", &write.to_string());
    let late = turn.tools.call(call.clone());
    turn.tools.end();
    assert_eq!(code(&late.await), "revoked");
    assert_eq!(code(&turn.tools.call(call).await), "revoked");
    assert_eq!(turn.refused("read_file", read_a()).await, "revoked");
    assert!(!scene.at("notes/b.txt").exists());
    assert_eq!(turn.tools.uses(), []);
    assert_eq!(scene.desk.seen(), []);
}

#[tokio::test]
async fn a_turn_without_tools_is_told_of_none() {
    let scene = Scene::new();
    let turn = scene.turn_of(Origin::Schedule);
    assert!(turn.tools.specs().is_empty());
    assert_eq!(turn.refused("list_dir", json!({})).await, "not-offered");
    assert!(NoTools.specs().is_empty());
}

#[tokio::test]
async fn a_refusal_names_no_place_of_the_host() {
    let scene = Scene::new();
    scene.put("out/secret", "OUTSIDE\n");
    std::os::unix::fs::symlink(scene.at("out/secret"), scene.at("docs/l")).expect("links");
    let turn = scene.turn();
    let place = scene.at("").to_string_lossy().into_owned();
    let cases = [
        ("read_file", json!({"root": "docs", "path": "l"}), "symlink"),
        (
            "read_file",
            json!({"root": "docs", "path": place}),
            "absolute",
        ),
        (
            "read_file",
            json!({"root": "docs", "path": "../out/secret"}),
            "parent-segment",
        ),
        (
            "read_file",
            json!({"root": "docs", "path": "nope"}),
            "not-found",
        ),
        ("list_dir", json!({"root": "docs", "path": "l"}), "symlink"),
        (
            "search",
            json!({"root": "docs", "pattern": "(", "regex": true}),
            "bad-pattern",
        ),
        (
            "write_file",
            json!({"root": "notes", "path": "a/b", "text": ""}),
            "parent-missing",
        ),
    ];
    for (tool, arguments, want) in cases {
        let result = turn.call(tool, arguments).await;
        assert_eq!(code(&result), want, "{tool}");
        assert!(
            !result.text.contains(&place) && !result.text.contains("OUTSIDE"),
            "{tool}"
        );
    }
}

#[tokio::test]
async fn no_credential_leaves_through_a_tool_or_enters_a_file_through_one() {
    let scene = Scene::new();
    let token = format!("ghp_{}", "0123456789abcdefABCDEF0123456789abcd");
    scene.put("docs/env.txt", format!("alpha\nkey = {token}\n"));
    scene.put("docs/b.txt", "alpha\n");
    let turn = scene.turn();
    let read = json!({"root": "docs", "path": "env.txt"});
    assert_eq!(turn.refused("read_file", read).await, "secret-shape");
    let text = turn
        .done("search", json!({"root": "docs", "pattern": "alpha"}))
        .await;
    assert!(text.starts_with("b.txt:1: alpha\n1 hit;"), "{text}");
    assert!(
        text.contains("left out") && text.contains("env.txt"),
        "{text}"
    );
    let write = json!({"root": "notes", "path": "a.txt", "text": token});
    assert_eq!(turn.refused("write_file", write).await, "secret-shape");
    let create = json!({"path": token, "text": "x"});
    assert_eq!(turn.refused("create", create).await, "secret-shape");
    let uses = turn.tools.uses();
    assert!(
        uses.iter()
            .all(|used| !format!("{used:?}").contains(&token))
    );
    assert_eq!(uses[3].path.as_deref(), Some("<masked>"));
    assert_eq!(scene.desk.seen(), []);
}
