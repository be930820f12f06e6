//! What a line is, given the lines before it: fences, quotes, list items.
//!
//! In: a line and the [`Context`] before it. Out: its [`Reading`], with the context after it.
//! Never: a look at the lines that follow.

use super::size::Size;
use super::{FENCE_RUN_MAX_CHARS, INFO_MAX_CHARS};

/// Shortest run of backticks or tildes that makes a fence.
const FENCE_RUN_MIN_CHARS: usize = 3;
/// A fence may be indented by this much beyond the list item that it stands in.
const FENCE_INDENT_COLUMNS: usize = 3;
/// List items nested deeper are read as if they were not.
const LIST_MAX_COLUMNS: usize = 40;
/// A tab as columns; close enough for "is this indented too far to be a fence".
const TAB_COLUMNS: usize = 4;

/// A code block that is open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Fence<'t> {
    symbol: u8,
    run: usize,
    /// The rest of the opening line; empty where it is not to be repeated.
    info: &'t str,
    /// Quote marks before each of its lines.
    pub(super) quotes: usize,
    /// Columns that the list item around it takes.
    list: usize,
}

/// What the lines so far mean for the next one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Context<'t> {
    /// The open code block.
    pub(super) fence: Option<Fence<'t>>,
    /// Columns that the innermost list item takes.
    list: usize,
}

/// Where in a line a piece of text begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// At its beginning.
    LineStart,
    /// After a cut within it.
    MidLine,
}

/// What a line does to code blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    /// It stands outside them.
    Prose,
    /// It opens one.
    Opens,
    /// It is code.
    Code,
    /// It closes one.
    Closes,
}

/// A line, read.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reading<'t> {
    pub(super) role: Role,
    /// Bytes of quote marks, indentation and list markers before its content.
    pub(super) lead: usize,
    /// The context before it: a quote that ends without closing its code block has closed it.
    pub(super) before: Context<'t>,
    /// The context after it.
    pub(super) after: Context<'t>,
}

impl<'t> Fence<'t> {
    /// The lines that open this code block again at the head of a part of at most `limit`.
    ///
    /// Repeats the info string where that is short and leaves at least half of the part.
    pub(super) fn opening(&self, limit: usize, place: Place) -> String {
        let marks = "> ".repeat(self.quotes);
        let run = self.run_text();
        let again = match place {
            Place::LineStart => "",
            Place::MidLine => &marks,
        };
        let bare = format!("{marks}{run}\n{again}");
        let info = Size::of(self.info);
        let all = Size::of(&bare) + Size::of(&self.closing("")) + info;
        if info.units <= INFO_MAX_CHARS && all.units <= limit / 2 {
            format!("{marks}{run}{}\n{again}", self.info)
        } else {
            bare
        }
    }

    /// The line that closes this code block at the end of a part that so far ends in `end`.
    pub(super) fn closing(&self, end: &str) -> String {
        let line = if end.ends_with('\n') { "" } else { "\n" };
        format!("{line}{}{}", "> ".repeat(self.quotes), self.run_text())
    }

    /// The same code block, to be opened again without its info string.
    pub(super) fn without_info(self) -> Self {
        Self { info: "", ..self }
    }

    fn run_text(&self) -> String {
        char::from(self.symbol).to_string().repeat(self.run)
    }

    /// Whether a line, its quote marks taken off, closes this code block.
    fn is_closed_by(&self, line: &str) -> bool {
        let (columns, bytes) = indentation(line, self.list + FENCE_INDENT_COLUMNS);
        columns <= self.list + FENCE_INDENT_COLUMNS
            && fence_run(&line[bytes..]).is_some_and(|(symbol, run, rest)| {
                symbol == self.symbol && run >= self.run && rest.trim().is_empty()
            })
    }
}

impl<'t> Reading<'t> {
    /// Reads a line, or what is left of one after a cut, without its line end.
    pub(super) fn of(line: &'t str, context: Context<'t>, place: Place) -> Self {
        let Some(fence) = context.fence else {
            return Self::outside(line, context, place);
        };
        // A part that begins within a quoted line of code is given its marks again.
        let marks = match place {
            Place::LineStart => quote_marks(line, fence.quotes),
            Place::MidLine => Marks {
                count: fence.quotes,
                bytes: 0,
            },
        };
        if marks.count < fence.quotes {
            return Self::outside(
                line,
                Context {
                    fence: None,
                    ..context
                },
                place,
            );
        }
        let lead = marks.bytes;
        if fence.is_closed_by(&line[lead..]) {
            let after = Context {
                fence: None,
                ..context
            };
            Self {
                role: Role::Closes,
                lead,
                before: context,
                after,
            }
        } else {
            Self {
                role: Role::Code,
                lead,
                before: context,
                after: context,
            }
        }
    }

    fn outside(line: &'t str, before: Context<'t>, place: Place) -> Self {
        let marks = quote_marks(line, FENCE_RUN_MAX_CHARS / 2);
        let (columns, indent) = indentation(&line[marks.bytes..], LIST_MAX_COLUMNS);
        let mut lead = marks.bytes + indent;
        let mut list = before.list;
        if !line[lead..].is_empty() {
            let items = list_markers(&line[lead..]);
            if items == 0 || columns > list + FENCE_INDENT_COLUMNS {
                list = list.min(columns);
            } else {
                lead += items;
                list = (columns + items).min(LIST_MAX_COLUMNS);
            }
        }
        let indented_code = columns > before.list + FENCE_INDENT_COLUMNS;
        let fence = fence_run(&line[lead..])
            .filter(|_| !indented_code)
            .filter(|&(symbol, run, rest)| {
                2 * marks.count + run <= FENCE_RUN_MAX_CHARS
                    && !(symbol == b'`' && rest.contains('`'))
            })
            .map(|(symbol, run, rest)| {
                let info = rest.trim();
                // Put back, it would make the run longer.
                let info = if info.as_bytes().first() == Some(&symbol) {
                    ""
                } else {
                    info
                };
                Fence {
                    symbol,
                    run,
                    info,
                    quotes: marks.count,
                    list,
                }
            });
        if place == Place::MidLine {
            list = before.list;
        }
        let role = if fence.is_some() {
            Role::Opens
        } else {
            Role::Prose
        };
        Self {
            role,
            lead,
            before,
            after: Context { fence, list },
        }
    }

    /// The context within the line, after its lead.
    pub(super) fn within(&self) -> Context<'t> {
        // An opening line that had to be cut has an info string that is not worth repeating.
        let fence = self.after.fence.map(|fence| match self.role {
            Role::Opens => fence.without_info(),
            Role::Prose | Role::Code | Role::Closes => fence,
        });
        Context {
            fence,
            ..self.after
        }
    }

    /// Whether a part may end within this line, after `piece` of it, and the next part begin with
    /// `rest` of it: neither half may do to code blocks what the whole line does not do.
    pub(super) fn can_be_cut(&self, piece: &'t str, rest: &'t str, place: Place) -> bool {
        let first = Self::of(piece, self.before, place);
        let second = Self::of(rest, self.within(), Place::MidLine);
        let run = |fence: Option<Fence<'_>>| fence.map(|fence| (fence.run, fence.quotes));
        first.role == self.role
            && run(first.after.fence) == run(self.after.fence)
            && matches!(second.role, Role::Prose | Role::Code)
    }
}

/// Quote marks at the head of a line.
struct Marks {
    count: usize,
    bytes: usize,
}

/// Up to `most` marks, each with the blanks before it and one blank after it.
fn quote_marks(line: &str, most: usize) -> Marks {
    let bytes = line.as_bytes();
    let mut marks = Marks { count: 0, bytes: 0 };
    while marks.count < most {
        let blanks = bytes[marks.bytes..]
            .iter()
            .take(4)
            .take_while(|&&b| b == b' ')
            .count();
        let mark = marks.bytes + blanks;
        if blanks > 3 || bytes.get(mark) != Some(&b'>') {
            break;
        }
        let blank_after = usize::from(bytes.get(mark + 1) == Some(&b' '));
        marks = Marks {
            count: marks.count + 1,
            bytes: mark + 1 + blank_after,
        };
    }
    marks
}

/// Columns and bytes of blanks and tabs at the head of a line; counts no further than it takes to
/// know that they are more than `most`.
fn indentation(line: &str, most: usize) -> (usize, usize) {
    let (mut columns, mut bytes) = (0, 0);
    for byte in line.bytes().take_while(|b| matches!(b, b' ' | b'\t')) {
        if columns > most {
            break;
        }
        columns += if byte == b'\t' { TAB_COLUMNS } else { 1 };
        bytes += 1;
    }
    (columns, bytes)
}

/// Bytes of list markers (`-`, `*`, `+`, `1.`, `1)`, one within another) with the blanks after them.
fn list_markers(content: &str) -> usize {
    let mut bytes = 0;
    for _ in 0..4 {
        match list_marker(&content.as_bytes()[bytes..]) {
            0 => break,
            length => bytes += length,
        }
    }
    bytes
}

fn list_marker(content: &[u8]) -> usize {
    let digits = content
        .iter()
        .take(10)
        .take_while(|b| b.is_ascii_digit())
        .count();
    let marker = match content.get(digits) {
        Some(b'-' | b'*' | b'+') if digits == 0 => 1,
        Some(b'.' | b')') if (1..=9).contains(&digits) => digits + 1,
        _ => return 0,
    };
    // More than four blanks are one blank and indented code.
    match content[marker..]
        .iter()
        .take(5)
        .take_while(|&&b| b == b' ')
        .count()
    {
        0 => 0,
        5 => marker + 1,
        blanks => marker + blanks,
    }
}

/// The run of backticks or tildes at the head of a line: its symbol, its length, what follows.
fn fence_run(line: &str) -> Option<(u8, usize, &str)> {
    let symbol = *line
        .as_bytes()
        .first()
        .filter(|b| matches!(b, b'`' | b'~'))?;
    let run = line
        .bytes()
        .take(FENCE_RUN_MAX_CHARS + 1)
        .take_while(|&b| b == symbol)
        .count();
    (FENCE_RUN_MIN_CHARS..=FENCE_RUN_MAX_CHARS)
        .contains(&run)
        .then(|| (symbol, run, &line[run..]))
}
