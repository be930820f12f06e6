//! Folders of installed packages, one for each content of their list.
//!
//! In: what the list says. Out: a folder that is complete, or one to fill. Never: a folder taken
//! for complete that an interrupted installation left.

use crate::trouble::{Outcome, Trouble};
use std::{
    fs,
    hash::{DefaultHasher, Hash, Hasher},
    io,
    path::{Path, PathBuf},
};

/// Written last, so that its presence says that everything before it was done.
const COMPLETE: &str = ".complete";

/// One folder of the cache.
pub(crate) struct Slot {
    /// Where it is.
    pub(crate) folder: PathBuf,
}

impl Slot {
    /// The folder for this kind of package and this content of its list.
    pub(crate) fn of(cache: &Path, kind: &str, content: &[&str]) -> Self {
        let mut hasher = DefaultHasher::new();
        content.hash(&mut hasher);
        Self {
            folder: cache.join(format!("{kind}-{:016x}", hasher.finish())),
        }
    }

    /// Fills the folder, unless that was done before.
    ///
    /// # Errors
    /// Whatever `fill` says, and a folder that cannot be made.
    pub(crate) fn filled(&self, fill: impl FnOnce(&Path) -> Outcome<()>) -> Outcome<()> {
        let mark = self.folder.join(COMPLETE);
        if mark.is_file() {
            return Ok(());
        }
        self.emptied().map_err(|error| self.trouble(error))?;
        fill(&self.folder)?;
        fs::write(&mark, b"").map_err(|error| self.trouble(error))
    }

    fn emptied(&self) -> io::Result<()> {
        match fs::remove_dir_all(&self.folder) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => fs::create_dir_all(&self.folder),
        }
    }

    fn trouble(&self, error: io::Error) -> Trouble {
        Trouble::because(format!("cannot use {}", self.folder.display()), error)
    }
}

#[cfg(test)]
mod tests {
    use super::Slot;
    use crate::trouble::Trouble;
    use std::fs;

    #[test]
    fn a_folder_is_filled_once_and_an_interrupted_one_again() {
        let cache = tempfile::tempdir().expect("a temporary folder");
        let slot = Slot::of(cache.path(), "kind", &["list"]);
        let mut fills = 0;
        let interrupted = slot.filled(|folder| {
            fills += 1;
            fs::write(folder.join("half"), b"")
                .map_err(|error| Trouble::because("write", error))?;
            Err(Trouble::new("interrupted"))
        });
        assert!(interrupted.is_err());
        for _ in 0..2 {
            slot.filled(|folder| {
                fills += 1;
                assert!(!folder.join("half").exists());
                Ok(())
            })
            .expect("it is filled");
        }
        assert_eq!(fills, 2);
    }

    #[test]
    fn another_list_has_another_folder() {
        let cache = std::path::Path::new("cache");
        let one = Slot::of(cache, "kind", &["a", "b"]);
        let other = Slot::of(cache, "kind", &["ab", ""]);
        assert_ne!(one.folder, other.folder);
    }
}
