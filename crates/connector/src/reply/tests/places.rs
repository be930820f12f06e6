//! Where a text is cut.

use super::oracle::checked;

const LIMIT: usize = 200;

/// The parts, none of which has anything put in.
fn parts(text: &str) -> Vec<String> {
    let split = checked(text, LIMIT);
    assert_eq!(split.parts.concat(), text, "nothing is put in");
    split.parts
}

/// A sentence of exactly `chars` code points, with its full stop.
fn sentence(chars: usize) -> String {
    let words: String = "some words ".chars().cycle().take(chars - 2).collect();
    words + "x."
}

#[test]
fn the_best_place_is_taken_that_there_is() {
    let [short, middle, long] = [sentence(60), sentence(120), sentence(180)];
    let cases = [
        (
            "a paragraph",
            format!("{middle}\n\n"),
            format!("{short}\n{middle}"),
        ),
        (
            "several blank lines",
            format!("{middle}\n\n\n \n"),
            format!("{middle}\n"),
        ),
        (
            "a paragraph, though the next is long",
            format!("{short}\n\n"),
            format!("{long}\n"),
        ),
        (
            "a line",
            format!("{short}\n{short}\n"),
            format!("{middle}\n"),
        ),
        (
            "a line, though the next is long",
            format!("{short}\n"),
            format!("{long}\n"),
        ),
        ("a sentence", format!("{middle} {short} "), middle.clone()),
        (
            "a sentence in quotes",
            format!("\"{middle}\" "),
            format!("{long} and on"),
        ),
        ("a word", "word ".repeat(40), "word ".repeat(3) + "end"),
        (
            "two line end characters",
            format!("{middle}\r\n\r\n"),
            format!("{middle}\r\n"),
        ),
        (
            "between items, not within",
            format!("- {middle}\n  - {short}\n"),
            format!("- {middle}\n"),
        ),
    ];
    for (name, first, second) in cases {
        assert_eq!(parts(&(first.clone() + &second)), [first, second], "{name}");
    }
}

#[test]
fn text_without_spaces_is_cut_at_its_full_stops() {
    let sentence = "漢".repeat(59) + "。";
    let parts = parts(&sentence.repeat(10));
    assert!(parts.iter().all(|part| part.ends_with('。')), "{parts:?}");
}

#[test]
fn a_long_word_is_cut_only_if_no_part_can_hold_it() {
    let word = "w".repeat(190);
    assert_eq!(
        parts(&format!("a few words {word}")),
        ["a few words ".to_owned(), word]
    );
    assert_eq!(parts(&"w".repeat(450)).len(), 3);
}

#[test]
fn tokens_addresses_links_and_inline_code_stay_whole() {
    let tokens = [
        "<@123456789012345678>",
        "<@!123456789012345678>",
        "<@&123456789012345678>",
        "<#123456789012345678>",
        "<:party:123456789012345678>",
        "<a:party:123456789012345678>",
        "<t:1700000000:R>",
        "</name:123456789012345678>",
        "https://example.com/a_(b)?c=d#e",
        "<https://example.com/a>",
        "[two words](https://example.com)",
        "`a b c`",
        "``a ` b``",
    ];
    for token in tokens {
        for glue in ["", "x", " "] {
            for before in 150..LIMIT + 5 {
                let text = format!(
                    "{}{glue}{token}{glue}{}",
                    "p".repeat(before),
                    "q".repeat(100)
                );
                let parts = parts(&text);
                assert!(
                    parts.iter().any(|part| part.contains(token)),
                    "{token}: {parts:?}"
                );
            }
        }
    }
}

#[test]
fn a_token_longer_than_a_part_is_cut_as_text() {
    for text in [
        format!("`{}`", "a b ".repeat(200)),
        format!("https://example.com/{}", "p".repeat(900)),
    ] {
        let parts = parts(&text);
        assert!(parts.len() <= text.len() / 190 + 1, "{parts:?}");
    }
}

#[test]
fn a_table_is_cut_between_its_rows() {
    let row = |n: usize| {
        let cell = if n == 7 {
            "wide ".repeat(18)
        } else {
            format!("cell {n}")
        };
        format!("| {n} | {cell} | end |\n")
    };
    let table: String = (0..12).map(row).collect();
    let parts = parts(&table);
    assert!(parts.len() > 1);
    for line in parts.iter().flat_map(|part| part.lines()) {
        assert!(line.starts_with("| ") && line.ends_with(" |"), "{line:?}");
    }
}

#[test]
fn a_quote_is_cut_between_its_lines() {
    let quote: String = (0..40)
        .map(|n| format!("> line {n} of what was said\n"))
        .collect();
    for part in parts(&quote) {
        assert!(
            part.lines().all(|line| line.starts_with("> line ")),
            "{part:?}"
        );
    }
}

#[test]
fn a_table_or_a_code_block_that_fits_a_part_is_not_cut() {
    let before = sentence(120);
    let blocks = [
        "| a | b |\n|---|---|\n".to_owned() + &"| cell | cell |\n".repeat(6),
        format!("```rust\n{}```\n", "let a = b;\n".repeat(9)),
        "> said and quoted\n".repeat(7),
    ];
    for block in blocks {
        assert_eq!(
            parts(&format!("{before}\n{block}")),
            [format!("{before}\n"), block]
        );
    }
}

#[test]
fn a_heading_goes_with_what_follows_it() {
    let text = format!("{}\n\n## Next\n\n{}", sentence(150), sentence(150));
    let parts = parts(&text);
    assert!(parts[1].starts_with("## Next\n\n"), "{parts:?}");
}

#[test]
fn emphasis_across_a_cut_is_left_as_it_is_and_breaks_no_code_block() {
    let text = format!(
        "_{}_\n```rust\n{}```\n",
        sentence(400),
        "let a = b;\n".repeat(12)
    );
    let split = checked(&text, LIMIT);
    assert_eq!(
        split
            .parts
            .iter()
            .filter(|part| part.contains("```rust\n"))
            .count(),
        1
    );
    assert!(
        split
            .parts
            .iter()
            .all(|part| part.matches("```").count() % 2 == 0)
    );
}

#[test]
fn the_next_part_begins_with_text_and_not_with_white_space() {
    let text = "A paragraph of words.\n\n  - an item\n  - another item\n\nAnd so on. ".repeat(30);
    for part in parts(&text) {
        assert!(!part.starts_with(char::is_whitespace), "{part:?}");
    }
}
