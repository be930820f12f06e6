//! A Chromium for the page's tests.
//!
//! In: `GUILDHALL_CHROMIUM`, the programs on the path. Out: one that starts. Never: a browser build
//! that a test tool downloads for itself; Debian's package is installed where that is possible.

use super::install;
use crate::{
    checkout::find_program,
    trouble::{Outcome, Trouble},
};
use std::{env, path::PathBuf, process::Command};

const NAMES: [&str; 4] = [
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
];
const MISSING: &str = "Install Chromium, or set GUILDHALL_CHROMIUM to the path of one.";

/// The browser's path.
pub(crate) fn find_or_install() -> Outcome<PathBuf> {
    if let Some(chosen) = env::var_os("GUILDHALL_CHROMIUM").map(PathBuf::from) {
        return if chosen.is_file() {
            Ok(chosen)
        } else {
            let what = format!(
                "GUILDHALL_CHROMIUM names {}, which is no file",
                chosen.display()
            );
            Err(Trouble::new(what).remedy(MISSING))
        };
    }
    if let Some(found) = find() {
        return Ok(found);
    }
    let missing = || Trouble::new("Chromium is missing").remedy(MISSING);
    let apt = find_program("apt-get").ok_or_else(missing)?;
    if !rustix::process::geteuid().is_root() {
        return Err(missing().remedy("As root: apt-get install chromium"));
    }
    let apt = |arguments: &[&str]| {
        let mut command = Command::new(&apt);
        // Another installation may be under way; it is waited for.
        command
            .args(["-q", "-o", "DPkg::Lock::Timeout=300"])
            .args(arguments)
            .env("DEBIAN_FRONTEND", "noninteractive");
        command
    };
    install("Debian's list of packages", &mut apt(&["update"]))?;
    install(
        "Chromium",
        &mut apt(&["install", "-y", "--no-install-recommends", "chromium"]),
    )?;
    find().ok_or_else(missing)
}

fn find() -> Option<PathBuf> {
    NAMES.iter().find_map(|name| find_program(name))
}
