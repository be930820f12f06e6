//! Lists and quotes: what stands at the left of a line.
//!
//! In: where lists, items and quotes begin and end. Out: the beginning of each line. Never: more
//! than so many levels; deeper ones are counted and stand with the last.

/// Most lists inside of each other that are told apart.
const DEPTH_MAX: usize = 12;
/// Most quotes inside of each other that are marked.
const QUOTES_MAX: usize = 6;
/// How far an item's text stands to the right.
const INDENT: usize = 2;

/// What a list counts with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Marks {
    /// Nothing.
    Bullets,
    /// From this number on.
    Numbers(i64),
    /// Terms and, further right, what they mean.
    Terms,
}

struct List {
    marks: Marks,
    /// A mark that the next line of the item begins with.
    due: Option<String>,
    /// How far to the right the item's lines stand.
    indent: usize,
}

/// What is open at a place of the text.
#[derive(Default)]
pub(super) struct Lists {
    open: Vec<List>,
    /// Lists that are open beyond the limit.
    deeper: usize,
    quotes: usize,
    /// An item without a list.
    stray: bool,
}

impl Lists {
    pub(super) const fn is_empty(&self) -> bool {
        self.open.is_empty()
    }

    pub(super) fn start(&mut self, marks: Marks) {
        if self.open.len() == DEPTH_MAX {
            self.deeper += 1;
            return;
        }
        self.open.push(List {
            marks,
            due: None,
            indent: 0,
        });
    }

    pub(super) fn end(&mut self) {
        if self.deeper > 0 {
            self.deeper -= 1;
        } else {
            self.open.pop();
        }
    }

    /// An item begins, with a number of its own or the next one.
    pub(super) fn item(&mut self, number: Option<i64>) {
        let Some(list) = self.open.last_mut() else {
            self.stray = true;
            return;
        };
        let mark = match &mut list.marks {
            Marks::Bullets | Marks::Terms => "- ".to_owned(),
            Marks::Numbers(next) => {
                *next = number.unwrap_or(*next);
                let mark = format!("{next}. ");
                *next = next.saturating_add(1);
                mark
            }
        };
        list.indent = mark.len();
        list.due = Some(mark);
    }

    /// A term begins, or what it means.
    pub(super) fn term(&mut self, is: Term) {
        let Some(list) = self.open.last_mut() else {
            return;
        };
        list.indent = match is {
            Term::Name => 0,
            Term::Meaning => INDENT,
        };
        list.due = None;
    }

    pub(super) const fn quote(&mut self) {
        self.quotes += 1;
    }

    pub(super) const fn unquote(&mut self) {
        self.quotes = self.quotes.saturating_sub(1);
    }

    /// What the next line begins with. Marks are given once.
    pub(super) fn margin(&mut self) -> String {
        let mut margin = "> ".repeat(self.quotes.min(QUOTES_MAX));
        if std::mem::take(&mut self.stray) {
            margin.push_str("- ");
        }
        for list in &mut self.open {
            match list.due.take() {
                Some(mark) => margin.push_str(&mark),
                None => margin.extend(std::iter::repeat_n(' ', list.indent)),
            }
        }
        margin
    }
}

/// Half of an entry in a list of terms.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Term {
    Name,
    Meaning,
}
