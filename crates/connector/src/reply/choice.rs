//! From the places where a part may end to the parts.
//!
//! In: the text. Out: its [`Split`]. Never: a part that is made twice.
//!
//! A place of a better rank is taken where the part is at least half full, or where what follows
//! up to the next such place has to begin a part anyway to stay whole. The half becomes more where
//! the text would otherwise not fit into [`MAX_PARTS`] parts.

use super::digest::is_unseen;
use super::lines::{Context, Fence, Place, Reading};
use super::size::Size;
use super::window::{Candidate, Care, End, Rank, Source, Spot, Window};
use super::{Cut, MAX_PARTS, Split};

/// The ranks at which nothing is torn, best first.
const SOFT: [Rank; 6] = [
    Rank::Paragraph,
    Rank::Line,
    Rank::BlockLine,
    Rank::IndentedLine,
    Rank::Sentence,
    Rank::Word,
];
/// The other ranks, best first.
const HARD: [Rank; 4] = [
    Rank::AwkwardLine,
    Rank::BeforeSpace,
    Rank::Grapheme,
    Rank::Unbroken,
];
/// How full a part should be before a place is taken for its rank alone, in percent.
const FILL_PERCENT: usize = 50;
/// The same where room is short.
const FILL_MAX_PERCENT: usize = 95;
/// Blanks that are kept before the content of a line when a longer run of them is left out: enough
/// for the line to stay what it is.
const BLANKS_KEPT_CHARS: usize = 44;

/// Makes the parts, one after the other.
pub(super) struct Splitter<'t> {
    source: Source<'t>,
    spot: Spot<'t>,
    /// Size of what is not yet in a part.
    left: Size,
    parts: Vec<String>,
}

impl<'t> Splitter<'t> {
    pub(super) fn new(text: &'t str, limit: usize) -> Self {
        let last_seen = text
            .char_indices()
            .rfind(|&(_, c)| !is_unseen(c))
            .map_or(0, |(at, _)| at);
        Self {
            source: Source {
                text,
                limit,
                last_seen,
            },
            spot: Spot {
                at: 0,
                place: Place::LineStart,
                context: Context::default(),
            },
            left: Size::of(text),
            parts: Vec::new(),
        }
    }

    pub(super) fn run(mut self) -> Split {
        while self.spot.at <= self.source.last_seen {
            if self.parts.len() == MAX_PARTS {
                let cut = Cut::Rest {
                    chars_left_out: self.left.chars,
                };
                return Split {
                    parts: self.parts,
                    cut,
                };
            }
            self.leave_blanks_out();
            let (window, care) = self.window();
            if let End::Fits(closes) = window.end {
                self.push(self.source.text.len(), closes);
                break;
            }
            let chosen = self.choose(&window, care);
            self.push(chosen.next.at, chosen.closes);
            self.spot = chosen.next;
        }
        Split {
            parts: self.parts,
            cut: Cut::Whole,
        }
    }

    /// The places for the next part, with as much care as there are places for.
    fn window(&self) -> (Window<'t>, Care) {
        let careful = [Care::Full, Care::DropsTail, Care::CutsGraphemes].into_iter();
        careful
            .map(|care| (self.source.look(self.spot, care), care))
            .find(|(window, _)| window.has_any())
            .unwrap_or_else(|| {
                (
                    self.source.look(self.spot, Care::CutsAnything),
                    Care::CutsAnything,
                )
            })
    }

    fn choose(&self, window: &Window<'t>, care: Care) -> Candidate<'t> {
        let percent = self.fill_percent();
        let least = window.most_chars * percent / 100;
        let may_be_short = percent == FILL_PERCENT;
        let in_time = SOFT.into_iter().find_map(|rank| {
            let found = window.last(rank)?;
            let good = found.chars >= least || may_be_short && self.keeps_next(rank, found, care);
            good.then_some(found)
        });
        in_time
            .or_else(|| {
                let full = |c: &Candidate<'_>| c.chars >= least;
                HARD.into_iter()
                    .find_map(|rank| window.last(rank).filter(full))
            })
            .or_else(|| {
                let all = SOFT.into_iter().chain(HARD);
                all.filter_map(|rank| window.last(rank))
                    .max_by_key(|found| found.chars)
            })
            .expect("any one code point fits: `PART_MIN_CHARS` is more than a fence takes twice")
    }

    /// Whether what follows a place, up to the next of its kind, fits into a part of its own.
    fn keeps_next(&self, rank: Rank, place: Candidate<'t>, care: Care) -> bool {
        let ends = match rank {
            Rank::Paragraph => &SOFT[..1],
            Rank::Line | Rank::BlockLine | Rank::IndentedLine => &SOFT[..4],
            Rank::Word => &SOFT[..],
            Rank::Sentence
            | Rank::AwkwardLine
            | Rank::BeforeSpace
            | Rank::Grapheme
            | Rank::Unbroken => return false,
        };
        self.source.look(place.next, care).ends_at(ends)
    }

    fn fill_percent(&self) -> usize {
        let parts_left = MAX_PARTS - self.parts.len();
        let needed = self.left.parts(self.source.limit) * 105 / parts_left;
        needed.clamp(FILL_PERCENT, FILL_MAX_PERCENT)
    }

    /// Leaves out the white space before the next character, where a part could not hold both.
    fn leave_blanks_out(&mut self) {
        let text = self.source.text;
        let rest = &text[self.spot.at..];
        let Some((seen, _)) = rest.char_indices().find(|&(_, c)| !is_unseen(c)) else {
            return;
        };
        let blanks = &rest[..seen];
        let few = blanks.len() <= BLANKS_KEPT_CHARS;
        if few || self.source.look(self.spot, Care::CutsGraphemes).has_any() {
            return;
        }
        let line = blanks.rfind('\n').map_or(0, |at| at + 1);
        let kept = blanks
            .char_indices()
            .rev()
            .nth(BLANKS_KEPT_CHARS - 1)
            .map_or(0, |(at, _)| at);
        let skipped = line.max(kept);
        if line > 0 {
            // A blank line ends a quote, and with it the code block in the quote.
            let blank = Reading::of("", self.spot.context, Place::LineStart);
            self.spot.context = blank.after;
            self.spot.place = Place::LineStart;
        }
        self.left -= Size::of(&blanks[..skipped]);
        self.spot.at += skipped;
    }

    /// Adds the part from the current spot up to `end`.
    fn push(&mut self, end: usize, closes: Option<Fence<'t>>) {
        let text = &self.source.text[self.spot.at..end];
        let fence = self.spot.context.fence;
        let mut part = fence.map_or_else(String::new, |fence| {
            fence.opening(self.source.limit, self.spot.place)
        });
        part.push_str(text);
        if let Some(fence) = closes {
            part.push_str(&fence.closing(text));
        }
        self.parts.push(part);
        self.left -= Size::of(text);
    }
}
