//! What the tests need beside Rust: packages for Node and Python, and a browser.
//!
//! In: the lists in `xtask/tools`. Out: paths of what is installed, as environment variables that
//! tests read. Never: a file inside the checkout, a download of anything but packages by name.

mod browser;
mod cache;
mod node;
mod python;

use crate::{
    checkout::Checkout,
    trouble::{Outcome, Trouble},
};
use std::{
    fs::{self, File},
    path::PathBuf,
    process::Command,
};

/// Programs and folders that tests use.
pub(crate) struct Tools {
    node: PathBuf,
    node_modules: PathBuf,
    pi: node::Pi,
    python: PathBuf,
    chromium: PathBuf,
}

impl Tools {
    /// Finds what is there and installs what is not. Quick when nothing is missing.
    ///
    /// # Errors
    /// Names the first tool that is missing and cannot be installed, with what to do.
    pub(crate) fn install(checkout: &Checkout) -> Outcome<Self> {
        fs::create_dir_all(&checkout.cache).map_err(|error| {
            Trouble::because(format!("cannot make {}", checkout.cache.display()), error)
        })?;
        let _lock = lock(checkout)?;
        let node = node::find()?;
        let node_modules = node::packages(checkout, &node)?;
        let pi = node::pi(checkout, &node)?;
        let python = python::packages(checkout)?;
        let chromium = browser::find_or_install()?;
        Ok(Self {
            node,
            node_modules,
            pi,
            python,
            chromium,
        })
    }

    /// The variables that tests read, each with its value.
    pub(crate) fn variables(&self) -> [(&'static str, &PathBuf); 7] {
        [
            ("GUILDHALL_NODE", &self.node),
            ("GUILDHALL_NODE_MODULES", &self.node_modules),
            ("GUILDHALL_TEST_PI_160", &self.pi.supported),
            ("GUILDHALL_TEST_PI_0731", &self.pi.oldest),
            ("GUILDHALL_TEST_PI_NODE", &self.pi.node),
            ("GUILDHALL_PYTHON", &self.python),
            ("GUILDHALL_CHROMIUM", &self.chromium),
        ]
    }

    /// The command of the supported pi.
    pub(crate) fn pi(&self) -> [&PathBuf; 2] {
        [&self.pi.node, &self.pi.supported]
    }

    /// The node that runs JavaScript.
    pub(crate) fn node(&self) -> &PathBuf {
        &self.node
    }

    /// The Python that has the packages.
    pub(crate) fn python(&self) -> &PathBuf {
        &self.python
    }
}

/// Two runs at the same time install one after the other. Held until it is dropped.
fn lock(checkout: &Checkout) -> Outcome<File> {
    let path = checkout.cache.join("lock");
    File::create(&path)
        .and_then(|file| file.lock().map(|()| file))
        .map_err(|error| Trouble::because(format!("cannot lock {}", path.display()), error))
}

/// Runs an installer; what it says goes to the person only when it fails.
fn install(what: &str, command: &mut Command) -> Outcome<()> {
    eprintln!("   installing {what} ...");
    let output = command
        .stdin(std::process::Stdio::null())
        .output()
        .map_err(|error| {
            Trouble::because(format!("cannot start the installer of {what}"), error)
        })?;
    if output.status.success() {
        return Ok(());
    }
    let said = [output.stdout, output.stderr].concat();
    let said = String::from_utf8_lossy(&said);
    let tail: Vec<&str> = said.lines().rev().take(15).collect();
    let tail: Vec<&str> = tail.into_iter().rev().collect();
    Err(Trouble::because(
        format!("cannot install {what} ({})", output.status),
        tail.join("\n  "),
    ))
}
