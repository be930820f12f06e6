//! What a program said, as it may be shown.
//!
//! In: bytes of a program's output, places of the host with the words for them. Out: text of at most
//! 4 KiB (a comparison: 512 KiB) without credentials, without places of the host, without characters of control.
//! Never: a part of what was masked. A net, not a wall: an encoded credential passes.

use std::{fmt, path::Path};

use guildhall_confine::credential_in;

/// Longest text of a program that is kept. Source: the git page, "output capped at 4 KiB".
pub const SHOWN_MAX_BYTES: usize = 4 * 1024;
/// Longest comparison that is kept: a person is to read it before they allow a commit.
pub(crate) const DIFF_MAX_BYTES: usize = 512 * 1024;
/// What stands where something was.
const MASK: &str = "<masked>";
/// What ends a text that was cut.
const CUT: &str = " [cut]";

/// A program's words: bounded and masked.
#[derive(Clone, PartialEq, Eq, Default)]
pub struct Masked(String);

impl Masked {
    /// The words of `bytes`; each of `places` is replaced by its name.
    pub(crate) fn of(bytes: &[u8], places: &[(&Path, &str)]) -> Self {
        let text = String::from_utf8_lossy(bytes);
        let mut text = visible(&text);
        for (place, name) in places {
            let place = place.to_string_lossy();
            if place.len() > 1 {
                text = text.replace(place.as_ref(), name);
            }
        }
        Self(cut(&without_credentials(&text), SHOWN_MAX_BYTES))
    }

    /// A comparison of files: the same, but every line of it stays where it is, so that what its head
    /// says of their number holds, and what is unseen is written out instead of left away. Up to
    /// [`DIFF_MAX_BYTES`].
    pub(crate) fn of_diff(bytes: &[u8]) -> Self {
        let text = String::from_utf8_lossy(bytes);
        let mut shown = String::with_capacity(text.len());
        for c in text.chars() {
            match c {
                '\n' | '\t' => shown.push(c),
                _ if is_unseen(c) => shown.extend(c.escape_unicode()),
                _ => shown.push(c),
            }
        }
        Self(cut(&without_credentials(&shown), DIFF_MAX_BYTES))
    }

    /// The text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether nothing was said.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The first line with something in it.
    #[must_use]
    pub fn first_line(&self) -> &str {
        self.0.lines().next().unwrap_or("")
    }
}

impl fmt::Display for Masked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Shows the length alone.
impl fmt::Debug for Masked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Masked({} bytes)", self.0.len())
    }
}

/// A name on one line, without control, bounded and masked: of keys and paths.
pub(crate) fn shown_name(name: &str, max_chars: usize) -> String {
    let line: String = name
        .chars()
        .map(|c| if is_unseen(c) { '?' } else { c })
        .take(max_chars)
        .collect();
    without_credentials(&line)
}

/// Text in which whatever matches the shape of a credential is replaced.
pub(crate) fn without_credentials(text: &str) -> String {
    let text = without_users(text);
    if credential_in(text.as_bytes()).is_none() {
        return text;
    }
    let lines: Vec<String> = text.split('\n').map(masked_line).collect();
    let text = lines.join("\n");
    // A shape that goes over lines.
    if credential_in(text.as_bytes()).is_some() {
        return MASK.to_owned();
    }
    text
}

/// One line: its words first, all of it where the shape goes over words.
fn masked_line(line: &str) -> String {
    if credential_in(line.as_bytes()).is_none() {
        return line.to_owned();
    }
    let words: Vec<&str> = line
        .split(' ')
        .map(|word| match credential_in(word.as_bytes()) {
            Some(_) => MASK,
            None => word,
        })
        .collect();
    let line = words.join(" ");
    match credential_in(line.as_bytes()) {
        Some(_) => MASK.to_owned(),
        None => line,
    }
}

/// Replaces what stands between `://` and the last `@` before a blank or a quotation mark: a password may
/// hold anything, slashes and more `@` too.
fn without_users(text: &str) -> String {
    let mut done = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find("://") {
        let (before, after) = rest.split_at(at + 3);
        done.push_str(before);
        let ends = |c: char| c.is_whitespace() || matches!(c, '\'' | '"' | '<' | '>');
        let address = after.split(ends).next().unwrap_or("");
        match address.rfind('@') {
            Some(end) => {
                done.push_str(MASK);
                rest = &after[end..];
            }
            None => rest = after,
        }
    }
    done.push_str(rest);
    done
}

/// Line feeds and tabs are kept, a carriage return ends a line, everything else unseen goes.
fn visible(text: &str) -> String {
    let text: String = text
        .chars()
        .filter_map(|c| match c {
            '\r' => Some('\n'),
            '\n' | '\t' => Some(c),
            _ if is_unseen(c) => None,
            _ => Some(c),
        })
        .collect();
    let lines = text.lines().map(str::trim_end);
    let kept: Vec<&str> = lines.filter(|line| !line.is_empty()).collect();
    kept.join("\n")
}

/// Characters that change how a line reads without being seen.
pub(crate) fn is_unseen(c: char) -> bool {
    c.is_control()
        || matches!(c,
            '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
            | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}')
}

fn cut(text: &str, max_bytes: usize) -> String {
    if text.len() <= max_bytes {
        return text.to_owned();
    }
    let end = text.floor_char_boundary(max_bytes - CUT.len());
    format!("{}{CUT}", &text[..end])
}

#[cfg(test)]
mod tests {
    use super::{CUT, Masked, SHOWN_MAX_BYTES};
    use std::path::Path;

    #[test]
    fn users_tokens_places_and_control_do_not_stay() {
        let token = format!("ghp_{}", "a1B2c3D4e5F6g7H8i9J0".repeat(2));
        let cases = [
            ("fatal: nothing", "fatal: nothing".to_owned()),
            (
                "fatal: unable to access 'https://seat:pw@host/r.git/': 403",
                "fatal: unable to access 'https://<masked>@host/r.git/': 403".to_owned(),
            ),
            (
                "https://a@b@host/x y@z",
                "https://<masked>@host/x y@z".to_owned(),
            ),
            (
                "https://seat:p/w?@d@host/x",
                "https://<masked>@host/x".to_owned(),
            ),
            (
                &format!("remote: token {token} is bad"),
                "remote: token <masked> is bad".to_owned(),
            ),
            (
                "\u{1b}[31mred\u{1b}[0m\rnext\r\n\n",
                "[31mred[0m\nnext".to_owned(),
            ),
            (
                "in /srv/root/a and /srv/root",
                "in <root>/a and <root>".to_owned(),
            ),
            ("a\u{202e}b", "ab".to_owned()),
        ];
        for (said, want) in cases {
            let shown = Masked::of(said.as_bytes(), &[(Path::new("/srv/root"), "<root>")]);
            assert_eq!(shown.as_str(), want, "{said}");
        }
    }

    #[test]
    fn a_key_over_several_lines_takes_the_whole_text_with_it() {
        let body = "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7".repeat(2);
        let said = format!("-----BEGIN PRIVATE KEY-----\n{body}\n-----END PRIVATE KEY-----\n");
        assert!(!Masked::of(said.as_bytes(), &[]).as_str().contains("MIIE"));
    }

    #[test]
    fn a_long_text_is_cut_between_characters() {
        for extra in 0..4 {
            let said = format!("{}{}", "x".repeat(extra), "é".repeat(SHOWN_MAX_BYTES));
            let shown = Masked::of(said.as_bytes(), &[]);
            assert!(shown.as_str().len() <= SHOWN_MAX_BYTES);
            assert!(shown.as_str().ends_with(CUT));
        }
    }
}
