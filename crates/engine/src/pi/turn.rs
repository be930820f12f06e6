//! One run of pi: a prompt in, lines until it is settled.
//!
//! In: a process that is ready. Out: how the run ended, and whether the process may go on. Never: a
//! dialog that waits for a person, a silence without an end, a line of another run in this one's
//! answer.

use super::child::{Heard, Process};
use crate::{
    markup,
    native::{ANSWER_MAX_BYTES, CUT_SHORT, Tokens, tidy, usage as native_usage},
    start::{Finished, Signs},
};
use guildhall_authority::{event::MessageText, offer::ToolName};
use guildhall_binding::Price;
use guildhall_connector::run::{Progress, RunFailure, RunOutcome, Usage};
use serde_json::{Value, json};
use std::time::Duration;
use tokio::time::{Instant, timeout_at};

/// How long pi may take to end a run that it is asked to abort.
const ABORT: Duration = Duration::from_secs(5);

/// How a pi without the event is found to be settled.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Barrier {
    /// Nothing to find yet.
    Down,
    /// Another try or a compaction follows.
    Busy,
}

/// A run under way.
pub(super) struct Run<'r> {
    pub(super) process: &'r mut Process,
    pub(super) signs: &'r Signs,
    pub(super) silence: Duration,
    pub(super) price: Option<Price>,
    pub(super) says_settled: bool,
    pub(super) offered: Vec<ToolName>,
}

/// Whether pi has taken the prompt. What it says of a run before is of another one.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum Taken {
    #[default]
    NotYet,
    Yes,
}

#[derive(Default)]
struct Said {
    taken: Taken,
    texts: Vec<String>,
    bytes: usize,
    stop: String,
    error: String,
    tools_open: u32,
    asked: Option<String>,
    settled: bool,
}

impl Run<'_> {
    /// Runs one prompt. An error means that the process must not be used again.
    pub(super) async fn prompt(mut self, text: &str) -> Result<Finished, RunFailure> {
        let died = |_| RunFailure::EngineDied;
        let prompt = json!({"type": "prompt", "message": text});
        let id = self.process.say(prompt).await.map_err(died)?;
        let mut said = Said::default();
        let mut barrier = Barrier::Down;
        let mut quiet_since = Instant::now();
        let signs = self.signs;
        while !said.settled {
            // A call of ours has its own time, and may wait for a person.
            let until = (said.tools_open == 0).then(|| quiet_since + self.silence);
            let heard = tokio::select! {
                biased;
                () = signs.stopped() => return Err(self.abort(said.taken).await),
                heard = hear_until(self.process, until) => heard?,
            };
            match heard.ok_or(RunFailure::EngineDied)? {
                Heard::Rubbish => return Err(RunFailure::EngineRubbish),
                heard if said.taken == Taken::NotYet && heard.is_of_a_run() => {
                    tracing::warn!("pi told of a run before it took the prompt");
                    return Err(RunFailure::EngineRubbish);
                }
                Heard::Delta => {
                    quiet_since = Instant::now();
                    self.signs.progress(Progress::Text);
                }
                Heard::Line(line) if line["type"] == "response" && line["id"] == id => {
                    if line["success"] != true {
                        return Err(RunFailure::ProviderRefused);
                    }
                    said.taken = Taken::Yes;
                }
                Heard::Line(line) => {
                    if self.line(&line, &mut said, &mut barrier).await? {
                        quiet_since = Instant::now();
                    }
                }
            }
        }
        self.outcome(said)
    }

    /// Asks pi to end the run, so that its session says so, and gives it a moment. Its process is of
    /// no use afterwards.
    async fn abort(&mut self, taken: Taken) -> RunFailure {
        let until = Instant::now() + ABORT;
        if taken == Taken::Yes && self.process.say(json!({"type": "abort"})).await.is_ok() {
            let ended = ["agent_settled", "agent_end"];
            while let Ok(Ok(Some(heard))) = timeout_at(until, hear_until(self.process, None)).await
            {
                if let Heard::Line(line) = heard
                    && line["type"]
                        .as_str()
                        .is_some_and(|kind| ended.contains(&kind))
                {
                    break;
                }
            }
        }
        RunFailure::EngineDied
    }

    /// Takes a line; true where it is a sign of work.
    async fn line(
        &mut self,
        line: &Value,
        said: &mut Said,
        barrier: &mut Barrier,
    ) -> Result<bool, RunFailure> {
        let died = |_| RunFailure::EngineDied;
        match line["type"].as_str().unwrap_or_default() {
            "agent_settled" if self.says_settled => said.settled = true,
            "agent_end" if !self.says_settled => {
                *barrier = Barrier::Down;
                let asked = self.process.say(json!({"type": "get_state"})).await;
                said.asked = Some(asked.map_err(died)?);
            }
            "auto_retry_start" | "compaction_start" => *barrier = Barrier::Busy,
            "auto_retry_end" | "compaction_end" if !self.says_settled => {
                let again = line["willRetry"] == true || line["success"] == true;
                if !again {
                    *barrier = Barrier::Down;
                    let asked = self.process.say(json!({"type": "get_state"})).await;
                    said.asked = Some(asked.map_err(died)?);
                }
            }
            "response" => {
                let is_ours = said.asked.is_some() && line["id"].as_str() == said.asked.as_deref();
                let data = &line["data"];
                let idle = data["isStreaming"] == false && data["isCompacting"] == false;
                said.settled |= is_ours && idle && *barrier == Barrier::Down;
            }
            "extension_ui_request" => {
                let cancel = json!({"type": "extension_ui_response", "id": line["id"],
                    "cancelled": true});
                let dialogs = ["select", "confirm", "input", "editor"];
                if line["method"]
                    .as_str()
                    .is_some_and(|m| dialogs.contains(&m))
                {
                    self.process.write(&cancel).await.map_err(died)?;
                }
            }
            "message_update" => {
                self.signs.progress(Progress::Text);
                return Ok(true);
            }
            "tool_execution_start" => {
                said.tools_open += 1;
                self.signs.progress(Progress::ToolBegan);
                return Ok(true);
            }
            "tool_execution_end" => {
                said.tools_open = said.tools_open.saturating_sub(1);
                self.signs.progress(Progress::ToolEnded);
                return Ok(true);
            }
            "message_end" if line["message"]["role"] == "assistant" => {
                self.message(&line["message"], said)?;
                return Ok(true);
            }
            _ => {}
        }
        Ok(false)
    }

    fn message(&self, message: &Value, said: &mut Said) -> Result<(), RunFailure> {
        self.signs.engine_turn();
        self.signs.spend(usage(self.price, &message["usage"]));
        said.stop = message["stopReason"]
            .as_str()
            .unwrap_or_default()
            .to_owned();
        said.error = message["errorMessage"]
            .as_str()
            .unwrap_or_default()
            .to_owned();
        if said.stop == "error" || said.stop == "aborted" {
            return Ok(());
        }
        let blocks = message["content"].as_array().into_iter().flatten();
        let texts = blocks.filter(|block| block["type"] == "text");
        let text: String = texts.filter_map(|block| block["text"].as_str()).collect();
        said.bytes += text.len();
        if said.bytes > ANSWER_MAX_BYTES {
            return Err(RunFailure::TooLong);
        }
        if !text.trim().is_empty() {
            said.texts.push(text);
        }
        Ok(())
    }

    /// What is made of a run that is settled, by the same rules as for any other engine.
    fn outcome(&self, mut said: Said) -> Result<Finished, RunFailure> {
        match said.stop.as_str() {
            "stop" | "length" | "toolUse" => {}
            "error" => return Ok(Finished::failed(failure(&said.error))),
            _ => return Err(RunFailure::EngineRubbish),
        }
        let raw = |text: &String| {
            let names: Vec<_> = self
                .offered
                .iter()
                .map(|tool| tool.wire().to_owned())
                .collect();
            markup::raw_call(text, &names)
        };
        for text in &mut said.texts {
            *text = tidy(text);
        }
        if let Some(call) = said.texts.last().and_then(raw) {
            let mut used = call.as_tool_use();
            if let Some(tool) = self.offered.iter().find(|tool| tool.wire() == used.name) {
                tool.as_str().clone_into(&mut used.name);
            }
            return Ok(Finished {
                tools: vec![used],
                ..Finished::failed(RunFailure::RawToolCall)
            });
        }
        // A call that came as text beside real ones is not for people either.
        let mut texts = said.texts;
        texts.retain(|text| !text.is_empty() && raw(text).is_none());
        if said.stop == "length" {
            if texts.is_empty() {
                return Ok(Finished::failed(RunFailure::TooLong));
            }
            texts.push(CUT_SHORT.to_owned());
        }
        let texts = texts.into_iter().map(MessageText::new);
        Ok(Finished::bare(RunOutcome::Answered(texts.collect())))
    }
}

/// The next line; a failure where none comes until then.
async fn hear_until(
    process: &mut Process,
    until: Option<Instant>,
) -> Result<Option<Heard>, RunFailure> {
    match until {
        None => Ok(process.hear().await),
        Some(until) => timeout_at(until, process.hear())
            .await
            .map_err(|_| RunFailure::TimedOut),
    }
}

/// Tokens as pi counts them, of which those that are cached count as read. Cost is by the binding's
/// price where it has one: pi knows none of a provider that it was told of.
fn usage(price: Option<Price>, usage: &Value) -> Usage {
    let tokens = |name: &str| usage[name].as_u64().unwrap_or(0);
    let read = tokens("input") + tokens("cacheRead") + tokens("cacheWrite");
    if price.is_some() {
        let tokens = Tokens {
            input: Some(read),
            output: Some(tokens("output")),
            cached: Some(tokens("cacheRead")),
        };
        return native_usage(price, tokens);
    }
    let dollars = usage["cost"]["total"]
        .as_f64()
        .unwrap_or(0.0)
        .clamp(0.0, 1e6);
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "clamped above: neither negative nor past a million dollars"
    )]
    let micro_usd = (dollars * 1e6).round() as u64;
    Usage {
        input_tokens: read,
        output_tokens: tokens("output"),
        micro_usd,
    }
}

/// The reason behind a provider's error, by its status or its words.
fn failure(error: &str) -> RunFailure {
    let low = error.to_ascii_lowercase();
    let status: Option<u16> = low.get(..3).and_then(|status| status.parse().ok());
    let has = |words: &[&str]| words.iter().any(|word| low.contains(word));
    match status {
        Some(401 | 403) => RunFailure::ProviderKey,
        Some(429 | 500..=599) => RunFailure::ProviderBusy,
        Some(_) => RunFailure::ProviderRefused,
        None if has(&["overloaded", "rate limit"]) => RunFailure::ProviderBusy,
        None if has(&[
            "connection",
            "fetch failed",
            "econn",
            "network",
            "timeout",
            "timed out",
        ]) =>
        {
            RunFailure::ProviderUnreachable
        }
        // What a reader of JSON says of an answer that is none.
        None if has(&["json", "unexpected token", "could not parse"]) => RunFailure::EngineRubbish,
        None => RunFailure::ProviderRefused,
    }
}
