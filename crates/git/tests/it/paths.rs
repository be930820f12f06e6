//! Which paths may be committed, and what becomes of their files.

use crate::scene::{Scene, commit, prepare};
use guildhall_git::{Feature, GitRefusal, Pushed};
use std::fs;

#[test]
fn fifty_paths_are_a_commit_and_fifty_one_are_not() {
    let scene = Scene::new();
    let root = scene.open();
    let names: Vec<String> = (0..51).map(|number| format!("n/{number}.txt")).collect();
    for name in &names {
        scene.write(name, name);
    }
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    assert_eq!(
        commit(&root, "All", &names).err(),
        Some(GitRefusal::PathCount)
    );
    assert_eq!(
        commit(&root, "None", &[]).err(),
        Some(GitRefusal::PathCount)
    );
    let done = commit(&root, "Fifty", &names[..50]).expect("a commit");
    assert_eq!(done.pushed, Pushed::Yes);
    let count = scene
        .git(&["diff-tree", "-r", "--name-only", "--no-commit-id", "HEAD"])
        .lines()
        .count();
    assert_eq!(count, 50);
    assert_eq!(scene.git(&["status", "--porcelain"]), "?? n/50.txt");
}

#[test]
fn paths_of_all_kinds_are_taken_as_they_are() {
    let scene = Scene::new();
    let root = scene.open();
    let deep = format!(
        "{}/{}.txt",
        vec!["d".repeat(60); 20].join("/"),
        "e".repeat(200)
    );
    let names = [
        "über/日本 語.txt",
        "e\u{301}.txt",
        "é.txt",
        "with space.txt",
        "-dash",
        "--help",
        ":(top)x",
        "*.txt",
        "[a].txt",
        "q'uote\".txt",
        "back\\slash",
        "a=b;c|d&e",
        &deep,
    ];
    for name in names {
        scene.write(name, name);
    }
    // Whatever a pattern would have meant, it means nothing here.
    scene.write("x", "not named\n");
    scene.write("a", "not named\n");
    let done = commit(&root, "Names", &names).expect("a commit");
    assert_eq!(done.pushed, Pushed::Yes);
    let listed = scene.git(&[
        "diff-tree",
        "-r",
        "-z",
        "--name-only",
        "--no-commit-id",
        "HEAD",
    ]);
    let mut listed: Vec<&str> = listed.split('\0').filter(|name| !name.is_empty()).collect();
    let mut wanted = names.to_vec();
    listed.sort_unstable();
    wanted.sort_unstable();
    assert_eq!(listed, wanted);
    assert_eq!(scene.git(&["status", "--porcelain"]), "?? a\n?? x");
}

#[test]
fn paths_that_may_not_be_committed_are_named_with_their_reason() {
    let scene = Scene::new();
    let root = scene.open();
    scene.write("dir/d.txt", "x\n");
    scene.write("ignored.log", "x\n");
    scene.git(&["commit", "-q", "--allow-empty", "-m", "x"]);
    fs::write(scene.root().join(".gitignore"), "*.log\n").expect("a file");
    std::os::unix::fs::symlink("a.txt", scene.root().join("link")).expect("a link");
    fs::hard_link(scene.root().join("a.txt"), scene.root().join("hard")).expect("a name");
    scene.write(
        "key.txt",
        "aws_secret_access_key = wJalrXUtnFEMI/K7MDENG/bPxRfiCYzY4KnQ9d2R\n",
    );
    let cases: [(&[&str], &str); 13] = [
        (&["../x"], "parent-segment"),
        (&["/etc/passwd"], "absolute"),
        (&[".gitignore"], "dot-segment-or-entry"),
        (&[".git/config"], "dot-segment-or-entry"),
        (&["none.txt"], "not-found"),
        (&["dir"], "not-regular"),
        (&["link"], "symlink"),
        (&["hard"], "hard-link"),
        (&["ignored.log"], "ignored-path"),
        (&["dir/d.txt", "dir/d.txt"], "path-twice"),
        (&["b.bin"], "nothing-changed"),
        (&["key.txt"], "secret-shape"),
        (&["dir/d.txt", "none.txt"], "not-found"),
    ];
    for (paths, code) in cases {
        let found = commit(&root, "X", paths).expect_err("it is refused");
        let code = if code == "dot-segment-or-entry" {
            "dot-entry"
        } else {
            code
        };
        assert_eq!(found.code(), code, "{paths:?}: {found}");
    }
    let secret = "ghp_".to_owned() + &"a1B2c3D4e5F6g7H8i9J0".repeat(2);
    let found = commit(&root, &secret, &["dir/d.txt"]).expect_err("a token");
    assert_eq!(found.code(), "secret-shape");
    assert!(!found.text().contains("ghp_"));
}

#[test]
fn a_path_with_a_filter_is_refused_by_the_features_name() {
    let scene = Scene::new();
    scene.write("big.dat", "x\n");
    fs::write(
        scene.root().join(".gitattributes"),
        "*.dat filter=lfs -text\n",
    )
    .expect("a file");
    let root = scene.open();
    let found = commit(&root, "X", &["big.dat"]).err();
    assert_eq!(found, Some(GitRefusal::Layout(Feature::Filter)));
    scene.write("a.txt", "x\n");
    commit(&root, "X", &["a.txt"]).expect("other paths are fine");
}

#[test]
fn files_are_bounded() {
    let scene = Scene::new();
    let root = scene.open();
    fs::write(scene.root().join("big.bin"), vec![7; 17 << 20]).expect("a file");
    assert_eq!(
        commit(&root, "X", &["big.bin"]).err(),
        Some(GitRefusal::TooLarge)
    );
    let noise: Vec<u8> = (0..3_000_000u32)
        .flat_map(|n| n.wrapping_mul(2_654_435_761).to_le_bytes())
        .collect();
    fs::write(scene.root().join("some.bin"), noise).expect("a file");
    let done = commit(&root, "X", &["some.bin"]).expect("a commit");
    assert_eq!(done.pushed, Pushed::Yes);
}

#[test]
fn line_ends_are_kept_as_the_repository_wants_them() {
    let scene = Scene::new();
    scene.git(&["config", "core.autocrlf", "input"]);
    let root = scene.open();
    scene.write("crlf.txt", "a\r\nb\r\n");
    commit(&root, "X", &["crlf.txt"]).expect("a commit");
    assert_eq!(scene.git(&["cat-file", "-p", "HEAD:crlf.txt"]), "a\nb");
    assert_eq!(scene.git(&["status", "--porcelain"]), "");
}

#[test]
fn a_program_stays_one() {
    use std::os::unix::fs::PermissionsExt;
    for (filemode, want) in [("true", "100755"), ("false", "100644")] {
        let scene = Scene::new();
        scene.git(&["config", "core.filemode", filemode]);
        let root = scene.open();
        scene.write("run.sh", "#!/bin/sh\n");
        fs::set_permissions(
            scene.root().join("run.sh"),
            fs::Permissions::from_mode(0o755),
        )
        .expect("a mode");
        scene.write("empty.txt", "");
        commit(&root, "X", &["run.sh", "empty.txt"]).expect("a commit");
        let listed = scene.git(&["ls-tree", "HEAD", "run.sh"]);
        assert!(listed.starts_with(want), "{filemode}: {listed}");
        assert_eq!(scene.git(&["status", "--porcelain"]), "");
    }
    let scene = Scene::new();
    scene.git(&["update-index", "--chmod=+x", "a.txt"]);
    scene.git(&["commit", "-q", "-m", "a program"]);
    scene.git(&["config", "core.filemode", "false"]);
    let root = scene.open();
    scene.write("a.txt", "changed\n");
    commit(&root, "X", &["a.txt"]).expect("a commit");
    assert!(
        scene
            .git(&["ls-tree", "HEAD", "a.txt"])
            .starts_with("100755")
    );
}

#[test]
fn a_name_that_is_swapped_with_a_link_gives_nothing_from_outside() {
    let scene = Scene::new();
    let root = scene.open();
    let (file, link) = (scene.root().join("a.txt"), scene.root().join("swap"));
    std::os::unix::fs::symlink(scene.at("out/victim"), &link).expect("a link");
    let is_done = std::sync::atomic::AtomicBool::new(false);
    let counts = std::thread::scope(|scope| {
        scope.spawn(|| {
            while !is_done.load(std::sync::atomic::Ordering::Relaxed) {
                let exchange = rustix::fs::RenameFlags::EXCHANGE;
                let at = rustix::fs::CWD;
                rustix::fs::renameat_with(at, &file, at, &link, exchange).expect("both are there");
            }
        });
        let mut counts = (0, 0);
        for round in 0..25 {
            // Through a descriptor: the name leads now here, now there.
            scene.write(&format!("round/{round}.txt"), "x\n");
            let named = format!("round/{round}.txt");
            match prepare(&root, "X", &["a.txt", &named]) {
                Ok((_, summary)) => {
                    assert!(
                        !summary.diff.as_str().contains("victim"),
                        "{}",
                        summary.diff
                    );
                    counts.0 += 1;
                }
                Err(_) => counts.1 += 1,
            }
        }
        is_done.store(true, std::sync::atomic::Ordering::Relaxed);
        counts
    });
    println!("{counts:?} prepared and refused");
    assert!(counts.0 + counts.1 == 25);
}
