//! Which pi there is.
//!
//! In: the command of the binding, and where programs lie. Out: a node, an entry file, a version.
//! Never: a version that was not tried, pi started only to ask for it.

use serde::Deserialize;
use std::{
    ffi::OsStr,
    path::{Path, PathBuf},
};

/// What is run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Install {
    pub(super) node: PathBuf,
    pub(super) entry: PathBuf,
    pub(super) version: String,
    /// Says itself when a run is settled, since 0.80.4; before that it has to be asked.
    pub(super) says_settled: bool,
    /// Knows the option that refuses a project's trust, since 0.79.0.
    pub(super) has_trust: bool,
}

const PACKAGES: [&str; 2] = [
    "@earendil-works/pi-coding-agent",
    "@mariozechner/pi-coding-agent",
];
/// The oldest version that was tried.
const OLDEST: (u32, u32, u32) = (0, 73, 1);

#[derive(Deserialize)]
struct Package {
    name: String,
    version: String,
}

/// Finds pi: `[]` or `["pi"]` on the path, `["node", "entry.js"]`, or one entry file.
pub(super) fn find(command: &[String], path: Option<&OsStr>) -> Result<Install, String> {
    let on_path = |name: &str| {
        if name.contains('/') {
            return Some(PathBuf::from(name));
        }
        std::env::split_paths(path?)
            .map(|folder| folder.join(name))
            .find(|file| file.is_file())
    };
    let (node, entry) = match command {
        [] => ("node", "pi"),
        [entry] => ("node", entry.as_str()),
        [node, entry] => (node.as_str(), entry.as_str()),
        _ => return Err("engine.command is node and pi's entry file, or pi alone".to_owned()),
    };
    let node = on_path(node).ok_or("node is not found; pi needs it")?;
    let entry = on_path(entry)
        .and_then(|entry| entry.canonicalize().ok())
        .ok_or("pi is not found; install it, or name it in engine.command")?;
    let version = version(&entry)?;
    let number = number(&version).ok_or_else(|| format!("pi's version {version} is no version"))?;
    if number < OLDEST {
        return Err(format!(
            "pi {version} is too old; 0.73.1 is the oldest that is served"
        ));
    }
    Ok(Install {
        node,
        entry,
        version,
        says_settled: number >= (0, 80, 4),
        has_trust: number >= (0, 79, 0),
    })
}

fn version(entry: &Path) -> Result<String, String> {
    for folder in entry.ancestors().skip(1).take(4) {
        let Ok(bytes) = std::fs::read(folder.join("package.json")) else {
            continue;
        };
        if let Ok(package) = serde_json::from_slice::<Package>(&bytes)
            && PACKAGES.contains(&package.name.as_str())
        {
            return Ok(package.version);
        }
    }
    Err("engine.command is no entry file of pi's package".to_owned())
}

fn number(version: &str) -> Option<(u32, u32, u32)> {
    let mut parts = version.split('.');
    let mut next = || parts.next()?.parse().ok();
    Some((next()?, next()?, next()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_version_decides_what_pi_can_do() {
        let root = tempfile::tempdir().expect("a folder");
        let entry = root.path().join("dist/cli.js");
        std::fs::create_dir(root.path().join("dist")).expect("room");
        std::fs::write(&entry, "").expect("room");
        let command = ["/bin/true".to_owned(), entry.display().to_string()];
        let package = |name: &str, version: &str| {
            let text = format!(r#"{{"name":"{name}","version":"{version}"}}"#);
            std::fs::write(root.path().join("package.json"), text).expect("room");
            find(&command, None).map(|install| (install.says_settled, install.has_trust))
        };
        for (name, version, want) in [
            (PACKAGES[0], "1.6.0", Some((true, true))),
            (PACKAGES[0], "0.80.3", Some((false, true))),
            (PACKAGES[1], "0.73.1", Some((false, false))),
            (PACKAGES[1], "0.73.0", None),
            (PACKAGES[0], "1.x", None),
            ("other", "1.6.0", None),
        ] {
            assert_eq!(package(name, version).ok(), want, "{name} {version}");
        }
    }
}
