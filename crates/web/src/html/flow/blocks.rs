//! Code that keeps its lines, and the cells of tables.
//!
//! In: where code, items, cells and rows begin and end. Out: blocks on the sheet. Never: a target
//! of a link in code.

use super::{Flow, Gap};
use crate::html::tables::Cell;

impl Flow {
    // Code that keeps its lines.

    pub(in crate::html) fn start_code_block(&mut self) {
        self.leave_cell();
        self.end_link();
        self.break_line(Gap::Paragraph);
        self.pre = Some(String::new());
    }

    /// Ends it, in fences.
    pub(in crate::html) fn end_code_block(&mut self) {
        let Some(text) = self.pre.take() else {
            return;
        };
        let text = text.strip_prefix('\n').unwrap_or(&text).trim_end();
        // Numbers alone are the margin of a listing.
        let empty = text
            .chars()
            .all(|c| c.is_whitespace() || c.is_ascii_digit());
        if empty || self.is_full() {
            return;
        }
        let fence = match text.contains("```") {
            true => "`````",
            false => "```",
        };
        let body = text.split('\n').map(str::trim_end);
        let lines = std::iter::once(fence).chain(body).chain([fence]);
        let lines: Vec<String> = lines.map(str::to_owned).collect();
        self.write_block(&lines);
        *self.gap_mut() = Gap::Paragraph;
    }

    // Tables.

    /// An item of a list begins, on its own line or behind the one before it in a cell.
    pub(in crate::html) fn start_item(&mut self, number: Option<i64>) {
        if self.tables.is_in_cell() {
            if self.line.ends_with(|c: char| !c.is_ascii_punctuation()) {
                self.line.push(';');
            }
            self.blank = true;
            return;
        }
        self.break_line(Gap::Line);
        self.lists.item(number);
    }

    pub(in crate::html) fn start_cell(&mut self, cell: Cell) {
        if !self.tables.is_in_data() {
            self.break_line(Gap::Line);
            return;
        }
        self.end_cell();
        if !self.tables.has_room() {
            self.end_row();
        }
        self.write_line();
        self.tables.start_cell(cell);
    }

    fn end_cell(&mut self) {
        if self.tables.is_in_cell() {
            self.end_link();
            self.close_tick();
            self.blank = false;
            self.tables.end_cell(std::mem::take(&mut self.line));
        }
    }

    pub(in crate::html) fn end_row(&mut self) {
        if !self.tables.is_in_data() {
            self.break_line(Gap::Line);
            return;
        }
        self.end_cell();
        self.write_line();
        let lines = self.tables.end_row();
        self.write_block(&lines);
    }

    /// The innermost table turns out to be layout: what it has becomes text.
    pub(in crate::html) fn leave_cell(&mut self) {
        if !self.tables.is_in_cell() {
            return;
        }
        if let Some(row) = self.tables.become_layout() {
            // The line is of the cell that goes on as a block.
            self.write_block(&[row]);
        }
    }
}
