//! What a body is, and its text.
//!
//! In: the Content-Type header and bytes. Out: a kind that can be read, and text in UTF-8. Never: a
//! guess at the kind from the bytes; they can only contradict it.

mod kind; // which media types are read
mod label; // how a charset is named

use std::borrow::Cow;

use encoding_rs::{Encoding, UTF_8, WINDOWS_1252};

use crate::WebRefusal;

/// How far a declaration of the charset inside of a text is looked for, in bytes.
/// Source: HTML Standard, "prescan a byte stream to determine its encoding".
const PRESCAN_BYTES: usize = 1_024;
/// One character in so many may be one that the charset does not have, before a text is none.
const UNREADABLE_ONE_IN: usize = 10;

/// How the text of a body is to be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// HTML.
    Html,
    /// HTML that is also XML: a tag may close itself.
    Xhtml,
    /// XML, which may declare its charset inside.
    Xml,
    /// Anything else that is text.
    Plain,
}

/// A media type that can be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Media {
    /// Type and subtype in lower case, without parameters.
    pub(crate) essence: String,
    pub(crate) kind: Kind,
    charset: Option<&'static Encoding>,
}

impl Media {
    /// Reads the value of a Content-Type header.
    ///
    /// # Errors
    /// [`WebRefusal::ContentType`].
    pub(crate) fn parse(header: &str) -> Result<Self, WebRefusal> {
        let (essence, parameters) = header.split_at(header.find(';').unwrap_or(header.len()));
        let essence = essence.trim().to_ascii_lowercase();
        let kind = kind::kind_of(&essence).ok_or(WebRefusal::ContentType)?;
        // A label that nobody knows says nothing, so what the text declares still counts.
        let label = label::in_parameters(parameters);
        let charset = label.and_then(|label| Encoding::for_label(label.as_bytes()));
        Ok(Self {
            essence,
            kind,
            charset,
        })
    }

    /// The text of `bytes`: a byte order mark decides, then the header, then what the text itself
    /// declares, then UTF-8, and windows-1252 where nothing was declared and UTF-8 it is not.
    ///
    /// # Errors
    /// [`WebRefusal::Binary`].
    pub(crate) fn text<'a>(&self, bytes: &'a [u8]) -> Result<Cow<'a, str>, WebRefusal> {
        if has_other_signature(bytes) {
            return Err(WebRefusal::Binary);
        }
        let declared = self.charset.or_else(|| self.declared_inside(bytes));
        let charset = declared.unwrap_or_else(|| match could_be_utf8(bytes) {
            true => UTF_8,
            false => WINDOWS_1252,
        });
        let (text, _, _) = charset.decode(bytes);
        let unreadable = text.matches('\u{fffd}').count();
        let too_many = unreadable > 1 && unreadable > text.chars().count() / UNREADABLE_ONE_IN;
        if text.contains('\0') || too_many {
            return Err(WebRefusal::Binary);
        }
        Ok(text)
    }

    fn declared_inside(&self, bytes: &[u8]) -> Option<&'static Encoding> {
        let head = &bytes[..bytes.len().min(PRESCAN_BYTES)];
        let encoding = match self.kind {
            Kind::Plain => None,
            Kind::Xml => label::in_xml(head),
            Kind::Html => label::in_meta(head),
            Kind::Xhtml => label::in_xml(head).or_else(|| label::in_meta(head)),
        }?;
        // What can be read as ASCII up to here is no UTF-16. Source: HTML Standard, the same place.
        Some(match encoding.is_ascii_compatible() {
            true => encoding,
            false => UTF_8,
        })
    }
}

/// First bytes of files that are no text, but that may have no NUL byte early on.
const SIGNATURES: [&[u8]; 8] = [
    b"PK\x03\x04",
    b"\x89PNG",
    b"\xff\xd8\xff",
    b"\x1f\x8b",
    b"7z\xbc\xaf",
    b"\xfd7zXZ",
    b"\x28\xb5\x2f\xfd",
    b"\x7fELF",
];
/// Those that a text may begin with as well. Bytes that no text has must follow before they count.
const LETTERED: [&[u8]; 7] = [
    b"%PDF-", b"GIF87a", b"GIF89a", b"BZh", b"Rar!", b"OggS", b"wOF2",
];

fn has_other_signature(bytes: &[u8]) -> bool {
    let begins = |first: &&[u8]| bytes.starts_with(first);
    SIGNATURES.iter().any(begins)
        || is_pdf(bytes)
        || (LETTERED.iter().any(begins) && is_no_text(&bytes[..bytes.len().min(PRESCAN_BYTES)]))
}

/// A PDF may be letters for long; its first line is its version and nothing else.
fn is_pdf(bytes: &[u8]) -> bool {
    let version = bytes.strip_prefix(b"%PDF-");
    matches!(version, Some([major, b'.', minor, b'\r' | b'\n', ..])
        if major.is_ascii_digit() && minor.is_ascii_digit())
}

/// Whether bytes hold a control that no text has, or are not UTF-8. A last character that breaks off
/// at the end of them is none of that.
fn is_no_text(bytes: &[u8]) -> bool {
    let control =
        |b: &u8| b.is_ascii_control() && !matches!(b, b'\t' | b'\n' | b'\r' | 0x0c | 0x1b);
    let broken = std::str::from_utf8(bytes).is_err_and(|error| error.error_len().is_some());
    broken || bytes.iter().any(control)
}

/// Whether bytes are UTF-8. A last character that breaks off, as it may at the limit, is told from
/// a stray letter of another charset by the characters before it.
fn could_be_utf8(bytes: &[u8]) -> bool {
    match std::str::from_utf8(bytes) {
        Ok(_) => true,
        Err(error) => {
            let breaks_off = error.error_len().is_none();
            breaks_off && !bytes[..error.valid_up_to()].is_ascii()
        }
    }
}

#[cfg(test)]
mod tests;
