//! One text attachment, read inline.
//!
//! In: an attachment's address. Out: its text. Never: a host that is not Discord's own, plain text
//! beyond loopback, a redirect, the token, more than the cap.

use crate::{
    address::{self, Reach, Target},
    http::{Body, Outgoing, Pool},
    net::Dialer,
};
use hyper::{HeaderMap, Method, header};
use std::time::Duration;

/// Largest text that is read, in bytes.
pub const TEXT_ATTACHMENT_MAX_BYTES: usize = 64 * 1024;
/// The hosts that serve attachments. Source: Discord API reference, "CDN".
const CDN_HOSTS: [&str; 2] = ["cdn.discordapp.com", "media.discordapp.net"];

/// Why an attachment was not read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TextFault {
    /// Its address is not on Discord's own hosts, or not https.
    #[error("the file is not on Discord's own hosts")]
    ForeignHost,
    /// It is larger than [`TEXT_ATTACHMENT_MAX_BYTES`], or broke off.
    #[error("the file is too large or could not be read whole")]
    TooLarge,
    /// The address has expired, or the file is gone: a message that is read again has a fresh one.
    #[error("the file's address is no longer valid")]
    Gone,
    /// It is not UTF-8 text.
    #[error("the file is not text")]
    NotText,
    /// Nothing was answered, or nothing usable.
    #[error("the file could not be fetched")]
    Unreachable,
}

/// Where an attachment lies, if that is a place to read from.
pub(crate) fn place(url: &str, reach: Reach) -> Option<(Target, String)> {
    let (target, path) = address::parse(url, "https", "http").ok()?;
    let cdn = target.reach == Reach::Network
        && target.port == 443
        && CDN_HOSTS.contains(&target.host.as_str());
    let local = reach == Reach::Loopback && target.reach == Reach::Loopback;
    (cdn || local).then_some((target, path))
}

/// Reads a text attachment.
pub(crate) async fn fetch(
    dialer: &Dialer,
    url: &str,
    reach: Reach,
    within: Duration,
) -> Result<String, TextFault> {
    let (target, path) = place(url, reach).ok_or(TextFault::ForeignHost)?;
    let mut headers = HeaderMap::new();
    headers.insert(header::USER_AGENT, crate::rest::user_agent());
    let outgoing = Outgoing {
        method: Method::GET,
        path,
        headers,
        body: bytes::Bytes::new(),
        body_cap: TEXT_ATTACHMENT_MAX_BYTES,
        within,
    };
    let pool = Pool::new(target, dialer.clone());
    let answer = pool
        .exchange(outgoing)
        .await
        .map_err(|_| TextFault::Unreachable)?;
    match (answer.status, answer.body) {
        (200, Body::Whole(bytes)) => {
            let text = std::str::from_utf8(&bytes).map_err(|_| TextFault::NotText)?;
            Ok(text.strip_prefix('\u{feff}').unwrap_or(text).to_owned())
        }
        (200, Body::Broken) => Err(TextFault::TooLarge),
        (403 | 404 | 410, _) => Err(TextFault::Gone),
        _ => Err(TextFault::Unreachable),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_discords_own_hosts_are_read_from() {
        let cases = [
            (
                "https://cdn.discordapp.com/attachments/1/2/message.txt?ex=1",
                true,
            ),
            ("https://media.discordapp.net/attachments/1/2/a.txt", true),
            ("http://cdn.discordapp.com/attachments/1/2/a.txt", false),
            ("https://cdn.discordapp.com:8443/a.txt", false),
            ("https://cdn.discordapp.com.evil.example/a.txt", false),
            ("https://evil.example/cdn.discordapp.com/a.txt", false),
            ("https://cdn.discordapp.com@evil.example/a.txt", false),
            ("http://127.0.0.1:9/a.txt", false),
            ("file:///etc/passwd", false),
            ("", false),
        ];
        for (url, want) in cases {
            assert_eq!(place(url, Reach::Network).is_some(), want, "{url}");
        }
        assert!(place("http://127.0.0.1:9/a.txt", Reach::Loopback).is_some());
        assert!(place("http://169.254.169.254/latest", Reach::Loopback).is_none());
    }
}
