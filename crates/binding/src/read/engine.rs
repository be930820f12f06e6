//! The engine, and every other place where a model is named.
//!
//! In: an object with a kind. Out: settings of which each one has an effect. Never: a key in the
//! file itself, two sources of one key, a setting that the kind would pass over in silence.

use super::key_path;
use crate::{
    bounds::{ARGUMENT_MAX_CHARS, COMMAND_MAX, IDLE_SECONDS, LABEL_MAX_CHARS, USD_PER_MTOK_MAX},
    fault::FaultCode,
    policy::{EngineConfig, EngineKind, Price},
    url::{self, CheckedUrl, Reach, UrlShape},
    walk::{Fields, Place, all},
};
use std::{path::PathBuf, time::Duration};

pub(super) const KINDS: [(&str, EngineKind); 4] = [
    ("practice", EngineKind::Practice),
    ("native", EngineKind::Native),
    ("pi", EngineKind::Pi),
    ("acp", EngineKind::Acp),
];

pub(super) fn engine(place: &Place<'_>) -> Option<EngineConfig> {
    let mut fields = place.object()?;
    let kind = fields.must("kind", |place| place.choice(&KINDS));
    let model = model_source(&mut fields);
    let thinking = fields.may("thinking", |place| place.line(LABEL_MAX_CHARS));
    let command = fields.or("command", Vec::new(), command);
    let idle = fields.whole("idleSeconds", IDLE_SECONDS);
    let price = fields.may("price", price);
    let fits = kind.and_then(|kind| fits(&mut fields, kind));
    let rules = match kind {
        Some(EngineKind::Native) => model.complete(&fields),
        Some(EngineKind::Practice | EngineKind::Pi | EngineKind::Acp) | None => {
            model.one_key(&fields)
        }
    };
    fields.end();
    let ((), ()) = (fits?, rules?);
    Some(EngineConfig {
        kind: kind?,
        provider: model.provider?,
        model: model.model?,
        thinking: thinking?,
        base_url: model.base_url?.map(|url| url.text),
        key_file: model.key_file?,
        key_env: model.key_env?,
        command: command?,
        idle: Duration::from_secs(idle?),
        price: price?,
    })
}

fn price(place: &Place<'_>) -> Option<Price> {
    let usd = |place: &Place<'_>| place.real(0.0..=USD_PER_MTOK_MAX).map(micro_usd);
    let mut fields = place.object()?;
    let input = fields.must("inputPerMTok", usd);
    let output = fields.must("outputPerMTok", usd);
    let cached = fields.may("cachedInputPerMTok", usd);
    fields.end();
    Some(Price {
        input_micro_usd: input?,
        output_micro_usd: output?,
        cached_input_micro_usd: cached?,
    })
}

/// Millionths of a dollar, to the nearest.
pub(super) fn micro_usd(usd: f64) -> u64 {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "each range that is checked before is not negative and far below 2^63 millionths"
    )]
    let micro = (usd * 1_000_000.0).round() as u64;
    micro
}

const SAYS_ITS_COST: &str = "nothing: an agent says itself what it costs";

/// Settings that a kind does not use are refused: they would be passed over in silence.
fn fits(fields: &mut Fields<'_>, kind: EngineKind) -> Option<()> {
    const MODEL: [&str; 6] = [
        "provider", "model", "thinking", "baseUrl", "keyFile", "keyEnv",
    ];
    let mut clean = Some(());
    let mut refuse = |key, allowed: &str| {
        if let Some(place) = fields.get(key) {
            clean = place.hidden().fault(FaultCode::Conflict, allowed);
        }
    };
    match kind {
        EngineKind::Practice => {
            let allowed = "nothing: the practice engine has no model and no child process";
            MODEL.into_iter().for_each(|key| refuse(key, allowed));
            refuse("command", allowed);
            refuse("price", allowed);
        }
        EngineKind::Native => refuse(
            "command",
            "nothing: the native engine starts no child process",
        ),
        EngineKind::Pi => {}
        EngineKind::Acp => refuse("price", SAYS_ITS_COST),
    }
    if kind == EngineKind::Acp && fields.get("command").is_none() {
        let allowed = "the agent's program and arguments: kind \"acp\" needs them";
        return fields.absent("command", FaultCode::Needed, allowed);
    }
    clean
}

fn command(place: &Place<'_>) -> Option<Vec<String>> {
    let places = place
        .clone()
        .hidden()
        .list(1..=COMMAND_MAX, "texts: a program and its arguments")?;
    let command = all(&places, |place| {
        let allowed = format!("at most {ARGUMENT_MAX_CHARS} characters without control characters");
        place.parsed(&allowed, |text| {
            let fits = text.chars().count() <= ARGUMENT_MAX_CHARS;
            (fits && !text.chars().any(char::is_control)).then(|| text.to_owned())
        })
    })?;
    let program = command.first().map_or("", String::as_str);
    let bare = !program.trim().is_empty() && !program.contains('/');
    if bare || crate::paths::absolute(program).is_some() {
        return Some(command);
    }
    let allowed = "a program's absolute path, or its bare name to be found on PATH";
    places[0].fault(FaultCode::BadValue, allowed)
}

/// Where a model is and what opens it; each `None` outside is a fault.
pub(super) struct ModelSource {
    provider: Option<Option<String>>,
    model: Option<Option<String>>,
    base_url: Option<Option<CheckedUrl>>,
    key_file: Option<Option<PathBuf>>,
    key_env: Option<Option<String>>,
}

pub(super) fn model_source(fields: &mut Fields<'_>) -> ModelSource {
    ModelSource {
        provider: fields.may("provider", |place| place.line(LABEL_MAX_CHARS)),
        model: fields.may("model", |place| place.line(LABEL_MAX_CHARS)),
        base_url: fields.may("baseUrl", |place| {
            place.parsed(url::BASE_ALLOWED, |text| url::check(text, UrlShape::Base))
        }),
        key_file: fields.may("keyFile", key_path),
        key_env: fields.may("keyEnv", |place| {
            let allowed = "an environment variable's name: A-Z, a-z, 0-9 and _, no digit first";
            place
                .clone()
                .hidden()
                .parsed(allowed, |text| is_variable(text).then(|| text.to_owned()))
        }),
    }
}

fn is_variable(text: &str) -> bool {
    let first = text.bytes().next();
    first.is_some_and(|b| b.is_ascii_alphabetic() || b == b'_')
        && text.len() <= LABEL_MAX_CHARS
        && text.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
}

impl ModelSource {
    /// At most one source of the key.
    fn one_key(&self, fields: &Fields<'_>) -> Option<()> {
        match (&self.key_file, &self.key_env) {
            (Some(Some(_)), Some(Some(_))) => fields.present(
                "keyEnv",
                FaultCode::Conflict,
                "nothing beside `keyFile`: a key has one source",
            ),
            _ => Some(()),
        }
    }

    /// Everything that is needed to call a model. What is written and wrong has its own fault and
    /// is not asked for again.
    pub(super) fn complete(&self, fields: &Fields<'_>) -> Option<()> {
        let one_key = self.one_key(fields);
        let absent = |key, allowed| fields.absent(key, FaultCode::Needed, allowed);
        let model = match &self.model {
            Some(None) => absent("model", "the model's name at the provider"),
            Some(Some(_)) | None => Some(()),
        };
        let place = match (&self.base_url, &self.provider) {
            (Some(None), Some(None)) => absent("baseUrl", "a base URL, or a `provider`"),
            _ => Some(()),
        };
        let here =
            |url: &Option<CheckedUrl>| url.as_ref().is_some_and(|url| url.reach == Reach::Loopback);
        let on_loopback = self.base_url.as_ref().is_none_or(here);
        let key = match (&self.key_file, &self.key_env) {
            (Some(None), Some(None)) if !on_loopback => absent(
                "keyFile",
                "a key's file, or `keyEnv`; only on loopback is none needed",
            ),
            _ => Some(()),
        };
        let ((), (), ()) = (one_key?, model?, place?);
        key
    }
}
