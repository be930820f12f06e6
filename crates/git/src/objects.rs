//! Objects: new ones on their way from a store of our own into the repository's, and the bytes of some.
//!
//! In: a store to which a prepared commit wrote, the repository's store; names of objects. Out: the
//! same objects in the latter; their bytes.
//! Never: an object over another one, a folder that is a link, an object that is not loose; a filter.

use rustix::io::Errno;

use crate::{
    folder::{Entry, Folder, Kind},
    masked::Masked,
    refs::ObjectId,
    refusal::{Feature, GitRefusal},
    spawn::Run,
    verb::Verb,
};

/// Most objects that one commit makes: its files, the folders above them, the commit itself.
const OBJECTS_MAX: usize = 50 * 65 + 1;
/// Largest compressed object that is carried over.
const OBJECT_MAX_BYTES: usize = 64 * 1024 * 1024;

/// Copies every object of `from` into `to`; each is synced before it gets its name.
pub(crate) fn carry_over(from: &Folder, to: &Folder) -> Result<(), GitRefusal> {
    for (prefix, kind) in entries(from)? {
        if kind != Kind::Folder || !is_hex(&prefix, 2) {
            continue;
        }
        let inner = from.folder(&prefix).map_err(GitRefusal::of_errno)?;
        let target = to.folder_made(&prefix).map_err(GitRefusal::of_errno)?;
        for (name, kind) in entries(&inner)? {
            if kind == Kind::File && (is_hex(&name, 38) || is_hex(&name, 62)) {
                carry(&inner, &target, &name)?;
            }
        }
        target.sync().map_err(GitRefusal::of_errno)?;
    }
    to.sync().map_err(GitRefusal::of_errno)
}

fn carry(from: &Folder, to: &Folder, name: &[u8]) -> Result<(), GitRefusal> {
    if to.facts_of(name).map_err(GitRefusal::of_errno)?.is_some() {
        return Ok(());
    }
    let text = String::from_utf8_lossy(name);
    let bytes = from.read(&text, OBJECT_MAX_BYTES)?;
    let bytes = bytes.ok_or(GitRefusal::Changed)?;
    // Git sweeps leftovers with this prefix.
    let passing = format!("tmp_obj_{}_{text}", std::process::id());
    let mut made = to.create(passing.as_bytes(), &bytes, 0o444);
    if made == Err(Errno::EXIST) {
        // Of a process that had our number and died in between.
        to.remove(passing.as_bytes())
            .map_err(GitRefusal::of_errno)?;
        made = to.create(passing.as_bytes(), &bytes, 0o444);
    }
    made.map_err(GitRefusal::of_errno)?;
    to.rename(passing.as_bytes(), name).map_err(|errno| {
        to.remove(passing.as_bytes()).ok();
        GitRefusal::of_errno(errno)
    })
}

/// The bytes of each object, in the order of their names; at most `most` in all.
///
/// # Errors
/// [`GitRefusal::TooLarge`], and what git is refused for.
pub(crate) fn read(
    git: Run,
    verb: &Verb<'_>,
    ids: &[ObjectId],
    most: usize,
) -> Result<Vec<Vec<u8>>, GitRefusal> {
    let names: String = ids.iter().map(|id| format!("{id}\n")).collect();
    let asked = git.args(["cat-file", "--batch", "--buffer"]);
    let said = match verb.done(&asked.input(names.into_bytes()).keep(most)) {
        Err(GitRefusal::OutputTooLong) => return Err(GitRefusal::TooLarge),
        said => said?,
    };
    let broken = || GitRefusal::GitFailed(Masked::default());
    let mut rest = &said[..];
    let mut found = Vec::with_capacity(ids.len());
    for _ in ids {
        let end = rest.iter().position(|byte| *byte == b'\n');
        let end = end.ok_or_else(broken)?;
        let head = String::from_utf8_lossy(&rest[..end]);
        let size = head.rsplit_once(' ').map(|(_, size)| size.parse::<usize>());
        let size = size.and_then(Result::ok).ok_or_else(broken)?;
        let bytes = rest.get(end + 1..end + 1 + size).ok_or_else(broken)?;
        found.push(bytes.to_vec());
        rest = rest.get(end + 2 + size..).ok_or_else(broken)?;
    }
    Ok(found)
}

fn entries(folder: &Folder) -> Result<Vec<Entry>, GitRefusal> {
    let found = folder.entries(OBJECTS_MAX).map_err(GitRefusal::of_errno)?;
    found.ok_or(GitRefusal::Layout(Feature::TooBig))
}

fn is_hex(name: &[u8], length: usize) -> bool {
    name.len() == length && name.iter().all(u8::is_ascii_hexdigit)
}
