//! Charset labels as headers and texts write them.
//!
//! In: a Content-Type header, or the first bytes of a text. Out: the label that it gives. Never: a
//! label out of the middle of another parameter's value, nor one that only a sentence mentions.

use encoding_rs::Encoding;
use html5gum::{Token, Tokenizer};

/// The value of a header's first `charset`. Source: MIME Sniffing Standard, "parse a MIME type";
/// that a value may also stand in single quotes is ours, for servers that write it so.
pub(super) fn in_parameters(mut rest: &str) -> Option<String> {
    loop {
        rest = rest.trim_start_matches(|c: char| c == ';' || c.is_ascii_whitespace());
        if rest.is_empty() {
            return None;
        }
        let end = rest.find([';', '=']).unwrap_or(rest.len());
        let named = rest[..end].trim().eq_ignore_ascii_case("charset");
        let Some(value) = rest[end..].strip_prefix('=') else {
            rest = &rest[end..];
            continue;
        };
        let (value, behind) = value_of(value.trim_start());
        if named {
            return Some(value);
        }
        rest = behind;
    }
}

/// One value, and what stands behind it.
fn value_of(text: &str) -> (String, &str) {
    let Some(quoted) = text.strip_prefix('"') else {
        let (value, behind) = text.split_at(text.find(';').unwrap_or(text.len()));
        return (value.trim().trim_matches('\'').to_owned(), behind);
    };
    let mut value = String::new();
    let mut chars = quoted.char_indices();
    while let Some((at, c)) = chars.next() {
        match c {
            '"' => return (value, &quoted[at + 1..]),
            '\\' => value.extend(chars.next().map(|(_, escaped)| escaped)),
            c => value.push(c),
        }
    }
    (value, "")
}

/// The encoding in `<?xml … encoding="…"?>`.
pub(super) fn in_xml(head: &[u8]) -> Option<&'static Encoding> {
    let head = head.strip_prefix(b"<?xml")?;
    let end = head.iter().position(|b| *b == b'>')?;
    let declaration = std::str::from_utf8(&head[..end]).ok()?;
    let (_, rest) = declaration.split_once("encoding")?;
    let value = rest.trim_start().strip_prefix('=')?.trim_start();
    let quote = value.chars().next().filter(|c| matches!(c, '"' | '\''))?;
    let label = value[1..].split(quote).next()?;
    Encoding::for_label(label.as_bytes())
}

/// The charset of the first `<meta>` that names a known one. Source: HTML Standard, "prescan a byte
/// stream to determine its encoding".
pub(super) fn in_meta(head: &[u8]) -> Option<&'static Encoding> {
    for token in Tokenizer::new(head) {
        let Ok(Token::StartTag(tag)) = token else {
            continue;
        };
        if tag.name.as_slice() != b"meta" {
            continue;
        }
        let value = |name: &[u8]| tag.attributes.get(name).map(|value| value.value.to_vec());
        let label = value(b"charset").or_else(|| {
            // Without it `content` is a description, or anything else.
            let speaks = value(b"http-equiv")?.eq_ignore_ascii_case(b"content-type");
            speaks.then(|| in_content(&value(b"content")?)).flatten()
        });
        if let Some(known) = label.and_then(|label| Encoding::for_label(&label)) {
            return Some(known);
        }
    }
    None
}

/// Source: HTML Standard, "extracting a character encoding from a meta element".
fn in_content(content: &[u8]) -> Option<Vec<u8>> {
    let content = String::from_utf8_lossy(content).to_ascii_lowercase();
    let mut parts = content.split("charset").skip(1);
    let value = parts.find_map(|rest| rest.trim_start().strip_prefix('='))?;
    let value = value.trim_start();
    let label = match value.chars().next()? {
        quote @ ('"' | '\'') => value[1..].split_once(quote)?.0,
        _ => value.split([';', ' ', '\t', '\n']).next()?,
    };
    Some(label.as_bytes().to_vec())
}
