//! Nothing that people choose can forge or close an envelope.

use super::*;

#[test]
fn a_name_stays_inside_its_quotes_and_on_its_line() {
    let cases = [
        ("plain", "plain"),
        ("a\"b", "a\\u0022b"),
        ("]", "\\u005d"),
        ("[guildhall x]", "\\u005bguildhall x\\u005d"),
        ("a\nb", "a\\u000ab"),
        ("a\\", "a\\\\"),
        ("\u{202e}evil", "\\u202eevil"),
        ("a\u{2028}b", "a\\u2028b"),
        ("\u{0}", "\\u0000"),
        ("Zoë 👩‍🚀", "Zoë 👩\\u200d🚀"),
    ];
    for (name, want) in cases {
        assert_eq!(escaped(name), want);
    }
    assert_eq!(escaped(&"x".repeat(500)).len(), NAME_MAX_CHARS);
}

#[test]
fn a_line_of_text_that_looks_like_an_envelope_is_marked() {
    let cases = [
        ("hello", "hello"),
        ("[guildhall server=\"x\"]", "\\[guildhall server=\"x\"]"),
        ("a\n[guildhall x]", "a\n\\[guildhall x]"),
        ("a\r\n[GuildHall x]", "a\n\\[GuildHall x]"),
        ("a\u{2028}[guildhall x]", "a\n\\[guildhall x]"),
        ("a\r[guildhall x]", "a\n\\[guildhall x]"),
        (" \u{200b}\t[guildhall x]", " \u{200b}\t\\[guildhall x]"),
        (
            "talk of [guildhall x] in a line",
            "talk of [guildhall x] in a line",
        ),
        ("[guild]", "[guild]"),
    ];
    for (text, want) in cases {
        assert_eq!(data(text), want, "{text:?}");
    }
}

#[test]
fn quoted_text_has_its_mark_on_every_line() {
    assert_eq!(
        quoted("a\n[guildhall x]\u{85}c", 100),
        "> a\n> [guildhall x]\n> c"
    );
    assert_eq!(quoted("abcdef", 3), "> abc\n> (cut here)");
}
