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
}

impl Ignores {
    /// Takes the rules of a folder whose path is `base` bytes long.
    pub(super) fn push(&mut self, start: &Start<'_>, folder: &OwnedFd, base: usize, seen: Seen) {
        let rules = (seen == Seen::Perhaps)
            .then(|| rules_in(start, folder))
            .flatten();
        self.levels.push(Level { base, rules });
    }

    pub(super) fn pop(&mut self) {
        self.levels.pop();
    }

    /// Whether the innermost rule that speaks of `path` leaves it out.
    pub(super) fn leaves_out(&self, path: &str, kind: Kind) -> bool {
        for level in self.levels.iter().rev() {
            let Some(rules) = &level.rules else { continue };
            let below = path.get(level.base..).unwrap_or(path);
            match rules.matched(Path::new(below), kind == Kind::Folder) {
                Match::None => {}
                Match::Ignore(_) => return true,
                Match::Whitelist(_) => return false,
            }
        }
        false
    }
}

/// Whether a folder's listing has an ignore file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Seen {
    /// It was not listed, or it was there.
    Perhaps,
    /// There is none.
    None,
}

/// Whether `name` is that of an ignore file.
pub(super) fn is_rules(name: &[u8]) -> bool {
    NAMES.iter().any(|rules| rules.as_bytes() == name)
}

fn rules_in(start: &Start<'_>, folder: &OwnedFd) -> Option<Gitignore> {
    let mut builder = GitignoreBuilder::new("");
    let mut any = false;
    for name in NAMES {
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
