//! Reading one file whole.
//!
//! In: a root, a path, the most bytes. Out: text that a tool may show.
//! Never: opens what is no regular file, waits, allocates by the size that a file claims, or gives
//! a part of a file.

use rustix::fd::{AsFd, BorrowedFd, OwnedFd};

use crate::{
    Refusal, RelPath, Root,
    moment::{self, Moment},
    resolve::Start,
    shapes,
    system::{self, Facts, Kind},
};

/// A NUL among this many first bytes makes a file binary.
pub const BINARY_SCAN_BYTES: usize = 8 * 1024;

/// The most bytes of one file: `maxFileBytes` of the policy, or a workspace's own limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct FileLimit(usize);

impl FileLimit {
    /// What the largest policy allows; a greater number is taken for it.
    pub const CEILING_BYTES: usize = 16 * 1024 * 1024;

    /// At most this many bytes.
    #[must_use]
    pub const fn bytes(bytes: usize) -> Self {
        Self(if bytes > Self::CEILING_BYTES {
            Self::CEILING_BYTES
        } else {
            bytes
        })
    }

    pub(crate) const fn get(self) -> usize {
        self.0
    }
}

/// The text of one file.
#[derive(Clone, PartialEq, Eq)]
pub struct FileText {
    text: String,
}

impl FileText {
    /// Every byte of the file; a byte order mark is its first character.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// The text itself.
    #[must_use]
    pub fn into_string(self) -> String {
        self.text
    }
}

/// Shows the length alone.
impl std::fmt::Debug for FileText {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "FileText({} bytes)", self.text.len())
    }
}

impl Root {
    /// Reads the text at `path`.
    ///
    /// # Errors
    /// [`Refusal::RootReplaced`]; what the path leads to: [`Refusal::NotFound`],
    /// [`Refusal::Symlink`], [`Refusal::HardLink`], [`Refusal::NotRegular`],
    /// [`Refusal::NotDirectory`], [`Refusal::MountBoundary`], [`Refusal::ChangedSinceRead`] when it
    /// changed under the read; what it holds: [`Refusal::TooLarge`], [`Refusal::Binary`],
    /// [`Refusal::NotUtf8`], [`Refusal::SecretShape`]; or the class of what the system said.
    pub fn read_text(&self, path: &RelPath, limit: FileLimit) -> Result<FileText, Refusal> {
        self.refuse_replaced()?;
        let (folder, name, _) = self.parent_of(path, system::PASS)?;
        let (bytes, _) = read_file(&self.start(), folder.as_fd(), name, limit)?;
        let text = text_of(bytes)?;
        shapes::refuse_credentials(text.as_bytes())?;
        Ok(FileText { text })
    }

    /// Refuses what is no regular file with one name, without opening it: for a tool that hands the
    /// path to another program.
    ///
    /// # Errors
    /// As [`Root::read_text`], its content aside.
    pub fn refuse_unusual(&self, path: &RelPath) -> Result<(), Refusal> {
        self.refuse_replaced()?;
        let (folder, name, _) = self.parent_of(path, system::PASS)?;
        look(folder.as_fd(), name).map(|_| ())
    }
}

/// The facts of a regular file with one name.
pub(crate) fn look(folder: BorrowedFd<'_>, name: &str) -> Result<Facts, Refusal> {
    let facts = system::facts_at(folder, name.as_bytes()).map_err(Refusal::of_open)?;
    system::refuse_unusual(&facts)?;
    Ok(facts)
}

/// The whole content of a file, and its facts.
pub(crate) fn read_file(
    start: &Start<'_>,
    folder: BorrowedFd<'_>,
    name: &str,
    limit: FileLimit,
) -> Result<(Vec<u8>, Facts), Refusal> {
    // A device may act when it is opened, and a peer of a FIFO wakes: look at the kind first.
    let seen = look(folder, name)?;
    let file = start.name_in(folder, name.as_bytes(), system::READ)?;
    let facts = system::facts(file.as_fd()).map_err(Refusal::of_call)?;
    system::refuse_unusual(&facts)?;
    if facts.inode != seen.inode {
        return Err(Refusal::ChangedSinceRead);
    }
    let bytes = read_open(&file, &facts, limit)?;
    Ok((bytes, facts))
}

/// Reads an open file to its end, and refuses one that changed meanwhile.
pub(crate) fn read_open(
    file: &OwnedFd,
    facts: &Facts,
    limit: FileLimit,
) -> Result<Vec<u8>, Refusal> {
    let limit = limit.get();
    if facts.kind != Kind::File {
        return Err(Refusal::NotRegular);
    }
    if facts.size > u64::try_from(limit).unwrap_or(u64::MAX) {
        return Err(Refusal::TooLarge);
    }
    moment::pass(Moment::Looked).map_err(Refusal::of_call)?;
    // It may have grown since: one byte over the limit tells, and no more is read.
    let mut bytes = vec![0; limit + 1];
    let length = system::read_up_to(file.as_fd(), &mut bytes).map_err(Refusal::of_call)?;
    if length > limit {
        return Err(Refusal::TooLarge);
    }
    bytes.truncate(length);
    bytes.shrink_to_fit();
    let after = system::facts(file.as_fd()).map_err(Refusal::of_call)?;
    let same = (after.size, after.changed) == (facts.size, facts.changed);
    if !same || after.size != u64::try_from(length).unwrap_or(u64::MAX) {
        return Err(Refusal::ChangedSinceRead);
    }
    Ok(bytes)
}

/// Bytes as text, where they are some.
pub(crate) fn text_of(bytes: Vec<u8>) -> Result<String, Refusal> {
    if is_binary(&bytes) {
        return Err(Refusal::Binary);
    }
    String::from_utf8(bytes).map_err(|_| Refusal::NotUtf8)
}

/// Whether the first bytes hold a NUL.
pub(crate) fn is_binary(bytes: &[u8]) -> bool {
    memchr::memchr(0, &bytes[..bytes.len().min(BINARY_SCAN_BYTES)]).is_some()
}
