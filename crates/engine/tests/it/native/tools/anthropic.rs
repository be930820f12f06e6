//! Tool calls as Anthropic speaks them.

use super::READ;
use crate::{
    hands::{Hands, done, refused},
    native::parts,
    provider::{Provider, Step, raw, stream_head},
    support::{answer, request, with_tools},
};
use guildhall_engine::{Api, Native, NativeParts};
use serde_json::{Value, json};

fn streamed(events: &[Value]) -> Vec<Step> {
    let event = |event: &Value| {
        let name = event["type"].as_str().expect("a type");
        raw(format!("event: {name}\ndata: {event}\n\n"))
    };
    let mut steps = vec![stream_head()];
    steps.extend(events.iter().map(event));
    steps
}

fn block(index: u64, block: &Value, deltas: &[Value]) -> Vec<Value> {
    let mut events =
        vec![json!({"type": "content_block_start", "index": index, "content_block": block})];
    for delta in deltas {
        events.push(json!({"type": "content_block_delta", "index": index, "delta": delta}));
    }
    events.push(json!({"type": "content_block_stop", "index": index}));
    events
}

fn message(stop: &str, blocks: &[Vec<Value>]) -> Vec<Step> {
    let mut events = vec![
        json!({"type": "message_start", "message": {"usage": {"input_tokens": 10, "output_tokens": 1}}}),
    ];
    events.extend(blocks.iter().flatten().cloned());
    events.push(json!({"type": "ping"}));
    events.push(
        json!({"type": "message_delta", "delta": {"stop_reason": stop},
        "usage": {"output_tokens": 5}}),
    );
    events.push(json!({"type": "message_stop"}));
    streamed(&events)
}

fn says(index: u64, text: &str) -> Vec<Value> {
    let delta = json!({"type": "text_delta", "text": text});
    block(index, &json!({"type": "text", "text": ""}), &[delta])
}

#[tokio::test]
#[expect(
    clippy::too_many_lines,
    reason = "one whole exchange, read from top to bottom"
)]
async fn thoughts_text_and_several_calls_go_back_as_they_came() {
    let thought = block(
        0,
        &json!({"type": "thinking", "thinking": "", "signature": ""}),
        &[
            json!({"type": "thinking_delta", "thinking": "I thi"}),
            json!({"type": "thinking_delta", "thinking": "nk."}),
            json!({"type": "signature_delta", "signature": "c2ln"}),
        ],
    );
    let call = |index, id: &str, pieces: &[&str]| {
        let pieces: Vec<Value> = pieces
            .iter()
            .map(|piece| json!({"type": "input_json_delta", "partial_json": piece}))
            .collect();
        let begins = json!({"type": "tool_use", "id": id, "name": "read", "input": {}});
        block(index, &begins, &pieces)
    };
    let first = message(
        "tool_use",
        &[
            thought,
            says(1, "I look."),
            call(2, "toolu_1", &["", "{\"path\":", " \"größe\"}"]),
            call(3, "toolu_2", &[]),
        ],
    );
    let root = tempfile::tempdir().expect("a folder");
    let provider = Provider::play(vec![first, message("end_turn", &[says(0, "Done.")])]).await;
    let engine = Native::new(NativeParts {
        api: Api::Anthropic,
        ..parts(root.path(), &provider)
    })
    .expect("good settings");
    let hands = Hands::that(READ, |call| match call.arguments.as_str() {
        "{}" => refused("bad-arguments: `path` is missing"),
        _ => done("text"),
    });
    let said = answer(
        &engine,
        with_tools(request("seat", "1", "look"), hands.clone()),
    )
    .await;
    assert_eq!(said, ["I look.", "Done."]);
    let called: Vec<String> = hands.called().into_iter().map(|(_, a)| a).collect();
    assert_eq!(called, ["{\"path\": \"größe\"}", "{}"]);
    let seen = provider.seen();
    assert_eq!(seen[0].body["tools"][0]["name"], "read");
    let used = |id: &str, input: Value| json!({"type": "tool_use", "id": id, "name": "read", "input": input});
    assert_eq!(
        seen[1].body["messages"].as_array().expect("messages")[1..],
        [
            json!({"role": "assistant", "content": [
                {"type": "thinking", "thinking": "I think.", "signature": "c2ln"},
                {"type": "text", "text": "I look."},
                used("toolu_1", json!({"path": "größe"})),
                used("toolu_2", json!({})),
            ]}),
            json!({"role": "user", "content": [
                {"type": "tool_result", "tool_use_id": "toolu_1", "content": "text", "is_error": false},
                {"type": "tool_result", "tool_use_id": "toolu_2",
                    "content": "bad-arguments: `path` is missing", "is_error": true},
            ]}),
        ]
    );
}
