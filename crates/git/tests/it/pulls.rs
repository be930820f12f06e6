//! Pulls against a real server.

use crate::{
    scene::{Change, Scene, commit, push},
    server::Mode,
};
use guildhall_git::{Cancel, Feature, GitRefusal, Pushed, RemoteFault};
use std::{fs, thread, time::Duration};

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
    scene.write("dir/c.txt", "changed here\n");
    let done = root.pull(&Cancel::new()).expect("it pulls");
    assert_eq!(done.before.expect("a commit").to_string(), before);
    assert_eq!(done.after.to_string(), theirs);
    assert_eq!(done.changed, 2);
    assert_eq!(scene.head(), theirs);
    assert_eq!(scene.git(&["rev-parse", "origin/main"]), theirs);
    assert_eq!(
        scene.git(&["status", "--porcelain"]),
        " M dir/c.txt\n?? mine.txt"
    );
    let read = |path: &str| fs::read_to_string(scene.root().join(path)).expect("a file");
    assert_eq!(
        (read("a.txt").as_str(), read("new/deep/file.txt").as_str()),
        ("theirs\n", "new\n")
    );
    assert_eq!(read("dir/c.txt"), "changed here\n");
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
