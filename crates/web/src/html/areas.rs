//! Which part of the page the text stands in, and whether it is shown at all.
//!
//! In: start and end tags. Out: the zone, and whether text is heard. Never: a wish that end tags
//! match; an end tag ends the innermost area of its name and all areas inside of it.

use super::{
    sheet::Zone,
    tag::{StartTag, ends_by_itself, is_void},
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

    /// Takes an end tag.
    pub(super) fn end(&mut self, name: &[u8]) {
        let Some(at) = self.open.iter().rposition(|area| area.name == name) else {
            return;
        };
        if self.open[at].inner > 0 {
            self.open[at].inner -= 1;
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
    // Without a tree nobody knows where these end, and the rest of the page would be lost.
    if ends_by_itself(tag.name) {
        return false;
    }
    let style = || {
        let style = tag.attributes.get(b"style");
        let dense: String = style.chars().filter(|c| !c.is_whitespace()).collect();
        let dense = dense.to_ascii_lowercase();
        dense.contains("display:none") || dense.contains("visibility:hidden")
    };
    let closed_dialog = tag.name == b"dialog" && !tag.attributes.has(b"open");
    tag.attributes.has(b"hidden") || closed_dialog || style()
}
