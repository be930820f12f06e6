//! Text in code, as it can be seen.
//!
//! In: texts of models, of files and of people. Out: spans and blocks of code that the text cannot
//! end, and whether they show it as it is. Never: two texts that look the same where both are said to
//! be shown as they are; two that are written out alike.
//!
//! What cannot be seen stands as `\u{..}`. So does a backslash that would begin such a word, and the
//! mark that stands for a backtick where that could end the code: a reader can tell which text it was.

use crate::reply;

/// Stands for a backtick that could end the code.
const TICK: char = '\u{2cb}';

/// Whether a piece is shown as it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Cut {
    Whole,
    Changed,
}

impl Cut {
    pub(super) const fn and(self, other: Self) -> Self {
        match (self, other) {
            (Self::Whole, Self::Whole) => Self::Whole,
            (Self::Changed, _) | (_, Self::Changed) => Self::Changed,
        }
    }
}

pub(super) struct Piece {
    pub(super) text: String,
    pub(super) cut: Cut,
}

/// Whether a symbol that stands before `rest` is written out: it shows nothing, or it would read as
/// what something else is written as.
fn is_written(symbol: char, rest: &str) -> bool {
    match symbol {
        ' ' => false,
        TICK => true,
        '\\' => rest.starts_with("u{"),
        _ => reply::is_unseen(symbol) || shows_little(symbol),
    }
}

/// What shows nothing of its own, or only in some fonts, beyond what Discord may take away: signs
/// that lie under others, blank Braille, hieroglyph controls, private use, no characters at all.
const fn shows_little(symbol: char) -> bool {
    matches!(symbol,
        '\u{600}'..='\u{605}' | '\u{6dd}' | '\u{70f}' | '\u{890}'..='\u{891}' | '\u{8e2}'
        | '\u{2800}' | '\u{e000}'..='\u{f8ff}' | '\u{fdd0}'..='\u{fdef}' | '\u{fffe}'..='\u{ffff}'
        | '\u{110bd}' | '\u{110cd}' | '\u{13430}'..='\u{1343f}' | '\u{1d159}'
        | '\u{f0000}'..='\u{10ffff}')
}

/// Each symbol of a text, with the text behind it.
fn symbols(text: &str) -> impl Iterator<Item = (char, &str)> {
    let ends = text.char_indices();
    ends.map(|(at, symbol)| (symbol, &text[at + symbol.len_utf8()..]))
}

/// A text on one line of a plain file.
pub(super) fn one_line(text: &str) -> String {
    let mut line = String::with_capacity(text.len());
    for (symbol, rest) in symbols(text) {
        if symbol != TICK && is_written(symbol, rest) {
            line.extend(symbol.escape_unicode());
        } else {
            line.push(symbol);
        }
    }
    line
}

/// A text in a code span of one line.
pub(super) fn code(text: &str, max: usize) -> Piece {
    let (mut shown, mut cut, mut left) = (String::from("`"), Cut::Whole, max.saturating_sub(3));
    for (symbol, rest) in symbols(text) {
        let mark = match symbol {
            '`' => TICK.to_string(),
            _ if is_written(symbol, rest) => symbol.escape_unicode().to_string(),
            _ => symbol.to_string(),
        };
        if mark.chars().ne([symbol]) {
            cut = Cut::Changed;
        }
        if units(&mark) > left {
            shown.push('…');
            cut = Cut::Changed;
            break;
        }
        left -= units(&mark);
        shown.push_str(&mark);
    }
    if shown.trim_end() == "`" {
        if !text.is_empty() {
            cut = Cut::Changed;
        }
        shown = String::from("`-");
    }
    shown.push('`');
    Piece { text: shown, cut }
}

/// As many pieces as fit, and how many do not.
pub(super) fn list(pieces: impl Iterator<Item = Piece>, between: &str, max: usize) -> Piece {
    let (mut text, mut cut, mut more) = (String::new(), Cut::Whole, 0_usize);
    for piece in pieces {
        let gap = if text.is_empty() { "" } else { between };
        let fits = units(&text) + units(gap) + units(&piece.text) + 24 <= max;
        if more > 0 || !fits {
            more += 1;
            cut = Cut::Changed;
            continue;
        }
        cut = cut.and(piece.cut);
        text.push_str(gap);
        text.push_str(&piece.text);
    }
    if more > 0 {
        let gap = if text.is_empty() { "" } else { between };
        text.push_str(&format!("{gap}and {more} more"));
    }
    Piece { text, cut }
}

/// A content for a code block: whole lines while they fit. No run of backticks is long enough to
/// end the block, and nothing stands between two of them that Discord might take away.
pub(super) fn block(text: &str, room: usize) -> Piece {
    let text = text.strip_suffix('\n').unwrap_or(text);
    // Discord takes empty lines away at either end of a block.
    let (mut shown, mut left) = (String::new(), room);
    let mut cut = if text.starts_with('\n') || text.ends_with('\n') {
        Cut::Changed
    } else {
        Cut::Whole
    };
    for (index, line) in text.split('\n').enumerate() {
        let marked = marked(line);
        cut = cut.and(marked.cut);
        let gap = usize::from(index > 0);
        if units(&marked.text) + gap > left {
            cut = Cut::Changed;
            if index == 0 {
                shown = first(&marked.text, left.saturating_sub(1));
            }
            shown.push('…');
            break;
        }
        if index > 0 {
            shown.push('\n');
        }
        left -= units(&marked.text) + gap;
        shown.push_str(&marked.text);
    }
    Piece { text: shown, cut }
}

fn marked(line: &str) -> Piece {
    let (mut shown, mut cut) = (String::with_capacity(line.len()), Cut::Whole);
    for (symbol, rest) in symbols(line) {
        match symbol {
            '`' if shown.ends_with("``") => {
                shown.truncate(shown.len() - 2);
                shown.extend([TICK, TICK, TICK]);
                cut = Cut::Changed;
            }
            // The mark never stands for itself: this one belongs to the run before it.
            '`' if shown.ends_with(TICK) => shown.push(TICK),
            '\t' => shown.push(symbol),
            _ if is_written(symbol, rest) => {
                shown.extend(symbol.escape_unicode());
                cut = Cut::Changed;
            }
            _ => shown.push(symbol),
        }
    }
    Piece { text: shown, cut }
}

/// As many characters as fit into so many UTF-16 units.
fn first(text: &str, max: usize) -> String {
    let mut left = max;
    let fits = |symbol: &char| {
        let fits = symbol.len_utf16() <= left;
        left = left.saturating_sub(symbol.len_utf16());
        fits
    };
    text.chars().take_while(fits).collect()
}

/// Length in UTF-16 units, which is never below the length in code points.
pub(super) fn units(text: &str) -> usize {
    text.chars().map(char::len_utf16).sum()
}
