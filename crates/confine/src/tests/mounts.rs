//! A single file that is a mount of its own: the folder around it is not, so that only the last step
//! of a look-up can tell.

use super::{
    line::Step,
    scene::{Scene, Unavailable},
};
use crate::{Access, FileLimit, Pattern, Query, Refusal, RelPath, SearchBounds, Way};
use std::{fs, sync::atomic::AtomicBool};

#[test]
fn a_file_that_is_a_mount_of_its_own_is_refused_by_both_ways() {
    let mut scene = Scene::new();
    for place in ["@out/secret.txt", "f.txt"] {
        fs::write(scene.place("work", place), "OUTSIDE").expect("writes");
    }
    let step = Step::BindMount {
        path: "f.txt".to_owned(),
        source: "@out/secret.txt".to_owned(),
    };
    if let Err(Unavailable) = scene.step(&step) {
        println!("not run: this process may not mount");
        return;
    }
    let (path, all, never) = (
        RelPath::parse("f.txt"),
        RelPath::root(),
        AtomicBool::new(false),
    );
    let (path, limit) = (path.expect("a path"), FileLimit::bytes(100));
    for way in [Way::Openat2, Way::Steps] {
        let root = scene.root("work", Access::Write, way);
        assert_eq!(
            root.read_text(&path, limit),
            Err(Refusal::MountBoundary),
            "{way:?}"
        );
        let written = root.prepare_write(&path, "new", limit).map(drop);
        assert_eq!(written, Err(Refusal::MountBoundary), "{way:?}");
        let query = Query {
            pattern: Pattern::Literal("OUTSIDE"),
            glob: None,
            path: &all,
        };
        let found = root
            .search(&query, &SearchBounds::default(), &never)
            .expect("searches");
        assert_eq!((found.hits.len(), found.skipped.mounts), (0, 1), "{way:?}");
    }
}

#[test]
fn a_folder_that_is_a_mount_is_not_entered_by_a_search() {
    let mut scene = Scene::new();
    fs::create_dir(scene.place("work", "inner")).expect("a folder");
    for name in ["one", "two"] {
        fs::write(scene.place("work", "@out").join(name), "OUTSIDE").expect("writes");
    }
    let step = Step::BindMount {
        path: "inner".to_owned(),
        source: "@out".to_owned(),
    };
    if let Err(Unavailable) = scene.step(&step) {
        println!("not run: this process may not mount");
        return;
    }
    let (all, never) = (RelPath::root(), AtomicBool::new(false));
    let query = Query {
        pattern: Pattern::Literal("OUTSIDE"),
        glob: None,
        path: &all,
    };
    let root = scene.root("work", Access::Read, Way::available());
    let found = root
        .search(&query, &SearchBounds::default(), &never)
        .expect("searches");
    // The folder counts, and nothing in it was met.
    assert_eq!(
        (found.hits.len(), found.files, found.skipped.mounts),
        (0, 0, 1)
    );
}
