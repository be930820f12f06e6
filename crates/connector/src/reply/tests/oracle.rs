//! An account of a [`Split`] that shares no code with the splitter.
//!
//! It reads the original line by line on its own, finds the text of the original in each part by
//! taking lines off that look like fences, and then asks of every line that was taken off whether
//! it had to be there.

mod reading;

use crate::reply::{Cut, MAX_PARTS, MESSAGE_CONTENT_MAX_CHARS, Split, split};
use reading::{Block, Seen, read, state_at};
use std::collections::BTreeSet;
use unicode_segmentation::UnicodeSegmentation;

/// What the oracle found a part to be.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Piece {
    /// What was put before the text.
    opening: String,
    /// Where the text stands in the original.
    start: usize,
    end: usize,
    /// What was put after it.
    closing: String,
}

/// Splits, and panics where the outcome breaks a rule. Returns the split.
pub(super) fn checked(text: &str, limit: usize) -> Split {
    let split = split(text, limit);
    if text.chars().all(odd) {
        assert_eq!(
            split,
            Split {
                parts: Vec::new(),
                cut: Cut::Whole
            },
            "nothing to send"
        );
        return split;
    }
    assert!(split.parts.len() <= MAX_PARTS, "too many parts");
    for part in &split.parts {
        let chars = part.chars().count();
        assert!(chars <= limit, "a part of {chars} over {limit}: {part:?}");
        assert!(
            part.encode_utf16().count() <= MESSAGE_CONTENT_MAX_CHARS,
            "too many units"
        );
        assert!(part.chars().any(|c| !odd(c)), "a blank part");
    }
    if matches!(split.cut, Cut::Rest { .. }) {
        assert_eq!(split.parts.len(), MAX_PARTS, "room for more parts");
    }
    let Some(pieces) = undo(text, &split, limit) else {
        panic!("the parts are not the text\n{text:?}\n{:#?}", split.parts)
    };
    if pieces.len() > 1 {
        check_fences(text, &pieces, limit);
    }
    check_graphemes(text, &pieces, limit);
    split
}

/// The original as the parts give it back.
pub(super) fn joined(text: &str, split: &Split, limit: usize) -> String {
    let pieces = undo(text, split, limit).expect("the parts are the text");
    pieces
        .iter()
        .map(|piece| &text[piece.start..piece.end])
        .collect()
}

/// Whether every code block that a text opens is closed in it.
pub(super) fn is_balanced(text: &str) -> bool {
    read(text, None, 0, false)
        .last()
        .is_none_or(|line| line.after.is_none())
}

fn odd(c: char) -> bool {
    let plain = c.is_ascii() && !c.is_ascii_control() && c != ' ';
    !plain && crate::reply::digest_text(c.encode_utf8(&mut [0; 4])).is_empty()
}

fn check_fences(text: &str, pieces: &[Piece], limit: usize) {
    let lines = read(text, None, 0, false);
    for (index, piece) in pieces.iter().enumerate() {
        let (open, list, mid) = state_at(text, &lines, piece.start);
        let name = format!("part {index}, {piece:?}\n{text:?}");
        let want = open
            .as_ref()
            .map_or_else(Vec::new, |block| openings(block, mid));
        if open.is_none() {
            assert_eq!(piece.opening, "", "nothing to open again: {name}");
        } else {
            assert!(want.contains(&piece.opening), "opened as {want:?}: {name}");
        }
        let inner = read(&text[piece.start..piece.end], open, list, mid);
        let left_open = inner.last().and_then(|line| line.after.clone());
        let marks = |block: &Block| "> ".repeat(block.quotes);
        let want = left_open.map_or_else(String::new, |block| {
            let line_end = if text[..piece.end].ends_with('\n') {
                ""
            } else {
                "\n"
            };
            format!(
                "{line_end}{}{}",
                marks(&block),
                block.symbol.to_string().repeat(block.run)
            )
        });
        assert_eq!(piece.closing, want, "closed as it was opened: {name}");
        let (open_next, ..) = state_at(text, &lines, piece.end);
        if piece.end < text.len() && open_next.is_some() && piece.closing.is_empty() {
            panic!("a cut in a code block closes it: {name}");
        }
    }
    assert!(
        pieces
            .iter()
            .all(|piece| piece.end - piece.start <= 4 * limit)
    );
}

/// The ways to open a block again; more than one where the info string may be left out.
fn openings(block: &Block, mid: bool) -> Vec<String> {
    let marks = "> ".repeat(block.quotes);
    let again = if mid { marks.as_str() } else { "" };
    let run = block.symbol.to_string().repeat(block.run);
    vec![
        format!("{marks}{run}{}\n{again}", block.info),
        format!("{marks}{run}\n{again}"),
    ]
}

fn check_graphemes(text: &str, pieces: &[Piece], limit: usize) {
    let cuts: BTreeSet<usize> = pieces.iter().map(|piece| piece.end).collect();
    for (start, grapheme) in text.grapheme_indices(true) {
        let inside = cuts.range(start + 1..start + grapheme.len()).next();
        let long = grapheme.chars().count() > limit / 4;
        assert!(
            inside.is_none() || long,
            "cut at {inside:?} inside {grapheme:?}"
        );
    }
}

/// Finds the text of each part in the original.
fn undo(text: &str, split: &Split, limit: usize) -> Option<Vec<Piece>> {
    if text.chars().all(odd) {
        return split.parts.is_empty().then(Vec::new);
    }
    if split.parts == [text] {
        let (opening, closing) = (String::new(), String::new());
        return Some(vec![Piece {
            opening,
            start: 0,
            end: text.len(),
            closing,
        }]);
    }
    let lines = read(text, None, 0, false);
    let (pieces, dead) = (Vec::new(), BTreeSet::new());
    let mut search = Search {
        text,
        limit,
        cut: split.cut,
        lines,
        pieces,
        dead,
    };
    search.find(&split.parts, 0).then_some(search.pieces)
}

struct Search<'t> {
    text: &'t str,
    limit: usize,
    cut: Cut,
    lines: Vec<Seen>,
    pieces: Vec<Piece>,
    /// Parts left and place in the text, where they do not fit.
    dead: BTreeSet<(usize, usize)>,
}

impl Search<'_> {
    fn find(&mut self, parts: &[String], at: usize) -> bool {
        let Some((part, rest)) = parts.split_first() else {
            let left = &self.text[at..];
            return match self.cut {
                // A little white space at the end goes with the last part.
                Cut::Whole => {
                    let tail = self.text.chars().rev().take_while(|&c| odd(c)).count();
                    left.is_empty() || tail >= self.limit / 3 && left.chars().all(odd)
                }
                Cut::Rest { chars_left_out } => left.chars().count() == chars_left_out,
            };
        };
        if !self.dead.insert((parts.len(), at)) {
            return false;
        }
        for start in starts(self.text, at, self.limit) {
            for piece in self.pieces_at(part, start) {
                let end = piece.end;
                self.pieces.push(piece);
                if self.find(rest, end) {
                    return true;
                }
                self.pieces.pop();
            }
        }
        false
    }

    /// What a part may be, if its text begins at `start`; the likeliest first.
    fn pieces_at(&self, part: &str, start: usize) -> Vec<Piece> {
        let (open, list, mid) = state_at(self.text, &self.lines, start);
        let mut found = Vec::new();
        for head in heads(part, self.pieces.is_empty()) {
            for tail in tails(&part[head..]) {
                let inner = &part[head..part.len() - tail];
                if inner.is_empty() || !self.text[start..].starts_with(inner) {
                    continue;
                }
                let last = read(inner, open.clone(), list, mid).pop();
                let surprises = usize::from(open.is_some() != (head > 0))
                    + usize::from(last.is_some_and(|line| line.after.is_some()) != (tail > 0))
                    + usize::from(
                        part[part.len() - tail..].starts_with('\n')
                            && inner.ends_with(['\r', '\n']),
                    );
                let piece = Piece {
                    opening: part[..head].to_owned(),
                    start,
                    end: start + inner.len(),
                    closing: part[part.len() - tail..].to_owned(),
                };
                found.push((surprises, piece));
            }
        }
        found.sort_by_key(|(surprises, _)| *surprises);
        found.into_iter().map(|(_, piece)| piece).collect()
    }
}

/// Where the next part may begin: here, or after white space that is too much for a part.
fn starts(text: &str, at: usize, limit: usize) -> Vec<usize> {
    let run: Vec<(usize, char)> = text[at..]
        .char_indices()
        .take_while(|&(_, c)| odd(c))
        .collect();
    let mut starts = vec![at];
    if run.len() >= limit / 3 {
        starts.extend(
            run.iter()
                .rev()
                .take(50)
                .map(|&(offset, c)| at + offset + c.len_utf8()),
        );
    }
    starts
}

/// Lengths of what may have been put before the text of a part, longest first: a first line that
/// looks like a fence, and the quote marks after it.
fn heads(part: &str, first: bool) -> Vec<usize> {
    let mut heads = vec![0];
    if let Some(line) = part.find('\n').map(|end| end + 1).filter(|_| !first) {
        let bare = part[..line].trim_start_matches("> ");
        if bare.starts_with("```") || bare.starts_with("~~~") {
            let mut head = line;
            heads.push(head);
            while part[head..].starts_with("> ") {
                head += 2;
                heads.push(head);
            }
        }
    }
    heads.reverse();
    heads
}

/// Lengths of what may have been put after it, longest first.
fn tails(part: &str) -> Vec<usize> {
    let line = part.rfind('\n').map_or(0, |at| at + 1);
    let bare = part[line..].trim_start_matches("> ");
    let fence =
        bare.len() >= 3 && (bare.bytes().all(|b| b == b'`') || bare.bytes().all(|b| b == b'~'));
    if !fence || line == 0 {
        return vec![0];
    }
    vec![part.len() - line + 1, part.len() - line, 0]
}
