//! A provider's API, called directly.
//!
//! In: a prompt, and the turn's tools. Out: the model's answer, and a line in the route's transcript.
//! Never: a child process, a proxy from the environment, a key anywhere but in its one header, an
//! effect but through the tools that it was given.

mod anthropic; // messages
mod api; // the two interfaces behind one face
mod calls; // tool calls, put together from their pieces
mod exchange; // one try at an answer
mod heard; // what a provider's message tells, in our words
mod http; // one exchange of bytes
mod meter; // what one exchange costs
mod openai; // chat completions
mod problem; // what goes wrong, and what is done about it
mod prompt; // the system prompt
mod sse; // server-sent events
mod tidy; // what is shown of an answer
mod transcript; // a route's conversation, with a budget
mod turn; // start here: one turn from request to outcome

pub use api::Api;
pub use exchange::{ANSWER_MAX_BYTES, Timing};
pub(crate) use heard::{Tokens, usage};
pub use http::BadBaseUrl;
pub use prompt::system as system_prompt;
pub(crate) use tidy::tidy;
pub(crate) use turn::settle::CUT_SHORT;

use crate::{
    contract::{Abort, Engine, EngineDescription, Report, RunRequest, Work},
    secret::Secret,
    session,
    start::start,
};
use exchange::Provider;
use guildhall_binding::Price;
use http::Target;
use std::{path::PathBuf, sync::Arc, time::Duration};
use transcript::Conversations;

/// Tokens of a conversation that are sent with each ask, as the transcript estimates them.
pub const TRANSCRIPT_TOKENS: usize = 24_000;

/// What a native engine is made of.
pub struct NativeParts {
    /// The binding's session folder; each route has a folder in it.
    pub sessions_folder: PathBuf,
    /// The context files' text, in order.
    pub context: String,
    /// Which interface the provider speaks.
    pub api: Api,
    /// What the provider is called in records.
    pub provider: Option<String>,
    /// The provider's base URL: https, or http on loopback.
    pub base_url: String,
    /// The model's name at the provider; absent only on loopback, where a server may have just one.
    pub model: Option<String>,
    /// How hard the model should think, in the provider's words.
    pub thinking: Option<String>,
    /// The key; absent only on loopback.
    pub key: Option<Secret>,
    /// What tokens cost; absent: cost is not counted.
    pub price: Option<Price>,
    /// How long an idle route's conversation stays in memory, and an idle connection open, where that
    /// is less than a minute.
    pub idle: Duration,
    /// How long is waited for what.
    pub timing: Timing,
    /// Tokens of the conversation that are sent with each ask: [`TRANSCRIPT_TOKENS`] by default.
    pub transcript_tokens: usize,
}

/// Why a native engine cannot be made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NativeError {
    /// The base URL.
    #[error(transparent)]
    BaseUrl(#[from] BadBaseUrl),
    /// No key for a provider that is not on this machine.
    #[error("a provider that is not on this machine needs a key: keyFile or keyEnv")]
    NoKey,
    /// No model for a provider that is not on this machine.
    #[error("a provider that is not on this machine needs a model")]
    NoModel,
    /// The interface has no such word.
    #[error("thinking has to be a number of tokens, 1024 at least, with this provider")]
    Thinking,
}

/// What each turn needs of the engine.
struct Settings {
    conversations: Arc<Conversations>,
    context: String,
    provider: Provider,
    model: String,
    thinking: Option<String>,
    price: Option<Price>,
    transcript_tokens: usize,
}

/// The engine that calls a provider's API.
pub struct Native {
    settings: Arc<Settings>,
    description: EngineDescription,
}

impl Native {
    /// Makes one; nothing is opened and nothing is sent yet.
    ///
    /// # Errors
    /// [`NativeError`].
    pub fn new(parts: NativeParts) -> Result<Self, NativeError> {
        let target = Target::parse(&parts.base_url, parts.idle)?;
        if !target.is_loopback() && parts.key.is_none() {
            return Err(NativeError::NoKey);
        }
        if !target.is_loopback() && parts.model.is_none() {
            return Err(NativeError::NoModel);
        }
        if let (Api::Anthropic, Some(thinking)) = (parts.api, &parts.thinking)
            && anthropic::thinking_tokens(thinking).is_none()
        {
            return Err(NativeError::Thinking);
        }
        let description = EngineDescription {
            kind: "native".to_owned(),
            provider: parts.provider,
            model: parts.model.clone(),
        };
        let settings = Settings {
            conversations: Arc::new(Conversations::new(parts.sessions_folder, parts.idle)),
            context: parts.context,
            provider: Provider {
                api: parts.api,
                target,
                key: parts.key,
                timing: parts.timing,
            },
            // A server with one model takes any name.
            model: parts.model.unwrap_or_else(|| "default".to_owned()),
            thinking: parts.thinking,
            price: parts.price,
            transcript_tokens: parts.transcript_tokens,
        };
        Ok(Self {
            settings: Arc::new(settings),
            description,
        })
    }
}

impl Engine for Native {
    fn describe(&self) -> EngineDescription {
        self.description.clone()
    }

    /// Looks at this machine only: a provider that is down is no reason not to start, and asking it
    /// anything may cost.
    fn check<'a>(&'a self) -> Work<'a, Result<(), String>> {
        let sessions = self.settings.conversations.folder().to_owned();
        Box::pin(session::usable(sessions))
    }

    fn run(&self, request: RunRequest, report: Report) -> Box<dyn Abort> {
        let settings = Arc::clone(&self.settings);
        start(report, |signs| turn::answer(signs, request, settings))
    }
}
