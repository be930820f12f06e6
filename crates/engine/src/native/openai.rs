//! Chat completions as OpenAI speaks them, and llama.cpp, Ollama, vLLM and many others after it.
//!
//! In: a conversation, or one message of the stream. Out: a request body, or what the message
//! tells. Never: a field that is needed where a server might leave it out.

use super::{
    api::{Calling, Conversation, Message, Step},
    calls::Piece,
    heard::{Heard, Stop, Thought, Tokens},
    problem::Problem,
    sse::Event,
};
use guildhall_tools::ToolSpec;
use serde::Deserialize;
use serde_json::{Value, json};

/// The request body.
pub(super) fn body(talk: &Conversation<'_>) -> Value {
    let mut messages = vec![json!({"role": "system", "content": talk.system})];
    for message in talk.messages {
        match message {
            Message::User(text) => messages.push(json!({"role": "user", "content": text})),
            Message::Assistant(text) => {
                messages.push(json!({"role": "assistant", "content": text}))
            }
            Message::Step(step) => push_step(&mut messages, step),
        }
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
    if !talk.tools.is_empty() {
        body["tools"] = talk.tools.iter().map(tool).collect();
        if talk.calling == Calling::MayNot {
            body["tool_choice"] = json!("none");
        }
    }
    body
}

fn tool(spec: &ToolSpec) -> Value {
    json!({"type": "function", "function": {
        "name": spec.name.as_str(),
        "description": spec.description,
        "parameters": spec.schema,
    }})
}

fn push_step(messages: &mut Vec<Value>, step: &Step) {
    let calls: Vec<Value> = step
        .calls
        .iter()
        .map(|call| {
            json!({"id": call.id, "type": "function", "function": {
                "name": call.name,
                "arguments": call.object().to_string(),
            }})
        })
        .collect();
    let mut said = json!({"role": "assistant", "content": step.text, "tool_calls": calls});
    for (key, value) in step.thoughts.iter().flatten() {
        said[key] = value.clone();
    }
    messages.push(said);
    let results = step
        .calls
        .iter()
        .map(|call| json!({"role": "tool", "tool_call_id": call.id, "content": call.result}));
    messages.extend(results);
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
    read(event.data.as_bytes())?.told()
}

/// Reads an answer that came as one document.
///
/// # Errors
/// As [`hear`].
pub(super) fn whole(body: &[u8]) -> Result<Heard, Problem> {
    let mut heard = read(body)?.told()?;
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
    finish_reason: Option<Value>,
    /// What went wrong after the stream had begun, as OpenRouter says it.
    #[serde(default)]
    error: Option<Value>,
}

#[derive(Deserialize)]
struct Delta {
    /// A text; from Mistral also a list of parts, of which some are thoughts.
    #[serde(default)]
    content: Option<Value>,
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
    tool_calls: Option<Vec<CallSaid>>,
    /// A call as it was before there could be several in a message.
    #[serde(default)]
    function_call: Option<FunctionSaid>,
}

/// A tool call, or a piece of one.
#[derive(Deserialize)]
struct CallSaid {
    #[serde(default)]
    index: Option<u64>,
    #[serde(default)]
    id: Option<String>,
    #[serde(default)]
    function: Option<FunctionSaid>,
}

#[derive(Deserialize, Default)]
struct FunctionSaid {
    #[serde(default)]
    name: Option<String>,
    /// JSON text; from some servers the object itself.
    #[serde(default)]
    arguments: Option<Value>,
}

impl CallSaid {
    fn piece(self) -> Piece {
        let function = self.function.unwrap_or_default();
        Piece {
            slot: self.index,
            id: self.id.unwrap_or_default(),
            name: function.name.unwrap_or_default(),
            arguments: match function.arguments {
                None | Some(Value::Null) => String::new(),
                Some(Value::String(text)) => text,
                Some(other) => other.to_string(),
            },
        }
    }
}

#[derive(Deserialize)]
struct UsageSaid {
    #[serde(default)]
    prompt_tokens: Option<Value>,
    #[serde(default)]
    completion_tokens: Option<Value>,
    #[serde(default)]
    prompt_tokens_details: Option<DetailsSaid>,
}

#[derive(Deserialize)]
struct DetailsSaid {
    #[serde(default)]
    cached_tokens: Option<Value>,
}

/// A count; some servers write `12.0`.
fn count(said: Option<Value>) -> Option<u64> {
    let Some(Value::Number(said)) = said else {
        return None;
    };
    let said = said.to_string();
    said.split('.').next()?.parse().ok()
}

impl Chunk {
    fn told(self) -> Result<Heard, Problem> {
        let mut heard = Heard {
            usage: self.usage.map(|said| Tokens {
                input: count(said.prompt_tokens),
                output: count(said.completion_tokens),
                cached: count(
                    said.prompt_tokens_details
                        .and_then(|said| said.cached_tokens),
                ),
            }),
            ..Heard::default()
        };
        // One choice is asked for; more of them would be other answers, not more of this one.
        let Some(choice) = self.choices.into_iter().flatten().next() else {
            return Ok(heard);
        };
        let reason = choice.finish_reason.as_ref().and_then(Value::as_str);
        let broken = choice.error.filter(|error| !error.is_null());
        if broken.is_some() || reason == Some("error") {
            return Err(Problem::of_error(&json!({"error": broken})));
        }
        heard.stopped = reason.and_then(stop);
        if let Some(delta) = choice.delta {
            delta.tell(&mut heard);
        }
        Ok(heard)
    }
}

impl Delta {
    fn tell(self, heard: &mut Heard) {
        let filled = |text: &Option<String>| text.as_ref().is_some_and(|text| !text.is_empty());
        let (content, thoughts) = self.content.map(texts).unwrap_or_default();
        let thinks = !thoughts.is_empty()
            || filled(&self.reasoning_content)
            || self
                .reasoning
                .is_some_and(|thought| thought != json!("") && !thought.is_null());
        let calls = self.tool_calls.into_iter().flatten();
        let old = self.function_call.map(|function| CallSaid {
            index: None,
            id: None,
            function: Some(function),
        });
        heard.calls = calls.chain(old).map(CallSaid::piece).collect();
        heard.at_work =
            !content.is_empty() || filled(&self.refusal) || thinks || !heard.calls.is_empty();
        heard.text = content;
        heard.text.extend(self.refusal);
        // Servers that name thoughts like this want them back while tools are called.
        if let Some(thought) = self.reasoning_content.filter(|thought| !thought.is_empty()) {
            let piece = Thought::from_iter([("reasoning_content".to_owned(), json!(thought))]);
            heard.thoughts.push((0, piece));
        }
    }
}

/// The text for people and the thoughts of a content.
fn texts(content: Value) -> (String, String) {
    let parts = match content {
        Value::String(text) => return (text, String::new()),
        Value::Array(parts) => parts,
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => Vec::new(),
    };
    let (mut text, mut thoughts) = (String::new(), String::new());
    for part in parts {
        match part["type"].as_str() {
            Some("thinking" | "reasoning") => {
                let (said, more) = texts(part["thinking"].clone());
                thoughts.extend([said, more]);
            }
            Some(_) | None => {
                text.push_str(part.as_str().or(part["text"].as_str()).unwrap_or_default());
            }
        }
    }
    (text, thoughts)
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
mod tests;
