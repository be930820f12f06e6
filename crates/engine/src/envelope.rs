//! The bracketed line before each prompt.
//!
//! In: the line that the connector wrote, or an answer that may have copied it. Out: its fields, or
//! the answer without it. Never: trust in a field; names in it are chosen by strangers.

use std::collections::BTreeMap;

/// The fields of one envelope line, `key="value"` each.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Envelope(BTreeMap<String, String>);

impl Envelope {
    /// Reads the fields of a line. What is no field is skipped: an envelope with a new word in it
    /// is still an envelope.
    pub(crate) fn read(line: &str) -> Self {
        let mut fields = BTreeMap::new();
        let mut rest = line;
        while let Some(at) = rest.find("=\"") {
            let key: String = rest[..at]
                .chars()
                .rev()
                .take_while(|c| c.is_ascii_alphanumeric() || *c == '_' || *c == '-')
                .collect::<Vec<_>>()
                .into_iter()
                .rev()
                .collect();
            let (value, after) = quoted(&rest[at + 2..]);
            if !key.is_empty() {
                fields.entry(key).or_insert(value);
            }
            rest = after;
        }
        Self(fields)
    }

    /// A field's value, where it is there and not blank.
    pub(crate) fn get(&self, key: &str) -> Option<&str> {
        self.0
            .get(key)
            .map(String::as_str)
            .filter(|value| !value.trim().is_empty())
    }
}

/// Reads up to the closing quote; gives the value and what comes after the quote.
fn quoted(text: &str) -> (String, &str) {
    let mut value = String::new();
    let mut chars = text.char_indices();
    while let Some((at, c)) = chars.next() {
        match c {
            '"' => return (value, &text[at + 1..]),
            '\\' => match chars.next() {
                Some((_, 'n')) => value.push('\n'),
                Some((_, 't')) => value.push('\t'),
                Some((at, 'u')) => {
                    let (escaped, used) = code_point(&text[at + 1..]);
                    value.push(escaped);
                    for _ in 0..used {
                        chars.next();
                    }
                }
                Some((_, other)) => value.push(other),
                None => break,
            },
            other => value.push(other),
        }
    }
    (value, "")
}

/// `XXXX` or `{X..}` after `\u`; gives the character and how many characters spell it.
fn code_point(text: &str) -> (char, usize) {
    let (digits, used) = match text.strip_prefix('{').and_then(|rest| rest.split_once('}')) {
        Some((digits, _)) => (digits, digits.chars().count() + 2),
        None => (text.get(..4).unwrap_or(""), 4),
    };
    let found = u32::from_str_radix(digits, 16)
        .ok()
        .and_then(char::from_u32);
    match found {
        Some(c) => (c, used),
        None => (char::REPLACEMENT_CHARACTER, 0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_read_with_their_escapes() {
        let line = r#"[guildhall server="Guild \"hall\"" channel="general" thread="" author="7" requester="Ana\u{5d} \\ \u005b" id="12"]"#;
        let envelope = Envelope::read(line);
        let cases = [
            ("server", Some("Guild \"hall\"")),
            ("channel", Some("general")),
            ("thread", None),
            ("author", Some("7")),
            ("requester", Some("Ana] \\ [")),
            ("id", Some("12")),
            ("nothing", None),
        ];
        for (key, want) in cases {
            assert_eq!(envelope.get(key), want, "{key}");
        }
    }

    #[test]
    fn odd_lines_give_the_fields_that_are_there() {
        let cases = [
            ("", None),
            ("server", None),
            ("[server=\"a", Some("a")),
            ("[server=\"a\\", Some("a")),
            ("[=\"x\" server=\"b\"]", Some("b")),
            ("[server=\"first\" server=\"second\"]", Some("first")),
            ("[server=\"\\u{zz}\"]", Some("\u{fffd}{zz}")),
        ];
        for (line, want) in cases {
            assert_eq!(Envelope::read(line).get("server"), want, "{line}");
        }
    }
}
