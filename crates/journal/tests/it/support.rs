//! A disposable journal, and the few things that every test needs.

use std::fs;
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::path::{Path, PathBuf};

use guildhall_journal::{Committed, Journal, JournalSpec, OpenError, Recovered, Room, WriteOnce};

/// The time of everything.
pub(crate) const AT: &str = "2026-11-30T14:04:05.123Z";

/// A journal as the product has it, with fewer logs.
pub(crate) const SPEC: JournalSpec = JournalSpec {
    unsynced: &["drops"],
    bulk: &["inbox", "drops"],
    write_once: &[WriteOnce {
        log: "turns",
        id: "row",
    }],
    ..JournalSpec::new(&["inbox", "rows", "drops"])
};

/// A private folder that is removed with the value.
pub(crate) struct Place {
    root: tempfile::TempDir,
}

impl Place {
    pub(crate) fn new() -> Self {
        // In memory where there is such a place: the cut tests open thousands of journals.
        let memory = Path::new("/dev/shm");
        let root = match memory.is_dir() {
            true => tempfile::tempdir_in(memory),
            false => tempfile::tempdir(),
        };
        Self {
            root: root.expect("a temporary folder"),
        }
    }

    pub(crate) fn folder(&self) -> PathBuf {
        self.root.path().join("hall")
    }

    pub(crate) fn file(&self, name: &str) -> PathBuf {
        self.folder().join(name)
    }

    pub(crate) fn open(&self) -> (Journal, Recovered) {
        self.try_open().expect("the journal opens")
    }

    pub(crate) fn try_open(&self) -> Result<(Journal, Recovered), OpenError> {
        Journal::open(&self.folder(), AT, SPEC)
    }

    /// The only segment's path.
    pub(crate) fn segment(&self) -> PathBuf {
        let mut names = fs::read_dir(self.file("commits")).expect("the commit log's folder");
        let first = names.next().expect("a segment").expect("an entry").path();
        assert!(names.next().is_none(), "one segment");
        first
    }

    pub(crate) fn text(&self, name: &str) -> String {
        fs::read_to_string(self.file(name)).unwrap_or_default()
    }
}

/// Commits and expects room.
pub(crate) fn append(journal: &mut Journal, records: &[(&str, String)]) -> u64 {
    let Committed { g, room } = journal.append(AT, records).expect("the group is committed");
    assert_eq!(room, Room::Enough);
    g
}

pub(crate) fn seen(row: u64) -> (&'static str, String) {
    (
        "inbox",
        format!(r#"{{"k":"seen","row":"{row}","channel":"7"}}"#),
    )
}

pub(crate) fn queued(row: u64) -> (&'static str, String) {
    (
        "rows",
        format!(r#"{{"k":"queued","row":"{row}","route":"seat"}}"#),
    )
}

pub(crate) fn turn(row: u64, outcome: &str) -> (&'static str, String) {
    (
        "turns",
        format!(r#"{{"k":"turn","row":"{row}","outcome":"{outcome}"}}"#),
    )
}

pub(crate) fn dropped(row: u64) -> (&'static str, String) {
    (
        "drops",
        format!(r#"{{"k":"dropped","row":"{row}","why":"duplicate"}}"#),
    )
}

/// A record in short: its group, its log, its text.
pub(crate) type Told = (u64, &'static str, String);

/// What a recovered journal holds, in short.
pub(crate) fn told(recovered: &Recovered) -> Vec<Told> {
    recovered
        .records
        .iter()
        .map(|r| (r.g, r.log, r.json.clone()))
        .collect()
}

/// Every file below `folder` with its contents.
pub(crate) fn tree(folder: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).expect("a folder") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                folders.push(path);
            } else {
                let contents = fs::read(&path).expect("a file");
                found.push((path, contents));
            }
        }
    }
    found.sort();
    found
}

/// Copies a private folder, modes included.
pub(crate) fn copy(from: &Path, to: &Path) {
    fs::DirBuilder::new()
        .mode(0o700)
        .create(to)
        .expect("a new folder");
    for entry in fs::read_dir(from).expect("a folder") {
        let path = entry.expect("an entry").path();
        let target = to.join(path.file_name().expect("a name"));
        if path.is_dir() {
            copy(&path, &target);
        } else {
            fs::copy(&path, &target).expect("a copy");
            fs::set_permissions(&target, fs::Permissions::from_mode(0o600)).expect("a mode");
        }
    }
}
