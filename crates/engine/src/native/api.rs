//! The two interfaces that are spoken, behind one face.
//!
//! In: a conversation. Out: where it is posted, with which headers and body, and what comes back in
//! our words. Never: a key anywhere but in its one header.

use super::{anthropic, heard::Heard, http::Target, openai, problem::Problem, sse::Event};
use crate::secret::Secret;
use bytes::Bytes;
use hyper::header::{AUTHORIZATION, HeaderName, HeaderValue};

/// Which interface a provider speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Api {
    /// Chat completions: OpenAI, and what is compatible with it.
    OpenAi,
    /// Anthropic's messages.
    Anthropic,
}

/// Who says a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    User,
    Assistant,
}

impl Role {
    pub(super) const fn word(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Assistant => "assistant",
        }
    }
}

/// One message of a conversation.
#[derive(Clone, PartialEq, Eq)]
pub(super) struct Message {
    pub(super) role: Role,
    pub(super) text: String,
}

/// What a model is asked: roles alternate, and the user has the first and the last word.
pub(super) struct Conversation<'a> {
    pub(super) model: &'a str,
    pub(super) system: &'a str,
    pub(super) messages: &'a [Message],
    pub(super) thinking: Option<&'a str>,
}

impl Api {
    /// The path of the request. A base URL without a path means the interface's first version,
    /// `/v1`, which is what every server of either kind has.
    pub(super) fn path(self, target: &Target) -> String {
        let base = match target.base_path() {
            "" => "/v1",
            base => base,
        };
        match self {
            Self::OpenAi => format!("{base}/chat/completions"),
            Self::Anthropic => format!("{base}/messages"),
        }
    }

    /// Headers of the request; the key's is marked so that nothing prints it.
    pub(super) fn headers(self, key: Option<&Secret>) -> Vec<(HeaderName, HeaderValue)> {
        let mut headers = Vec::new();
        if self == Self::Anthropic {
            let version = HeaderValue::from_static(anthropic::API_VERSION);
            headers.push((HeaderName::from_static("anthropic-version"), version));
        }
        let Some(key) = key else {
            return headers;
        };
        let (name, value) = match self {
            Self::OpenAi => (AUTHORIZATION, format!("Bearer {}", key.reveal())),
            Self::Anthropic => (
                HeaderName::from_static("x-api-key"),
                key.reveal().to_owned(),
            ),
        };
        let mut value =
            HeaderValue::try_from(value).expect("a key is visible ASCII: checked when it was made");
        value.set_sensitive(true);
        headers.push((name, value));
        headers
    }

    /// The request body.
    pub(super) fn body(self, talk: &Conversation<'_>) -> Bytes {
        let body = match self {
            Self::OpenAi => openai::body(talk),
            Self::Anthropic => anthropic::body(talk),
        };
        Bytes::from(body.to_string())
    }

    /// Reads one event of the stream.
    ///
    /// # Errors
    /// The problem that the event tells, or [`Problem::Rubbish`].
    pub(super) fn hear(self, event: &Event) -> Result<Heard, Problem> {
        match self {
            Self::OpenAi => openai::hear(event),
            Self::Anthropic => anthropic::hear(event),
        }
    }

    /// Reads an answer that came as one document.
    ///
    /// # Errors
    /// As [`Api::hear`].
    pub(super) fn whole(self, body: &[u8]) -> Result<Heard, Problem> {
        match self {
            Self::OpenAi => openai::whole(body),
            Self::Anthropic => anthropic::whole(body),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_base_url_leads_to_the_path_that_its_provider_documents() {
        let cases = [
            (
                Api::OpenAi,
                "http://127.0.0.1:8080/v1",
                "/v1/chat/completions",
            ),
            (
                Api::OpenAi,
                "http://127.0.0.1:8080/v1/",
                "/v1/chat/completions",
            ),
            (Api::OpenAi, "http://127.0.0.1:8080", "/v1/chat/completions"),
            (
                Api::OpenAi,
                "https://example.test/api/v1",
                "/api/v1/chat/completions",
            ),
            (Api::Anthropic, "https://example.test", "/v1/messages"),
            (Api::Anthropic, "https://example.test/v1", "/v1/messages"),
        ];
        for (api, base, want) in cases {
            let target = Target::parse(base).expect("a base URL");
            assert_eq!(api.path(&target), want, "{base}");
        }
    }

    #[test]
    fn the_key_stands_in_one_header_that_does_not_print() {
        let key = Secret::new("k-123").expect("a key");
        for (api, name) in [
            (Api::OpenAi, "authorization"),
            (Api::Anthropic, "x-api-key"),
        ] {
            let headers = api.headers(Some(&key));
            let with_key: Vec<&HeaderName> = headers
                .iter()
                .filter(|(_, value)| value.as_bytes().ends_with(b"k-123"))
                .map(|(name, _)| name)
                .collect();
            assert_eq!(with_key, [name]);
            assert!(!format!("{headers:?}").contains("k-123"));
        }
        assert!(Api::OpenAi.headers(None).is_empty());
    }
}
