//! Exit codes, and the one kind of error that the commands give.
//!
//! In: what went wrong, in words, and what to do about it. Out: a line on stderr and a code. Never: a
//! stack trace, a text of a message, a token.

use std::{fmt, process::ExitCode};

/// How a command ends. The numbers are for supervisors and scripts and never change meaning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ExitReason {
    /// It did what it was asked.
    Ok = 0,
    /// The operation failed; trying again may help.
    Failed = 1,
    /// Data or configuration is not valid; trying again will not help.
    Invalid = 2,
    /// A brake is set, or the binding is held. A supervisor must not retry.
    Braked = 3,
    /// The command line makes no sense.
    Usage = 4,
}

impl From<ExitReason> for ExitCode {
    fn from(reason: ExitReason) -> Self {
        Self::from(reason as u8)
    }
}

/// Why a command did not do what it was asked.
#[derive(Debug)]
pub(crate) struct Failure {
    /// The exit code.
    pub(crate) reason: ExitReason,
    /// What happened: lower case, no full stop.
    pub(crate) what: String,
    /// What to do about it, a sentence each.
    pub(crate) hints: Vec<String>,
}

impl Failure {
    pub(crate) fn new(reason: ExitReason, what: impl fmt::Display) -> Self {
        Self {
            reason,
            what: what.to_string(),
            hints: Vec::new(),
        }
    }

    pub(crate) fn failed(what: impl fmt::Display) -> Self {
        Self::new(ExitReason::Failed, what)
    }

    pub(crate) fn invalid(what: impl fmt::Display) -> Self {
        Self::new(ExitReason::Invalid, what)
    }

    pub(crate) fn braked(what: impl fmt::Display) -> Self {
        Self::new(ExitReason::Braked, what)
    }

    /// Adds what to do about it.
    pub(crate) fn hint(mut self, hint: impl fmt::Display) -> Self {
        self.hints.push(hint.to_string());
        self
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "guildhall: {}", self.what)?;
        for hint in &self.hints {
            write!(f, "\n  {hint}")?;
        }
        Ok(())
    }
}

/// An error with all of its causes, in one line.
pub(crate) fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        let cause_text = cause.to_string();
        if !text.ends_with(&cause_text) {
            text.push_str(": ");
            text.push_str(&cause_text);
        }
        source = cause.source();
    }
    text
}
