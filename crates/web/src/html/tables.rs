//! Tables: rows of cells, or a page's layout in disguise.
//!
//! In: where tables, rows and cells begin and end, and the text of cells. Out: lines with bars
//! between cells. Never: a table that is kept whole; a row is kept until it ends.
//!
//! Nobody can tell a table of data from one that only arranges a page until something stands in a
//! cell that no cell of data has: a heading, code, a quote, another table, or a long text. From
//! there on the table is layout, and its cells are blocks like any others.

/// Most tables inside of each other that are told apart.
const DEPTH_MAX: usize = 12;
/// Most cells of a row on one line.
const CELLS_MAX: usize = 64;
/// Longest text of a cell of data, in bytes.
pub(super) const CELL_MAX_BYTES: usize = 600;

/// What a table is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Purpose {
    /// Rows of cells.
    Data,
    /// Arranging what is no table.
    Layout,
}

/// What a cell holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Cell {
    Head,
    Value,
}

struct Table {
    purpose: Purpose,
    row: Vec<String>,
    heads: usize,
    cell: Option<Cell>,
    rows: usize,
}

/// The tables that are open.
#[derive(Default)]
pub(super) struct Tables {
    open: Vec<Table>,
    deeper: usize,
}

impl Tables {
    /// Whether text now goes into a cell of data.
    pub(super) fn is_in_cell(&self) -> bool {
        let in_cell = |table: &Table| table.cell.is_some() && table.purpose == Purpose::Data;
        self.open.last().is_some_and(in_cell)
    }

    /// Whether the innermost table is one of data.
    pub(super) fn is_in_data(&self) -> bool {
        let data = |table: &Table| table.purpose == Purpose::Data;
        self.deeper == 0 && self.open.last().is_some_and(data)
    }

    pub(super) fn start(&mut self, purpose: Purpose) {
        if self.open.len() == DEPTH_MAX {
            self.deeper += 1;
            return;
        }
        self.open.push(Table {
            purpose,
            row: Vec::new(),
            heads: 0,
            cell: None,
            rows: 0,
        });
    }

    pub(super) fn end(&mut self) {
        if self.deeper > 0 {
            self.deeper -= 1;
        } else {
            self.open.pop();
        }
    }

    pub(super) const fn is_empty(&self) -> bool {
        self.open.is_empty()
    }

    pub(super) fn start_cell(&mut self, cell: Cell) {
        if let Some(table) = self.open.last_mut() {
            table.cell = Some(cell);
        }
    }

    /// Whether a row can take one more cell on its line.
    pub(super) fn has_room(&self) -> bool {
        self.open
            .last()
            .is_some_and(|table| table.row.len() < CELLS_MAX)
    }

    /// Ends a cell of data with its text.
    pub(super) fn end_cell(&mut self, text: String) {
        let Some(table) = self.open.last_mut() else {
            return;
        };
        if table.cell.take() == Some(Cell::Head) {
            table.heads += 1;
        }
        table.row.push(text);
    }

    /// Ends a row; its lines, without line breaks.
    pub(super) fn end_row(&mut self) -> Vec<String> {
        let Some(table) = self.open.last_mut() else {
            return Vec::new();
        };
        let heads = std::mem::take(&mut table.heads);
        let mut row = std::mem::take(&mut table.row);
        if row.iter().all(String::is_empty) {
            return Vec::new();
        }
        if row.len() == 1 {
            return vec![row.remove(0)];
        }
        table.rows += 1;
        let mut lines = vec![format!("| {} |", row.join(" | "))];
        if table.rows == 1 && heads == row.len() {
            lines.push(format!("|{}", " --- |".repeat(row.len())));
        }
        lines
    }

    /// Takes the innermost table for layout from now on. What its row has so far.
    pub(super) fn become_layout(&mut self) -> Option<String> {
        let table = self.open.last_mut()?;
        table.purpose = Purpose::Layout;
        table.cell = None;
        table.heads = 0;
        let mut row = std::mem::take(&mut table.row);
        row.retain(|cell| !cell.is_empty());
        (!row.is_empty()).then(|| row.join(" | "))
    }
}
