//! Code blocks across a cut.

use super::oracle::{checked, is_balanced, joined};
use crate::reply::{Cut, INFO_MAX_CHARS, length};

const LIMIT: usize = 200;

/// What the parts of a text look like: first and last line of each.
fn ends(text: &str, limit: usize) -> Vec<(String, String)> {
    let split = checked(text, limit);
    assert_eq!(split.cut, Cut::Whole);
    assert_eq!(joined(text, &split, limit), text);
    let line = |line: Option<&str>| line.unwrap_or_default().to_owned();
    split
        .parts
        .iter()
        .map(|part| (line(part.lines().next()), line(part.lines().last())))
        .collect()
}

fn lines(count: usize) -> String {
    (0..count)
        .map(|n| format!("let line_{n} = {n};\n"))
        .collect()
}

#[test]
fn a_code_block_is_closed_and_opened_again_as_it_was_opened() {
    let long_run = "`".repeat(12);
    let cases = [
        ("backticks", "```rust", "```", "```rust", "```"),
        ("tildes", "~~~python", "~~~", "~~~python", "~~~"),
        ("no language", "```", "```", "```", "```"),
        ("a longer run", "`````md", "`````", "`````md", "`````"),
        ("a long run", &long_run, &long_run, &long_run, &long_run),
        (
            "a closer longer than the opener",
            "```c",
            "``````",
            "```c",
            "```",
        ),
        ("indented", "   ```js", "  ```", "```js", "```"),
        (
            "a title",
            "```js title=\"a b\"",
            "```",
            "```js title=\"a b\"",
            "```",
        ),
        (
            "a space before the language",
            "``` js",
            "```",
            "```js",
            "```",
        ),
        (
            "an info string with a backtick",
            "~~~ a`b",
            "~~~",
            "~~~a`b",
            "~~~",
        ),
        ("in a list item", "- ```sh", "  ```", "```sh", "```"),
        ("in a numbered item", "12. ```sh", "    ```", "```sh", "```"),
    ];
    for (name, open, close, again, closed) in cases {
        let text = format!("Before.\n\n{open}\n{}{close}\nAfter.\n", lines(40));
        let ends = ends(&text, LIMIT);
        assert!(ends.len() > 3, "{name}: {ends:#?}");
        for (first, _) in &ends[1..ends.len() - 1] {
            assert_eq!(first, again, "{name}: {ends:#?}");
        }
        for (_, last) in &ends[1..ends.len() - 1] {
            assert_eq!(last, closed, "{name}");
        }
    }
}

#[test]
fn a_code_block_in_a_quote_is_closed_and_opened_again_in_the_quote() {
    let code: String = (0..20)
        .map(|n| format!("> let line_{n} = {n};\n"))
        .collect();
    let text = format!("> ```rust\n{code}> ```\n> and on\n");
    let ends = ends(&text, LIMIT);
    assert_eq!(ends[1], ("> ```rust".to_owned(), "> ```".to_owned()));

    // A line that is cut gets its quote mark again.
    let text = format!("> ```\n> {}\n> ```\n", "x".repeat(500));
    let split = checked(&text, LIMIT);
    assert!(
        split.parts[1].starts_with("> ```\n> xxx"),
        "{:?}",
        split.parts[1]
    );
}

#[test]
fn a_quote_that_ends_ends_its_code_block() {
    let text = format!(
        "> ```rust\n> never closed\n\n{}",
        "Prose, and more of it. ".repeat(30)
    );
    let split = checked(&text, LIMIT);
    assert!(
        split.parts[1..].iter().all(|part| !part.contains("```")),
        "{:?}",
        split.parts
    );
}

#[test]
fn an_info_string_that_is_long_is_not_repeated() {
    for (chars, repeated) in [
        (INFO_MAX_CHARS, true),
        (INFO_MAX_CHARS + 1, false),
        (300, false),
    ] {
        let info = "i".repeat(chars);
        let text = format!("```{info}\n{}```\n", "some code\n".repeat(600));
        let ends = ends(&text, 1_900);
        let again = if repeated {
            format!("```{info}")
        } else {
            "```".to_owned()
        };
        assert!(
            ends[1..].iter().all(|(first, _)| *first == again),
            "{chars}"
        );
    }
}

#[test]
fn an_opening_line_longer_than_a_part_is_cut_and_its_code_stays_code() {
    for symbol in ["```", "~~~"] {
        let text = format!("{symbol}{}\ncode\n{symbol}\nAfter.", "i".repeat(5_000));
        let split = checked(&text, 1_900);
        assert_eq!(joined(&text, &split, 1_900), text);
        assert!(split.parts.iter().all(|part| is_balanced(part)));
    }
}

#[test]
fn a_fence_within_a_longer_or_another_fence_is_code() {
    let cases = [
        ("a shorter run", "````", "```rust", "```"),
        ("another symbol", "~~~", "```rust", "```"),
        ("tildes in backticks", "```", "~~~", "~~~"),
        ("an opener with an info string", "```", "```rust", "```rust"),
        ("indented too far", "```", "     ```", "     ```"),
    ];
    for (name, outer, inner_open, inner_close) in cases {
        let inner = format!("{inner_open}\nlet it = be;\n{inner_close}\n").repeat(10);
        let text = format!("{outer}\n{inner}{outer}\nAfter.\n");
        let ends = ends(&text, LIMIT);
        assert!(
            ends[1..].iter().all(|(first, _)| first == outer),
            "{name}: {ends:?}"
        );
    }
}

#[test]
fn triple_backticks_that_close_on_their_line_open_nothing() {
    let text = format!("```js``` is inline\n{}", "x".repeat(5_000));
    let split = checked(&text, 1_900);
    assert_eq!(
        split.parts.concat(),
        text,
        "nothing is put in and nothing is repeated"
    );

    let text = format!("```a `b``` {}", "still the first line ".repeat(200));
    assert_eq!(checked(&text, 1_900).parts.concat(), text);
}

#[test]
fn a_block_that_is_never_closed_is_closed_in_every_part() {
    let text = format!("See:\n```rust\n{}", lines(30));
    let split = checked(&text, LIMIT);
    assert!(split.parts.iter().all(|part| is_balanced(part)));
    assert!(
        split
            .parts
            .last()
            .is_some_and(|part| part.ends_with("\n```"))
    );
}

#[test]
fn line_ends_of_two_characters_are_no_part_of_a_fence() {
    let text = format!(
        "```rust\r\n{}```\r\nAfter.",
        lines(30).replace('\n', "\r\n")
    );
    let ends = ends(&text, LIMIT);
    assert_eq!(ends[1], ("```rust".to_owned(), "```".to_owned()));
}

#[test]
fn text_of_nothing_but_fences_is_split_between_blocks() {
    for text in [
        "```\n```\n".repeat(200),
        "~~~\n```\n~~~\n".repeat(100),
        "```\n\n".repeat(200),
    ] {
        let split = checked(&text, LIMIT);
        assert!(
            split.parts.iter().all(|part| is_balanced(part)),
            "{:?}",
            split.parts
        );
    }
}

#[test]
fn a_line_of_code_that_is_cut_never_makes_a_fence_of_its_halves() {
    for (name, line) in [
        (
            "a run in the middle",
            "x".repeat(150) + &"`".repeat(60) + &"y".repeat(150),
        ),
        ("runs and blanks", "~~~ ```  ".repeat(60)),
        ("blanks after a run", format!("  ```{}x", " ".repeat(90))),
        ("a run at the end", "x".repeat(182) + "```"),
        ("tildes", "~".repeat(700)),
    ] {
        for fence in ["", "```\n", "~~~\n"] {
            let text = format!("{fence}{line}\nlast line");
            for limit in 100..140 {
                let split = checked(&text, limit);
                assert_eq!(joined(&text, &split, limit), text, "{name} {limit}");
            }
        }
    }
}

#[test]
fn no_part_shows_an_empty_code_block_where_that_can_be_helped() {
    for before in 150..210 {
        let text = format!(
            "{}\n```rust\nfn main() {{}}\n```\n{}",
            "p".repeat(before),
            "q ".repeat(60)
        );
        for part in checked(&text, LIMIT).parts {
            let empty = part.contains("```rust\n```") || part.ends_with("```rust\n");
            assert!(!empty, "{before}: {part:?}");
        }
    }
}

#[test]
fn the_lines_put_in_are_counted() {
    for limit in 100..300 {
        let text = format!("```typescript\n{}\n```", "x".repeat(1_000));
        let split = checked(&text, limit);
        assert!(split.parts.iter().all(|part| length(part) <= limit));
        assert!(
            split.parts.len() <= 1_000 / (limit - 22) + 2,
            "room is used: {limit}"
        );
    }
}
