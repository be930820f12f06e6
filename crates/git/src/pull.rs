//! Taking what the server has: fast-forward alone.
//!
//! In: a root with git. Out: the branch, the index and the work tree at the server's commit.
//! Never: a merge, a pull into a work tree with changes of its own, a file that git does not know or
//! ignores under a new one, a tag, another reference, a program for content.

mod absent; // nothing stands where a new file would

use crate::{
    environment,
    lock::IndexLock,
    masked::Masked,
    push::note_upstream,
    refs::{ObjectId, RefLock},
    refusal::{Feature, GitRefusal},
    root::GitRoot,
    spawn::{Cancel, Run},
    verb::{Stand, Verb},
};

/// Where a fetch puts what it got, in the private directory.
const FETCHED: &str = "refs/guildhall/fetched";

/// What a pull did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PullDone {
    /// The commit before; none in an empty repository.
    pub before: Option<ObjectId>,
    /// The commit now.
    pub after: ObjectId,
    /// How many paths it changed.
    pub changed: usize,
}

impl GitRoot {
    /// Takes what the server has, if ours is a part of it.
    ///
    /// When it is the other way round, or both are the same, nothing changes and that is a success.
    ///
    /// # Errors
    /// [`GitRefusal::Diverged`] and [`GitRefusal::Dirty`] with nothing changed;
    /// [`GitRefusal::NoUpstream`], [`GitRefusal::FetchFailed`], [`GitRefusal::PullTooLarge`],
    /// [`GitRefusal::Locked`]; what the repository is refused for; [`GitRefusal::OutcomeUnknown`] when
    /// it failed half-way.
    pub fn pull(&self, cancel: &Cancel) -> Result<PullDone, GitRefusal> {
        let _turn = self.0.turn.lock();
        let verb = Verb::ground(&self.0, cancel)?;
        let stand = verb.stand()?;
        let fetched = fetch(&verb)?;
        if !goes_forward(&verb, stand.head.as_ref(), &fetched)? {
            note_upstream(&verb, &fetched);
            return Ok(PullDone {
                before: stand.head.clone(),
                after: stand.head.unwrap_or(fetched),
                changed: 0,
            });
        }
        let changed = incoming(&verb, stand.head.as_ref(), &fetched)?;
        refuse_dirty(&verb, &stand)?;
        absent::refuse_overwriting(&verb, stand.head.as_ref(), &fetched)?;
        take(&verb, &stand, &fetched)?;
        note_upstream(&verb, &fetched);
        Ok(PullDone {
            before: stand.head,
            after: fetched,
            changed,
        })
    }
}

/// Gets the server's branch; nothing of the repository but its store of objects changes.
fn fetch(verb: &Verb<'_>) -> Result<ObjectId, GitRefusal> {
    let remote = verb.remote()?;
    let branch = &verb.held.settings.branch;
    let fetch = verb.git_online(remote).args([
        "fetch",
        "--no-tags",
        "--no-write-fetch-head",
        "--refmap=",
        "--no-recurse-submodules",
        "--no-auto-maintenance",
        "--no-progress",
        "--",
        &remote.to_string(),
        &format!("+refs/heads/{branch}:{FETCHED}"),
    ]);
    let ended = verb.run(&fetch)?;
    if !ended.is_ok() {
        let said = String::from_utf8_lossy(&ended.err);
        return Err(if said.contains("couldn't find remote ref") {
            GitRefusal::NoUpstream
        } else {
            GitRefusal::FetchFailed(verb.masked(&ended))
        });
    }
    verb.object(&verb.git().args(["rev-parse", "--verify", FETCHED]))
}

/// Whether `fetched` builds on ours and is more.
fn goes_forward(
    verb: &Verb<'_>,
    head: Option<&ObjectId>,
    fetched: &ObjectId,
) -> Result<bool, GitRefusal> {
    let Some(head) = head else { return Ok(true) };
    if head == fetched || is_ancestor(verb, fetched, head)? {
        return Ok(false);
    }
    if is_ancestor(verb, head, fetched)? {
        return Ok(true);
    }
    Err(GitRefusal::Diverged)
}

fn is_ancestor(verb: &Verb<'_>, old: &ObjectId, new: &ObjectId) -> Result<bool, GitRefusal> {
    let asked = ["merge-base", "--is-ancestor", old.as_str(), new.as_str()];
    let ended = verb.run(&verb.git().args(asked))?;
    match ended.code {
        Some(0) => Ok(true),
        Some(1) => Ok(false),
        _ => Err(GitRefusal::GitFailed(verb.masked(&ended))),
    }
}

/// Refuses a work tree in which a path that git knows has changes, staged or not.
fn refuse_dirty(verb: &Verb<'_>, stand: &Stand) -> Result<(), GitRefusal> {
    let Some(head) = &stand.head else {
        return Ok(());
    };
    verb.refresh()?;
    // Without a look into other repositories: git would run in them, by their own configuration.
    let asked = ["diff-index", "--name-only", "-z", "--ignore-submodules=all"];
    let said = verb.done(&verb.git().args(asked).args([head.as_str(), "--"]))?;
    if said.is_empty() {
        return Ok(());
    }
    Err(GitRefusal::Dirty(named(verb, &said)))
}

/// Paths that end with NULs, as words.
fn named(verb: &Verb<'_>, paths: &[u8]) -> Masked {
    let text = String::from_utf8_lossy(paths);
    let paths: Vec<&str> = text.split('\0').filter(|path| !path.is_empty()).collect();
    Masked::of(paths.join("\n").as_bytes(), &verb.held.places())
}

/// How many paths would change, none of which has a filter.
fn incoming(
    verb: &Verb<'_>,
    head: Option<&ObjectId>,
    fetched: &ObjectId,
) -> Result<usize, GitRefusal> {
    let old = head.map_or(verb.keys.format.empty_tree(), ObjectId::as_str);
    let names = verb.git().args(["diff-tree", "-r", "-z", "--name-only"]);
    let names = names.args(["--no-renames", "--no-ext-diff", "--no-textconv"]);
    let names = names.args([old, fetched.as_str()]);
    let names = verb.done(&names).map_err(too_large)?;
    // The attributes that would hold are those that come in.
    let beside = verb.private.git().join("incoming");
    let objects = verb.objects();
    let with_beside = |mut run: Run| {
        let root = &verb.held.settings.path;
        run.env = environment::of_git(&verb.private, root, &objects, &beside);
        run
    };
    let read = with_beside(verb.git()).args(["read-tree", fetched.as_str()]);
    verb.done(&read)?;
    let asked = with_beside(verb.git()).args(["check-attr", "--cached", "-z", "--stdin", "filter"]);
    let count = names.iter().filter(|byte| **byte == 0).count();
    let said = verb.done(&asked.input(names)).map_err(too_large)?;
    refuse_filters(&said)?;
    Ok(count)
}

fn too_large(refusal: GitRefusal) -> GitRefusal {
    if refusal == GitRefusal::OutputTooLong {
        GitRefusal::PullTooLarge
    } else {
        refusal
    }
}

/// Refuses a filter among what `git check-attr -z` said: path, attribute and value, by NULs.
pub(crate) fn refuse_filters(said: &[u8]) -> Result<(), GitRefusal> {
    let parts: Vec<&[u8]> = said.split(|byte| *byte == 0).collect();
    let values = parts.chunks_exact(3).map(|three| three[2]);
    for value in values {
        if !matches!(value, b"unspecified" | b"unset") {
            return Err(GitRefusal::Layout(Feature::Filter));
        }
    }
    Ok(())
}

/// Brings work tree, index and branch to `new`; index and branch are locked throughout.
fn take(verb: &Verb<'_>, stand: &Stand, new: &ObjectId) -> Result<(), GitRefusal> {
    let git = &verb.git.folder;
    let index = IndexLock::take(git)?;
    if verb.index_now()? != stand.view.content {
        return Err(GitRefusal::Changed);
    }
    let name = format!("refs/heads/{}", verb.held.settings.branch);
    let branch = RefLock::take(git, &name, stand.head.as_ref(), new)?;
    let old = stand.head.as_ref();
    let old = old.map_or(verb.keys.format.empty_tree(), ObjectId::as_str);
    let trees = [old, new.as_str()];
    verb.refresh()?;
    // It looks at every path before it changes the first one.
    let read = verb
        .git()
        .args(["read-tree", "-m", "-u", "--no-recurse-submodules"]);
    let ended = verb.run(&read.args(trees))?;
    if !ended.is_ok() {
        return Err(GitRefusal::Dirty(verb.masked(&ended)));
    }
    let unknown = |_| GitRefusal::OutcomeUnknown;
    let bytes = std::fs::read(verb.private.index()).map_err(|_| GitRefusal::OutcomeUnknown)?;
    branch.commit().map_err(unknown)?;
    index.commit(&bytes).map_err(unknown)
}
