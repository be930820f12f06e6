//! What must not have happened, whatever a line set up.

use super::{Said, line::Line};
use crate::scene::{Scene, TOKEN};
use guildhall_git::{Cancel, GitRoot};
use std::{fs, path::Path};

/// Forgets what setting up did.
pub(super) fn begin(scene: &Scene) {
    scene.server.forget();
    scene.other.forget();
    scene.starts.take();
}

/// Refuses every effect that the corpus names.
pub(super) fn refuse_any(scene: &Scene, line: &Line) {
    let id = &line.id;
    let ran = fs::read_to_string(scene.at("ran")).unwrap_or_default();
    assert_eq!(ran, "", "{id}: a program ran");
    let victim = fs::read_to_string(scene.at("out/victim")).expect("the victim");
    assert_eq!(victim, "victim\n", "{id}: a file outside changed");
    let asked: Vec<_> = scene
        .other
        .seen()
        .into_iter()
        .map(|seen| seen.head)
        .collect();
    assert_eq!(
        asked,
        Vec::<String>::new(),
        "{id}: another server was asked"
    );
    for seen in scene.server.seen() {
        let extra = seen.head.to_ascii_lowercase().contains("x-evil");
        assert!(!extra, "{id}: {}", seen.head);
        assert!(seen.line.contains(" /upstream.git/"), "{id}: {}", seen.line);
    }
    for start in scene.starts.take() {
        let args = start.args.join(" ");
        assert!(
            !args.contains(TOKEN) && !args.contains("/token"),
            "{id}: {args}"
        );
    }
    let refs = scene.git_in(
        &scene.at("upstream.git"),
        &["for-each-ref", "--format=%(refname)"],
    );
    assert_eq!(
        refs, "refs/heads/main",
        "{id}: the server has more than the branch"
    );
    for place in ["root", "out"] {
        holds_no_token(&scene.at(place), id);
    }
    let outside = fs::read_to_string(scene.at("out/dir/c.txt"));
    assert!(
        outside.is_err() || outside.is_ok_and(|text| text == "outside\n"),
        "{id}"
    );
}

fn holds_no_token(folder: &Path, id: &str) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let kind = entry.file_type().expect("a kind");
        if kind.is_dir() {
            holds_no_token(&entry.path(), id);
        } else if kind.is_file() {
            let bytes = fs::read(entry.path()).unwrap_or_default();
            let found = bytes
                .windows(TOKEN.len())
                .any(|window| window == TOKEN.as_bytes());
            assert!(!found, "{id}: the token is in {}", entry.path().display());
        }
    }
}

/// What single lines ask for beside that.
pub(super) fn look(scene: &Scene, root: &GitRoot, line: &Line, said: &Said) {
    let state = || root.status(&Cancel::new()).expect("a state");
    let committed = || scene.git(&["show", "--format=", "--name-only", "-z", "HEAD"]);
    match line.id.as_str() {
        "G029" if said["commit"] == "ok" => assert!(committed().starts_with("a.txt")),
        "G059" => {
            let refs = scene.git(&["for-each-ref", "--format=%(refname)", "refs/tags"]);
            assert_eq!(refs, "", "the refspec of the repository made references");
        }
        "G065" => {
            let served = scene.git_in(
                &scene.at("upstream.git"),
                &["cat-file", "-p", "main:dir/c.txt"],
            );
            assert_eq!(served, "three");
        }
        "G067" => {
            let hidden = state().hidden;
            assert_eq!(hidden, ["a.txt", "dir/c.txt"]);
        }
        "G068" if said["status"] == "ok" => {
            scene.write("dir/untracked.txt", "x\n");
            let changed = state().changed;
            let known = |path: &str| changed.iter().any(|one| one.path == path);
            let plain = changed.iter().all(|one| !one.path.contains('\u{1b}'));
            assert!(known("dir/untracked.txt") && plain, "{changed:?}");
        }
        "G072" => assert_eq!(committed(), ":(top)x\0"),
        "G073" => {
            assert_eq!(said["commit"], "not-found");
            assert_eq!(scene.git(&["diff", "--cached", "--name-only"]), "");
        }
        "G075" => {
            let found = fs::symlink_metadata(scene.root().join("ln")).expect("it came");
            assert!(found.is_file(), "a pull made a link");
        }
        _ => {}
    }
}
