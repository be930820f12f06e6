//! Sessions on a real disk: private, torn, linked, later.

use super::*;
use std::os::unix::fs::{PermissionsExt as _, symlink};

const ENOUGH: u64 = 1 << 20;

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Note {
    n: u32,
}

fn notes(numbers: std::ops::Range<u32>) -> Vec<Note> {
    numbers.map(|n| Note { n }).collect()
}

fn file_in(root: &tempfile::TempDir) -> (SessionFile, PathBuf) {
    let sessions = root.path().join("sessions/discord-x");
    let file = SessionFile::of(&sessions, "seat", "t.jsonl").expect("a route");
    (file, sessions.join("seat/t.jsonl"))
}

#[test]
fn files_and_folders_are_private() {
    let root = tempfile::tempdir().expect("a folder");
    let (file, path) = file_in(&root);
    file.append(&Note { n: 1 }).expect("room");
    let mode = |p: &Path| std::fs::metadata(p).expect("there").permissions().mode() & 0o7777;
    assert_eq!(mode(&path), 0o600);
    assert_eq!(mode(path.parent().expect("a parent")), 0o700);
    assert_eq!(mode(&root.path().join("sessions/discord-x")), 0o700);
    file.replace(&notes(0..2)).expect("room");
    assert_eq!(mode(&path), 0o600);
    assert_eq!(file.read::<Note>(ENOUGH).expect("readable"), notes(0..2));
}

#[test]
fn a_file_that_is_cut_anywhere_gives_its_whole_lines_and_takes_more() {
    let root = tempfile::tempdir().expect("a folder");
    let (file, path) = file_in(&root);
    for note in notes(0..3) {
        file.append(&note).expect("room");
    }
    let bytes = std::fs::read(&path).expect("there");
    for cut in 0..=bytes.len() {
        std::fs::write(&path, &bytes[..cut]).expect("room");
        let before: Vec<Note> = file.read(ENOUGH).expect("readable");
        assert!(notes(0..3).starts_with(&before), "cut at {cut}");
        file.append(&Note { n: 9 }).expect("room");
        let mut after = before;
        after.push(Note { n: 9 });
        assert_eq!(
            file.read::<Note>(ENOUGH).expect("readable"),
            after,
            "cut at {cut}"
        );
    }
}

#[test]
fn only_the_end_of_a_long_file_is_read() {
    let root = tempfile::tempdir().expect("a folder");
    let (file, _) = file_in(&root);
    file.replace(&notes(0..1000)).expect("room");
    let tail: Vec<Note> = file.read(100).expect("readable");
    assert!(!tail.is_empty() && tail.len() < 10);
    assert!(notes(0..1000).ends_with(&tail));
}

#[test]
fn a_line_of_a_later_version_refuses_the_whole_session() {
    let root = tempfile::tempdir().expect("a folder");
    let (file, path) = file_in(&root);
    file.append(&Note { n: 1 }).expect("room");
    std::fs::write(&path, "{\"v\":2,\"n\":1}\n").expect("room");
    assert!(matches!(
        file.read::<Note>(ENOUGH),
        Err(SessionError::TooNew { found: 2 })
    ));
}

#[test]
fn links_fifos_and_open_modes_are_refused() {
    let root = tempfile::tempdir().expect("a folder");
    let (file, path) = file_in(&root);
    let elsewhere = root.path().join("elsewhere");
    std::fs::write(&elsewhere, "").expect("room");
    file.append(&Note { n: 1 }).expect("room");

    std::fs::remove_file(&path).expect("there");
    symlink(&elsewhere, &path).expect("room");
    assert!(file.append(&Note { n: 2 }).is_err(), "a link");

    std::fs::remove_file(&path).expect("there");
    rustix::fs::mkfifoat(CWD, &path, Mode::RUSR | Mode::WUSR).expect("room");
    assert!(file.append(&Note { n: 2 }).is_err(), "a fifo");

    std::fs::remove_file(&path).expect("there");
    std::fs::write(&path, "").expect("room");
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o644)).expect("ours");
    assert!(file.append(&Note { n: 2 }).is_err(), "readable by all");
    assert_eq!(std::fs::read(&elsewhere).expect("there"), b"");
}

#[test]
fn a_route_that_is_no_folder_name_is_refused() {
    for route in ["", "..", "a/b", "a b", ".", "\u{e9}", &"x".repeat(81)] {
        assert!(
            matches!(
                SessionFile::of(Path::new("/nowhere"), route, "t.jsonl"),
                Err(SessionError::Route)
            ),
            "{route}"
        );
    }
}
