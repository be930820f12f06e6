//! A URL that may be fetched, as far as its text can tell.
//!
//! In: the text of a URL, from a call or from a redirect. Out: a checked target, or why not. Never:
//! a look-up, and never a repair: what a lenient reader would mend is refused before it is read.
//!
//! The text is judged first, then it is read once, and only what was read is used from then on.

use std::{fmt, net::IpAddr};

use url::{Host, Url};

use crate::{WebRefusal, address::is_public, unseen::is_unseen};

/// Longest URL, in bytes of UTF-8. Browsers take more; what people and pages link is far below.
pub const URL_MAX_BYTES: usize = 2_048;
/// Longest host name and longest part of one, in bytes. Source: RFC 1035, section 2.3.4.
const NAME_MAX_BYTES: usize = 253;
const LABEL_MAX_BYTES: usize = 63;

/// Last labels that no public name has. Sources: RFC 6761, RFC 6762, RFC 7686, RFC 8375, RFC 9476,
/// ICANN's reservation of `internal`, and names that private networks use without asking.
const LOCAL_SUFFIXES: [&str; 17] = [
    "alt",
    "arpa",
    "corp",
    "example",
    "home",
    "internal",
    "intranet",
    "invalid",
    "lan",
    "local",
    "localdomain",
    "localhost",
    "mail",
    "onion",
    "private",
    "test",
    "workgroup",
];

/// Where a URL leads: to a name that must be looked up, or to an address.
#[derive(Clone, PartialEq, Eq)]
pub(crate) enum Place {
    /// A name of at least two labels, in lower case and punycode, without a dot at its end.
    Name(String),
    /// A public address.
    Address(IpAddr),
}

/// An https URL on port 443 whose host is a public address or may be a public name.
#[derive(Clone, PartialEq, Eq)]
pub struct Target {
    url: Url,
    place: Place,
}

impl Target {
    /// Reads the URL of a call.
    ///
    /// # Errors
    /// A [`WebRefusal`] about the text of a URL, or [`WebRefusal::Address`].
    pub fn parse(text: &str) -> Result<Self, WebRefusal> {
        judge_characters(text)?;
        let (scheme, rest) = split_scheme(text).ok_or(WebRefusal::BadUrl)?;
        if !scheme.eq_ignore_ascii_case("https") {
            return Err(WebRefusal::Scheme);
        }
        if text.contains('\\') {
            return Err(WebRefusal::Backslash);
        }
        let authority = rest.strip_prefix("//").ok_or(WebRefusal::NotAbsolute)?;
        judge_authority(authority)?;
        if text.contains(' ') {
            return Err(WebRefusal::BadUrl);
        }
        Self::checked(Url::parse(text).map_err(|_| WebRefusal::BadUrl)?)
    }

    /// Reads the Location of a redirect that this target answered with.
    ///
    /// # Errors
    /// Like [`Target::parse`], and [`WebRefusal::BadRedirect`].
    pub(crate) fn redirected(&self, location: &str) -> Result<Self, WebRefusal> {
        judge_characters(location)?;
        if location.contains('\\') {
            return Err(WebRefusal::Backslash);
        }
        if location.is_empty() || !location.is_ascii() || location.contains(' ') {
            return Err(WebRefusal::BadRedirect);
        }
        let rest = split_scheme(location).map_or(location, |(_, rest)| rest);
        if let Some(authority) = rest.strip_prefix("//") {
            judge_authority(authority)?;
        }
        let joined = self
            .url
            .join(location)
            .map_err(|_| WebRefusal::BadRedirect)?;
        // Through the same gate as any other URL, from its text on.
        Self::parse(joined.as_str())
    }

    fn checked(url: Url) -> Result<Self, WebRefusal> {
        if url.scheme() != "https" {
            return Err(WebRefusal::Scheme);
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err(WebRefusal::UserInfo);
        }
        // The parser drops a port that is the scheme's own.
        if url.port().is_some() {
            return Err(WebRefusal::Port);
        }
        let address = |address| match is_public(address) {
            Ok(()) => Ok(Place::Address(address)),
            Err(class) => Err(WebRefusal::Address(class)),
        };
        let place = match url.host() {
            None => return Err(WebRefusal::BadUrl),
            Some(Host::Ipv4(v4)) => address(v4.into())?,
            Some(Host::Ipv6(v6)) => address(v6.into())?,
            Some(Host::Domain(name)) => Place::Name(public_name(name)?),
        };
        Ok(Self { url, place })
    }

    /// The URL as it was read, its host in punycode.
    #[must_use]
    pub fn as_str(&self) -> &str {
        self.url.as_str()
    }

    pub(crate) fn url(&self) -> &Url {
        &self.url
    }

    pub(crate) fn place(&self) -> &Place {
        &self.place
    }
}

/// Shows a length: what people ask for is nobody's business in a log.
impl fmt::Debug for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Target({} bytes)", self.as_str().len())
    }
}

fn judge_characters(text: &str) -> Result<(), WebRefusal> {
    if text.len() > URL_MAX_BYTES {
        return Err(WebRefusal::TooLong);
    }
    if text.chars().any(is_unseen) {
        return Err(WebRefusal::ControlChar);
    }
    Ok(())
}

/// The part before the first `/`, `?` or `#` must not have a user.
fn judge_authority(text: &str) -> Result<(), WebRefusal> {
    let end = text.find(['/', '?', '#']).unwrap_or(text.len());
    match text[..end].contains('@') {
        true => Err(WebRefusal::UserInfo),
        false => Ok(()),
    }
}

/// What stands before and behind the first colon, if it can be a scheme. Source: RFC 3986, 3.1.
fn split_scheme(text: &str) -> Option<(&str, &str)> {
    let (scheme, rest) = text.split_once(':')?;
    let first = scheme.bytes().next()?;
    let proper = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'+' | b'-' | b'.');
    (first.is_ascii_alphabetic() && scheme.bytes().all(proper)).then_some((scheme, rest))
}

fn public_name(host: &str) -> Result<String, WebRefusal> {
    let name = host.strip_suffix('.').unwrap_or(host);
    if name.len() > NAME_MAX_BYTES || !name.split('.').all(is_label) {
        return Err(WebRefusal::BadHost);
    }
    match name.rsplit_once('.') {
        Some((_, last)) if LOCAL_SUFFIXES.contains(&last) => Err(WebRefusal::LocalName),
        Some(_) => Ok(name.to_owned()),
        None if name == "localhost" => Err(WebRefusal::LocalName),
        None => Err(WebRefusal::SingleLabel),
    }
}

/// Letters, digits and hyphens, as names of hosts have them, and the underscore that some have.
fn is_label(label: &str) -> bool {
    let proper = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_');
    (1..=LABEL_MAX_BYTES).contains(&label.len()) && label.bytes().all(proper)
}

#[cfg(test)]
mod tests;
