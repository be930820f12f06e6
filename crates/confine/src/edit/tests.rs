use super::{occurrences, splice};
use crate::{Hint, Refusal};
use proptest::prelude::*;

#[test]
#[expect(clippy::too_many_lines, reason = "one table")]
fn each_case_of_an_edit_has_its_own_answer() {
    type Case<'a> = (
        &'a str,
        &'a [u8],
        &'a str,
        &'a str,
        Result<&'a [u8], Refusal>,
    );
    let cases: &[Case<'_>] = &[
        ("one", b"a\nb\nc\n", "b", "B", Ok(b"a\nB\nc\n")),
        ("none", b"a\n", "z", "Z", Err(Refusal::NoMatch(Hint::None))),
        (
            "none in nothing",
            b"",
            "z",
            "Z",
            Err(Refusal::NoMatch(Hint::None)),
        ),
        ("two", b"b\nb\n", "b", "B", Err(Refusal::Ambiguous(2))),
        ("overlapping", b"aaa", "aa", "b", Err(Refusal::Ambiguous(2))),
        ("many", b"xyxyxyx", "xyx", "b", Err(Refusal::Ambiguous(3))),
        ("empty", b"a", "", "b", Err(Refusal::EmptyOld)),
        ("equal", b"a", "a", "a", Err(Refusal::NoChange)),
        ("equal and absent", b"a", "b", "b", Err(Refusal::NoChange)),
        ("whole file", b"all", "all", "", Ok(b"")),
        ("one byte", b"a", "a", "bc", Ok(b"bc")),
        ("CRLF kept", b"a\r\nb\r\n", "b", "B", Ok(b"a\r\nB\r\n")),
        (
            "LF asked of CRLF",
            b"a\r\nb",
            "a\nb",
            "x",
            Err(Refusal::NoMatch(Hint::FileHasCrlf)),
        ),
        (
            "CRLF asked of LF",
            b"a\nb",
            "a\r\nb",
            "x",
            Err(Refusal::NoMatch(Hint::FileHasLf)),
        ),
        (
            "mark kept",
            b"\xef\xbb\xbfa\nb",
            "a",
            "A",
            Ok(b"\xef\xbb\xbfA\nb"),
        ),
        ("no final newline", b"a\nb", "b", "B", Ok(b"a\nB")),
        ("literal", b"x\n", "x", "$1\\0$&", Ok(b"$1\\0$&\n")),
        (
            "decomposed",
            "e\u{301}".as_bytes(),
            "\u{e9}",
            "x",
            Err(Refusal::NoMatch(Hint::None)),
        ),
        ("not UTF-8", b"a\xff", "a", "A", Err(Refusal::NotUtf8)),
        (
            "a part of a character",
            "é".as_bytes(),
            "\u{c3}",
            "x",
            Err(Refusal::NoMatch(Hint::None)),
        ),
    ];
    for (name, file, old, new, want) in cases {
        let want = want.map(<[u8]>::to_vec);
        assert_eq!(splice(file, old, new), want, "{name}");
    }
}

#[test]
fn repetitive_text_is_counted_in_linear_time() {
    let file = vec![b'a'; 256 * 1024];
    let old = "a".repeat(128 * 1024);
    assert_eq!(
        splice(&file, &old, "b"),
        Err(Refusal::Ambiguous(128 * 1024 + 1))
    );
}

proptest! {
    #[test]
    fn an_edit_changes_the_one_occurrence_and_nothing_else(
        file in "[ab\r\n\u{feff}é]{0,24}", old in "[ab\r\né]{0,4}", new in "[ab\r\né]{0,4}"
    ) {
        let count = (0..file.len())
            .filter(|at| !old.is_empty() && file.as_bytes()[*at..].starts_with(old.as_bytes()))
            .count();
        if !old.is_empty() {
            prop_assert_eq!(occurrences(file.as_bytes(), old.as_bytes()), count);
        }
        match splice(file.as_bytes(), &old, &new) {
            Ok(after) => {
                prop_assert_eq!(count, 1);
                prop_assert_eq!(after, file.replacen(&old, &new, 1).into_bytes());
            }
            Err(Refusal::NoMatch(_)) => prop_assert_eq!(count, 0),
            Err(Refusal::Ambiguous(found)) => prop_assert_eq!(found, count),
            Err(Refusal::EmptyOld) => prop_assert!(old.is_empty()),
            Err(Refusal::NoChange) => prop_assert_eq!(old, new),
            Err(other) => prop_assert!(false, "{}", other),
        }
    }
}
