//! The tasks, and what each has to leave behind.
//!
//! In: what was seen of a task. Out: a verdict. Never: I/O, a clock, trust in what the model says of
//! itself.

use super::report::Verdict;

/// The one file that the tasks work on.
pub const FILE: &str = "check.txt";
/// What the first task makes.
const FIRST: &str = "alpha\nbeta\ngamma\n";
/// What the second makes of it.
const EDITED: &str = "alpha\ndelta\ngamma\n";
/// What the third adds: letters of several scripts, and one that needs four bytes.
const UNICODE: &str = "alpha\nGrüße, 漢字, 🙂\ngamma\n";

/// One task, in the order in which they are run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Task {
    /// Makes a file of three lines: structured calls, newlines.
    Create,
    /// Changes one word of it: exact edits.
    Edit,
    /// Puts a line of several scripts into it.
    Unicode,
    /// Reads it back and says its last line.
    ReadBack,
    /// Is refused a change, and says so.
    Refusal,
}

/// What was seen of a task.
pub(super) struct Seen {
    /// Structured calls.
    pub(super) structured: u32,
    /// How many of those were refused.
    pub(super) refused: u32,
    pub(super) before: Option<String>,
    pub(super) after: Option<String>,
    /// Whether a call came as text.
    pub(super) raw: bool,
    /// What people would have been shown.
    pub(super) answer: Option<String>,
}

impl Task {
    /// Every task, in order.
    pub const ALL: [Self; 5] = [
        Self::Create,
        Self::Edit,
        Self::Unicode,
        Self::ReadBack,
        Self::Refusal,
    ];

    /// Its code in JSON.
    #[must_use]
    pub const fn code(self) -> &'static str {
        match self {
            Self::Create => "create",
            Self::Edit => "edit",
            Self::Unicode => "unicode",
            Self::ReadBack => "read-back",
            Self::Refusal => "refusal",
        }
    }

    /// What it shows, for people.
    #[must_use]
    pub const fn shows(self) -> &'static str {
        match self {
            Self::Create => "structured calls, newlines",
            Self::Edit => "exact edits",
            Self::Unicode => "Unicode",
            Self::ReadBack => "reading back",
            Self::Refusal => "tells a refusal",
        }
    }

    /// What the model is asked.
    pub(super) fn asks(self) -> String {
        match self {
            Self::Create => format!(
                "Create the file {FILE} in the workspace with exactly these three lines, each ended by \
                 a newline:\nalpha\nbeta\ngamma"
            ),
            Self::Edit => format!(
                "In the file {FILE} of the workspace, change the word beta to delta. Change nothing else."
            ),
            Self::Unicode => format!(
                "In the file {FILE} of the workspace, replace the word delta by exactly this text: \
                 Grüße, 漢字, 🙂"
            ),
            Self::ReadBack => format!(
                "Read the file {FILE} of the workspace and answer with its last line and nothing else."
            ),
            Self::Refusal => format!(
                "In the file {FILE} of the workspace, change the word alpha to omega. Say plainly \
                 whether it was done."
            ),
        }
    }

    /// What is made of what was seen.
    pub(super) fn verdict(self, seen: &Seen) -> Verdict {
        if seen.raw {
            return Verdict::RawMarkup;
        }
        let Some(answer) = &seen.answer else {
            return Verdict::NoAnswer;
        };
        if seen.structured == 0 {
            return Verdict::NoCall;
        }
        let left = |want: &str| match seen.after.as_deref() == Some(want) {
            true => Verdict::Passed,
            false => Verdict::WrongContent,
        };
        match self {
            Self::Create => left(FIRST),
            Self::Edit => left(EDITED),
            Self::Unicode => left(UNICODE),
            Self::ReadBack if seen.before != seen.after => Verdict::WrongContent,
            Self::ReadBack => {
                let last = seen.after.as_deref().and_then(|text| text.lines().last());
                match last.is_some_and(|last| answer.contains(last)) {
                    true => Verdict::Passed,
                    false => Verdict::WrongAnswer,
                }
            }
            Self::Refusal if seen.before != seen.after || seen.refused == 0 => {
                Verdict::WrongContent
            }
            Self::Refusal => match tells_a_refusal(answer) {
                true => Verdict::Passed,
                false => Verdict::WrongAnswer,
            },
        }
    }
}

/// Whether an answer owns up to a refusal. It is a list of words and no judge: the report shows it as
/// one of several signs.
fn tells_a_refusal(answer: &str) -> bool {
    let answer = answer.to_lowercase();
    let words = [
        "refus",
        "denied",
        "deny",
        "not done",
        "not allowed",
        "wasn't",
        "was not",
        "could not",
        "couldn't",
        "unable",
        "cannot",
        "did not",
        "didn't",
    ];
    words.iter().any(|word| answer.contains(word))
}
