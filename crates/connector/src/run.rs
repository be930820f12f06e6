//! One run of an engine, as both sides name it.
//!
//! In: what an engine reports. Out: what the connector decides on. Never: anything that only one
//! kind of engine has.

pub use guildhall_authority::call::ToolUse;
use guildhall_authority::event::MessageText;
use serde::{Deserialize, Serialize};

/// What an engine is given for one turn.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Prompt {
    /// One bracketed line: server, channel, author, ids. Everything in it is escaped.
    pub envelope: String,
    /// What was said, and what was quoted or attached, as data.
    pub text: MessageText,
}

/// What happens during a run. Exactly one [`RunEvent::Ended`] comes, and nothing after it counts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RunEvent {
    /// The engine is at work; keep-alives of a provider are no progress.
    Progress(Progress),
    /// The run is over.
    Ended(Box<Ended>),
}

/// A sign of work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress {
    /// Text is coming.
    Text,
    /// A tool call began.
    ToolBegan,
    /// A tool call ended.
    ToolEnded,
}

/// How a run ended, with what it cost.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ended {
    /// How.
    pub outcome: RunOutcome,
    /// What it cost.
    pub usage: Usage,
    /// How often the engine called its model for this answer.
    pub engine_turns: u32,
    /// One entry for each tool call, in order.
    pub tools: Vec<ToolUse>,
}

/// How a run ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RunOutcome {
    /// With all assistant texts of the run, in order. No text at all is an empty answer.
    Answered(Vec<MessageText>),
    /// Without an answer.
    Failed(RunFailure),
    /// It was aborted, by time-out, brake or operator.
    Aborted,
}

/// Why a run gave no answer. Each has one fixed line for people and one code for records.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RunFailure {
    /// The engine could not be started.
    EngineUnavailable,
    /// The engine ended in the middle of the run.
    EngineDied,
    /// The engine said something that is not of its protocol.
    EngineRubbish,
    /// The engine was silent for too long, or the turn's time ran out.
    TimedOut,
    /// The provider refused the key.
    ProviderKey,
    /// The provider is overloaded or limits us; asking again later is worth it.
    ProviderBusy,
    /// The provider cannot be reached.
    ProviderUnreachable,
    /// The provider refused the request: asking the same again gives the same.
    ProviderRefused,
    /// The answer was longer than the product takes.
    TooLong,
    /// The model wrote a tool call as text; nothing was executed.
    RawToolCall,
}

impl RunFailure {
    /// Every reason, for tables and tests.
    pub const ALL: [Self; 10] = [
        Self::EngineUnavailable,
        Self::EngineDied,
        Self::EngineRubbish,
        Self::TimedOut,
        Self::ProviderKey,
        Self::ProviderBusy,
        Self::ProviderUnreachable,
        Self::ProviderRefused,
        Self::TooLong,
        Self::RawToolCall,
    ];
}

/// What a run cost; zero where the engine does not say.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Usage {
    /// Tokens in.
    pub input_tokens: u64,
    /// Tokens out.
    pub output_tokens: u64,
    /// Cost in millionths of a US dollar.
    pub micro_usd: u64,
}
