//! What an answer means: done, refused, to be waited for, or unknown.
//!
//! In: status, headers, body. Out: a reading for the limiter and a verdict for the caller. Never: a
//! body parsed as JSON that does not say it is JSON, a word of a body in the result.

use super::{
    limiter::{Limited, Reading, Scope},
    outcome::{Reason, Refused, UnknownWhy},
};
use crate::{
    http::Answer,
    wire::{Field, field, objects::Failure},
};
use serde::Deserialize;
use std::collections::BTreeMap;

/// How long a 429 without any number holds the route back, in milliseconds.
const UNSAID_WAIT_MS: u64 = 5_000;
/// How long a block at the edge network holds everything back that did not say, in milliseconds.
const EDGE_WAIT_MS: u64 = 60_000;
/// How long the edge network's own refusal holds everything back, in milliseconds.
const EDGE_REFUSAL_WAIT_MS: u64 = 600_000;

/// What a caller may do with an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// Status 2xx: read the body.
    Success,
    /// A final no.
    Refused(Refused),
    /// Nothing was done; the limiter knows how long to wait.
    Wait,
    /// It may have been done.
    Unknown(UnknownWhy),
}

/// Reads limits and verdict.
pub(crate) fn read(answer: &Answer) -> (Reading<'_>, Verdict) {
    let failure = failure(answer);
    let code = failure.code.number().unwrap_or(0);
    let limited = limited(answer, &failure, code);
    let reading = Reading {
        status: answer.status,
        bucket: answer.header("x-ratelimit-bucket"),
        remaining: answer
            .header("x-ratelimit-remaining")
            .and_then(|text| text.parse().ok()),
        reset_after_ms: answer
            .header("x-ratelimit-reset-after")
            .and_then(milliseconds),
        limited,
    };
    let verdict = match answer.status {
        200..=299 => Verdict::Success,
        429 => Verdict::Wait,
        400..=499 if is_a_wait(code) => Verdict::Wait,
        400..=499 => Verdict::Refused(Refused {
            status: answer.status,
            code,
            reason: reason(answer, code, &failure),
        }),
        500..=599 => Verdict::Unknown(UnknownWhy::Server(answer.status)),
        other => Verdict::Unknown(UnknownWhy::OddStatus(other)),
    };
    (reading, verdict)
}

/// The body as a field, where the answer says that it is JSON.
pub(crate) fn json(answer: &Answer) -> Option<Field<'_>> {
    if is_json(answer) {
        field::read(answer.bytes())
    } else {
        None
    }
}

fn is_json(answer: &Answer) -> bool {
    let media = answer.header("content-type").unwrap_or_default();
    let media = media.split(';').next().unwrap_or_default().trim();
    media.eq_ignore_ascii_case("application/json")
}

fn failure(answer: &Answer) -> Failure<'_> {
    if (200..300).contains(&answer.status) {
        return Failure::default();
    }
    json(answer).and_then(Field::object).unwrap_or_default()
}

fn limited(answer: &Answer, failure: &Failure<'_>, code: u64) -> Option<Limited> {
    let header_ms = answer.header("retry-after").and_then(milliseconds);
    if is_edge_refusal(answer, code) {
        return Some(Limited {
            scope: Scope::Edge,
            wait_ms: header_ms.unwrap_or(EDGE_REFUSAL_WAIT_MS),
        });
    }
    if answer.status != 429 && !is_a_wait(code) {
        return None;
    }
    // A page of HTML is the edge network speaking, not Discord's API: it is about this address.
    if answer.status == 429 && !is_json(answer) {
        return Some(Limited {
            scope: Scope::Edge,
            wait_ms: header_ms.unwrap_or(EDGE_WAIT_MS),
        });
    }
    let global = failure.global.is_true()
        || answer
            .header("x-ratelimit-global")
            .is_some_and(|text| text.eq_ignore_ascii_case("true"));
    let scope = match answer.header("x-ratelimit-scope") {
        _ if global => Scope::Global,
        Some("global") => Scope::Global,
        Some("shared") => Scope::Shared,
        Some(_) | None => Scope::User,
    };
    let body_ms = failure.retry_after.float().and_then(from_seconds);
    let reset_ms = answer
        .header("x-ratelimit-reset-after")
        .and_then(milliseconds);
    let wait_ms = body_ms
        .or(header_ms)
        .or(reset_ms.filter(|_| scope == Scope::User));
    Some(Limited {
        scope,
        wait_ms: wait_ms.unwrap_or(UNSAID_WAIT_MS),
    })
}

fn milliseconds(text: &str) -> Option<u64> {
    text.trim().parse().ok().and_then(from_seconds)
}

/// Seconds to milliseconds, rounded up; what is negative or not finite is no wait that was told.
fn from_seconds(seconds: f64) -> Option<u64> {
    let fits = seconds.is_finite() && (0.0..1e9).contains(&seconds);
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "checked to be positive and below a billion seconds"
    )]
    fits.then(|| (seconds * 1_000.0).ceil() as u64)
}

/// Codes that ask for a wait whatever the status: slow mode, write limits, old edits, overload.
fn is_a_wait(code: u64) -> bool {
    matches!(code, 20_016 | 20_028 | 20_029 | 30_046 | 110_000 | 130_000)
}

fn is_edge_refusal(answer: &Answer, code: u64) -> bool {
    code == 40_333 || (answer.status == 403 && !is_json(answer) && !answer.bytes().is_empty())
}

fn reason(answer: &Answer, code: u64, failure: &Failure<'_>) -> Reason {
    // The token of an interaction that is over, not the bot's: it comes with 401 all the same.
    if code == 50_027 {
        return Reason::InteractionOver;
    }
    if answer.status == 401 {
        return Reason::Unauthorized;
    }
    if is_edge_refusal(answer, code) {
        return Reason::Edge;
    }
    match code {
        10_003 => Reason::UnknownChannel,
        10_008 => Reason::UnknownMessage,
        10_004 | 10_007 | 10_011 | 10_013 => Reason::UnknownOther,
        10_014 | 30_010 => Reason::Emoji,
        10_062 | 40_060 => Reason::InteractionOver,
        40_001 | 50_014 => Reason::Unauthorized,
        40_005 | 50_045 => Reason::TooLong,
        40_058 => Reason::ForumNeedsPost,
        50_001 => Reason::NoAccess,
        50_013 => Reason::NoPermission,
        50_006 => Reason::Empty,
        50_007 | 50_278 | 90_001 => Reason::Blocked,
        50_035 => form_fault(failure.errors),
        50_083 => Reason::Archived,
        160_002 => Reason::ReplyNeedsHistory,
        160_004 | 160_006 => Reason::ThreadExists,
        160_005 => Reason::Locked,
        200_000 | 240_000 => Reason::Moderated,
        _ => match answer.status {
            404 => Reason::UnknownOther,
            403 => Reason::NoPermission,
            _ => Reason::Other,
        },
    }
}

/// A level of the nested `errors` object: field names, indices, and `_errors` with codes.
#[derive(Default, Deserialize)]
#[serde(transparent)]
struct Level<'a>(#[serde(borrow)] BTreeMap<std::borrow::Cow<'a, str>, Field<'a>>);

/// Levels that are looked into; Discord's forms are shallower.
const FORM_DEPTH: usize = 8;

fn form_fault(errors: Field<'_>) -> Reason {
    let codes = form_codes(errors, FORM_DEPTH);
    let has = |wanted: &str| codes.iter().any(|code| code == wanted);
    if has("MESSAGE_REFERENCE_UNKNOWN_MESSAGE") || has("REPLIES_UNKNOWN_MESSAGE") {
        Reason::UnknownReference
    } else if has("BASE_TYPE_MAX_LENGTH") {
        Reason::TooLong
    } else {
        Reason::BadForm
    }
}

fn form_codes(errors: Field<'_>, depth: usize) -> Vec<String> {
    #[derive(Default, Deserialize)]
    #[serde(default)]
    struct Fault<'a> {
        #[serde(borrow)]
        code: Field<'a>,
    }
    let Some(Level(level)) = errors.object::<Level<'_>>() else {
        return Vec::new();
    };
    let mut codes = Vec::new();
    for (name, below) in level {
        if name == "_errors" {
            let faults = below.objects::<Fault<'_>>();
            codes.extend(faults.iter().filter_map(|f| f.code.text().map(Into::into)));
        } else if depth > 0 {
            codes.extend(form_codes(below, depth - 1));
        }
    }
    codes
}

#[cfg(test)]
mod tests;
