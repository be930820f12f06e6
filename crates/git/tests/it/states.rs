//! Repositories in all states that a person may leave them in.

use crate::scene::{Change, Keys, Scene, commit, push};
use guildhall_git::{Cancel, Feature, GitRefusal, GitRoot, Operation, Protocol};
use std::fs;

/// What each verb says.
fn codes(root: &GitRoot) -> [&'static str; 4] {
    let cancel = Cancel::new();
    let code = |refusal: GitRefusal| refusal.code();
    [
        root.status(&cancel).map_or_else(code, |_| "ok"),
        commit(root, "X", &["a.txt"]).map_or_else(code, |_| "ok"),
        root.pull(&cancel).map_or_else(code, |_| "ok"),
        push(root).map_or_else(code, |_| "ok"),
    ]
}

/// Two lines of history with a conflict in `a.txt`; the head is on `main`.
fn with_side(scene: &Scene) {
    scene.git(&["checkout", "-q", "-b", "side"]);
    scene.write("a.txt", "side\n");
    scene.git(&["commit", "-q", "-am", "side"]);
    scene.git(&["checkout", "-q", "main"]);
    scene.write("a.txt", "main\n");
    scene.git(&["commit", "-q", "-am", "main"]);
}

#[test]
fn every_operation_that_is_half_done_stops_every_verb() {
    let ways: [(&[&str], Operation); 6] = [
        (&["merge", "side"], Operation::Merge),
        (&["rebase", "side"], Operation::Rebase),
        (&["rebase", "--apply", "side"], Operation::Rebase),
        (&["cherry-pick", "side"], Operation::CherryPick),
        (&["revert", "--no-edit", "HEAD~1"], Operation::Revert),
        (&["bisect", "start"], Operation::Bisect),
    ];
    for (args, operation) in ways {
        let scene = Scene::new();
        let root = scene.open();
        with_side(&scene);
        // It stops at the conflict, as it is meant to.
        let begun = scene.try_git(&scene.root(), args);
        let is_bisect = operation == Operation::Bisect;
        assert_eq!(begun.status.success(), is_bisect, "{args:?}");
        let found = root.status(&Cancel::new()).expect_err("half done");
        assert_eq!(found, GitRefusal::MidOperation(operation), "{args:?}");
        let before = scene.head();
        scene.server.forget();
        assert_eq!(codes(&root), ["mid-operation"; 4], "{args:?}");
        assert_eq!(scene.head(), before, "{args:?}");
        assert_eq!(scene.server.seen().len(), 0, "{args:?}");
    }
}

#[test]
fn a_series_of_picks_between_two_of_them_is_half_done() {
    let scene = Scene::new();
    let root = scene.open();
    with_side(&scene);
    scene.git(&["checkout", "-q", "side"]);
    scene.write("other.txt", "x\n");
    scene.git(&["add", "other.txt"]);
    scene.git(&["commit", "-q", "-m", "next"]);
    scene.git(&["checkout", "-q", "main"]);
    scene.try_git(&scene.root(), &["cherry-pick", "side~1", "side"]);
    scene.write("a.txt", "both\n");
    scene.git(&["add", "a.txt"]);
    scene.git(&["commit", "-q", "-m", "resolved"]);
    assert!(!scene.root().join(".git/CHERRY_PICK_HEAD").exists());
    let found = root.status(&Cancel::new()).expect_err("half done");
    assert_eq!(found, GitRefusal::MidOperation(Operation::CherryPick));
}

#[test]
fn a_conflict_without_an_operation_stops_every_verb() {
    let scene = Scene::new();
    let root = scene.open();
    with_side(&scene);
    scene.try_git(&scene.root(), &["merge", "--squash", "side"]);
    scene.git(&["config", "--list"]);
    assert_eq!(codes(&root), ["conflicted"; 4]);
}

#[test]
fn a_head_elsewhere_stops_every_verb() {
    let ways: [(&str, &[&str], GitRefusal); 4] = [
        (
            "detached",
            &["checkout", "-q", "--detach"],
            GitRefusal::DetachedHead,
        ),
        (
            "another branch",
            &["checkout", "-q", "-b", "other"],
            GitRefusal::OtherBranch,
        ),
        (
            "renamed",
            &["branch", "-m", "main", "trunk"],
            GitRefusal::OtherBranch,
        ),
        (
            "an orphan",
            &["checkout", "-q", "--orphan", "main2"],
            GitRefusal::OtherBranch,
        ),
    ];
    for (name, args, want) in ways {
        let scene = Scene::new();
        let root = scene.open();
        scene.git(args);
        scene.write("a.txt", "x\n");
        assert_eq!(root.status(&Cancel::new()).err(), Some(want), "{name}");
        assert_eq!(codes(&root), ["branch"; 4], "{name}");
    }
}

#[test]
fn staged_work_is_never_swept_in() {
    let ways: [(&str, Change); 5] = [
        ("another file", |s| {
            s.write("dir/c.txt", "half\n");
            s.git(&["add", "dir/c.txt"]);
        }),
        ("the same file", |s| {
            s.write("a.txt", "half\n");
            s.git(&["add", "a.txt"]);
        }),
        ("a new file", |s| {
            s.write("new.txt", "half\n");
            s.git(&["add", "new.txt"]);
        }),
        ("a removal", |s| drop(s.git(&["rm", "-q", "dir/c.txt"]))),
        ("a mode", |s| {
            drop(s.git(&["update-index", "--chmod=+x", "dir/c.txt"]))
        }),
    ];
    for (name, way) in ways {
        let scene = Scene::new();
        let root = scene.open();
        way(&scene);
        scene.write("a.txt", "seat\n");
        let before = (scene.head(), scene.git(&["diff", "--cached"]));
        let found = commit(&root, "X", &["a.txt"]);
        assert_eq!(found.err(), Some(GitRefusal::StagedWork), "{name}");
        assert_eq!(
            (scene.head(), scene.git(&["diff", "--cached"])),
            before,
            "{name}"
        );
    }
    let scene = Scene::empty();
    let root = scene.open();
    scene.write("a.txt", "x\n");
    scene.git(&["add", "a.txt"]);
    assert_eq!(
        commit(&root, "X", &["a.txt"]).err(),
        Some(GitRefusal::StagedWork)
    );
}

#[test]
fn a_persons_unstaged_work_stays_as_it_is() {
    let scene = Scene::new();
    let root = scene.open();
    scene.write("dir/c.txt", "a person's\n");
    fs::remove_file(scene.root().join("b.bin")).expect("a file");
    scene.write("a.txt", "seat\n");
    commit(&root, "X", &["a.txt"]).expect("a commit");
    assert_eq!(
        scene.git(&["status", "--porcelain"]),
        " D b.bin\n M dir/c.txt"
    );
    assert_eq!(
        scene.git(&["show", "--format=", "--name-only", "HEAD"]),
        "a.txt"
    );
}

#[test]
fn a_status_names_what_changed() {
    let scene = Scene::new();
    let root = scene.open();
    scene.write("a.txt", "x\n");
    scene.write("dir/c.txt", "staged\n");
    scene.git(&["add", "dir/c.txt"]);
    scene.write("new \u{1b}[31m.txt", "x\n");
    fs::remove_file(scene.root().join("b.bin")).expect("a file");
    let index = fs::read(scene.root().join(".git/index")).expect("an index");
    let status = root.status(&Cancel::new()).expect("a state");
    assert_eq!(
        (status.branch.as_str(), status.ahead_behind),
        ("main", Some((0, 0)))
    );
    let changed = status.changed.iter();
    let changed: Vec<_> = changed.map(|c| (c.letters, c.path.as_str())).collect();
    assert_eq!(
        changed,
        [
            (['.', 'M'], "a.txt"),
            (['.', 'D'], "b.bin"),
            (['M', '.'], "dir/c.txt"),
            (['?', '?'], "new ?[31m.txt"),
        ]
    );
    assert_eq!(
        fs::read(scene.root().join(".git/index")).expect("an index"),
        index
    );
    assert!(scene.server.seen().is_empty(), "a state asks no server");
}

/// Layouts that are not served.
const UNSERVED: [(&str, Change, Feature); 9] = [
    (
        "no repository",
        |s| fs::remove_dir_all(s.root().join(".git")).expect("a folder"),
        Feature::NoRepository,
    ),
    (
        "a work tree",
        |s| {
            fs::rename(s.root(), s.at("main")).expect("a folder");
            s.git_in(
                &s.at("main"),
                &["worktree", "add", "-q", "--force", "-b", "w", "../root"],
            );
        },
        Feature::LinkedWorkTree,
    ),
    (
        "a separate directory",
        |s| {
            fs::rename(s.root().join(".git"), s.at("gd")).expect("a folder");
            fs::write(s.root().join(".git"), "gitdir: ../gd\n").expect("a file");
        },
        Feature::LinkedWorkTree,
    ),
    (
        "shallow",
        |s| {
            s.upstream("a.txt", "x\n");
            fs::remove_dir_all(s.root()).expect("a folder");
            let from = format!("file://{}", s.at("upstream.git").display());
            s.git_in(
                s.place.path(),
                &["clone", "-q", "--depth", "1", &from, "root"],
            );
        },
        Feature::Shallow,
    ),
    (
        "split",
        |s| {
            s.git(&["update-index", "--split-index"]);
            drop(s.try_git(&s.root(), &["config", "--unset", "core.splitIndex"]));
        },
        Feature::SplitIndex,
    ),
    (
        "attributes",
        |s| {
            let info = s.root().join(".git/info/attributes");
            fs::write(info, "# fine\n\n* text=auto\n").expect("a file");
        },
        Feature::InfoAttributes,
    ),
    (
        "borrowed objects",
        |s| {
            let info = s.root().join(".git/objects/info");
            fs::create_dir_all(&info).expect("a folder");
            fs::write(info.join("alternates"), "/x\n").expect("a file");
        },
        Feature::Alternates,
    ),
    (
        "a promised pack",
        |s| {
            let pack = s.root().join(".git/objects/pack");
            fs::create_dir_all(&pack).expect("a folder");
            fs::write(pack.join("pack-1.promisor"), "").expect("a file");
        },
        Feature::PartialClone,
    ),
    (
        "no objects",
        |s| fs::remove_dir_all(s.root().join(".git/objects")).expect("a folder"),
        Feature::Incomplete,
    ),
];

#[test]
fn layouts_that_are_not_served_are_named() {
    for (name, way, feature) in UNSERVED {
        let scene = Scene::new();
        way(&scene);
        let opened = scene.try_open(Protocol::Plain, Keys::Listed);
        let found = opened.and_then(|root| root.status(&Cancel::new()));
        assert_eq!(found.err(), Some(GitRefusal::Layout(feature)), "{name}");
    }
}

#[test]
fn a_repository_with_other_work_trees_is_served() {
    let scene = Scene::new();
    scene.git(&["worktree", "add", "-q", "-b", "w", "../other"]);
    let root = scene.open();
    scene.write("a.txt", "x\n");
    commit(&root, "X", &["a.txt"]).expect("a commit");
}

#[test]
fn packed_branches_and_objects_are_served() {
    let scene = Scene::new();
    scene.git(&["pack-refs", "--all"]);
    scene.git(&["gc", "-q"]);
    let root = scene.open();
    scene.write("a.txt", "x\n");
    let done = commit(&root, "X", &["a.txt"]).expect("a commit");
    assert_eq!(scene.head(), done.commit.to_string());
    assert_eq!(scene.git(&["fsck", "--no-dangling"]), "");
}

#[test]
fn a_root_that_became_another_folder_is_not_worked_on() {
    let scene = Scene::new();
    let root = scene.open();
    fs::rename(scene.root(), scene.at("moved")).expect("a folder");
    scene.git_in(scene.place.path(), &["clone", "-q", "upstream.git", "root"]);
    let found = root.status(&Cancel::new()).expect_err("another folder");
    assert_eq!(found.code(), "root-replaced");
}

#[test]
fn settings_that_git_would_take_for_something_else_are_refused() {
    let scene = Scene::new();
    let bad: [fn(&mut guildhall_git::GitSettings); 5] = [
        |s| s.branch = "--upload-pack=x".to_owned(),
        |s| s.branch = "a\"b".to_owned(),
        |s| s.identity = "--owner".to_owned(),
        |s| s.author = "Nobody".to_owned(),
        |s| s.remote = Some("https://user@host/x".to_owned()),
    ];
    for change in bad {
        let mut settings = scene.settings(Protocol::Plain);
        change(&mut settings);
        let found = GitRoot::open_for_trial(settings, scene.trial(Keys::Listed), &Cancel::new());
        let code = found.expect_err("it does not fit").code();
        assert!(matches!(code, "branch" | "credential-redirect"), "{code}");
    }
}

#[test]
fn what_a_dead_process_left_is_swept() {
    let scene = Scene::new();
    let state = scene.at("data");
    fs::create_dir(&state).expect("a folder");
    let mode = std::os::unix::fs::PermissionsExt::from_mode;
    fs::set_permissions(&state, mode(0o700)).expect("a mode");
    // No process has this number: it is above every limit of the kernel.
    fs::create_dir_all(state.join("verb-2000000000-1/git")).expect("folders");
    fs::create_dir_all(state.join("something-else")).expect("a folder");
    scene.open();
    assert_eq!(scene.left(), ["something-else"]);
    fs::set_permissions(&state, mode(0o755)).expect("a mode");
    let found = scene.try_open(Protocol::Plain, Keys::Listed);
    assert_eq!(found.err(), Some(GitRefusal::Owner));
}
