//! From named files to a tree, in a store and an index of our own.
//!
//! In: the repository as it stands, paths. Out: a tree, the files in which it differs, their changes.
//! Never: a pattern, a path that was not named, a link, a program for content, a file whose content
//! was not looked at.

use guildhall_confine::{FileLimit, Refusal, RelPath, credential_in};

use super::CommitFile;
use crate::{
    masked::{DIFF_MAX_BYTES, Masked, shown_name},
    objects,
    pull::refuse_filters,
    refs::ObjectId,
    refusal::GitRefusal,
    verb::{Stand, Verb},
};

/// Most bytes of all files of a commit.
const FILES_MAX_BYTES: usize = 32 * 1024 * 1024;
/// How much of the changes is taken before it is masked and cut.
const DIFF_READ_BYTES: usize = DIFF_MAX_BYTES + 1;

/// One line of `diff-tree --raw`.
struct RawChange {
    path: String,
    blob: ObjectId,
    is_new: bool,
}

/// Refuses an index that differs from the branch's commit.
pub(super) fn refuse_staged(verb: &Verb<'_>, stand: &Stand) -> Result<(), GitRefusal> {
    let Some(head) = &stand.head else {
        return if stand.view.entries == 0 {
            Ok(())
        } else {
            Err(GitRefusal::StagedWork)
        };
    };
    let asked = [
        "diff-index",
        "--cached",
        "--quiet",
        "--ignore-submodules=none",
    ];
    let ended = verb.run(&verb.git().args(asked).args([head.as_str(), "--"]))?;
    match ended.code {
        Some(0) => Ok(()),
        Some(1) => Err(GitRefusal::StagedWork),
        _ => Err(GitRefusal::GitFailed(verb.masked(&ended))),
    }
}

/// Refuses paths whose changes a flag hides: git would take them for unchanged.
pub(super) fn refuse_hidden(stand: &Stand, paths: &[RelPath]) -> Result<(), GitRefusal> {
    let hidden = |path: &&RelPath| {
        let path = path.as_str().as_bytes();
        stand.view.hidden.iter().any(|hidden| hidden == path)
    };
    match paths.iter().find(hidden) {
        Some(path) => Err(GitRefusal::HiddenPath(path.to_string())),
        None => Ok(()),
    }
}

/// The tree of the index with the named files as they are now.
pub(super) fn tree(verb: &Verb<'_>, paths: &[RelPath]) -> Result<ObjectId, GitRefusal> {
    refuse_ignored(verb, paths)?;
    let listed = list(paths);
    let asked = verb
        .git_apart()
        .args(["check-attr", "-z", "--stdin", "filter"]);
    refuse_filters(&verb.done(&asked.input(listed.clone()))?)?;
    let modes = known_modes(verb, paths)?;
    let mut entries = Vec::new();
    let mut total = 0;
    for path in paths {
        // Git never opens the file: between its look and its read the name could have become a link.
        let most = FileLimit::CEILING_BYTES;
        let (bytes, mode) = verb.root.read_file(path.as_str(), most)?;
        total += bytes.len();
        if total > FILES_MAX_BYTES {
            return Err(GitRefusal::TooLarge);
        }
        let hash = verb.git_apart().args(["hash-object", "-w", "--stdin"]);
        let hash = hash.args([format!("--path={}", path.as_str())]);
        let blob = verb.object(&hash.input(bytes))?;
        let known = modes.iter().find(|(of, _)| of == path.as_str());
        let mode = match known {
            Some((_, mode)) => mode.as_str(),
            None if mode & 0o100 != 0 && verb.keys.has_modes() => "100755",
            None => "100644",
        };
        entries.extend_from_slice(format!("{mode} {blob}\t{}\0", path.as_str()).as_bytes());
    }
    let staged = verb
        .git_apart()
        .args(["update-index", "-z", "--index-info"]);
    verb.done(&staged.input(entries))?;
    verb.refresh()?;
    verb.object(&verb.git_apart().args(["write-tree"]))
}

/// Modes in the index, where a file's own says nothing.
fn known_modes(verb: &Verb<'_>, paths: &[RelPath]) -> Result<Vec<(String, String)>, GitRefusal> {
    if verb.keys.has_modes() {
        return Ok(Vec::new());
    }
    let asked = verb.git_apart().args(["ls-files", "--stage", "-z", "--"]);
    let said = verb.done(&asked.args(paths.iter().map(RelPath::as_str)))?;
    let said = String::from_utf8_lossy(&said);
    let entries = said.split('\0').filter_map(|entry| {
        let (facts, path) = entry.split_once('\t')?;
        Some((path.to_owned(), facts.split(' ').next()?.to_owned()))
    });
    Ok(entries.collect())
}

/// The files in which `tree` differs: all of them named, all of them plain, none with a credential.
pub(super) fn files(
    verb: &Verb<'_>,
    stand: &Stand,
    tree: &ObjectId,
    paths: &[RelPath],
) -> Result<Vec<CommitFile>, GitRefusal> {
    let raw = verb.done(&differ(verb, stand, tree, &["--raw", "--no-abbrev", "-z"]))?;
    let changes = raw_changes(&raw)?;
    if changes.is_empty() {
        return Err(GitRefusal::NothingChanged);
    }
    for change in &changes {
        let named = paths.iter().find(|path| path.as_str() == change.path);
        let named = named.ok_or(GitRefusal::StagedWork)?;
        // It may have become something else since the first look.
        let looked = verb.held.settings.root.refuse_unusual(named);
        looked.map_err(|refusal| GitRefusal::Path(named.to_string(), refusal))?;
    }
    let sizes = look_into(verb, &changes)?;
    let counts = verb.done(&differ(verb, stand, tree, &["--numstat", "-z"]))?;
    let counts = String::from_utf8_lossy(&counts);
    let lines_of = |path: &str| {
        let line = counts.split('\0').find(|line| {
            let mut fields = line.splitn(3, '\t');
            fields.nth(2) == Some(path)
        })?;
        let mut fields = line.splitn(3, '\t');
        Some((fields.next()?.parse().ok()?, fields.next()?.parse().ok()?))
    };
    let files = changes.iter().zip(sizes).map(|(change, bytes)| CommitFile {
        lines: lines_of(&change.path),
        path: change.path.clone(),
        blob: change.blob.clone(),
        bytes,
        is_new: change.is_new,
    });
    Ok(files.collect())
}

/// The changes as people read them.
pub(super) fn diff(verb: &Verb<'_>, stand: &Stand, tree: &ObjectId) -> Result<Masked, GitRefusal> {
    let asked = differ(
        verb,
        stand,
        tree,
        &["--patch", "--full-index", "--no-color", "--no-prefix"],
    );
    let ended = verb.run(&asked.keep(DIFF_READ_BYTES))?;
    Ok(Masked::of_diff(&ended.out))
}

/// A comparison of the branch's tree with `tree`, by content alone: a rule of the repository that calls a
/// script binary would show a person nothing of what they allow.
fn differ(verb: &Verb<'_>, stand: &Stand, tree: &ObjectId, how: &[&str]) -> crate::spawn::Run {
    let old = stand.head.as_ref();
    let old = old.map_or(verb.keys.format.empty_tree(), ObjectId::as_str);
    let asked = verb
        .git_unattributed()
        .args(["diff-tree", "-r", "--no-renames"]);
    let asked = asked.args(["--no-ext-diff", "--no-textconv", "--ignore-submodules=none"]);
    asked.args(how).args([old, tree.as_str()])
}

/// Refuses files that the repository's rules ignore and that it does not have yet.
fn refuse_ignored(verb: &Verb<'_>, paths: &[RelPath]) -> Result<(), GitRefusal> {
    let asked = verb.git_apart().args([
        "ls-files",
        "--others",
        "--ignored",
        "--exclude-standard",
        "-z",
        "--",
    ]);
    let said = verb.done(&asked.args(paths.iter().map(RelPath::as_str)))?;
    let said = String::from_utf8_lossy(&said);
    match said.split('\0').find(|path| !path.is_empty()) {
        Some(first) => Err(GitRefusal::IgnoredPath(shown_name(first, 200))),
        None => Ok(()),
    }
}

/// Looks at exactly the bytes that would be committed. Out: their sizes.
fn look_into(verb: &Verb<'_>, changes: &[RawChange]) -> Result<Vec<u64>, GitRefusal> {
    let ids: Vec<ObjectId> = changes.iter().map(|change| change.blob.clone()).collect();
    let found = objects::read(verb.git_apart(), verb, &ids, FILES_MAX_BYTES)?;
    for bytes in &found {
        if bytes.len() > FileLimit::CEILING_BYTES {
            return Err(GitRefusal::TooLarge);
        }
        if let Some(family) = credential_in(bytes) {
            return Err(GitRefusal::SecretShape(family));
        }
    }
    let size = |bytes: &Vec<u8>| u64::try_from(bytes.len()).unwrap_or(u64::MAX);
    Ok(found.iter().map(size).collect())
}

/// Source: git-diff-tree(1), raw output format with NULs.
fn raw_changes(raw: &[u8]) -> Result<Vec<RawChange>, GitRefusal> {
    let text = String::from_utf8_lossy(raw);
    let parts: Vec<&str> = text.split('\0').collect();
    let mut changes = Vec::new();
    for pair in parts.chunks_exact(2) {
        let fields: Vec<&str> = pair[0].trim_start_matches(':').split(' ').collect();
        let [_, mode, _, blob, letter] = fields[..] else {
            return Err(GitRefusal::GitFailed(Masked::default()));
        };
        let path = pair[1].to_owned();
        if !matches!(mode, "100644" | "100755") {
            let path = shown_name(&path, 200);
            return Err(GitRefusal::Path(path, Refusal::NotRegular));
        }
        let blob = ObjectId::parse(blob);
        changes.push(RawChange {
            blob: blob.ok_or_else(|| GitRefusal::GitFailed(Masked::default()))?,
            is_new: letter == "A",
            path,
        });
    }
    Ok(changes)
}

/// Paths, each ended by a NUL: as they are, whatever is in them.
fn list(paths: &[RelPath]) -> Vec<u8> {
    let each = paths.iter().map(|path| format!("{}\0", path.as_str()));
    each.collect::<String>().into_bytes()
}
