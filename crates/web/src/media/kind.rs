//! Which media types are read, and as what.
//!
//! In: type and subtype. Out: how the body is read, or that it is not. Never: a type that is read
//! because its name is unknown.

use super::Kind;

/// Longest type and subtype, in bytes. Source: RFC 6838, section 4.2: 127 for each.
const ESSENCE_MAX_BYTES: usize = 255;

/// HTML, plain text, JSON and XML; `None` is anything else.
///
/// Plain text is `text/plain` and what people write and read in the same way: Markdown, comma and
/// tab separated values, and the unregistered `text/x-…` under which servers give source, patches
/// and logs. What is for a program, such as a style sheet, a script, a calendar or a stream of
/// events, is something else, whatever it begins with.
pub(super) fn kind_of(essence: &str) -> Option<Kind> {
    let (top, sub) = essence.split_once('/')?;
    let token = |b: u8| b.is_ascii_alphanumeric() || b"!#$&-^_.+".contains(&b);
    let proper = |part: &str| !part.is_empty() && part.bytes().all(token);
    if essence.len() > ESSENCE_MAX_BYTES || !proper(top) || !proper(sub) {
        return None;
    }
    match (top, sub) {
        ("text", "html") => Some(Kind::Html),
        ("application", "xhtml+xml") => Some(Kind::Xhtml),
        ("text" | "application", "xml") => Some(Kind::Xml),
        (_, sub) if sub.ends_with("+xml") => Some(Kind::Xml),
        (_, sub) if is_json(sub) => Some(Kind::Plain),
        ("text", sub) if is_plain(sub) => Some(Kind::Plain),
        (_, _) => None,
    }
}

/// JSON, one document or one a line. Sources: RFC 8259, RFC 6839, RFC 7464, RFC 8091, and the names
/// that JSON Lines goes by without a registration.
fn is_json(sub: &str) -> bool {
    let names = [
        "json",
        "x-json",
        "json-seq",
        "ndjson",
        "x-ndjson",
        "jsonl",
        "x-jsonl",
        "jsonlines",
        "x-jsonlines",
    ];
    names.contains(&sub) || sub.ends_with("+json") || sub.ends_with("+json-seq")
}

fn is_plain(sub: &str) -> bool {
    let for_pages = ["javascript", "ecmascript", "css", "component"];
    match sub.strip_prefix("x-") {
        Some(unregistered) => !for_pages.iter().any(|kind| unregistered.ends_with(kind)),
        None => matches!(sub, "plain" | "markdown" | "csv" | "tab-separated-values"),
    }
}
