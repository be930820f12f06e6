//! Tool calls: how they come, how they go back, how they end.

mod anthropic; // the same, as Anthropic speaks
mod ends; // bounds, aborts and failures around calls

use super::native;
use crate::{
    hands::{Hands, done, refused},
    provider::{Provider, Seen, Step, answers, calls, pieces},
    support::{answer, observe, request, texts, with_tools},
};
use guildhall_authority::offer::ToolName;
use guildhall_binding::RootWrite;
use guildhall_connector::run::{Ended, Progress, RunEvent};
use guildhall_engine::{Ground, RunRequest};
use serde_json::{Value, json};
use std::sync::Arc;

pub(super) const READ: &[ToolName] = &[ToolName::Read, ToolName::List];

/// The messages of a request, without the system prompt.
pub(super) fn messages(seen: &Seen) -> Vec<Value> {
    let all = seen.body["messages"].as_array().expect("messages");
    all[1..].to_vec()
}

pub(super) async fn ran(scripts: Vec<Vec<Step>>, hands: &Arc<Hands>) -> (Ended, Vec<Seen>) {
    let root = tempfile::tempdir().expect("a folder");
    let provider = Provider::play(scripts).await;
    let engine = native(root.path(), &provider);
    let run = observe(
        &engine,
        with_tools(request("seat", "1", "look"), hands.clone()),
    );
    let (_, ended) = run.ended().await;
    (ended, provider.seen())
}

pub(super) fn said(ended: Ended) -> Vec<String> {
    let texts = texts(ended.outcome);
    texts.iter().map(|text| text.as_str().to_owned()).collect()
}

fn pair(name: &str, arguments: &str) -> (String, String) {
    (name.to_owned(), arguments.to_owned())
}

#[tokio::test]
async fn a_call_is_carried_out_and_its_result_goes_back() {
    let hands = Hands::that(READ, |_| done("the file's text"));
    let scripts = vec![
        calls("I look.", &[("c1", "read", "{\"path\":\"a.md\"}")]),
        answers("It says so."),
    ];
    let (ended, seen) = ran(scripts, &hands).await;
    assert_eq!(hands.called(), [pair("read", "{\"path\":\"a.md\"}")]);
    assert_eq!((ended.engine_turns, ended.usage.input_tokens), (2, 80));
    assert!(ended.tools.is_empty(), "the host's own record counts");
    assert_eq!(said(ended), ["I look.", "It says so."]);
    let tools = seen[0].body["tools"].as_array().expect("tools");
    let names: Vec<&str> = tools
        .iter()
        .map(|tool| tool["function"]["name"].as_str().expect("a name"))
        .collect();
    assert_eq!(names, ["read", "list"]);
    assert_eq!(
        messages(&seen[1])[1..],
        [
            json!({"role": "assistant", "content": "I look.", "tool_calls": [{"id": "c1",
                "type": "function",
                "function": {"name": "read", "arguments": "{\"path\":\"a.md\"}"}}]}),
            json!({"role": "tool", "tool_call_id": "c1", "content": "the file's text"}),
        ]
    );
}

#[tokio::test]
async fn several_calls_of_a_message_are_made_in_order_and_all_go_back() {
    let hands = Hands::that(READ, |call| match call.arguments.contains("no.md") {
        true => refused("not-found: there is no such file"),
        false => done(&call.arguments),
    });
    let three = [
        ("a", "read", "{\"path\":\"1\"}"),
        ("b", "read", "{\"path\":\"no.md\"}"),
        ("c", "list", ""),
    ];
    let (ended, seen) = ran(vec![calls("", &three), answers("done")], &hands).await;
    assert_eq!(said(ended), ["done"]);
    let order: Vec<String> = hands.called().into_iter().map(|(_, args)| args).collect();
    assert_eq!(order, ["{\"path\":\"1\"}", "{\"path\":\"no.md\"}", "{}"]);
    let back: Vec<Value> = messages(&seen[1])[2..]
        .iter()
        .map(|message| json!([message["tool_call_id"], message["content"]]))
        .collect();
    assert_eq!(
        back,
        [
            json!(["a", "{\"path\":\"1\"}"]),
            json!(["b", "not-found: there is no such file"]),
            json!(["c", "{}"]),
        ]
    );
}

#[tokio::test]
async fn calls_come_in_every_shape_that_servers_give_them() {
    let part = |arguments: &str| json!([{"index": 0, "function": {"arguments": arguments}}]);
    let first = |id: &str, arguments: &str| {
        json!([{"index": 0, "id": id, "type": "function",
            "function": {"name": "read", "arguments": arguments}}])
    };
    let cases: Vec<(&str, Vec<Value>, Vec<&str>)> = vec![
        (
            "pieces",
            vec![first("a", ""), part("{\"path\":"), part("\"größe 🙂\"}")],
            vec!["{\"path\":\"größe 🙂\"}"],
        ),
        (
            "an escape cut in two",
            vec![first("a", "{\"path\":\"\\ud8"), part("3d\\ude00\"}")],
            vec!["{\"path\":\"\\ud83d\\ude00\"}"],
        ),
        (
            "no ids, no numbers, arguments as an object",
            vec![
                json!([{"function": {"name": "read", "arguments": {"path": "x"}}}]),
                json!([{"function": {"name": "read", "arguments": {"path": "y"}}}]),
            ],
            vec!["{\"path\":\"x\"}", "{\"path\":\"y\"}"],
        ),
        (
            "nothing at all as arguments",
            vec![first("a", "")],
            vec!["{}"],
        ),
        (
            "one id for two calls",
            vec![
                json!([{"index": 0, "id": "a", "function": {"name": "read", "arguments": "{}"}}]),
                json!([{"index": 1, "id": "a", "function": {"name": "read", "arguments": "{}"}}]),
            ],
            vec!["{}", "{}"],
        ),
    ];
    for (what, script, want) in cases {
        let hands = Hands::with(READ);
        let (ended, seen) = ran(vec![pieces("", &script), answers("ok")], &hands).await;
        assert_eq!(said(ended), ["ok"], "{what}");
        let arguments: Vec<String> = hands.called().into_iter().map(|(_, a)| a).collect();
        assert_eq!(arguments, want, "{what}");
        let ids = hands.ids();
        assert!(ids.iter().all(|id| !id.is_empty()), "{what}: {ids:?}");
        let distinct: std::collections::BTreeSet<_> = ids.iter().collect();
        assert_eq!(distinct.len(), ids.len(), "{what}: {ids:?}");
        let back = messages(&seen[1]);
        assert_eq!(back.len(), 2 + want.len(), "{what}");
        assert_eq!(back[1]["tool_calls"][0]["id"], json!(ids[0]), "{what}");
    }
}

#[tokio::test]
async fn a_stream_cut_at_every_byte_gives_the_same_call() {
    let script = pieces(
        "",
        &[
            json!([{"index": 0, "id": "a", "function": {"name": "read", "arguments": "{\"path\":\"gr"}}]),
            json!([{"index": 0, "function": {"arguments": "öße 🙂\"}"}}]),
        ],
    );
    let mut single = Vec::new();
    for step in script {
        match step {
            Step::Send(bytes) => single.extend(bytes.into_iter().flat_map(|byte| {
                [
                    Step::Send(vec![byte]),
                    Step::Wait(std::time::Duration::from_micros(1)),
                ]
            })),
            other @ (Step::Wait(_) | Step::Reset | Step::Hold | Step::Next) => single.push(other),
        }
    }
    let hands = Hands::with(READ);
    let (ended, _) = ran(vec![single, answers("ok")], &hands).await;
    assert_eq!(said(ended), ["ok"]);
    assert_eq!(hands.called(), [pair("read", "{\"path\":\"größe 🙂\"}")]);
}

#[tokio::test]
async fn what_no_tool_of_the_turn_is_goes_to_the_host_and_back_as_a_refusal() {
    let hands = Hands::that(READ, |call| match call.name.as_str() {
        "read" => refused("bad-arguments: the arguments are not JSON"),
        _ => refused("not-offered: this turn has no tool of that name"),
    });
    let two = [("a", "rm -rf /", "{}"), ("b", "read", "{\"path\": ")];
    let (ended, seen) = ran(vec![calls("", &two), answers("I cannot.")], &hands).await;
    assert_eq!(said(ended), ["I cannot."]);
    assert_eq!(
        hands.called(),
        [pair("rm -rf /", "{}"), pair("read", "{\"path\": ")]
    );
    let back = messages(&seen[1]);
    // What goes back is something that every server takes.
    assert_eq!(back[1]["tool_calls"][0]["function"]["name"], "rm_-rf__");
    assert_eq!(back[1]["tool_calls"][1]["function"]["arguments"], "{}");
    assert!(
        back[3]["content"]
            .as_str()
            .expect("text")
            .starts_with("bad-arguments")
    );
}

#[tokio::test]
async fn the_next_turn_and_a_restart_know_of_calls_and_results() {
    let root = tempfile::tempdir().expect("a folder");
    let provider = Provider::play(vec![
        calls("I look.", &[("c1", "read", "{\"path\":\"a.md\"}")]),
        answers("It says so."),
        answers("Yes."),
        answers("No tools."),
    ])
    .await;
    let ask = |turn, text| with_tools(request("seat", turn, text), Hands::with(READ));
    answer(&native(root.path(), &provider), ask("1", "look")).await;
    let later = native(root.path(), &provider);
    answer(&later, ask("2", "sure?")).await;
    let back = messages(&provider.seen()[2]);
    let roles: Vec<&Value> = back.iter().map(|message| &message["role"]).collect();
    assert_eq!(roles, ["user", "assistant", "tool", "assistant", "user"]);
    assert_eq!(back[1]["tool_calls"][0]["id"], back[2]["tool_call_id"]);
    assert_eq!(back[2]["content"], "result of read");

    // A turn without tools is shown no calls: a server would ask for their definitions.
    answer(&later, request("seat", "3", "and now?")).await;
    let back = messages(&provider.seen()[3]);
    assert_eq!(back[1]["content"], "I look.\n\nIt says so.");
    assert!(
        back.iter()
            .all(|message| message.get("tool_calls").is_none())
    );
}

#[tokio::test]
async fn the_prompt_says_what_the_turn_may_do_and_where() {
    let root = tempfile::tempdir().expect("a folder");
    let provider = Provider::play(vec![answers("a"), answers("b")]).await;
    let engine = native(root.path(), &provider);
    let ground = Ground {
        roots: vec![("drafts".to_owned(), RootWrite::Ask)],
        workspace: Some("drafts".to_owned()),
        calls_max: 8,
    };
    let with = RunRequest {
        ground,
        ..with_tools(request("seat", "1", "a"), Hands::with(READ))
    };
    answer(&engine, with).await;
    answer(&engine, request("seat", "2", "b")).await;
    let seen = provider.seen();
    let system = |at: usize| seen[at].body["messages"][0]["content"].to_string();
    assert!(system(0).contains("The workspace of this message is `drafts`."));
    assert!(!system(0).contains("You have no tools"));
    assert!(system(1).contains("You have no tools") && !system(1).contains("drafts"));
    assert!(seen[1].body.get("tools").is_none());
}

#[tokio::test]
async fn a_call_shows_that_it_begins_and_ends() {
    let root = tempfile::tempdir().expect("a folder");
    let provider = Provider::play(vec![calls("", &[("a", "read", "{}")]), answers("ok")]).await;
    let engine = native(root.path(), &provider);
    let asked = with_tools(request("seat", "1", "look"), Hands::with(READ));
    let mut run = observe(&engine, asked);
    let mut signs = Vec::new();
    while let Some(event) = run.next().await {
        if let RunEvent::Progress(sign @ (Progress::ToolBegan | Progress::ToolEnded)) = event {
            signs.push(sign);
        }
    }
    assert_eq!(signs, [Progress::ToolBegan, Progress::ToolEnded]);
}
