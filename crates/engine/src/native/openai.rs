//! Chat completions as OpenAI speaks them, and llama.cpp, Ollama, vLLM and many others after it.
//!
//! In: a conversation, or one message of the stream. Out: a request body, or what the message
//! tells. Never: a field that is needed where a server might leave it out.

use super::{
    api::Conversation,
    heard::{Heard, Stop, Tokens},
    problem::Problem,
    sse::Event,
};
use serde::Deserialize;
use serde_json::{Value, json};

/// The request body.
pub(super) fn body(talk: &Conversation<'_>) -> Value {
    let mut messages = vec![json!({"role": "system", "content": talk.system})];
    for message in talk.messages {
        messages.push(json!({"role": message.role.word(), "content": message.text}));
    }
    let mut body = json!({
        "model": talk.model,
        "messages": messages,
        "stream": true,
        "stream_options": {"include_usage": true},
    });
    if let Some(effort) = talk.thinking {
        body["reasoning_effort"] = json!(effort);
    }
    body
}

/// Reads one event of the stream.
///
/// # Errors
/// The problem that the event tells, or [`Problem::Rubbish`].
pub(super) fn hear(event: &Event) -> Result<Heard, Problem> {
    if event.data.trim() == "[DONE]" {
        return Ok(Heard {
            over: true,
            ..Heard::default()
        });
    }
    let chunk = read(event.data.as_bytes())?;
    Ok(chunk.told())
}

/// Reads an answer that came as one document.
///
/// # Errors
/// As [`hear`].
pub(super) fn whole(body: &[u8]) -> Result<Heard, Problem> {
    let mut heard = read(body)?.told();
    heard.over = true;
    Ok(heard)
}

fn read(bytes: &[u8]) -> Result<Chunk, Problem> {
    // A list would do for a struct as well, to the reader of JSON.
    let is_object = bytes.trim_ascii_start().starts_with(b"{");
    let chunk = serde_json::from_slice::<Chunk>(bytes).ok();
    let chunk = chunk
        .filter(|_| is_object)
        .ok_or(Problem::Rubbish("no chat completion"))?;
    match &chunk.error {
        None | Some(Value::Null) => Ok(chunk),
        Some(_) => Err(Problem::of_error(&json!({"error": chunk.error}))),
    }
}

/// One chunk of a stream, or a whole answer: they differ in `delta` and `message` alone.
#[derive(Deserialize)]
struct Chunk {
    #[serde(default)]
    choices: Option<Vec<Choice>>,
    #[serde(default)]
    usage: Option<UsageSaid>,
    #[serde(default)]
    error: Option<Value>,
}

#[derive(Deserialize)]
struct Choice {
    #[serde(default, alias = "message")]
    delta: Option<Delta>,
    #[serde(default)]
    finish_reason: Option<String>,
}

#[derive(Deserialize)]
struct Delta {
    #[serde(default)]
    content: Option<String>,
    /// The model's refusal in words, which is text for people.
    #[serde(default)]
    refusal: Option<String>,
    /// Thoughts, as DeepSeek, llama.cpp and vLLM name them.
    #[serde(default)]
    reasoning_content: Option<String>,
    /// Thoughts, as Ollama and OpenRouter name them.
    #[serde(default)]
    reasoning: Option<Value>,
    #[serde(default)]
    tool_calls: Option<Value>,
}

#[derive(Deserialize)]
struct UsageSaid {
    #[serde(default)]
    prompt_tokens: Option<u64>,
    #[serde(default)]
    completion_tokens: Option<u64>,
}

impl Chunk {
    fn told(self) -> Heard {
        let mut heard = Heard {
            usage: self.usage.map(|said| Tokens {
                input: said.prompt_tokens,
                output: said.completion_tokens,
            }),
            ..Heard::default()
        };
        // One choice is asked for; more of them would be other answers, not more of this one.
        let Some(choice) = self.choices.into_iter().flatten().next() else {
            return heard;
        };
        if let Some(delta) = choice.delta {
            let filled = |text: &Option<String>| text.as_ref().is_some_and(|text| !text.is_empty());
            heard.at_work = filled(&delta.content)
                || filled(&delta.refusal)
                || filled(&delta.reasoning_content)
                || delta
                    .reasoning
                    .is_some_and(|thought| thought != json!("") && !thought.is_null())
                || delta
                    .tool_calls
                    .is_some_and(|calls| calls.as_array().is_some_and(|c| !c.is_empty()));
            heard.text = [delta.content, delta.refusal]
                .into_iter()
                .flatten()
                .collect();
        }
        heard.stopped = choice.finish_reason.as_deref().and_then(stop);
        heard
    }
}

fn stop(reason: &str) -> Option<Stop> {
    match reason {
        "" => None,
        "length" => Some(Stop::Length),
        "content_filter" => Some(Stop::Refused),
        "tool_calls" | "function_call" => Some(Stop::ToolCall),
        // "stop", "eos", "end_turn" and other spellings of the same.
        _ => Some(Stop::Done),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::native::api::{Message, Role};

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

    fn working() -> Heard {
        text("")
    }

    #[test]
    fn chunks_of_every_server_are_read() {
        let delta = |delta: Value| json!({"choices": [{"index": 0, "delta": delta}]});
        let cases = [
            (
                delta(json!({"role": "assistant", "content": ""})),
                Heard::default(),
            ),
            (delta(json!({"content": "a b"})), text("a b")),
            (delta(json!({"content": null, "refusal": "no"})), text("no")),
            (delta(json!({"reasoning_content": "hm"})), working()),
            (delta(json!({"reasoning": "hm", "content": ""})), working()),
            (delta(json!({"tool_calls": [{"index": 0}]})), working()),
            (delta(json!({"tool_calls": []})), Heard::default()),
            (json!({"choices": [], "usage": null}), Heard::default()),
            (json!({}), Heard::default()),
            (
                json!({"choices": [], "usage": {"prompt_tokens": 7, "completion_tokens": 2}}),
                Heard {
                    usage: Some(Tokens {
                        input: Some(7),
                        output: Some(2),
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
        let messages = [Message {
            role: Role::User,
            text: "hi".to_owned(),
        }];
        let talk = Conversation {
            model: "m",
            system: "s",
            messages: &messages,
            thinking: Some("low"),
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
}
