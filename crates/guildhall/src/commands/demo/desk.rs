//! The desk as a git work tree, where this machine has git.
//!
//! In: the desk's folder. Out: a repository with one commit, whose remote nobody serves: a commit
//! stays here, and the seat says that it could not be pushed. Never: a setting of the user's own git,
//! a program that a template or a hook brings, a connection beyond this machine.

use crate::exit::Failure;
use guildhall_git::Programs;
use std::{path::Path, process::Command};

/// Where pushes go: a port of this machine on which nobody listens.
const REMOTE: &str = "https://localhost:1/desk.git";
/// The bound branch.
pub(super) const BRANCH: &str = "main";

/// Makes the work tree.
///
/// # Errors
/// There is no git here, or it does not do this.
pub(super) fn make(folder: &Path) -> Result<(), Failure> {
    let programs = Programs::find().map_err(Failure::failed)?;
    let steps: [&[&str]; 4] = [
        &["init", "--quiet", "--template=", "--initial-branch", BRANCH],
        &["remote", "add", "origin", REMOTE],
        &["add", "--all"],
        &[
            "commit",
            "--quiet",
            "--message",
            "The desk as it was laid out",
        ],
    ];
    for step in steps {
        let done = Command::new(&programs.git)
            .args(["-c", "user.name=Demo", "-c", "user.email=demo@example.org"])
            .args([
                "-c",
                "commit.gpgSign=false",
                "-c",
                "core.hooksPath=/dev/null",
            ])
            .args(step)
            .current_dir(folder)
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .env("LC_ALL", "C")
            .output()
            .map_err(Failure::failed)?;
        if !done.status.success() {
            let said = String::from_utf8_lossy(&done.stderr).trim().to_owned();
            return Err(Failure::failed(format!("git {}: {said}", step[0])));
        }
    }
    Ok(())
}
