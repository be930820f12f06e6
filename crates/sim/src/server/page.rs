//! The page's files.
//!
//! In: a path. Out: one of the files that were built in, with a strict policy.
//! Never: a file of the machine, a script from elsewhere.

use hyper::header::{CONTENT_TYPE, HeaderValue};
use hyper::{Response, StatusCode};

use super::http::{Reply, full, text};

/// Path, type and content of each file.
const FILES: &[(&str, &str, &str)] = &[];

/// Only the page's own files and its own connection; no inline code, no frames.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; \
connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// One of the files, or 404.
pub(super) fn reply(path: &str) -> Reply {
    let Some((_, kind, content)) = FILES.iter().find(|(name, _, _)| *name == path) else {
        return text(StatusCode::NOT_FOUND, "There is nothing here.");
    };
    let mut reply = Response::new(full(*content));
    let headers = reply.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(kind));
    for (name, value) in [
        ("content-security-policy", POLICY),
        ("x-content-type-options", "nosniff"),
        ("referrer-policy", "no-referrer"),
        ("cache-control", "no-store"),
    ] {
        headers.insert(name, HeaderValue::from_static(value));
    }
    reply
}
