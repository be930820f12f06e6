//! Names that go to git: branch, identity and author.
//!
//! In: text of the binding. Out: text that git takes as what it is meant to be. Never: a branch
//! that reads as an option or a revision, an author that holds a second header line.

use crate::policy::NAME_MAX_CHARS;

pub(crate) const BRANCH_ALLOWED: &str = "a branch name as `git check-ref-format --branch` takes it";
pub(crate) const IDENTITY_ALLOWED: &str =
    "the seat's name at the git server: 1 to 64 visible ASCII characters without a colon";
pub(crate) const AUTHOR_ALLOWED: &str = "Name <address@host>";

/// Longest branch name, in bytes: with `refs/heads/` it stays a file name's length.
const BRANCH_MAX_BYTES: usize = 200;
/// Longest author, in characters.
const AUTHOR_MAX_CHARS: usize = 200;

/// A branch by git's rules for reference names. Source: git-check-ref-format(1).
pub(crate) fn branch(text: &str) -> Option<String> {
    let component = |part: &str| {
        !part.is_empty()
            && !part.starts_with('.')
            && !part.ends_with('.')
            && !part.ends_with(".lock")
    };
    let character = |c: char| !c.is_control() && !c.is_whitespace() && !"~^:?*[\\".contains(c);
    let fits = text.len() <= BRANCH_MAX_BYTES
        && text.split('/').all(component)
        && text.chars().all(character)
        && !text.starts_with('-')
        && !text.contains("..")
        && !text.contains("@{")
        && !matches!(text, "@" | "HEAD")
        && !text.starts_with("refs/");
    fits.then(|| text.to_owned())
}

/// The user name towards the server and the owner of locks; a colon would end it in a header.
pub(crate) fn identity(text: &str) -> Option<String> {
    let fits = (1..=NAME_MAX_CHARS).contains(&text.len())
        && text.bytes().all(|b| b.is_ascii_graphic() && b != b':')
        && !text.starts_with('-');
    fits.then(|| text.to_owned())
}

/// `Name <address>`.
pub(crate) fn author(text: &str) -> Option<String> {
    let (name, address) = text.strip_suffix('>')?.split_once(" <")?;
    let plain = |part: &str| !part.chars().any(|c| c.is_control() || c == '<' || c == '>');
    let (user, host) = address.split_once('@')?;
    let fits = text.chars().count() <= AUTHOR_MAX_CHARS
        && plain(name)
        && !name.trim().is_empty()
        && name.trim() == name
        && plain(address)
        && address.bytes().all(|b| b.is_ascii_graphic())
        && !user.is_empty()
        && !host.is_empty();
    fits.then(|| text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn branches_follow_the_rules_of_git() {
        let cases = [
            ("main", true),
            ("seat/notes-1", true),
            ("a.b", true),
            ("", false),
            ("-f", false),
            ("/a", false),
            ("a/", false),
            ("a//b", false),
            (".a", false),
            ("a/.b", false),
            ("a..b", false),
            ("a.lock", false),
            ("a.lock/b", false),
            ("a.", false),
            ("a b", false),
            ("a~1", false),
            ("a^", false),
            ("a:b", false),
            ("a?", false),
            ("a*", false),
            ("a[", false),
            ("a\\b", false),
            ("a@{1}", false),
            ("@", false),
            ("HEAD", false),
            ("refs/heads/main", false),
            ("a\nb", false),
        ];
        for (text, want) in cases {
            assert_eq!(branch(text).is_some(), want, "{text:?}");
        }
    }

    #[test]
    fn an_author_is_a_name_and_an_address() {
        let cases = [
            ("Notes Seat <seat@example.com>", true),
            ("Seat <a@b>", true),
            ("Seat", false),
            ("<a@b>", false),
            (" <a@b>", false),
            ("Seat <>", false),
            ("Seat <ab>", false),
            ("Seat <a@b", false),
            ("Seat <a@b> x", false),
            ("Seat <a@b> <c@d>", false),
            ("Seat\nX: <a@b>", false),
            ("Seat <a b@c>", false),
        ];
        for (text, want) in cases {
            assert_eq!(author(text).is_some(), want, "{text:?}");
        }
    }

    #[test]
    fn an_identity_has_no_colon_and_no_blank() {
        let cases = [
            ("seat", true),
            ("seat-1", true),
            ("a:b", false),
            ("a b", false),
            ("-a", false),
            ("", false),
        ];
        for (text, want) in cases {
            assert_eq!(identity(text).is_some(), want, "{text:?}");
        }
    }
}
