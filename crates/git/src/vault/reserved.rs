//! What a reservation wrote, until a commit takes it along.
//!
//! In: the work tree before a reservation and after it. Out: the files that the next commit has besides
//! those that are named: the registry's line goes with the record.
//! Never: a file that had changes before the reservation, or got others after it: those are somebody's
//! own, and a commit has them when it names them.

use std::{
    collections::BTreeSet,
    fs, io,
    path::{Path, PathBuf},
};

use guildhall_confine::{FileLimit, RelPath};
use sha2::{Digest as _, Sha256};

use crate::{private, refusal::GitRefusal, status::STATUS, verb::Verb};

/// The note's name in the root's private folder.
const NOTE: &str = "reserved";
/// Most files that one reservation may leave to the next commit.
const FILES_MAX: usize = 16;

/// A file as a reservation left it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Reserved {
    path: RelPath,
    digest: String,
}

/// How the work tree stood before a reservation.
pub(super) struct Before {
    changed: BTreeSet<String>,
    waiting: Vec<Reserved>,
}

impl Before {
    pub(super) fn of(verb: &Verb<'_>) -> Result<Self, GitRefusal> {
        Ok(Self {
            changed: changed(verb)?,
            waiting: unchanged(verb)?,
        })
    }

    /// Notes what changed since, so that the next commit has it.
    pub(super) fn note(&self, verb: &Verb<'_>) -> Result<(), GitRefusal> {
        let ours = |path: &str| self.waiting.iter().any(|one| one.path.as_str() == path);
        let mut found = Vec::new();
        for path in changed(verb)? {
            if self.changed.contains(&path) && !ours(&path) {
                continue;
            }
            // What no commit may have is left to a person.
            let Ok(path) = RelPath::parse(&path) else {
                continue;
            };
            let Ok(digest) = digest(verb, &path) else {
                continue;
            };
            if !super::tools::is_tool(&path) && found.len() < FILES_MAX {
                found.push(Reserved { path, digest });
            }
        }
        write(&verb.held.settings.state, &found).map_err(|error| GitRefusal::of_io(&error))
    }
}

/// The files that wait for a commit and are still as the reservation left them, besides those `named`.
pub(crate) fn waiting(verb: &Verb<'_>, named: &[RelPath]) -> Result<Vec<RelPath>, GitRefusal> {
    let found = unchanged(verb)?.into_iter().map(|reserved| reserved.path);
    Ok(found.filter(|path| !named.contains(path)).collect())
}

/// Takes files off the note: a commit has them.
pub(crate) fn settle(verb: &Verb<'_>, committed: &[RelPath]) {
    let state = &verb.held.settings.state;
    let Ok(mut left) = read(state) else { return };
    left.retain(|reserved| !committed.contains(&reserved.path));
    // What stays on it is in the branch already, and a commit without a change has nothing of it.
    let _next_time = write(state, &left);
}

fn unchanged(verb: &Verb<'_>) -> Result<Vec<Reserved>, GitRefusal> {
    let noted = read(&verb.held.settings.state).map_err(|error| GitRefusal::of_io(&error))?;
    let same =
        |reserved: &Reserved| digest(verb, &reserved.path).is_ok_and(|now| now == reserved.digest);
    Ok(noted.into_iter().filter(same).collect())
}

fn digest(verb: &Verb<'_>, path: &RelPath) -> Result<String, GitRefusal> {
    let (bytes, _) = verb
        .root
        .read_file(path.as_str(), FileLimit::CEILING_BYTES)?;
    Ok(Sha256::digest(&bytes)
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect())
}

/// Paths that differ from the branch, those that git does not know among them.
fn changed(verb: &Verb<'_>) -> Result<BTreeSet<String>, GitRefusal> {
    let said = verb.done(&verb.git().args(STATUS))?;
    let text = String::from_utf8_lossy(&said);
    let path = |line: &str| {
        let (kind, rest) = line.split_once(' ')?;
        match kind {
            "?" => Some(rest.to_owned()),
            "1" => rest.splitn(8, ' ').nth(7).map(str::to_owned),
            _ => None,
        }
    };
    Ok(text.split('\0').filter_map(path).collect())
}

fn note_of(state: &Path) -> PathBuf {
    state.join(NOTE)
}

fn read(state: &Path) -> io::Result<Vec<Reserved>> {
    let text = match fs::read_to_string(note_of(state)) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(error),
    };
    let line = |line: &str| {
        let (digest, path) = line.split_once(' ')?;
        let path = RelPath::parse(path).ok()?;
        Some(Reserved {
            path,
            digest: digest.to_owned(),
        })
    };
    Ok(text.lines().filter_map(line).collect())
}

fn write(state: &Path, reserved: &[Reserved]) -> io::Result<()> {
    let line = |one: &Reserved| format!("{} {}\n", one.digest, one.path);
    let text: String = reserved.iter().map(line).collect();
    private::replace(state, NOTE, text.as_bytes())
}
