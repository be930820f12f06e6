//! What chat completions tell and how they are asked for.

use super::*;
use crate::native::api::Called;
use guildhall_authority::offer::ToolName;
use guildhall_tools::Outcome;

fn told(data: Value) -> Result<Heard, Problem> {
    hear(&Event {
        name: String::new(),
        data: data.to_string(),
    })
}

fn text(text: &str) -> Heard {
    Heard {
        text: text.to_owned(),
        at_work: true,
        ..Heard::default()
    }
}

fn called(slot: Option<u64>, id: &str, name: &str, arguments: &str) -> Heard {
    Heard {
        calls: vec![Piece {
            slot,
            id: id.to_owned(),
            name: name.to_owned(),
            arguments: arguments.to_owned(),
        }],
        ..working()
    }
}

fn working() -> Heard {
    text("")
}

#[test]
#[expect(clippy::too_many_lines, reason = "one table of cases")]
fn chunks_of_every_server_are_read() {
    let delta = |delta: Value| json!({"choices": [{"index": 0, "delta": delta}]});
    let cases = [
        (
            delta(json!({"role": "assistant", "content": ""})),
            Heard::default(),
        ),
        (delta(json!({"content": "a b"})), text("a b")),
        (delta(json!({"content": null, "refusal": "no"})), text("no")),
        (
            delta(json!({"reasoning_content": "hm"})),
            Heard {
                thoughts: vec![(
                    0,
                    Thought::from_iter([("reasoning_content".to_owned(), json!("hm"))]),
                )],
                ..working()
            },
        ),
        (delta(json!({"reasoning": "hm", "content": ""})), working()),
        (
            delta(
                json!({"tool_calls": [{"index": 1, "id": "a", "type": "function",
                "function": {"name": "read", "arguments": "{\"p"}}]}),
            ),
            called(Some(1), "a", "read", "{\"p"),
        ),
        (
            delta(json!({"tool_calls": [{"function": {"name": "read", "arguments": {"p": 1}}}]})),
            called(None, "", "read", "{\"p\":1}"),
        ),
        (
            delta(
                json!({"tool_calls": [{"index": 0, "id": null, "function": {"name": null,
                "arguments": null}}]}),
            ),
            called(Some(0), "", "", ""),
        ),
        (delta(json!({"tool_calls": null})), Heard::default()),
        (delta(json!({"tool_calls": []})), Heard::default()),
        (json!({"choices": [], "usage": null}), Heard::default()),
        (json!({}), Heard::default()),
        (
            json!({"choices": [], "usage": {"prompt_tokens": 7, "completion_tokens": 2,
                "prompt_tokens_details": {"cached_tokens": 3}}}),
            Heard {
                usage: Some(Tokens {
                    input: Some(7),
                    output: Some(2),
                    cached: Some(3),
                }),
                ..Heard::default()
            },
        ),
        (
            json!({"choices": [{"delta": {}, "finish_reason": "length"}]}),
            Heard {
                stopped: Some(Stop::Length),
                ..Heard::default()
            },
        ),
        (
            json!({"choices": [{"finish_reason": "stop"}]}),
            Heard {
                stopped: Some(Stop::Done),
                ..Heard::default()
            },
        ),
    ];
    for (data, want) in cases {
        assert_eq!(told(data.clone()), Ok(want), "{data}");
    }
}

#[test]
fn the_end_an_error_and_rubbish_are_told_apart() {
    let done = Event {
        data: "[DONE]".to_owned(),
        ..Event::default()
    };
    assert!(hear(&done).expect("an end").over);
    let busy = Problem::Busy { retry_after: None };
    assert_eq!(told(json!({"error": {"code": 503}})), Err(busy));
    for data in ["", "{", "[]", "hello", "{\"choices\": 4}"] {
        let event = Event {
            data: data.to_owned(),
            ..Event::default()
        };
        assert!(matches!(hear(&event), Err(Problem::Rubbish(_))), "{data}");
    }
}

#[test]
fn an_answer_in_one_document_is_read_as_well() {
    let body = json!({
        "choices": [{"message": {"role": "assistant", "content": "all"}, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 1, "completion_tokens": 2},
    });
    let heard = whole(body.to_string().as_bytes()).expect("an answer");
    assert_eq!(
        (heard.text.as_str(), heard.stopped, heard.over),
        ("all", Some(Stop::Done), true)
    );
}

#[test]
fn the_request_has_the_system_prompt_first_and_asks_for_usage() {
    let messages = [Message::User("hi".to_owned())];
    let talk = Conversation {
        model: "m",
        system: "s",
        messages: &messages,
        thinking: Some("low"),
        tools: &[],
        calling: Calling::May,
    };
    assert_eq!(
        body(&talk),
        json!({
            "model": "m",
            "messages": [
                {"role": "system", "content": "s"},
                {"role": "user", "content": "hi"},
            ],
            "stream": true,
            "stream_options": {"include_usage": true},
            "reasoning_effort": "low",
        })
    );
}

#[test]
fn calls_go_back_with_their_results_and_what_was_thought() {
    let called = |id: &str, arguments: &str| Called {
        id: id.to_owned(),
        name: "read".to_owned(),
        arguments: arguments.to_owned(),
        outcome: Outcome::Done,
        result: format!("result of {id}"),
    };
    let step = Step {
        text: "I look.".to_owned(),
        thoughts: vec![Thought::from_iter([(
            "reasoning_content".to_owned(),
            json!("hm"),
        )])],
        calls: vec![called("a", "{\"path\": \"x\"}"), called("b", "{broken")],
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
    let function = |id: &str, arguments: &str| {
        json!({"id": id, "type": "function",
        "function": {"name": "read", "arguments": arguments}})
    };
    assert_eq!(
        body["messages"].as_array().expect("messages")[2..],
        [
            json!({"role": "assistant", "content": "I look.", "reasoning_content": "hm",
                "tool_calls": [function("a", "{\"path\":\"x\"}"), function("b", "{}")]}),
            json!({"role": "tool", "tool_call_id": "a", "content": "result of a"}),
            json!({"role": "tool", "tool_call_id": "b", "content": "result of b"}),
        ]
    );
    assert_eq!(body["tool_choice"], "none");
    assert_eq!(
        body["tools"][0]["function"]["parameters"],
        json!({"type": "object"})
    );
    let may = Conversation {
        calling: Calling::May,
        ..talk
    };
    assert!(super::body(&may).get("tool_choice").is_none());
}
