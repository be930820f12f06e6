//! The prompt: one envelope line, then the text as data.
//!
//! In: a message and the names that the operator gave. Out: what the engine is asked. Never: a name
//! or a text that forges an envelope: in the envelope everything is escaped, and a line of text that
//! looks like one is marked.

use crate::run::Prompt;
use guildhall_authority::{
    event::{Enclosed, MessageText, Said},
    place::Place,
};
use guildhall_binding::Policy;
use std::fmt::Write as _;

/// The first characters of an envelope.
pub const ENVELOPE_OPENS: &str = "[guildhall ";
/// Longest name in an envelope, in characters; Discord's longest is 100.
const NAME_MAX_CHARS: usize = 100;
/// Longest quoted text, in characters. Discord's longest message is 4000.
const QUOTE_MAX_CHARS: usize = 4_000;

/// Makes the prompt of a person's message.
#[must_use]
pub fn of_message(policy: &Policy, place: Place, said: &Said) -> Prompt {
    let channel = policy
        .channels
        .get(&place.channel)
        .map_or("", |channel| channel.name.as_str());
    let author = policy
        .users
        .get(&said.author.id)
        .map_or("", |user| user.name.as_str());
    let mut envelope = String::from(ENVELOPE_OPENS);
    let mut field = |name: &str, value: &str| {
        // Writing to a String cannot fail.
        let _ok = write!(envelope, "{name}=\"{}\" ", escaped(value));
    };
    field("server", &policy.guild.name);
    field("channel", channel);
    if let Some(thread) = place.thread {
        field("thread", &thread.to_string());
    }
    field("author", author);
    field("author_id", &said.author.id.to_string());
    field("requester", said.author.name.as_str());
    field("message_id", &said.id.to_string());
    field("characters", &said.text.chars().to_string());
    let envelope = format!("{}]", envelope.trim_end());
    Prompt {
        envelope,
        text: MessageText::new(body(said)),
    }
}

/// What a message brings beside its own text, in words for the people who are asked: whose words the
/// engine has read.
pub(crate) fn sources(said: &Said) -> Vec<String> {
    let source = |enclosed: &Enclosed| match enclosed {
        Enclosed::Attachment { text: None, .. } | Enclosed::Sticker { .. } => None,
        Enclosed::Attachment { name, .. } => Some(format!("attachment {}", name.as_str())),
        Enclosed::Quoted { author, .. } => Some(format!("message of {}", author.as_str())),
        Enclosed::Forwarded { .. } => Some("forwarded message".to_owned()),
        Enclosed::Poll { .. } => Some("poll".to_owned()),
    };
    said.enclosed.iter().filter_map(source).collect()
}

fn body(said: &Said) -> String {
    let mut body = data(said.text.as_str());
    for enclosed in &said.enclosed {
        if !body.is_empty() {
            body.push('\n');
        }
        body.push_str(&enclosure(enclosed));
    }
    body
}

fn enclosure(enclosed: &Enclosed) -> String {
    match enclosed {
        Enclosed::Attachment {
            name,
            media,
            bytes,
            url: _,
            text,
        } => {
            let media = media.as_ref().map_or("unknown type", MessageText::as_str);
            let name = escaped(name.as_str());
            let head = format!("(attached: \"{name}\", {}, {bytes} bytes", escaped(media));
            match text {
                None => format!("{head}; not read)"),
                Some(text) => format!("{head})\n{}", quoted(text.as_str(), usize::MAX)),
            }
        }
        Enclosed::Quoted { author, text } => {
            let author = escaped(author.as_str());
            format!(
                "(in reply to \"{author}\")\n{}",
                quoted(text.as_str(), QUOTE_MAX_CHARS)
            )
        }
        Enclosed::Forwarded { text } => {
            format!(
                "(forwarded message)\n{}",
                quoted(text.as_str(), QUOTE_MAX_CHARS)
            )
        }
        Enclosed::Sticker { name } => format!("(sticker: \"{}\")", escaped(name.as_str())),
        Enclosed::Poll { question, answers } => {
            let mut text = format!("(poll)\n{}", quoted(question.as_str(), QUOTE_MAX_CHARS));
            for answer in answers.iter().take(10) {
                text.push('\n');
                text.push_str(&quoted(&format!("- {}", answer.as_str()), QUOTE_MAX_CHARS));
            }
            text
        }
    }
}

/// Text as data: a line that looks like an envelope gets a backslash before it.
fn data(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for (index, line) in lines(text).enumerate() {
        if index > 0 {
            out.push('\n');
        }
        let lead = line.len() - line.trim_start_matches(skippable).len();
        let (before, rest) = line.split_at(lead);
        out.push_str(before);
        if rest
            .get(..ENVELOPE_OPENS.len() - 1)
            .is_some_and(looks_like_an_envelope)
        {
            out.push('\\');
        }
        out.push_str(rest);
    }
    out
}

fn looks_like_an_envelope(start: &str) -> bool {
    start.eq_ignore_ascii_case(ENVELOPE_OPENS.trim_end())
}

/// Characters that a reader does not see at the start of a line.
fn skippable(c: char) -> bool {
    c.is_whitespace() || c.is_control() || is_invisible(c)
}

const fn is_invisible(c: char) -> bool {
    matches!(c, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}' | '\u{ad}')
}

/// Every kind of line end counts as one.
fn lines(text: &str) -> impl Iterator<Item = &str> {
    text.split(['\n', '\u{b}', '\u{c}', '\u{85}', '\u{2028}', '\u{2029}'])
        .map(|line| line.strip_suffix('\r').unwrap_or(line))
        .flat_map(|line| line.split('\r'))
}

fn quoted(text: &str, max_chars: usize) -> String {
    let cut: String = text.chars().take(max_chars).collect();
    let mut out = String::new();
    for (index, line) in lines(&cut).enumerate() {
        if index > 0 {
            out.push('\n');
        }
        out.push_str("> ");
        out.push_str(line);
    }
    if cut.len() < text.len() {
        out.push_str("\n> (cut here)");
    }
    out
}

/// A value inside the envelope: one line, no quote, no bracket, no control, no direction marks.
fn escaped(value: &str) -> String {
    let mut out = String::new();
    for c in value.chars().take(NAME_MAX_CHARS) {
        match c {
            '"' | '\\' | '[' | ']' => {
                out.push('\\');
                // Brackets never appear bare, so no reader can take one for the envelope's own.
                out.push_str(match c {
                    '[' => "u005b",
                    ']' => "u005d",
                    '"' => "u0022",
                    _ => "\\",
                });
            }
            c if c.is_control() || is_invisible(c) || matches!(c, '\u{2028}' | '\u{2029}') => {
                let _ok = write!(out, "\\u{:04x}", u32::from(c));
            }
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests;
