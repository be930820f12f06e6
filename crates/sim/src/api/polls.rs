//! Polls, as far as they show up in messages.
//!
//! In: `poll` of a body. Out: the poll as messages carry it.
//! Never: counts a vote.

use serde_json::{Value, json};

use super::form::Form;
use crate::clock::Moment;

/// Most answers of a poll. Source: Discord API docs, Poll Create Request.
const ANSWERS_MAX_COUNT: usize = 10;
const HOUR_MS: u64 = 3_600_000;

/// Reads the poll of a form.
pub(crate) fn read(form: &mut Form, now: Moment) -> Option<Value> {
    let wish = form.get("poll")?.clone();
    let answers = wish["answers"].as_array().cloned().unwrap_or_default();
    if answers.is_empty() || answers.len() > ANSWERS_MAX_COUNT {
        let text = format!("Must be between 1 and {ANSWERS_MAX_COUNT} in length.");
        form.errors
            .add(&["poll", "answers"], "BASE_TYPE_BAD_LENGTH", &text);
    }
    if wish["question"]["text"].as_str().is_none_or(str::is_empty) {
        form.errors.add(
            &["poll", "question"],
            "BASE_TYPE_REQUIRED",
            "This field is required",
        );
    }
    let answers: Vec<Value> = answers
        .iter()
        .enumerate()
        .map(|(index, one)| {
            json!({ "answer_id": index + 1, "poll_media": { "text": one["poll_media"]["text"] } })
        })
        .collect();
    let hours = wish["duration"].as_u64().unwrap_or(24);
    Some(json!({
        "question": { "text": wish["question"]["text"] },
        "answers": answers,
        "expiry": now.plus_ms(hours.saturating_mul(HOUR_MS)).to_string(),
        "allow_multiselect": wish["allow_multiselect"] == json!(true),
        "layout_type": 1,
        "results": { "is_finalized": false, "answer_counts": [] },
    }))
}
