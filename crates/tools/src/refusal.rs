//! Why a call was not done.
//!
//! In: the reasons of the layers below, and the host's own. Out: one closed enum with a stable code
//! for records and one sentence for models. Never: a path of the host, a name or a value that the
//! call brought along, the system's own error text.

use guildhall_authority::permit::Denied;
use guildhall_confine::{Family, Refusal};
use guildhall_git::GitRefusal;
use guildhall_web::WebRefusal;
use std::fmt;

/// A named reason why a call came to nothing. After [`CallRefusal::is_unknown`] ones it may have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum CallRefusal {
    // The host's own.
    /// No tool of this turn has that name.
    NotOffered,
    /// The turn is over.
    Revoked,
    /// The root has no git.
    NoGit,
    /// The turn has used up its calls.
    CallLimit,
    /// The engine's id of the call is one that this turn had already, or is over its limit.
    CallId,
    /// The arguments do not fit the tool.
    Arguments(ArgumentFault),
    /// The arguments are longer than the tool takes.
    ArgumentsTooLarge,
    /// The result is longer than the tool gives.
    ResultTooLarge,
    /// It took too long; it had not begun to change anything.
    Deadline,
    /// Whoever made the call does not wait for it any more.
    Cancelled,
    /// What would leave or go out matches the shape of a credential.
    SecretShape(Family),
    /// A text would put the mark of something that was left out where that may have been.
    Mask,
    /// The change had begun, and how it ended was not seen.
    EndUnseen,

    // Of the layers below.
    /// The authority's.
    Denied(Denied),
    /// The files'.
    File(Refusal),
    /// The web's.
    Web(WebRefusal),
    /// Git's, once a verb has begun to change something; [`CallRefusal::of_git`] before.
    Git(GitRefusal),
}

/// What is wrong with arguments. The names are those of the tool's own schema.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ArgumentFault {
    /// Not JSON.
    NotJson,
    /// JSON, but no object.
    NotAnObject,
    /// A name stands twice.
    Twice,
    /// A name that the tool does not know.
    Unknown,
    /// One that must be there is not.
    Missing(&'static str),
    /// One is of another type, or not among what it may be.
    Kind(&'static str, &'static str),
}

impl CallRefusal {
    /// The code in results and records.
    pub(crate) const fn code(&self) -> &'static str {
        match self {
            Self::NotOffered => "not-offered",
            Self::Revoked => "revoked",
            Self::NoGit => "no-git",
            Self::CallLimit => "call-limit",
            Self::CallId => "call-id",
            Self::Arguments(_) => "bad-arguments",
            Self::ArgumentsTooLarge => "arguments-too-large",
            Self::ResultTooLarge => "result-too-large",
            Self::Deadline => "deadline",
            Self::Cancelled => "cancelled",
            Self::SecretShape(_) => "secret-shape",
            Self::Mask => "masked-text",
            Self::EndUnseen => "outcome-unknown",
            Self::Denied(denied) => denied.code(),
            Self::File(refusal) => refusal.code(),
            Self::Web(refusal) => refusal.code(),
            Self::Git(refusal) => refusal.code(),
        }
    }

    /// Whether the change may have happened all the same.
    pub(crate) const fn is_unknown(&self) -> bool {
        matches!(
            self,
            Self::EndUnseen
                | Self::File(Refusal::OutcomeUnknown)
                | Self::Git(
                    GitRefusal::OutcomeUnknown | GitRefusal::TimedOut | GitRefusal::Cancelled
                )
        )
    }

    /// A refusal of git's while nothing is changed yet.
    pub(crate) fn of_git(refusal: GitRefusal) -> Self {
        if refusal == GitRefusal::Cancelled {
            Self::Cancelled
        } else if refusal == GitRefusal::TimedOut {
            Self::Deadline
        } else {
            Self::Git(refusal)
        }
    }
}

impl fmt::Display for CallRefusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sentence = match self {
            Self::NotOffered => "this turn has no tool of that name",
            Self::Revoked => "the turn is over",
            Self::NoGit => "the root has no git",
            Self::CallLimit => {
                "the calls of this message are used up; answer with what is known, the next message \
                 begins anew"
            }
            Self::CallId => "this call's id was used before in this turn, or is too long",
            Self::Arguments(fault) => return fault.fmt(f),
            Self::ArgumentsTooLarge => "the arguments are larger than the limit",
            Self::ResultTooLarge => "the result is larger than the limit; ask for less",
            Self::Deadline => "it took too long and was given up; nothing was changed",
            Self::Cancelled => "the call was cancelled; nothing was changed",
            Self::SecretShape(family) => {
                return write!(
                    f,
                    "it matches the shape of a credential ({})",
                    family.name()
                );
            }
            Self::Mask => {
                "the text holds `<masked>`, which stands for something that was left out; leave that \
                 part of the file as it is"
            }
            Self::EndUnseen => "whether the change happened is unknown; look before trying again",
            Self::Denied(denied) => return denied.fmt(f),
            Self::File(refusal) => return refusal.fmt(f),
            Self::Web(refusal) => return refusal.fmt(f),
            Self::Git(refusal) => return refusal.fmt(f),
        };
        f.write_str(sentence)
    }
}

impl fmt::Display for ArgumentFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotJson => f.write_str("the arguments are not JSON"),
            Self::NotAnObject => f.write_str("the arguments are no JSON object"),
            Self::Twice => f.write_str("an argument is given twice"),
            Self::Unknown => f.write_str("there is an argument that the tool does not have"),
            Self::Missing(name) => write!(f, "`{name}` is missing"),
            Self::Kind(name, kind) => write!(f, "`{name}` must be {kind}"),
        }
    }
}

impl From<Denied> for CallRefusal {
    fn from(denied: Denied) -> Self {
        match denied {
            Denied::Revoked => Self::Revoked,
            Denied::NotOffered => Self::NotOffered,
            Denied::UnknownRoot
            | Denied::RootReadonly
            | Denied::WorkspaceOnly
            | Denied::PeerNeverAsks
            | Denied::ByPerson
            | Denied::TimedOut
            | Denied::Undelivered
            | Denied::Stopped
            | Denied::OtherEffect => Self::Denied(denied),
        }
    }
}

impl From<Refusal> for CallRefusal {
    fn from(refusal: Refusal) -> Self {
        Self::File(refusal)
    }
}
