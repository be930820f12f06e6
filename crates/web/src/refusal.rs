//! Why a page or a search was not given.
//!
//! In: nothing. Out: one closed enum with a stable code for records and one sentence for people and
//! models. Never: a word of the page, of a header or of a host, nor the system's own error text.

use std::fmt;

use crate::address::AddressClass;

/// A named reason why there is no page and no answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum WebRefusal {
    // The text of a URL, of the call or of a redirect.
    /// It is over [`URL_MAX_BYTES`](crate::URL_MAX_BYTES).
    TooLong,
    /// It has a control character, or one that changes the direction of text or cannot be seen.
    ControlChar,
    /// It has a backslash, which readers of URLs disagree about.
    Backslash,
    /// Its scheme is another than https.
    Scheme,
    /// It does not begin with `https://`.
    NotAbsolute,
    /// It has a user or a password.
    UserInfo,
    /// It cannot be read as a URL.
    BadUrl,
    /// Its port is another than 443.
    Port,
    /// Its host has an empty or overlong part, or a character that no host name has.
    BadHost,
    /// Its host is a single word, which search domains would complete.
    SingleLabel,
    /// Its host ends with a name that is never public, such as `localhost` or `internal`.
    LocalName,

    // Where it leads.
    /// The name has no address.
    Unresolved,
    /// One of the name's addresses, or the address in the URL, is not public.
    Address(AddressClass),
    /// No address took the connection.
    Unreachable,
    /// The server is not the one that it should be, or its encryption cannot be used.
    Tls,

    // What came back.
    /// It answered with more redirects than are followed.
    TooManyRedirects,
    /// A redirect names no place, or several, or one that is not plain ASCII.
    BadRedirect,
    /// The head of the answer is over its limit.
    HeaderLimit,
    /// The answer is not HTTP/1.1, or broke off.
    BadResponse,
    /// The server answered with this status instead of a page.
    Status(u16),
    /// The answer is no HTML, plain text, JSON or XML, or does not say what it is.
    ContentType,
    /// The answer is packed in another way than gzip, or more than once.
    ContentEncoding,
    /// The answer claims to be text and is not.
    Binary,
    /// The whole call did not end within its time.
    Timeout,

    // Searches.
    /// The query is empty.
    QueryEmpty,
    /// The query is over [`QUERY_MAX_CHARS`](crate::QUERY_MAX_CHARS).
    QueryTooLong,
    /// The configured instance is neither https nor http on loopback, or its URL cannot be used.
    SearchBase,
    /// The instance asks for fewer searches (status 429).
    RateLimited,
    /// The instance does not give JSON (status 403).
    JsonDisabled,
    /// The answer of the instance is not JSON, or not that of a search.
    NotJson,
    /// The answer of the instance is over its limit.
    TooLarge,
}

impl WebRefusal {
    /// The stable code, for records. An address is named by its class.
    #[must_use]
    pub const fn code(self) -> &'static str {
        match self {
            Self::TooLong => "too-long",
            Self::ControlChar => "control-char",
            Self::Backslash => "backslash",
            Self::Scheme => "scheme",
            Self::NotAbsolute => "not-absolute",
            Self::UserInfo => "userinfo",
            Self::BadUrl => "bad-url",
            Self::Port => "port",
            Self::BadHost => "bad-host",
            Self::SingleLabel => "single-label",
            Self::LocalName => "local-name",
            Self::Unresolved => "unresolved",
            Self::Address(class) => class.code(),
            Self::Unreachable => "unreachable",
            Self::Tls => "tls",
            Self::TooManyRedirects => "too-many-redirects",
            Self::BadRedirect => "bad-redirect",
            Self::HeaderLimit => "header-limit",
            Self::BadResponse => "bad-response",
            Self::Status(_) => "status",
            Self::ContentType => "content-type",
            Self::ContentEncoding => "content-encoding",
            Self::Binary => "binary",
            Self::Timeout => "timeout",
            Self::QueryEmpty => "query-empty",
            Self::QueryTooLong => "query-too-long",
            Self::SearchBase => "search-base",
            Self::RateLimited => "rate-limited",
            Self::JsonDisabled => "json-disabled",
            Self::NotJson => "not-json",
            Self::TooLarge => "too-large",
        }
    }

    /// What a person or a model is told. `Display` adds the number of [`WebRefusal::Status`].
    #[must_use]
    pub const fn text(self) -> &'static str {
        match self {
            Self::TooLong => "the URL is longer than 2048 bytes",
            Self::ControlChar => "the URL has a control character or one that cannot be seen",
            Self::Backslash => "the URL has a backslash",
            Self::Scheme => "only https URLs are fetched",
            Self::NotAbsolute => "the URL must begin with https://",
            Self::UserInfo => "the URL has a user or a password part",
            Self::BadUrl => "the URL cannot be read",
            Self::Port => "only port 443 is used",
            Self::BadHost => "the URL's host is not a host name",
            Self::SingleLabel => "the URL's host is a single word",
            Self::LocalName => "the URL's host is a local name",
            Self::Unresolved => "the host's name has no address",
            Self::Address(class) => class.text(),
            Self::Unreachable => "no connection to the server",
            Self::Tls => "no encrypted connection to the server that was meant",
            Self::TooManyRedirects => "more than three redirects",
            Self::BadRedirect => "a redirect to no usable place",
            Self::HeaderLimit => "the head of the answer is too large",
            Self::BadResponse => "the answer is not proper HTTP or broke off",
            Self::Status(_) => "the server gave no page",
            Self::ContentType => "the answer is not said to be HTML, plain text, JSON or XML",
            Self::ContentEncoding => "the answer is packed in an unknown way",
            Self::Binary => "the answer is said to be text and is not",
            Self::Timeout => "the call did not end in time",
            Self::QueryEmpty => "the query is empty",
            Self::QueryTooLong => "the query is longer than 400 characters",
            Self::SearchBase => "the search instance must be an https URL, or http on loopback",
            Self::RateLimited => "the search instance asks for fewer searches",
            Self::JsonDisabled => {
                "the search instance refused; its settings must list json under search.formats"
            }
            Self::NotJson => "the answer of the search instance is no JSON of a search",
            Self::TooLarge => "the answer of the search instance is too large",
        }
    }
}

impl fmt::Display for WebRefusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.text())?;
        if let Self::Status(status) = self {
            write!(f, "; it answered with status {status}")?;
        }
        Ok(())
    }
}

impl std::error::Error for WebRefusal {}
