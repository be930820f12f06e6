//! Lines and blocks.
//!
//! In: words, and where blocks, links, code and cells begin and end. Out: lines on the sheet.
//! Never: two blanks or two empty lines in a row, outside of code.

use super::{
    links::{Leads, Links, is_place_mark, says_itself},
    lists::Lists,
    sheet::{Sheet, Zone},
    tables::{CELL_MAX_BYTES, Tables},
};
use crate::unseen::is_unseen;

mod blocks; // code with its lines, and cells

/// Most letters that are taken at once, between two looks at what there is room for.
const RUN_MAX_BYTES: usize = 64;

/// A line of so many bytes beside its links is text, and no part of a menu.
const TEXT_MIN_BYTES: usize = 100;

/// Line breaks before a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Gap {
    None,
    /// The next line.
    Line,
    /// An empty line between.
    Paragraph,
}

/// A mark that is set before the next character, if there is one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mark {
    No,
    Due,
    Set,
}

struct Link {
    href: String,
    /// Where its text begins in the line.
    at: usize,
    /// How many lines were written before it.
    lines: u64,
    /// Whether it has any text.
    seen: bool,
}

/// The text as it grows.
pub(super) struct Flow {
    pub(super) sheet: Sheet,
    pub(super) lists: Lists,
    pub(super) tables: Tables,
    pub(super) links: Links,
    zone: Zone,
    line: String,
    /// A blank is due before the next word.
    blank: bool,
    /// A target was just shown, and a word would run into it.
    after_target: bool,
    /// A line break was just asked for in a cell.
    after_break: bool,
    gap: [Gap; 3],
    heading: usize,
    /// How many elements of code are open.
    code: usize,
    tick: Mark,
    raised: Mark,
    link: Option<Link>,
    /// Bytes of the line that belong to links.
    linked: usize,
    /// Whether the page has come to a heading or to text. Lists of links before that are menus.
    begun: bool,
    /// Text of an element that keeps its line breaks.
    pre: Option<String>,
    lines: u64,
}

impl Flow {
    pub(super) fn new(sheet: Sheet, links: Links) -> Self {
        Self {
            sheet,
            lists: Lists::default(),
            tables: Tables::default(),
            links,
            zone: Zone::Body,
            line: String::new(),
            blank: false,
            after_target: false,
            after_break: false,
            gap: [Gap::None; 3],
            heading: 0,
            code: 0,
            tick: Mark::No,
            raised: Mark::No,
            link: None,
            linked: 0,
            begun: false,
            pre: None,
            lines: 0,
        }
    }

    pub(super) fn set_zone(&mut self, zone: Zone) {
        if self.zone == zone {
            return;
        }
        self.leave_cell();
        self.end_code_block();
        self.end_link();
        self.break_line(Gap::Paragraph);
        self.zone = zone;
    }

    pub(super) const fn is_full(&self) -> bool {
        self.sheet.is_full(self.zone)
    }

    /// Whether a heading has begun and has no text yet.
    pub(super) const fn is_at_heading(&self) -> bool {
        self.heading > 0 && self.line.is_empty()
    }

    pub(super) const fn is_in_code_block(&self) -> bool {
        self.pre.is_some()
    }

    // Words.

    /// Takes text of the page.
    pub(super) fn text(&mut self, text: &str) {
        if self.is_full() {
            return;
        }
        if let Some(pre) = &mut self.pre {
            let room = self.sheet.room(self.zone) + 1;
            let kept = text
                .chars()
                .filter(|c| !is_unseen(*c) || matches!(c, '\n' | '\t'));
            // A character has at most four bytes, and what is longer than the room is cut later.
            let held = pre.len() / 4;
            pre.extend(kept.take(room.saturating_sub(held)));
            return;
        }
        let mut rest = text;
        while let Some(c) = rest.chars().next() {
            let word = rest.bytes().take(RUN_MAX_BYTES);
            let word = word.take_while(u8::is_ascii_graphic).count();
            let taken = word.max(c.len_utf8());
            if c.is_whitespace() {
                self.blank = true;
            } else if !is_unseen(c) {
                self.put(c);
                self.line.push_str(&rest[c.len_utf8()..taken]);
                if self.is_full() {
                    return;
                }
            }
            rest = &rest[taken..];
        }
    }

    fn put(&mut self, c: char) {
        if self.tables.is_in_cell() && self.line.len() > CELL_MAX_BYTES {
            self.leave_cell();
        }
        if self.line.len() / 4 > self.sheet.room(self.zone) {
            self.write_line();
            self.sheet.overflow(self.zone);
            return;
        }
        self.after_break = false;
        let runs_in = std::mem::take(&mut self.after_target) && c.is_alphanumeric();
        let blank = std::mem::take(&mut self.blank) || runs_in;
        if blank && !self.line.is_empty() {
            self.line.push(' ');
        }
        if self.raised == Mark::Due {
            self.raised = Mark::No;
            let after_word = self.line.ends_with(char::is_alphanumeric);
            if after_word && c.is_alphanumeric() {
                self.line.push('^');
            }
        }
        if self.tick == Mark::Due {
            self.line.push('`');
            self.tick = Mark::Set;
        }
        self.line.push(c);
        if let Some(link) = &mut self.link {
            link.seen = true;
        }
    }

    /// What is raised, such as a power, is marked where it would run into the word before it.
    pub(super) fn raise(&mut self) {
        self.raised = match self.blank {
            true => Mark::No,
            false => Mark::Due,
        };
    }

    // Code in a line.

    pub(super) fn start_code(&mut self) {
        self.code += 1;
        if self.code == 1 && self.pre.is_none() {
            self.tick = Mark::Due;
        }
    }

    pub(super) fn end_code(&mut self) {
        self.code = self.code.saturating_sub(1);
        if self.code == 0 {
            self.close_tick();
            self.tick = Mark::No;
        }
    }

    fn close_tick(&mut self) {
        if self.tick == Mark::Set {
            self.line.push('`');
            self.tick = Mark::Due;
        }
    }

    // Links.

    pub(super) fn start_link(&mut self, href: String) {
        self.end_link();
        if self.pre.is_none() {
            self.link = Some(Link {
                href,
                at: self.line.len(),
                lines: self.lines,
                seen: false,
            });
        }
    }

    pub(super) fn end_link(&mut self) {
        let Some(link) = self.link.take() else {
            return;
        };
        // In code the targets would stand in the way of the code.
        if !link.seen || self.is_full() || (self.code > 0 && self.tick == Mark::Set) {
            return;
        }
        let whole = link.lines == self.lines;
        let at = if whole { link.at } else { 0 };
        self.linked += self.line.len().saturating_sub(at);
        let target = match self.links.resolve(&link.href) {
            Leads::To(target) => target,
            Leads::Here => {
                if whole && is_place_mark(self.line.get(link.at..).unwrap_or_default()) {
                    self.line.truncate(link.at);
                }
                return;
            }
            Leads::Nowhere => return,
        };
        let text = self.line.get(link.at..).unwrap_or_default();
        if whole && says_itself(text, &target) {
            return;
        }
        let shown = format!(" ({target})");
        // Its text may have ended with a block.
        match self.line.is_empty() {
            true => self.sheet.push(self.zone, &shown),
            false => {
                self.line.push_str(&shown);
                self.linked += shown.len();
                self.after_target = true;
            }
        }
    }

    // Blocks.

    /// Ends the line, and owes a gap before the next one.
    pub(super) fn break_line(&mut self, gap: Gap) {
        if let Some(pre) = &mut self.pre {
            if !pre.is_empty() && !pre.ends_with('\n') {
                pre.push('\n');
            }
            return;
        }
        if self.tables.is_in_cell() {
            self.blank = true;
            return;
        }
        self.write_line();
        let owed = self.gap_mut();
        *owed = gap.max(*owed);
    }

    const fn gap_mut(&mut self) -> &mut Gap {
        &mut self.gap[self.zone as usize]
    }

    pub(super) fn start_heading(&mut self, level: usize) {
        self.leave_cell();
        self.break_line(Gap::Paragraph);
        self.heading = level;
    }

    pub(super) fn end_heading(&mut self) {
        if self.code > 0 {
            self.code = 1;
            self.end_code();
        }
        self.break_line(Gap::Paragraph);
        self.heading = 0;
    }

    /// A line break inside of a block; two of them are a paragraph.
    pub(super) fn soft_break(&mut self) {
        if let Some(pre) = &mut self.pre {
            pre.push('\n');
        } else if self.heading > 0 {
            self.blank = true;
        } else if self.tables.is_in_cell() && !self.after_break {
            self.blank = true;
            self.after_break = !self.line.is_empty();
        } else if self.tables.is_in_cell() {
            // Two of them are a paragraph, and cells of data have none.
            self.leave_cell();
            self.break_line(Gap::Paragraph);
        } else if self.line.is_empty() && *self.gap_mut() == Gap::Line {
            *self.gap_mut() = Gap::Paragraph;
        } else {
            self.break_line(Gap::Line);
        }
    }

    fn write_line(&mut self) {
        self.close_tick();
        self.blank = false;
        self.raised = Mark::No;
        if self.line.is_empty() {
            return;
        }
        let mut text = std::mem::take(&mut self.line);
        let linked = std::mem::take(&mut self.linked).min(text.len());
        let unlinked = text.len() - linked;
        self.begun |= self.heading > 0 || unlinked >= TEXT_MIN_BYTES;
        if self.heading > 0 {
            text.insert_str(0, &format!("{} ", "#".repeat(self.heading)));
        }
        let all_link = linked > 0 && unlinked <= 2 && self.link.is_none();
        let only_links = all_link && !self.lists.is_empty();
        if only_links && !self.begun && self.zone == Zone::Body {
            self.zone = Zone::Side;
            self.write_block(&[text]);
            self.zone = Zone::Body;
        } else {
            self.write_block(&[text]);
        }
    }

    /// Writes lines behind the margin, the first one after the gap that is owed.
    pub(super) fn write_block(&mut self, lines: &[String]) {
        for line in lines {
            let gap = std::mem::replace(self.gap_mut(), Gap::Line);
            if !self.sheet.is_empty(self.zone) {
                let breaks = match gap {
                    Gap::None | Gap::Line => "\n",
                    Gap::Paragraph => "\n\n",
                };
                self.sheet.push(self.zone, breaks);
            }
            let margin = self.lists.margin();
            let margin = match line.is_empty() {
                true => margin.trim_end(),
                false => &margin,
            };
            self.sheet.push(self.zone, margin);
            self.sheet.push(self.zone, line);
            self.lines += 1;
        }
    }

    /// Ends everything that is open.
    pub(super) fn finish(mut self, room: usize) -> (String, bool) {
        self.end_code_block();
        while !self.tables.is_empty() {
            self.end_row();
            self.tables.end();
        }
        self.end_link();
        self.break_line(Gap::Paragraph);
        self.sheet.finish(room)
    }
}
