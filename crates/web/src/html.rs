//! HTML as text that reads like the page.
//!
//! In: the source of a page and where it came from. Out: its title, and its text with headings,
//! paragraphs, lists, tables, code and the targets of links, in the manner of Markdown. Never: a
//! tree. Tokens are taken one by one in one pass, with state of a fixed size, so that a page that
//! is made to be costly costs what any other of its length costs.
//!
//! What stands in `main` or `article` comes first, what stands around it (menus, headers, footers)
//! last. Scripts, styles, comments, forms' choices and what its author hid are left out.

mod areas; // what is shown where, and what is hidden
mod flow; // lines and blocks
mod links;
mod lists;
mod reader; // what each element means
mod sheet;
mod tables;
mod tag;
mod tokens; // start here: the tokenizer's calls become tags and text // the text that is kept

use std::fmt;

use html5gum::Tokenizer;
use url::Url;

use crate::{Target, media::Kind, page::TEXT_MAX_CHARS};

/// What a page of HTML reads like.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Readable {
    /// Its title, on one line of at most [`TITLE_MAX_CHARS`](crate::TITLE_MAX_CHARS).
    pub title: Option<String>,
    /// Its text.
    pub text: String,
    /// Whether it is all of the text.
    pub whole: bool,
    /// Calls of the tokenizer and bytes that were looked at: what it cost.
    steps: u64,
}

impl fmt::Debug for Readable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let title = self.title.as_ref().map(String::len);
        write!(f, "Readable({title:?} and {} bytes)", self.text.len())
    }
}

/// Makes readable text of HTML that came from `page`, to which its links are relative. Title and
/// text together have at most [`TEXT_MAX_CHARS`] characters.
#[must_use]
pub fn readable(source: &str, page: &Target) -> Readable {
    read(source, page.url(), Kind::Html, TEXT_MAX_CHARS)
}

/// Reads a page. Title and text together have at most `room` characters.
pub(crate) fn read(source: &str, base: &Url, kind: Kind, room: usize) -> Readable {
    let tokens = tokens::Tokens::new(reader::Reader::new(base, room), kind);
    let mut tokenizer = Tokenizer::new_with_emitter(source, tokens);
    // It gives one token: what was read, at the end or when there is no room for more.
    tokenizer.next().and_then(Result::ok).unwrap_or_default()
}

#[cfg(test)]
mod tests;
