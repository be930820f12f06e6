//! Tags that open a call, whatever blanks, attributes and letters they are written with.
//!
//! In: the text outside code. Out: the first tag with a call of an offered tool in it or right behind
//! it. Never: a tag of ordinary mark-up that is merely named like a tool.

use super::{Dialect, PLACES_MAX, call};

/// Names of tags, in lower case and without the space of their maker, that say that a call comes.
const TAGS: [(&str, Dialect); 14] = [
    ("tool_call", Dialect::Hermes),
    ("tool_calls", Dialect::Hermes),
    ("toolcall", Dialect::Nemotron),
    ("tool_use", Dialect::Hermes),
    ("use_tool", Dialect::Hermes),
    ("use_mcp_tool", Dialect::Hermes),
    ("tool", Dialect::Hermes),
    ("function_call", Dialect::Hermes),
    ("function_calls", Dialect::Hermes),
    ("longcat_tool_call", Dialect::Hermes),
    ("invoke", Dialect::Invoke),
    ("function", Dialect::FunctionTag),
    ("action", Dialect::Hermes),
    ("tool_code", Dialect::Gemma),
];

/// Attributes that hold a tool's name.
const NAME_ATTRIBUTES: [&str; 4] = ["name", "tool", "tool_name", "function"];

/// Longest tag that is read, in bytes.
const TAG_MAX_BYTES: usize = 2_000;

/// One tag as it is written.
struct Tag<'t> {
    /// In lower case, without the space of its maker.
    name: String,
    attributes: &'t str,
    is_empty: bool,
    /// What comes behind it.
    rest: &'t str,
    /// Whether only blanks stand before it on its line.
    begins_line: bool,
}

/// The first call in or behind a tag.
pub(super) fn find<'a>(talk: &str, offered: &'a [String]) -> Option<(Dialect, &'a str)> {
    let mut named = 0;
    for (at, _) in talk.match_indices('<') {
        let Some(tag) = tag(talk, at) else { continue };
        let is_tool = || offered.iter().any(|tool| call::is_named(&tag.name, tool));
        if let Some((_, dialect)) = TAGS.iter().find(|(name, _)| *name == tag.name) {
            named += 1;
            let called = attribute(&tag, offered).or_else(|| behind(&tag, offered));
            if let Some(tool) = called {
                return Some((*dialect, tool));
            }
        } else if is_tool() {
            named += 1;
            if let Some(tool) = of_tool(&tag, offered) {
                return Some((Dialect::NamedTag, tool));
            }
        }
        if named > PLACES_MAX {
            break;
        }
    }
    None
}

/// The tag that begins at `at`; none where it is no opening tag.
fn tag(talk: &str, at: usize) -> Option<Tag<'_>> {
    let inside = talk[at + 1..].trim_start_matches([' ', '\t']);
    let word = inside
        .find(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | ':' | '.')))?;
    let name = &inside[..word];
    if name.is_empty() || name.len() > 100 {
        return None;
    }
    let rest = &inside[word..];
    let mut most = rest.len().min(TAG_MAX_BYTES);
    while !rest.is_char_boundary(most) {
        most -= 1;
    }
    let end = rest[..most].find('>')?;
    let attributes = rest[..end].trim();
    let (attributes, is_empty) = match attributes.strip_suffix('/') {
        Some(attributes) => (attributes.trim_end(), true),
        None => (attributes, false),
    };
    let before = talk[..at].rsplit('\n').next().unwrap_or("");
    let own = name.rsplit(':').next().unwrap_or(name);
    Some(Tag {
        name: own.to_ascii_lowercase(),
        attributes,
        is_empty,
        rest: &rest[end + 1..],
        begins_line: before.trim().is_empty(),
    })
}

/// The tool that a tag names in an attribute.
fn attribute<'a>(tag: &Tag<'_>, offered: &'a [String]) -> Option<&'a str> {
    NAME_ATTRIBUTES.iter().find_map(|key| {
        let value = tag.attributes.match_indices(key).find_map(|(at, _)| {
            let before = tag.attributes[..at].chars().next_back();
            let value = tag.attributes[at + key.len()..].trim_start();
            let value = value.strip_prefix('=')?.trim_start();
            before.is_none_or(char::is_whitespace).then_some(value)
        })?;
        let value = value.trim_start_matches(['"', '\'']);
        let end = value.find(['"', '\'', ' ', '\n']).unwrap_or(value.len());
        let tool = offered
            .iter()
            .find(|tool| call::is_named(&value[..end], tool));
        tool.map(String::as_str)
    })
}

/// The tool that is called behind a tag.
fn behind<'a>(tag: &Tag<'_>, offered: &'a [String]) -> Option<&'a str> {
    // `<tool>read</tool>` may be anybody's list.
    let is_common = matches!(tag.name.as_str(), "tool" | "action" | "function");
    let goes_on = tag.rest.trim_start().starts_with(['{', '[', '<']);
    if tag.is_empty || (is_common && !goes_on) {
        return None;
    }
    call::after(tag.rest, offered)
}

/// The tool that a tag is named like. A name of two words is no ordinary mark-up: arguments have to be
/// in it, as tags or as attributes. A name of one word may be, such as `list`: its tag has to begin a line
/// and to hold nothing but tags.
fn of_tool<'a>(tag: &Tag<'_>, offered: &'a [String]) -> Option<&'a str> {
    let tool = offered
        .iter()
        .find(|tool| call::is_named(&tag.name, tool))?;
    let is_told = tag.attributes.contains('=');
    if tag.is_empty {
        return (is_told && tool.contains('_')).then_some(tool.as_str());
    }
    let end = closing(tag.rest, &tag.name)?;
    let inside = tag.rest[..end].trim();
    let is_call = if tool.contains('_') {
        inside.contains("</") || inside.starts_with('{') || is_told
    } else {
        tag.begins_line && inside.starts_with('<') && inside.ends_with('>') && inside.contains("</")
    };
    is_call.then_some(tool.as_str())
}

/// Where the tag `name` is closed.
fn closing(text: &str, name: &str) -> Option<usize> {
    let places = text.match_indices("</").take(PLACES_MAX);
    places.map(|(at, _)| at).find(|at| {
        let closed = text[at + 2..].trim_start_matches([' ', '\t']);
        let own = closed.split(['>', ' ', '\n']).next().unwrap_or("");
        own.rsplit(':')
            .next()
            .unwrap_or(own)
            .eq_ignore_ascii_case(name)
    })
}
