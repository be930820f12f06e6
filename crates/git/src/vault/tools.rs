//! The vault's tools, byte for byte as the branch has them.
//!
//! In: the branch's commit, the folder of tools as it is. Out: that both are the same, or the first
//! path in which they are not.
//! Never: asks git whether a file changed. A flag in the index, a remembered time and an attribute
//! that converts content all make git call a file unchanged whose bytes another program would run.

use std::collections::BTreeMap;

use guildhall_confine::RelPath;

use crate::{
    folder::{Folder, Kind},
    masked::{Masked, shown_name},
    objects,
    refs::ObjectId,
    refusal::GitRefusal,
    verb::Verb,
};

/// Where the tools are.
const TOOLS: &str = "tools";
/// Most bytes of all tools.
const TOOLS_MAX_BYTES: usize = 8 * 1024 * 1024;
/// Most names in the folder of tools.
const NAMES_MAX: usize = 2_000;
/// Deepest folder in it.
const DEPTH_MAX: usize = 8;

/// Whether a path is one of the tools, or would be on a disk that knows no case.
pub(crate) fn is_tool(path: &RelPath) -> bool {
    let first = path.segments().next();
    first.is_some_and(|first| first.eq_ignore_ascii_case(TOOLS))
}

/// Refuses tools that differ from the branch's commit, or that have company: a model that may write
/// files here must not write a program that a verb then runs.
pub(super) fn refuse_changed(verb: &Verb<'_>, head: Option<&ObjectId>) -> Result<(), GitRefusal> {
    let changed = |path: &str| GitRefusal::VaultToolsChanged(shown_name(path, 200));
    let head = head.ok_or_else(|| changed(TOOLS))?;
    let mut committed = committed(verb, head)?;
    let folder = verb.root.folder(TOOLS.as_bytes());
    let folder = folder.map_err(|_| changed(TOOLS))?;
    let mut walk = Walk {
        committed: &mut committed,
        names_left: NAMES_MAX,
    };
    walk.folder(&folder, TOOLS, DEPTH_MAX)
        .map_err(|path| changed(&path))?;
    match committed.keys().next() {
        None => Ok(()),
        Some(gone) => Err(changed(gone)),
    }
}

/// Every file below the folder in the branch's commit, with its bytes.
fn committed(verb: &Verb<'_>, head: &ObjectId) -> Result<BTreeMap<String, Vec<u8>>, GitRefusal> {
    let asked = verb.git().args(["ls-tree", "-r", "-z", "--full-tree"]);
    let listed = verb.done(&asked.args([head.as_str(), "--", TOOLS]))?;
    let listed = String::from_utf8_lossy(&listed);
    let mut paths = Vec::new();
    let mut blobs = Vec::new();
    for entry in listed.split('\0').filter(|entry| !entry.is_empty()) {
        let broken = || GitRefusal::GitFailed(Masked::default());
        let (facts, path) = entry.split_once('\t').ok_or_else(broken)?;
        let fields: Vec<&str> = facts.split(' ').collect();
        let ["100644" | "100755", "blob", id] = fields[..] else {
            return Err(GitRefusal::VaultToolsChanged(shown_name(path, 200)));
        };
        blobs.push(ObjectId::parse(id).ok_or_else(broken)?);
        paths.push(path.to_owned());
    }
    let bytes = objects::read(verb.git(), verb, &blobs, TOOLS_MAX_BYTES)?;
    Ok(paths.into_iter().zip(bytes).collect())
}

struct Walk<'c> {
    /// What was not met yet.
    committed: &'c mut BTreeMap<String, Vec<u8>>,
    names_left: usize,
}

impl Walk<'_> {
    /// Goes through a folder; an error is the path that is not as it was committed.
    fn folder(&mut self, folder: &Folder, path: &str, depth: usize) -> Result<(), String> {
        let here = |_| path.to_owned();
        let found = folder.entries(self.names_left).map_err(here)?;
        let found = found.ok_or_else(|| path.to_owned())?;
        self.names_left -= found.len();
        for (name, kind) in found {
            if is_harmless(&name, kind) {
                continue;
            }
            let name = String::from_utf8_lossy(&name).into_owned();
            let inner = format!("{path}/{name}");
            match kind {
                Kind::Folder if depth > 0 => {
                    let below = folder.folder(name.as_bytes()).map_err(|_| inner.clone())?;
                    self.folder(&below, &inner, depth - 1)?;
                }
                Kind::File => {
                    let bytes = folder.read(&name, TOOLS_MAX_BYTES).ok().flatten();
                    if bytes.is_none() || self.committed.remove(&inner) != bytes {
                        return Err(inner);
                    }
                }
                Kind::Folder | Kind::Link | Kind::Special => return Err(inner),
            }
        }
        Ok(())
    }
}

/// What editors, desktops and the interpreter leave, and no interpreter takes for a module. Compiled
/// modules are kept elsewhere and read from there.
fn is_harmless(name: &[u8], kind: Kind) -> bool {
    match kind {
        Kind::Folder => name == b"__pycache__",
        Kind::File => {
            name == b".DS_Store"
                || name.ends_with(b"~")
                || (name.starts_with(b".") && (name.ends_with(b".swp") || name.ends_with(b".swo")))
        }
        Kind::Link | Kind::Special => false,
    }
}
