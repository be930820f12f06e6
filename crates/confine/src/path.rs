//! A relative path inside a root, checked as it is written.
//!
//! In: text from a model or a person. Out: a [`RelPath`] whose segments are safe to hand to the
//! kernel one by one, or the refusal that names the rule it breaks.
//! Never: decodes, expands, normalises or trims anything; touches a file system. The kernel would
//! accept `a/../b`, `a//b` and `./a`, so these rules stand even where it is asked to confine.

mod unseen;

use std::fmt;

use crate::Refusal;
pub use unseen::is_unseen;

/// Longest path in bytes. Linux allows 4096 with the closing NUL (`PATH_MAX`).
pub const PATH_MAX_BYTES: usize = 4095;
/// Longest segment in bytes (`NAME_MAX`).
pub const SEGMENT_MAX_BYTES: usize = 255;
/// Most segments of a path: as deep as a search goes.
pub const SEGMENTS_MAX_COUNT: usize = 64;

/// A path relative to a root: segments without dots in front, links or tricks.
///
/// The root itself is the path without segments, written `.` or as the empty text.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RelPath {
    text: String,
}

impl RelPath {
    /// Checks `text` against every rule of a path.
    ///
    /// # Errors
    /// The first rule that it breaks: [`Refusal::NulByte`], [`Refusal::Absolute`],
    /// [`Refusal::TooLong`], [`Refusal::EmptySegment`], [`Refusal::ParentSegment`],
    /// [`Refusal::DotSegment`], [`Refusal::Unprintable`], [`Refusal::DotEntry`] or
    /// [`Refusal::GitAlias`].
    pub fn parse(text: &str) -> Result<Self, Refusal> {
        if text.is_empty() || text == "." {
            return Ok(Self::root());
        }
        if text.contains('\0') {
            return Err(Refusal::NulByte);
        }
        if text.starts_with('/') {
            return Err(Refusal::Absolute);
        }
        if text.len() > PATH_MAX_BYTES {
            return Err(Refusal::TooLong);
        }
        for (index, segment) in text.split('/').enumerate() {
            if index >= SEGMENTS_MAX_COUNT {
                return Err(Refusal::TooLong);
            }
            check_segment(segment)?;
        }
        Ok(Self {
            text: text.to_owned(),
        })
    }

    /// The root itself.
    #[must_use]
    pub const fn root() -> Self {
        Self {
            text: String::new(),
        }
    }

    /// Whether this is the root itself.
    #[must_use]
    pub fn is_root(&self) -> bool {
        self.text.is_empty()
    }

    /// The path as it was written; the root is the empty text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Its segments, outermost first.
    pub fn segments(&self) -> impl Iterator<Item = &str> {
        self.text.split('/').filter(|segment| !segment.is_empty())
    }

    /// The folder and the name in it; `None` for the root, which has no name.
    pub(crate) fn split(&self) -> Option<(Self, &str)> {
        if self.is_root() {
            return None;
        }
        let (parent, name) = self.text.rsplit_once('/').unwrap_or(("", &self.text));
        let parent = Self {
            text: parent.to_owned(),
        };
        Some((parent, name))
    }
}

/// Shows the root as `.`.
impl fmt::Display for RelPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.is_root() { "." } else { &self.text })
    }
}

impl fmt::Debug for RelPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "RelPath({self})")
    }
}

/// Whether a name that was found on the disk could be given in a path.
pub(crate) fn is_openable(name: &[u8]) -> bool {
    std::str::from_utf8(name).is_ok_and(|name| check_segment(name).is_ok())
}

/// A name for people: what cannot be seen, and what is no UTF-8, is escaped.
pub(crate) fn shown(name: &[u8]) -> String {
    let mut text = String::with_capacity(name.len());
    for chunk in name.utf8_chunks() {
        for c in chunk.valid().chars() {
            if is_unseen(c) {
                text.extend(c.escape_unicode());
            } else {
                text.push(c);
            }
        }
        for byte in chunk.invalid() {
            text.push_str(&format!("\\x{byte:02x}"));
        }
    }
    text
}

fn check_segment(segment: &str) -> Result<(), Refusal> {
    match segment {
        "" => return Err(Refusal::EmptySegment),
        "." => return Err(Refusal::DotSegment),
        ".." => return Err(Refusal::ParentSegment),
        _ => {}
    }
    if segment.contains('\0') {
        return Err(Refusal::NulByte);
    }
    let outer_blank =
        segment.starts_with(char::is_whitespace) || segment.ends_with(char::is_whitespace);
    if outer_blank || segment.chars().any(is_unseen) {
        return Err(Refusal::Unprintable);
    }
    if segment.starts_with('.') {
        return Err(Refusal::DotEntry);
    }
    if is_git_alias(segment) {
        return Err(Refusal::GitAlias);
    }
    if segment.len() > SEGMENT_MAX_BYTES {
        return Err(Refusal::TooLong);
    }
    Ok(())
}

/// `git~1` and its kin: the short name that NTFS and FAT give to `.git`.
fn is_git_alias(segment: &str) -> bool {
    let Some((name, number)) = segment.split_once('~') else {
        return false;
    };
    // Such systems also drop dots and blanks at the end, and take a stream's name after a colon.
    let number = number.split(':').next().unwrap_or(number);
    let number = number.trim_end_matches(['.', ' ']);
    name.eq_ignore_ascii_case("git")
        && !number.is_empty()
        && number.bytes().all(|byte| byte.is_ascii_digit())
}

#[cfg(test)]
mod tests;
