//! Searching the files below a folder.
//!
//! In: a root, a literal or a regular expression, perhaps a glob and a folder; bounds; a flag that
//! cancels. Out: hits in the order of their paths, and what was left out and why.
//! Never: follows a link, enters another mount, reads an ignore file through a link or outside the
//! root, runs a program, or shows a line of a file that has the shape of a credential in it.

mod ignores; // which names the tree's own rules leave out
mod pattern; // start here: what is looked for
mod seeker; // one file after the other

use std::{fmt, sync::atomic::AtomicBool};

use rustix::fd::AsFd;

use crate::{
    FileLimit, Refusal, RelPath, Root,
    system::{self, Kind},
    tree::{Cut, Met, Next, Visitor, Walk, WalkBounds},
};
pub use pattern::{PATTERN_MAX_BYTES, Pattern, Query};
use seeker::Seeker;

/// Bounds of a search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SearchBounds {
    /// Of the walk: depth, names, time.
    pub walk: WalkBounds,
    /// Larger files are skipped.
    pub file: FileLimit,
    /// Bytes that are read in all.
    pub read_bytes: u64,
    /// Lines that are shown.
    pub hits: usize,
    /// Bytes of paths and lines that are shown.
    pub output_bytes: usize,
    /// Characters of one line that are shown, from around its first match.
    pub line_chars: usize,
}

impl Default for SearchBounds {
    fn default() -> Self {
        Self {
            walk: WalkBounds::default(),
            file: FileLimit::bytes(256 * 1024),
            read_bytes: 1024 * 1024 * 1024,
            hits: 100,
            output_bytes: 64 * 1024,
            line_chars: 400,
        }
    }
}

/// A line that matches.
#[derive(Clone, PartialEq, Eq)]
pub struct Hit {
    /// The file, from the root.
    pub path: String,
    /// The number of the line, from 1.
    pub line: u64,
    /// The line without its end, or the part of it around the first match.
    pub text: String,
}

/// Shows where, not what.
impl fmt::Debug for Hit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "Hit({}:{}, {} bytes)",
            self.path,
            self.line,
            self.text.len()
        )
    }
}

/// How many names were left out, by reason.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Skipped {
    /// Symbolic links.
    pub links: usize,
    /// Files with more than one hard link.
    pub hard_links: usize,
    /// FIFOs, sockets and devices.
    pub special: usize,
    /// Mounts inside the root.
    pub mounts: usize,
    /// Files over the limit.
    pub large: usize,
    /// Files with a NUL among their first bytes.
    pub binary: usize,
    /// Files that match and are not UTF-8.
    pub not_utf8: usize,
    /// Files that match and changed, or lost or gained a name, while they were searched.
    pub changed: usize,
    /// Names that break a rule of paths, those that only begin with a dot aside.
    pub names: usize,
    /// What the rules of ignore files leave out.
    pub ignored: usize,
    /// What could not be opened or read.
    pub unreadable: usize,
}

/// What a search found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Found {
    /// The lines, in the order of their paths.
    pub hits: Vec<Hit>,
    /// Files that match and have the shape of a credential in them: their lines are not shown.
    pub withheld: Vec<String>,
    /// What was left out.
    pub skipped: Skipped,
    /// Files that were searched.
    pub files: usize,
    /// Bytes that were searched.
    pub bytes: u64,
    /// What cut the search short; `None` when all was searched.
    pub cut: Option<Cut>,
}

impl Root {
    /// Searches the files below the query's path, or that one file.
    ///
    /// `cancelled` is looked at before each name.
    ///
    /// # Errors
    /// [`Refusal::BadPattern`]; [`Refusal::RootReplaced`]; what the path leads to:
    /// [`Refusal::NotFound`], [`Refusal::Symlink`], [`Refusal::NotDirectory`],
    /// [`Refusal::NotRegular`], [`Refusal::MountBoundary`]; or the class of what the system said.
    pub fn search(
        &self,
        query: &Query<'_>,
        bounds: &SearchBounds,
        cancelled: &AtomicBool,
    ) -> Result<Found, Refusal> {
        let mut seeker = Seeker::new(query, bounds, self.start())?;
        self.refuse_replaced()?;
        if let Some(found) = self.search_one(query.path, &mut seeker)? {
            return Ok(found);
        }
        let folder = self.start().folder(query.path, system::LIST)?;
        for parent in parents(query.path) {
            let opened = self.start().at(parent.as_bytes(), system::PASS)?;
            let base = if parent.is_empty() {
                0
            } else {
                parent.len() + 1
            };
            seeker.take_rules_above(&opened, base);
        }
        let walk = Walk::new(self.start(), bounds.walk, cancelled);
        let cut = walk.run(&folder, query.path.as_str(), &mut seeker)?;
        Ok(seeker.found(cut))
    }

    /// Searches the one file at `path`, where it is one.
    fn search_one(
        &self,
        path: &RelPath,
        seeker: &mut Seeker<'_>,
    ) -> Result<Option<Found>, Refusal> {
        if path.is_root() {
            return Ok(None);
        }
        let (folder, name, _) = self.parent_of(path, system::PASS)?;
        let facts = system::facts_at(folder.as_fd(), name.as_bytes()).map_err(Refusal::of_open)?;
        match facts.kind {
            Kind::Folder => Ok(None),
            Kind::Link => Err(Refusal::Symlink),
            Kind::Special => Err(Refusal::NotRegular),
            Kind::File => {
                let next = seeker.file(&Met {
                    folder: folder.as_fd(),
                    name: name.as_bytes(),
                    path: path.as_str().as_bytes(),
                });
                let cut = match next {
                    Next::On => None,
                    Next::Stop(cut) => Some(cut),
                };
                Ok(Some(seeker.found(cut)))
            }
        }
    }
}

/// The paths of the folders above `path`, the root first.
fn parents(path: &RelPath) -> Vec<&str> {
    let text = path.as_str();
    let mut parents: Vec<&str> = text.match_indices('/').map(|(at, _)| &text[..at]).collect();
    if !path.is_root() {
        parents.insert(0, "");
    }
    parents
}
