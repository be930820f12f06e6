//! How much goes into a part, how many parts there are, and how long it takes.

use super::oracle::{checked, joined};
use crate::reply::{Cut, MAX_PARTS, MESSAGE_CONTENT_MAX_CHARS, Split, digest_text, length, split};

/// The part length that is used when the operator does not set one.
const USUAL: usize = 1_900;

fn lengths(split: &Split) -> Vec<usize> {
    split.parts.iter().map(|part| length(part)).collect()
}

/// Prose in paragraphs of four sentences, cut off at `chars`.
fn prose(chars: usize) -> String {
    let paragraph = "The seat reads the note and thinks about it. It answers, in time! Does it? \
                     Nobody who has seen it work would doubt that for long, or say so.\n\n";
    paragraph
        .chars()
        .cycle()
        .take(chars)
        .collect::<String>()
        .trim_end()
        .to_owned()
}

#[test]
fn every_length_around_the_limits_is_split_and_comes_back() {
    for chars in [
        1, 2, 1_899, 1_900, 1_901, 2_000, 2_001, 3_800, 4_001, 20_000, 60_000,
    ] {
        let texts = [
            "x".repeat(chars),
            prose(chars),
            "é".repeat(chars),
            "word ".repeat(chars / 5) + "end",
        ];
        for (index, text) in texts.iter().enumerate() {
            let split = checked(text, USUAL);
            assert_eq!(split.cut, Cut::Whole, "{chars}, {index}");
            assert_eq!(joined(text, &split, USUAL), *text, "{chars}, {index}");
            assert_eq!(
                split.parts.len() == 1,
                length(text) <= USUAL,
                "{chars}, {index}"
            );
        }
    }
}

#[test]
fn text_with_nothing_to_see_gives_no_part() {
    let controls = "\u{0}\u{1b}".to_owned();
    let texts = [
        String::new(),
        " \n\t\r\n".to_owned(),
        "\u{200b}\u{feff}\u{2060}".to_owned(),
        controls,
        "\n".repeat(60_000),
    ];
    for text in texts {
        assert_eq!(
            split(&text, USUAL),
            Split {
                parts: Vec::new(),
                cut: Cut::Whole
            },
            "{text:?}"
        );
    }
}

#[test]
fn a_text_within_the_limit_is_left_as_it_is() {
    let open_block = format!("```rust\n{}", "x".repeat(USUAL - 8));
    for text in ["  indented\n\n", "```\nnever closed", open_block.as_str()] {
        assert_eq!(split(text, USUAL).parts, [text]);
    }
}

#[test]
fn code_points_are_counted_and_utf_16_units_are_kept_within_discords_limit_too() {
    // One code point, two units each.
    assert_eq!(lengths(&checked(&"😀".repeat(1_000), USUAL)), [1_000]);
    assert_eq!(lengths(&checked(&"😀".repeat(1_001), USUAL)), [1_000, 1]);
    // One code point, one unit each.
    assert_eq!(lengths(&checked(&"漢".repeat(1_901), USUAL)), [1_900, 1]);
    let mixed = "a".repeat(1_990) + &"😀".repeat(40);
    assert_eq!(
        lengths(&checked(&mixed, MESSAGE_CONTENT_MAX_CHARS)),
        [1_995, 35]
    );
}

#[test]
fn families_flags_and_stacked_marks_stay_whole() {
    let cases = [
        ("family", "👩‍👩‍👧‍👦"),
        ("skin tone", "👍🏽"),
        ("flags", "🇩🇪🇫🇷🇳🇱"),
        ("keycap", "1\u{fe0f}\u{20e3}"),
        (
            "tag sequence",
            "🏴\u{e0067}\u{e0062}\u{e0073}\u{e0063}\u{e0074}\u{e007f}",
        ),
        ("stacked marks", "e\u{301}\u{308}\u{323}"),
        ("conjunct", "क्षि"),
        ("jamo", "\u{1112}\u{1161}\u{11ab}"),
    ];
    for (name, grapheme) in cases {
        for before in ["", "a", "ab ", "```\n"] {
            let text = before.to_owned() + &grapheme.repeat(9_000 / length(grapheme));
            let split = checked(&text, USUAL);
            assert_eq!(split.cut, Cut::Whole, "{name}");
            assert_eq!(joined(&text, &split, USUAL), text, "{name}");
        }
    }
    let text = "👩‍👩‍👧‍👦".repeat(60_000 / 7);
    let split = checked(&text, USUAL);
    assert_eq!(
        (split.cut, joined(&text, &split, USUAL)),
        (Cut::Whole, text)
    );
}

#[test]
fn a_grapheme_longer_than_a_part_is_cut_between_code_points() {
    let text = format!("start e{} end", "\u{301}".repeat(5_000));
    let split = checked(&text, USUAL);
    assert_eq!(joined(&text, &split, USUAL), text);
    assert_eq!(split.parts.len(), 4);
}

#[test]
fn a_limit_out_of_range_is_taken_as_the_nearest_in_range() {
    let text = "word ".repeat(1_000);
    assert_eq!(split(&text, 0), split(&text, 100));
    assert_eq!(
        split(&text, usize::MAX),
        split(&text, MESSAGE_CONTENT_MAX_CHARS)
    );
}

#[test]
fn past_the_largest_number_of_parts_the_rest_is_counted() {
    let text = "x".repeat(MAX_PARTS * USUAL + 7);
    let split = checked(&text, USUAL);
    assert_eq!(
        (split.parts.len(), split.cut),
        (MAX_PARTS, Cut::Rest { chars_left_out: 7 })
    );

    let prose = prose(1_000_000);
    let split = checked(&prose, USUAL);
    let Cut::Rest { chars_left_out } = split.cut else {
        panic!("{split:?}")
    };
    // Where room is short, parts are filled.
    assert!(
        chars_left_out < 1_000_000 - MAX_PARTS * USUAL * 9 / 10,
        "{chars_left_out}"
    );
}

#[test]
fn a_text_that_needs_most_of_the_parts_fits_into_them() {
    let paragraphs = |chars: usize, count: usize| vec!["w ".repeat(chars / 2); count].join("\n\n");
    for text in [
        paragraphs(1_000, 60),
        paragraphs(1_300, 60),
        paragraphs(960, 90),
    ] {
        let split = checked(&text, USUAL);
        assert_eq!(split.cut, Cut::Whole, "{}", length(&text));
    }
}

#[test]
fn white_space_that_would_fill_a_part_is_left_out() {
    let cases = [
        ("lines", "\n"),
        ("blanks", " "),
        ("lines of two characters", " \r\n"),
        ("carriage returns", "\r"),
        ("zero-width", "\u{200b}"),
    ];
    for (name, blanks) in cases {
        let text = format!("before{}after", blanks.repeat(10_000));
        let split = checked(&text, USUAL);
        assert_eq!(digest_text(&split.parts.concat()), "beforeafter", "{name}");
        assert_eq!(split.parts.len(), 2, "{name}");
    }
    // Two parts can hold this between them.
    let text = format!("before{}after", "\n".repeat(3_000));
    assert_eq!(joined(&text, &checked(&text, USUAL), USUAL), text);
}

#[test]
fn white_space_at_the_ends_is_folded_into_a_part() {
    let long = "x".repeat(1_899);
    for text in [
        format!("{long}\n\n\n\n"),
        format!("\n\n\n\n{long}"),
        format!("{long}\n \n{long}\n\n"),
    ] {
        assert_eq!(joined(&text, &checked(&text, USUAL), USUAL), text);
    }
}

/// Texts that make a careless splitter slow, each of a length that is given.
fn hostile(chars: usize) -> Vec<(&'static str, String)> {
    let fill = |piece: &str| piece.repeat(chars / length(piece));
    vec![
        ("marks on one base", "e".to_owned() + &fill("\u{301}")),
        ("one line", fill("x")),
        ("backticks", fill("`")),
        ("runs of backticks", fill("``` ")),
        (
            "growing backticks",
            (1..)
                .map(|n| "`".repeat(n) + " ")
                .take(chars.isqrt())
                .collect(),
        ),
        ("runs of tildes", fill("~~~ ")),
        ("fence after fence", fill("```\n")),
        ("opened and long", "```js\n".to_owned() + &fill("y")),
        ("blanks after a fence", "```".to_owned() + &fill(" ") + "x"),
        ("blanks", "x".to_owned() + &fill(" ") + "y"),
        ("lines", "x".to_owned() + &fill("\n") + "y"),
        ("quote marks", fill("> ")),
        ("list markers", fill("- ")),
        ("brackets", fill("<")),
        ("links", fill("](")),
        ("unclosed links", fill("[a]( ")),
        ("addresses", fill("http")),
        ("one address", "https://".to_owned() + &fill("a")),
        ("joiners", "x".to_owned() + &fill("\u{200d}") + "y"),
        ("flags", fill("🇩")),
        ("carriage returns", "x".to_owned() + &fill("\r") + "y"),
    ]
}

#[test]
fn hostile_text_of_any_length_keeps_every_rule() {
    for (name, text) in hostile(12_000) {
        for limit in [100, USUAL] {
            assert!(!checked(&text, limit).parts.is_empty(), "{name}");
        }
    }
}

#[test]
fn a_hundred_thousand_hostile_characters_are_split_before_anybody_gets_impatient() {
    for (name, text) in hostile(100_000) {
        let split = split(&text, USUAL);
        assert!(split.parts.len() <= MAX_PARTS, "{name}");
        assert!(
            split.parts.iter().all(|part| length(part) <= USUAL),
            "{name}"
        );
    }
}

#[test]
fn the_debug_form_shows_counts_and_no_text() {
    assert_eq!(
        format!("{:?}", split("secret", USUAL)),
        "Split(1 parts, 6 chars, Whole)"
    );
}

#[test]
fn the_digest_text_leaves_out_what_discord_may_strip() {
    let cases = [
        ("plain", "plain"),
        (" two words\r\n", "twowords"),
        ("a\u{200b}b\u{feff}c\u{ad}d\u{202e}e", "abcde"),
        ("nul\u{0}bell\u{7}", "nulbell"),
        ("❤\u{fe0f}👩\u{200d}👧", "❤👩👧"),
        ("e\u{301}", "e\u{301}"),
        ("\u{3000}\u{2028}\u{a0}", ""),
        ("```\ncode\n```", "```code```"),
    ];
    for (text, want) in cases {
        assert_eq!(digest_text(text), want, "{text:?}");
    }
}
