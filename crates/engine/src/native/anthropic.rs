//! Messages as Anthropic speaks them.
//!
//! In: a conversation, or one event of the stream. Out: a request body, or what the event tells.
//! Never: a `ping` taken for progress.

use super::{
    api::{Calling, Conversation, Message, Step},
    calls::Piece,
    heard::{Heard, Stop, Thought, Tokens},
    problem::Problem,
    sse::Event,
};
use guildhall_tools::Outcome;
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
    let mut messages = Vec::new();
    for message in talk.messages {
        match message {
            Message::User(text) => messages.push(json!({"role": "user", "content": text})),
            Message::Assistant(text) => {
                messages.push(json!({"role": "assistant", "content": text}))
            }
            Message::Step(step) => push_step(&mut messages, step),
        }
    }
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
    if !talk.tools.is_empty() {
        body["tools"] = talk
            .tools
            .iter()
            .map(|spec| {
                json!({
                    "name": spec.name.as_str(),
                    "description": spec.description,
                    "input_schema": spec.schema,
                })
            })
            .collect();
        if talk.calling == Calling::MayNot {
            body["tool_choice"] = json!({"type": "none"});
        }
    }
    body
}

/// Thoughts go back before everything else, as they came: the interface checks their signatures.
fn push_step(messages: &mut Vec<Value>, step: &Step) {
    let mut said: Vec<Value> = step.thoughts.iter().cloned().map(Value::Object).collect();
    if !step.text.trim().is_empty() {
        said.push(json!({"type": "text", "text": step.text}));
    }
    let mut results = Vec::new();
    for call in &step.calls {
        said.push(json!({
            "type": "tool_use", "id": call.id, "name": call.name, "input": call.object(),
        }));
        results.push(json!({
            "type": "tool_result", "tool_use_id": call.id, "content": call.result,
            "is_error": call.outcome != Outcome::Done,
        }));
    }
    messages.push(json!({"role": "assistant", "content": said}));
    messages.push(json!({"role": "user", "content": results}));
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
        // A block may begin with text already in it, and from some servers with the whole input.
        "content_block_start" => {
            heard.at_work = true;
            block(&mut heard, said["index"].as_u64(), &said["content_block"]);
        }
        "content_block_delta" => {
            heard.at_work = true;
            delta(&mut heard, said["index"].as_u64(), &said["delta"]);
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
    let mut heard = Heard {
        usage: Some(tokens(&said["usage"])),
        stopped: said["stop_reason"].as_str().map(stop),
        over: true,
        at_work: true,
        ..Heard::default()
    };
    let mut text = String::new();
    for (index, part) in (0..).zip(blocks) {
        block(&mut heard, Some(index), part);
        text.push_str(&heard.text);
    }
    heard.text = text;
    Ok(heard)
}

/// What a block begins with, or holds where it came whole.
fn block(heard: &mut Heard, slot: Option<u64>, part: &Value) {
    heard.text = text(part);
    match part["type"].as_str() {
        Some("tool_use") => heard.calls.push(Piece {
            slot,
            id: part["id"].as_str().unwrap_or_default().to_owned(),
            name: part["name"].as_str().unwrap_or_default().to_owned(),
            arguments: match part["input"].as_object() {
                Some(input) if !input.is_empty() => part["input"].to_string(),
                Some(_) | None => String::new(),
            },
        }),
        Some("thinking" | "redacted_thinking") => {
            heard.thoughts.extend(slot.zip(part.as_object().cloned()));
        }
        Some(_) | None => {}
    }
}

fn delta(heard: &mut Heard, slot: Option<u64>, part: &Value) {
    heard.text = text(part);
    match part["type"].as_str() {
        Some("input_json_delta") => heard.calls.push(Piece {
            slot,
            arguments: part["partial_json"].as_str().unwrap_or_default().to_owned(),
            ..Piece::default()
        }),
        Some("thinking_delta") => heard.thoughts.extend(slot.zip(only(part, "thinking"))),
        Some("signature_delta") => heard.thoughts.extend(slot.zip(only(part, "signature"))),
        Some(_) | None => {}
    }
}

fn only(part: &Value, key: &str) -> Option<Thought> {
    let value = part.get(key)?;
    Some(Thought::from_iter([(key.to_owned(), value.clone())]))
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
        cached: usage["cache_read_input_tokens"].as_u64(),
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
mod tests;
