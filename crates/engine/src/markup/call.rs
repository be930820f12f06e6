//! A name or a JSON document in calling position.
//!
//! In: what stands behind a mark. Out: the offered tool that is called there. Never: a name in the
//! middle of a sentence.

use serde_json::Value;

/// How far behind a mark a name may stand, in bytes.
const WINDOW_BYTES: usize = 4 * 1024;

/// Longest JSON document behind a mark, in bytes: arguments may come first, and be a whole file.
const DOCUMENT_MAX_BYTES: usize = 160 * 1024;

/// How deep a call may lie in a JSON document.
const DEPTH_MAX: usize = 5;

/// What may stand between a mark and the name or the document, in any order.
const BETWEEN: [&str; 24] = [
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
    "<invoke>",
    "<name>",
    "<parameter=",
    "function",
    "print(",
    "call:",
    "json",
    "|>",
    ">",
    "[",
    "\"",
    "'",
    "`",
];

/// Keys that hold a tool's name in JSON and in its relatives.
const NAME_KEYS: [&str; 10] = [
    "\"name\"",
    "\"tool_name\"",
    "\"tool\"",
    "\"function\"",
    "\"action\"",
    "\"recipient_name\"",
    "'name'",
    "'tool'",
    "tool =>",
    "name =>",
];

/// The same keys where the document is a document.
const NAMES: [&str; 9] = [
    "name",
    "tool_name",
    "toolName",
    "tool",
    "function",
    "function_name",
    "recipient_name",
    "action",
    "tool_id",
];

/// Keys of what a tool is called with.
const ARGUMENTS: [&str; 10] = [
    "arguments",
    "parameters",
    "args",
    "input",
    "tool_input",
    "toolInput",
    "action_input",
    "kwargs",
    "tool_args",
    "params",
];

/// Keys under which a call, or a list of them, lies in a larger document.
const HOLDERS: [&str; 13] = [
    "function",
    "function_call",
    "functionCall",
    "tool_call",
    "toolCall",
    "tool_calls",
    "toolCalls",
    "tool_uses",
    "tool_use",
    "toolUse",
    "params",
    "actions",
    "calls",
];

/// The tool that is called right behind a mark.
pub(super) fn after<'a>(text: &str, offered: &'a [String]) -> Option<&'a str> {
    let mut rest = window(text, DOCUMENT_MAX_BYTES);
    loop {
        rest = rest.trim_start();
        if let Some(tool) = named(rest, offered) {
            return Some(tool);
        }
        if rest.starts_with('{') {
            let whole = super::first_json(rest).and_then(|value| of_json(&value, offered));
            return whole.or_else(|| keyed(window(rest, WINDOW_BYTES), offered));
        }
        rest = BETWEEN
            .iter()
            .find_map(|filler| rest.strip_prefix(filler))?;
    }
}

/// The tool whose name the text begins with, where a call goes on behind it.
pub(super) fn named<'a>(text: &str, offered: &'a [String]) -> Option<&'a str> {
    let tool = offered.iter().find(|tool| {
        past(text, tool).is_some_and(|rest| {
            let line_ends = rest
                .trim_start_matches([' ', '\t'])
                .starts_with(['\n', '\r']);
            let rest = rest.trim_start();
            let goes_on = rest
                .starts_with(['{', '(', '<', '>', '"', '\'', ':', '[', ']', '|', '/', '`'])
                || rest.starts_with(".call(")
                || rest.starts_with("json");
            rest.is_empty() || line_ends || goes_on
        })
    })?;
    Some(tool)
}

/// What stands behind a tool's name, however the name is dressed: in other letters, with a dash for a
/// low line, behind the space of its maker.
pub(super) fn past<'t>(text: &'t str, tool: &str) -> Option<&'t str> {
    let plain = text.get(..tool.len()).filter(|head| is_same(head, tool));
    if plain.is_some() {
        return text.get(tool.len()..);
    }
    let word = text
        .find(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '-' | ':')))
        .unwrap_or(text.len());
    let dressed = bare(&text[..word]);
    (dressed.len() < word && is_same(dressed, tool)).then(|| &text[word..])
}

/// Whether a word is the tool's name.
pub(super) fn is_named(word: &str, tool: &str) -> bool {
    is_same(word, tool) || is_same(bare(word), tool)
}

/// A name without the space of its maker, as in `functions.read` or `mcp__files__read`, and without a
/// number of the call.
fn bare(name: &str) -> &str {
    let name = match name.rsplit_once(':') {
        Some((name, number)) if number.bytes().all(|b| b.is_ascii_digit()) => name,
        _ => name,
    };
    let name = name.rsplit(['.', ':']).next().unwrap_or(name);
    name.rsplit_once("__").map_or(name, |(_, name)| name)
}

fn is_same(one: &str, other: &str) -> bool {
    let plain = |b: u8| {
        if b == b'-' {
            b'_'
        } else {
            b.to_ascii_lowercase()
        }
    };
    one.len() == other.len() && one.bytes().map(plain).eq(other.bytes().map(plain))
}

/// The tool that a JSON document calls: it has a name and arguments. A list of calls is one, too.
pub(super) fn of_json<'a>(value: &Value, offered: &'a [String]) -> Option<&'a str> {
    of_value(value, offered, DEPTH_MAX)
}

fn of_value<'a>(value: &Value, offered: &'a [String], depth: usize) -> Option<&'a str> {
    let depth = depth.checked_sub(1)?;
    match value {
        Value::Array(calls) => calls.iter().find_map(|call| of_value(call, offered, depth)),
        Value::Object(_) => of_object(value, offered).or_else(|| {
            HOLDERS
                .iter()
                .find_map(|key| of_value(value.get(*key)?, offered, depth))
        }),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => None,
    }
}

fn of_object<'a>(value: &Value, offered: &'a [String]) -> Option<&'a str> {
    let mut names = NAMES.iter().filter_map(|key| value.get(*key)?.as_str());
    let has_arguments = ARGUMENTS
        .iter()
        .any(|key| value.get(*key).is_some_and(|found| !found.is_null()));
    let name = names.next().filter(|_| has_arguments)?;
    let tool = offered.iter().find(|tool| is_named(name, tool))?;
    Some(tool)
}

/// A name behind one of the keys; the document need not be whole or even JSON.
fn keyed<'a>(text: &str, offered: &'a [String]) -> Option<&'a str> {
    NAME_KEYS.iter().find_map(|key| {
        let (_, rest) = text.split_once(key)?;
        let rest = rest.trim_start_matches([' ', ':', '=', '>', '\n', '\t']);
        let rest = rest.strip_prefix(['"', '\'']).unwrap_or(rest);
        let tool = offered.iter().find(|tool| {
            let after = past(rest, tool);
            after.is_some_and(|after| after.starts_with(['"', '\'', ',']))
        })?;
        Some(tool.as_str())
    })
}

fn window(text: &str, most: usize) -> &str {
    let mut end = text.len().min(most);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}
