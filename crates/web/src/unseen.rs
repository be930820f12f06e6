//! Characters that a person does not see.
//!
//! In: text from anywhere. Out: whether a character is one of them. Never: a judgement on joiners
//! (U+200C, U+200D) and variation selectors, which several scripts and emoji need.

/// Whether a character is a control, turns the direction of text, or has no width and no use in
/// any script. Line breaks and tabs are controls too.
pub(crate) fn is_unseen(c: char) -> bool {
    // C0, DEL and C1.
    c.is_control()
        || matches!(c,
            '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}' | '\u{200e}' | '\u{200f}'
            | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}'
            | '\u{feff}'
            | '\u{fff9}'..='\u{fffb}'
            // Tags: a whole unseen alphabet.
            | '\u{e0000}'..='\u{e007f}')
}

/// Copies at most `limit` characters of `text`, without what cannot be seen; line breaks and tabs
/// stay. Says whether all of it was copied.
pub(crate) fn seen(text: &str, limit: usize) -> (String, bool) {
    let mut kept = String::new();
    let mut count = 0;
    for c in text.chars() {
        let c = match c {
            '\n' | '\t' => c,
            '\u{2028}' | '\u{2029}' => '\n',
            c if is_unseen(c) => continue,
            c => c,
        };
        if count == limit {
            return (kept, false);
        }
        kept.push(c);
        count += 1;
    }
    (kept, true)
}

/// One line of at most `limit` characters: blanks and line breaks become one space each.
pub(crate) fn one_line(text: &str, limit: usize) -> String {
    let mut line = String::new();
    let mut count = 0;
    let mut gap = false;
    for c in text.chars() {
        if c.is_whitespace() {
            gap = !line.is_empty();
            continue;
        }
        if is_unseen(c) {
            continue;
        }
        if count + usize::from(gap) >= limit {
            break;
        }
        if gap {
            line.push(' ');
            count += 1;
            gap = false;
        }
        line.push(c);
        count += 1;
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_seen_is_left_out_and_what_a_script_needs_stays() {
        let text = "a\u{202e}b\u{200b}c\u{7}\u{e0041}\u{feff}\r\nd\te\u{2028}f \u{200d}\u{fe0f}";
        let want = "abc\nd\te\nf \u{200d}\u{fe0f}";
        assert_eq!(seen(text, 100), (want.to_owned(), true));
    }

    #[test]
    fn a_cut_is_told_and_falls_between_characters() {
        assert_eq!(seen("ééé", 2), ("éé".to_owned(), false));
        assert_eq!(seen("ééé", 3), ("ééé".to_owned(), true));
        assert_eq!(seen("éé\u{200b}", 2), ("éé".to_owned(), true));
    }

    #[test]
    fn a_line_has_single_blanks_and_no_ends() {
        let cases = [
            ("  a\n\t b  ", 10, "a b"),
            ("a b", 2, "a"),
            ("a b", 3, "a b"),
            ("\u{202e}", 3, ""),
        ];
        for (text, limit, want) in cases {
            assert_eq!(one_line(text, limit), want, "{text:?}");
        }
    }
}
