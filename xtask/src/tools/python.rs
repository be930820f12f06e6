//! Python and its packages.
//!
//! In: `xtask/tools/requirements.txt`. Out: the Python of a virtual environment that has them.
//! Never: a package put into the system's own Python.

use super::{cache::Slot, install};
use crate::{
    checkout::{Checkout, find_program},
    trouble::{Outcome, Trouble},
};
use std::{fs, path::PathBuf, process::Command};

/// The Python with everything on the list.
pub(crate) fn packages(checkout: &Checkout) -> Outcome<PathBuf> {
    let system = find_program("python3").ok_or_else(|| {
        Trouble::new("Python 3 is missing").remedy("Install Python 3.10 or newer.")
    })?;
    let list = checkout.path("xtask/tools/requirements.txt");
    let content = fs::read_to_string(&list)
        .map_err(|error| Trouble::because(format!("cannot read {}", list.display()), error))?;
    let version = version(&system)?;
    let slot = Slot::of(&checkout.cache, "python", &[&content, &version]);
    let python = slot.folder.join("bin").join("python");
    slot.filled(|folder| {
        install(
            "a virtual environment for Python",
            Command::new(&system).args(["-m", "venv"]).arg(folder),
        )
        .map_err(|trouble| {
            trouble.remedy("On Debian and its relatives the module venv is in python3-venv.")
        })?;
        install(
            "packages for Python",
            Command::new(&python)
                .args([
                    "-m",
                    "pip",
                    "install",
                    "--quiet",
                    "--disable-pip-version-check",
                    "-r",
                ])
                .arg(&list),
        )
    })?;
    Ok(python)
}

/// A virtual environment belongs to one version of Python.
fn version(python: &PathBuf) -> Outcome<String> {
    let output = Command::new(python)
        .args(["-c", "import sys; print(sys.executable, sys.version)"])
        .output()
        .map_err(|error| Trouble::because("cannot start Python", error))?;
    if !output.status.success() {
        return Err(Trouble::new(format!(
            "Python does not start ({})",
            output.status
        )));
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}
