//! Where things are: the checkout, what was built, and the cache outside of both.
//!
//! In: the environment of this process, read once. Out: folders. Never: a folder made, a guess at
//! somebody else's layout.

use crate::trouble::{Outcome, Trouble};
use std::{
    env,
    path::{Path, PathBuf},
};

/// Overrides the folder of the tests' tools.
const CACHE_VARIABLE: &str = "GUILDHALL_TEST_CACHE";

/// The folders that chores work with.
pub(crate) struct Checkout {
    /// The checkout's top folder.
    pub(crate) root: PathBuf,
    /// The folder that cargo builds into.
    pub(crate) target: PathBuf,
    /// Where tools for tests are kept between runs, outside the checkout.
    pub(crate) cache: PathBuf,
}

impl Checkout {
    /// Reads where this run is.
    ///
    /// # Errors
    /// When it was not started by cargo, or the machine has no place for a cache.
    pub(crate) fn find() -> Outcome<Self> {
        let manifest = env::var_os("CARGO_MANIFEST_DIR").ok_or_else(|| {
            Trouble::new("the checkout is not known").remedy("Start this as `cargo xtask`.")
        })?;
        let root = Path::new(&manifest)
            .parent()
            .ok_or_else(|| Trouble::new("xtask's own folder has no parent"))?
            .to_path_buf();
        // Cargo puts this program into <target>/<profile>/.
        let program = env::current_exe()
            .map_err(|error| Trouble::because("cannot tell where this program is", error))?;
        let target = program
            .ancestors()
            .nth(2)
            .ok_or_else(|| Trouble::new("this program is in no target folder"))?
            .to_path_buf();
        Ok(Self {
            root,
            target,
            cache: cache_folder()?,
        })
    }

    /// Path of a file of the checkout.
    pub(crate) fn path(&self, relative: &str) -> PathBuf {
        self.root.join(relative)
    }
}

/// The cargo that started this run, so that one toolchain does everything.
pub(crate) fn cargo() -> PathBuf {
    env::var_os("CARGO").map_or_else(|| PathBuf::from("cargo"), PathBuf::from)
}

/// Finds a program as a shell would.
pub(crate) fn find_program(name: &str) -> Option<PathBuf> {
    let path = env::var_os("PATH")?;
    env::split_paths(&path)
        .map(|folder| folder.join(name))
        .find(|found| found.is_file())
}

fn cache_folder() -> Outcome<PathBuf> {
    let absolute = |name: &str| {
        env::var_os(name)
            .map(PathBuf::from)
            .filter(|p| p.is_absolute())
    };
    if let Some(chosen) = absolute(CACHE_VARIABLE) {
        return Ok(chosen);
    }
    absolute("XDG_CACHE_HOME")
        .or_else(|| absolute("HOME").map(|home| home.join(".cache")))
        .map(|caches| caches.join("guildhall-tests"))
        .ok_or_else(|| {
            Trouble::new("there is no home folder to keep the tests' tools in")
                .remedy(format!("Set {CACHE_VARIABLE} to an absolute path."))
        })
}
