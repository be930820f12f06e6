use super::{RelPath, SEGMENTS_MAX_COUNT, is_openable, shown};
use crate::Refusal;
use proptest::prelude::*;

#[test]
fn every_rule_of_a_path_has_its_own_refusal() {
    let long = "x".repeat(256);
    let two_byte = "é".repeat(128);
    let deep = vec!["d"; SEGMENTS_MAX_COUNT + 1].join("/");
    let cases: &[(&str, Refusal)] = &[
        ("/etc/passwd", Refusal::Absolute),
        ("//x", Refusal::Absolute),
        ("/", Refusal::Absolute),
        ("..", Refusal::ParentSegment),
        ("a/..", Refusal::ParentSegment),
        ("a/../b", Refusal::ParentSegment),
        ("./a", Refusal::DotSegment),
        ("a/./b", Refusal::DotSegment),
        ("a/.", Refusal::DotSegment),
        ("a//b", Refusal::EmptySegment),
        ("a/", Refusal::EmptySegment),
        (".git/config", Refusal::DotEntry),
        ("a/.hidden", Refusal::DotEntry),
        ("...", Refusal::DotEntry),
        ("git~1", Refusal::GitAlias),
        ("a/GIT~27/b", Refusal::GitAlias),
        ("git~1.", Refusal::GitAlias),
        ("git~1::$INDEX_ALLOCATION", Refusal::GitAlias),
        ("a\0b", Refusal::NulByte),
        ("\0", Refusal::NulByte),
        ("a\nb", Refusal::Unprintable),
        ("a\u{7f}", Refusal::Unprintable),
        ("a\u{202e}b", Refusal::Unprintable),
        ("\u{200c}.git", Refusal::Unprintable),
        (" a", Refusal::Unprintable),
        ("a /b", Refusal::Unprintable),
        ("\u{3000}a", Refusal::Unprintable),
        (&long, Refusal::TooLong),
        (&two_byte, Refusal::TooLong),
        (&deep, Refusal::TooLong),
    ];
    for (text, want) in cases {
        assert_eq!(RelPath::parse(text), Err(*want), "{text:?}");
    }
}

#[test]
fn ordinary_names_pass_as_they_are() {
    let full = "x".repeat(255);
    let deep = vec!["d"; SEGMENTS_MAX_COUNT].join("/");
    let names = [
        "a",
        "a..b/c..d",
        "-rf",
        "$(id)",
        "~/x",
        "%2e%2e",
        "a\\..\\b",
        "C:\\x",
        "with space/'q\"",
        "naïve – résumé.txt",
        "日本語.md",
        "git~x",
        "agit~1",
        "git~",
        "😀",
        &full,
        &deep,
    ];
    for name in names {
        let path = RelPath::parse(name).expect(name);
        assert_eq!(path.as_str(), name);
        assert_eq!(path.segments().collect::<Vec<_>>().join("/"), name);
    }
}

#[test]
fn the_root_is_the_empty_path_or_a_dot() {
    for text in ["", "."] {
        let path = RelPath::parse(text).expect("the root");
        assert!(path.is_root());
        assert_eq!((path.as_str(), path.to_string().as_str()), ("", "."));
        assert_eq!(path.split(), None);
    }
}

#[test]
fn names_that_cannot_be_seen_are_shown_escaped() {
    assert_eq!(shown("a\u{202e}b".as_bytes()), "a\\u{202e}b");
    assert_eq!(shown(b"bad\xff\xfename"), "bad\\xff\\xfename");
    assert!(!is_openable(b"bad\xff"));
    assert!(!is_openable(b".x"));
    assert!(is_openable("日本語".as_bytes()));
}

proptest! {
    #[test]
    fn an_accepted_path_never_holds_a_step_that_leads_elsewhere(
        text in "([a.~/ \\\\\u{0}\n\u{202e}gGitT01]|\\.\\.|//|git){0,12}"
    ) {
        if let Ok(path) = RelPath::parse(&text) {
            prop_assert!(path.is_root() || path.as_str() == text);
            prop_assert!(!path.as_str().starts_with('/') && !path.as_str().ends_with('/'));
            for segment in path.segments() {
                prop_assert!(!segment.starts_with('.') && !segment.contains('\0'));
            }
            if let Some((parent, name)) = path.split() {
                prop_assert!(is_openable(name.as_bytes()));
                let again = if parent.is_root() { name.to_owned() } else { format!("{}/{name}", parent.as_str()) };
                prop_assert_eq!(again, path.as_str());
            }
        }
    }
}
