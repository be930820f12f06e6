//! The sentence of each refusal.
//!
//! In: a refusal. Out: what a person reads. Never: what a configuration holds, a path of the host.

use std::{borrow::Cow, fmt};

use guildhall_confine::Trouble;

use crate::programs::OLDEST_GIT;

use super::{Feature, GitRefusal, KeyClass, MessageFault, Operation, RemoteFault};

impl fmt::Display for GitRefusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.sentence())?;
        match self.words() {
            Some(words) if !words.is_empty() => write!(f, ": {words}"),
            Some(_) | None => Ok(()),
        }
    }
}

impl GitRefusal {
    #[expect(clippy::too_many_lines, reason = "one line a refusal")]
    fn sentence(&self) -> Cow<'static, str> {
        let fixed = match self {
            Self::PathTwice(path) => return format!("the path {path} is named twice").into(),
            Self::Path(path, refusal) => return format!("{path}: {refusal}").into(),
            Self::IgnoredPath(path) => {
                return format!("{path} is ignored by the repository's rules").into();
            }
            Self::HiddenPath(path) => {
                return format!("{path} is hidden from git by a flag in the index").into();
            }
            Self::SecretShape(family) => {
                let shape = "what would be committed matches the shape of a credential";
                return format!("{shape} ({})", family.name()).into();
            }
            Self::Root(refusal) => return refusal.to_string().into(),
            Self::Link(name) => {
                return format!("{name} in the git directory is no plain file or folder").into();
            }
            Self::Key(class, name) => {
                let key = format!("the repository's configuration has the key {}", name.0);
                return format!("{key}{}", class.addition()).into();
            }
            Self::MidOperation(operation) => {
                return format!("a {} is half done in the work tree", operation.name()).into();
            }
            Self::NoProgram(name) => {
                return format!("the program {name} is not where it is looked for").into();
            }
            Self::OldGit(version) => {
                return format!("git {version} is older than {OLDEST_GIT}").into();
            }
            Self::Layout(feature) => feature.sentence(),
            Self::NoRequester => {
                "a commit needs the person who asked for it, and this turn has none"
            }
            Self::BadRequester => "the requester's name has no visible character",
            Self::BadMessage(fault) => fault.sentence(),
            Self::PathCount => "a commit takes one to fifty paths",
            Self::TooLarge => "the files are too large for one commit through this tool",
            Self::Owner => {
                "another account owns a part of the repository, or every account may change it"
            }
            Self::Remote(fault) => fault.sentence(),
            Self::Grafts => "the repository has a grafts file, which fakes its history",
            Self::Submodules => "the file .gitmodules holds a character of control",
            Self::OtherBranch => "the work tree is not on the branch that this root is bound to",
            Self::DetachedHead => "the work tree is on no branch: its head is detached",
            Self::Conflicted => "a path is in conflict",
            Self::StagedWork => "the index already holds staged work, which is somebody's own",
            Self::BadIndex => "the index cannot be read, or is too large",
            Self::NothingChanged => "none of the paths differs from the last commit",
            Self::NoCommit => "the branch has no commit yet",
            Self::NoUpstream => "the server has no such branch",
            Self::Diverged => {
                "the server's branch and this one have diverged; a person has to join them"
            }
            Self::Dirty(_) => "a path that would change has changes of its own",
            Self::PullTooLarge => "the pull would change too many paths for this tool",
            Self::Changed => "branch, index or address changed since this was prepared",
            Self::Locked => "another program is at work in the repository",
            Self::PushFailed(_) => "the push failed",
            Self::FetchFailed(_) => "the fetch failed",
            Self::NoVault => "the root has no vault protocol",
            Self::VaultLocked(_) => "the lock is held by somebody else",
            Self::VaultCheck(_) => "the vault's lock check refuses",
            Self::VaultInvalid(_) => "the vault does not validate",
            Self::VaultReserve(_) => "no id was reserved",
            Self::BadReservation => {
                "a reservation needs the prefix BUS, PRJ, SS, DEC or REF and a title of one line, up to 200 characters"
            }
            Self::VaultToolFailed(_) => "the vault's tool broke and said neither yes nor no",
            Self::VaultToolsChanged(path) => {
                return format!(
                    "the vault's tools are not as they were committed: {path}; a person commits that, or puts it back"
                )
                .into();
            }
            Self::VaultToolsProtected => {
                "the vault's tools in `tools/` are changed by people, not through this tool"
            }
            Self::GitFailed(_) => "git failed",
            Self::TimedOut => {
                "the program did not end in time and was ended; what it did is unknown"
            }
            Self::Cancelled => "the call was cancelled; what it did is unknown",
            Self::OutputTooLong => "a program said more than the bound",
            Self::Io(trouble) => trouble_sentence(*trouble),
            Self::OutcomeUnknown => "whether the change happened is unknown; look at the status",
        };
        fixed.into()
    }
}

impl MessageFault {
    const fn sentence(self) -> &'static str {
        match self {
            Self::Empty => "the message is empty",
            Self::TooLong => "the message is too long",
            Self::Control => "the message holds a character of control",
            Self::Requester => "a message does not say who asked for it; that line is added",
        }
    }
}

impl Feature {
    const fn sentence(self) -> &'static str {
        match self {
            Self::NoRepository => "the root has no git directory",
            Self::LinkedWorkTree => {
                "the root is a linked work tree, or its git directory is elsewhere"
            }
            Self::LinkedGitDirectory => "the root's git directory is a link",
            Self::CommonDirectory => "the git directory names another one (commondir)",
            Self::Alternates => "the repository borrows objects of another one (alternates)",
            Self::Reftable => "the repository keeps its branches in a reftable",
            Self::SplitIndex => "the repository's index is split",
            Self::SparseIndex => "the repository's index is sparse",
            Self::PartialClone => "the repository is a partial clone",
            Self::Shallow => "the repository is a shallow clone",
            Self::InfoAttributes => "the git directory has attributes of its own (info/attributes)",
            Self::Filter => {
                "a path has a content filter, such as that of large files (filter attribute)"
            }
            Self::Format => "the repository has a format that is not known here",
            Self::TooBig => "the git directory is larger than the bound",
            Self::Incomplete => "the git directory lacks a part that every repository has",
        }
    }
}

impl KeyClass {
    const fn addition(self) -> &'static str {
        match self {
            Self::NotListed => ", which is not on the list",
            Self::Include => ", which brings in another file",
            Self::Redirect => ", which sends commits and credentials elsewhere",
            Self::Helper => ", which answers for credentials",
        }
    }
}

impl RemoteFault {
    const fn sentence(self) -> &'static str {
        match self {
            Self::Missing => "the repository has no single address in remote.origin.url",
            Self::NotHttps => "remote.origin.url is no https address",
            Self::Dressed => "remote.origin.url has a user, a percent sign or another addition",
            Self::NotTheBound => {
                "remote.origin.url is not the address that this root was bound to; if that is meant, remove the note `remote` from the root's folder in `git` of the binding's folder and start again"
            }
        }
    }
}

impl Operation {
    /// Git's word.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Merge => "merge",
            Self::Rebase => "rebase",
            Self::CherryPick => "cherry-pick",
            Self::Revert => "revert",
            Self::Bisect => "bisect",
        }
    }
}

const fn trouble_sentence(trouble: Trouble) -> &'static str {
    match trouble {
        Trouble::NoAccess => "the system denies access",
        Trouble::NoSpace => "there is no space left",
        Trouble::ReadOnly => "the file system is read-only",
        Trouble::TooManyOpen => "too many files are open",
        Trouble::Unsupported => "the file system lacks a call that is needed",
        Trouble::Other => "the system reported an error",
    }
}
