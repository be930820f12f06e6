//! The marks that open a call, by dialect.
//!
//! In: the text outside code. Out: the first mark with a call of an offered tool right behind it.
//! Never: a mark by itself taken for a call.
//!
//! Sources: the chat templates that models are published with, and the tool parsers of servers that
//! run them.

use super::{Dialect, PLACES_MAX, call};

/// Marks in lower case; the more exact one of a pair comes first.
const MARKS: [(&str, Dialect); 25] = [
    ("minimax:tool_call", Dialect::MiniMax),
    ("]<]minimax[>[", Dialect::MiniMax),
    ("<|dsml|", Dialect::DeepSeek),
    ("<|tool_calls_section_begin|>", Dialect::DeepSeek),
    ("<|tool_calls_begin|>", Dialect::DeepSeek),
    ("<|tool_call_begin|>", Dialect::DeepSeek),
    ("<|tool_call_start|>", Dialect::DeepSeek),
    ("<|python_tag|>", Dialect::Llama),
    ("<|action_start|>", Dialect::InternLm),
    ("<|start_action|>", Dialect::Cohere),
    ("<start_function_call>", Dialect::Gemma),
    ("print(default_api.", Dialect::Gemma),
    ("[tool_calls]", Dialect::Mistral),
    ("functools[", Dialect::Functools),
    ("commentary to=", Dialect::Harmony),
    ("to=functions.", Dialect::Harmony),
    ("invoke name=", Dialect::Invoke),
    ("<function=", Dialect::FunctionTag),
    ("<function name=", Dialect::FunctionTag),
    ("<|tool_call|>", Dialect::Hermes),
    ("<|tool_call>", Dialect::Gemma),
    ("<|python_start|>", Dialect::Llama),
    ("action: ```json", Dialect::Cohere),
    ("[tool_call]", Dialect::Bracket),
    ("[tool_use]", Dialect::Bracket),
];

/// Marks that hold the name in brackets; a document has to follow, since `[tool: read]` alone may
/// be a label in a list.
const BRACKETS: [&str; 6] = [
    "[tool:",
    "[tool_call:",
    "[tool call:",
    "[tool_use:",
    "[function:",
    "[function_call:",
];

/// The first call behind a mark.
pub(super) fn find<'a>(talk: &str, offered: &'a [String]) -> Option<(Dialect, &'a str)> {
    // ASCII only, so that places in both are the same.
    let lower = talk.to_ascii_lowercase();
    let marked = MARKS.iter().find_map(|(mark, dialect)| {
        places(&lower, mark)
            .filter(|at| *dialect != Dialect::Invoke || in_a_tag(&lower[..*at]))
            .find_map(|at| call::after(&talk[at + mark.len()..], offered))
            .map(|tool| (*dialect, tool))
    });
    marked.or_else(|| {
        BRACKETS.iter().find_map(|mark| {
            let tool =
                places(&lower, mark).find_map(|at| bracketed(&talk[at + mark.len()..], offered))?;
            Some((Dialect::Bracket, tool))
        })
    })
}

fn places<'t>(text: &'t str, mark: &'t str) -> impl Iterator<Item = usize> + 't {
    text.match_indices(mark).map(|(at, _)| at).take(PLACES_MAX)
}

/// Whether a tag was opened right before: `<`, and at most a prefix such as `ns:`.
fn in_a_tag(before: &str) -> bool {
    before.rfind('<').is_some_and(|at| {
        let prefix = &before[at + 1..];
        prefix.len() <= 24 && prefix.chars().all(|c| !c.is_whitespace() && c != '>')
    })
}

fn bracketed<'a>(rest: &str, offered: &'a [String]) -> Option<&'a str> {
    let begun = rest.trim_start();
    let with_brackets = offered.iter().find(|tool| {
        let rest = call::past(begun, tool);
        rest.is_some_and(|rest| rest.trim_start().starts_with('('))
    });
    if let Some(tool) = with_brackets {
        return Some(tool);
    }
    let (name, rest) = rest.split_once(']')?;
    let (name, inline) = name
        .trim()
        .split_once(char::is_whitespace)
        .unwrap_or((name.trim(), ""));
    let has_document = [inline, rest]
        .iter()
        .any(|text| text.trim_start().starts_with('{'));
    let tool = offered.iter().find(|tool| call::is_named(name, tool))?;
    has_document.then_some(tool.as_str())
}
