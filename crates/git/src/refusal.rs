//! Why a git verb was not done.
//!
//! In: nothing. Out: one closed enum with a stable code for records and one sentence for people.
//! Never: carries a value of a configuration, a path of the host, or a program's output that was not
//! bounded and masked ([`Masked`]).

mod sentences; // what people read

use std::fmt;

use guildhall_confine as confine;

use crate::masked::Masked;

/// A named reason why a verb did nothing.
///
/// [`GitRefusal::OutcomeUnknown`] is the one after which something may have happened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum GitRefusal {
    // What was asked for.
    /// A commit without a person who asked for it.
    NoRequester,
    /// The requester's name has no visible character.
    BadRequester,
    /// The message is empty, too long, or holds what no message may.
    BadMessage(MessageFault),
    /// No path, or more than fifty.
    PathCount,
    /// The path was named twice.
    PathTwice(String),
    /// The path may not be committed, by the rules of the file tools.
    Path(String, confine::Refusal),
    /// The path is ignored by the repository's rules and was never committed.
    IgnoredPath(String),
    /// The path is hidden from git by a flag in the index.
    HiddenPath(String),
    /// What would be committed matches the shape of a credential.
    SecretShape(confine::Family),
    /// The files of one commit are larger than the bound.
    TooLarge,

    // What the repository is.
    /// The root itself.
    Root(confine::Refusal),
    /// The repository has a feature that cannot be served safely.
    Layout(Feature),
    /// Something in the git directory is a link, or no plain file or folder.
    Link(String),
    /// Another account owns a part of the repository, or every account may change it.
    Owner,
    /// A key in the repository's configuration is not on the list.
    Key(KeyClass, KeyName),
    /// The address of `origin` cannot be used.
    Remote(RemoteFault),
    /// A file fakes ancestry.
    Grafts,
    /// `.gitmodules` holds what no path may.
    Submodules,
    /// An operation is half done.
    MidOperation(Operation),
    /// The head is on another branch, or on no branch by git's rules.
    OtherBranch,
    /// The head is detached.
    DetachedHead,
    /// A path is in conflict.
    Conflicted,
    /// The index holds staged work.
    StagedWork,
    /// The index cannot be read, or is larger than the bound.
    BadIndex,

    // What a verb found.
    /// None of the named paths differs from the last commit.
    NothingChanged,
    /// The branch has no commit.
    NoCommit,
    /// Origin has no such branch.
    NoUpstream,
    /// Origin has commits that ours does not build on, and the other way round.
    Diverged,
    /// A path that would be changed has changes of its own; the program's words say which.
    Dirty(Masked),
    /// A pull changes more paths than the bound.
    PullTooLarge,
    /// Branch, index or address changed after the verb was prepared.
    Changed,
    /// Another program holds a lock in the repository.
    Locked,
    /// The push failed.
    PushFailed(Masked),
    /// The fetch failed.
    FetchFailed(Masked),

    // The vault protocol.
    /// The root has no vault protocol.
    NoVault,
    /// The lock of a path is held by another owner; the tool's words say whose.
    VaultLocked(Masked),
    /// The named paths do not pass the lock tool's check.
    VaultCheck(Masked),
    /// The vault does not validate.
    VaultInvalid(Masked),
    /// No id was reserved.
    VaultReserve(Masked),
    /// The prefix is none of the five, or the title is empty, too long or not one visible line.
    BadReservation,
    /// A vault's tool broke before it said yes or no.
    VaultToolFailed(Masked),
    /// The vault's tools are not as they were committed; the first path that is not.
    VaultToolsChanged(String),
    /// No call may change the vault's tools, which verbs run.
    VaultToolsProtected,

    // The programs.
    /// Git, or the interpreter of the vault's tools, is not where it is looked for.
    NoProgram(&'static str),
    /// Git is older than the oldest that is known to be right.
    OldGit(GitVersion),
    /// Git failed in a way that has no name here.
    GitFailed(Masked),
    /// A program did not end in time and was ended.
    TimedOut,
    /// The call was cancelled, and the program that ran was ended.
    Cancelled,
    /// A program said more than the bound.
    OutputTooLong,
    /// The system refused.
    Io(confine::Trouble),
    /// The outcome is unknown: a step after the first change failed.
    OutcomeUnknown,
}

/// What is wrong with a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MessageFault {
    /// Nothing visible in it.
    Empty,
    /// More than [`crate::MESSAGE_MAX_CHARS`] characters.
    TooLong,
    /// A control character besides line feed and tab.
    Control,
    /// A line that claims a requester.
    Requester,
}

/// A feature of a repository that is not served.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Feature {
    /// There is no `.git` at all.
    NoRepository,
    /// `.git` is a file: a linked work tree, or a git directory elsewhere.
    LinkedWorkTree,
    /// `.git` is a link.
    LinkedGitDirectory,
    /// A `commondir` or `gitdir` file: objects and configuration from elsewhere.
    CommonDirectory,
    /// `objects/info/alternates`: objects of other repositories.
    Alternates,
    /// References in a reftable.
    Reftable,
    /// An index that is split over files.
    SplitIndex,
    /// An index that leaves folders out.
    SparseIndex,
    /// Objects that are fetched when they are missed.
    PartialClone,
    /// A history without its beginning.
    Shallow,
    /// `info/attributes` with rules in it.
    InfoAttributes,
    /// A content filter, such as that of large files.
    Filter,
    /// An object format other than SHA-1 and SHA-256, or a newer repository format.
    Format,
    /// A git directory, or a file in it, that is larger than the bound.
    TooBig,
    /// A part that every repository has is missing.
    Incomplete,
}

/// What a key of a configuration would do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyClass {
    /// Anything that is not on the list.
    NotListed,
    /// Brings in another file.
    Include,
    /// Sends commits or credentials elsewhere.
    Redirect,
    /// Answers for credentials.
    Helper,
}

/// A configuration key's name, bounded and masked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyName(pub(crate) String);

/// What is wrong with an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RemoteFault {
    /// There is no `remote.origin.url`, or there are several.
    Missing,
    /// It is not an `https` address.
    NotHttps,
    /// It has a user, a percent sign, a query, a fragment, or a character of control.
    Dressed,
    /// It is not the address that the root was bound to.
    NotTheBound,
}

/// An operation of git that can stand half done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "each is git's own word")]
pub enum Operation {
    Merge,
    Rebase,
    CherryPick,
    Revert,
    Bisect,
}

/// A version of git.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct GitVersion {
    /// The first number.
    pub major: u32,
    /// The second.
    pub minor: u32,
    /// The third; zero where there is none.
    pub patch: u32,
}

impl fmt::Display for GitVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}.{}", self.major, self.minor, self.patch)
    }
}

impl KeyName {
    /// The name as it may be shown.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl GitRefusal {
    /// The stable code for records. A code never changes its meaning.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::NoRequester | Self::BadRequester => "requester",
            Self::BadMessage(_) => "message",
            Self::PathCount => "path-count",
            Self::PathTwice(_) => "path-twice",
            Self::Path(_, refusal) | Self::Root(refusal) => refusal.code(),
            Self::IgnoredPath(_) => "ignored-path",
            Self::HiddenPath(_) => "hidden-path",
            Self::SecretShape(_) => "secret-shape",
            Self::TooLarge => "too-large",
            Self::Layout(_) => "git-layout",
            Self::Link(_) => "git-link",
            Self::Owner => "owner",
            Self::Key(KeyClass::NotListed, _)
            | Self::Remote(RemoteFault::Missing | RemoteFault::NotHttps) => "config-key",
            Self::Key(KeyClass::Include, _) => "config-include",
            Self::Key(KeyClass::Redirect, _)
            | Self::Remote(RemoteFault::Dressed | RemoteFault::NotTheBound) => {
                "credential-redirect"
            }
            Self::Key(KeyClass::Helper, _) => "credential-helper",
            Self::Grafts => "object-view",
            Self::Submodules => "submodule",
            Self::MidOperation(_) => "mid-operation",
            Self::OtherBranch | Self::DetachedHead => "branch",
            Self::Conflicted => "conflicted",
            Self::StagedWork | Self::BadIndex => "index",
            Self::NothingChanged => "nothing-changed",
            Self::NoCommit => "no-commit",
            Self::NoUpstream => "no-upstream",
            Self::Diverged => "diverged",
            Self::Dirty(_) => "dirty",
            Self::PullTooLarge => "pull-too-large",
            Self::Changed => "changed-since-prepared",
            Self::Locked => "git-locked",
            Self::PushFailed(_) => "push-failed",
            Self::FetchFailed(_) => "fetch-failed",
            Self::NoVault => "no-vault",
            Self::VaultLocked(_) => "vault-locked",
            Self::VaultCheck(_) => "vault-check",
            Self::VaultInvalid(_) => "vault-invalid",
            Self::VaultReserve(_) => "vault-reserve",
            Self::BadReservation => "bad-reservation",
            Self::VaultToolFailed(_) => "vault-tool-failed",
            Self::VaultToolsChanged(_) | Self::VaultToolsProtected => "vault-tools",
            Self::NoProgram(_) => "no-program",
            Self::OldGit(_) => "old-git",
            Self::GitFailed(_) => "git-failed",
            Self::TimedOut => "timed-out",
            Self::Cancelled => "cancelled",
            Self::OutputTooLong => "output-too-long",
            Self::Io(_) => "io-error",
            Self::OutcomeUnknown => "outcome-unknown",
        }
    }

    /// One sentence for people and models, with the name of what is meant where that is safe.
    #[must_use]
    pub fn text(&self) -> String {
        self.to_string()
    }

    /// Whether it is about a repository that a person can mend while a seat is served.
    pub(crate) const fn is_of_repository(&self) -> bool {
        !matches!(self, Self::Layout(Feature::NoRepository))
            && matches!(
                self,
                Self::Layout(_)
                    | Self::Link(_)
                    | Self::Owner
                    | Self::Key(..)
                    | Self::Remote(_)
                    | Self::Grafts
                    | Self::Submodules
                    | Self::GitFailed(_)
            )
    }

    /// The words of the program that refused, bounded and masked.
    #[must_use]
    pub const fn words(&self) -> Option<&Masked> {
        if let Self::Dirty(words)
        | Self::PushFailed(words)
        | Self::FetchFailed(words)
        | Self::VaultLocked(words)
        | Self::VaultCheck(words)
        | Self::VaultInvalid(words)
        | Self::VaultReserve(words)
        | Self::VaultToolFailed(words)
        | Self::GitFailed(words) = self
        {
            Some(words)
        } else {
            None
        }
    }

    /// The class of an error number.
    pub(crate) fn of_errno(errno: rustix::io::Errno) -> Self {
        use confine::Trouble;
        use rustix::io::Errno;
        Self::Io(match errno {
            Errno::ACCESS | Errno::PERM => Trouble::NoAccess,
            Errno::NOSPC | Errno::DQUOT | Errno::FBIG => Trouble::NoSpace,
            Errno::ROFS => Trouble::ReadOnly,
            Errno::MFILE | Errno::NFILE => Trouble::TooManyOpen,
            Errno::NOSYS | Errno::OPNOTSUPP => Trouble::Unsupported,
            _ => Trouble::Other,
        })
    }

    /// The class of an error of the standard library.
    pub(crate) fn of_io(error: &std::io::Error) -> Self {
        let errno = error
            .raw_os_error()
            .map(rustix::io::Errno::from_raw_os_error);
        errno.map_or(Self::Io(confine::Trouble::Other), Self::of_errno)
    }
}

impl std::error::Error for GitRefusal {}
