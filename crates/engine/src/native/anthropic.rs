//! Messages as Anthropic speaks them.
//!
//! In: a conversation, or one event of the stream. Out: a request body, or what the event tells.
//! Never: a `ping` taken for progress.

use super::{
    api::Conversation,
    heard::{Heard, Stop, Tokens},
    problem::Problem,
    sse::Event,
};
use serde_json::{Value, json};

/// The version of the interface that is spoken. Source: Anthropic's documentation, "Versions".
pub(super) const API_VERSION: &str = "2023-06-01";
/// Longest answer, in tokens; the interface wants one. Enough for the longest text that the product
/// takes from people's languages, and every model that is served today allows it.
const ANSWER_MAX_TOKENS: u64 = 8_192;
/// Smallest budget of thoughts that the interface takes, in tokens.
pub(super) const THINKING_MIN_TOKENS: u64 = 1_024;

/// The request body.
pub(super) fn body(talk: &Conversation<'_>) -> Value {
    let messages: Vec<Value> = talk
        .messages
        .iter()
        .map(|message| json!({"role": message.role.word(), "content": message.text}))
        .collect();
    let thinking = talk.thinking.and_then(thinking_tokens);
    let mut body = json!({
        "model": talk.model,
        "system": talk.system,
        "messages": messages,
        "max_tokens": ANSWER_MAX_TOKENS + thinking.unwrap_or(0),
        "stream": true,
    });
    if let Some(tokens) = thinking {
        body["thinking"] = json!({"type": "enabled", "budget_tokens": tokens});
    }
    body
}

/// The budget of thoughts that the binding's `thinking` asks for: a number of tokens.
pub(super) fn thinking_tokens(thinking: &str) -> Option<u64> {
    let tokens = thinking.trim().parse::<u64>().ok()?;
    (THINKING_MIN_TOKENS..=1_000_000)
        .contains(&tokens)
        .then_some(tokens)
}

/// Reads one event of the stream.
///
/// # Errors
/// The problem that the event tells, or [`Problem::Rubbish`].
pub(super) fn hear(event: &Event) -> Result<Heard, Problem> {
    let said: Value =
        serde_json::from_str(&event.data).map_err(|_| Problem::Rubbish("no message event"))?;
    let kind = said["type"]
        .as_str()
        .ok_or(Problem::Rubbish("an event without a type"))?;
    let mut heard = Heard::default();
    match kind {
        "error" => return Err(Problem::of_error(&said)),
        "message_start" => heard.usage = Some(tokens(&said["message"]["usage"])),
        // A block may begin with text already in it.
        "content_block_start" => {
            heard.at_work = true;
            heard.text = text(&said["content_block"]);
        }
        "content_block_delta" => {
            heard.at_work = true;
            heard.text = text(&said["delta"]);
        }
        "message_delta" => {
            heard.usage = Some(tokens(&said["usage"]));
            heard.stopped = said["delta"]["stop_reason"].as_str().map(stop);
        }
        "message_stop" => heard.over = true,
        // `ping`, `content_block_stop`, and what is new.
        _ => {}
    }
    Ok(heard)
}

/// Reads an answer that came as one document.
///
/// # Errors
/// As [`hear`].
pub(super) fn whole(body: &[u8]) -> Result<Heard, Problem> {
    let said: Value = serde_json::from_slice(body).map_err(|_| Problem::Rubbish("no message"))?;
    if said["type"] == "error" || !said["error"].is_null() {
        return Err(Problem::of_error(&said));
    }
    let blocks = said["content"]
        .as_array()
        .ok_or(Problem::Rubbish("a message without content"))?;
    Ok(Heard {
        text: blocks.iter().map(text).collect(),
        at_work: true,
        usage: Some(tokens(&said["usage"])),
        stopped: said["stop_reason"].as_str().map(stop),
        over: true,
    })
}

/// The text of a block or a delta; thoughts and calls have none for people.
fn text(part: &Value) -> String {
    match part["type"].as_str() {
        Some("text" | "text_delta") => part["text"].as_str().unwrap_or_default().to_owned(),
        Some(_) | None => String::new(),
    }
}

fn tokens(usage: &Value) -> Tokens {
    let fresh = usage["input_tokens"].as_u64();
    // What was read from or written to a cache is counted apart from the rest.
    let cached = ["cache_creation_input_tokens", "cache_read_input_tokens"]
        .iter()
        .filter_map(|key| usage[*key].as_u64())
        .fold(0_u64, u64::saturating_add);
    Tokens {
        input: fresh.map(|fresh| fresh.saturating_add(cached)),
        output: usage["output_tokens"].as_u64(),
    }
}

fn stop(reason: &str) -> Stop {
    match reason {
        "max_tokens" | "model_context_window_exceeded" => Stop::Length,
        "refusal" => Stop::Refused,
        "tool_use" => Stop::ToolCall,
        _ => Stop::Done,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::native::api::{Message, Role};

    fn told(data: Value) -> Result<Heard, Problem> {
        hear(&Event {
            name: "ignored".to_owned(),
            data: data.to_string(),
        })
    }

    #[test]
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
                json!({"type": "content_block_delta", "delta": {"type": "thinking_delta", "thinking": "hm"}}),
                working(""),
            ),
            (json!({"type": "ping"}), Heard::default()),
            (json!({"type": "content_block_stop"}), Heard::default()),
            (
                json!({"type": "message_delta", "delta": {"stop_reason": "max_tokens"}, "usage": {"output_tokens": 9}}),
                Heard {
                    usage: Some(Tokens {
                        input: None,
                        output: Some(9),
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
        let messages = [Message {
            role: Role::User,
            text: "hi".to_owned(),
        }];
        let talk = Conversation {
            model: "m",
            system: "s",
            messages: &messages,
            thinking: Some("2048"),
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
        let body = json!({"content": [{"type": "thinking"}, {"type": "text", "text": "a"}, {"type": "text", "text": "b"}],
            "stop_reason": "end_turn", "usage": {"input_tokens": 1, "output_tokens": 2}});
        let heard = whole(body.to_string().as_bytes()).expect("an answer");
        assert_eq!(
            (heard.text.as_str(), heard.stopped),
            ("ab", Some(Stop::Done))
        );
        assert!(whole(b"{}").is_err() && whole(b"no").is_err());
    }
}
