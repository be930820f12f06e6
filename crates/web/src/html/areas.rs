//! Which part of the page the text stands in, and whether it is shown at all.
//!
//! In: start and end tags. Out: the zone, and whether text is heard. Never: a wish that end tags
//! match; an end tag ends the innermost area of its name and all areas inside of it.

use super::{
    sheet::Zone,
    tag::{StartTag, breaks_paragraph, ends_by_itself, is_void},
};

/// Most areas inside of each other. What opens deeper is part of what it stands in.
const DEPTH_MAX: usize = 32;

/// An element that changes where text goes.
struct Area {
    name: Vec<u8>,
    /// Elements of the same name inside of it, not counting areas.
    inner: u64,
    /// What held outside of it.
    before: Standing,
    /// What ends it, where its end tag may be left out.
    end: End,
}

/// What ends an area.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    /// Its end tag.
    Tag,
    /// Its end tag, a sibling, or the end of its parent, which stands this many lists or tables out.
    Implied(u64),
}

/// What becomes of text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Standing {
    pub(super) zone: Zone,
    pub(super) shown: bool,
}

/// The areas that are open.
pub(super) struct Areas {
    open: Vec<Area>,
    now: Standing,
    /// Open areas that are SVG or MathML.
    foreign: usize,
}

impl Areas {
    pub(super) const fn new() -> Self {
        Self {
            open: Vec::new(),
            now: Standing {
                zone: Zone::Body,
                shown: true,
            },
            foreign: 0,
        }
    }

    pub(super) const fn now(&self) -> Standing {
        self.now
    }

    pub(super) const fn is_in_foreign(&self) -> bool {
        self.foreign > 0
    }

    /// Takes a start tag. `asked` is what else speaks for hiding the element.
    pub(super) fn start(&mut self, tag: &StartTag<'_>, asked: Asked) {
        if self.is_past_implied_end(tag.name) {
            self.leave();
        }
        if tag.closed || is_void(tag.name) {
            return;
        }
        let next = self.standing_in(tag, asked);
        let opens = next != self.now || is_foreign(tag.name);
        if opens && self.open.len() < DEPTH_MAX {
            self.foreign += usize::from(is_foreign(tag.name));
            self.open.push(Area {
                name: tag.name.to_vec(),
                inner: 0,
                before: self.now,
                end: if ends_by_itself(tag.name) {
                    End::Implied(0)
                } else {
                    End::Tag
                },
            });
            self.now = next;
            return;
        }
        let same = self
            .open
            .iter_mut()
            .rev()
            .find(|area| area.name == tag.name);
        if let Some(area) = same {
            area.inner += 1;
        }
    }

    /// Whether a start tag ends the innermost area, whose end tag may be left out.
    fn is_past_implied_end(&mut self, name: &[u8]) -> bool {
        let Some(area) = self.open.last_mut() else {
            return false;
        };
        let End::Implied(inside) = area.end else {
            return false;
        };
        if inside == 0 && is_ended_by(&area.name, name) {
            return true;
        }
        if is_parent_of(&area.name, name) {
            area.end = End::Implied(inside + 1);
        }
        false
    }

    /// Whether an end tag is that of a parent of the innermost area, whose own may be left out.
    fn is_end_of_parent(&mut self, name: &[u8]) -> bool {
        let Some(area) = self.open.last_mut() else {
            return false;
        };
        match area.end {
            End::Implied(0) => {
                let of_paragraph = area.name == b"p" && breaks_paragraph(name);
                of_paragraph || is_parent_of(&area.name, name)
            }
            End::Implied(inside) => {
                if is_parent_of(&area.name, name) {
                    area.end = End::Implied(inside - 1);
                }
                false
            }
            End::Tag => false,
        }
    }

    fn leave(&mut self) {
        if let Some(area) = self.open.pop() {
            self.now = area.before;
        }
    }

    /// Takes an end tag.
    pub(super) fn end(&mut self, name: &[u8]) {
        if self.is_end_of_parent(name) {
            self.leave();
        }
        let Some(at) = self.open.iter().rposition(|area| area.name == name) else {
            return;
        };
        if self.open[at].inner > 0 {
            self.open[at].inner -= 1;
            return;
        }
        // An item of a list in a list is closed, not the one that is hidden.
        if matches!(self.open[at].end, End::Implied(1..)) {
            return;
        }
        self.now = self.open[at].before;
        for area in self.open.drain(at..) {
            self.foreign -= usize::from(is_foreign(&area.name));
        }
    }

    fn standing_in(&self, tag: &StartTag<'_>, asked: Asked) -> Standing {
        if !self.now.shown {
            return self.now;
        }
        let hidden = asked == Asked::Hide || is_never_shown(tag.name) || is_hidden(tag);
        Standing {
            zone: self.zone_in(tag),
            shown: !hidden,
        }
    }

    /// What is aside stays aside; inside of the main part only its menus are.
    fn zone_in(&self, tag: &StartTag<'_>) -> Zone {
        let zone = self.now.zone;
        let mark = match tag.name {
            b"main" | b"article" => Mark::Main,
            b"nav" => Mark::Menu,
            b"header" | b"footer" => Mark::Aside,
            // Notes and quotes use it as well as side bars do, so it stays where it is.
            b"aside" => Mark::None,
            _ if ends_by_itself(tag.name) => Mark::None,
            _ => match &*tag.attributes.get(b"role") {
                "main" | "article" => Mark::Main,
                "navigation" => Mark::Menu,
                "banner" | "contentinfo" | "complementary" | "search" => Mark::Aside,
                _ => Mark::None,
            },
        };
        match (mark, zone) {
            (Mark::Main, Zone::Body) => Zone::Main,
            (Mark::Menu, _) | (Mark::Aside, Zone::Body) => Zone::Side,
            (Mark::Main | Mark::Aside | Mark::None, zone) => zone,
        }
    }
}

/// Whether the reader wants an element hidden.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Asked {
    Hide,
    Nothing,
}

enum Mark {
    Main,
    Menu,
    Aside,
    None,
}

fn is_foreign(name: &[u8]) -> bool {
    matches!(name, b"svg" | b"math")
}

/// Elements whose content is not text of the page, or is only for programs that lack something.
fn is_never_shown(name: &[u8]) -> bool {
    matches!(
        name,
        b"script"
            | b"style"
            | b"template"
            | b"noscript"
            | b"noframes"
            | b"noembed"
            | b"iframe"
            | b"svg"
            | b"canvas"
            | b"audio"
            | b"video"
            | b"object"
            | b"select"
            | b"datalist"
            | b"textarea"
            | b"annotation"
            | b"annotation-xml"
    )
}

/// What the author hides. Style sheets are not read, so much that is hidden still shows.
fn is_hidden(tag: &StartTag<'_>) -> bool {
    // Programs of the page hide these until they are done, and show them then.
    if matches!(tag.name, b"html" | b"head" | b"body") {
        return false;
    }
    let style = || {
        let style = tag.attributes.get(b"style");
        let dense: String = style.chars().filter(|c| !c.is_whitespace()).collect();
        let dense = dense.to_ascii_lowercase();
        let nothing = [
            "font-size:0",
            "font-size:0px",
            "font-size:0pt",
            "font-size:0em",
            "font-size:0%",
        ];
        dense.contains("display:none")
            || dense.contains("visibility:hidden")
            || dense
                .split(';')
                .any(|rule| nothing.contains(&rule.trim_end_matches("!important")))
    };
    // What people who see the page are not shown. Headings stay: they say what a part is.
    let is_heading = matches!(tag.name, [b'h', b'1'..=b'6']);
    let is_class = |word: &&str| tag.attributes.has_word(b"class", word);
    let for_readers_alone = !is_heading && READERS.iter().any(is_class);
    let closed_dialog = tag.name == b"dialog" && !tag.attributes.has(b"open");
    tag.attributes.has(b"hidden") || closed_dialog || for_readers_alone || style()
}

/// Classes by which frames of styles keep text from the screen.
const READERS: [&str; 6] = [
    "sr-only",
    "visually-hidden",
    "visuallyhidden",
    "screen-reader-text",
    "screenreader-only",
    "a11y-hidden",
];

/// Whether a start tag ends an element whose end tag may be left out. Source: HTML Standard, 13.1.2.4.
fn is_ended_by(open: &[u8], name: &[u8]) -> bool {
    match open {
        b"p" => breaks_paragraph(name),
        b"li" => name == b"li",
        b"dt" | b"dd" => matches!(name, b"dt" | b"dd"),
        b"td" | b"th" => matches!(name, b"td" | b"th" | b"tr" | b"thead" | b"tbody" | b"tfoot"),
        b"tr" => matches!(name, b"tr" | b"thead" | b"tbody" | b"tfoot"),
        b"rt" | b"rp" => matches!(name, b"rt" | b"rp"),
        b"option" | b"optgroup" => matches!(name, b"option" | b"optgroup"),
        _ => matches!(name, b"tr" | b"thead" | b"tbody" | b"tfoot" | b"colgroup"),
    }
}

/// Whether an element of this name holds elements like `open`, and may stand in one again.
fn is_parent_of(open: &[u8], name: &[u8]) -> bool {
    match open {
        b"p" => false,
        b"li" => matches!(name, b"ul" | b"ol" | b"menu" | b"dir"),
        b"dt" | b"dd" => name == b"dl",
        b"rt" | b"rp" => name == b"ruby",
        b"option" | b"optgroup" => matches!(name, b"select" | b"datalist"),
        _ => name == b"table",
    }
}
