//! Sending the branch to the bound server.
//!
//! In: a commit of the branch. Out: that the server has it, or its masked words why not.
//! Never: a force, a tag, another branch, another address than the bound one, a hook.

use crate::{
    masked::Masked,
    refs::{self, ObjectId},
    refusal::GitRefusal,
    root::{GitRoot, Held},
    spawn::Cancel,
    verb::{Stand, Verb},
};
use std::sync::Arc;

/// A push that is ready: what it sends and where is fixed.
#[derive(Debug)]
#[must_use = "a push that is not made sends nothing"]
pub struct PreparedPush {
    root: GitRoot,
    summary: PushSummary,
}

/// What a push would do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PushSummary {
    /// The branch.
    pub branch: String,
    /// The commit that it would have at the server.
    pub commit: ObjectId,
    /// The address.
    pub remote: String,
    /// How many commits the server does not have, by what was last heard of it.
    pub ahead: Option<u32>,
    /// Their first lines, newest first, bounded and masked.
    pub commits: Masked,
}

/// Whether the server has a commit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Pushed {
    /// It has.
    Yes,
    /// It has not, or nobody knows; the words are the refusal's.
    No {
        /// Why not.
        refusal: GitRefusal,
    },
}

impl GitRoot {
    /// Looks what a push would send.
    ///
    /// # Errors
    /// What the repository is refused for, [`GitRefusal::Remote`], [`GitRefusal::NoCommit`].
    pub fn prepare_push(&self, cancel: &Cancel) -> Result<PreparedPush, GitRefusal> {
        let _turn = self.0.turn.lock();
        let verb = Verb::ground(&self.0, cancel)?;
        let stand = verb.stand()?;
        let remote = verb.remote()?;
        let commit = stand.head.clone().ok_or(GitRefusal::NoCommit)?;
        let (ahead, commits) = unsent(&verb, &stand, &commit)?;
        Ok(PreparedPush {
            root: self.clone(),
            summary: PushSummary {
                branch: self.branch().to_owned(),
                commit,
                remote: remote.to_string(),
                ahead,
                commits,
            },
        })
    }
}

impl PreparedPush {
    /// What it would do.
    #[must_use]
    pub const fn summary(&self) -> &PushSummary {
        &self.summary
    }

    /// What a permit binds: the same fields mean the same effect.
    #[must_use]
    pub fn digest_fields(&self) -> Vec<(&'static str, String)> {
        let mut fields = self.root.0.digest_fields();
        fields.push(("remote", self.summary.remote.clone()));
        fields.push(("commit", self.summary.commit.to_string()));
        fields
    }

    /// Sends the branch.
    ///
    /// # Errors
    /// [`GitRefusal::Changed`] when the branch has another commit now; [`GitRefusal::PushFailed`] with
    /// the server's words; what the repository is refused for.
    pub fn push(self, cancel: &Cancel) -> Result<ObjectId, GitRefusal> {
        let held: Arc<Held> = Arc::clone(&self.root.0);
        let _turn = held.turn.lock();
        let verb = Verb::ground(&held, cancel)?;
        let stand = verb.stand()?;
        if stand.head.as_ref() != Some(&self.summary.commit) {
            return Err(GitRefusal::Changed);
        }
        send(&verb, &self.summary.commit)?;
        Ok(self.summary.commit)
    }
}

/// Sends `commit` as the branch, and notes that the server has it.
pub(crate) fn send(verb: &Verb<'_>, commit: &ObjectId) -> Result<(), GitRefusal> {
    let remote = verb.remote()?;
    let branch = &verb.held.settings.branch;
    let push = verb.git_online(remote).args([
        "push",
        "--porcelain",
        "--no-verify",
        "--no-signed",
        "--no-follow-tags",
        "--no-force-with-lease",
        "--recurse-submodules=no",
        "--no-progress",
        "--",
        &remote.to_string(),
        &format!("{commit}:refs/heads/{branch}"),
    ]);
    let ended = verb.run(&push)?;
    if !ended.is_ok() {
        return Err(GitRefusal::PushFailed(verb.masked(&ended)));
    }
    note_upstream(verb, commit);
    Ok(())
}

/// Notes what the server's branch is, where the repository keeps such notes.
pub(crate) fn note_upstream(verb: &Verb<'_>, commit: &ObjectId) {
    if !verb.keys.tracks {
        return;
    }
    let git = &verb.git.folder;
    let name = format!("refs/remotes/origin/{}", verb.held.settings.branch);
    // It is a note: the next fetch writes it again, and the server has what it has.
    if let Ok(known) = refs::read(git, &name)
        && known.as_ref() != Some(commit)
    {
        refs::compare_and_set(git, &name, known.as_ref(), commit).ok();
    }
}

/// How many commits the server does not have, and their first lines.
fn unsent(
    verb: &Verb<'_>,
    stand: &Stand,
    commit: &ObjectId,
) -> Result<(Option<u32>, Masked), GitRefusal> {
    let range = match &stand.upstream {
        Some(upstream) => vec![commit.to_string(), format!("^{upstream}")],
        None => vec![commit.to_string()],
    };
    let counted = verb.git().args(["rev-list", "--count"]).args(&range);
    let ended = verb.run(&counted)?;
    // What was last heard of the server may be a commit that is gone.
    if !ended.is_ok() {
        return Ok((None, Masked::default()));
    }
    let count = String::from_utf8_lossy(&ended.out).trim().parse().ok();
    let ahead = count.filter(|_| stand.upstream.is_some());
    let log = verb
        .git()
        .args(["log", "--no-show-signature", "--no-decorate", "--no-color"])
        .args(["--format=%h %s", "-n", "20"])
        .args(&range);
    let said = verb.run(&log)?;
    Ok((ahead, Masked::of(&said.out, &verb.held.places())))
}

impl Held {
    /// The parts of an effect that belong to the root.
    pub(crate) fn digest_fields(&self) -> Vec<(&'static str, String)> {
        let identity = self.settings.root.identity();
        vec![
            ("root", format!("{}:{}", identity.device, identity.inode)),
            ("branch", self.settings.branch.clone()),
        ]
    }
}
