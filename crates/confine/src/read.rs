//! Reading one file whole.
//!
//! In: a root, a path, the most bytes. Out: text that a tool may show.
//! Never: opens what is no regular file, waits, allocates by the size that a file claims, or gives
//! a part of a file.

use rustix::fd::{AsFd, BorrowedFd, OwnedFd};

use crate::{
    Refusal, RelPath, Root,
    moment::{self, Moment},
    prepare::{ContentDigest, digest},
    resolve::Start,
    shapes,
    system::{self, Facts, Inode, Kind},
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
        let start = self.start();
        let again = || start.inode(path.as_str().as_bytes());
        let (bytes, _) = read_file(&start, folder.as_fd(), name, limit, again)?;
        let text = text_of(bytes)?;
        shapes::refuse_credentials(text.as_bytes())?;
        Ok(FileText { text })
    }

    /// The digest of the file at `path`, whatever it holds: to see whether it is what somebody meant
    /// to put there.
    ///
    /// # Errors
    /// As [`Root::read_text`], what it holds aside; [`Refusal::TooLarge`] over the largest limit that
    /// there is.
    pub fn content_digest(&self, path: &RelPath) -> Result<ContentDigest, Refusal> {
        self.refuse_replaced()?;
        let (folder, name, _) = self.parent_of(path, system::PASS)?;
        let start = self.start();
        let again = || start.inode(path.as_str().as_bytes());
        let limit = FileLimit::bytes(FileLimit::CEILING_BYTES);
        let (bytes, _) = read_file(&start, folder.as_fd(), name, limit, again)?;
        Ok(digest(&bytes))
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

/// The whole content of a file, and its facts. `again` is [`still_one`]'s.
pub(crate) fn read_file(
    start: &Start<'_>,
    folder: BorrowedFd<'_>,
    name: &str,
    limit: FileLimit,
    again: impl FnOnce() -> Result<Inode, Refusal>,
) -> Result<(Vec<u8>, Facts), Refusal> {
    // A device may act when it is opened, and a peer of a FIFO wakes: look at the kind first.
    let seen = look(folder, name)?;
    let file = start.name_in(folder, name.as_bytes(), system::READ)?;
    moment::pass(Moment::Opened).map_err(Refusal::of_call)?;
    let facts = system::facts(file.as_fd()).map_err(Refusal::of_call)?;
    system::refuse_unusual(&facts)?;
    if facts.inode != seen.inode {
        return Err(Refusal::ChangedSinceRead);
    }
    let bytes = read_open(&file, &facts, limit, folder, again)?;
    Ok((bytes, facts))
}

/// Reads an open file to its end, and refuses one that changed meanwhile.
pub(crate) fn read_open(
    file: &OwnedFd,
    facts: &Facts,
    limit: FileLimit,
    folder: BorrowedFd<'_>,
    again: impl FnOnce() -> Result<Inode, Refusal>,
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
    still_one(file, facts, folder, again)?;
    if facts.size != u64::try_from(length).unwrap_or(u64::MAX) {
        return Err(Refusal::ChangedSinceRead);
    }
    Ok(bytes)
}

/// Refuses a file that changed since `facts` were taken, or whose one name is not the one in
/// `folder` that `again` looks up.
///
/// One name says nothing by itself: a file outside that was given a second name inside has one again
/// as soon as that name is taken away, and it may have been opened in between. But making and taking
/// away names changes the inode's time. So with the same time throughout, it had this one name all
/// the while; and if the look-up in between finds it, that name is inside.
///
/// The kernel changes time, count and name one after the other, and a look may fall in between. It
/// cannot before and after a moment at which the folder is settled: what was under way at the first
/// look is done by then, and shows at the next.
pub(crate) fn still_one(
    file: &OwnedFd,
    facts: &Facts,
    folder: BorrowedFd<'_>,
    again: impl FnOnce() -> Result<Inode, Refusal>,
) -> Result<(), Refusal> {
    let look = || {
        let now = system::facts(file.as_fd()).map_err(Refusal::of_call)?;
        system::refuse_unusual(&now)?;
        if now == *facts {
            Ok(())
        } else {
            Err(Refusal::ChangedSinceRead)
        }
    };
    system::settle(folder);
    let found =
        again().map_err(|refusal| refusal.put(&[Refusal::NotFound], Refusal::ChangedSinceRead))?;
    look()?;
    system::settle(folder);
    look()?;
    if found == facts.inode {
        Ok(())
    } else {
        Err(Refusal::ChangedSinceRead)
    }
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
