//! The address of the bound server.
//!
//! In: text of a configuration or of a policy. Out: an https address in one fixed form, part by
//! part as git's credential protocol names them.
//! Never: a user, a password, an encoding, another scheme.

use std::fmt;

use crate::refusal::RemoteFault;

/// Longest address, in bytes.
const ADDRESS_MAX_BYTES: usize = 1024;

/// An `https` address without additions: `https://HOST[:PORT]/PATH`.
#[derive(Clone, PartialEq, Eq)]
pub struct RemoteUrl {
    host: String,
    path: String,
}

impl RemoteUrl {
    /// Reads `text`.
    ///
    /// # Errors
    /// [`RemoteFault::NotHttps`] for any other scheme or a path; [`RemoteFault::Dressed`] for a user,
    /// a percent sign, a query, a fragment, a blank or a character of control.
    pub fn parse(text: &str) -> Result<Self, RemoteFault> {
        let Some(rest) = text.strip_prefix("https://") else {
            return Err(RemoteFault::NotHttps);
        };
        if text.len() > ADDRESS_MAX_BYTES {
            return Err(RemoteFault::Dressed);
        }
        let plain = |c: char| c.is_ascii_graphic() && !"%@?#\\\"'<>`{}|^".contains(c);
        if !rest.chars().all(plain) {
            return Err(RemoteFault::Dressed);
        }
        let (host, path) = rest.split_once('/').ok_or(RemoteFault::Dressed)?;
        let path = path.trim_end_matches('/');
        let bad_segment = path.split('/').any(|part| matches!(part, "" | "." | ".."));
        if path.is_empty() || bad_segment || !is_host(host) {
            return Err(RemoteFault::Dressed);
        }
        let host = host.to_ascii_lowercase();
        let host = host.strip_suffix(":443").unwrap_or(&host);
        Ok(Self {
            host: host.to_owned(),
            path: path.to_owned(),
        })
    }

    /// `HOST` or `HOST:PORT`, as git's credential protocol has it.
    #[must_use]
    pub fn host(&self) -> &str {
        &self.host
    }

    /// The path without a slash in front.
    #[must_use]
    pub fn path(&self) -> &str {
        &self.path
    }
}

impl fmt::Display for RemoteUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "https://{}/{}", self.host, self.path)
    }
}

impl fmt::Debug for RemoteUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "RemoteUrl({self})")
    }
}

/// A name, an IPv4 address or a bracketed IPv6 address, with or without a port.
fn is_host(host: &str) -> bool {
    let (name, port) = match host.strip_prefix('[') {
        Some(rest) => {
            let Some((address, port)) = rest.split_once(']') else {
                return false;
            };
            if address.parse::<std::net::Ipv6Addr>().is_err() {
                return false;
            }
            ("v6", port)
        }
        None => host.split_at(host.find(':').unwrap_or(host.len())),
    };
    let label = |part: &str| {
        !part.is_empty()
            && !part.starts_with('-')
            && !part.ends_with('-')
            && part
                .bytes()
                .all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_'))
    };
    let port_fits = match port.strip_prefix(':') {
        None => port.is_empty(),
        Some(digits) => {
            digits.bytes().all(|b| b.is_ascii_digit()) && digits.parse::<u16>().is_ok_and(|p| p > 0)
        }
    };
    name.split('.').all(label) && port_fits
}

#[cfg(test)]
mod tests {
    use super::{RemoteFault, RemoteUrl};

    #[test]
    fn only_a_plain_https_address_is_one() {
        use RemoteFault::{Dressed, NotHttps};
        let cases = [
            (
                "https://git.example.com/a/b.git",
                Ok("https://git.example.com/a/b.git"),
            ),
            (
                "https://Git.Example.com:8443/a/",
                Ok("https://git.example.com:8443/a"),
            ),
            (
                "https://git.example.com:443/a",
                Ok("https://git.example.com/a"),
            ),
            ("https://127.0.0.1:9/a", Ok("https://127.0.0.1:9/a")),
            ("https://[::1]:9/a", Ok("https://[::1]:9/a")),
            ("http://git.example.com/a", Err(NotHttps)),
            ("HTTPS://git.example.com/a", Err(NotHttps)),
            ("ssh://git@host/a", Err(NotHttps)),
            ("git@host:a", Err(NotHttps)),
            ("ext::sh -c x", Err(NotHttps)),
            ("./evil.git", Err(NotHttps)),
            ("/srv/evil.git", Err(NotHttps)),
            ("", Err(NotHttps)),
            ("https://x:y@git.example.com/r.git", Err(Dressed)),
            ("https://x@git.example.com/r.git", Err(Dressed)),
            ("https://evil.example/%0ahost=git.example.com", Err(Dressed)),
            ("https://evil.example/\nhost=git.example.com", Err(Dressed)),
            ("https://git.example.com/a?b", Err(Dressed)),
            ("https://git.example.com/a#b", Err(Dressed)),
            ("https://git.example.com/a/../b", Err(Dressed)),
            ("https://git.example.com//a", Err(Dressed)),
            ("https://git.example.com", Err(Dressed)),
            ("https://git.example.com/", Err(Dressed)),
            ("https://git.example.com:0/a", Err(Dressed)),
            ("https://git.example.com:99999/a", Err(Dressed)),
            ("https://git.example.com:/a", Err(Dressed)),
            ("https://-x/a", Err(Dressed)),
            ("https:///a", Err(Dressed)),
        ];
        for (text, want) in cases {
            let found = RemoteUrl::parse(text).map(|url| url.to_string());
            assert_eq!(found, want.map(str::to_owned), "{text}");
        }
    }
}
