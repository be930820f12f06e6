//! Tags as they are told by the tokenizer, with the few attributes that matter.
//!
//! In: names and values piece by piece. Out: a start tag whose attributes can be asked for. Never:
//! more than a bounded part of a name or a value.

/// Longest part of an attribute's value that is kept, in bytes; longer addresses are not shown.
const VALUE_MAX_BYTES: usize = 4_096;

/// The attributes that are looked at.
const KNOWN: [&[u8]; 13] = [
    b"alt",
    b"alttext",
    b"checked",
    b"class",
    b"encoding",
    b"hidden",
    b"href",
    b"open",
    b"role",
    b"start",
    b"style",
    b"type",
    b"value",
];

/// The attributes of one start tag.
#[derive(Default)]
pub(super) struct Attributes {
    kept: Vec<(&'static [u8], Vec<u8>)>,
}

impl Attributes {
    pub(super) fn clear(&mut self) {
        self.kept.clear();
    }

    /// Keeps an attribute that is known. The first of a name counts. Source: HTML Standard, 13.2.5.
    pub(super) fn keep(&mut self, name: &[u8], value: &[u8]) {
        let Some(known) = KNOWN.iter().find(|known| **known == name) else {
            return;
        };
        if !self.has(known) {
            let value = &value[..value.len().min(VALUE_MAX_BYTES)];
            self.kept.push((known, value.to_vec()));
        }
    }

    pub(super) fn has(&self, name: &[u8]) -> bool {
        self.kept.iter().any(|(known, _)| *known == name)
    }

    /// A value; empty where there is none.
    pub(super) fn get(&self, name: &[u8]) -> std::borrow::Cow<'_, str> {
        let found = self.kept.iter().find(|(known, _)| *known == name);
        String::from_utf8_lossy(found.map_or(&[], |(_, value)| value))
    }

    /// Whether a value has a word, whatever its case.
    pub(super) fn has_word(&self, name: &[u8], word: &str) -> bool {
        let value = self.get(name);
        value
            .split_ascii_whitespace()
            .any(|part| part.eq_ignore_ascii_case(word))
    }
}

/// A start tag.
pub(super) struct StartTag<'a> {
    pub(super) name: &'a [u8],
    pub(super) attributes: &'a Attributes,
    /// Whether the tag ended itself in a language where that counts.
    pub(super) closed: bool,
}

/// Whether an element of this name has no end tag. Source: HTML Standard, 13.1.2.
pub(super) fn is_void(name: &[u8]) -> bool {
    matches!(
        name,
        b"area"
            | b"base"
            | b"br"
            | b"col"
            | b"embed"
            | b"hr"
            | b"img"
            | b"input"
            | b"link"
            | b"meta"
            | b"param"
            | b"source"
            | b"track"
            | b"wbr"
    )
}

/// Whether the end tag of an element of this name may be left out, so that it is not known where
/// it ends without building a tree. Source: HTML Standard, 13.1.2.4.
pub(super) fn ends_by_itself(name: &[u8]) -> bool {
    matches!(
        name,
        b"html"
            | b"head"
            | b"body"
            | b"li"
            | b"dt"
            | b"dd"
            | b"p"
            | b"rt"
            | b"rp"
            | b"optgroup"
            | b"option"
            | b"colgroup"
            | b"caption"
            | b"thead"
            | b"tbody"
            | b"tfoot"
            | b"tr"
            | b"td"
            | b"th"
    )
}

/// Whether a start tag of this name ends a paragraph. Source: HTML Standard, 13.1.2.4.
pub(super) fn breaks_paragraph(name: &[u8]) -> bool {
    matches!(
        name,
        b"address"
            | b"article"
            | b"aside"
            | b"blockquote"
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
            | b"li"
            | b"listing"
            | b"main"
            | b"menu"
            | b"nav"
            | b"ol"
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
