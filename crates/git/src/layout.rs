//! What the repository's own git directory looks like.
//!
//! In: the root's folder. Out: the git directory, held open, or the feature for which it is not
//! served.
//! Never: reads a configuration, follows a link, goes into `hooks` or into the objects themselves.
//! A git that is told where its directory is checks none of this.

use rustix::{fs::Stat, io::Errno};

use crate::{
    folder::{Entry, Folder, Kind, kind_of, shown},
    refusal::{Feature, GitRefusal, Operation},
};

/// Most names that are looked at in a git directory.
const NAMES_MAX: usize = 200_000;
/// Deepest folder of references.
const DEPTH_MAX: usize = 32;
/// Longest `info/attributes` and `info/exclude` that are read.
const INFO_MAX_BYTES: usize = 64 * 1024;

/// Parts that decide what a repository is: they belong to this account alone.
const OWNED: [&str; 8] = [
    "config",
    "HEAD",
    "index",
    "objects",
    "refs",
    "logs",
    "packed-refs",
    "info",
];

/// Files and folders that make a repository something that is not served.
const UNSERVED: [(&str, Feature); 5] = [
    ("commondir", Feature::CommonDirectory),
    ("gitdir", Feature::CommonDirectory),
    ("reftable", Feature::Reftable),
    ("shallow", Feature::Shallow),
    ("objects/info/alternates", Feature::Alternates),
];

/// What stands in a git directory while an operation is half done.
const UNFINISHED: [(&str, Operation); 7] = [
    ("MERGE_HEAD", Operation::Merge),
    ("rebase-merge", Operation::Rebase),
    ("rebase-apply", Operation::Rebase),
    ("REBASE_HEAD", Operation::Rebase),
    ("CHERRY_PICK_HEAD", Operation::CherryPick),
    ("REVERT_HEAD", Operation::Revert),
    ("BISECT_LOG", Operation::Bisect),
];

/// The repository's git directory, held open.
#[derive(Debug)]
pub(crate) struct GitFolder {
    pub(crate) folder: Folder,
}

impl GitFolder {
    /// Opens `.git` of a root; the root and every part of it that counts belong to this account.
    pub(crate) fn open(root: &Folder) -> Result<Self, GitRefusal> {
        refuse_owner(&root.facts().map_err(GitRefusal::of_errno)?)?;
        let facts = root.facts_of(b".git").map_err(GitRefusal::of_errno)?;
        let facts = facts.ok_or(GitRefusal::Layout(Feature::NoRepository))?;
        match kind_of(&facts) {
            Kind::Folder => {}
            Kind::Link => return Err(GitRefusal::Layout(Feature::LinkedGitDirectory)),
            Kind::File | Kind::Special => {
                return Err(GitRefusal::Layout(Feature::LinkedWorkTree));
            }
        }
        let folder = root.folder(b".git").map_err(|errno| match errno {
            Errno::LOOP | Errno::NOTDIR => GitRefusal::Layout(Feature::LinkedGitDirectory),
            other => GitRefusal::of_errno(other),
        })?;
        refuse_owner(&folder.facts().map_err(GitRefusal::of_errno)?)?;
        let git = Self { folder };
        git.refuse_owners()?;
        git.refuse_links()?;
        Ok(git)
    }

    /// Refuses features that are not served. After the configuration, whose keys say more.
    pub(crate) fn refuse_features(&self) -> Result<(), GitRefusal> {
        for (path, feature) in UNSERVED {
            if self.has(path)? {
                return Err(GitRefusal::Layout(feature));
            }
        }
        if self.has("info/grafts")? {
            return Err(GitRefusal::Grafts);
        }
        let attributes = self.info("attributes")?.unwrap_or_default();
        let rules = attributes.split(|byte| *byte == b'\n');
        let is_rule = |line: &[u8]| !matches!(line.trim_ascii().first(), None | Some(b'#'));
        if rules.into_iter().any(is_rule) {
            return Err(GitRefusal::Layout(Feature::InfoAttributes));
        }
        Ok(())
    }

    /// Refuses an operation that is half done.
    pub(crate) fn refuse_unfinished(&self) -> Result<(), GitRefusal> {
        for (name, operation) in UNFINISHED {
            if self.folder.has(name)? {
                return Err(GitRefusal::MidOperation(operation));
            }
        }
        // A series that stopped between two of its commits has no head of its own.
        if self.folder.has("sequencer")? {
            let list = match self.folder.folder(b"sequencer") {
                Ok(sequencer) => sequencer.read("todo", INFO_MAX_BYTES).unwrap_or(None),
                Err(_) => None,
            };
            let reverts = list.is_some_and(|list| list.starts_with(b"revert"));
            return Err(GitRefusal::MidOperation(if reverts {
                Operation::Revert
            } else {
                Operation::CherryPick
            }));
        }
        Ok(())
    }

    /// The person's own rules of what is ignored, if there are some.
    pub(crate) fn excludes(&self) -> Result<Option<Vec<u8>>, GitRefusal> {
        self.info("exclude")
    }

    fn info(&self, name: &str) -> Result<Option<Vec<u8>>, GitRefusal> {
        match self.folder.folder(b"info") {
            Ok(info) => info.read(name, INFO_MAX_BYTES),
            Err(Errno::NOENT) => Ok(None),
            Err(errno) => Err(GitRefusal::of_errno(errno)),
        }
    }

    fn has(&self, path: &str) -> Result<bool, GitRefusal> {
        let names: Vec<&[u8]> = path.split('/').map(str::as_bytes).collect();
        let Some((last, folders)) = names.split_last() else {
            return Ok(false);
        };
        if folders.is_empty() {
            return self.folder.has(path);
        }
        match self.folder.folder_at(folders) {
            Ok(folder) => folder
                .facts_of(last)
                .map(|facts| facts.is_some())
                .map_err(GitRefusal::of_errno),
            Err(Errno::NOENT) => Ok(false),
            Err(errno) => Err(GitRefusal::of_errno(errno)),
        }
    }

    fn refuse_owners(&self) -> Result<(), GitRefusal> {
        for name in OWNED {
            let facts = self.folder.facts_of(name.as_bytes());
            if let Some(facts) = facts.map_err(GitRefusal::of_errno)? {
                // What a link leads to is not asked: links are refused next.
                if kind_of(&facts) != Kind::Link {
                    refuse_owner(&facts)?;
                }
            }
        }
        Ok(())
    }

    /// Refuses links and special files wherever git would read or write through them.
    fn refuse_links(&self) -> Result<(), GitRefusal> {
        let mut left = NAMES_MAX;
        for (name, kind) in names(&self.folder, &mut left)? {
            // Never run and never read, and often a link into the project.
            if name == b"hooks" {
                continue;
            }
            refuse_kind(&name, kind)?;
            if kind == Kind::Folder && matches!(&name[..], b"refs" | b"logs" | b"info") {
                let folder = self.folder.folder(&name).map_err(GitRefusal::of_errno)?;
                refuse_links_in(&folder, DEPTH_MAX, &mut left)?;
            }
        }
        let Ok(objects) = self.folder.folder(b"objects") else {
            return Err(GitRefusal::Layout(Feature::Incomplete));
        };
        for (name, kind) in names(&objects, &mut left)? {
            refuse_kind(&name, kind)?;
            if kind == Kind::Folder && matches!(&name[..], b"pack" | b"info") {
                let folder = objects.folder(&name).map_err(GitRefusal::of_errno)?;
                for (name, kind) in names(&folder, &mut left)? {
                    refuse_kind(&name, kind)?;
                    if name.ends_with(b".promisor") {
                        return Err(GitRefusal::Layout(Feature::PartialClone));
                    }
                }
            }
        }
        Ok(())
    }
}

fn refuse_links_in(folder: &Folder, depth: usize, left: &mut usize) -> Result<(), GitRefusal> {
    for (name, kind) in names(folder, left)? {
        refuse_kind(&name, kind)?;
        if kind == Kind::Folder {
            if depth == 0 {
                return Err(GitRefusal::Layout(Feature::TooBig));
            }
            let inner = folder.folder(&name).map_err(GitRefusal::of_errno)?;
            refuse_links_in(&inner, depth - 1, left)?;
        }
    }
    Ok(())
}

fn names(folder: &Folder, left: &mut usize) -> Result<Vec<Entry>, GitRefusal> {
    let found = folder.entries(*left).map_err(GitRefusal::of_errno)?;
    let found = found.ok_or(GitRefusal::Layout(Feature::TooBig))?;
    *left -= found.len();
    Ok(found)
}

fn refuse_kind(name: &[u8], kind: Kind) -> Result<(), GitRefusal> {
    match kind {
        Kind::File | Kind::Folder => Ok(()),
        Kind::Link | Kind::Special => Err(GitRefusal::Link(shown(name))),
    }
}

/// Refuses what another account owns, or every account may change.
fn refuse_owner(facts: &Stat) -> Result<(), GitRefusal> {
    let ours = rustix::process::geteuid().as_raw() == facts.st_uid;
    if ours && facts.st_mode & 0o002 == 0 {
        Ok(())
    } else {
        Err(GitRefusal::Owner)
    }
}
