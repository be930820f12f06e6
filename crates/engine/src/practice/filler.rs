//! Long texts of mixed shape, for the splitter and for people who look at it.
//!
//! In: a length. Out: prose, fenced code and tables of exactly that length. Never: chance; the
//! same length gives the same text.

/// Longest text that is made, in characters.
pub(super) const TEXT_MAX_CHARS: usize = 100_000;

const SENTENCES: [&str; 6] = [
    "A hall is quiet in the morning.",
    "The clerk opens the book and reads the first row aloud.",
    "Nobody may take from the chest without a mark in the book.",
    "Zwölf Gäste sitzen am Tisch, und jeder hat einen Namen.",
    "When the bell rings, whoever speaks ends the sentence and stops.",
    "In the evening the book is closed, and what stands in it holds.",
];

/// A text of exactly `chars` characters, at most [`TEXT_MAX_CHARS`].
pub(super) fn mixed(chars: usize) -> String {
    let chars = chars.min(TEXT_MAX_CHARS);
    let mut text = String::new();
    let mut length = 0;
    let mut number = 0;
    loop {
        let section = match number % 3 {
            0 => prose(number),
            1 => code(4 + number % 7),
            _ => table(3 + number % 5),
        };
        let section = format!("{section}\n\n");
        let section_chars = section.chars().count();
        if length + section_chars > chars {
            break;
        }
        text.push_str(&section);
        length += section_chars;
        number += 1;
    }
    // The rest is words, so that no fence stays open at the cut.
    text.extend("and so on ".chars().cycle().take(chars - length));
    no_blank_end(text)
}

/// A paragraph.
fn prose(from: usize) -> String {
    let sentence = |n: usize| SENTENCES[(from + n) % SENTENCES.len()];
    (0..4).map(sentence).collect::<Vec<_>>().join(" ")
}

/// A fenced block of `lines` lines of code.
pub(super) fn code(lines: usize) -> String {
    let body: Vec<String> = (1..=lines)
        .map(|n| format!("    book.write(Row {{ number: {n}, state: State::Queued }})?;"))
        .collect();
    format!(
        "```rust\nfn open(book: &mut Book) -> Result<(), Closed> {{\n{}\n    Ok(())\n}}\n```",
        body.join("\n")
    )
}

/// A table of `rows` rows.
pub(super) fn table(rows: usize) -> String {
    let body: Vec<String> = (1..=rows)
        .map(|n| format!("| {n} | guest {n} | {} |", n * n))
        .collect();
    format!(
        "| seat | name | coins |\n| ---: | --- | ---: |\n{}",
        body.join("\n")
    )
}

/// Discord trims a message's ends, so a text that ends blank would come back shorter.
fn no_blank_end(mut text: String) -> String {
    let kept = text.trim_end().len();
    let blanks = text[kept..].chars().count();
    text.truncate(kept);
    text.extend(std::iter::repeat_n('.', blanks));
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mixed_text_has_exactly_its_length_and_closed_fences() {
        for chars in [0, 1, 9, 10, 11, 200, 1_900, 2_000, 2_001, 10_000, 99_999] {
            let text = mixed(chars);
            assert_eq!(text.chars().count(), chars);
            assert_eq!(text.matches("```").count() % 2, 0, "{chars}");
            assert_eq!(text.trim(), text, "{chars}");
        }
        assert_eq!(mixed(usize::MAX).chars().count(), TEXT_MAX_CHARS);
    }

    #[test]
    fn a_long_mixed_text_holds_every_shape() {
        let text = mixed(4_000);
        for part in ["```rust\n", "| ---: |", "Zwölf", "\n\n"] {
            assert!(text.contains(part), "{part}");
        }
    }
}
