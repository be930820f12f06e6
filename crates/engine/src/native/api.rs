//! The two interfaces that are spoken, behind one face.
//!
//! In: a conversation. Out: where it is posted, with which headers and body, and what comes back in
//! our words. Never: a key anywhere but in its one header.

use super::{
    anthropic,
    heard::{Heard, Thought},
    http::Target,
    openai,
    problem::Problem,
    sse::Event,
};
use crate::secret::Secret;
use bytes::Bytes;
use guildhall_tools::{Outcome, ToolSpec};
use hyper::header::{AUTHORIZATION, HeaderName, HeaderValue};
use serde_json::{Value, json};

/// Which interface a provider speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Api {
    /// Chat completions: OpenAI, and what is compatible with it.
    OpenAi,
    /// Anthropic's messages.
    Anthropic,
}

/// One tool call with its result: neither is ever sent without the other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Called {
    pub(super) id: String,
    pub(super) name: String,
    /// JSON text as the model wrote it; it need not be any.
    pub(super) arguments: String,
    pub(super) outcome: Outcome,
    pub(super) result: String,
}

impl Called {
    /// The arguments as an object. Some servers fail over a transcript with anything else in it.
    pub(super) fn object(&self) -> Value {
        match serde_json::from_str::<Value>(&self.arguments) {
            Ok(object @ Value::Object(_)) => object,
            Ok(_) | Err(_) => json!({}),
        }
    }
}

/// One message of a model that called tools, with what they gave.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub(super) struct Step {
    /// What it said before it called.
    pub(super) text: String,
    /// What it thought, for a provider that wants it back.
    pub(super) thoughts: Vec<Thought>,
    pub(super) calls: Vec<Called>,
}

/// One message of a conversation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Message {
    /// A person's, with its envelope.
    User(String),
    /// An answer of the model.
    Assistant(String),
    /// A message of the model that called tools, and the results.
    Step(Step),
}

/// Whether the model may call tools now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Calling {
    /// It may.
    May,
    /// It is to answer with what it knows. The tools are still named, since the conversation has calls
    /// of them in it.
    MayNot,
}

/// What a model is asked: the user has the first word, and the user or a tool the last.
pub(super) struct Conversation<'a> {
    pub(super) model: &'a str,
    pub(super) system: &'a str,
    pub(super) messages: &'a [Message],
    pub(super) thinking: Option<&'a str>,
    pub(super) tools: &'a [ToolSpec],
    pub(super) calling: Calling,
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
            let target = Target::parse(base, std::time::Duration::ZERO).expect("a base URL");
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
