//! A bounded walk below a folder, by descriptors.
//!
//! In: an open folder, bounds, a visitor. Out: each name below it in the order of their paths, with
//! the folder that holds it open.
//! Never: opens a name by a path; enters a link, another mount, or a folder that was a link when it
//! came to be entered; goes deeper or on longer than its bounds.

use std::{
    sync::atomic::{AtomicBool, Ordering},
    time::{Duration, Instant},
};

use rustix::fd::{AsFd, BorrowedFd, OwnedFd};

use crate::{
    Refusal,
    list::{Names, each_name},
    path,
    resolve::{self, Start},
    system::{self, Kind},
};

/// What cut a walk short.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Cut {
    /// A folder lies deeper than the limit.
    Depth,
    /// More names than the limit.
    Entries,
    /// More bytes were read than the limit.
    Bytes,
    /// More hits than the limit, or more text of hits.
    Hits,
    /// The time was up.
    Time,
    /// The turn was cancelled.
    Cancelled,
}

/// Bounds of a walk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WalkBounds {
    /// Folders below the start that are entered, one in the other.
    pub depth: usize,
    /// Names that are met.
    pub entries: usize,
    /// How long it may take.
    pub time: Duration,
}

impl Default for WalkBounds {
    fn default() -> Self {
        Self {
            depth: path::SEGMENTS_MAX_COUNT,
            entries: 100_000,
            time: Duration::from_secs(5),
        }
    }
}

/// What a visitor wants next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Next {
    /// The walk goes on.
    On,
    /// It ends.
    Stop(Cut),
}

/// A name that was met, and the open folder that holds it.
pub(crate) struct Met<'m> {
    pub(crate) folder: BorrowedFd<'m>,
    pub(crate) name: &'m [u8],
    /// From the root, the name included.
    pub(crate) path: &'m [u8],
}

/// What is done with the names of a walk.
pub(crate) trait Visitor {
    /// All names of a folder are known, before any of them is met. `path` ends with a slash, or is
    /// empty.
    fn enter(&mut self, folder: &OwnedFd, path: &[u8], names: &[Name]);
    /// All of it was met.
    fn leave(&mut self);
    /// Whether a name is met at all.
    fn takes(&mut self, name: &[u8], path: &[u8], kind: Kind) -> bool;
    /// A regular file, by its listing: whether it is one still is seen when it is opened.
    fn file(&mut self, met: &Met<'_>) -> Next;
    /// A folder that was not entered.
    fn closed(&mut self, refusal: Refusal);
}

/// A name in a listing, with what it is.
pub(crate) struct Name {
    pub(crate) name: Vec<u8>,
    pub(crate) kind: Kind,
}

/// A walk under way.
pub(crate) struct Walk<'w> {
    start: Start<'w>,
    bounds: WalkBounds,
    until: Instant,
    cancelled: &'w AtomicBool,
    entries: usize,
    cut: Option<Cut>,
    path: Vec<u8>,
}

impl<'w> Walk<'w> {
    /// A walk whose time begins now.
    pub(crate) fn new(start: Start<'w>, bounds: WalkBounds, cancelled: &'w AtomicBool) -> Self {
        Self {
            start,
            bounds,
            until: Instant::now() + bounds.time,
            cancelled,
            entries: 0,
            cut: None,
            path: Vec::new(),
        }
    }

    /// Walks below `folder`, whose path from the root is `path`, and says what cut it short.
    pub(crate) fn run(
        mut self,
        folder: &OwnedFd,
        path: &str,
        visitor: &mut impl Visitor,
    ) -> Result<Option<Cut>, Refusal> {
        self.path.extend_from_slice(path.as_bytes());
        if !path.is_empty() {
            self.path.push(b'/');
        }
        let names = self.names(folder)?;
        // The end of it all, or a cut: both end the walk.
        let _end = self.below(folder, names, 0, visitor);
        Ok(self.cut)
    }

    /// The names of a folder in the order of the paths below them: a folder sorts as if a slash
    /// ended it.
    fn names(&mut self, folder: &OwnedFd) -> Result<Vec<Name>, Refusal> {
        let mut names = Vec::new();
        let left = self.bounds.entries.saturating_sub(self.entries);
        let mut over = false;
        each_name(folder, |name, kind| {
            if names.len() >= left {
                over = true;
                return Names::Enough;
            }
            let name = name.to_vec();
            names.push(Name { name, kind });
            Names::More
        })
        .map_err(Refusal::of_call)?;
        self.entries += names.len();
        if over {
            self.note(Cut::Entries);
        }
        names.sort_unstable_by(|one, other| by_path(one).cmp(by_path(other)));
        Ok(names)
    }

    fn below(
        &mut self,
        folder: &OwnedFd,
        names: Vec<Name>,
        depth: usize,
        visitor: &mut impl Visitor,
    ) -> Next {
        visitor.enter(folder, &self.path, &names);
        let length = self.path.len();
        let mut next = Next::On;
        for name in names {
            self.path.truncate(length);
            self.path.extend_from_slice(&name.name);
            next = self.one(folder, &name, depth, visitor);
            if let Next::Stop(cut) = next {
                self.note(cut);
                break;
            }
        }
        self.path.truncate(length);
        visitor.leave();
        next
    }

    fn one(
        &mut self,
        folder: &OwnedFd,
        name: &Name,
        depth: usize,
        visitor: &mut impl Visitor,
    ) -> Next {
        if self.cancelled.load(Ordering::Relaxed) {
            return Next::Stop(Cut::Cancelled);
        }
        if Instant::now() >= self.until {
            return Next::Stop(Cut::Time);
        }
        if !visitor.takes(&name.name, &self.path, name.kind) {
            return Next::On;
        }
        match name.kind {
            Kind::File => visitor.file(&Met {
                folder: folder.as_fd(),
                name: &name.name,
                path: &self.path,
            }),
            Kind::Folder if depth >= self.bounds.depth => {
                self.note(Cut::Depth);
                Next::On
            }
            Kind::Folder => self.enter_folder(folder, name, depth, visitor),
            Kind::Link | Kind::Special => Next::On,
        }
    }

    fn enter_folder(
        &mut self,
        folder: &OwnedFd,
        name: &Name,
        depth: usize,
        visitor: &mut impl Visitor,
    ) -> Next {
        let opened = self
            .open(folder, &name.name)
            .and_then(|inner| self.names(&inner).map(|names| (inner, names)));
        match opened {
            Ok((inner, names)) => {
                self.path.push(b'/');
                self.below(&inner, names, depth + 1, visitor)
            }
            Err(refusal) => {
                visitor.closed(refusal);
                Next::On
            }
        }
    }

    fn open(&self, folder: &OwnedFd, name: &[u8]) -> Result<OwnedFd, Refusal> {
        let opened = system::step(folder.as_fd(), name, system::LIST).map_err(Refusal::of_open)?;
        let facts = system::facts(opened.as_fd()).map_err(Refusal::of_call)?;
        resolve::refuse_other_mount(self.start.facts, &facts)?;
        Ok(opened)
    }

    fn note(&mut self, cut: Cut) {
        // What ended it outweighs what only left something out.
        self.cut = self.cut.max(Some(cut));
    }
}

fn by_path(name: &Name) -> impl Iterator<Item = &u8> {
    let slash: &[u8] = if name.kind == Kind::Folder { b"/" } else { b"" };
    name.name.iter().chain(slash)
}
