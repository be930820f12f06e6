//! The index of a repository, as far as a verb has to know it before git reads it.
//!
//! In: the bytes of an index, versions 2 to 4. Out: paths that are in conflict or hidden, and the
//! features that are not served.
//! Never: trusts a length; writes. Git itself checks the sum at the end.
//! Source: gitformat-index(5).

use sha2::{Digest, Sha256};

use crate::refusal::{Feature, GitRefusal};

/// Largest index that is read.
pub(crate) const INDEX_MAX_BYTES: usize = 64 * 1024 * 1024;

/// Bits of an entry's flags.
const ASSUME_VALID: u16 = 0x8000;
const EXTENDED: u16 = 0x4000;
const STAGE: u16 = 0x3000;
const SKIP_WORKTREE: u16 = 0x4000;
/// The bytes of an entry before its object's name.
const STAT_BYTES: usize = 40;

/// How long the names of objects are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ObjectFormat {
    Sha1,
    Sha256,
}

impl ObjectFormat {
    pub(crate) const fn raw_bytes(self) -> usize {
        match self {
            Self::Sha1 => 20,
            Self::Sha256 => 32,
        }
    }

    /// The name of the tree without entries, which every git knows.
    pub(crate) const fn empty_tree(self) -> &'static str {
        match self {
            Self::Sha1 => "4b825dc642cb6eb9a060e54bf8d69288fbee4904",
            Self::Sha256 => "6ef19b41225c5369f1c104d45d8d85efa9b057b53b14b4b9b939dd74decc5321",
        }
    }
}

/// What an index shows.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct IndexView {
    pub(crate) entries: usize,
    /// Whether a path has more than one version.
    pub(crate) has_conflict: bool,
    /// Paths with the flags assume-unchanged or skip-worktree.
    pub(crate) hidden: Vec<Vec<u8>>,
    pub(crate) content: IndexContent,
}

/// What an index says, without what it remembers of the files' times and sizes: looking at a state
/// refreshes that, and changes nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct IndexContent([u8; 32]);

/// Reads an index.
///
/// # Errors
/// [`GitRefusal::BadIndex`], [`Feature::SplitIndex`] and [`Feature::SparseIndex`].
pub(crate) fn view(bytes: &[u8], format: ObjectFormat) -> Result<IndexView, GitRefusal> {
    let mut at = Reader { bytes, place: 0 };
    if at.take(4)? != b"DIRC" {
        return Err(GitRefusal::BadIndex);
    }
    let version = at.number()?;
    if !(2..=4).contains(&version) {
        return Err(GitRefusal::BadIndex);
    }
    let count = at.number()?;
    let mut view = IndexView::default();
    let mut path = Vec::new();
    let mut content = Sha256::new();
    for _ in 0..count {
        at.entry(version, format, &mut path, &mut view, &mut content)?;
    }
    view.content = IndexContent(content.finalize().into());
    view.entries = usize::try_from(count).map_err(|_| GitRefusal::BadIndex)?;
    at.extensions(format)?;
    Ok(view)
}

struct Reader<'a> {
    bytes: &'a [u8],
    place: usize,
}

impl<'a> Reader<'a> {
    fn take(&mut self, count: usize) -> Result<&'a [u8], GitRefusal> {
        let end = self.place.checked_add(count).ok_or(GitRefusal::BadIndex)?;
        let taken = self
            .bytes
            .get(self.place..end)
            .ok_or(GitRefusal::BadIndex)?;
        self.place = end;
        Ok(taken)
    }

    fn number(&mut self) -> Result<u32, GitRefusal> {
        let bytes = self.take(4)?.try_into().map_err(|_| GitRefusal::BadIndex)?;
        Ok(u32::from_be_bytes(bytes))
    }

    fn short(&mut self) -> Result<u16, GitRefusal> {
        let bytes = self.take(2)?.try_into().map_err(|_| GitRefusal::BadIndex)?;
        Ok(u16::from_be_bytes(bytes))
    }

    /// The bytes up to the next NUL, which is passed.
    fn text(&mut self) -> Result<&'a [u8], GitRefusal> {
        let rest = self.bytes.get(self.place..).ok_or(GitRefusal::BadIndex)?;
        let length = rest.iter().position(|byte| *byte == 0);
        let text = self.take(length.ok_or(GitRefusal::BadIndex)?)?;
        self.take(1)?;
        Ok(text)
    }

    fn entry(
        &mut self,
        version: u32,
        format: ObjectFormat,
        path: &mut Vec<u8>,
        view: &mut IndexView,
        content: &mut Sha256,
    ) -> Result<(), GitRefusal> {
        let begin = self.place;
        let stat = self.take(STAT_BYTES)?;
        // The mode is the seventh number; a whole folder as one entry means a sparse index.
        if stat[24..28] == [0, 0, 0x40, 0] {
            return Err(GitRefusal::Layout(Feature::SparseIndex));
        }
        let id = self.take(format.raw_bytes())?;
        let flags = self.short()?;
        let extended = if version >= 3 && flags & EXTENDED != 0 {
            self.short()?
        } else {
            0
        };
        if version == 4 {
            let dropped = self.offset()?;
            let kept = path
                .len()
                .checked_sub(dropped)
                .ok_or(GitRefusal::BadIndex)?;
            path.truncate(kept);
            path.extend_from_slice(self.text()?);
        } else {
            path.clear();
            path.extend_from_slice(self.text()?);
            // Entries end at a multiple of eight, with one to eight NULs; one is passed already.
            let length = self.place - begin - 1;
            self.take(7 - length % 8)?;
        }
        content.update(&stat[24..28]);
        content.update(id);
        content.update((flags & (ASSUME_VALID | STAGE)).to_be_bytes());
        content.update(extended.to_be_bytes());
        content.update(&path[..]);
        content.update([0]);
        view.has_conflict |= flags & STAGE != 0;
        if flags & ASSUME_VALID != 0 || extended & SKIP_WORKTREE != 0 {
            view.hidden.push(path.clone());
        }
        Ok(())
    }

    /// The number in front of a path in version 4, as in the offsets of packs.
    fn offset(&mut self) -> Result<usize, GitRefusal> {
        let mut value: usize = 0;
        for step in 0..8 {
            let byte = usize::from(self.take(1)?[0]);
            if step > 0 {
                value += 1;
            }
            value = (value << 7) | (byte & 0x7f);
            if byte & 0x80 == 0 {
                return Ok(value);
            }
        }
        Err(GitRefusal::BadIndex)
    }

    fn extensions(&mut self, format: ObjectFormat) -> Result<(), GitRefusal> {
        while self.place + format.raw_bytes() < self.bytes.len() {
            let name = self.take(4)?;
            let length = usize::try_from(self.number()?).map_err(|_| GitRefusal::BadIndex)?;
            match name {
                b"link" => return Err(GitRefusal::Layout(Feature::SplitIndex)),
                b"sdir" => return Err(GitRefusal::Layout(Feature::SparseIndex)),
                // One whose name begins with a capital may be passed over.
                name if name[0].is_ascii_uppercase() => {}
                _ => return Err(GitRefusal::BadIndex),
            }
            self.take(length)?;
        }
        if self.place + format.raw_bytes() == self.bytes.len() {
            Ok(())
        } else {
            Err(GitRefusal::BadIndex)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{IndexContent, IndexView, ObjectFormat, view};
    use crate::refusal::{Feature, GitRefusal};

    fn entry(path: &str, mode: u32, flags: u16, extended: Option<u16>) -> Vec<u8> {
        let mut bytes = vec![0; 40];
        bytes[24..28].copy_from_slice(&mode.to_be_bytes());
        bytes.extend([7; 20]);
        bytes.extend(flags.to_be_bytes());
        bytes.extend(extended.iter().flat_map(|more| more.to_be_bytes()));
        bytes.extend(path.as_bytes());
        bytes.resize(bytes.len() + 8 - bytes.len() % 8, 0);
        bytes
    }

    fn index(version: u32, entries: &[Vec<u8>], extension: Option<&[u8; 4]>) -> Vec<u8> {
        let mut bytes = b"DIRC".to_vec();
        bytes.extend(version.to_be_bytes());
        bytes.extend(u32::try_from(entries.len()).expect("few").to_be_bytes());
        bytes.extend(entries.concat());
        if let Some(name) = extension {
            bytes.extend(name);
            bytes.extend([0, 0, 0, 2, 1, 1]);
        }
        bytes.extend([0; 20]);
        bytes
    }

    #[test]
    fn flags_are_seen() {
        let plain = || entry("a.txt", 0o100_644, 5, None);
        let hidden = |names: &[&str]| {
            Ok(IndexView {
                entries: 2,
                has_conflict: false,
                hidden: names.iter().map(|name| name.as_bytes().to_vec()).collect(),
                content: IndexContent::default(),
            })
        };
        let cases = [
            (
                "plain",
                index(2, &[plain(), entry("b", 0o100_644, 1, None)], None),
                hidden(&[]),
            ),
            (
                "a tree cache",
                index(2, &[plain(), plain()], Some(b"TREE")),
                hidden(&[]),
            ),
            (
                "assumed unchanged",
                index(2, &[plain(), entry("dir/b", 0o100_644, 0x8005, None)], None),
                hidden(&["dir/b"]),
            ),
            (
                "left out",
                index(
                    3,
                    &[entry("b", 0o100_644, 0x4001, Some(0x4000)), plain()],
                    None,
                ),
                hidden(&["b"]),
            ),
        ];
        for (name, bytes, want) in cases {
            let found = view(&bytes, ObjectFormat::Sha1).map(|view| IndexView {
                content: IndexContent::default(),
                ..view
            });
            assert_eq!(found, want, "{name}");
        }
    }

    #[test]
    fn times_are_no_content_and_everything_else_is() {
        let content = |entry: Vec<u8>| {
            let bytes = index(2, &[entry], None);
            view(&bytes, ObjectFormat::Sha1)
                .expect("it is read")
                .content
        };
        let plain = || entry("a.txt", 0o100_644, 5, None);
        let mut touched = plain();
        touched[3] = 9;
        let mut other = plain();
        other[45] = 9;
        assert_eq!(content(touched), content(plain()));
        assert_ne!(content(other), content(plain()));
        for (path, mode, flags) in [
            ("b.txt", 0o100_644, 5),
            ("a.txt", 0o100_755, 5),
            ("a.txt", 0o100_644, 0x8005),
            ("a.txt", 0o100_644, 0x1005),
        ] {
            assert_ne!(content(entry(path, mode, flags, None)), content(plain()));
        }
    }

    #[test]
    fn features_that_are_not_served_are_seen() {
        let plain = || entry("a.txt", 0o100_644, 5, None);
        let layout = |feature| Err(GitRefusal::Layout(feature));
        let cases = [
            (
                "split",
                index(2, &[plain()], Some(b"link")),
                layout(Feature::SplitIndex),
            ),
            (
                "sparse",
                index(3, &[plain()], Some(b"sdir")),
                layout(Feature::SparseIndex),
            ),
            (
                "a folder",
                index(3, &[entry("d/", 0o40_000, 2, None)], None),
                layout(Feature::SparseIndex),
            ),
            (
                "unknown",
                index(2, &[plain()], Some(b"newx")),
                Err(GitRefusal::BadIndex),
            ),
            ("version", index(5, &[], None), Err(GitRefusal::BadIndex)),
            ("no index", b"hello".to_vec(), Err(GitRefusal::BadIndex)),
        ];
        for (name, bytes, want) in cases {
            assert_eq!(view(&bytes, ObjectFormat::Sha1), want, "{name}");
        }
    }

    #[test]
    fn a_conflict_is_seen() {
        let conflict = index(2, &[entry("a", 0o100_644, 0x1001, None)], None);
        assert!(
            view(&conflict, ObjectFormat::Sha1)
                .expect("it is read")
                .has_conflict
        );
    }

    #[test]
    fn an_index_that_is_cut_anywhere_is_refused() {
        let whole = index(3, &[entry("dir/a.txt", 0o100_644, 9, None)], None);
        for cut in 0..whole.len() {
            let found = view(&whole[..cut], ObjectFormat::Sha1);
            assert_eq!(found, Err(GitRefusal::BadIndex), "cut at {cut}");
        }
    }

    #[test]
    fn an_index_with_any_byte_changed_is_read_or_refused() {
        for version in [2, 3, 4] {
            let entries = [
                entry("dir/a.txt", 0o100_644, 0x4009, Some(0x4000)),
                entry("b", 0o100_755, 1, None),
            ];
            let whole = index(version, &entries, Some(b"TREE"));
            let mut read = 0;
            for place in 0..whole.len() {
                for value in [0, 1, 0x7f, 0x80, 0xff] {
                    let mut bytes = whole.clone();
                    bytes[place] = value;
                    read += usize::from(view(&bytes, ObjectFormat::Sha1).is_ok());
                }
            }
            assert!(read < whole.len() * 5, "version {version}");
        }
    }
}
