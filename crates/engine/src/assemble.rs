//! From a binding's engine settings to an engine.
//!
//! In: the checked settings, and what only `main` can read. Out: an engine, or one plain sentence
//! why there is none. Never: the environment, a network.

use crate::{
    contract::Engine,
    native::{Api, Native, NativeError, NativeParts, TRANSCRIPT_TOKENS, Timing},
    pi::{Pi, PiParts},
    practice::{Practice, PracticeParts},
    secret::{Secret, SecretError},
};
use guildhall_binding::{EngineConfig, EngineKind};
use std::{ffi::OsString, path::PathBuf, sync::Arc, time::Duration};

/// What an engine is made of beside the binding's settings.
pub struct EngineParts {
    /// The binding's session folder, `sessions/discord-<binding>`; each route has a folder in it.
    pub sessions_folder: PathBuf,
    /// The context files' text, in order; the engine adds the fixed Discord part.
    pub system_prompt: String,
    /// The value of the environment variable that `engine.keyEnv` names, where it names one.
    pub key_env_value: Option<Secret>,
    /// How long the practice engine pretends to think. Zero means not at all.
    pub practice_delay: Duration,
    /// How long a provider is waited for.
    pub timing: Timing,
    /// The value of `PATH`, for an engine that is a program.
    pub search_path: Option<OsString>,
    /// Whether turns get tools at all, for an engine that proves them at its start.
    pub has_tools: bool,
}

impl EngineParts {
    /// Parts with nothing but a session folder.
    #[must_use]
    pub fn new(sessions_folder: PathBuf) -> Self {
        Self {
            sessions_folder,
            system_prompt: String::new(),
            key_env_value: None,
            practice_delay: Duration::ZERO,
            timing: Timing::default(),
            search_path: None,
            has_tools: true,
        }
    }
}

/// Why there is no engine. All of them are faults of the binding or of what it names.
#[derive(Debug, thiserror::Error)]
pub enum EngineError {
    /// A kind that this build cannot serve.
    #[error("the engine {kind} is not built yet; practice, native and pi are")]
    NotBuiltYet {
        /// The kind, as the binding spells it.
        kind: &'static str,
    },
    /// A provider whose place nobody knows.
    #[error(
        "engine.baseUrl is needed: only {} are known without one",
        known_providers()
    )]
    NoBaseUrl,
    /// The variable is not set.
    #[error("the environment variable {name} that engine.keyEnv names is not set")]
    KeyEnv {
        /// Its name.
        name: String,
    },
    /// The key file.
    #[error("engine.keyFile cannot be used")]
    KeyFile(#[from] SecretError),
    /// No model for pi.
    #[error("pi needs engine.model, and engine.provider or engine.baseUrl")]
    PiModel,
    /// The settings do not fit the provider.
    #[error(transparent)]
    Native(#[from] NativeError),
}

/// A provider that needs no base URL.
struct Known {
    name: &'static str,
    api: Api,
    base_url: &'static str,
}

/// Providers that are known by name. Sources: each one's own documentation.
const KNOWN: [Known; 5] = [
    Known {
        name: "openai",
        api: Api::OpenAi,
        base_url: "https://api.openai.com/v1",
    },
    Known {
        name: "anthropic",
        api: Api::Anthropic,
        base_url: "https://api.anthropic.com",
    },
    Known {
        name: "openrouter",
        api: Api::OpenAi,
        base_url: "https://openrouter.ai/api/v1",
    },
    Known {
        name: "llama.cpp",
        api: Api::OpenAi,
        base_url: "http://127.0.0.1:8080/v1",
    },
    Known {
        name: "ollama",
        api: Api::OpenAi,
        base_url: "http://127.0.0.1:11434/v1",
    },
];

fn known_providers() -> String {
    KNOWN.map(|known| known.name).join(", ")
}

/// Makes the engine that a binding asks for. Nothing is sent, and of files only the key is read.
///
/// # Errors
/// [`EngineError`], one sentence for the operator.
pub fn build(config: &EngineConfig, parts: EngineParts) -> Result<Arc<dyn Engine>, EngineError> {
    match config.kind {
        EngineKind::Practice => Ok(Arc::new(Practice::new(PracticeParts {
            sessions_folder: parts.sessions_folder,
            delay: parts.practice_delay,
        }))),
        EngineKind::Native => Ok(Arc::new(native(config, parts)?)),
        EngineKind::Pi => Ok(Arc::new(pi(config, parts)?)),
        EngineKind::Acp => Err(EngineError::NotBuiltYet { kind: "acp" }),
    }
}

fn native(config: &EngineConfig, parts: EngineParts) -> Result<Native, EngineError> {
    let known = config.provider.as_deref().and_then(|name| {
        KNOWN
            .iter()
            .find(|known| known.name.eq_ignore_ascii_case(name))
    });
    let base_url = config
        .base_url
        .clone()
        .or_else(|| known.map(|known| known.base_url.to_owned()))
        .ok_or(EngineError::NoBaseUrl)?;
    let key = key(config, parts.key_env_value)?;
    Ok(Native::new(NativeParts {
        sessions_folder: parts.sessions_folder,
        context: parts.system_prompt,
        api: known.map_or(Api::OpenAi, |known| known.api),
        provider: config.provider.clone(),
        base_url,
        model: config.model.clone(),
        thinking: config.thinking.clone(),
        key,
        price: config.price,
        idle: config.idle,
        timing: parts.timing,
        transcript_tokens: TRANSCRIPT_TOKENS,
    })?)
}

fn key(config: &EngineConfig, value: Option<Secret>) -> Result<Option<Secret>, EngineError> {
    Ok(match (&config.key_file, &config.key_env, value) {
        (Some(path), _, _) => Some(Secret::read(path)?),
        (None, Some(name), None) => return Err(EngineError::KeyEnv { name: name.clone() }),
        (None, Some(_), value) => value,
        (None, None, _) => None,
    })
}

/// How long pi may take to start; ten seconds were seen on a busy machine.
const PI_START: Duration = Duration::from_secs(45);

fn pi(config: &EngineConfig, parts: EngineParts) -> Result<Pi, EngineError> {
    let is_named = config.provider.is_some() || config.base_url.is_some();
    let model = config.model.clone().filter(|_| is_named);
    let is_anthropic = config.provider.as_deref() == Some("anthropic");
    Ok(Pi::new(PiParts {
        sessions_folder: parts.sessions_folder,
        context: parts.system_prompt,
        command: config.command.clone(),
        search_path: parts.search_path,
        provider: config.provider.clone(),
        api: if is_anthropic {
            Api::Anthropic
        } else {
            Api::OpenAi
        },
        base_url: config.base_url.clone(),
        model: model.ok_or(EngineError::PiModel)?,
        thinking: config.thinking.clone(),
        key: key(config, parts.key_env_value)?,
        key_file: config.key_file.clone(),
        has_tools: parts.has_tools,
        price: config.price,
        idle: config.idle,
        start: PI_START,
        silence: parts.timing.silence,
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config(kind: EngineKind) -> EngineConfig {
        EngineConfig {
            kind,
            provider: None,
            model: None,
            thinking: None,
            base_url: None,
            key_file: None,
            key_env: None,
            command: Vec::new(),
            idle: Duration::ZERO,
            price: None,
        }
    }

    fn refusal(config: &EngineConfig) -> String {
        let parts = EngineParts::new(PathBuf::from("/nowhere"));
        build(config, parts)
            .err()
            .map_or_else(String::new, |error| error.to_string())
    }

    #[test]
    fn a_binding_gets_the_engine_that_it_names() {
        let practice = build(
            &config(EngineKind::Practice),
            EngineParts::new(PathBuf::from("/nowhere")),
        );
        assert_eq!(
            practice
                .ok()
                .map(|engine| engine.describe().kind)
                .as_deref(),
            Some("practice")
        );
        let local = EngineConfig {
            base_url: Some("http://127.0.0.1:9/v1".to_owned()),
            model: Some("m".to_owned()),
            ..config(EngineKind::Native)
        };
        let native = build(&local, EngineParts::new(PathBuf::from("/nowhere"))).ok();
        let description = native.map(|engine| engine.describe()).expect("an engine");
        assert_eq!(
            (description.kind.as_str(), description.model.as_deref()),
            ("native", Some("m"))
        );
    }

    #[test]
    fn what_is_missing_is_said_in_plain_words() {
        let native = || config(EngineKind::Native);
        let named = |provider: &str| EngineConfig {
            provider: Some(provider.to_owned()),
            ..native()
        };
        let cases = [
            (config(EngineKind::Pi), "pi needs engine.model"),
            (config(EngineKind::Acp), "the engine acp is not built yet"),
            (native(), "engine.baseUrl is needed"),
            (named("somebody"), "openrouter"),
            (named("openai"), "needs a key"),
            (
                EngineConfig {
                    base_url: Some("http://example.test/v1".to_owned()),
                    ..native()
                },
                "https://",
            ),
            (
                EngineConfig {
                    key_env: Some("THE_KEY".to_owned()),
                    ..named("openai")
                },
                "THE_KEY",
            ),
            (
                EngineConfig {
                    key_file: Some(PathBuf::from("/nowhere/key")),
                    ..named("openai")
                },
                "engine.keyFile",
            ),
            (
                EngineConfig {
                    thinking: Some("hard".to_owned()),
                    base_url: Some("http://127.0.0.1:9".to_owned()),
                    ..named("anthropic")
                },
                "thinking",
            ),
        ];
        for (config, want) in cases {
            let said = refusal(&config);
            assert!(said.contains(want), "{said}");
        }
    }
}
