//! The branch at a commit that was prepared.
//!
//! In: a prepared commit, the repository as it stands now. Out: its objects in the repository, the
//! branch at it, the index that goes with it.
//! Never: a branch that moved since, an index that somebody wrote since, a half of the two without
//! saying so.

use super::PreparedCommit;
use crate::{
    folder::Folder, lock::IndexLock, objects::carry_over, refs::RefLock, refusal::GitRefusal,
    verb::Verb,
};

impl PreparedCommit {
    /// The order is git's: both locks, both looks, the objects, the branch, the index.
    pub(super) fn publish(&self, verb: &Verb<'_>) -> Result<(), GitRefusal> {
        let git = &verb.git.folder;
        let next = std::fs::read(self.private.index());
        let next = next.map_err(|error| GitRefusal::of_io(&error))?;
        if verb.cancel.is_cancelled() {
            return Err(GitRefusal::Cancelled);
        }
        let index = IndexLock::take(git)?;
        if verb.index_now()? != self.index_before {
            return Err(GitRefusal::Changed);
        }
        let name = format!("refs/heads/{}", verb.held.settings.branch);
        let commit = &self.summary.commit;
        let branch = RefLock::take(git, &name, self.before.as_ref(), commit)?;
        let store = git.folder(b"objects").map_err(GitRefusal::of_errno)?;
        let ours = Folder::open_ambient(&self.private.objects()).map_err(GitRefusal::of_errno)?;
        carry_over(&ours, &store)?;
        branch.commit()?;
        index.commit(&next).map_err(|_| GitRefusal::OutcomeUnknown)
    }
}
