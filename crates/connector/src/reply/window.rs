//! The places where the next part may end, by how good they are.
//!
//! In: the text and the spot where a part begins. Out: the last place of each [`Rank`] that the
//! part has room for, or that all the rest fits. Never: a choice between the ranks.

use super::digest::is_unseen;
use super::lines::{Context, Fence, Place, Reading, Role};
use super::size::Size;
use super::unbroken::unbroken;
use std::ops::Range;
use unicode_segmentation::UnicodeSegmentation;

/// How good a place is to end a part at, best first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Rank {
    /// Between paragraphs.
    Paragraph,
    /// Between lines that do not belong together more than others.
    Line,
    /// Between lines of one code block, table or quote.
    BlockLine,
    /// Before a line whose indentation Discord would trim.
    IndentedLine,
    /// After a sentence.
    Sentence,
    /// After a word.
    Word,
    /// Between lines, leaving an empty code block or a heading by itself.
    AwkwardLine,
    /// Where the next part would begin with white space.
    BeforeSpace,
    /// Between two graphemes of a word, or before a line's content.
    Grapheme,
    /// Within inline code, a URL, a link or a token.
    Unbroken,
}

impl Rank {
    const COUNT: usize = 10;
}

/// Where a part begins.
#[derive(Clone, Copy, Debug)]
pub(super) struct Spot<'t> {
    /// Byte in the text.
    pub(super) at: usize,
    pub(super) place: Place,
    pub(super) context: Context<'t>,
}

/// A place where a part may end.
#[derive(Clone, Copy, Debug)]
pub(super) struct Candidate<'t> {
    /// Where the next part would begin.
    pub(super) next: Spot<'t>,
    /// The code block that has to be closed there.
    pub(super) closes: Option<Fence<'t>>,
    /// Code points of the text that the part would hold.
    pub(super) chars: usize,
}

/// What a part that begins at some spot may hold.
#[derive(Debug)]
pub(super) struct Window<'t> {
    best: [Option<Candidate<'t>>; Rank::COUNT],
    /// Code points of the text that the fullest part would hold.
    pub(super) most_chars: usize,
    /// Whether the text's end is within reach.
    pub(super) end: End<'t>,
}

/// Whether a part could hold all the rest.
#[derive(Clone, Copy, Debug)]
pub(super) enum End<'t> {
    /// It could, closing this code block.
    Fits(Option<Fence<'t>>),
    /// It could not.
    Beyond,
}

/// What is given up to find any place at all, least first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Care {
    /// Nothing.
    Full,
    /// White space at the end of the text may be left over, and is then left out.
    DropsTail,
    /// A grapheme may be cut.
    CutsGraphemes,
    /// A line may be cut so that code blocks change their meaning, and a part may be blank.
    CutsAnything,
}

impl<'t> Window<'t> {
    /// The last place of a rank.
    pub(super) fn last(&self, rank: Rank) -> Option<Candidate<'t>> {
        self.best[rank as usize]
    }

    /// Whether a part could end at a place of one of these ranks, or at the text's end.
    pub(super) fn ends_at(&self, ranks: &[Rank]) -> bool {
        matches!(self.end, End::Fits(_)) || ranks.iter().any(|&rank| self.last(rank).is_some())
    }

    /// Whether there is any place, or the text's end.
    pub(super) fn has_any(&self) -> bool {
        self.most_chars > 0 || matches!(self.end, End::Fits(_))
    }

    fn offer(&mut self, rank: Rank, candidate: Candidate<'t>) {
        self.best[rank as usize] = Some(candidate);
        self.most_chars = candidate.chars;
    }
}

/// A line as the scan meets it.
struct Line<'t> {
    start: usize,
    place: Place,
    /// Without its line end.
    content: &'t str,
    reading: Reading<'t>,
    unbroken: Vec<Range<usize>>,
}

/// The text and what holds for all of its parts.
#[derive(Clone, Copy, Debug)]
pub(super) struct Source<'t> {
    pub(super) text: &'t str,
    pub(super) limit: usize,
    /// Byte at which the last character begins that is more than white space.
    pub(super) last_seen: usize,
}

impl<'t> Source<'t> {
    /// The places where a part may end that begins at `spot`.
    pub(super) fn look(&self, spot: Spot<'t>, care: Care) -> Window<'t> {
        Scan::new(*self, spot, care).run()
    }

    fn line(&self, spot: Spot<'t>) -> Line<'t> {
        let rest = &self.text[spot.at..];
        let content = rest.find('\n').map_or(rest, |end| &rest[..end]);
        let content = content.strip_suffix('\r').unwrap_or(content);
        let reading = Reading::of(content, spot.context, spot.place);
        let near = content
            .char_indices()
            .nth(2 * self.limit)
            .map_or(content.len(), |(at, _)| at);
        let unbroken = match reading.role {
            Role::Prose => unbroken(&content[..near], self.limit),
            Role::Opens | Role::Code | Role::Closes => Vec::new(),
        };
        Line {
            start: spot.at,
            place: spot.place,
            content,
            reading,
            unbroken,
        }
    }
}

/// One pass over what a part may hold.
struct Scan<'t> {
    source: Source<'t>,
    care: Care,
    spot: Spot<'t>,
    line: Line<'t>,
    /// Size of the part so far, with the lines that open a code block again.
    used: Size,
    /// Code points of the text so far.
    chars: usize,
    /// Byte at which the first character begins that is more than white space.
    first_seen: usize,
    sentence: Sentence,
    /// Whether the last line with content is a heading.
    heading: bool,
    window: Window<'t>,
}

/// Whether the text so far ends a sentence.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Sentence {
    Open,
    /// With a mark that white space has to follow.
    Ended,
    /// With a mark of a script that puts no space after it.
    EndedWithoutSpace,
}

impl<'t> Scan<'t> {
    fn new(source: Source<'t>, spot: Spot<'t>, care: Care) -> Self {
        let line = source.line(spot);
        let opening = line
            .reading
            .before
            .fence
            .map(|f| f.opening(source.limit, spot.place));
        let first_seen = source.text[spot.at..]
            .char_indices()
            .take(source.limit)
            .find(|&(_, c)| !is_unseen(c))
            .map_or(usize::MAX, |(offset, _)| spot.at + offset);
        Self {
            source,
            care,
            spot,
            heading: is_heading(&line),
            line,
            used: opening.map_or(Size::default(), |opening| Size::of(&opening)),
            chars: 0,
            first_seen,
            sentence: Sentence::Open,
            window: Window {
                best: [None; Rank::COUNT],
                most_chars: 0,
                end: End::Beyond,
            },
        }
    }

    fn run(mut self) -> Window<'t> {
        let text = self.source.text;
        let rest = &text[self.spot.at..];
        // One code point more than a part can hold, so that the last boundary is a true one.
        let reach = rest
            .char_indices()
            .nth(self.source.limit + 1)
            .map_or(rest.len(), |(at, _)| at);
        let mut at = self.spot.at;
        while at < self.spot.at + reach {
            let ahead = &text[at..self.spot.at + reach];
            let piece = match self.care {
                Care::Full | Care::DropsTail => ahead.graphemes(true).next(),
                Care::CutsGraphemes | Care::CutsAnything => ahead.split_inclusive(|_| true).next(),
            };
            let Some(piece) = piece else { break };
            at += piece.len();
            let size = Size::of(piece);
            self.used += size;
            self.chars += size.chars;
            if !self.used.fits(self.source.limit) {
                return self.window;
            }
            if piece.ends_with('\n') && at < text.len() {
                self.pass_line_end(at);
            } else if at < text.len() {
                self.pass_within_line(at, piece);
            }
        }
        if at == text.len() {
            let closes = self.line.reading.after.fence;
            if self.has_room_to_close(at, closes) {
                self.window.end = End::Fits(closes);
            }
        }
        self.window
    }

    fn pass_line_end(&mut self, at: usize) {
        let context = self.line.reading.after;
        let next = self.source.line(Spot {
            at,
            place: Place::LineStart,
            context,
        });
        let rank = self.rank_of_line_end(&next);
        let spot = Spot {
            at,
            place: Place::LineStart,
            context: next.reading.before,
        };
        self.offer(rank, spot, context.fence);
        if !is_blank(&next) {
            self.heading = is_heading(&next);
        }
        self.sentence = Sentence::Open;
        self.line = next;
    }

    fn rank_of_line_end(&self, next: &Line<'t>) -> Rank {
        let both = |mark: char| {
            self.line.content.trim_start().starts_with(mark) && next.content.starts_with(mark)
        };
        if is_blank(next) {
            Rank::BeforeSpace
        } else if next.reading.before.fence.is_some() {
            if self.line.reading.role == Role::Opens || next.reading.role == Role::Closes {
                Rank::AwkwardLine
            } else {
                Rank::BlockLine
            }
        } else if self.heading {
            Rank::AwkwardLine
        } else if next.content.starts_with([' ', '\t']) {
            Rank::IndentedLine
        } else if is_blank(&self.line) && self.line.reading.role == Role::Prose {
            Rank::Paragraph
        } else if both('|') || both('>') {
            Rank::BlockLine
        } else {
            Rank::Line
        }
    }

    fn pass_within_line(&mut self, at: usize, piece: &str) {
        let next = self.source.text[at..].chars().next();
        let space_after = next.is_some_and(char::is_whitespace);
        let space_before = piece.chars().all(char::is_whitespace);
        if !space_before {
            self.sentence = self.sentence.after(piece);
        }
        let offset = at - self.line.start;
        let rank = if offset <= self.line.reading.lead {
            Rank::Grapheme
        } else if is_within(&self.line.unbroken, offset) {
            Rank::Unbroken
        } else if space_after {
            Rank::BeforeSpace
        } else if self.line.reading.role != Role::Prose {
            if space_before {
                Rank::Word
            } else {
                Rank::Grapheme
            }
        } else {
            match (self.sentence, space_before) {
                (Sentence::Open, true) => Rank::Word,
                (Sentence::Ended | Sentence::EndedWithoutSpace, true)
                | (Sentence::EndedWithoutSpace, false) => Rank::Sentence,
                (Sentence::Open | Sentence::Ended, false) => Rank::Grapheme,
            }
        };
        if offset > self.line.content.len() {
            // Between the two characters of a line end.
            return;
        }
        let (first, second) = self.line.content.split_at(offset);
        if self.care == Care::CutsAnything
            || self.line.reading.can_be_cut(first, second, self.line.place)
        {
            let context = self.line.reading.within();
            self.offer(
                rank,
                Spot {
                    at,
                    place: Place::MidLine,
                    context,
                },
                context.fence,
            );
        }
    }

    fn offer(&mut self, rank: Rank, next: Spot<'t>, closes: Option<Fence<'t>>) {
        let leaves_something = next.at <= self.source.last_seen || self.care != Care::Full;
        let shows_something = next.at > self.first_seen || self.care == Care::CutsAnything;
        if leaves_something && shows_something && self.has_room_to_close(next.at, closes) {
            self.window.offer(
                rank,
                Candidate {
                    next,
                    closes,
                    chars: self.chars,
                },
            );
        }
    }

    fn has_room_to_close(&self, at: usize, fence: Option<Fence<'t>>) -> bool {
        let Some(fence) = fence else { return true };
        let closing = fence.closing(&self.source.text[self.spot.at..at]);
        (self.used + Size::of(&closing)).fits(self.source.limit)
    }
}

impl Sentence {
    fn after(self, grapheme: &str) -> Self {
        match grapheme.chars().next() {
            Some('.' | '!' | '?' | '…') => Self::Ended,
            Some('。' | '！' | '？' | '｡') => Self::EndedWithoutSpace,
            Some('"' | '\'' | ')' | ']' | '”' | '’' | '»' | '*' | '_') if self != Self::Open => {
                self
            }
            Some('」' | '』' | '）') if self != Self::Open => self,
            Some(_) | None => Self::Open,
        }
    }
}

fn is_blank(line: &Line<'_>) -> bool {
    line.content.trim_start().is_empty()
}

/// `#` to `######` and a blank.
fn is_heading(line: &Line<'_>) -> bool {
    let level = line
        .content
        .bytes()
        .take(7)
        .take_while(|&b| b == b'#')
        .count();
    line.reading.role == Role::Prose
        && (1..=6).contains(&level)
        && line.content.as_bytes().get(level) == Some(&b' ')
}

/// Whether a byte is inside one of the ranges, which are sorted and apart from each other.
fn is_within(ranges: &[Range<usize>], at: usize) -> bool {
    let after = ranges.partition_point(|range| range.start < at);
    after > 0 && at < ranges[after - 1].end
}
