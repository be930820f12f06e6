//! Names and texts of others, made harmless before they are repeated.
//!
//! In: text that a stranger chose. Out: one line that looks the same and does nothing: no mention,
//! no link, no fence, no text that runs backwards. Never: more characters than asked for.

/// One line of at most `max_chars` characters in which no mark-up of Discord works.
pub(super) fn harmless(text: &str, max_chars: usize) -> String {
    let mut shown = String::new();
    let mut taken = 0;
    let mut blank_before = true;
    for c in text.chars() {
        if taken == max_chars {
            shown.push('\u{2026}');
            break;
        }
        let blank = c.is_whitespace() || c.is_control();
        if steers(c) || (blank && blank_before) {
            continue;
        }
        blank_before = blank;
        taken += 1;
        match c {
            _ if blank => shown.push(' '),
            '`' => shown.push('\''),
            '<' => shown.push('\u{2039}'),
            '>' => shown.push('\u{203a}'),
            '[' => shown.push('('),
            ']' => shown.push(')'),
            // A character of no width keeps the word from being a mention or a link.
            '@' | '#' => shown.extend([c, '\u{200b}']),
            ':' => shown.extend([c, '\u{200b}']),
            '*' | '~' | '|' | '\\' => shown.extend(['\\', c]),
            other => shown.push(other),
        }
    }
    shown.trim_end().to_owned()
}

/// Characters that only change how others are shown: directions, joins without width, marks.
fn steers(c: char) -> bool {
    matches!(
        c,
        '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}'
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mark_up_of_strangers_does_nothing() {
        let cases = [
            ("Ana Lima", "Ana Lima"),
            ("ana_lima", "ana_lima"),
            ("@everyone", "@\u{200b}everyone"),
            ("<@123>", "\u{2039}@\u{200b}123\u{203a}"),
            ("a\n# b", "a #\u{200b} b"),
            ("```x```", "'''x'''"),
            ("[free](https://x.test)", "(free)(https:\u{200b}//x.test)"),
            ("**loud**", "\\*\\*loud\\*\\*"),
            ("\u{202e}evil\u{200b}", "evil"),
            ("  a   b  ", "a b"),
            ("\u{0}\u{7}", ""),
        ];
        for (text, want) in cases {
            assert_eq!(harmless(text, 80), want, "{text:?}");
        }
    }

    #[test]
    fn a_long_text_is_cut_and_says_so() {
        assert_eq!(harmless("abcdef", 3), "abc\u{2026}");
        assert_eq!(harmless("abc", 3), "abc");
    }
}
