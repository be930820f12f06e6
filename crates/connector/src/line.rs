//! The fixed lines: everything the product itself ever says on Discord.
//!
//! In: a code. Out: one sentence or two for people. Never: a model's words, a path, a name.

use crate::run::RunFailure;
use serde::{Deserialize, Serialize};

macro_rules! lines {
    ($($(#[$doc:meta])* $name:ident = $code:literal, $text:literal;)*) => {
        /// A fixed line. Records hold its code, Discord sees its text.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub enum Line { $($(#[$doc])* $name,)* }

        impl Line {
            /// Every line, for tables and tests.
            pub const ALL: &'static [Self] = &[$(Self::$name,)*];

            /// The stable code that records hold.
            #[must_use]
            pub const fn code(self) -> &'static str {
                match self { $(Self::$name => $code,)* }
            }

            /// What people read.
            #[must_use]
            pub const fn text(self) -> &'static str {
                match self { $(Self::$name => $text,)* }
            }

            /// The line of a code.
            #[must_use]
            pub fn of_code(code: &str) -> Option<Self> {
                match code { $($code => Some(Self::$name),)* _ => None }
            }
        }
    };
}

lines! {
    /// The engine had nothing to say.
    EmptyAnswer = "empty-answer",
        "I have no answer to that: the engine finished without saying anything.";
    /// The process died while the turn ran.
    Interrupted = "interrupted",
        "I was interrupted while I worked on this, so there is no answer. Parts of the work may be done. Please ask again if you still need it.";
    /// A part of the reply was refused by Discord.
    Cut = "cut",
        "The rest of my reply could not be posted here.";
    /// The reply has more parts than are ever posted.
    TooManyParts = "too-many-parts",
        "My reply was too long; the rest of it was left out.";
    /// ESTOP ended the turn.
    Stopped = "stopped",
        "The operator's emergency stop ended this before it was done. Please ask again later.";
    /// An operator ended the turn.
    Aborted = "aborted",
        "The operator ended this before it was done.";
    /// The message is longer than the binding takes.
    Oversize = "oversize",
        "That message is too long for me, so I did not read it. Please send it in shorter messages.";
    /// The day's turns are used up.
    Ceiling = "ceiling",
        "I have reached today's limit of answers. I will be back after midnight UTC.";
    /// Too many rows wait.
    QueueFull = "queue-full",
        "Too much is waiting for me already, so I did not take this message. Please send it again later.";
    /// ESTOP is set.
    Estop = "estop",
        "The operator has stopped me for now. Messages sent meanwhile will not be answered.";
    /// No room on the disk.
    NoRoom = "no-room",
        "I have no room to work right now. What is sent meanwhile may wait, or go unanswered if it takes too long.";
    /// The engine could not be started.
    EngineUnavailable = "engine-unavailable",
        "I could not start on this: my engine is not available. Asking again in a while is worth a try.";
    /// The engine ended in the middle.
    EngineDied = "engine-died",
        "My engine stopped in the middle of this. Asking again is worth a try.";
    /// The engine broke its protocol.
    EngineRubbish = "engine-rubbish",
        "My engine said something that I could not read. Asking again is worth a try.";
    /// The turn's time ran out.
    TimedOut = "timed-out",
        "This took longer than I am allowed to work on one message. A smaller question may fit.";
    /// The provider refused the key.
    ProviderKey = "provider-key",
        "The model's provider does not accept my key. Asking again will not help until the operator has looked at it.";
    /// The provider is busy.
    ProviderBusy = "provider-busy",
        "The model's provider is busy right now. Asking again in a few minutes is worth a try.";
    /// The provider cannot be reached.
    ProviderUnreachable = "provider-unreachable",
        "I cannot reach the model's provider right now. Asking again in a few minutes is worth a try.";
    /// The provider refused the request.
    ProviderRefused = "provider-refused",
        "The model's provider refused this request. Asking the same again will not help.";
    /// The answer is longer than the product takes.
    AnswerTooLong = "answer-too-long",
        "The answer grew longer than I can take, so I stopped it. Asking for less at a time will help.";
    /// A tool call came as text.
    RawToolCall = "raw-tool-call",
        "The model wrote a tool call as plain text, so nothing was done. Asking again rarely helps: model, template and parser do not fit together, which is to be mended at the engine.";
    /// A tool call came as text, in a turn that had changed something before.
    RawToolCallLate = "raw-tool-call-late",
        "The model wrote a tool call as plain text: it was not carried out, and earlier changes of this turn stand. Model, template and parser do not fit together, which is to be mended at the engine.";
    /// The day's cost ceiling is reached.
    CostCeiling = "cost-ceiling",
        "I have reached today's spending limit. Asking again after midnight UTC will work.";
    /// Somebody who may not decide answered an ask.
    NotDecider = "not-decider",
        "Only an operator of this seat can decide that.";
    /// An ask was answered that is not open any more.
    AskOver = "ask-over",
        "That request is over already; nothing was changed by this. Its card says how it ended.";
    /// A button of an ask that was allowed.
    AskAllowed = "ask-allowed",
        "That was allowed already, once. Nothing more is needed.";
    /// A button of an ask that was denied.
    AskDenied = "ask-denied",
        "That was denied already.";
    /// A button of an ask that nobody answered in time.
    AskTimedOut = "ask-timed-out",
        "Nobody answered that in time, so it counts as denied.";
    /// A button of an ask that a stop denied.
    AskStopped = "ask-stopped",
        "A stop denied that.";
    /// A button that belongs to no card of this seat.
    NoSuchAsk = "no-such-ask",
        "That button belongs to no request that I know of. Nothing was changed.";
}

impl Line {
    /// The line of a failed run.
    #[must_use]
    pub const fn of_failure(failure: RunFailure) -> Self {
        match failure {
            RunFailure::EngineUnavailable => Self::EngineUnavailable,
            RunFailure::EngineDied => Self::EngineDied,
            RunFailure::EngineRubbish => Self::EngineRubbish,
            RunFailure::TimedOut => Self::TimedOut,
            RunFailure::ProviderKey => Self::ProviderKey,
            RunFailure::ProviderBusy => Self::ProviderBusy,
            RunFailure::ProviderUnreachable => Self::ProviderUnreachable,
            RunFailure::ProviderRefused => Self::ProviderRefused,
            RunFailure::TooLong => Self::AnswerTooLong,
            RunFailure::RawToolCall => Self::RawToolCall,
        }
    }
}

impl Serialize for Line {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.code())
    }
}

impl<'de> Deserialize<'de> for Line {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let code = std::borrow::Cow::<str>::deserialize(deserializer)?;
        Self::of_code(&code).ok_or_else(|| serde::de::Error::custom("an unknown line"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_fits_one_message_and_is_found_by_its_code() {
        for line in Line::ALL {
            assert_eq!(Line::of_code(line.code()), Some(*line));
            assert!(line.text().chars().count() <= 200, "{}", line.code());
            assert!(
                !line.text().contains(['@', '<', '`', '\n']),
                "{}",
                line.code()
            );
        }
    }

    #[test]
    fn every_failed_run_has_a_line_of_its_own() {
        let mut codes: Vec<_> = RunFailure::ALL.map(|f| Line::of_failure(f).code()).to_vec();
        codes.sort_unstable();
        codes.dedup();
        assert_eq!(codes.len(), RunFailure::ALL.len());
    }
}
