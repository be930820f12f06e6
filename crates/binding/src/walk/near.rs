//! The key that was probably meant.
//!
//! In: an unknown key and those that are known. Out: words for the fault. Never: more work than
//! the lengths of the known keys bound.

/// What an unknown key's fault allows.
pub(crate) fn known_keys(key: &str, known: &[&str]) -> String {
    match near(key, known) {
        Some(meant) => format!("no such key; did you mean {meant:?}?"),
        None => format!("no such key; one of {}", known.join(", ")),
    }
}

/// The known key that was probably meant: equal but for case and separators, or at most two
/// slips of the finger away.
fn near<'k>(key: &str, known: &[&'k str]) -> Option<&'k str> {
    let plain = |text: &str| text.replace(['_', '-', ' '], "").to_ascii_lowercase();
    let key = plain(key);
    let slips = |other: &&&str| {
        let other = plain(other);
        let room = if other.len() < 5 { 1 } else { 2 };
        (key.len().abs_diff(other.len()) <= room)
            .then(|| distance(key.as_bytes(), other.as_bytes()))
            .filter(|slips| *slips <= room)
    };
    known
        .iter()
        .filter_map(|other| slips(&other).map(|slips| (slips, *other)))
        .min_by_key(|(slips, _)| *slips)
        .map(|(_, other)| other)
}

/// Levenshtein's distance between two short keys.
fn distance(a: &[u8], b: &[u8]) -> usize {
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, from) in a.iter().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, to) in b.iter().enumerate() {
            let changed = diagonal + usize::from(from != to);
            diagonal = row[j + 1];
            row[j + 1] = changed.min(diagonal + 1).min(row[j] + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_misses_find_the_key_that_was_meant() {
        let known = ["tokenFile", "users", "name", "seat", "usdPerDay"];
        let cases = [
            ("token_file", Some("tokenFile")),
            ("tokenfile", Some("tokenFile")),
            ("tokenFlie", Some("tokenFile")),
            ("user", Some("users")),
            ("nmae", None),
            ("nam", Some("name")),
            ("nothingLikeIt", None),
            ("", None),
        ];
        for (key, want) in cases {
            assert_eq!(near(key, &known), want, "{key:?}");
        }
    }
}
