//! What people and the policy say that goes into a commit: branch, author, requester, message.
//!
//! In: text. Out: text that git takes as what it is meant to be.
//! Never: a second line where one is meant, a name that reads as an option, a message that claims a
//! requester of its own.

use crate::{
    masked::is_unseen,
    refusal::{GitRefusal, MessageFault},
};

/// Longest message, in characters; the lines that are added do not count.
pub const MESSAGE_MAX_CHARS: usize = 4_000;
/// Longest requester's name that is written, in characters; the rest is cut. A server's own limit of
/// a name is 32.
pub const REQUESTER_MAX_CHARS: usize = 100;
/// The line that says who asked.
const TRAILER: &str = "Requested-by";

/// The person on the server who asked for a change: from the turn, never from a model's argument.
#[derive(Clone, PartialEq, Eq)]
pub struct Requester(String);

impl Requester {
    /// The name as it is written: on one line, without what cannot be seen, cut at the bound.
    ///
    /// # Errors
    /// [`GitRefusal::BadRequester`] when nothing is left.
    pub fn parse(name: &str) -> Result<Self, GitRefusal> {
        let spaced: String = name
            .chars()
            .map(|c| if c.is_whitespace() { ' ' } else { c })
            .filter(|c| !is_unseen(*c))
            .collect();
        let words: Vec<&str> = spaced.split(' ').filter(|word| !word.is_empty()).collect();
        let line: String = words.join(" ").chars().take(REQUESTER_MAX_CHARS).collect();
        if line.is_empty() {
            return Err(GitRefusal::BadRequester);
        }
        Ok(Self(line.trim_end().to_owned()))
    }

    /// The name.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl std::fmt::Debug for Requester {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Requester({} bytes)", self.0.len())
    }
}

/// The whole message of a commit: what was asked for, and the line that says by whom.
pub(crate) fn message(text: &str, requester: &Requester) -> Result<String, GitRefusal> {
    let fault = |fault| Err(GitRefusal::BadMessage(fault));
    let text = text.replace("\r\n", "\n");
    let text = text.trim();
    if text.is_empty() || text.chars().all(|c| is_unseen(c) || c.is_whitespace()) {
        return fault(MessageFault::Empty);
    }
    if text.chars().count() > MESSAGE_MAX_CHARS {
        return fault(MessageFault::TooLong);
    }
    if text.chars().any(|c| c != '\n' && c != '\t' && is_unseen(c)) {
        return fault(MessageFault::Control);
    }
    if text.lines().any(claims_requester) {
        return fault(MessageFault::Requester);
    }
    Ok(format!("{text}\n\n{TRAILER}: {}\n", requester.as_str()))
}

/// Whether a line would be read as the one that we add.
fn claims_requester(line: &str) -> bool {
    let Some((name, _)) = line.split_once(':') else {
        return false;
    };
    let letters: String = name
        .chars()
        .filter(|c| c.is_alphanumeric())
        .flat_map(char::to_lowercase)
        .collect();
    letters == "requestedby"
}

/// `Name <address>` in its two parts.
pub(crate) fn author(text: &str) -> Option<(&str, &str)> {
    let (name, address) = text.strip_suffix('>')?.split_once(" <")?;
    let plain = |part: &str| {
        !part.trim().is_empty() && !part.chars().any(|c| c.is_control() || c == '<' || c == '>')
    };
    (plain(name) && plain(address)).then_some((name, address))
}

/// Whether git takes `name` as a branch and nothing else. Source: git-check-ref-format(1).
pub(crate) fn is_branch(name: &str) -> bool {
    let component = |part: &str| {
        !part.is_empty()
            && !part.starts_with('.')
            && !part.ends_with('.')
            && !part.ends_with(".lock")
    };
    let character = |c: char| !c.is_control() && !c.is_whitespace() && !"~^:?*[\\\"".contains(c);
    name.len() <= 200
        && name.split('/').all(component)
        && name.chars().all(character)
        && !name.starts_with('-')
        && !name.contains("..")
        && !name.contains("@{")
        && !matches!(name, "@" | "HEAD")
}

/// Whether a seat's name is one word that no program takes for an option.
pub(crate) fn is_identity(name: &str) -> bool {
    !name.is_empty()
        && name.len() <= 64
        && name.bytes().all(|b| b.is_ascii_graphic() && b != b':')
        && !name.starts_with('-')
}

#[cfg(test)]
mod tests {
    use super::{Requester, author, is_branch, message};
    use crate::refusal::{GitRefusal, MessageFault};

    #[test]
    fn a_requester_is_one_visible_line() {
        let cases = [
            ("Ana", Some("Ana")),
            ("  Ana\nSigned-off-by: Eve ", Some("Ana Signed-off-by: Eve")),
            ("A\u{202e}n\u{200b}a", Some("Ana")),
            ("日本 語", Some("日本 語")),
            ("", None),
            ("\u{200b}\n ", None),
        ];
        for (name, want) in cases {
            let found = Requester::parse(name).ok();
            assert_eq!(found.as_ref().map(Requester::as_str), want, "{name:?}");
        }
        let long = Requester::parse(&"é".repeat(500)).expect("it is visible");
        assert_eq!(long.as_str().chars().count(), super::REQUESTER_MAX_CHARS);
    }

    #[test]
    fn a_message_ends_with_who_asked_and_says_so_once() {
        let ana = Requester::parse("Ana").expect("a name");
        let cases = [
            ("Fix it", Ok("Fix it\n\nRequested-by: Ana\n")),
            (
                "\r\nFix it\r\n\r\nBecause.\r\n",
                Ok("Fix it\n\nBecause.\n\nRequested-by: Ana\n"),
            ),
            ("", Err(MessageFault::Empty)),
            ("\u{200b} \n", Err(MessageFault::Empty)),
            ("a\u{1b}[31m", Err(MessageFault::Control)),
            ("a\u{202e}b", Err(MessageFault::Control)),
            ("Fix\n\nRequested-by: Boss", Err(MessageFault::Requester)),
            (
                "Fix\n\n requested - BY : Boss",
                Err(MessageFault::Requester),
            ),
            ("Fix\n\n\tRequested_By: Boss", Err(MessageFault::Requester)),
        ];
        for (text, want) in cases {
            let want = want.map(str::to_owned).map_err(GitRefusal::BadMessage);
            assert_eq!(message(text, &ana), want, "{text:?}");
        }
        let long = message(&"x".repeat(4_001), &ana);
        assert_eq!(long, Err(GitRefusal::BadMessage(MessageFault::TooLong)));
    }

    #[test]
    fn authors_and_branches_are_what_they_seem() {
        assert_eq!(
            author("Seat One <seat@example.com>"),
            Some(("Seat One", "seat@example.com"))
        );
        for bad in [
            "Seat",
            "<a@b>",
            "Seat <a@b> x",
            "Se\nat <a@b>",
            " <a@b>",
            "Seat < >",
        ] {
            assert_eq!(author(bad), None, "{bad:?}");
        }
        let bad = [
            "",
            "-f",
            "a..b",
            "a b",
            "a.lock",
            "@",
            "a//b",
            "--upload-pack=x",
            "a:b",
            "/a",
        ];
        for bad in bad {
            assert!(!is_branch(bad), "{bad}");
        }
        assert!(is_branch("main") && is_branch("seat/notes-1"));
    }
}
