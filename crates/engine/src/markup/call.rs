//! A name or a JSON document in calling position.
//!
//! In: what stands behind a mark. Out: the offered tool that is called there. Never: a name in the
//! middle of a sentence.

use serde_json::Value;

/// How far behind a mark a name may stand, in bytes.
const WINDOW_BYTES: usize = 2_000;

/// What may stand between a mark and the name or the document, in any order.
const BETWEEN: [&str; 22] = [
    "<|tool_calls_begin|>",
    "<|tool_call_begin|>",
    "<|tool_call_start|>",
    "<|tool_sep|>",
    "<|plugin|>",
    "<tool_call>",
    "<tool_name>",
    "<function=",
    "<function name=",
    "<function>",
    "<invoke name=",
    "<name>",
    "functions.",
    "function",
    "default_api.",
    "print(",
    "call:",
    "|>",
    ">",
    "[",
    "\"",
    "'",
];

/// Keys that hold a tool's name in JSON and in its relatives.
const NAME_KEYS: [&str; 8] = [
    "\"name\"",
    "\"tool_name\"",
    "\"tool\"",
    "\"function\"",
    "\"recipient_name\"",
    "'name'",
    "tool =>",
    "name =>",
];

/// The tool that is called right behind a mark.
pub(super) fn after<'a>(text: &str, offered: &'a [String]) -> Option<&'a str> {
    let mut rest = window(text);
    loop {
        rest = rest.trim_start();
        if let Some(tool) = named(rest, offered) {
            return Some(tool);
        }
        if rest.starts_with('{') {
            return keyed(rest, offered);
        }
        rest = BETWEEN
            .iter()
            .find_map(|filler| rest.strip_prefix(filler))?;
    }
}

/// The tool whose name the text begins with, where a call goes on behind it.
pub(super) fn named<'a>(text: &str, offered: &'a [String]) -> Option<&'a str> {
    let tool = offered.iter().find(|tool| {
        text.strip_prefix(tool.as_str()).is_some_and(|rest| {
            let line_ends = rest
                .trim_start_matches([' ', '\t'])
                .starts_with(['\n', '\r']);
            let rest = rest.trim_start();
            let goes_on = rest
                .starts_with(['{', '(', '<', '>', '"', '\'', ':', '[', ']', '|', '/'])
                || rest.starts_with(".call(");
            rest.is_empty() || line_ends || goes_on
        })
    })?;
    Some(tool)
}

/// The tool that a JSON document calls: it has a name and arguments. A list of calls is one, too.
pub(super) fn of_json<'a>(value: &Value, offered: &'a [String]) -> Option<&'a str> {
    match value {
        Value::Array(calls) => calls.iter().find_map(|call| of_json(call, offered)),
        Value::Object(_) => match value["tool_calls"].as_array() {
            Some(calls) => calls.iter().find_map(|call| of_json(call, offered)),
            None => of_object(value, offered),
        },
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => None,
    }
}

fn of_object<'a>(value: &Value, offered: &'a [String]) -> Option<&'a str> {
    let nested = &value["function"];
    let inner = if nested.is_object() { nested } else { value };
    let name = ["name", "tool_name", "tool", "function", "recipient_name"]
        .iter()
        .find_map(|key| inner[*key].as_str())?;
    let name = name.strip_prefix("functions.").unwrap_or(name);
    let has_arguments = ["arguments", "parameters", "args", "input", "tool_input"]
        .iter()
        .any(|key| !inner[*key].is_null());
    let tool = offered.iter().find(|tool| has_arguments && *tool == name)?;
    Some(tool)
}

/// A name behind one of the keys; the document need not be whole or even JSON.
fn keyed<'a>(text: &str, offered: &'a [String]) -> Option<&'a str> {
    NAME_KEYS.iter().find_map(|key| {
        let (_, rest) = text.split_once(key)?;
        let rest = rest.trim_start_matches([' ', ':', '=', '>', '\n', '\t']);
        let rest = rest.strip_prefix(['"', '\'']).unwrap_or(rest);
        let rest = rest.strip_prefix("functions.").unwrap_or(rest);
        let tool = offered.iter().find(|tool| {
            let after = rest.strip_prefix(tool.as_str());
            after.is_some_and(|after| after.starts_with(['"', '\'', ',']))
        })?;
        Some(tool.as_str())
    })
}

fn window(text: &str) -> &str {
    let mut end = text.len().min(WINDOW_BYTES);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}
