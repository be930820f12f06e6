//! What each element means.
//!
//! In: start tags, end tags and text. Out: the title, and calls of the flow. Never: a look at where
//! an element stands in the tree, beyond what is counted.

use std::borrow::Cow;

use url::Url;

use super::{
    Readable,
    areas::{Areas, Asked},
    flow::{Flow, Gap},
    links::Links,
    lists::{Marks, Term},
    sheet::{Sheet, Zone},
    tables::{Cell, Purpose},
    tag::StartTag,
};
use crate::{page::TITLE_MAX_CHARS, unseen::one_line};

/// Around what is struck out: a price that no longer holds reads like one that does.
const STRUCK: &str = "~~";

/// Longest description of a picture that is given, in characters.
const PICTURE_MAX_CHARS: usize = 200;
/// A description of a picture that is no longer than this, in characters, is a sign by itself.
const SIGN_MAX_CHARS: usize = 3;
/// Bytes of a title that are kept, more than enough for its characters.
const TITLE_MAX_BYTES: usize = 4_096;

/// The title of the page.
enum Title {
    Ahead,
    Open(String),
    Closed(String),
}

/// Reads the elements of one page.
pub(super) struct Reader {
    room: usize,
    title: Title,
    areas: Areas,
    flow: Flow,
    has_base: bool,
}

impl Reader {
    pub(super) fn new(page: &Url, room: usize) -> Self {
        Self {
            room,
            title: Title::Ahead,
            areas: Areas::new(),
            flow: Flow::new(Sheet::new(room), Links::new(page)),
            has_base: false,
        }
    }

    /// Whether nothing that still comes can be shown.
    pub(super) const fn is_full(&self) -> bool {
        self.flow.sheet.is_full(Zone::Main)
    }

    /// Whether text is passed over here.
    pub(super) fn is_deaf(&self) -> bool {
        let in_title = matches!(self.title, Title::Open(_));
        !in_title && (!self.areas.now().shown || self.flow.is_full())
    }

    pub(super) const fn is_in_foreign(&self) -> bool {
        self.areas.is_in_foreign()
    }

    pub(super) fn text(&mut self, text: &str) {
        match &mut self.title {
            Title::Open(title) => {
                if title.len() < TITLE_MAX_BYTES {
                    title.extend(text.chars().take(TITLE_MAX_BYTES));
                }
            }
            Title::Ahead | Title::Closed(_) => {
                if self.areas.now().shown {
                    self.flow.text(text);
                }
            }
        }
    }

    pub(super) fn start(&mut self, tag: &StartTag<'_>) {
        if tag.name == b"title" && !self.areas.is_in_foreign() {
            // A later one is no title, and its text is no text either.
            if matches!(self.title, Title::Ahead) && !tag.closed {
                self.title = Title::Open(String::new());
            }
            return;
        }
        let shown_before = self.areas.now().shown;
        let asked = match self.is_button_to_hide(tag) || stands_for_itself(tag) {
            true => Asked::Hide,
            false => Asked::Nothing,
        };
        if shown_before && tag.name == b"math" {
            self.flow.text(&tag.attributes.get(b"alttext"));
        }
        self.areas.start(tag, asked);
        let now = self.areas.now();
        if now.shown {
            self.flow.set_zone(now.zone);
            self.start_shown(tag);
        } else if shown_before && is_block(tag.name) {
            self.flow.break_line(Gap::Line);
        }
    }

    pub(super) fn end(&mut self, name: &[u8]) {
        if name == b"title"
            && let Title::Open(title) = &mut self.title
        {
            self.title = Title::Closed(std::mem::take(title));
            return;
        }
        if self.areas.now().shown {
            self.end_shown(name);
        }
        self.areas.end(name);
        let now = self.areas.now();
        if now.shown {
            self.flow.set_zone(now.zone);
        }
    }

    /// Gives what was read.
    pub(super) fn finish(self, steps: u64) -> Readable {
        let title = match self.title {
            Title::Ahead => String::new(),
            Title::Open(title) | Title::Closed(title) => one_line(&title, TITLE_MAX_CHARS),
        };
        let room = self.room.saturating_sub(title.chars().count());
        let (text, whole) = self.flow.finish(room);
        Readable {
            title: (!title.is_empty()).then_some(title),
            text,
            whole,
            steps,
        }
    }

    /// Buttons say what they do, not what the page says, except where one is a heading's text.
    fn is_button_to_hide(&self, tag: &StartTag<'_>) -> bool {
        tag.name == b"button" && !self.flow.is_at_heading()
    }

    fn start_shown(&mut self, tag: &StartTag<'_>) {
        match tag.name {
            b"p" | b"figure" | b"fieldset" | b"details" | b"address" => self.paragraph(),
            b"h1" | b"h2" | b"h3" | b"h4" | b"h5" | b"h6" => {
                self.flow.end_code_block();
                self.flow.start_heading(usize::from(tag.name[1] - b'0'));
                // Documentation of Rust sets signatures as headings.
                if tag.attributes.has_word(b"class", "code-header") {
                    self.flow.start_code();
                }
            }
            b"br" => self.flow.soft_break(),
            b"hr" => {
                self.flow.leave_cell();
                self.flow.break_line(Gap::Paragraph);
                self.flow.text("---");
                self.flow.break_line(Gap::Paragraph);
            }
            b"pre" | b"listing" | b"xmp" | b"plaintext" => {
                if !self.flow.is_in_code_block() {
                    self.flow.start_code_block();
                }
            }
            b"blockquote" => {
                self.flow.leave_cell();
                self.flow.break_line(Gap::Paragraph);
                self.flow.lists.quote();
            }
            b"ul" | b"menu" | b"dir" | b"ol" | b"dl" => self.start_list(tag),
            b"li" => {
                let number = tag.attributes.get(b"value");
                self.flow.start_item(number.trim().parse().ok());
            }
            b"dt" => self.start_term(Term::Name),
            b"dd" => self.start_term(Term::Meaning),
            b"table" | b"tr" | b"td" | b"th" | b"caption" => self.start_of_table(tag),
            name if is_block(name) => self.flow.break_line(Gap::Line),
            _ => self.start_in_line(tag),
        }
    }

    fn start_in_line(&mut self, tag: &StartTag<'_>) {
        match tag.name {
            b"a" => {
                let href = tag.attributes.get(b"href");
                self.flow.start_link(href.into_owned());
            }
            b"code" | b"kbd" | b"samp" | b"tt" => self.flow.start_code(),
            b"sup" => self.flow.raise(),
            b"q" => self.flow.text("\u{201c}"),
            b"del" | b"s" | b"strike" => self.flow.text(STRUCK),
            b"img" => {
                let picture = picture(&tag.attributes.get(b"alt"));
                self.flow.text(&picture);
            }
            b"input" if tag.attributes.has_word(b"type", "checkbox") => {
                let mark = match tag.attributes.has(b"checked") {
                    true => "[x] ",
                    false => "[ ] ",
                };
                self.flow.text(mark);
            }
            b"base" if !self.has_base => {
                self.has_base = true;
                let href = tag.attributes.get(b"href");
                self.flow.links.set_base(&href);
            }
            _ => {}
        }
    }

    fn end_shown(&mut self, name: &[u8]) {
        match name {
            b"p" | b"figure" | b"fieldset" | b"details" | b"address" => self.paragraph(),
            b"h1" | b"h2" | b"h3" | b"h4" | b"h5" | b"h6" => self.flow.end_heading(),
            b"pre" | b"listing" | b"xmp" => self.flow.end_code_block(),
            b"blockquote" => {
                self.flow.break_line(Gap::Paragraph);
                self.flow.lists.unquote();
            }
            b"ul" | b"menu" | b"dir" | b"ol" | b"dl" => {
                self.flow.break_line(Gap::Line);
                self.flow.lists.end();
                self.flow.break_line(self.gap_around_lists());
            }
            b"table" => {
                self.flow.end_row();
                self.flow.tables.end();
                self.flow.break_line(Gap::Paragraph);
            }
            b"tr" | b"thead" | b"tbody" | b"tfoot" => self.flow.end_row(),
            name if is_block(name) => self.flow.break_line(Gap::Line),
            b"a" => self.flow.end_link(),
            b"code" | b"kbd" | b"samp" | b"tt" => self.flow.end_code(),
            b"q" => self.flow.text("\u{201d}"),
            b"del" | b"s" | b"strike" => self.flow.text(STRUCK),
            _ => {}
        }
    }

    /// Paragraphs stand apart, but not in lists, which would fall apart.
    fn paragraph(&mut self) {
        self.flow.break_line(self.gap_around_lists());
    }

    const fn gap_around_lists(&self) -> Gap {
        match self.flow.lists.is_empty() {
            true => Gap::Paragraph,
            false => Gap::Line,
        }
    }

    fn start_list(&mut self, tag: &StartTag<'_>) {
        self.flow.break_line(self.gap_around_lists());
        let marks = match tag.name {
            b"ol" => {
                let start = tag.attributes.get(b"start");
                Marks::Numbers(start.trim().parse().unwrap_or(1))
            }
            b"dl" => Marks::Terms,
            _ => Marks::Bullets,
        };
        self.flow.lists.start(marks);
    }

    fn start_term(&mut self, term: Term) {
        self.flow.break_line(Gap::Line);
        self.flow.lists.term(term);
    }

    fn start_of_table(&mut self, tag: &StartTag<'_>) {
        match tag.name {
            b"table" => {
                self.flow.leave_cell();
                self.flow.break_line(Gap::Paragraph);
                let role = tag.attributes.get(b"role");
                let purpose = match &*role {
                    "presentation" | "none" => Purpose::Layout,
                    _ => Purpose::Data,
                };
                self.flow.tables.start(purpose);
            }
            b"tr" => self.flow.end_row(),
            b"td" => self.flow.start_cell(Cell::Value),
            b"th" => self.flow.start_cell(Cell::Head),
            _ => self.flow.break_line(Gap::Line),
        }
    }
}

/// A formula that has its text in an attribute.
fn stands_for_itself(tag: &StartTag<'_>) -> bool {
    tag.name == b"math" && tag.attributes.has(b"alttext")
}

/// What is said in place of a picture; nothing where its author said nothing.
fn picture(alt: &str) -> Cow<'static, str> {
    let alt = one_line(alt, PICTURE_MAX_CHARS);
    let sign = alt.chars().count() <= SIGN_MAX_CHARS && !alt.chars().any(char::is_alphanumeric);
    match sign {
        true => Cow::Owned(alt),
        false => Cow::Owned(format!("[image: {alt}]")),
    }
}

/// Elements that begin and end lines. Source: HTML Standard, 15.3.
fn is_block(name: &[u8]) -> bool {
    matches!(
        name,
        b"address"
            | b"article"
            | b"aside"
            | b"blockquote"
            | b"body"
            | b"caption"
            | b"center"
            | b"dd"
            | b"details"
            | b"dialog"
            | b"dir"
            | b"div"
            | b"dl"
            | b"dt"
            | b"fieldset"
            | b"figcaption"
            | b"figure"
            | b"footer"
            | b"form"
            | b"h1"
            | b"h2"
            | b"h3"
            | b"h4"
            | b"h5"
            | b"h6"
            | b"header"
            | b"hgroup"
            | b"hr"
            | b"html"
            | b"legend"
            | b"li"
            | b"listing"
            | b"main"
            | b"menu"
            | b"nav"
            | b"ol"
            | b"optgroup"
            | b"option"
            | b"p"
            | b"plaintext"
            | b"pre"
            | b"search"
            | b"section"
            | b"summary"
            | b"table"
            | b"tbody"
            | b"td"
            | b"tfoot"
            | b"th"
            | b"thead"
            | b"tr"
            | b"ul"
            | b"xmp"
    )
}
