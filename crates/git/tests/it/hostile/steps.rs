//! From a line of the corpus to a repository.

use super::line::{Line, Step};
use crate::{scene::Scene, server::Mode};
use std::{
    fs,
    os::unix::fs::{PermissionsExt, chown, symlink},
    path::{Path, PathBuf},
};

/// Does what a line says; then the server has one commit more.
pub(super) fn set_up(scene: &Scene, line: &Line) {
    let canary = format!(
        "#!/bin/sh\necho \"$0 $*\" >> {}\n",
        scene.at("ran").display()
    );
    put(&scene.at("canary"), &canary, 0o755);
    private_repository(scene);
    for step in &line.setup {
        one(scene, step);
    }
    let brings_files = |step: &Step| matches!(step, Step::UpstreamCommit { .. });
    if !line.setup.iter().any(brings_files) {
        scene.upstream("incoming.txt", "from elsewhere\n");
    }
    // Setting up may have run what must not run later.
    drop(fs::remove_file(scene.at("ran")));
}

#[expect(clippy::too_many_lines, reason = "one arm a step of the corpus")]
fn one(scene: &Scene, step: &Step) {
    let root = scene.root();
    match step {
        Step::Config { file, key, value } => {
            let (key, value) = (text_of(scene, key), text_of(scene, value));
            scene.git(&["config", "--file", file, &key, &value]);
        }
        Step::Write { path, text, mode } => {
            let mode = u32::from_str_radix(mode, 8).expect("a mode");
            let text = if text == "canary" {
                fs::read_to_string(scene.at("canary")).expect("the canary")
            } else {
                text_of(scene, text)
            };
            put(&path_of(scene, path), &text, mode);
        }
        Step::CommitFile { path, text } => {
            put(&root.join(path), text, 0o644);
            commit_all(scene, &[path]);
        }
        Step::Move { from, to } => {
            let (from, to) = (path_of(scene, from), path_of(scene, to));
            fs::create_dir_all(to.parent().expect("a folder")).expect("folders");
            fs::rename(from, to).expect("it moves");
        }
        Step::Symlink { path, target } => {
            let (path, target) = (path_of(scene, path), path_of(scene, target));
            if !target.exists() {
                put(&target.join("x"), "outside\n", 0o644);
            }
            fs::create_dir_all(path.parent().expect("a folder")).expect("folders");
            drop(fs::remove_file(&path));
            symlink(target, path).expect("a link");
        }
        Step::Server { status, location } => {
            assert_eq!(*status, 302);
            assert!(location.contains("evil.example"));
            scene
                .server
                .set(Mode::Redirect(format!("https://{}", scene.other.host())));
        }
        Step::Submodule { path } => {
            another(scene, &scene.at("module"));
            let from = scene.at("module").to_string_lossy().into_owned();
            let allow = "protocol.file.allow=always";
            let add = ["-c", allow, "submodule", "--quiet", "add", &from, path];
            scene.git(&add);
            commit_all(scene, &[".gitmodules", path]);
        }
        Step::NestedRepo { path } => {
            another(scene, &root.join(path));
            commit_all(scene, &[path]);
        }
        Step::BareRepo { path } => drop(scene.git(&["init", "-q", "--bare", path])),
        Step::DropObject { rev } => {
            let id = scene.git(&["rev-parse", rev]);
            let file = root.join(".git/objects").join(&id[..2]).join(&id[2..]);
            fs::remove_file(file).expect("a loose object");
        }
        Step::Chown { path, user } => {
            assert_eq!(user, "other");
            chown(path_of(scene, path), Some(65_534), None).expect("we are root");
        }
        Step::IndexFlag { path, flag } => {
            scene.git(&["update-index", &format!("--{flag}"), path]);
        }
        Step::UpstreamCommit {
            symlink: link,
            target,
            path,
        } => {
            scene.upstream_by(|seed| {
                if let Some(link) = link {
                    let target = target.as_ref().expect("a link has a target");
                    symlink(target, seed.join(link)).expect("a link");
                } else {
                    let path = path.as_ref().expect("a link or a path");
                    put(&seed.join(path), "from elsewhere\n", 0o644);
                }
            });
        }
        Step::ReplaceWithSymlink { path, target } => {
            let target = path_of(scene, target);
            put(&target.join("c.txt"), "outside\n", 0o644);
            fs::remove_dir_all(root.join(path)).expect("a folder");
            symlink(target, root.join(path)).expect("a link");
        }
        Step::Stage { path } => {
            put(&root.join(path), "half done\n", 0o644);
            scene.git(&["add", path]);
        }
    }
}

/// What a person commits and the server has, so that our branch stays a part of it.
fn commit_all(scene: &Scene, paths: &[&str]) {
    let mut add = vec!["add", "--"];
    add.extend(paths);
    scene.git(&add);
    scene.git(&["commit", "-q", "-m", "a person's"]);
    scene.git(&["push", "-q", "../upstream.git", "main"]);
}

/// Another repository with one commit.
fn another(scene: &Scene, place: &Path) {
    put(&place.join("m.txt"), "m\n", 0o644);
    scene.git_in(place, &["init", "-q", "-b", "main", "."]);
    scene.git_in(place, &["add", "m.txt"]);
    scene.git_in(place, &["commit", "-q", "-m", "m"]);
}

fn private_repository(scene: &Scene) {
    another(scene, &scene.at("out/private"));
}

fn path_of(scene: &Scene, path: &str) -> PathBuf {
    let id = || scene.git(&["rev-parse", "HEAD:a.txt"]);
    match path.strip_prefix("@out") {
        Some("") => scene.at("out"),
        Some(below) => scene.at("out").join(below.trim_start_matches('/')),
        None if path.contains("<id>") => scene.root().join(path.replace("<id>", &id())),
        None => scene.root().join(path),
    }
}

fn text_of(scene: &Scene, text: &str) -> String {
    let private = scene.at("out/private");
    let mut text = text
        .replace("@canary", &scene.at("canary").to_string_lossy())
        .replace("@out", &scene.at("out").to_string_lossy())
        .replace("git.example.com:443", &scene.server.host())
        .replace("git.example.com", &scene.server.host())
        .replace("evil.example", &scene.other.host());
    let ids: [(&str, &dyn Fn() -> String); 3] = [
        ("<commit of the private repository>", &|| {
            scene.git_in(&private, &["rev-parse", "HEAD"])
        }),
        ("<other id>", &|| {
            scene.git(&["rev-parse", "HEAD:dir/c.txt"])
        }),
        ("<id>", &|| scene.head()),
    ];
    for (word, id) in ids {
        if text.contains(word) {
            text = text.replace(word, &id());
        }
    }
    text
}

fn put(file: &Path, text: &str, mode: u32) {
    fs::create_dir_all(file.parent().expect("a folder")).expect("folders");
    drop(fs::remove_file(file));
    fs::write(file, text).expect("a file");
    fs::set_permissions(file, fs::Permissions::from_mode(mode)).expect("a mode");
}
