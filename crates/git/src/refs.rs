//! The head and the branches of the repository, read and set without git.
//!
//! In: the git directory, a branch. Out: the commit that it names; one compare-and-set.
//! Never: a link, a hook, a log, another reference than the one that is named.
//! Source: gitrepository-layout(5); the lock file and the order of steps are git's own.

use rustix::io::Errno;

use crate::{
    folder::Folder,
    index::ObjectFormat,
    refusal::{Feature, GitRefusal},
    words::is_branch,
};

/// Longest file of one reference.
const REF_MAX_BYTES: usize = 1024;
/// Longest `packed-refs`.
const PACKED_MAX_BYTES: usize = 64 * 1024 * 1024;

/// The name of an object: lower-case hexadecimal digits.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct ObjectId(String);

impl ObjectId {
    /// Reads the digits of either format.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let digits = |b: u8| b.is_ascii_digit() || (b'a'..=b'f').contains(&b);
        let fits = matches!(text.len(), 40 | 64) && text.bytes().all(digits);
        fits.then(|| Self(text.to_owned()))
    }

    /// The digits.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl std::fmt::Display for ObjectId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::fmt::Debug for ObjectId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "ObjectId({})", self.0)
    }
}

/// Refuses a head that is not on `branch`.
pub(crate) fn refuse_head(git: &Folder, branch: &str) -> Result<(), GitRefusal> {
    let head = git.read("HEAD", REF_MAX_BYTES)?;
    let head = head.ok_or(GitRefusal::Layout(Feature::Incomplete))?;
    let head = String::from_utf8(head).map_err(|_| GitRefusal::OtherBranch)?;
    let head = head.strip_suffix('\n').unwrap_or(&head);
    if ObjectId::parse(head).is_some() {
        return Err(GitRefusal::DetachedHead);
    }
    let on = head.strip_prefix("ref: refs/heads/");
    if on == Some(branch) && is_branch(branch) {
        Ok(())
    } else {
        Err(GitRefusal::OtherBranch)
    }
}

/// The commit that `name` (`refs/…`) names; `None` when there is no such reference.
pub(crate) fn read(git: &Folder, name: &str) -> Result<Option<ObjectId>, GitRefusal> {
    match loose(git, name)? {
        Some(id) => Ok(Some(id)),
        None => packed(git, name),
    }
}

/// Sets the reference `name` to `new` if it is `old` now.
///
/// # Errors
/// [`GitRefusal::Locked`] and [`GitRefusal::Changed`] leave it as it was.
pub(crate) fn compare_and_set(
    git: &Folder,
    name: &str,
    old: Option<&ObjectId>,
    new: &ObjectId,
) -> Result<(), GitRefusal> {
    RefLock::take(git, name, old, new)?.commit()
}

/// A reference that nobody else can set, with its next value beside it.
pub(crate) struct RefLock {
    folder: Folder,
    name: Vec<u8>,
    lock: Vec<u8>,
    is_done: bool,
}

impl RefLock {
    /// Takes the lock of a reference that is `old` now. Dropping it leaves the reference so.
    pub(crate) fn take(
        git: &Folder,
        name: &str,
        old: Option<&ObjectId>,
        new: &ObjectId,
    ) -> Result<Self, GitRefusal> {
        let (folders, last) = name.rsplit_once('/').ok_or(GitRefusal::OtherBranch)?;
        let mut folder: Option<Folder> = None;
        for part in folders.split('/') {
            let above = folder.as_ref().unwrap_or(git);
            let inner = above.folder_made(part.as_bytes());
            folder = Some(inner.map_err(GitRefusal::of_errno)?);
        }
        let folder = folder.ok_or(GitRefusal::OtherBranch)?;
        let lock = [last.as_bytes(), b".lock"].concat();
        let line = format!("{new}\n");
        match folder.create(&lock, line.as_bytes(), 0o666) {
            Ok(()) => {}
            Err(Errno::EXIST) => return Err(GitRefusal::Locked),
            Err(errno) => return Err(GitRefusal::of_errno(errno)),
        }
        let taken = Self {
            folder,
            name: last.as_bytes().to_vec(),
            lock,
            is_done: false,
        };
        if read(git, name)?.as_ref() == old {
            Ok(taken)
        } else {
            Err(GitRefusal::Changed)
        }
    }

    /// Sets the reference.
    pub(crate) fn commit(mut self) -> Result<(), GitRefusal> {
        let renamed = self.folder.rename(&self.lock, &self.name);
        renamed.map_err(GitRefusal::of_errno)?;
        self.is_done = true;
        // The name is there for everybody; that it may not last is no reason to say it is not.
        self.folder.sync().ok();
        Ok(())
    }
}

impl Drop for RefLock {
    fn drop(&mut self) {
        if !self.is_done {
            self.folder.remove(&self.lock).ok();
        }
    }
}

fn loose(git: &Folder, name: &str) -> Result<Option<ObjectId>, GitRefusal> {
    let (folders, last) = name.rsplit_once('/').ok_or(GitRefusal::OtherBranch)?;
    let names: Vec<&[u8]> = folders.split('/').map(str::as_bytes).collect();
    let folder = match git.folder_at(&names) {
        Ok(folder) => folder,
        Err(Errno::NOENT | Errno::NOTDIR) => return Ok(None),
        Err(Errno::LOOP) => return Err(GitRefusal::Link("refs".to_owned())),
        Err(errno) => return Err(GitRefusal::of_errno(errno)),
    };
    let facts = folder.facts_of(last.as_bytes());
    let facts = facts.map_err(GitRefusal::of_errno)?;
    // A folder by that name holds other branches.
    if facts.is_none_or(|facts| crate::folder::kind_of(&facts) == crate::folder::Kind::Folder) {
        return Ok(None);
    }
    let Some(bytes) = folder.read(last, REF_MAX_BYTES)? else {
        return Ok(None);
    };
    let text = String::from_utf8(bytes).map_err(|_| GitRefusal::OtherBranch)?;
    // A reference to another one would set that one.
    let id = ObjectId::parse(text.trim_end());
    id.map(Some).ok_or(GitRefusal::OtherBranch)
}

fn packed(git: &Folder, name: &str) -> Result<Option<ObjectId>, GitRefusal> {
    let Some(bytes) = git.read("packed-refs", PACKED_MAX_BYTES)? else {
        return Ok(None);
    };
    let lines = bytes.split(|byte| *byte == b'\n');
    let found = lines.into_iter().find_map(|line| {
        let line = std::str::from_utf8(line).ok()?;
        let (id, of) = line.split_once(' ')?;
        (of.trim_end() == name).then_some(id)
    });
    match found {
        Some(id) => ObjectId::parse(id).map(Some).ok_or(GitRefusal::OtherBranch),
        None => Ok(None),
    }
}

impl ObjectFormat {
    /// Whether `id` is a name of this format.
    pub(crate) fn fits(self, id: &ObjectId) -> bool {
        id.as_str().len() == self.raw_bytes() * 2
    }
}

#[cfg(test)]
mod tests {
    use super::{ObjectId, compare_and_set, read, refuse_head};
    use crate::{folder::Folder, refusal::GitRefusal};
    use std::fs;

    fn id(digit: char) -> ObjectId {
        ObjectId::parse(&digit.to_string().repeat(40)).expect("forty digits")
    }

    fn git() -> (tempfile::TempDir, Folder) {
        let place = tempfile::tempdir().expect("a folder");
        fs::create_dir_all(place.path().join("refs/heads/seat")).expect("folders");
        let folder = Folder::open_ambient(place.path()).expect("it opens");
        (place, folder)
    }

    #[test]
    fn a_reference_is_set_only_from_what_it_was() {
        let (place, git) = git();
        let name = "refs/heads/seat/notes";
        compare_and_set(&git, name, None, &id('1')).expect("it is new");
        assert_eq!(
            compare_and_set(&git, name, None, &id('2')),
            Err(GitRefusal::Changed)
        );
        assert_eq!(
            compare_and_set(&git, name, Some(&id('3')), &id('2')),
            Err(GitRefusal::Changed)
        );
        assert_eq!(read(&git, name), Ok(Some(id('1'))));
        compare_and_set(&git, name, Some(&id('1')), &id('2')).expect("it was that");
        assert_eq!(read(&git, name), Ok(Some(id('2'))));
        let left: Vec<_> = fs::read_dir(place.path().join("refs/heads/seat"))
            .expect("a folder")
            .collect();
        assert_eq!(left.len(), 1, "no lock stays");
    }

    #[test]
    fn a_lock_of_another_program_is_respected() {
        let (place, git) = git();
        let lock = place.path().join("refs/heads/main.lock");
        fs::write(&lock, "").expect("a file");
        let found = compare_and_set(&git, "refs/heads/main", None, &id('1'));
        assert_eq!(found, Err(GitRefusal::Locked));
        assert!(lock.exists());
    }

    #[test]
    fn a_packed_reference_is_read_and_then_covered() {
        let (place, git) = git();
        let packed = format!(
            "# pack-refs with: peeled\n{} refs/heads/main\n^{}\n",
            id('1'),
            id('9')
        );
        fs::write(place.path().join("packed-refs"), packed).expect("a file");
        assert_eq!(read(&git, "refs/heads/main"), Ok(Some(id('1'))));
        compare_and_set(&git, "refs/heads/main", Some(&id('1')), &id('2')).expect("it was that");
        assert_eq!(read(&git, "refs/heads/main"), Ok(Some(id('2'))));
        assert_eq!(read(&git, "refs/heads/other"), Ok(None));
        assert_eq!(read(&git, "refs/heads/seat"), Ok(None));
    }

    #[test]
    fn only_the_bound_branch_is_the_head() {
        let (place, git) = git();
        let detached = format!("{}\n", id('a'));
        let cases = [
            ("ref: refs/heads/main\n", Ok(())),
            ("ref: refs/heads/main", Ok(())),
            ("ref: refs/heads/other\n", Err(GitRefusal::OtherBranch)),
            (
                "ref: refs/heads/--upload-pack=x\n",
                Err(GitRefusal::OtherBranch),
            ),
            ("ref: refs/heads/main\nx", Err(GitRefusal::OtherBranch)),
            ("ref: refs/tags/main\n", Err(GitRefusal::OtherBranch)),
            (&detached, Err(GitRefusal::DetachedHead)),
            ("", Err(GitRefusal::OtherBranch)),
        ];
        for (head, want) in cases {
            fs::write(place.path().join("HEAD"), head).expect("a file");
            assert_eq!(refuse_head(&git, "main"), want, "{head:?}");
        }
    }

    #[test]
    fn a_reference_to_another_one_is_refused() {
        let (place, git) = git();
        fs::write(place.path().join("refs/heads/main"), "ref: refs/heads/x\n").expect("a file");
        assert_eq!(read(&git, "refs/heads/main"), Err(GitRefusal::OtherBranch));
    }
}
