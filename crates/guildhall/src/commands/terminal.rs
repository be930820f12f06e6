//! Texts of others on a terminal.
//!
//! In: what a person, a model or a file said. Out: the same, with nothing in it that a terminal obeys.
//! Never: a cursor that moves, a colour, a line that somebody else began.

use serde_json::Value;

/// A text as a terminal may show it: whatever could move the cursor, change a colour or turn the
/// direction of writing is written out. Line feeds and tabs stay.
pub(super) fn visible(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for symbol in text.chars() {
        let turns = matches!(symbol,
            '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}');
        if (symbol.is_control() && symbol != '\n' && symbol != '\t') || turns {
            shown.extend(symbol.escape_unicode());
        } else {
            shown.push(symbol);
        }
    }
    shown
}

/// A value on one line: it cannot begin another.
pub(super) fn on_a_line(value: &Value) -> String {
    match value.as_str() {
        Some(text) => visible(text).replace('\n', "\\n").replace('\t', "\\t"),
        None => value.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_in_a_text_reaches_the_terminal_as_a_command() {
        let cases = [
            ("plain\n\ttext", "plain\n\ttext"),
            ("\u{1b}[2Jgone", "\\u{1b}[2Jgone"),
            ("a\rb", "a\\u{d}b"),
            ("abc\u{202e}cba", "abc\\u{202e}cba"),
            ("\u{9b}31m", "\\u{9b}31m"),
        ];
        for (text, expected) in cases {
            assert_eq!(visible(text), expected);
        }
    }

    #[test]
    fn a_value_stays_on_its_line() {
        let forged = Value::from("tidy up\n  digest: 0000\u{1b}[1A");
        assert_eq!(on_a_line(&forged), "tidy up\\n  digest: 0000\\u{1b}[1A");
        assert_eq!(on_a_line(&Value::from(7)), "7");
    }
}
