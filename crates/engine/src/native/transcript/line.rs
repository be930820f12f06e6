//! A turn as one line of the route's file.
//!
//! In: what was asked, the steps that were made for it, the answer. Out: the same, cut to what is
//! worth keeping. Never: an id or a thought, which are of use within their turn alone; arguments that
//! are no JSON object.

use super::{Shown, estimate};
use crate::native::api::Step;
use guildhall_tools::Outcome;
use serde::{Deserialize, Serialize};

/// How much of one result is kept, in bytes: enough to know what it was about.
const RESULT_KEPT_BYTES: usize = 4 * 1024;
/// How much of one call's arguments is kept, in bytes.
const ARGUMENTS_KEPT_BYTES: usize = 4 * 1024;

/// One line of the file.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "k", rename_all = "kebab-case")]
pub(super) enum Line {
    /// A turn that came to something.
    Turn(Exchange),
    /// Turns that were compacted away before this line.
    LeftOut {
        /// How many.
        turns: u64,
    },
}

/// One turn.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(in crate::native) struct Exchange {
    /// Its id.
    pub(in crate::native) turn: String,
    /// The envelope and the text.
    pub(in crate::native) asked: String,
    /// The messages of the model that called tools, in order. Lines of before there were tools have
    /// none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(in crate::native) steps: Vec<KeptStep>,
    /// What people were shown last, or a note in its place.
    pub(in crate::native) answered: String,
}

/// One message of the model that called tools.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(in crate::native) struct KeptStep {
    /// What it said before it called.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub(in crate::native) text: String,
    /// Its calls with their results.
    pub(in crate::native) calls: Vec<KeptCall>,
}

/// One call with its result.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(in crate::native) struct KeptCall {
    /// The tool's name, as the model wrote it.
    pub(in crate::native) name: String,
    /// A JSON object as text.
    pub(in crate::native) arguments: String,
    /// How it ended.
    pub(in crate::native) outcome: KeptOutcome,
    /// What it gave, or the refusal.
    pub(in crate::native) result: String,
}

/// How a call ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(in crate::native) enum KeptOutcome {
    /// It was done.
    Done,
    /// It was not done.
    Refused,
    /// It may have been done.
    Unknown,
}

impl From<Outcome> for KeptOutcome {
    fn from(outcome: Outcome) -> Self {
        match outcome {
            Outcome::Done => Self::Done,
            Outcome::Refused => Self::Refused,
            Outcome::Unknown => Self::Unknown,
        }
    }
}

impl From<KeptOutcome> for Outcome {
    fn from(outcome: KeptOutcome) -> Self {
        match outcome {
            KeptOutcome::Done => Self::Done,
            KeptOutcome::Refused => Self::Refused,
            KeptOutcome::Unknown => Self::Unknown,
        }
    }
}

impl From<&Step> for KeptStep {
    fn from(step: &Step) -> Self {
        let calls = step.calls.iter().map(|call| {
            let mut result = call.result.clone();
            cut(&mut result, RESULT_KEPT_BYTES);
            let arguments = call.object().to_string();
            KeptCall {
                name: call.name.clone(),
                arguments: if arguments.len() > ARGUMENTS_KEPT_BYTES {
                    serde_json::json!({"leftOutHere": format!("{} bytes", arguments.len())})
                        .to_string()
                } else {
                    arguments
                },
                outcome: call.outcome.into(),
                result,
            }
        });
        Self {
            text: step.text.clone(),
            calls: calls.collect(),
        }
    }
}

impl Exchange {
    /// Estimated tokens of the turn as it is sent.
    pub(super) fn tokens(&self, shown: Shown) -> usize {
        let around = estimate(&self.asked) + estimate(&self.answered);
        let steps: usize = self.steps.iter().map(|step| step.tokens(shown)).sum();
        around + steps
    }

    /// What people were shown, without the calls.
    pub(super) fn texts(&self) -> String {
        let steps = self.steps.iter().map(|step| step.text.as_str());
        let all = steps.chain([self.answered.as_str()]);
        let all: Vec<&str> = all.filter(|text| !text.is_empty()).collect();
        all.join("\n\n")
    }
}

impl KeptStep {
    fn tokens(&self, shown: Shown) -> usize {
        let calls = self
            .calls
            .iter()
            .map(|call| estimate(&call.name) + estimate(&call.arguments) + estimate(&call.result));
        let calls: usize = match shown {
            Shown::Calls => calls.sum(),
            Shown::Texts => 0,
        };
        estimate(&self.text) + calls
    }
}

/// Cuts a text to about `max_bytes`, between characters, and says how much is gone.
pub(super) fn cut(text: &mut String, max_bytes: usize) {
    if text.len() <= max_bytes {
        return;
    }
    let end = text.floor_char_boundary(max_bytes);
    let gone = text.len() - end;
    text.truncate(end);
    text.push_str(&format!("\n(cut here: {gone} bytes more)"));
}
