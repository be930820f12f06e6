//! Whether anything stands where a pull would put a new file.
//!
//! In: the branch's commit, the one that comes. Out: that each new path is free, or taken by files that
//! the pull itself takes away.
//! Never: leaves it to git, which counts a file that the repository's rules ignore as one that may go.
//! What is ignored is often what no other copy exists of.

use std::collections::BTreeSet;

use crate::{
    folder::{Folder, Kind, kind_of},
    refs::ObjectId,
    refusal::{Feature, GitRefusal},
    verb::Verb,
};

/// Most names that are looked at in folders that become files.
const NAMES_MAX: usize = 200_000;
/// Deepest of these folders.
const DEPTH_MAX: usize = 64;

/// Refuses a pull that would write over a file that git does not know.
pub(super) fn refuse_overwriting(
    verb: &Verb<'_>,
    head: Option<&ObjectId>,
    fetched: &ObjectId,
) -> Result<(), GitRefusal> {
    let leaving = paths(verb, head, fetched, "--diff-filter=D")?;
    let coming = paths(verb, head, fetched, "--diff-filter=A")?;
    let place = Place {
        root: &verb.root,
        leaving: &leaving,
    };
    for path in &coming {
        if let Some(taken) = place.taken(path)? {
            return Err(GitRefusal::Dirty(super::named(verb, taken.as_bytes())));
        }
    }
    Ok(())
}

fn paths(
    verb: &Verb<'_>,
    head: Option<&ObjectId>,
    fetched: &ObjectId,
    which: &str,
) -> Result<BTreeSet<String>, GitRefusal> {
    let old = head.map_or(verb.keys.format.empty_tree(), ObjectId::as_str);
    let asked = verb.git().args(["diff-tree", "-r", "-z", "--name-only"]);
    let asked = asked.args(["--no-renames", "--no-ext-diff", "--no-textconv", which]);
    let said = verb.done(&asked.args([old, fetched.as_str()]));
    let said = said.map_err(super::too_large)?;
    let text = String::from_utf8_lossy(&said);
    let paths = text.split('\0').filter(|path| !path.is_empty());
    Ok(paths.map(str::to_owned).collect())
}

struct Place<'a> {
    root: &'a Folder,
    /// Paths of files that the pull takes away.
    leaving: &'a BTreeSet<String>,
}

impl Place<'_> {
    /// What stands at a path, or on the way to it, and would be lost.
    fn taken(&self, path: &str) -> Result<Option<String>, GitRefusal> {
        let mut held: Option<Folder> = None;
        let mut here = String::new();
        let mut names = path.split('/').peekable();
        while let Some(name) = names.next() {
            here = join(&here, name);
            let folder = held.as_ref().unwrap_or(self.root);
            let facts = folder.facts_of(name.as_bytes());
            let Some(facts) = facts.map_err(GitRefusal::of_errno)? else {
                return Ok(None);
            };
            if kind_of(&facts) != Kind::Folder {
                return Ok((!self.leaving.contains(&here)).then_some(here));
            }
            let below = folder
                .folder(name.as_bytes())
                .map_err(GitRefusal::of_errno)?;
            if names.peek().is_none() {
                return self.taken_below(&below, &here, DEPTH_MAX);
            }
            held = Some(below);
        }
        Ok(None)
    }

    /// A file below a folder that would become a file, if the pull does not take it away.
    fn taken_below(
        &self,
        folder: &Folder,
        path: &str,
        depth: usize,
    ) -> Result<Option<String>, GitRefusal> {
        let found = folder.entries(NAMES_MAX).map_err(GitRefusal::of_errno)?;
        let found = found.filter(|_| depth > 0);
        for (name, kind) in found.ok_or(GitRefusal::Layout(Feature::TooBig))? {
            let inner = join(path, &String::from_utf8_lossy(&name));
            if kind != Kind::Folder {
                if !self.leaving.contains(&inner) {
                    return Ok(Some(inner));
                }
                continue;
            }
            let below = folder.folder(&name).map_err(GitRefusal::of_errno)?;
            if let Some(taken) = self.taken_below(&below, &inner, depth - 1)? {
                return Ok(Some(taken));
            }
        }
        Ok(None)
    }
}

fn join(folder: &str, name: &str) -> String {
    if folder.is_empty() {
        name.to_owned()
    } else {
        format!("{folder}/{name}")
    }
}
