//! Why a file operation was not done.
//!
//! In: nothing. Out: one closed enum with a stable code for records and one sentence for people
//! and models, both in one place.
//! Never: carries a path of the host, a name, the system's own error text, or anything that was read.

use std::fmt;

use rustix::io::Errno;

use crate::shapes::Family;

/// A named reason why nothing was done. The one exception is [`Refusal::OutcomeUnknown`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    // The path as it is written.
    /// It begins with a slash.
    Absolute,
    /// A segment is `..`.
    ParentSegment,
    /// A segment is `.` and it is not the whole path.
    DotSegment,
    /// A segment is empty: two slashes in a row, or one at the end.
    EmptySegment,
    /// A segment begins with a dot.
    DotEntry,
    /// A segment is a short name that some file systems give to `.git`.
    GitAlias,
    /// It holds a NUL byte.
    NulByte,
    /// It holds a character that cannot be seen, or a segment begins or ends with white space.
    Unprintable,
    /// The path, a segment of it or the number of segments is over the limit.
    TooLong,

    // What the path leads to.
    /// There is nothing by that name.
    NotFound,
    /// A symbolic link stands at some step.
    Symlink,
    /// The file has more than one name.
    HardLink,
    /// It is no regular file.
    NotRegular,
    /// It is no directory.
    NotDirectory,
    /// Another file system, or another part of this one, is mounted on the way.
    MountBoundary,
    /// The file system kept changing under the look-up.
    Busy,

    // What a file holds.
    /// More bytes than the limit.
    TooLarge,
    /// A NUL byte among the first 8 KiB of a file, or anywhere in text to write.
    Binary,
    /// Not valid UTF-8.
    NotUtf8,
    /// It matches the shape of a credential.
    SecretShape(Family),

    // What an edit asks for.
    /// The text to replace is empty.
    EmptyOld,
    /// The text to replace equals its replacement.
    NoChange,
    /// The text to replace does not occur.
    NoMatch(Hint),
    /// The text to replace occurs this many times; overlapping ones count.
    Ambiguous(usize),

    // What a write meets.
    /// The root may only be read.
    RootReadonly,
    /// The folder that should hold the file does not exist.
    ParentMissing,
    /// The folder that holds the file is another one now.
    ParentMoved,
    /// There is something by that name already.
    Exists,
    /// The folder is, or lies in, a git directory under another name.
    GitMetadata,
    /// The owner may not write the file.
    ReadOnlyFile,
    /// The file has an access list or a security attribute that a replacement would lose.
    SpecialAttributes,
    /// The file belongs to another user or group, which a replacement would change.
    OtherOwner,
    /// The file is not what it was when the change was prepared.
    ChangedSinceRead,
    /// The change may or may not have happened, or may not last: the file has to be read again.
    OutcomeUnknown,

    // What a search asks for.
    /// The pattern or the glob cannot be used.
    BadPattern,

    // What a root is.
    /// The path of the root names another directory now.
    RootReplaced,
    /// The path of the root is not absolute.
    RootNotAbsolute,
    /// The path of the root has an empty, `.` or `..` segment.
    RootNotCanonical,
    /// A segment of the root's path begins with a dot.
    RootDotSegment,
    /// The root would be the whole machine or a person's home.
    RootForbidden,
    /// The root lies on a file system of the kernel's own.
    RootSpecialFs,
    /// A symbolic link stands at some step of the root's path.
    RootSymlink,
    /// Every local user may write in the root.
    RootWorldWritable,
    /// The root, or what lies in it, belongs to another root too.
    RootOverlap,
    /// The root would reach the data root, or lies in it.
    RootOverlapsData,

    // What the system said.
    /// The system refused.
    Io(Trouble),
}

/// What is known about a text that did not occur.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hint {
    /// Nothing.
    None,
    /// It would occur if its line ends were CRLF, as the file's are.
    FileHasCrlf,
    /// It would occur if its line ends were LF, as the file's are.
    FileHasLf,
}

/// A class of system error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trouble {
    /// The process may not do that there.
    NoAccess,
    /// The device, the quota or the size limit is used up.
    NoSpace,
    /// The file system is mounted read-only.
    ReadOnly,
    /// Too many files are open.
    TooManyOpen,
    /// The file system lacks a call that is needed.
    Unsupported,
    /// Anything else.
    Other,
}

impl Refusal {
    /// The stable code for records. A code never changes its meaning.
    #[must_use]
    pub const fn code(self) -> &'static str {
        match self {
            Self::Absolute => "absolute",
            Self::ParentSegment => "parent-segment",
            Self::DotSegment => "dot-segment",
            Self::EmptySegment => "empty-segment",
            Self::DotEntry => "dot-entry",
            Self::GitAlias => "git-alias",
            Self::NulByte => "nul-byte",
            Self::Unprintable => "unprintable",
            Self::TooLong => "too-long",
            Self::NotFound => "not-found",
            Self::Symlink => "symlink",
            Self::HardLink => "hard-link",
            Self::NotRegular => "not-regular",
            Self::NotDirectory => "not-directory",
            Self::MountBoundary => "mount-boundary",
            Self::Busy => "busy",
            Self::TooLarge => "too-large",
            Self::Binary => "binary",
            Self::NotUtf8 => "not-utf8",
            Self::SecretShape(_) => "secret-shape",
            Self::EmptyOld => "bad-arguments",
            Self::NoChange => "no-change",
            Self::NoMatch(_) => "no-match",
            Self::Ambiguous(_) => "ambiguous",
            Self::RootReadonly => "root-readonly",
            Self::ParentMissing => "parent-missing",
            Self::ParentMoved => "parent-moved",
            Self::Exists => "exists",
            Self::GitMetadata => "git-metadata",
            Self::ReadOnlyFile => "read-only-file",
            Self::SpecialAttributes => "special-attributes",
            Self::OtherOwner => "other-owner",
            Self::ChangedSinceRead => "changed-since-read",
            Self::OutcomeUnknown => "outcome-unknown",
            Self::BadPattern => "bad-pattern",
            Self::RootReplaced => "root-replaced",
            Self::RootNotAbsolute => "root-not-absolute",
            Self::RootNotCanonical => "root-not-canonical",
            Self::RootDotSegment => "root-dot-segment",
            Self::RootForbidden => "root-forbidden",
            Self::RootSpecialFs => "root-special-fs",
            Self::RootSymlink => "root-symlink",
            Self::RootWorldWritable => "root-world-writable",
            Self::RootOverlap => "root-overlap",
            Self::RootOverlapsData => "root-overlaps-data",
            Self::Io(_) => "io-error",
        }
    }

    /// `to` in place of any of `from`; every other refusal as it is.
    pub(crate) fn put(self, from: &[Self], to: Self) -> Self {
        if from.contains(&self) { to } else { self }
    }

    /// The class of an error number that a look-up or an open gave.
    pub(crate) fn of_open(errno: Errno) -> Self {
        match errno {
            Errno::NOENT => Self::NotFound,
            Errno::NOTDIR => Self::NotDirectory,
            // A link, wherever it stands: no flag of ours lets one be followed.
            Errno::LOOP => Self::Symlink,
            // With BENEATH and NO_XDEV. `..` and a leading slash were refused before the call.
            Errno::XDEV => Self::MountBoundary,
            Errno::NAMETOOLONG => Self::TooLong,
            // A socket, or a device without a driver.
            Errno::NXIO | Errno::NODEV => Self::NotRegular,
            Errno::AGAIN => Self::Busy,
            other => Self::of_call(other),
        }
    }

    /// The class of an error number of any other call.
    pub(crate) fn of_call(errno: Errno) -> Self {
        Self::Io(match errno {
            Errno::ACCESS | Errno::PERM => Trouble::NoAccess,
            Errno::NOSPC | Errno::DQUOT | Errno::FBIG => Trouble::NoSpace,
            Errno::ROFS => Trouble::ReadOnly,
            Errno::MFILE | Errno::NFILE => Trouble::TooManyOpen,
            Errno::NOSYS | Errno::OPNOTSUPP => Trouble::Unsupported,
            _ => Trouble::Other,
        })
    }

    /// One sentence without what varies.
    const fn sentence(self) -> &'static str {
        match self {
            Self::Absolute => "the path is absolute; it must be relative to the root",
            Self::ParentSegment => "the path has a segment `..`",
            Self::DotSegment => "the path has a segment `.`",
            Self::EmptySegment => "the path has an empty segment",
            Self::DotEntry => "names that begin with a dot are out of reach",
            Self::GitAlias => "the name is a short form of a git directory's name",
            Self::NulByte => "the path has a NUL byte",
            Self::Unprintable => "the path has a character or a blank that cannot be seen",
            Self::TooLong => "the path or a part of it is too long",
            Self::NotFound => "there is nothing by that name",
            Self::Symlink => "there is a symbolic link at some step of the path",
            Self::HardLink => "the file has several hard links; where the others lie is unknown",
            Self::NotRegular => "it is not a regular file",
            Self::NotDirectory => "it is not a directory",
            Self::MountBoundary => "something else is mounted at some step of the path",
            Self::Busy => "the files kept changing during the look-up; try again",
            Self::TooLarge => "it is larger than the limit",
            Self::Binary => "it has a NUL byte, so it is taken for binary",
            Self::NotUtf8 => "it is not valid UTF-8",
            Self::SecretShape(_) => "it matches the shape of a credential",
            Self::EmptyOld => "the text to replace is empty",
            Self::NoChange => "the text to replace and its replacement are the same",
            Self::NoMatch(hint) => hint.sentence(),
            Self::Ambiguous(_) => "the text to replace must occur exactly once",
            Self::RootReadonly => "the root may only be read",
            Self::ParentMissing => "the folder does not exist, and none is created",
            Self::ParentMoved => "the folder is not where it was when the change was prepared",
            Self::Exists => "there is something by that name already",
            Self::GitMetadata => "the folder is a git directory",
            Self::ReadOnlyFile => "the file is read-only",
            Self::SpecialAttributes => "a replacement would lose the file's access list",
            Self::OtherOwner => "the file belongs to another user or group",
            Self::ChangedSinceRead => "the file changed since the change was prepared",
            Self::OutcomeUnknown => {
                "whether the change happened and lasts is unknown; read it again"
            }
            Self::BadPattern => "the pattern cannot be used",
            Self::RootReplaced => "the root is not the directory that was opened at the start",
            Self::RootNotAbsolute => "the path of a root must be absolute",
            Self::RootNotCanonical => "the path of a root has an empty, `.` or `..` segment",
            Self::RootDotSegment => "the path of a root has a segment that begins with a dot",
            Self::RootForbidden => "a root is not a whole machine and not a home directory",
            Self::RootSpecialFs => "a root does not lie on a file system of the kernel's own",
            Self::RootSymlink => "the path of a root has a symbolic link",
            Self::RootWorldWritable => "every local user may write in the root",
            Self::RootOverlap => "one root lies in another",
            Self::RootOverlapsData => "a root and the data root lie in one another",
            Self::Io(trouble) => trouble.sentence(),
        }
    }
}

impl Hint {
    const fn sentence(self) -> &'static str {
        match self {
            Self::None => "the text to replace does not occur (0 occurrences)",
            Self::FileHasCrlf => {
                "the text to replace does not occur (0 occurrences); this file's lines end with CRLF"
            }
            Self::FileHasLf => {
                "the text to replace does not occur (0 occurrences); this file's lines end with LF"
            }
        }
    }
}

impl Trouble {
    const fn sentence(self) -> &'static str {
        match self {
            Self::NoAccess => "the system denies access",
            Self::NoSpace => "there is no space left",
            Self::ReadOnly => "the file system is read-only",
            Self::TooManyOpen => "too many files are open",
            Self::Unsupported => "the file system lacks a call that is needed",
            Self::Other => "the system reported an error",
        }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.sentence())?;
        if let Self::SecretShape(family) = self {
            write!(f, " ({})", family.name())?;
        }
        if let Self::Ambiguous(count) = self {
            write!(f, "; it occurs {count} times")?;
        }
        Ok(())
    }
}

impl std::error::Error for Refusal {}
