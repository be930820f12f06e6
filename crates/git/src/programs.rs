//! The two programs that verbs run.
//!
//! In: fixed places of a system. Out: absolute paths, and git's version.
//! Never: a search along a `PATH` that somebody set.

use std::path::{Path, PathBuf};

use crate::refusal::{GitRefusal, GitVersion};

/// The oldest git that is known to be right: that of Debian 12, which is maintained.
pub const OLDEST_GIT: GitVersion = GitVersion {
    major: 2,
    minor: 39,
    patch: 0,
};

/// Where programs are looked for.
const FOLDERS: [&str; 4] = [
    "/usr/bin",
    "/usr/local/bin",
    "/opt/homebrew/bin",
    "/run/current-system/sw/bin",
];
/// What children have as their `PATH`.
pub(crate) const FIXED_PATH: &str = "/usr/local/bin:/usr/bin:/bin";
/// A program that fails, for whatever must not run.
pub(crate) const FAILING: &str = "/bin/false";

/// Absolute paths of git and of the interpreter of the vault's tools.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Programs {
    /// Git.
    pub git: PathBuf,
    /// Python 3; only the vault protocol needs it.
    pub python: Option<PathBuf>,
}

impl Programs {
    /// Looks in the fixed places.
    ///
    /// # Errors
    /// [`GitRefusal::NoProgram`] when git is in none of them.
    pub fn find() -> Result<Self, GitRefusal> {
        Ok(Self {
            git: find("git").ok_or(GitRefusal::NoProgram("git"))?,
            python: find("python3"),
        })
    }
}

fn find(name: &str) -> Option<PathBuf> {
    let places = FOLDERS.iter().map(|folder| Path::new(folder).join(name));
    places.into_iter().find(|place| place.is_file())
}

/// Reads what `git version` prints.
pub(crate) fn version(said: &str) -> Option<GitVersion> {
    let numbers = said.trim().strip_prefix("git version ")?;
    let numbers = numbers.split(' ').next()?;
    let mut parts = numbers.split('.');
    let mut number = || parts.next().and_then(|part| part.parse().ok());
    Some(GitVersion {
        major: number()?,
        minor: number()?,
        patch: number().unwrap_or(0),
    })
}

#[cfg(test)]
mod tests {
    use super::{GitVersion, OLDEST_GIT, version};

    #[test]
    fn versions_are_read_and_compared() {
        let cases = [
            ("git version 2.47.3\n", Some((2, 47, 3))),
            ("git version 2.39.5 (Apple Git-154)\n", Some((2, 39, 5))),
            ("git version 2.51.0.rc1\n", Some((2, 51, 0))),
            ("git version 2.40\n", Some((2, 40, 0))),
            ("hub version 2.1", None),
            ("git version x", None),
        ];
        for (said, want) in cases {
            let found = version(said).map(|v| (v.major, v.minor, v.patch));
            assert_eq!(found, want, "{said}");
        }
        let old = GitVersion {
            major: 2,
            minor: 38,
            patch: 9,
        };
        assert!(old < OLDEST_GIT);
    }
}
