//! What messages tell and how they are asked for.

use super::*;
use crate::native::api::Called;
use guildhall_authority::offer::ToolName;
use guildhall_tools::ToolSpec;

fn told(data: Value) -> Result<Heard, Problem> {
    hear(&Event {
        name: "ignored".to_owned(),
        data: data.to_string(),
    })
}

fn called(slot: u64, id: &str, name: &str, arguments: &str) -> Heard {
    Heard {
        calls: vec![Piece {
            slot: Some(slot),
            id: id.to_owned(),
            name: name.to_owned(),
            arguments: arguments.to_owned(),
        }],
        at_work: true,
        ..Heard::default()
    }
}

#[test]
#[expect(clippy::too_many_lines, reason = "one table of cases")]
fn each_event_tells_its_part() {
    let working = |text: &str| Heard {
        text: text.to_owned(),
        at_work: true,
        ..Heard::default()
    };
    let cases = [
        (
            json!({"type": "message_start", "message": {"usage":
                {"input_tokens": 10, "cache_read_input_tokens": 5, "output_tokens": 1}}}),
            Heard {
                usage: Some(Tokens {
                    input: Some(15),
                    output: Some(1),
                    cached: Some(5),
                }),
                ..Heard::default()
            },
        ),
        (
            json!({"type": "content_block_start", "content_block": {"type": "text", "text": ""}}),
            working(""),
        ),
        (
            json!({"type": "content_block_delta", "delta": {"type": "text_delta", "text": "ho"}}),
            working("ho"),
        ),
        (
            json!({"type": "content_block_delta", "index": 2, "delta": {"type": "thinking_delta", "thinking": "hm"}}),
            Heard {
                thoughts: vec![(
                    2,
                    Thought::from_iter([("thinking".to_owned(), json!("hm"))]),
                )],
                ..working("")
            },
        ),
        (
            json!({"type": "content_block_start", "index": 1, "content_block":
                {"type": "tool_use", "id": "toolu_1", "name": "read", "input": {}}}),
            called(1, "toolu_1", "read", ""),
        ),
        (
            json!({"type": "content_block_start", "index": 1, "content_block":
                {"type": "tool_use", "id": "toolu_1", "name": "read", "input": {"p": 1}}}),
            called(1, "toolu_1", "read", "{\"p\":1}"),
        ),
        (
            json!({"type": "content_block_delta", "index": 1, "delta":
                {"type": "input_json_delta", "partial_json": "{\"p"}}),
            called(1, "", "", "{\"p"),
        ),
        (json!({"type": "ping"}), Heard::default()),
        (json!({"type": "content_block_stop"}), Heard::default()),
        (
            json!({"type": "message_delta", "delta": {"stop_reason": "max_tokens"}, "usage": {"output_tokens": 9}}),
            Heard {
                usage: Some(Tokens {
                    output: Some(9),
                    ..Tokens::default()
                }),
                stopped: Some(Stop::Length),
                ..Heard::default()
            },
        ),
        (
            json!({"type": "message_stop"}),
            Heard {
                over: true,
                ..Heard::default()
            },
        ),
        (json!({"type": "something_new"}), Heard::default()),
    ];
    for (data, want) in cases {
        assert_eq!(told(data.clone()), Ok(want), "{data}");
    }
}

#[test]
fn errors_and_rubbish_are_told_apart() {
    let busy = Problem::Busy { retry_after: None };
    let overloaded =
        json!({"type": "error", "error": {"type": "overloaded_error", "message": "x"}});
    assert_eq!(told(overloaded), Err(busy));
    for data in [json!([]), json!({}), json!("text")] {
        assert!(
            matches!(told(data.clone()), Err(Problem::Rubbish(_))),
            "{data}"
        );
    }
}

#[test]
fn a_number_of_tokens_turns_thinking_on() {
    let cases = [
        ("2048", Some(2_048)),
        (" 1024 ", Some(1_024)),
        ("1023", None),
        ("high", None),
    ];
    for (text, want) in cases {
        assert_eq!(thinking_tokens(text), want, "{text}");
    }
    let messages = [Message::User("hi".to_owned())];
    let talk = Conversation {
        model: "m",
        system: "s",
        messages: &messages,
        thinking: Some("2048"),
        tools: &[],
        calling: Calling::May,
    };
    let body = body(&talk);
    assert_eq!(
        body["thinking"],
        json!({"type": "enabled", "budget_tokens": 2_048})
    );
    assert_eq!(body["max_tokens"], json!(8_192 + 2_048));
    assert_eq!(body["messages"], json!([{"role": "user", "content": "hi"}]));
}

#[test]
fn an_answer_in_one_document_is_read_as_well() {
    let body = json!({"content": [{"type": "thinking"}, {"type": "text", "text": "a"}, {"type": "text", "text": "b"},
        {"type": "tool_use", "id": "t", "name": "list", "input": {}}],
        "stop_reason": "end_turn", "usage": {"input_tokens": 1, "output_tokens": 2}});
    let heard = whole(body.to_string().as_bytes()).expect("an answer");
    assert_eq!(
        (heard.text.as_str(), heard.stopped),
        ("ab", Some(Stop::Done))
    );
    assert_eq!((heard.calls.len(), heard.thoughts.len()), (1, 1));
    assert!(whole(b"{}").is_err() && whole(b"no").is_err());
}

#[test]
fn calls_go_back_with_their_results_behind_signed_thoughts() {
    let thought = json!({"type": "thinking", "thinking": "hm", "signature": "s"});
    let called = |id: &str, outcome: Outcome, arguments: &str| Called {
        id: id.to_owned(),
        name: "read".to_owned(),
        arguments: arguments.to_owned(),
        outcome,
        result: format!("result of {id}"),
    };
    let step = Step {
        text: "I look.".to_owned(),
        thoughts: thought.as_object().cloned().into_iter().collect(),
        calls: vec![
            called("a", Outcome::Done, "{\"path\": \"x\"}"),
            called("b", Outcome::Refused, "[broken"),
        ],
    };
    let messages = [Message::User("hi".to_owned()), Message::Step(step)];
    let tools = [ToolSpec {
        name: ToolName::Read,
        description: "Reads.",
        schema: json!({"type": "object"}),
    }];
    let talk = Conversation {
        model: "m",
        system: "s",
        messages: &messages,
        thinking: None,
        tools: &tools,
        calling: Calling::MayNot,
    };
    let body = body(&talk);
    let used = |id: &str, input: Value| json!({"type": "tool_use", "id": id, "name": "read", "input": input});
    let came = |id: &str, failed: bool| {
        json!({"type": "tool_result", "tool_use_id": id,
        "content": format!("result of {id}"), "is_error": failed})
    };
    assert_eq!(
        body["messages"].as_array().expect("messages")[1..],
        [
            json!({"role": "assistant", "content": [
                thought, {"type": "text", "text": "I look."},
                used("a", json!({"path": "x"})), used("b", json!({})),
            ]}),
            json!({"role": "user", "content": [came("a", false), came("b", true)]}),
        ]
    );
    assert_eq!(body["tool_choice"], json!({"type": "none"}));
    assert_eq!(body["tools"][0]["input_schema"], json!({"type": "object"}));
}
