//! What lies in a folder.
//!
//! In: a root, a path, the most entries. Out: the first entries by name, and how many there are.
//! Never: shows names that begin with a dot, the target of a link, or a name that has the shape of
//! a credential; goes down into folders.

use std::{collections::BinaryHeap, fmt, mem::MaybeUninit};

use rustix::{
    fd::{AsFd, OwnedFd},
    fs::RawDir,
    io::Errno,
};

use crate::{
    Refusal, RelPath, Root, path, shapes,
    system::{self, Kind},
};

/// Most names of one folder that are looked at.
pub const NAMES_MAX_COUNT: usize = 200_000;

/// Bytes that one call fills with names.
const NAMES_BUFFER_BYTES: usize = 32 * 1024;

/// What an entry is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EntryKind {
    /// A regular file.
    File,
    /// A folder.
    Folder,
    /// A symbolic link, which no tool follows.
    Link,
    /// A FIFO, socket or device.
    Special,
}

/// One entry of a folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The name; what cannot be seen in it is escaped.
    pub name: String,
    /// What it is.
    pub kind: EntryKind,
    /// Bytes of a regular file, as it was looked at; it may be gone by then.
    pub bytes: Option<u64>,
    /// Whether a tool accepts the name.
    pub reach: Reach,
}

/// Whether a tool accepts a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reach {
    /// As it is shown.
    Open,
    /// It breaks a rule of paths: it can be seen in the list and not be opened.
    Closed,
}

/// The entries of a folder, sorted by name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listing {
    /// The first of them.
    pub entries: Vec<Entry>,
    /// How many there are that may be shown; those left out by the limit included.
    pub total: usize,
    /// How many of those were left out because their name has the shape of a credential.
    pub withheld: usize,
    /// Whether the folder was read to its end: if not, there are more than `total`.
    pub end: End,
}

/// Whether all names were looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// All of them.
    Reached,
    /// [`NAMES_MAX_COUNT`] of them.
    Cut,
}

impl Root {
    /// Lists the folder at `path`, with at most `max` entries.
    ///
    /// # Errors
    /// [`Refusal::RootReplaced`], [`Refusal::NotFound`], [`Refusal::Symlink`],
    /// [`Refusal::NotDirectory`], [`Refusal::MountBoundary`], [`Refusal::ChangedSinceRead`] when the
    /// folder was moved meanwhile, or the class of what the system said.
    pub fn list(&self, path: &RelPath, max: usize) -> Result<Listing, Refusal> {
        self.refuse_replaced()?;
        let folder = self.start().folder(path, system::LIST)?;
        let facts = system::facts(folder.as_fd()).map_err(Refusal::of_call)?;
        let (mut total, mut end) = (0, End::Reached);
        // The greatest name on top, to give way to a smaller one.
        let mut first: BinaryHeap<(Vec<u8>, u8)> = BinaryHeap::new();
        each_name(&folder, |name, kind| {
            if name.starts_with(b".") {
                return Names::More;
            }
            if total == NAMES_MAX_COUNT {
                end = End::Cut;
                return Names::Enough;
            }
            total += 1;
            if first.len() < max || first.peek().is_some_and(|(last, _)| name < last.as_slice()) {
                first.push((name.to_vec(), rank(kind)));
            }
            if first.len() > max {
                first.pop();
            }
            Names::More
        })
        .map_err(Refusal::of_call)?;
        let found = first.into_sorted_vec();
        let shown = found.len();
        let entries: Vec<Entry> = found
            .into_iter()
            .filter(|(name, _)| shapes::credential_in(name).is_none())
            .map(|(name, rank)| entry(&folder, &name, rank))
            .collect();
        // A folder that was moved out meanwhile may hold names from there.
        if self.start().inode(path.as_str().as_bytes()) != Ok(facts.inode) {
            return Err(Refusal::ChangedSinceRead);
        }
        let withheld = shown - entries.len();
        Ok(Listing {
            entries,
            total,
            withheld,
            end,
        })
    }
}

/// A kind inside the heap, where it needs an order.
fn rank(kind: Kind) -> u8 {
    match kind {
        Kind::File => 0,
        Kind::Folder => 1,
        Kind::Link => 2,
        Kind::Special => 3,
    }
}

fn entry(folder: &OwnedFd, name: &[u8], rank: u8) -> Entry {
    let kind = match rank {
        0 => EntryKind::File,
        1 => EntryKind::Folder,
        2 => EntryKind::Link,
        _ => EntryKind::Special,
    };
    let bytes = (kind == EntryKind::File)
        .then(|| system::facts_at(folder.as_fd(), name).ok())
        .flatten()
        .filter(|facts| facts.kind == Kind::File)
        .map(|facts| facts.size);
    let reach = if path::is_openable(name) {
        Reach::Open
    } else {
        Reach::Closed
    };
    Entry {
        name: path::shown(name),
        kind,
        bytes,
        reach,
    }
}

/// Whether more names are wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Names {
    More,
    Enough,
}

/// Hands each name of an open folder to `take`, with its kind.
pub(crate) fn each_name(
    folder: &OwnedFd,
    mut take: impl FnMut(&[u8], Kind) -> Names,
) -> Result<(), Errno> {
    let mut buffer = [const { MaybeUninit::uninit() }; NAMES_BUFFER_BYTES];
    let mut names = RawDir::new(folder, &mut buffer);
    while let Some(found) = names.next() {
        let found = match found {
            Ok(found) => found,
            Err(Errno::INTR) => continue,
            Err(error) => return Err(error),
        };
        let name = found.file_name().to_bytes();
        if matches!(name, b"." | b"..") {
            continue;
        }
        let kind = match Kind::of(found.file_type()) {
            Some(kind) => kind,
            // It may be gone by now.
            None => match system::facts_at(folder.as_fd(), name) {
                Ok(facts) => facts.kind,
                Err(_) => continue,
            },
        };
        if take(name, kind) == Names::Enough {
            break;
        }
    }
    Ok(())
}

/// `a.txt`, `folder/`, `l (link)`, `pipe (special)`; a name that cannot be opened says so.
impl fmt::Display for Entry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)?;
        f.write_str(match self.kind {
            EntryKind::File => "",
            EntryKind::Folder => "/",
            EntryKind::Link => " (link)",
            EntryKind::Special => " (special)",
        })?;
        match self.reach {
            Reach::Open => Ok(()),
            Reach::Closed => f.write_str(" (cannot be opened)"),
        }
    }
}
