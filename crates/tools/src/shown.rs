//! What people and records are shown of a call.
//!
//! In: paths, queries, texts of a change. Out: the same, masked and bounded, with what cannot be seen
//! made visible. Never: a credential's shape, a character that turns a line around.

use guildhall_confine::{credential_in, is_unseen};

/// Longest line on a card, in characters.
const LINE_MAX_CHARS: usize = 300;

/// Stands for a text that has the shape of a credential.
pub(crate) const MASKED: &str = "<masked>";

/// One line of a call's target for cards and the list of what was read.
pub(crate) fn line(text: &str) -> String {
    if credential_in(text.as_bytes()).is_some() {
        return MASKED.to_owned();
    }
    let mut shown = String::new();
    for (index, (at, c)) in text.char_indices().enumerate() {
        if index == LINE_MAX_CHARS {
            shown.push('…');
            break;
        }
        push_seen(&mut shown, c, &text[at + c.len_utf8()..]);
    }
    shown
}

/// What a card shows of one fact, exactly: the card itself writes out what cannot be seen, and says
/// that it did.
pub(crate) fn fact(text: &str) -> String {
    match credential_in(text.as_bytes()) {
        Some(_) => MASKED.to_owned(),
        None => text.to_owned(),
    }
}

/// One line for a record: as long as it is in JSON, at most `limit` bytes and the mark of the cut.
pub(crate) fn recorded(text: &str, limit: usize) -> String {
    if credential_in(text.as_bytes()).is_some() {
        return MASKED.to_owned();
    }
    let (mut shown, mut weight) = (String::new(), 0);
    for (at, c) in text.char_indices() {
        let before = shown.len();
        push_seen(&mut shown, c, &text[at + c.len_utf8()..]);
        weight += encoded(&shown[before..]);
        if weight > limit {
            shown.truncate(before);
            shown.push('…');
            break;
        }
    }
    shown
}

/// How many bytes a shown text takes in JSON.
pub(crate) fn encoded(shown: &str) -> usize {
    shown.len() + shown.matches(['"', '\\']).count()
}

/// Writes a character so that no two texts come to read the same: a backslash that would begin what
/// stands for another character is written out as well.
fn push_seen(shown: &mut String, c: char, rest: &str) {
    let ambiguous = c == '\\' && rest.starts_with("u{");
    if ambiguous || c.is_control() || is_unseen(c) {
        shown.extend(c.escape_unicode());
    } else {
        shown.push(c);
    }
}

#[cfg(test)]
mod tests {
    use super::line;

    #[test]
    fn no_two_texts_become_one_line() {
        let texts = [
            "a\u{202e}b",
            r"a\u{202e}b",
            r"a\\u{202e}b",
            r"a\u{5c}u{202e}b",
            "a\rb",
            r"a\rb",
            r"a\u{d}b",
            "a\nb",
            r"a\nb",
        ];
        let mut lines: Vec<_> = texts.iter().map(|text| line(text)).collect();
        assert!(lines.iter().all(|line| !line.contains(char::is_control)));
        assert_eq!(line(r"C:\dir\r"), r"C:\dir\r");
        lines.sort_unstable();
        lines.dedup();
        assert_eq!(lines.len(), texts.len(), "{lines:?}");
    }
}
