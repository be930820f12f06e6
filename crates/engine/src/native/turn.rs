//! One turn with a model: the conversation so far, tries at an answer, what is made of it.
//!
//! In: a request and a provider. Out: how the run finished. Never: a second try after text has come,
//! a turn in the transcript that people were not answered.

use super::{
    Settings,
    api::Conversation,
    exchange::Told,
    heard::{Price, Stop},
    problem::Next,
    tidy::tidy,
    transcript::{Exchange, Transcript},
};
use crate::{
    contract::RunRequest,
    markup,
    start::{Finished, Signs},
};
use guildhall_authority::event::MessageText;
use guildhall_connector::run::{Prompt, RunFailure, RunOutcome, ToolUse};
use std::sync::Arc;

/// Told to people after an answer that reached the model's limit.
const CUT_SHORT: &str = "(The model reached its limit for one answer and stopped here.)";
/// Kept in the transcript in place of an answer that was a tool call as text.
const NOT_A_CALL: &str = "(No answer was given in this turn: a tool call was written as text, so \
nothing was carried out and nothing was shown.)";

/// Answers one request.
pub(super) async fn answer(signs: Signs, request: RunRequest, settings: Arc<Settings>) -> Finished {
    let sessions = settings.sessions_folder.clone();
    let route = request.route.clone();
    let opened = tokio::task::spawn_blocking(move || Transcript::open(&sessions, &route)).await;
    let transcript = match opened {
        Ok(Ok(transcript)) => transcript,
        Ok(Err(error)) => {
            tracing::error!(turn = request.turn, %error, "the native engine cannot read its session");
            return Finished::failed(RunFailure::EngineUnavailable);
        }
        Err(_) => return Finished::failed(RunFailure::EngineDied),
    };
    let asked = asked(&request.prompt);
    match tries(&signs, &request.turn, &settings, &transcript, &asked).await {
        Err(why) => Finished::failed(why),
        Ok(told) => {
            let Settled {
                outcome,
                tools,
                remembered,
            } = settle(&told, &settings.offered_tools);
            let budget = settings.transcript_tokens;
            let keep = remembered.map(|answered| {
                let turn = Exchange {
                    turn: request.turn,
                    asked,
                    answered,
                };
                Box::new(move || transcript.keep(turn, budget)) as Box<dyn FnOnce() + Send>
            });
            Finished {
                outcome,
                tools,
                keep,
            }
        }
    }
}

fn asked(prompt: &Prompt) -> String {
    format!("{}\n{}", prompt.envelope, prompt.text.as_str())
}

async fn tries(
    signs: &Signs,
    turn: &str,
    settings: &Settings,
    transcript: &Transcript,
    asked: &str,
) -> Result<Told, RunFailure> {
    let mut budget = settings.transcript_tokens;
    let mut attempt = 1;
    loop {
        let messages = transcript.messages(asked, budget);
        let talk = Conversation {
            model: &settings.model,
            system: &settings.system_prompt,
            messages: &messages,
            thinking: settings.thinking.as_deref(),
        };
        let body = settings.provider.api.body(&talk);
        let cut = match settings.provider.ask(body, signs).await {
            Ok(told) => {
                signs.spend(Price::usage(settings.price, told.tokens));
                return Ok(told);
            }
            Err(cut) => cut,
        };
        signs.spend(Price::usage(settings.price, cut.tokens));
        let next = cut.problem.next(attempt, cut.shown, fastrand::f64());
        tracing::warn!(
            turn,
            attempt,
            problem = cut.problem.word(),
            ?next,
            "no answer from the model"
        );
        match next {
            Next::GiveUp(why) => return Err(why),
            Next::Again(wait) => tokio::time::sleep(wait).await,
            // With nothing left to leave out, the ask itself is too long.
            Next::Shorter if messages.len() == 1 => return Err(cut.problem.failure()),
            Next::Shorter => budget /= 2,
        }
        attempt += 1;
    }
}

/// What is made of a whole answer.
#[derive(Debug, PartialEq, Eq)]
struct Settled {
    outcome: RunOutcome,
    tools: Vec<ToolUse>,
    /// What stands in the transcript as the answer; none where the turn is not remembered.
    remembered: Option<String>,
}

fn settle(told: &Told, offered: &[String]) -> Settled {
    let text = tidy(&told.text);
    let failed = |why| Settled {
        outcome: RunOutcome::Failed(why),
        tools: Vec::new(),
        remembered: None,
    };
    if let Some(call) = markup::raw_call(&text, offered) {
        tracing::warn!(
            dialect = call.dialect.code(),
            tool = call.tool,
            "a tool call came as text"
        );
        return Settled {
            tools: vec![call.as_tool_use()],
            remembered: Some(NOT_A_CALL.to_owned()),
            ..failed(RunFailure::RawToolCall)
        };
    }
    if text.is_empty() {
        return match told.stopped {
            Some(Stop::Refused) => failed(RunFailure::ProviderRefused),
            // All of the limit went into thoughts.
            Some(Stop::Length) => failed(RunFailure::TooLong),
            // It was offered no tool that could be called like that.
            Some(Stop::ToolCall) => failed(RunFailure::EngineRubbish),
            Some(Stop::Done) | None => Settled {
                outcome: RunOutcome::Answered(Vec::new()),
                tools: Vec::new(),
                remembered: None,
            },
        };
    }
    let mut texts = vec![MessageText::new(text.clone())];
    if told.stopped == Some(Stop::Length) {
        texts.push(MessageText::new(CUT_SHORT));
    }
    Settled {
        outcome: RunOutcome::Answered(texts),
        tools: Vec::new(),
        remembered: Some(text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settled(text: &str, stopped: Stop) -> Settled {
        let told = Told {
            text: text.to_owned(),
            stopped: Some(stopped),
            ..Told::default()
        };
        settle(&told, &["read".to_owned()])
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
            let settled = settled(text, stopped);
            assert_eq!(settled.outcome, outcome, "{text:?} {stopped:?}");
            assert_eq!(
                settled.remembered.as_deref(),
                remembered,
                "{text:?} {stopped:?}"
            );
        }
    }
}
