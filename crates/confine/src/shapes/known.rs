//! Secrets that this process knows by value: whatever their shape, they are found again.
//!
//! In: tokens and keys, told once at the start and after each reload. Out: whether bytes hold one of
//! them, plainly, in base 64, or with white space in it; a text without them. Never: a value in a
//! record, an error or `Debug`; a value so short that it stands in ordinary words.

use crate::is_unseen;
use aho_corasick::AhoCorasick;
use std::sync::{Arc, PoisonError, RwLock};

/// Shortest value that is looked for, in bytes.
const VALUE_MIN_BYTES: usize = 8;
/// What stands in place of one.
const MASK: &str = "<masked>";

static KNOWN: RwLock<Option<Arc<Known>>> = RwLock::new(None);

/// Values as they are looked for.
struct Known {
    forms: AhoCorasick,
    count: usize,
}

impl Known {
    /// `None` where no value is long enough.
    fn of<'v>(values: impl IntoIterator<Item = &'v str>) -> Option<Self> {
        let values = values.into_iter().map(str::trim);
        let long = values.filter(|value| value.len() >= VALUE_MIN_BYTES);
        let forms: std::collections::BTreeSet<Vec<u8>> = long.flat_map(forms).collect();
        let forms = AhoCorasick::new(&forms).ok()?;
        let count = forms.patterns_len();
        (count > 0).then_some(Self { forms, count })
    }

    fn is_in(&self, bytes: &[u8]) -> bool {
        if self.forms.is_match(bytes) {
            return true;
        }
        // Spaced out, or with characters in it that nobody sees.
        let text = String::from_utf8_lossy(bytes);
        let gaps = |c: char| c.is_whitespace() || is_unseen(c);
        text.contains(gaps) && {
            let closed: String = text.chars().filter(|c| !gaps(*c)).collect();
            self.forms.is_match(closed.as_bytes())
        }
    }

    /// The text without any of them; `None` where it holds none.
    fn masked(&self, text: &str) -> Option<String> {
        if !self.is_in(text.as_bytes()) {
            return None;
        }
        let without = self.forms.replace_all(text, &vec![MASK; self.count]);
        // Spaced out, it has no place that could be cut out.
        let whole = !self.is_in(without.as_bytes());
        Some(if whole { without } else { MASK.to_owned() })
    }
}

/// A value as it is, and the part of its base 64 that does not depend on what stands around it, at
/// each of the three places that it can begin at.
fn forms(value: &str) -> Vec<Vec<u8>> {
    let mut forms = vec![value.as_bytes().to_vec()];
    for alphabet in [data_encoding::BASE64_NOPAD, data_encoding::BASE64URL_NOPAD] {
        for before in 0..3_usize {
            let mut bytes = vec![0; before];
            bytes.extend_from_slice(value.as_bytes());
            let text = alphabet.encode(&bytes);
            // Characters that hold a bit of what stands before or after are left away.
            let (from, rest) = ([0, 2, 3][before], bytes.len() % 3);
            let to = text.len() - usize::from(rest != 0);
            forms.push(text.as_bytes()[from..to].to_vec());
        }
    }
    forms
}

/// Tells the values of this process, in place of those told before.
pub fn know_secrets<'v>(values: impl IntoIterator<Item = &'v str>) {
    let known = Known::of(values).map(Arc::new);
    *KNOWN.write().unwrap_or_else(PoisonError::into_inner) = known;
}

fn known() -> Option<Arc<Known>> {
    KNOWN.read().unwrap_or_else(PoisonError::into_inner).clone()
}

/// Whether bytes hold a known value.
pub(super) fn is_known_in(bytes: &[u8]) -> bool {
    known().is_some_and(|known| known.is_in(bytes))
}

/// A text without the values that this process knows; `None` where it holds none. Base 64 is found
/// too; where a value is spaced out, nothing of the text is left.
#[must_use]
pub fn without_known_secrets(text: &str) -> Option<String> {
    known()?.masked(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TOKEN: &str = "9f8e7d6c-5b4a-3928-1706-f5e4d3c2b1a0";

    #[test]
    fn a_value_is_found_in_every_dress_it_usually_wears() {
        let known = Known::of([TOKEN, "short"]).expect("one is long enough");
        let spaced: String = TOKEN.chars().flat_map(|c| [c, ' ']).collect();
        let hidden: String = TOKEN.chars().flat_map(|c| [c, '\u{200b}']).collect();
        let base64 = |before: &str, after: &str| {
            data_encoding::BASE64.encode(format!("{before}{TOKEN}{after}").as_bytes())
        };
        for text in [
            TOKEN.to_owned(),
            format!("the token is {TOKEN}."),
            format!("https://x.example/?t={TOKEN}&u=1"),
            spaced,
            hidden,
            TOKEN.replace('-', "-\n"),
            base64("", ""),
            base64("a", "b"),
            base64("ab", "cd"),
            base64("abc", ""),
            data_encoding::BASE64URL_NOPAD.encode(format!("?>{TOKEN}").as_bytes()),
        ] {
            assert!(known.is_in(text.as_bytes()), "{text}");
            let masked = known.masked(&text).expect("masked");
            assert!(!known.is_in(masked.as_bytes()), "{masked}");
            assert!(!masked.contains("5b4a"), "{masked}");
        }
        for text in ["", "short", "9f8e7d6c", "an ordinary sentence", &TOKEN[1..]] {
            assert!(!known.is_in(text.as_bytes()), "{text}");
            assert_eq!(known.masked(text), None);
        }
        assert_eq!(
            known.masked(&format!("a {TOKEN} b")).as_deref(),
            Some("a <masked> b")
        );
    }

    #[test]
    fn without_a_value_that_is_long_enough_there_is_nothing_to_find() {
        assert!(Known::of([]).is_none());
        assert!(Known::of(["", "1234567", "   "]).is_none());
    }
}
