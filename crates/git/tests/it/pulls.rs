//! Pulls against a real server.

use crate::{
    scene::{Change, Scene, commit, push},
    server::Mode,
};
use guildhall_git::{Cancel, Feature, GitRefusal, Pushed, RemoteFault};
use std::{fs, thread, time::Duration};

/// Something that is done to a work tree.
type ToScene = fn(&Scene);

fn pull(root: &guildhall_git::GitRoot) -> Result<String, GitRefusal> {
    root.pull(&Cancel::new()).map(|done| done.after.to_string())
}

#[test]
fn a_pull_brings_branch_index_and_files_forward() {
    let scene = Scene::new();
    let root = scene.open();
    let before = scene.head();
    scene.upstream("a.txt", "theirs\n");
    let theirs = scene.upstream("new/deep/file.txt", "new\n");
    scene.write("mine.txt", "not known to git\n");
    let done = root.pull(&Cancel::new()).expect("it pulls");
    assert_eq!(done.before.expect("a commit").to_string(), before);
    assert_eq!(done.after.to_string(), theirs);
    assert_eq!(done.changed, 2);
    assert_eq!(scene.head(), theirs);
    assert_eq!(scene.git(&["rev-parse", "origin/main"]), theirs);
    assert_eq!(scene.git(&["status", "--porcelain"]), "?? mine.txt");
    let read = |path: &str| fs::read_to_string(scene.root().join(path)).expect("a file");
    assert_eq!(
        (read("a.txt").as_str(), read("new/deep/file.txt").as_str()),
        ("theirs\n", "new\n")
    );
    assert!(!scene.root().join(".git/FETCH_HEAD").exists());
    assert_eq!(pull(&root), Ok(theirs), "nothing new is a success");
}

#[test]
fn a_pull_changes_files_that_a_commit_or_a_touch_left_as_they_are() {
    let scene = Scene::new();
    let root = scene.open();
    scene.write("a.txt", "by the seat\n");
    commit(&root, "X", &["a.txt"]).expect("a commit");
    scene.upstream("a.txt", "theirs\n");
    let theirs = scene.upstream("dir/c.txt", "theirs\n");
    scene.write("dir/c.txt", "three\n");
    assert_eq!(pull(&root), Ok(theirs));
    assert_eq!(scene.git(&["status", "--porcelain"]), "");
}

#[test]
fn a_pull_into_an_empty_repository_makes_the_branch() {
    let scene = Scene::empty();
    let root = scene.open();
    let theirs = scene.upstream("a.txt", "x\n");
    assert_eq!(pull(&root), Ok(theirs));
    assert_eq!(scene.git(&["status", "--porcelain"]), "");
}

#[test]
fn a_pull_leaves_what_is_ahead_of_the_server() {
    let scene = Scene::new();
    let root = scene.open();
    scene.git(&["commit", "-q", "--allow-empty", "-m", "ahead"]);
    let head = scene.head();
    assert_eq!(pull(&root), Ok(head.clone()));
    assert_eq!(scene.head(), head);
}

#[test]
fn a_diverged_server_refuses_with_nothing_changed() {
    let scene = Scene::new();
    let root = scene.open();
    scene.upstream("a.txt", "theirs\n");
    scene.git(&["commit", "-q", "--allow-empty", "-m", "ours"]);
    let before = (scene.head(), scene.git(&["status", "--porcelain"]));
    assert_eq!(pull(&root), Err(GitRefusal::Diverged));
    assert_eq!(
        (scene.head(), scene.git(&["status", "--porcelain"])),
        before
    );
    assert!(matches!(push(&root), Err(GitRefusal::PushFailed(_))));
}

#[test]
fn a_path_with_changes_of_its_own_refuses_with_nothing_changed() {
    let ways: [(&str, Change); 4] = [
        ("changed", |s| s.write("a.txt", "mine\n")),
        ("staged", |s| {
            s.write("a.txt", "mine\n");
            s.git(&["add", "a.txt"]);
        }),
        ("in the way", |s| s.write("new.txt", "mine\n")),
        ("a folder in the way", |s| {
            s.write("new.txt/inner", "mine\n")
        }),
    ];
    for (name, way) in ways {
        let scene = Scene::new();
        let root = scene.open();
        scene.upstream("dir/c.txt", "theirs\n");
        scene.upstream("a.txt", "theirs\n");
        scene.upstream("new.txt", "theirs\n");
        way(&scene);
        let before = (scene.head(), scene.git(&["status", "--porcelain"]));
        let found = pull(&root).expect_err(name);
        assert_eq!(found.code(), "dirty", "{name}: {found}");
        let words = found.words().expect("git's words").as_str();
        assert!(
            words.contains("a.txt") || words.contains("new.txt"),
            "{name}: {words}"
        );
        assert_eq!(
            (scene.head(), scene.git(&["status", "--porcelain"])),
            before,
            "{name}"
        );
        let kept = fs::read_to_string(scene.root().join("dir/c.txt")).expect("a file");
        assert_eq!(kept, "three\n", "{name}");
        assert!(!scene.root().join(".git/index.lock").exists());
        assert!(!scene.root().join(".git/refs/heads/main.lock").exists());
    }
}

#[test]
fn filters_that_come_in_are_refused_by_the_features_name() {
    let scene = Scene::new();
    let root = scene.open();
    let before = scene.head();
    scene.upstream_by(|seed| {
        fs::write(seed.join(".gitattributes"), "*.dat filter=lfs\n").expect("a file");
        fs::write(seed.join("big.dat"), "x\n").expect("a file");
    });
    assert_eq!(pull(&root), Err(GitRefusal::Layout(Feature::Filter)));
    assert_eq!(scene.head(), before);
}

#[test]
fn a_branch_that_the_server_does_not_have_is_named() {
    let scene = Scene::new();
    let root = scene.open();
    scene.git_in(
        &scene.at("upstream.git"),
        &["branch", "-m", "main", "trunk"],
    );
    assert_eq!(pull(&root), Err(GitRefusal::NoUpstream));
    let head = scene.head();
    assert_eq!(push(&root), Ok(head), "a push makes it");
    assert_eq!(scene.served(), scene.head());
}

#[test]
fn a_server_that_does_not_know_the_seat_gets_no_second_answer() {
    let scene = Scene::new();
    let root = scene.open();
    fs::write(scene.at("token"), "another-token\n").expect("a file");
    let found = pull(&root).expect_err("it is refused");
    assert_eq!(found.code(), "fetch-failed");
    let text = found.text();
    assert!(!text.contains("another-token"), "{text}");
    let tries = scene
        .server
        .seen()
        .iter()
        .filter(|s| s.authorization.is_some())
        .count();
    assert_eq!(tries, 1);
}

#[test]
fn a_token_that_others_may_read_is_not_used() {
    use std::os::unix::fs::PermissionsExt;
    let scene = Scene::new();
    let root = scene.open();
    fs::set_permissions(scene.at("token"), fs::Permissions::from_mode(0o644)).expect("a mode");
    let found = pull(&root).expect_err("it is refused");
    assert!(found.text().contains("mode 0600"), "{found}");
    assert!(
        scene
            .server
            .seen()
            .iter()
            .all(|seen| seen.authorization.is_none())
    );
}

#[test]
fn a_cancelled_pull_ends_at_once_and_leaves_no_process() {
    let scene = Scene::new();
    let root = scene.open();
    scene.server.set(Mode::Silent);
    let cancel = Cancel::new();
    let other = cancel.clone();
    let (seen, heard) = std::sync::mpsc::channel();
    scene
        .server
        .look_at_each(move || seen.send(()).unwrap_or_default());
    let canceller = thread::spawn(move || {
        heard
            .recv_timeout(Duration::from_secs(30))
            .expect("the server was asked");
        other.cancel();
    });
    let found = root.pull(&cancel);
    canceller.join().expect("it cancels");
    assert_eq!(found.err(), Some(GitRefusal::Cancelled));
    let left: Vec<_> = crate::spying::processes()
        .into_iter()
        .filter(|(line, _)| line.contains(&scene.server.host()))
        .collect();
    assert_eq!(left, []);
}

#[test]
fn an_address_that_changed_after_the_root_was_opened_is_not_used() {
    let scene = Scene::new();
    let root = scene.open();
    let other = scene.other.url("upstream.git");
    scene.git(&["remote", "set-url", "origin", &other]);
    let fault = GitRefusal::Remote(RemoteFault::NotTheBound);
    assert_eq!(pull(&root), Err(fault.clone()));
    assert_eq!(push(&root), Err(fault.clone()));
    scene.write("a.txt", "x\n");
    let done = commit(&root, "X", &["a.txt"]).expect("a commit all the same");
    assert_eq!(done.pushed, Pushed::No { refusal: fault });
    assert_eq!(scene.other.seen().len(), 0);
}

#[test]
fn a_server_that_redirects_is_not_followed() {
    let scene = Scene::new();
    let root = scene.open();
    fs::create_dir(scene.at("out/x")).expect("a folder");
    scene
        .server
        .set(Mode::Redirect(format!("https://{}", scene.other.host())));
    assert_eq!(pull(&root).expect_err("no").code(), "fetch-failed");
    assert_eq!(push(&root).expect_err("no").code(), "push-failed");
    assert_eq!(scene.other.seen().len(), 0);
    assert!(
        scene
            .server
            .seen()
            .iter()
            .all(|seen| seen.authorization.is_none())
    );
}

#[test]
fn a_change_of_any_path_that_git_knows_refuses_and_names_it() {
    let ways: [(&str, ToScene); 3] = [
        ("changed", |scene| {
            scene.write("dir/c.txt", "changed here\n")
        }),
        ("gone", |scene| {
            fs::remove_file(scene.root().join("dir/c.txt")).expect("a file")
        }),
        ("staged", |scene| {
            scene.write("dir/c.txt", "changed here\n");
            scene.git(&["add", "dir/c.txt"]);
        }),
    ];
    for (name, way) in ways {
        let scene = Scene::new();
        let root = scene.open();
        let head = scene.head();
        scene.upstream("a.txt", "theirs\n");
        way(&scene);
        let found = pull(&root).expect_err("it is dirty");
        assert_eq!(found.code(), "dirty", "{name}");
        assert!(found.text().ends_with(": dir/c.txt"), "{}", found.text());
        assert_eq!(scene.head(), head, "{name}");
    }
}

#[test]
fn what_is_ignored_is_not_written_over() {
    // The file itself, one where a folder would come, one in a folder where a file would come.
    let cases = [
        ("kept.log", "kept.log"),
        ("kept.log", "kept.log/new.txt"),
        ("out/kept.log", "out"),
    ];
    for (ours, theirs) in cases {
        let scene = Scene::new();
        scene.write(".gitignore", "*.log\n");
        scene.git(&["add", ".gitignore"]);
        scene.git(&["commit", "-q", "-m", "rules"]);
        let root = scene.open();
        push(&root).expect("it is sent");
        let head = scene.head();
        scene.write(ours, "no other copy\n");
        scene.upstream_by(|clone| {
            fs::write(clone.join(".gitignore"), "").expect("a file");
            let file = clone.join(theirs);
            fs::create_dir_all(file.parent().expect("a folder")).expect("a folder");
            fs::write(file, "theirs\n").expect("a file");
        });
        let found = pull(&root).expect_err("it would be lost");
        assert_eq!(found.code(), "dirty", "{theirs}");
        assert!(
            found.text().ends_with(&format!(": {ours}")),
            "{}",
            found.text()
        );
        let read = fs::read_to_string(scene.root().join(ours)).expect("a file");
        assert_eq!(
            (read.as_str(), scene.head()),
            ("no other copy\n", head),
            "{theirs}"
        );
    }
}

#[test]
fn a_folder_of_known_files_becomes_a_file_and_the_other_way_round() {
    let scene = Scene::new();
    let root = scene.open();
    let theirs = scene.upstream_by(|clone| {
        fs::remove_dir_all(clone.join("dir")).expect("a folder");
        fs::write(clone.join("dir"), "a file\n").expect("a file");
        fs::remove_file(clone.join("a.txt")).expect("a file");
        fs::create_dir(clone.join("a.txt")).expect("a folder");
        fs::write(clone.join("a.txt/b.txt"), "below\n").expect("a file");
    });
    assert_eq!(pull(&root), Ok(theirs));
    assert_eq!(scene.git(&["status", "--porcelain"]), "");
}

#[test]
fn the_address_is_bound_for_good_until_the_note_is_taken_away() {
    let scene = Scene::new();
    drop(scene.open());
    let other = scene.other.url("upstream.git");
    scene.git(&["remote", "set-url", "origin", &other]);
    // As after a restart.
    let root = scene.open();
    let fault = GitRefusal::Remote(RemoteFault::NotTheBound);
    assert_eq!(push(&root), Err(fault.clone()));
    assert_eq!(pull(&root), Err(fault));
    assert_eq!(scene.other.seen().len(), 0);
    fs::remove_file(scene.at("data/remote")).expect("the note");
    let root = scene.open();
    assert_eq!(root.remote().expect("bound").to_string(), other);
}

#[test]
fn a_repository_that_cannot_be_served_is_opened_and_its_verbs_refuse_until_it_is_mended() {
    let scene = Scene::new();
    scene.git(&["config", "core.sshCommand", "evil"]);
    let root = scene.open();
    let found = root.fault().expect("a fault").clone();
    assert!(found.text().contains("core.sshcommand"), "{}", found.text());
    assert_eq!(root.status(&Cancel::new()).err(), Some(found.clone()));
    assert_eq!(pull(&root), Err(found));
    scene.git(&["config", "--unset", "core.sshCommand"]);
    assert_eq!(pull(&root), Ok(scene.head()));
    assert!(root.remote().is_ok(), "bound when it first could be");
}
