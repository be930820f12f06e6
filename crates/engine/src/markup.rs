//! Tool calls that a model wrote as text.
//!
//! In: an answer as it would be shown, and the names of the tools that were offered. Out: the call
//! that it really is, if it is one. Never: a call carried out; talk about mark-up taken for a call.
//!
//! A call names an offered tool in the place where its dialect puts the name. What stands in a code
//! fence or in inline code is talk, with three exceptions, since no model answers a person like
//! that: an answer that is nothing but one fence with a call in it; a last fence whose language says
//! that it is a call; and a last fence that is a JSON call, behind a few words of somebody who sets about it.

mod call; // a name or a JSON document in calling position
mod lines; // calls that are lines of their own
mod marks; // the marks that open a call, by dialect
mod tags; // tags that open a call

use crate::fence::Fence;
use guildhall_connector::run::ToolUse;
use serde_json::Value;

/// Ways to write a tool call as text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Dialect {
    /// `<tool_call>`, `<function_calls>` and the like around JSON or a name.
    Hermes,
    /// `<function=name>` or `<function name="name">`.
    FunctionTag,
    /// `<invoke name="name">`, with any prefix.
    Invoke,
    /// `minimax:tool_call`.
    MiniMax,
    /// Marks between bars, full-width or not.
    DeepSeek,
    /// `<TOOLCALL>`.
    Nemotron,
    /// `[TOOL_CALLS]`.
    Mistral,
    /// `<|python_tag|>`.
    Llama,
    /// `<|action_start|>`.
    InternLm,
    /// `<|START_ACTION|>`.
    Cohere,
    /// `to=functions.name` between channel marks.
    Harmony,
    /// `<start_function_call>call:name{..}`, and `tool_code`.
    Gemma,
    /// `functools[..]`.
    Functools,
    /// `[tool:name] {..}`.
    Bracket,
    /// `>>>name`.
    Functionary,
    /// `[name(..)]`.
    Pythonic,
    /// `Action: name` and `Action Input:`.
    ReAct,
    /// `<name><argument>..</argument></name>`.
    NamedTag,
    /// A JSON document by itself.
    Json,
    /// A JSON document in a fence, or a fence that says that it is a call.
    Fenced,
}

impl Dialect {
    /// Its code in records and logs.
    pub(crate) const fn code(self) -> &'static str {
        match self {
            Self::Hermes => "hermes",
            Self::FunctionTag => "function-tag",
            Self::Invoke => "invoke",
            Self::MiniMax => "minimax",
            Self::DeepSeek => "deepseek",
            Self::Nemotron => "nemotron",
            Self::Mistral => "mistral",
            Self::Llama => "llama",
            Self::InternLm => "internlm",
            Self::Cohere => "cohere",
            Self::Harmony => "harmony",
            Self::Gemma => "gemma",
            Self::Functools => "functools",
            Self::Bracket => "bracket",
            Self::Functionary => "functionary",
            Self::Pythonic => "pythonic",
            Self::ReAct => "react",
            Self::NamedTag => "named-tag",
            Self::Json => "json",
            Self::Fenced => "fenced",
        }
    }
}

/// A tool call that came as text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RawCall {
    /// How it was written.
    pub(crate) dialect: Dialect,
    /// The offered tool that it names.
    pub(crate) tool: String,
}

impl RawCall {
    /// The call as the turn record keeps it: refused, with the dialect in the reason.
    pub(crate) fn as_tool_use(&self) -> ToolUse {
        ToolUse {
            name: self.tool.clone(),
            outcome: "refused".to_owned(),
            reason: Some(format!("{RAW_CALL}{}", self.dialect.code())),
            ..ToolUse::default()
        }
    }
}

/// How a turn record begins the reason of a call that came as text; the dialect follows.
pub(crate) const RAW_CALL: &str = "raw-tool-call-";

/// How many places of one kind are looked at: an answer of nothing but marks must not cost seconds.
const PLACES_MAX: usize = 100;

/// Finds a call of an offered tool in an answer. With no tool offered there is none.
pub(crate) fn raw_call(text: &str, offered: &[String]) -> Option<RawCall> {
    if offered.is_empty() {
        return None;
    }
    let text = plain_bars(text);
    let (talk, fences) = apart(&text);
    let found = spoken(&talk, offered)
        .or_else(|| json_in(&talk, offered))
        .or_else(|| fenced(&talk, fences.last()?, fences.len(), offered));
    found.map(|(dialect, tool)| RawCall {
        dialect,
        tool: tool.to_owned(),
    })
}

/// A call by its marks, tags or lines.
fn spoken<'a>(talk: &str, offered: &'a [String]) -> Option<(Dialect, &'a str)> {
    marks::find(talk, offered)
        .or_else(|| tags::find(talk, offered))
        .or_else(|| lines::find(talk, offered))
}

/// Models write bars and blanks of their marks full-width as well.
fn plain_bars(text: &str) -> String {
    text.chars()
        .map(|c| match c {
            '\u{ff5c}' => '|',
            '\u{2581}' => '_',
            other => other,
        })
        .collect()
}

/// A fenced block.
struct Block {
    info: String,
    body: String,
    /// Whether anything but blanks comes after it.
    is_last: bool,
}

/// The text outside code, and the fenced blocks.
fn apart(text: &str) -> (String, Vec<Block>) {
    let mut fence = Fence::default();
    let mut talk = String::new();
    let mut blocks: Vec<Block> = Vec::new();
    for line in text.split_inclusive('\n') {
        let was_open = fence.is_open();
        let held = fence.holds(line);
        match (held, was_open, fence.is_open()) {
            (false, _, _) => {
                if lines::is_action(line) {
                    talk.push_str(line);
                } else {
                    talk.push_str(&without_spans(line));
                }
                if let Some(block) = blocks.last_mut() {
                    block.is_last &= line.trim().is_empty();
                }
            }
            (true, false, _) => {
                blocks.push(Block {
                    info: line
                        .trim()
                        .trim_start_matches(['`', '~'])
                        .trim()
                        .to_lowercase(),
                    body: String::new(),
                    is_last: true,
                });
            }
            (true, true, true) => {
                if let Some(block) = blocks.last_mut() {
                    block.body.push_str(line);
                }
            }
            (true, true, false) => {}
        }
    }
    (talk, blocks)
}

/// A line without its inline code.
fn without_spans(line: &str) -> String {
    let mut out = String::new();
    let mut rest = line;
    while let Some(at) = rest.find('`') {
        let run = rest[at..].bytes().take_while(|b| *b == b'`').count();
        let (mark, after) = rest[at..].split_at(run);
        out.push_str(&rest[..at]);
        match after.find(mark) {
            Some(end) => {
                // A word stays where the code was, so that what stood around it does not join.
                out.push_str("code");
                rest = &after[end + run..];
            }
            None => {
                out.push_str(mark);
                rest = after;
            }
        }
    }
    out.push_str(rest);
    out
}

/// A JSON document at the start of a line that is a call, arguments and all.
fn json_in<'a>(talk: &str, offered: &'a [String]) -> Option<(Dialect, &'a str)> {
    let mut at = 0;
    let mut tried = 0;
    // What lies in a document that is no call is none either.
    let mut past = 0;
    for line in talk.split_inclusive('\n') {
        let start = line.trim_start();
        let from = at + line.len() - start.len();
        at += line.len();
        if from < past || !start.starts_with(['{', '[']) {
            continue;
        }
        tried += 1;
        let mut values = serde_json::Deserializer::from_str(&talk[from..]).into_iter::<Value>();
        if let Some(Ok(value)) = values.next() {
            if let Some(tool) = call::of_json(&value, offered) {
                return Some((Dialect::Json, tool));
            }
            past = from + values.byte_offset();
        }
        if tried == PLACES_MAX {
            return None;
        }
    }
    None
}

fn first_json(text: &str) -> Option<Value> {
    let mut values = serde_json::Deserializer::from_str(text).into_iter::<Value>();
    values.next()?.ok()
}

/// Languages of a fence that say that it is a call.
const CALL_LANGUAGES: [&str; 6] = [
    "tool_code",
    "tool_call",
    "tool_calls",
    "tool_use",
    "function_call",
    "tool-call",
];

/// Words with which people show an example. A model that means to call says what it will do.
const EXAMPLE_WORDS: [&str; 13] = [
    "example",
    "instance",
    "e.g.",
    "such",
    "looks like",
    "look like",
    "like this",
    "format",
    "would",
    "syntax",
    "template",
    "sends",
    "shape",
];
/// Words of somebody who sets about something, in the first person.
const INTENT_WORDS: [&str; 15] = [
    "i'll",
    "i will",
    "i am ",
    "i'm ",
    "i need",
    "i should",
    "i have to",
    "let me",
    "let's",
    "going to",
    "one moment",
    "sure",
    "okay",
    "right away",
    "first,",
];
/// Longest words before a fence that is a call, in bytes.
const LEAD_MAX_BYTES: usize = 400;

fn fenced<'a>(
    talk: &str,
    last: &Block,
    fences: usize,
    offered: &'a [String],
) -> Option<(Dialect, &'a str)> {
    let says_call = CALL_LANGUAGES.contains(&last.info.as_str());
    let alone = fences == 1 && talk.trim().is_empty();
    if !last.is_last {
        return None;
    }
    let document = first_json(&last.body);
    let called = document.and_then(|value| call::of_json(&value, offered));
    let called = match called {
        None if says_call => call::after(&last.body, offered),
        // A fence that is the whole answer is no example of anything.
        None if alone => spoken(&last.body, offered).map(|(_, tool)| tool),
        Some(tool) if says_call || alone || (fences == 1 && leads_in(talk)) => Some(tool),
        _ => None,
    };
    Some((Dialect::Fenced, called?))
}

/// Whether the words before a fence say what will be done, and show nothing.
fn leads_in(talk: &str) -> bool {
    let talk = talk.trim().to_lowercase().replace('\u{2019}', "'");
    let holds = |words: &[&str]| words.iter().any(|word| talk.contains(word));
    talk.len() <= LEAD_MAX_BYTES && holds(&INTENT_WORDS) && !holds(&EXAMPLE_WORDS)
}

#[cfg(test)]
mod tests;
