//! Node and its packages.
//!
//! In: `xtask/tools/package.json` and `xtask/tools/pi/package.json`, each with its lock file. Out:
//! node, and folders of its packages.
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
    listed(checkout, node, "xtask/tools", "node")
}

/// The agent pi in two versions, and a node that runs both.
pub(crate) struct Pi {
    /// The entry file of the supported version.
    pub(crate) supported: PathBuf,
    /// The entry file of the oldest version.
    pub(crate) oldest: PathBuf,
    /// The node.
    pub(crate) node: PathBuf,
}

/// Installs pi.
pub(crate) fn pi(checkout: &Checkout, node: &Path) -> Outcome<Pi> {
    let modules = listed(checkout, node, "xtask/tools/pi", "pi")?;
    let arch = match std::env::consts::ARCH {
        "aarch64" => "arm64",
        _ => "x64",
    };
    Ok(Pi {
        supported: modules.join("@earendil-works/pi-coding-agent/dist/bundle/cli.js"),
        oldest: modules.join("@mariozechner/pi-coding-agent/dist/cli.js"),
        node: modules.join(format!("node-linux-{arch}/bin/node")),
    })
}

fn listed(checkout: &Checkout, node: &Path, from: &str, kind: &str) -> Outcome<PathBuf> {
    let npm = find_program("npm").ok_or_else(|| {
        Trouble::new("npm is missing").remedy("Install npm; Node.js usually brings it.")
    })?;
    let sources = LISTS.map(|name| checkout.path(from).join(name));
    let read = |path: &PathBuf| {
        fs::read_to_string(path)
            .map_err(|error| Trouble::because(format!("cannot read {}", path.display()), error))
    };
    let lists = [read(&sources[0])?, read(&sources[1])?];
    let slot = Slot::of(
        &checkout.cache,
        kind,
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
