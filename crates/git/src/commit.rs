//! A commit in two steps: prepared whole, then made.
//!
//! In: a message, one to fifty paths, who asked. Out: first a commit that exists in a store of our own
//! and is shown; then the branch at that commit, and the server told.
//! Never: a path that was neither named nor written by a reservation, a person's staged work, a commit without a requester, a
//! commit that differs from the one that was shown.

mod publish; // the branch at the new commit
mod stage; // from paths to a tree

use std::sync::Arc;

use guildhall_confine::{RelPath, credential_in};

use crate::{
    environment,
    index::IndexContent,
    masked::Masked,
    private::Private,
    push::Pushed,
    refs::ObjectId,
    refusal::GitRefusal,
    root::{GitRoot, Held, Protocol},
    spawn::Cancel,
    vault,
    verb::{Stand, Verb},
    words::{self, Requester, author},
};

/// Most paths of one commit.
pub const PATHS_MAX_COUNT: usize = 50;

/// What a commit is asked for.
#[derive(Clone, Copy, Debug)]
pub struct CommitRequest<'a> {
    /// What changed and why; the line that says who asked is added.
    pub message: &'a str,
    /// The files, relative to the root.
    pub paths: &'a [String],
    /// Who asked, from the turn.
    pub requester: Option<&'a Requester>,
}

/// A commit that exists and that no branch has. Dropping it removes it.
#[derive(Debug)]
#[must_use = "a commit that is not made is on no branch"]
pub struct PreparedCommit {
    root: GitRoot,
    /// Holds the new objects and the next index.
    private: Private,
    before: Option<ObjectId>,
    index_before: IndexContent,
    /// The paths that were named.
    paths: Vec<RelPath>,
    /// Those, and what a reservation left for this commit.
    all: Vec<RelPath>,
    summary: CommitSummary,
}

/// What a commit would do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommitSummary {
    /// The branch.
    pub branch: String,
    /// The commit; its name covers files, message, author and history.
    pub commit: ObjectId,
    /// The commit that it builds on.
    pub before: Option<ObjectId>,
    /// The files that change, in the order of the tree.
    pub files: Vec<CommitFile>,
    /// The whole message.
    pub message: String,
    /// The changes, bounded and masked.
    pub diff: Masked,
    /// Where it is pushed to, if there is a bound address.
    pub remote: Option<String>,
}

/// One file of a commit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommitFile {
    /// The path.
    pub path: String,
    /// Lines that come and lines that go; none for a file that is no text.
    pub lines: Option<(u64, u64)>,
    /// The object of its content, by which a person can tell what is no text.
    pub blob: ObjectId,
    /// Its size, in bytes.
    pub bytes: u64,
    /// Whether the file is new in the branch.
    pub is_new: bool,
}

/// What a commit did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommitDone {
    /// The commit that the branch has now.
    pub commit: ObjectId,
    /// Whether the server has it too.
    pub pushed: Pushed,
}

impl GitRoot {
    /// Makes a commit that no branch has yet.
    ///
    /// # Errors
    /// What is wrong with the request: [`GitRefusal::NoRequester`], [`GitRefusal::BadMessage`],
    /// [`GitRefusal::PathCount`], [`GitRefusal::PathTwice`], [`GitRefusal::Path`],
    /// [`GitRefusal::SecretShape`], [`GitRefusal::TooLarge`]; with the work tree:
    /// [`GitRefusal::StagedWork`], [`GitRefusal::NothingChanged`], [`GitRefusal::IgnoredPath`],
    /// [`GitRefusal::HiddenPath`]; with the vault: [`GitRefusal::VaultCheck`],
    /// [`GitRefusal::VaultInvalid`], [`GitRefusal::VaultToolsChanged`],
    /// [`GitRefusal::VaultToolsProtected`]; and what the repository is refused for.
    pub fn prepare_commit(
        &self,
        request: &CommitRequest<'_>,
        cancel: &Cancel,
    ) -> Result<PreparedCommit, GitRefusal> {
        let requester = request.requester.ok_or(GitRefusal::NoRequester)?;
        let message = words::message(request.message, requester)?;
        let paths = paths(&self.0, request.paths)?;
        if let Some(family) = credential_in(message.as_bytes()) {
            return Err(GitRefusal::SecretShape(family));
        }
        let _turn = self.0.turn.lock();
        let verb = Verb::ground(&self.0, cancel)?;
        let stand = verb.stand()?;
        stage::refuse_staged(&verb, &stand)?;
        stage::refuse_hidden(&stand, &paths)?;
        let mut all = paths.clone();
        if self.0.settings.protocol == Protocol::Vault {
            vault::refuse_commit(&verb, stand.head.as_ref(), &paths)?;
            all.extend(vault::reserved::waiting(&verb, &paths)?);
            stage::refuse_hidden(&stand, &all)?;
        }
        let tree = stage::tree(&verb, &all)?;
        let files = stage::files(&verb, &stand, &tree, &all)?;
        let commit = commit_tree(&verb, &stand, &tree, &message)?;
        let diff = stage::diff(&verb, &stand, &tree)?;
        let remote = verb.remote().ok().map(ToString::to_string);
        Ok(PreparedCommit {
            root: self.clone(),
            before: stand.head.clone(),
            index_before: stand.view.content,
            paths,
            all,
            summary: CommitSummary {
                branch: self.branch().to_owned(),
                commit,
                before: stand.head,
                files,
                message,
                diff,
                remote,
            },
            private: verb.private,
        })
    }
}

impl PreparedCommit {
    /// What it would do.
    #[must_use]
    pub const fn summary(&self) -> &CommitSummary {
        &self.summary
    }

    /// What a permit binds: the same fields mean the same effect.
    #[must_use]
    pub fn digest_fields(&self) -> Vec<(&'static str, String)> {
        let mut fields = self.root.0.digest_fields();
        let none = || "none".to_owned();
        let before = self.before.as_ref();
        fields.push(("before", before.map_or_else(none, ToString::to_string)));
        fields.push(("commit", self.summary.commit.to_string()));
        fields.push(("remote", self.summary.remote.clone().unwrap_or_else(none)));
        fields
    }

    /// Sets the branch to the commit, then pushes. A push that fails leaves the commit, and says so.
    ///
    /// # Errors
    /// [`GitRefusal::Changed`] when branch or index are not what they were,
    /// [`GitRefusal::Locked`], what the repository or the vault refuse now: with nothing changed.
    /// [`GitRefusal::OutcomeUnknown`] when the branch has the commit and the index could not follow.
    pub fn commit(self, cancel: &Cancel) -> Result<CommitDone, GitRefusal> {
        let held: Arc<Held> = Arc::clone(&self.root.0);
        let _turn = held.turn.lock();
        let verb = Verb::ground(&held, cancel)?;
        let stand = verb.stand()?;
        if stand.head != self.before || stand.view.content != self.index_before {
            return Err(GitRefusal::Changed);
        }
        if held.settings.protocol == Protocol::Vault {
            vault::refuse_commit(&verb, stand.head.as_ref(), &self.paths)?;
        }
        self.publish(&verb)?;
        if held.settings.protocol == Protocol::Vault {
            vault::reserved::settle(&verb, &self.all);
        }
        let pushed = match crate::push::send(&verb, &self.summary.commit) {
            Ok(()) => Pushed::Yes,
            Err(refusal) => Pushed::No { refusal },
        };
        Ok(CommitDone {
            commit: self.summary.commit.clone(),
            pushed,
        })
    }
}

/// The paths of a request, each a plain file under the root.
fn paths(held: &Held, texts: &[String]) -> Result<Vec<RelPath>, GitRefusal> {
    if texts.is_empty() || texts.len() > PATHS_MAX_COUNT {
        return Err(GitRefusal::PathCount);
    }
    let mut paths: Vec<RelPath> = Vec::with_capacity(texts.len());
    for text in texts {
        if let Some(family) = credential_in(text.as_bytes()) {
            return Err(GitRefusal::SecretShape(family));
        }
        let named = |refusal| GitRefusal::Path(crate::masked::shown_name(text, 200), refusal);
        let path = RelPath::parse(text).map_err(named)?;
        held.settings.root.refuse_unusual(&path).map_err(named)?;
        if paths.contains(&path) {
            return Err(GitRefusal::PathTwice(path.to_string()));
        }
        paths.push(path);
    }
    Ok(paths)
}

/// The commit itself, in our own store.
fn commit_tree(
    verb: &Verb<'_>,
    stand: &Stand,
    tree: &ObjectId,
    message: &str,
) -> Result<ObjectId, GitRefusal> {
    let who = author(&verb.held.settings.author).ok_or(GitRefusal::OtherBranch)?;
    let mut run = verb.git_apart().args(["commit-tree", "--no-gpg-sign"]);
    if let Some(head) = &stand.head {
        run = run.args(["-p", head.as_str()]);
    }
    run = run.args(["-F", "-", tree.as_str()]);
    run.env.extend(environment::of_author(who.0, who.1));
    verb.object(&run.input(message.as_bytes().to_vec()))
}
