//! What a diagnosis found, as text and as JSON.
//!
//! In: findings. Out: words. Never: a text of the model.

use super::Task;
use crate::contract::EngineDescription;
use guildhall_connector::{line::Line, run::RunFailure};
use serde::Serialize;
use std::fmt;

/// How a task ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// As it should.
    Passed,
    /// The model called no tool.
    NoCall,
    /// It wrote a call as text: model, template and parser do not fit.
    RawMarkup,
    /// The file is not what it should be.
    WrongContent,
    /// The answer is not what it should be.
    WrongAnswer,
    /// There was no answer, or not in time.
    NoAnswer,
}

impl Verdict {
    /// For people.
    #[must_use]
    pub const fn words(self) -> &'static str {
        match self {
            Self::Passed => "passed",
            Self::NoCall => "no tool was called",
            Self::RawMarkup => "a tool call came as text: model, template and parser do not fit",
            Self::WrongContent => "the file is not as it should be",
            Self::WrongAnswer => "the answer is not as it should be",
            Self::NoAnswer => "no answer in time",
        }
    }
}

/// What a task came to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Finding {
    /// Which.
    pub task: Task,
    /// How it ended.
    pub verdict: Verdict,
    /// Why there was no answer, where the engine said so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub why: Option<RunFailure>,
    /// How a call was written that came as text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dialect: Option<String>,
    /// Milliseconds.
    pub ms: u64,
    /// Tokens in.
    pub input_tokens: u64,
    /// Tokens out.
    pub output_tokens: u64,
    /// Millionths of a US dollar; zero without a price.
    pub micro_usd: u64,
    /// Structured calls that were made.
    pub calls: u32,
}

/// What a diagnosis found. Its `Display` is a table for people, one line a task.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Report {
    /// Which engine and model.
    pub engine: EngineDescription,
    /// One a task, in order.
    pub findings: Vec<Finding>,
}

impl Report {
    /// Whether every task passed.
    #[must_use]
    pub fn passed(&self) -> bool {
        self.findings
            .iter()
            .all(|finding| finding.verdict == Verdict::Passed)
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let model = self.engine.model.as_deref().unwrap_or("no model");
        writeln!(f, "engine {}, {model}", self.engine.kind)?;
        for finding in &self.findings {
            let because = match (&finding.dialect, &finding.why) {
                (Some(dialect), _) => format!(" (dialect {dialect})"),
                (None, Some(why)) => format!(" ({})", Line::of_failure(*why).code()),
                (None, None) => String::new(),
            };
            writeln!(
                f,
                "{:<9} {:<26} {}{because}; {} calls, {}.{} s, {} tokens in, {} out",
                finding.task.code(),
                finding.task.shows(),
                finding.verdict.words(),
                finding.calls,
                finding.ms / 1_000,
                finding.ms % 1_000 / 100,
                finding.input_tokens,
                finding.output_tokens,
            )?;
        }
        let passed = self
            .findings
            .iter()
            .filter(|one| one.verdict == Verdict::Passed)
            .count();
        writeln!(f, "{passed} of {} passed", self.findings.len())
    }
}
