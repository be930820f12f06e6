//! Answers and their headers.
//!
//! In: a status and a body. Out: what goes over the wire.
//! Never: a charset on JSON (one client compares the whole header), a scope on a success.

use serde_json::{Value, json};

use crate::error::ApiError;
use crate::world::LimitScope;
use crate::world::limits::Standing;

/// One answer.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) headers: Vec<(&'static str, String)>,
    pub(crate) body: Body,
}

/// An answer's body.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Body {
    Empty,
    Json(String),
    Html(String),
}

/// What every answer of the real service carries. discord.py takes a 429 without it for a ban.
const VIA: (&str, &str) = ("Via", "1.1 google");

impl Answer {
    pub(crate) fn json(status: u16, body: &Value) -> Self {
        Self {
            status,
            headers: via(),
            body: Body::Json(body.to_string()),
        }
    }

    pub(crate) fn ok(body: &Value) -> Self {
        Self::json(200, body)
    }

    pub(crate) fn empty(status: u16) -> Self {
        Self {
            status,
            headers: via(),
            body: Body::Empty,
        }
    }

    /// A page by something in between, which adds no header of Discord's.
    pub(crate) fn html(status: u16, page: String) -> Self {
        Self {
            status,
            headers: Vec::new(),
            body: Body::Html(page),
        }
    }

    pub(crate) fn refusal(error: &ApiError) -> Self {
        let answer = Self::json(error.status, &error.body());
        if error.status == 429 {
            // 30046 is no rate limit of the route; it says nothing but when to come again.
            let mut body = error.body();
            body["retry_after"] = json!(OLD_EDIT_RETRY_S);
            body["global"] = json!(false);
            return Self::json(429, &body)
                .with("Retry-After", OLD_EDIT_RETRY_S.to_string())
                .with("X-RateLimit-Scope", "user".to_owned());
        }
        answer
    }

    /// A 429 of any scope. A shared one carries bucket headers that still look fine.
    pub(crate) fn too_many(scope: LimitScope, retry_after_ms: u64) -> Self {
        let seconds = retry_after_ms.div_ceil(1_000).max(1).to_string();
        let name = match scope {
            LimitScope::User => "user",
            LimitScope::Shared => "shared",
            LimitScope::Global => "global",
            LimitScope::Cloudflare => {
                return Self::html(429, BAN_PAGE.to_owned()).with("Retry-After", seconds);
            }
        };
        let global = scope == LimitScope::Global;
        let message = match scope {
            LimitScope::Shared => "The resource is being rate limited.",
            LimitScope::User | LimitScope::Global | LimitScope::Cloudflare => {
                "You are being rate limited."
            }
        };
        let body = json!({
            "message": message, "retry_after": in_seconds(retry_after_ms), "global": global,
            "code": 0,
        });
        let answer = Self::json(429, &body)
            .with("Retry-After", seconds)
            .with("X-RateLimit-Scope", name.to_owned());
        match scope {
            LimitScope::Global => answer.with("X-RateLimit-Global", "true".to_owned()),
            LimitScope::Shared => answer
                .with("X-RateLimit-Limit", "5".to_owned())
                .with("X-RateLimit-Remaining", "4".to_owned())
                .with("X-RateLimit-Reset-After", "0.500".to_owned())
                .with("X-RateLimit-Bucket", bucket_hash("shared")),
            LimitScope::User | LimitScope::Cloudflare => answer,
        }
    }

    /// The 429 of an empty bucket.
    pub(crate) fn bucket_empty(standing: &Standing) -> Self {
        Self::too_many(LimitScope::User, standing.reset_after_ms).with_bucket(standing)
    }

    pub(crate) fn with(mut self, name: &'static str, value: String) -> Self {
        self.headers.push((name, value));
        self
    }

    /// Adds the bucket's headers.
    pub(crate) fn with_bucket(self, standing: &Standing) -> Self {
        let reset = standing.reset_at.as_ms();
        self.with("X-RateLimit-Limit", standing.bucket.limit.to_string())
            .with("X-RateLimit-Remaining", standing.remaining.to_string())
            .with(
                "X-RateLimit-Reset",
                format!("{}.{:03}", reset / 1_000, reset % 1_000),
            )
            .with(
                "X-RateLimit-Reset-After",
                format!("{:.3}", in_seconds(standing.reset_after_ms)),
            )
            .with("X-RateLimit-Bucket", bucket_hash(standing.bucket.name))
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let found = self
            .headers
            .iter()
            .find(|(key, _)| key.eq_ignore_ascii_case(name));
        found.map(|(_, value)| value.as_str())
    }

    /// Whether it counts for the ban: 401, 403, and every 429 but a shared one.
    pub(crate) fn is_invalid_request(&self) -> bool {
        match self.status {
            401 | 403 => true,
            429 => self.header("X-RateLimit-Scope") != Some("shared"),
            _ => false,
        }
    }

    pub(crate) fn logged_body(&self) -> String {
        match &self.body {
            Body::Empty => String::new(),
            Body::Json(text) | Body::Html(text) => text.clone(),
        }
    }
}

/// Seconds that a refused edit of an old message is told to wait.
const OLD_EDIT_RETRY_S: u32 = 60;

/// Stands for Cloudflare's page; only its type matters to a client.
const BAN_PAGE: &str = "<!doctype html><html><head><title>Access denied</title></head>\
<body><h1>Error 1015</h1><p>You are being rate limited.</p></body></html>";

fn via() -> Vec<(&'static str, String)> {
    vec![(VIA.0, VIA.1.to_owned())]
}

fn in_seconds(ms: u64) -> f64 {
    std::time::Duration::from_millis(ms).as_secs_f64()
}

/// A stable hexadecimal name for a bucket (FNV-1a, twice).
fn bucket_hash(name: &str) -> String {
    let fnv = |start: u64| {
        name.bytes().fold(start, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
        })
    };
    format!(
        "{:016x}{:016x}",
        fnv(0xcbf2_9ce4_8422_2325),
        fnv(0x9ae1_6a3b_2f90_404f)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kind_of_429_has_its_own_headers() {
        let cases = [
            (LimitScope::User, Some("user"), None, true, true),
            (LimitScope::Shared, Some("shared"), None, true, false),
            (LimitScope::Global, Some("global"), Some("true"), true, true),
            (LimitScope::Cloudflare, None, None, false, true),
        ];
        for (scope, name, global, via, invalid) in cases {
            let answer = Answer::too_many(scope, 1_500);
            assert_eq!(answer.header("X-RateLimit-Scope"), name, "{scope:?}");
            assert_eq!(answer.header("X-RateLimit-Global"), global, "{scope:?}");
            assert_eq!(answer.header("Via").is_some(), via, "{scope:?}");
            assert_eq!(answer.header("Retry-After"), Some("2"), "{scope:?}");
            assert_eq!(answer.is_invalid_request(), invalid, "{scope:?}");
        }
    }
}
