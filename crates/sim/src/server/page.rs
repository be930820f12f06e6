//! The page's files.
//!
//! In: a path. Out: one of the files that were built in, with a strict policy.
//! Never: a file of the machine, a script from elsewhere.

use hyper::header::{CONTENT_TYPE, HeaderValue};
use hyper::{Response, StatusCode};

use super::http::{Reply, full, text};

const HTML: &str = "text/html; charset=utf-8";
const CSS: &str = "text/css; charset=utf-8";
const SCRIPT: &str = "text/javascript; charset=utf-8";

/// One built-in file of the page's folder.
macro_rules! file {
    ($path:literal, $kind:ident, $name:literal) => {
        ($path, $kind, include_str!(concat!("../../page/", $name)))
    };
}

/// Path, type and content of each file.
const FILES: &[(&str, &str, &str)] = &[
    file!("/", HTML, "index.html"),
    file!("/page/base.css", CSS, "base.css"),
    file!("/page/layout.css", CSS, "layout.css"),
    file!("/page/message.css", CSS, "message.css"),
    file!("/page/main.js", SCRIPT, "main.js"),
    file!("/page/dom.js", SCRIPT, "dom.js"),
    file!("/page/control.js", SCRIPT, "control.js"),
    file!("/page/store.js", SCRIPT, "store.js"),
    file!("/page/markdown.js", SCRIPT, "markdown.js"),
    file!("/page/channels.js", SCRIPT, "channels.js"),
    file!("/page/message.js", SCRIPT, "message.js"),
    file!("/page/file.js", SCRIPT, "file.js"),
    file!("/page/conversation.js", SCRIPT, "conversation.js"),
    file!("/page/composer.js", SCRIPT, "composer.js"),
    file!("/page/panel.js", SCRIPT, "panel.js"),
];

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
