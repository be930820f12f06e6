//! That the lines are as dangerous as they say: what a plain git does with the same repositories.
//!
//! Without this a mistake in setting up would look like a repository that is kept away.

use super::{
    line::{Line, corpus},
    steps,
};
use crate::scene::{Scene, git_program};
use std::process::Command;

/// Lines whose programs run in a state, a difference, a commit or a fetch of a plain git.
const RUN: [&str; 25] = [
    "G001", "G002", "G003", "G004", "G005", "G006", "G010", "G011", "G012", "G014", "G015", "G016",
    "G017", "G018", "G020", "G023", "G024", "G025", "G026", "G027", "G037", "G044", "G046", "G053",
    "G057",
];

#[test]
fn a_plain_git_runs_the_programs_of_these_lines() {
    let mut ran = Vec::new();
    for line in corpus()
        .iter()
        .filter(|line| RUN.contains(&line.id.as_str()))
    {
        let scene = Scene::new();
        steps::set_up(&scene, line);
        plain(&scene, line);
        if scene.at("ran").exists() {
            ran.push(line.id.clone());
        }
    }
    assert_eq!(ran, RUN);
}

/// A git as somebody would run it here, with a terminal's prompt off.
fn plain(scene: &Scene, line: &Line) {
    // A program for the other side of a transport is for one that has none of its own.
    if line.id == "G037" {
        scene.git(&["config", "remote.origin.url", "../upstream.git"]);
    }
    scene.write("a.txt", "changed\n");
    let commit = [
        "commit",
        "-q",
        "--trailer",
        "requested-by=x",
        "--trailer",
        "other=y",
        "-am",
        "x",
    ];
    let verbs: [&[&str]; 5] = [
        &["status"],
        &["diff"],
        &["log", "-p", "-1"],
        &commit,
        &["fetch", "origin"],
    ];
    for args in verbs {
        let ended = Command::new(git_program())
            .args(args)
            .current_dir(scene.root())
            .env_clear()
            .env("PATH", "/usr/bin:/bin")
            .env("HOME", scene.at("out"))
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .env("GIT_TERMINAL_PROMPT", "0")
            .env("GIT_SSL_CAINFO", scene.at("ca.pem"))
            .env("GIT_AUTHOR_NAME", "Person")
            .env("GIT_AUTHOR_EMAIL", "person@example.com")
            .env("GIT_COMMITTER_NAME", "Person")
            .env("GIT_COMMITTER_EMAIL", "person@example.com")
            .stdin(std::process::Stdio::null())
            .output();
        // How it ends is not asked: a program that only notes that it ran is a bad answer to git.
        drop(ended.expect("git runs"));
    }
}
