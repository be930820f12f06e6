//! An answer to a search as text.
//!
//! In: hits, and engines that gave none. Out: numbered hits for a model, or a sentence that there are
//! none. Never: a hit with the shape of a credential, half a hit, or more than a model may be given.

use guildhall_confine::credential_in;
use guildhall_web::{Hit, SearchAnswer, TEXT_MAX_CHARS};

/// Room that is kept for what is said at the end, in characters.
const NOTICES_MAX_CHARS: usize = 200;

/// What a model is told.
pub(super) struct Told {
    pub(super) text: String,
    /// How many hits it has.
    pub(super) hits: usize,
}

/// Writes an answer out. One hit that may not be shown takes no other with it.
pub(super) fn told(answer: &SearchAnswer) -> Told {
    if answer.hits.is_empty() {
        return Told {
            text: nothing(&answer.unresponsive),
            hits: 0,
        };
    }
    let mut parts: Vec<String> = Vec::new();
    let (mut secret, mut long, mut chars) = (0, 0, 0);
    for hit in &answer.hits {
        let text = format!("{}. {}", parts.len() + 1, lines(hit));
        let more = text.chars().count() + "\n\n".len();
        if credential_in(text.as_bytes()).is_some() {
            secret += 1;
        } else if chars + more > TEXT_MAX_CHARS - NOTICES_MAX_CHARS {
            long += 1;
        } else {
            chars += more;
            parts.push(text);
        }
    }
    let hits = parts.len();
    let notices = [
        (secret, "with the shape of a credential in them"),
        (long, "for want of room"),
    ];
    for (count, why) in notices.into_iter().filter(|(count, _)| *count > 0) {
        parts.push(format!("[hits left out {why}: {count}]"));
    }
    Told {
        text: parts.join("\n\n"),
        hits,
    }
}

fn lines(hit: &Hit) -> String {
    let lines = [&hit.title, &hit.url, &hit.snippet];
    let lines = lines.map(String::as_str);
    let lines: Vec<&str> = lines.into_iter().filter(|line| !line.is_empty()).collect();
    lines.join("\n   ")
}

fn nothing(unresponsive: &[String]) -> String {
    let mut text = "Nothing was found.".to_owned();
    if !unresponsive.is_empty() {
        let names = unresponsive.join(", ");
        text.push_str(" Search engines that gave the instance no answer: ");
        text.push_str(&names);
        text.push('.');
    }
    text
}
