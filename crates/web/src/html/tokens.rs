//! The tokenizer's calls as tags and text.
//!
//! In: calls of the tokenizer, one for each piece of a name, a value or a text. Out: whole start
//! tags, end tags and text for the reader, and the reader's result as the one token. Never: a
//! buffer of text; comments and declarations are not kept at all.

use html5gum::{Emitter, Error, State};

use super::{
    Readable,
    reader::Reader,
    tag::{Attributes, StartTag},
};
use crate::media::Kind;

/// Longest name that is told apart, in bytes. What is longer has no meaning to us.
const NAME_MAX_BYTES: usize = 64;
/// Longest value that is collected, in bytes.
const VALUE_MAX_BYTES: usize = 8_192;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Tag {
    Start,
    End,
}

/// Stands between the tokenizer and the reader.
pub(super) struct Tokens {
    /// Until the result was given.
    reader: Option<Reader>,
    kind: Kind,
    /// Whether the result is due.
    done: bool,
    tag: Tag,
    name: Vec<u8>,
    last_start: Vec<u8>,
    self_closing: bool,
    attribute: Vec<u8>,
    value: Vec<u8>,
    attributes: Attributes,
    /// The first bytes of a character whose rest has not come.
    partial: Vec<u8>,
    steps: u64,
}

impl Tokens {
    pub(super) fn new(reader: Reader, kind: Kind) -> Self {
        Self {
            reader: Some(reader),
            kind,
            done: false,
            tag: Tag::Start,
            name: Vec::new(),
            last_start: Vec::new(),
            self_closing: false,
            attribute: Vec::new(),
            value: Vec::new(),
            attributes: Attributes::default(),
            partial: Vec::new(),
            steps: 0,
        }
    }

    fn count(&mut self, bytes: &[u8]) {
        self.steps += 1 + bytes.len() as u64;
    }

    fn end_attribute(&mut self) {
        if self.tag == Tag::Start && !self.attribute.is_empty() {
            self.attributes.keep(&self.attribute, &self.value);
        }
        self.attribute.clear();
        self.value.clear();
    }

    fn end_start_tag(&mut self) -> Option<State> {
        let reader = self.reader.as_mut()?;
        self.last_start.clear();
        self.last_start.extend_from_slice(&self.name);
        let foreign = self.kind == Kind::Xhtml || reader.is_in_foreign();
        let closed = self.self_closing && foreign;
        reader.start(&StartTag {
            name: &self.name,
            attributes: &self.attributes,
            closed,
        });
        self.done = reader.is_full();
        if closed { None } else { state_in(&self.name) }
    }

    /// Text that begins with the kept part of a character.
    fn emit_completed(&mut self, bytes: &[u8]) {
        self.partial.extend_from_slice(bytes);
        let whole = match std::str::from_utf8(&self.partial) {
            Ok(_) => self.partial.len(),
            // The input is UTF-8, so an error is the end of a piece inside of a character.
            Err(error) => error.valid_up_to(),
        };
        let text = String::from_utf8_lossy(&self.partial[..whole]).into_owned();
        self.partial.drain(..whole);
        if self.partial.len() >= 4 {
            self.partial.clear();
        }
        if let Some(reader) = &mut self.reader {
            reader.text(&text);
        }
    }
}

/// How the inside of an element is read. Source: HTML Standard, 13.2.6.4, without the tree.
fn state_in(name: &[u8]) -> Option<State> {
    match name {
        b"title" | b"textarea" => Some(State::RcData),
        b"script" => Some(State::ScriptData),
        b"style" | b"iframe" | b"xmp" | b"noembed" | b"noframes" | b"noscript" => {
            Some(State::RawText)
        }
        b"plaintext" => Some(State::PlainText),
        _ => None,
    }
}

/// Adds to a name or a value as far as it goes.
fn extend(kept: &mut Vec<u8>, bytes: &[u8], limit: usize) {
    let room = limit.saturating_sub(kept.len());
    kept.extend_from_slice(&bytes[..bytes.len().min(room)]);
}

impl Emitter for Tokens {
    type Token = Readable;

    fn set_last_start_tag(&mut self, name: Option<&[u8]>) {
        self.last_start.clear();
        self.last_start.extend_from_slice(name.unwrap_or_default());
    }

    fn emit_eof(&mut self) {
        self.done = true;
    }

    fn emit_error(&mut self, _: Error) {}

    #[inline]
    fn should_emit_errors(&mut self) -> bool {
        false
    }

    #[inline]
    fn pop_token(&mut self) -> Option<Readable> {
        if !self.done {
            return None;
        }
        self.reader.take().map(|reader| reader.finish(self.steps))
    }

    fn emit_string(&mut self, bytes: &[u8]) {
        self.count(bytes);
        let Some(reader) = &mut self.reader else {
            return;
        };
        if reader.is_deaf() {
            self.partial.clear();
            return;
        }
        match std::str::from_utf8(bytes) {
            Ok(text) if self.partial.is_empty() => {
                reader.text(text);
                self.done = reader.is_full();
            }
            Ok(_) | Err(_) => self.emit_completed(bytes),
        }
    }

    fn init_start_tag(&mut self) {
        self.tag = Tag::Start;
        self.self_closing = false;
        self.name.clear();
        self.attributes.clear();
        self.partial.clear();
    }

    fn init_end_tag(&mut self) {
        self.tag = Tag::End;
        self.self_closing = false;
        self.name.clear();
        self.attributes.clear();
        self.partial.clear();
    }

    fn init_comment(&mut self) {
        self.count(&[]);
    }

    fn emit_current_tag(&mut self) -> Option<State> {
        self.count(&[]);
        self.end_attribute();
        match self.tag {
            Tag::Start => self.end_start_tag(),
            Tag::End => {
                let reader = self.reader.as_mut()?;
                reader.end(&self.name);
                self.done = reader.is_full();
                None
            }
        }
    }

    fn emit_current_comment(&mut self) {}

    fn emit_current_doctype(&mut self) {}

    fn set_self_closing(&mut self) {
        self.self_closing = true;
    }

    fn set_force_quirks(&mut self) {}

    fn push_tag_name(&mut self, bytes: &[u8]) {
        self.count(bytes);
        extend(&mut self.name, bytes, NAME_MAX_BYTES);
    }

    fn push_comment(&mut self, bytes: &[u8]) {
        self.count(bytes);
    }

    fn push_doctype_name(&mut self, bytes: &[u8]) {
        self.count(bytes);
    }

    fn init_doctype(&mut self) {}

    fn init_attribute(&mut self) {
        self.count(&[]);
        self.end_attribute();
    }

    fn push_attribute_name(&mut self, bytes: &[u8]) {
        self.count(bytes);
        extend(&mut self.attribute, bytes, NAME_MAX_BYTES);
    }

    fn push_attribute_value(&mut self, bytes: &[u8]) {
        self.count(bytes);
        extend(&mut self.value, bytes, VALUE_MAX_BYTES);
    }

    fn set_doctype_public_identifier(&mut self, _: &[u8]) {}

    fn set_doctype_system_identifier(&mut self, _: &[u8]) {}

    fn push_doctype_public_identifier(&mut self, bytes: &[u8]) {
        self.count(bytes);
    }

    fn push_doctype_system_identifier(&mut self, bytes: &[u8]) {
        self.count(bytes);
    }

    fn current_is_appropriate_end_tag_token(&mut self) -> bool {
        self.tag == Tag::End && !self.last_start.is_empty() && self.last_start == self.name
    }
}
