//! URLs that the operator writes: a strict part of the standard that all parsers read alike.
//!
//! In: text. Out: the URL as it is used, and whether it stays on this machine. Never: a user or
//! password part, a query, a host that two parsers could read differently, plain http to a
//! machine that is not this one.

use crate::bounds::URL_MAX_CHARS;
use std::net::{Ipv4Addr, Ipv6Addr};

/// What an allowed base URL is, for faults.
pub(crate) const BASE_ALLOWED: &str =
    "https://host[:port][/path], or http:// on loopback; no user part, query or fragment";
/// What an allowed origin is, for faults.
pub(crate) const ORIGIN_ALLOWED: &str =
    "an origin: https://host[:port], or http:// on loopback; no path";

/// Whether the URL may go on after its host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum UrlShape {
    /// Scheme, host and port.
    Origin,
    /// An origin and a path below it.
    Base,
}

/// Where a URL leads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reach {
    Loopback,
    Elsewhere,
}

/// A URL that passed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct CheckedUrl {
    /// The URL; an origin has no slash at its end.
    pub(crate) text: String,
    pub(crate) reach: Reach,
}

/// Checks a URL of the binding.
pub(crate) fn check(text: &str, shape: UrlShape) -> Option<CheckedUrl> {
    if text.len() > URL_MAX_CHARS {
        return None;
    }
    let (secure, rest) = match text.split_once("://")? {
        ("https", rest) => (true, rest),
        ("http", rest) => (false, rest),
        _ => return None,
    };
    let (authority, path) = match rest.find('/') {
        Some(slash) => rest.split_at(slash),
        None => (rest, ""),
    };
    let reach = reach(authority)?;
    let fits = match shape {
        UrlShape::Origin => path.is_empty() || path == "/",
        UrlShape::Base => is_path(path),
    };
    let allowed = secure || reach == Reach::Loopback;
    (fits && allowed).then(|| CheckedUrl {
        text: match shape {
            UrlShape::Origin => text.trim_end_matches('/').to_owned(),
            UrlShape::Base => text.to_owned(),
        },
        reach,
    })
}

fn reach(authority: &str) -> Option<Reach> {
    let (host, port) = if let Some(rest) = authority.strip_prefix('[') {
        let (address, port) = rest.split_once(']')?;
        let address: Ipv6Addr = address.parse().ok()?;
        (local(address.is_loopback()), port)
    } else {
        let end = authority.find(':').unwrap_or(authority.len());
        let (host, port) = authority.split_at(end);
        (host_reach(host)?, port)
    };
    is_port(port).then_some(host)
}

const fn local(loopback: bool) -> Reach {
    if loopback {
        Reach::Loopback
    } else {
        Reach::Elsewhere
    }
}

fn host_reach(host: &str) -> Option<Reach> {
    let last = host.rsplit('.').next()?;
    // A last label that begins with a digit is an IPv4 address to browsers, in many spellings;
    // one spelling is read here.
    if last.as_bytes().first().is_some_and(u8::is_ascii_digit) {
        let address: Ipv4Addr = host.parse().ok()?;
        return Some(local(address.is_loopback()));
    }
    let is_label = |label: &str| {
        (1..=63).contains(&label.len())
            && label
                .bytes()
                .all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'_')
            && !label.starts_with('-')
            && !label.ends_with('-')
    };
    let named = host.len() <= 253 && host.split('.').all(is_label);
    named.then(|| local(host.eq_ignore_ascii_case("localhost")))
}

/// Empty, or `:` and a number from 1 to 65535 without leading zeros.
fn is_port(port: &str) -> bool {
    let Some(digits) = port.strip_prefix(':') else {
        return port.is_empty();
    };
    !digits.starts_with(['0', '+']) && digits.parse::<u16>().is_ok()
}

fn is_path(path: &str) -> bool {
    let plain = |b: u8| b.is_ascii_alphanumeric() || b"/-._~!$&'()*+,;=:@".contains(&b);
    path.bytes().all(plain) && path.split('/').all(|part| part != "." && part != "..")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base_urls_are_https_or_http_on_this_machine() {
        use Reach::{Elsewhere, Loopback};
        let cases = [
            ("https://example.com", Some(Elsewhere)),
            ("https://example.com:8443/v1/", Some(Elsewhere)),
            ("https://127.0.0.1/", Some(Loopback)),
            ("http://127.0.0.1:8080/v1", Some(Loopback)),
            ("http://127.9.9.9", Some(Loopback)),
            ("http://[::1]:8080", Some(Loopback)),
            ("http://localhost:1/", Some(Loopback)),
            ("http://LocalHost", Some(Loopback)),
            ("https://[2001:db8::1]/x", Some(Elsewhere)),
            ("https://a_b.example", Some(Elsewhere)),
            ("http://example.com", None),
            ("http://128.0.0.1", None),
            ("http://10.0.0.1", None),
            ("http://[::ffff:127.0.0.1]", None),
            ("http://127.1", None),
            ("http://0x7f.0.0.1", None),
            ("http://127.0.0.1.", None),
            ("http://2130706433", None),
            ("http://127.0.0.01", None),
            ("http://localhost.example.com", None),
            ("http://127.0.0.1@example.com", None),
            ("https://someone@example.com", None),
            ("https://example.com:0", None),
            ("https://example.com:", None),
            ("https://example.com:65536", None),
            ("https://example.com:+80", None),
            ("https://example.com/a?b", None),
            ("https://example.com/a#b", None),
            ("https://example.com/../a", None),
            ("https://example.com\\a", None),
            ("https://example.com/a b", None),
            ("https://", None),
            ("https:///v1", None),
            ("https://.", None),
            ("https://-a.example", None),
            ("HTTPS://example.com", None),
            ("ftp://example.com", None),
            ("example.com", None),
            ("", None),
        ];
        for (text, want) in cases {
            let found = check(text, UrlShape::Base).map(|url| url.reach);
            assert_eq!(found, want, "{text}");
        }
    }

    #[test]
    fn an_origin_has_no_path_and_loses_its_last_slash() {
        let cases = [
            ("http://127.0.0.1:4100", Some("http://127.0.0.1:4100")),
            ("http://127.0.0.1:4100/", Some("http://127.0.0.1:4100")),
            ("http://127.0.0.1:4100//", None),
            ("http://127.0.0.1:4100/api", None),
            ("https://example.com", Some("https://example.com")),
        ];
        for (text, want) in cases {
            let found = check(text, UrlShape::Origin).map(|url| url.text);
            assert_eq!(found.as_deref(), want, "{text}");
        }
    }
}
