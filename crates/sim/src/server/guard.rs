//! Who may talk to a server on loopback.
//!
//! In: the headers of a request. Out: whether it may go on.
//! Never: lets a web page of another origin in, by name tricks or by its own address.

use hyper::HeaderMap;
use hyper::header::{HOST, ORIGIN};

/// Names under which a browser reaches this machine only.
const LOOPBACK_NAMES: [&str; 3] = ["127.0.0.1", "localhost", "[::1]"];

/// Whether a request comes from a program on this machine, or from the simulator's own page.
///
/// A browser sends `Host` as the page's address bar shows it, so a foreign name that was pointed
/// at loopback is seen here; and it sends `Origin` with every write across origins.
pub(super) fn is_welcome(headers: &HeaderMap, origin: &str) -> bool {
    let host = headers.get(HOST).and_then(|value| value.to_str().ok());
    let host_fits = host.is_some_and(|host| LOOPBACK_NAMES.contains(&name_of(host)));
    let port = origin
        .rsplit_once(':')
        .map(|(_, port)| port)
        .unwrap_or_default();
    let origin_fits = headers.get(ORIGIN).is_none_or(|value| {
        value.to_str().is_ok_and(|from| {
            LOOPBACK_NAMES
                .iter()
                .any(|name| from == format!("http://{name}:{port}"))
        })
    });
    host_fits && origin_fits
}

/// A `Host` value without its port.
fn name_of(host: &str) -> &str {
    match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => name,
        _ => host,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_this_machine_and_the_own_page_are_welcome() {
        let own = "http://127.0.0.1:8000";
        let cases = [
            ("127.0.0.1:8000", None, true),
            ("localhost:8000", None, true),
            ("[::1]:8000", None, true),
            ("127.0.0.1", None, true),
            ("127.0.0.1:8000", Some("http://127.0.0.1:8000"), true),
            ("127.0.0.1:8000", Some("http://localhost:8000"), true),
            ("evil.example:8000", None, false),
            ("127.0.0.1:8000", Some("http://evil.example"), false),
            ("127.0.0.1:8000", Some("http://127.0.0.1:9000"), false),
            ("127.0.0.1:8000", Some("null"), false),
        ];
        for (host, origin, want) in cases {
            let mut headers = HeaderMap::new();
            headers.insert(HOST, host.parse().expect("a header"));
            if let Some(origin) = origin {
                headers.insert(ORIGIN, origin.parse().expect("a header"));
            }
            assert_eq!(is_welcome(&headers, own), want, "{host} {origin:?}");
        }
        assert!(!is_welcome(&HeaderMap::new(), own), "no host at all");
    }
}
