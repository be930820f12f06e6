//! Random text, rich in what splitters get wrong.

use super::oracle::{checked, is_balanced, joined};
use crate::reply::{Cut, MESSAGE_CONTENT_MAX_CHARS, digest_text};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;

/// Short pieces of text that every mixture is made of.
const PIECES: [&str; 44] = [
    "\n",
    "\n",
    "\n",
    "\n\n",
    "\r\n",
    "\r\n\r\n",
    " ",
    "  ",
    "   ",
    "\t",
    ". ",
    "! ",
    "```",
    "```\n",
    "```rust\n",
    "````md\n",
    "````\n",
    "~~~",
    "~~~\n",
    "~~~ a `b` ~~~\n",
    "   ```\n",
    "\n```\n",
    "`",
    "``",
    "`code with blanks`",
    "> ",
    "> ```\n",
    "\n> ",
    "|",
    "| a | b |\n",
    "|---|---|\n",
    "👩‍👩‍👧‍👦",
    "👍🏽",
    "🇩🇪🇫🇷",
    "🇳",
    "e\u{301}\u{308}",
    "क्षि",
    "한",
    "\u{200d}",
    "\u{200b}",
    "<@123456789012345678>",
    "<:party:123456789012345678>",
    "https://example.com/a/b?c=d&e=f#g",
    "。",
];
/// Pieces that begin or continue list items, and lines indented like them.
const LISTS: [&str; 8] = [
    "- ",
    "\n- ",
    "\n  - ",
    "\n1. ",
    "    ",
    "\n    ```\n",
    "\n      ```sh\n",
    "- ```\n",
];
/// Longer pieces, so that a part is filled soon.
const FILLERS: [&str; 8] = [
    "word and word ",
    "Lorem ipsum dolor sit amet. ",
    "x",
    "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
    "let a = b + c;\n",
    "漢字漢字漢字漢字漢字漢字。",
    "                    ",
    "\n\n\n\n\n\n\n\n\n\n\n\n",
];

fn text_of(pieces: Vec<&'static str>) -> impl Strategy<Value = String> {
    let piece = prop_oneof![3 => select(pieces), 2 => select(FILLERS.to_vec())];
    vec(piece, 0..160).prop_map(|pieces| pieces.concat())
}

fn any_text() -> impl Strategy<Value = String> {
    text_of(PIECES.iter().chain(&LISTS).copied().collect())
}

fn text_without_lists() -> impl Strategy<Value = String> {
    text_of(PIECES.to_vec())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 100, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_text_in_small_parts_keeps_every_rule(text in any_text(), limit in 100_usize..260) {
        checked(&text, limit);
    }

    #[test]
    fn marks_in_any_order_keep_every_rule(
        marks in vec(select(vec!["`", "`", "`", "~", "~", "~", "\n", ">", " ", "-", "a", "é"]), 0..600),
        filler in select(vec!["", "aaaaaaaaaaaaaaaaaaaa", "                    ", "````````````````"]),
        limit in 100_usize..140,
    ) {
        let (first, second) = marks.split_at(marks.len() / 2);
        checked(&[&first.concat(), filler, &second.concat()].concat(), limit);
        checked(&marks.join(filler), limit);
    }

    #[test]
    fn any_text_repeated_keeps_every_rule_at_the_usual_limit(
        text in any_text(),
        times in 1_usize..8,
        limit in 1_800_usize..=MESSAGE_CONTENT_MAX_CHARS,
    ) {
        checked(&text.repeat(times), limit);
    }

    #[test]
    fn every_part_by_itself_closes_what_it_opens(text in text_without_lists(), limit in 100_usize..400) {
        let split = checked(&text, limit);
        if split.parts.len() > 1 {
            for part in &split.parts {
                prop_assert!(is_balanced(part), "{part:?}");
            }
        }
    }

    #[test]
    fn text_without_long_white_space_comes_back_exactly(
        words in vec(select(vec!["a", "word", ". ", "\n", "\n\n", "```\n", "~~~\n", "👩‍👩‍👧‍👦", "|x|\n", " "]), 1..600),
        limit in 100_usize..300,
    ) {
        let text = format!("begin {} end", words.join("y"));
        let split = checked(&text, limit);
        if split.cut == Cut::Whole {
            prop_assert_eq!(joined(&text, &split, limit), text);
        }
    }

    #[test]
    fn the_digest_of_the_parts_joined_is_the_digest_of_the_text(text in any_text(), limit in 100_usize..260) {
        let split = checked(&text, limit);
        if split.cut == Cut::Whole {
            let again = joined(&text, &split, limit);
            prop_assert_eq!(digest_text(&again), digest_text(&text));
        }
    }
}
