//! What can go wrong with a provider, and what is done about it.
//!
//! In: a status, an error body, a broken connection, how far the answer got. Out: a problem, then a
//! wait or the run's failure. Never: a provider's own words; they may quote the conversation.

use guildhall_connector::run::RunFailure;
use serde_json::Value;
use std::time::Duration;

/// How often one answer is asked for at most.
pub(super) const ATTEMPTS_MAX: u32 = 5;
/// The first wait; each next one is twice as long.
const WAIT_FIRST: Duration = Duration::from_secs(1);
/// The longest wait of our own.
const WAIT_MAX: Duration = Duration::from_secs(16);
/// The longest wait that a provider may ask for. More than that is not worth a person's patience.
const RETRY_AFTER_MAX: Duration = Duration::from_secs(60);

/// What went wrong with one exchange.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Problem {
    /// No connection: no such host, refused, timed out, TLS failed.
    Unreachable,
    /// The connection ended before the answer did.
    Broken,
    /// Overloaded, limited, or out of order; the provider may say when to come back.
    Busy {
        /// How long it asks us to wait.
        retry_after: Option<Duration>,
    },
    /// The key is missing, wrong, or not good for this.
    Key,
    /// The request is refused, and would be again.
    Refused,
    /// The conversation is longer than the model takes.
    TooMuchContext,
    /// Not of the protocol.
    Rubbish(&'static str),
    /// More text than the product takes.
    TooLong,
    /// Nothing but silence and keep-alives.
    Silent,
}

/// How far an answer got.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shown {
    /// No text and no tool call of it has come.
    Nothing,
    /// Some has: asking again might say or do it twice.
    Something,
}

/// What to do next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Next {
    /// Ask again after this long.
    Again(Duration),
    /// Ask again at once with less of the conversation.
    Shorter,
    /// Give up.
    GiveUp(RunFailure),
}

impl Problem {
    /// What to do after the `attempt`th try, counted from 1. `jitter` is from 0 to 1 and shortens
    /// a wait of our own by up to a quarter, so that many seats do not come back together.
    pub(super) fn next(&self, attempt: u32, shown: Shown, jitter: f64) -> Next {
        let give_up = Next::GiveUp(self.failure());
        if shown == Shown::Something || attempt >= ATTEMPTS_MAX {
            return give_up;
        }
        let own = WAIT_FIRST
            .saturating_mul(1 << (attempt - 1).min(8))
            .min(WAIT_MAX)
            .mul_f64(1.0 - jitter.clamp(0.0, 1.0) / 4.0);
        match self {
            Self::Unreachable | Self::Broken | Self::Busy { retry_after: None } => Next::Again(own),
            Self::Busy {
                retry_after: Some(wait),
            } if *wait > RETRY_AFTER_MAX => give_up,
            Self::Busy {
                retry_after: Some(wait),
            } => Next::Again((*wait).max(own)),
            Self::TooMuchContext => Next::Shorter,
            Self::Key | Self::Refused | Self::Rubbish(_) | Self::TooLong | Self::Silent => give_up,
        }
    }

    /// The failure that the run ends with.
    pub(super) const fn failure(&self) -> RunFailure {
        match self {
            Self::Unreachable | Self::Broken => RunFailure::ProviderUnreachable,
            Self::Busy { .. } => RunFailure::ProviderBusy,
            Self::Key => RunFailure::ProviderKey,
            Self::Refused | Self::TooMuchContext => RunFailure::ProviderRefused,
            Self::Rubbish(_) => RunFailure::EngineRubbish,
            Self::TooLong => RunFailure::TooLong,
            Self::Silent => RunFailure::TimedOut,
        }
    }

    /// A word for the log.
    pub(super) const fn word(&self) -> &'static str {
        match self {
            Self::Unreachable => "unreachable",
            Self::Broken => "broken",
            Self::Busy { .. } => "busy",
            Self::Key => "key",
            Self::Refused => "refused",
            Self::TooMuchContext => "too-much-context",
            Self::Rubbish(what) => what,
            Self::TooLong => "too-long",
            Self::Silent => "silent",
        }
    }

    /// Reads a status that is not success, and its body where there is one.
    pub(super) fn of_status(status: u16, retry_after: Option<Duration>, body: &[u8]) -> Self {
        let error = serde_json::from_slice::<Value>(body).unwrap_or_default();
        let marks = Marks::of(&error);
        match status {
            401 | 403 => Self::Key,
            400 | 413 | 422 if marks.too_much_context() => Self::TooMuchContext,
            429 if marks.out_of_money() => Self::Refused,
            408 | 409 | 425 | 429 | 500.. => Self::Busy { retry_after },
            // A redirect is refused as well: the key must not go to another place.
            _ => Self::Refused,
        }
    }

    /// Reads an error that came in place of an answer or in the middle of one.
    pub(super) fn of_error(error: &Value) -> Self {
        let marks = Marks::of(error);
        if marks.too_much_context() {
            Self::TooMuchContext
        } else if marks.out_of_money() {
            Self::Refused
        } else if marks.has(&[
            "authentication",
            "permission",
            "invalid_api_key",
            "401",
            "403",
        ]) {
            Self::Key
        } else if marks.has(&["invalid_request", "not_found", "400", "404", "422"]) {
            Self::Refused
        } else {
            // Overload, rate limits, server errors, and what nobody wrote down.
            Self::Busy { retry_after: None }
        }
    }
}

/// The type, code and message of an error body, in lower case. Only compared, never shown.
struct Marks {
    kind: String,
    message: String,
}

impl Marks {
    fn of(body: &Value) -> Self {
        let nested = &body["error"];
        let error = if nested.is_null() { body } else { nested };
        let word = |key: &str| match &error[key] {
            Value::String(text) => text.to_lowercase(),
            Value::Number(number) => number.to_string(),
            Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => String::new(),
        };
        Self {
            kind: format!("{} {}", word("type"), word("code")),
            message: match error.as_str() {
                Some(text) => text.to_lowercase(),
                None => word("message"),
            },
        }
    }

    fn has(&self, words: &[&str]) -> bool {
        words.iter().any(|word| self.kind.contains(word))
    }

    fn too_much_context(&self) -> bool {
        let said = [
            "maximum context length",
            "prompt is too long",
            "exceeds the available context",
            "context window",
            "context size",
        ];
        self.has(&["context_length_exceeded", "exceed_context_size"])
            || said.iter().any(|words| self.message.contains(words))
    }

    fn out_of_money(&self) -> bool {
        self.has(&["insufficient_quota", "billing"])
    }
}

/// Reads when to come back. Whole seconds, milliseconds of a header of its own, or a date, which
/// is read against the answer's own `Date`, so that no clock is needed.
pub(super) fn retry_after(header: impl Fn(&str) -> Option<String>) -> Option<Duration> {
    let millis = header("retry-after-ms").and_then(|ms| ms.trim().parse::<u64>().ok());
    if let Some(ms) = millis {
        return Some(Duration::from_millis(ms));
    }
    let text = header("retry-after")?;
    let text = text.trim();
    if let Ok(seconds) = text.parse::<f64>() {
        return Duration::try_from_secs_f64(seconds).ok();
    }
    let at = jiff::fmt::rfc2822::parse(text).ok()?.timestamp();
    let now = jiff::fmt::rfc2822::parse(header("date")?.trim())
        .ok()?
        .timestamp();
    Some(at.duration_since(now).try_into().unwrap_or_default())
}

#[cfg(test)]
mod tests;
