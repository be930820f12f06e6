//! Folders and files of a test, made by ambient paths.

use guildhall_confine::{Access, Pattern, Query, RelPath, Root, SearchBounds, Way};
use std::{
    fs,
    path::{Path, PathBuf},
    sync::atomic::AtomicBool,
};

/// Both ways, for tests that run by each.
pub(crate) const WAYS: [Way; 2] = [Way::Openat2, Way::Steps];

/// A folder with `work`, the root, and `out`, which must never be reached.
pub(crate) struct Ground {
    base: tempfile::TempDir,
}

impl Ground {
    pub(crate) fn new() -> Self {
        // A root's path has no segment that begins with a dot.
        let base = tempfile::Builder::new()
            .prefix("confine-")
            .tempdir()
            .expect("a folder");
        for name in ["work", "out"] {
            fs::create_dir(base.path().join(name)).expect("a folder");
        }
        Self { base }
    }

    pub(crate) fn with(files: &[(&str, &str)]) -> Self {
        let ground = Self::new();
        for (path, text) in files {
            ground.put(path, text);
        }
        ground
    }

    pub(crate) fn base(&self) -> &Path {
        self.base.path()
    }

    pub(crate) fn work(&self, path: &str) -> PathBuf {
        self.base().join("work").join(path)
    }

    pub(crate) fn out(&self, path: &str) -> PathBuf {
        self.base().join("out").join(path)
    }

    pub(crate) fn put(&self, path: &str, text: &str) {
        let place = self.work(path);
        fs::create_dir_all(place.parent().expect("a parent")).expect("a folder");
        fs::write(place, text).expect("writes");
    }

    pub(crate) fn root(&self, way: Way) -> Root {
        Root::open_ambient_by(&self.base().join("work"), Access::Write, way).expect("a root")
    }

    /// Searches, and shows `path:line:text` of each hit.
    pub(crate) fn search(
        &self,
        pattern: Pattern<'_>,
        glob: Option<&str>,
        path: &str,
    ) -> Vec<String> {
        let path = RelPath::parse(path).expect("a path");
        let query = Query {
            pattern,
            glob,
            path: &path,
        };
        let never = AtomicBool::new(false);
        let found = self
            .root(Way::available())
            .search(&query, &SearchBounds::default(), &never)
            .expect("searches");
        let shown =
            |hit: &guildhall_confine::Hit| format!("{}:{}:{}", hit.path, hit.line, hit.text);
        found.hits.iter().map(shown).collect()
    }
}
