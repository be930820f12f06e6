//! A change that is prepared and not made.
//!
//! In: a root, a path, the text or the replacement. Out: a [`Prepared`] that holds exactly what will
//! be there and exactly what is there now, so that a person can be shown both, or the refusal.
//! Never: changes a file. Only [`Root::publish`](crate::Root::publish) does, and it looks at
//! everything again.

use std::fmt;

use rustix::fd::{AsFd, BorrowedFd};
use sha2::{Digest, Sha256};

use crate::{
    Access, FileLimit, Refusal, RelPath, Root, RootIdentity, edit, read, shapes,
    system::{self, Facts, Inode, Kind},
};

/// SHA-256 of a file's bytes.
pub type ContentDigest = [u8; 32];

/// What a change does to its target.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Change {
    /// Makes a file that must not be there.
    Create,
    /// Replaces all of a file.
    Replace,
    /// Replaces one string in a file.
    Edit,
}

/// What is there before a change.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Before {
    pub(crate) inode: Inode,
    pub(crate) mode: u32,
    pub(crate) owner: (u32, u32),
    pub(crate) digest: ContentDigest,
    pub(crate) text: Option<String>,
}

/// A change that can be published once.
///
/// It is bound to the root, the folder, the file and the content that were there.
#[must_use = "a change that is prepared and not published is nothing"]
pub struct Prepared {
    pub(crate) root: RootIdentity,
    pub(crate) path: RelPath,
    pub(crate) folder: Inode,
    pub(crate) change: Change,
    pub(crate) before: Option<Before>,
    pub(crate) after: String,
    pub(crate) limit: FileLimit,
}

impl Prepared {
    /// Which root it is for.
    #[must_use]
    pub const fn root(&self) -> RootIdentity {
        self.root
    }

    /// Which file.
    #[must_use]
    pub const fn path(&self) -> &RelPath {
        &self.path
    }

    /// What it does.
    #[must_use]
    pub const fn change(&self) -> Change {
        self.change
    }

    /// Digest of what is there; `None` when nothing is.
    #[must_use]
    pub fn digest_before(&self) -> Option<ContentDigest> {
        self.before.as_ref().map(|before| before.digest)
    }

    /// What is there, where it is text that a tool may show.
    #[must_use]
    pub fn text_before(&self) -> Option<&str> {
        self.before.as_ref()?.text.as_deref()
    }

    /// Digest of what will be there.
    #[must_use]
    pub fn digest_after(&self) -> ContentDigest {
        digest(self.after.as_bytes())
    }

    /// What will be there.
    #[must_use]
    pub fn text_after(&self) -> &str {
        &self.after
    }
}

/// Shows no text.
impl fmt::Debug for Prepared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Prepared")
            .field("path", &self.path)
            .field("change", &self.change)
            .field("bytes_after", &self.after.len())
            .finish_non_exhaustive()
    }
}

impl Root {
    /// Prepares a file that must not be there.
    ///
    /// # Errors
    /// [`Refusal::Exists`], and all of [`Root::prepare_write`].
    pub fn prepare_create(
        &self,
        path: &RelPath,
        text: &str,
        limit: FileLimit,
    ) -> Result<Prepared, Refusal> {
        self.prepare(path, limit, |found| match found {
            Some(_) => Err(Refusal::Exists),
            None => Ok((Change::Create, text.to_owned())),
        })
    }

    /// Prepares a file with this text, made or replaced as a whole.
    ///
    /// # Errors
    /// The root: [`Refusal::RootReadonly`], [`Refusal::RootReplaced`]. The text:
    /// [`Refusal::TooLarge`], [`Refusal::Binary`], [`Refusal::SecretShape`]. The target:
    /// [`Refusal::ParentMissing`], [`Refusal::Symlink`], [`Refusal::HardLink`],
    /// [`Refusal::NotRegular`], [`Refusal::NotDirectory`], [`Refusal::MountBoundary`],
    /// [`Refusal::GitMetadata`], [`Refusal::ReadOnlyFile`], [`Refusal::SpecialAttributes`],
    /// [`Refusal::OtherOwner`], [`Refusal::TooLarge`] when what is there cannot be compared later;
    /// or the class of what the system said.
    pub fn prepare_write(
        &self,
        path: &RelPath,
        text: &str,
        limit: FileLimit,
    ) -> Result<Prepared, Refusal> {
        self.prepare(path, limit, |found| {
            let change = if found.is_some() {
                Change::Replace
            } else {
                Change::Create
            };
            Ok((change, text.to_owned()))
        })
    }

    /// Prepares the replacement of the one occurrence of `old` by `new`.
    ///
    /// # Errors
    /// [`Refusal::NotFound`], what the file holds, as [`Root::read_text`]; what
    /// [`splice`](crate::splice) refuses; and all of [`Root::prepare_write`].
    pub fn prepare_edit(
        &self,
        path: &RelPath,
        old: &str,
        new: &str,
        limit: FileLimit,
    ) -> Result<Prepared, Refusal> {
        self.prepare(path, limit, |found| {
            let text = read::text_of(found.ok_or(Refusal::NotFound)?.to_vec())?;
            shapes::refuse_credentials(text.as_bytes())?;
            if new.contains('\0') {
                return Err(Refusal::Binary);
            }
            let after = edit::splice(text.as_bytes(), old, new)?;
            let after = String::from_utf8(after).map_err(|_| Refusal::NotUtf8)?;
            Ok((Change::Edit, after))
        })
    }

    fn prepare(
        &self,
        path: &RelPath,
        limit: FileLimit,
        decide: impl FnOnce(Option<&[u8]>) -> Result<(Change, String), Refusal>,
    ) -> Result<Prepared, Refusal> {
        if self.access() == Access::Read {
            return Err(Refusal::RootReadonly);
        }
        self.refuse_replaced()?;
        shapes::refuse_credentials(path.as_str().as_bytes())?;
        let (folder, _, parent) = self.parent_of(path, system::LIST).map_err(missing_parent)?;
        refuse_git_metadata(self, &parent)?;
        let facts = system::facts(folder.as_fd()).map_err(Refusal::of_call)?;
        let found = self.read_target(folder.as_fd(), path, limit)?;
        let bytes = found.as_ref().map(|(bytes, _)| bytes.as_slice());
        let (change, after) = decide(bytes)?;
        refuse_text(change, &after, limit)?;
        Ok(Prepared {
            root: self.identity(),
            path: path.clone(),
            folder: facts.inode,
            change,
            before: found.map(|(bytes, facts)| before(bytes, &facts)),
            after,
            limit,
        })
    }

    /// The content of what a change of `path` in `folder` would replace, `None` where there is nothing.
    pub(crate) fn read_target(
        &self,
        folder: BorrowedFd<'_>,
        path: &RelPath,
        limit: FileLimit,
    ) -> Result<Option<(Vec<u8>, Facts)>, Refusal> {
        let (_, name) = path.split().ok_or(Refusal::NotRegular)?;
        let start = self.start();
        let again = || start.inode(path.as_str().as_bytes());
        let (bytes, facts) = match read::read_file(&start, folder, name, limit, again) {
            Ok(found) => found,
            Err(Refusal::NotFound) => return Ok(None),
            Err(other) => return Err(other),
        };
        // A rename would succeed all the same; the mode says that nobody means to change it.
        if facts.mode & 0o200 == 0 {
            return Err(Refusal::ReadOnlyFile);
        }
        Ok(Some((bytes, facts)))
    }
}

fn before(bytes: Vec<u8>, facts: &Facts) -> Before {
    let digest = digest(&bytes);
    let text = read::text_of(bytes)
        .ok()
        .filter(|text| shapes::credential_in(text.as_bytes()).is_none());
    Before {
        inode: facts.inode,
        mode: facts.mode,
        owner: facts.owner,
        digest,
        text,
    }
}

/// Text that no tool writes. An edit's NUL bytes past the first 8 KiB were in the file before.
fn refuse_text(change: Change, after: &str, limit: FileLimit) -> Result<(), Refusal> {
    if after.len() > limit.get() {
        return Err(Refusal::TooLarge);
    }
    if change != Change::Edit && after.contains('\0') {
        return Err(Refusal::Binary);
    }
    shapes::refuse_credentials(after.as_bytes())
}

/// A folder that is not there is named as what it is: no tool makes one.
pub(crate) fn missing_parent(refusal: Refusal) -> Refusal {
    refusal.put(&[Refusal::NotFound], Refusal::ParentMissing)
}

/// Refuses a folder that is, or lies in, a git directory whatever its name: what holds `HEAD`,
/// `objects` and `refs` is one, and git runs programs that such a folder names.
pub(crate) fn refuse_git_metadata(root: &Root, parent: &RelPath) -> Result<(), Refusal> {
    let text = parent.as_str();
    let ends = text.match_indices('/').map(|(at, _)| at);
    let mut prefixes: Vec<usize> = std::iter::once(0).chain(ends).collect();
    prefixes.push(text.len());
    prefixes.dedup();
    for end in prefixes {
        let folder = root
            .start()
            .at(&text.as_bytes()[..end], system::PASS)
            .map_err(missing_parent)?;
        let is = |name: &str, kind: Kind| {
            system::facts_at(folder.as_fd(), name.as_bytes()).is_ok_and(|facts| facts.kind == kind)
        };
        // HEAD was a link in old repositories.
        let head = is("HEAD", Kind::File) || is("HEAD", Kind::Link);
        if head && is("objects", Kind::Folder) && is("refs", Kind::Folder) {
            return Err(Refusal::GitMetadata);
        }
    }
    Ok(())
}

/// SHA-256 of `bytes`.
pub(crate) fn digest(bytes: &[u8]) -> ContentDigest {
    Sha256::digest(bytes).into()
}
