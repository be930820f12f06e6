//! What git tracks, and what it would track: new files that it does not ignore.
//!
//! In: the checkout. Out: each text file with its path. Never: a file that git ignores, a binary
//! file.

use super::output_of;
use crate::{
    checkout::Checkout,
    trouble::{Outcome, Trouble},
};
use std::{fs, process::Command};

/// Every text file of the checkout.
pub(super) struct Files {
    files: Vec<File>,
}

/// One file.
pub(super) struct File {
    /// Its path from the top of the checkout, with `/`.
    pub(super) path: String,
    /// What stands in it.
    pub(super) text: String,
}

impl Files {
    /// Asks git, and reads the files.
    ///
    /// # Errors
    /// When git does not answer or a file cannot be read.
    pub(super) fn tracked(checkout: &Checkout) -> Outcome<Self> {
        let mut command = Command::new("git");
        command
            .args([
                "ls-files",
                "-z",
                "--cached",
                "--others",
                "--exclude-standard",
            ])
            .current_dir(&checkout.root);
        let listed = output_of(&mut command, "git ls-files")?;
        let mut files = Vec::new();
        for path in listed.split('\0').filter(|path| !path.is_empty()) {
            let full = checkout.path(path);
            // A link is no text, and a file that was removed and not yet committed is gone.
            if !full.symlink_metadata().is_ok_and(|found| found.is_file()) {
                continue;
            }
            let bytes = fs::read(&full)
                .map_err(|error| Trouble::because(format!("cannot read {path}"), error))?;
            if let Ok(text) = String::from_utf8(bytes) {
                files.push(File {
                    path: path.to_owned(),
                    text,
                });
            }
        }
        Ok(Self { files })
    }

    /// All of them.
    pub(super) fn all(&self) -> impl Iterator<Item = &File> {
        self.files.iter()
    }

    /// Rust files that go into a program or a library.
    pub(super) fn rust_sources(&self) -> impl Iterator<Item = &File> {
        self.all().filter(|file| {
            let place = file.path.starts_with("crates/") || file.path.starts_with("xtask/");
            place && file.path.contains("/src/") && file.path.ends_with(".rs")
        })
    }

    #[cfg(test)]
    pub(super) fn of(files: &[(&str, &str)]) -> Self {
        let file = |(path, text): &(&str, &str)| File {
            path: (*path).into(),
            text: (*text).into(),
        };
        Self {
            files: files.iter().map(file).collect(),
        }
    }
}

impl File {
    /// Lines of code outside of tests and comments, with their numbers from 1. Tests of a file
    /// stand at its end.
    pub(super) fn code(&self) -> impl Iterator<Item = (usize, &str)> {
        let lines = self
            .text
            .lines()
            .zip(1..)
            .map(|(line, number)| (number, line));
        let tests = self.is_test();
        lines
            .take_while(move |(_, line)| !tests && !line.starts_with("#[cfg(test)]"))
            .filter(|(_, line)| !line.trim_start().starts_with("//"))
    }

    /// Whether it is nothing but tests.
    pub(super) fn is_test(&self) -> bool {
        self.path.ends_with("/tests.rs") || self.path.contains("/tests/")
    }
}
