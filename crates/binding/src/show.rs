//! How a fault shows what was found.
//!
//! In: a value or a key of the document. Out: a short text on one line. Never: a text that looks
//! like a credential, a control character, more than [`SHOWN_CHARS`] characters of a value.

use crate::json::Value;

/// Most characters of a text that are shown.
const SHOWN_CHARS: usize = 48;
/// An unbroken run of this many characters that mixes digits and cases may be a key or a token.
const SECRET_RUN_CHARS: usize = 16;

/// The value in words.
pub(crate) fn value(value: &Value) -> String {
    match value {
        Value::Null => "null".to_owned(),
        Value::Flag(flag) => flag.to_string(),
        Value::Whole(number) => format!("the number {number}"),
        Value::Real(number) => format!("the number {number:?}"),
        Value::Text(text) => quoted(text),
        Value::List(list) => format!("a list of {}", list.len()),
        Value::Object(members) => format!("an object with {} keys", members.len()),
    }
}

/// The value's type and size alone, for places where credentials may stand.
pub(crate) fn type_only(shown: &Value) -> String {
    match shown {
        Value::Text(text) => format!("a text of {} characters, not shown", text.chars().count()),
        Value::Whole(_) | Value::Real(_) => "a number, not shown".to_owned(),
        Value::Null | Value::Flag(_) | Value::List(_) | Value::Object(_) => value(shown),
    }
}

/// The path of `key` inside the object at `parent`.
pub(crate) fn member_path(parent: &str, key: &str) -> String {
    let plain = !key.is_empty()
        && key.len() <= SHOWN_CHARS
        && !looks_minted(key)
        && key
            .bytes()
            .all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'$');
    match (plain, parent.is_empty()) {
        (true, true) => key.to_owned(),
        (true, false) => format!("{parent}.{key}"),
        (false, _) => format!("{parent}[{}]", quoted(key)),
    }
}

fn quoted(text: &str) -> String {
    let length = text.chars().count();
    if looks_secret(text) {
        return format!("a text of {length} characters, not shown");
    }
    // Debug escapes controls and invisible characters, so that nothing can repaint a terminal.
    if length <= SHOWN_CHARS {
        return format!("{text:?}");
    }
    let head: String = text.chars().take(SHOWN_CHARS).collect();
    format!("{head:?} and so on, {length} characters")
}

/// A key of the file is camel case and has no digits; a long run with digits was pasted.
fn looks_minted(key: &str) -> bool {
    looks_secret(key) && key.bytes().any(|b| b.is_ascii_digit())
}

fn looks_secret(text: &str) -> bool {
    text.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_' || c == '-'))
        .filter(|run| run.len() >= SECRET_RUN_CHARS)
        .any(|run| {
            let has = |kind: fn(&u8) -> bool| usize::from(run.as_bytes().iter().any(kind));
            let kinds = has(u8::is_ascii_digit)
                + has(u8::is_ascii_lowercase)
                + has(u8::is_ascii_uppercase);
            kinds > 1
        })
        // Whatever stands before an @ in a URL may be a password.
        || text
            .split_once("://")
            .is_some_and(|(_, rest)| rest.contains(['@', '?']))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_shown_short_and_on_one_line() {
        let long = "a b ".repeat(50);
        let cases = [
            (Value::Null, "null"),
            (Value::Whole(7), "the number 7"),
            (Value::Real(1.0), "the number 1.0"),
            (Value::Text("open".into()), "\"open\""),
            (
                Value::Text("a\nb\u{1b}[2J\u{202e}".into()),
                "\"a\\nb\\u{1b}[2J\\u{202e}\"",
            ),
            (
                Value::Text(long),
                "\"a b a b a b a b a b a b a b a b a b a b a b a b \" and so on, 200 characters",
            ),
            (Value::List(Vec::new()), "a list of 0"),
        ];
        for (found, want) in cases {
            assert_eq!(value(&found), want);
        }
    }

    #[test]
    fn texts_that_could_be_credentials_are_only_counted() {
        let cases = [
            ("MTAwMDAwMDAwMDAwMDAwMDAx.GAbcDe.xyz", true),
            ("sk-proj-0123456789abcdef", true),
            ("https://someone:word@example.com/", true),
            ("https://example.com/?key=word", true),
            ("100000000000000001", false),
            ("/home/someone/notes", false),
            ("general", false),
        ];
        for (text, hidden) in cases {
            assert_eq!(
                value(&Value::Text(text.into())).contains("not shown"),
                hidden,
                "{text}"
            );
        }
    }

    #[test]
    fn odd_keys_stand_in_brackets() {
        let cases = [
            ("", "seat", "seat"),
            ("tools", "roots", "tools.roots"),
            ("tools", "a b", "tools[\"a b\"]"),
            ("", "", "[\"\"]"),
            ("limits", "turnTimeoutSecs", "limits.turnTimeoutSecs"),
            (
                "",
                "sk_0123456789abcdef",
                "[a text of 19 characters, not shown]",
            ),
        ];
        for (parent, key, want) in cases {
            assert_eq!(member_path(parent, key), want);
        }
    }
}
