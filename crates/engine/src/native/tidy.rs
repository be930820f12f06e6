//! An answer as it is shown: without thoughts and without an envelope that the model copied.
//!
//! In: the text of a whole answer. Out: the text for people. Never: a change inside a code fence.

mod thoughts; // and the marks of templates

use crate::fence::Fence;
use guildhall_connector::prompt::ENVELOPE_OPENS;

/// Takes out what is not for people.
pub(crate) fn tidy(text: &str) -> String {
    without_envelopes(&thoughts::without(text))
        .trim()
        .to_owned()
}

fn without_envelopes(text: &str) -> String {
    let mut fence = Fence::default();
    let mut shown = String::with_capacity(text.len());
    for line in text.split_inclusive('\n') {
        match copied_envelope(line) {
            Some(rest) if !fence.holds(line) => shown.push_str(rest),
            Some(_) => shown.push_str(line),
            None => {
                fence.holds(line);
                shown.push_str(line);
            }
        }
    }
    shown
}

/// What stands behind an envelope at the start of a line. Values in an envelope never hold a bare
/// bracket, so the first closing one is its end.
fn copied_envelope(line: &str) -> Option<&str> {
    let (inside, rest) = line
        .trim_start()
        .strip_prefix(ENVELOPE_OPENS)?
        .split_once(']')?;
    inside.contains("=\"").then(|| match rest.trim() {
        "" => "",
        _ => rest.trim_start(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thoughts_and_copied_envelopes_are_not_shown() {
        let cases = [
            ("  plain \n", "plain"),
            ("<think>hm</think>\n\nyes", "yes"),
            ("\n<thinking>hm</thinking>yes", "yes"),
            ("<think>never closed", ""),
            ("hm hm\n</think>\n\nyes", "yes"),
            (
                "a tag named </think> in talk",
                "a tag named </think> in talk",
            ),
            ("talk of <think> tags", "talk of <think> tags"),
            ("[guildhall server=\"A\" message_id=\"1\"]\nhello", "hello"),
            (
                "[guildhall server=\"A \\u005d\"] hello\nmore",
                "hello\nmore",
            ),
            ("first\n[guildhall server=\"A\"]\nlast", "first\nlast"),
            ("[guildhall is a nice name]", "[guildhall is a nice name]"),
            (
                "```\n[guildhall server=\"A\"]\n```\n[guildhall server=\"A\"]\nx",
                "```\n[guildhall server=\"A\"]\n```\nx",
            ),
            ("```\n</think>\n```\nafter", "```\n</think>\n```\nafter"),
        ];
        for (text, want) in cases {
            assert_eq!(tidy(text), want, "{text:?}");
        }
    }
}
