//! Node and its packages.
//!
//! In: `xtask/tools/package.json` and its lock file. Out: node, and the folder of its packages.
//! Never: a script of a package run at its installation.

use super::{cache::Slot, install};
use crate::{
    checkout::{Checkout, find_program},
    trouble::{Outcome, Trouble},
};
use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

const LISTS: [&str; 2] = ["package.json", "package-lock.json"];

/// Finds node.
pub(crate) fn find() -> Outcome<PathBuf> {
    find_program("node").ok_or_else(|| {
        Trouble::new("Node.js is missing").remedy("Install Node.js 20 or newer, with npm.")
    })
}

/// The folder `node_modules` with everything on the list.
pub(crate) fn packages(checkout: &Checkout, node: &Path) -> Outcome<PathBuf> {
    let npm = find_program("npm").ok_or_else(|| {
        Trouble::new("npm is missing").remedy("Install npm; Node.js usually brings it.")
    })?;
    let sources = LISTS.map(|name| checkout.path("xtask/tools").join(name));
    let read = |path: &PathBuf| {
        fs::read_to_string(path)
            .map_err(|error| Trouble::because(format!("cannot read {}", path.display()), error))
    };
    let lists = [read(&sources[0])?, read(&sources[1])?];
    let slot = Slot::of(
        &checkout.cache,
        "node",
        &[&lists[0], &lists[1], &node.to_string_lossy()],
    );
    slot.filled(|folder| {
        for (name, content) in LISTS.iter().zip(&lists) {
            fs::write(folder.join(name), content)
                .map_err(|error| Trouble::because(format!("cannot write {name}"), error))?;
        }
        let mut command = Command::new(npm);
        command
            .args([
                "ci",
                "--ignore-scripts",
                "--no-audit",
                "--no-fund",
                "--loglevel=error",
            ])
            .current_dir(folder);
        install("packages for Node.js", &mut command)
    })?;
    Ok(slot.folder.join("node_modules"))
}
