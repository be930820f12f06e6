//! What is made of a model's last message.
//!
//! In: the message, the tools that were offered, what was said before. Out: the outcome, and what the
//! transcript keeps. Never: a tool call that came as text shown as an answer.

use crate::{
    markup,
    native::{exchange::Told, heard::Stop, tidy::tidy},
};
use guildhall_authority::event::MessageText;
use guildhall_connector::run::{RunFailure, RunOutcome, ToolUse};

/// Told to people after an answer that reached the model's limit.
pub(crate) const CUT_SHORT: &str = "(The model reached its limit for one answer and stopped here.)";
/// Told to people after an answer that a filter ended.
const FILTERED: &str = "(The provider's filter stopped this answer here.)";
/// Kept in the transcript in place of an answer that was a tool call as text.
const NOT_A_CALL: &str = "(No answer was given in this turn: a tool call was written as text; it was \
not carried out and not shown.)";
/// Kept in the transcript in place of a last message without text, after ones that had some.
const NO_MORE: &str = "(Nothing more was said.)";

/// What is made of a turn.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Settled {
    pub(super) outcome: RunOutcome,
    /// A call that came as text, refused; real ones are in the host's own record.
    pub(super) tools: Vec<ToolUse>,
    /// What stands in the transcript as the answer; none where the turn is not remembered.
    pub(super) remembered: Option<String>,
}

impl Settled {
    /// A turn without an answer.
    pub(super) const fn failed(why: RunFailure) -> Self {
        Self {
            outcome: RunOutcome::Failed(why),
            tools: Vec::new(),
            remembered: None,
        }
    }
}

/// Makes an outcome of the last message of a turn, and of what was said before it.
pub(super) fn settle(told: &Told, offered: &[String], before: Vec<String>) -> Settled {
    let text = tidy(&told.text);
    if let Some(call) = markup::raw_call(&text, offered) {
        tracing::warn!(
            dialect = call.dialect.code(),
            tool = call.tool,
            "a tool call came as text"
        );
        return Settled {
            tools: vec![call.as_tool_use()],
            remembered: Some(NOT_A_CALL.to_owned()),
            ..Settled::failed(RunFailure::RawToolCall)
        };
    }
    if text.is_empty() {
        match told.stopped {
            Some(Stop::Refused) => return Settled::failed(RunFailure::ProviderRefused),
            // All of the limit went into thoughts.
            Some(Stop::Length) if before.is_empty() => return Settled::failed(RunFailure::TooLong),
            // It says that it calls a tool, and there is no call.
            Some(Stop::ToolCall) => return Settled::failed(RunFailure::EngineRubbish),
            Some(Stop::Done | Stop::Length) | None => {}
        }
    }
    let remembered = match (text.is_empty(), before.is_empty()) {
        (false, _) => Some(text.clone()),
        (true, false) => Some(NO_MORE.to_owned()),
        (true, true) => None,
    };
    let mut texts: Vec<MessageText> = before.into_iter().map(MessageText::new).collect();
    if !text.is_empty() {
        texts.push(MessageText::new(text));
    }
    match told.stopped {
        Some(Stop::Length) => texts.push(MessageText::new(CUT_SHORT)),
        Some(Stop::Refused) => texts.push(MessageText::new(FILTERED)),
        Some(Stop::Done | Stop::ToolCall) | None => {}
    }
    Settled {
        outcome: RunOutcome::Answered(texts),
        tools: Vec::new(),
        remembered,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settled(text: &str, stopped: Stop, before: Vec<String>) -> Settled {
        let told = Told {
            text: text.to_owned(),
            stopped: Some(stopped),
            ..Told::default()
        };
        settle(&told, &["read".to_owned()], before)
    }

    #[test]
    fn a_whole_answer_is_shown_or_is_a_failure() {
        let answered = |texts: &[&str]| {
            RunOutcome::Answered(texts.iter().map(|text| MessageText::new(*text)).collect())
        };
        let cases = [
            (" yes ", Stop::Done, answered(&["yes"]), Some("yes")),
            ("yes", Stop::ToolCall, answered(&["yes"]), Some("yes")),
            ("ye", Stop::Length, answered(&["ye", CUT_SHORT]), Some("ye")),
            ("ye", Stop::Refused, answered(&["ye", FILTERED]), Some("ye")),
            ("", Stop::Done, answered(&[]), None),
            (
                "",
                Stop::Length,
                RunOutcome::Failed(RunFailure::TooLong),
                None,
            ),
            (
                "",
                Stop::Refused,
                RunOutcome::Failed(RunFailure::ProviderRefused),
                None,
            ),
            (
                "",
                Stop::ToolCall,
                RunOutcome::Failed(RunFailure::EngineRubbish),
                None,
            ),
            (
                "<tool_call>{\"name\": \"read\", \"arguments\": {}}</tool_call>",
                Stop::Done,
                RunOutcome::Failed(RunFailure::RawToolCall),
                Some(NOT_A_CALL),
            ),
        ];
        for (text, stopped, outcome, remembered) in cases {
            let settled = settled(text, stopped, Vec::new());
            assert_eq!(settled.outcome, outcome, "{text:?} {stopped:?}");
            assert_eq!(
                settled.remembered.as_deref(),
                remembered,
                "{text:?} {stopped:?}"
            );
        }
    }

    #[test]
    fn what_was_said_before_calls_comes_first() {
        let before = || vec!["I look.".to_owned()];
        let answered = |texts: &[&str]| {
            RunOutcome::Answered(texts.iter().map(|text| MessageText::new(*text)).collect())
        };
        let cases = [
            ("yes", Stop::Done, answered(&["I look.", "yes"]), "yes"),
            ("", Stop::Done, answered(&["I look."]), NO_MORE),
            ("", Stop::Length, answered(&["I look.", CUT_SHORT]), NO_MORE),
        ];
        for (text, stopped, outcome, remembered) in cases {
            let settled = settled(text, stopped, before());
            assert_eq!(settled.outcome, outcome, "{text:?} {stopped:?}");
            assert_eq!(settled.remembered.as_deref(), Some(remembered), "{text:?}");
        }
    }
}
