//! Splitting a reply into parts that Discord takes.
//!
//! In: the whole text of a reply and the length that a part may have. Out: the parts in order, and
//! whether the text went in whole. Never: a part over the limit, a blank part, a clock, chance or
//! a search that grows faster than the text.
//!
//! Where a text is cut, best place first: between paragraphs, between lines, after a sentence,
//! after a word, and between graphemes where a word alone is longer than a part. White space at a
//! cut stays with the part before it. A place inside inline code, a URL, a link or a token such as
//! `<@id>` is used only when that thing is itself longer than a part.
//!
//! What is put in, and all that is: a code block that is cut is closed in the one part and opened
//! again, with its info string, in the next. Info strings over [`INFO_MAX_CHARS`] are not repeated.
//! Undoing that gives the text back exactly, with one exception: white space that would fill a
//! part by itself is left out, since Discord refuses such a part.
//!
//! What is read as a code block is what CommonMark reads as one: runs of three or more backticks
//! or tildes, in quotes and in list items too, closed by a run that is at least as long. Two
//! deviations: a run over [`FENCE_RUN_MAX_CHARS`], quote marks included, is text, because a part
//! could not hold it three times; and a code block in a list item goes on until it is closed.
//! Runs of emphasis, spoilers and links that are longer than a part are cut as they stand.

mod choice;
mod digest;
mod lines;
mod size;
mod unbroken;
mod window;

#[cfg(test)]
mod tests;

pub use digest::digest_text;
pub(crate) use digest::is_unseen;

use std::fmt;

/// Longest message content that Discord accepts, counted by [`length`].
///
/// Source: Discord's API reference, Create Message, field `content`. Its engineers say that code
/// points are counted; [`split`] also keeps every part within the same number of UTF-16 units, so
/// that a part is accepted either way.
pub const MESSAGE_CONTENT_MAX_CHARS: usize = 2_000;

/// Most parts that one reply is sent as; 95 000 characters at the usual part length of 1 900.
pub const MAX_PARTS: usize = 50;

/// Smallest limit that [`split`] works with. Below it a reopened code block would leave no room.
pub const PART_MIN_CHARS: usize = 100;

/// Longest info string of a code block that is repeated when the block is opened again.
pub const INFO_MAX_CHARS: usize = 60;

/// Longest run of backticks or tildes that counts as a fence, its quote marks included.
pub const FENCE_RUN_MAX_CHARS: usize = 16;

/// A reply in parts. `Debug` shows counts and never the text.
#[derive(Clone, PartialEq, Eq)]
pub struct Split {
    /// The parts, in order. None is blank, and there are none only where the text is blank.
    pub parts: Vec<String>,
    /// Whether the parts are all of the text.
    pub cut: Cut,
}

/// Whether the parts of a [`Split`] are all of its text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cut {
    /// All of it.
    Whole,
    /// There are [`MAX_PARTS`] parts, and the text went on.
    Rest {
        /// Code points after the last part.
        chars_left_out: usize,
    },
}

impl fmt::Debug for Split {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let chars: usize = self.parts.iter().map(|part| length(part)).sum();
        write!(
            f,
            "Split({} parts, {chars} chars, {:?})",
            self.parts.len(),
            self.cut
        )
    }
}

/// The length of a text as Discord counts it: Unicode code points.
#[must_use]
pub fn length(text: &str) -> usize {
    text.chars().count()
}

/// Splits a reply into parts of at most `limit` code points and at most
/// [`MESSAGE_CONTENT_MAX_CHARS`] UTF-16 units each.
///
/// `limit` is taken as the nearest value from [`PART_MIN_CHARS`] to [`MESSAGE_CONTENT_MAX_CHARS`].
/// A text within the limit is one part, unchanged. A text with nothing to see in it gives no part.
/// In more than one part, every code block is closed in the part where it stands, also one that
/// the text itself leaves open.
///
/// Graphemes stay whole, except one that is longer than the room of a part; that one is cut
/// between code points. The time taken grows with the length of the text and with nothing else.
#[must_use]
pub fn split(text: &str, limit: usize) -> Split {
    let limit = limit.clamp(PART_MIN_CHARS, MESSAGE_CONTENT_MAX_CHARS);
    if digest::is_blank(text) {
        return Split {
            parts: Vec::new(),
            cut: Cut::Whole,
        };
    }
    if size::Size::of(text).fits(limit) {
        return Split {
            parts: vec![text.to_owned()],
            cut: Cut::Whole,
        };
    }
    choice::Splitter::new(text, limit).run()
}
