//! The rules of ignore files.
//!
//! In: the open folders of a walk, one in the other. Out: whether a name is left out.
//! Never: opens an ignore file by a path, through a link, from outside the root, or when it is a
//! FIFO; tells what stands in a bad line.

use std::path::Path;

use ignore::{
    Match,
    gitignore::{Gitignore, GitignoreBuilder},
};
use rustix::fd::{AsFd, OwnedFd};

use crate::{
    FileLimit, Refusal, read,
    resolve::Start,
    system::{self, Kind},
};

/// The files with rules, the stronger one last.
const NAMES: [&str; 2] = [".gitignore", ".ignore"];

/// Where a repository has rules that are not shared: below its root, the weakest of all.
const REPOSITORY: &[u8] = b".git";
const INFO: &[u8] = b"info";
const EXCLUDE: &str = "exclude";

/// A larger file has no say.
const RULES_MAX: FileLimit = FileLimit::bytes(256 * 1024);

/// The rules of the folders from the root down to the one that is walked.
#[derive(Default)]
pub(super) struct Ignores {
    levels: Vec<Level>,
}

struct Level {
    /// Length of the folder's path, its closing slash included.
    base: usize,
    rules: Option<Gitignore>,
    /// Those of the repository whose root it is.
    exclude: Option<Gitignore>,
}

impl Ignores {
    /// Takes the rules of a folder whose path is `base` bytes long.
    pub(super) fn push(&mut self, start: &Start<'_>, folder: &OwnedFd, base: usize, seen: Seen) {
        let (rules, exclude) = match seen {
            Seen::Perhaps => (rules_in(start, folder), exclude_of(start, folder)),
            Seen::None => (None, None),
        };
        self.levels.push(Level {
            base,
            rules,
            exclude,
        });
    }

    pub(super) fn pop(&mut self) {
        self.levels.pop();
    }

    /// Whether the innermost rule that speaks of `path` leaves it out.
    pub(super) fn leaves_out(&self, path: &str, kind: Kind) -> bool {
        let says = |rules: &Gitignore, base: usize| {
            let below = path.get(base..).unwrap_or(path);
            match rules.matched(Path::new(below), kind == Kind::Folder) {
                Match::None => None,
                Match::Ignore(_) => Some(true),
                Match::Whitelist(_) => Some(false),
            }
        };
        let inner = || self.levels.iter().rev();
        let rules = |level: &Level| says(level.rules.as_ref()?, level.base);
        // Of repositories in each other, the innermost alone has a say.
        let repository = || inner().find(|level| level.exclude.is_some());
        let exclude = |level: &Level| says(level.exclude.as_ref()?, level.base);
        let by_files = inner().find_map(rules);
        by_files
            .or_else(|| repository().and_then(exclude))
            .unwrap_or(false)
    }
}

/// Whether a folder's listing has an ignore file, or a repository.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Seen {
    /// It was not listed, or it was there.
    Perhaps,
    /// There is none.
    None,
}

/// Whether `name` is that of an ignore file, or of a repository that may have one.
pub(super) fn is_rules(name: &[u8]) -> bool {
    name == REPOSITORY || NAMES.iter().any(|rules| rules.as_bytes() == name)
}

/// The rules of the repository whose root a folder is. One whose git directory lies elsewhere has
/// none here.
fn exclude_of(start: &Start<'_>, folder: &OwnedFd) -> Option<Gitignore> {
    let git = start
        .name_in(folder.as_fd(), REPOSITORY, system::PASS)
        .ok()?;
    let info = start.name_in(git.as_fd(), INFO, system::PASS).ok()?;
    rules_of(start, &info, &[EXCLUDE])
}

fn rules_in(start: &Start<'_>, folder: &OwnedFd) -> Option<Gitignore> {
    rules_of(start, folder, &NAMES)
}

/// The rules of these files in `folder`, the stronger ones last.
fn rules_of(start: &Start<'_>, folder: &OwnedFd, names: &[&str]) -> Option<Gitignore> {
    let mut builder = GitignoreBuilder::new("");
    let mut any = false;
    for name in names {
        let again = || {
            let found = system::facts_at(folder.as_fd(), name.as_bytes());
            found.map(|facts| facts.inode).map_err(Refusal::of_open)
        };
        let read = read::read_file(start, folder.as_fd(), name, RULES_MAX, again);
        let Ok((bytes, _)) = read else {
            continue;
        };
        let text = String::from_utf8_lossy(&bytes);
        for line in text.trim_start_matches('\u{feff}').lines() {
            // A bad line has no say, and its text goes nowhere.
            any |= builder.add_line(None, line).is_ok();
        }
    }
    if any { builder.build().ok() } else { None }
}
