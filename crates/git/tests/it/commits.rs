//! Commits and pushes against a real server.

use crate::{
    scene::{Change, Keys, SEAT, Scene, TOKEN, commit, prepare, push},
    server::Mode,
};
use guildhall_git::{Cancel, CommitRequest, GitRefusal, Protocol, Pushed, Requester};
use std::fs;

#[test]
fn what_is_shown_of_a_commit_is_every_line_of_it() {
    let scene = Scene::new();
    let root = scene.open();
    let mut text = String::from("# Title\n\nfirst\n\n");
    for number in 0..600 {
        text.push_str(&format!("line {number}\n\n"));
    }
    scene.write("long.md", &text);
    let (prepared, _) = prepare(&root, "A long page", &["long.md"]).expect("ready");
    drop(prepared.commit(&Cancel::new()).expect("it is made"));
    scene.write("long.md", &text.replace("first\n", "first, and more \n"));
    let (_, summary) = prepare(&root, "More of it", &["long.md"]).expect("ready");
    let shown = summary.diff.as_str();
    let (_, hunk) = shown.split_once("@@ -1,6 +1,6 @@\n").expect("a head");
    assert_eq!(
        hunk, " # Title\n \n-first\n+first, and more \n \n line 0\n \n",
        "blank lines and blanks at an end are there"
    );

    scene.write("long.md", &text.replace("line", "row\u{202e}"));
    let (_, summary) = prepare(&root, "All of it", &["long.md"]).expect("ready");
    let shown = summary.diff.as_str();
    let added = shown
        .lines()
        .filter(|line| line.starts_with("+row"))
        .count();
    assert_eq!(added, 600, "far more than 4 KiB is shown");
    assert!(
        shown.contains("+row\\u{202e} 599"),
        "what is unseen is written out"
    );
}

#[test]
fn a_commit_is_made_as_the_seat_for_the_requester_and_pushed() {
    let scene = Scene::new();
    let root = scene.open();
    scene.write("a.txt", "one\nTWO\n");
    scene.write("new/file.md", "hello\n");
    scene.write("untouched.txt", "not named\n");
    let before = scene.head();
    let (prepared, summary) =
        prepare(&root, "Say it louder", &["a.txt", "new/file.md"]).expect("ready");
    assert_eq!(scene.head(), before, "nothing happened yet");
    assert_eq!(
        scene.git(&["status", "--porcelain"]),
        " M a.txt\n?? new/\n?? untouched.txt"
    );
    assert!(summary.diff.as_str().contains("+TWO"), "{}", summary.diff);
    let files: Vec<_> = summary
        .files
        .iter()
        .map(|f| (f.path.as_str(), f.lines, f.bytes, f.is_new))
        .collect();
    assert_eq!(
        files,
        [
            ("a.txt", Some((1, 1)), 8, false),
            ("new/file.md", Some((1, 0)), 6, true)
        ]
    );

    let done = prepared.commit(&Cancel::new()).expect("it is made");
    assert_eq!(done.pushed, Pushed::Yes);
    assert_eq!(done.commit, summary.commit);
    assert_eq!(scene.head(), done.commit.to_string());
    assert_eq!(scene.served(), done.commit.to_string());
    assert_eq!(scene.git(&["status", "--porcelain"]), "?? untouched.txt");
    assert_eq!(
        scene.git(&["log", "-1", "--format=%an <%ae>|%cn|%B"]),
        "Seat One <seat@example.com>|Seat One|Say it louder\n\nRequested-by: Ana"
    );
    assert_eq!(scene.git(&["rev-parse", "HEAD^"]), before);
    assert_eq!(
        scene.git(&["rev-parse", "origin/main"]),
        done.commit.to_string()
    );
    assert_eq!(scene.git(&["fsck", "--strict", "--no-dangling"]), "");
    let status = root.status(&Cancel::new()).expect("a state");
    assert_eq!(status.ahead_behind, Some((0, 0)));
    let users: Vec<_> = scene
        .server
        .seen()
        .into_iter()
        .filter_map(|s| s.authorization)
        .collect();
    let pair = data_encoding::BASE64.encode(format!("{SEAT}:{TOKEN}").as_bytes());
    assert!(!users.is_empty() && users.iter().all(|user| *user == format!("Basic {pair}")));
    assert_eq!(scene.left(), [""; 0], "nothing stays");
}

#[test]
fn a_commit_whose_push_fails_is_carried_by_the_next_one() {
    let scene = Scene::new();
    let root = scene.open();
    let served = scene.served();
    let leak = format!("go to https://{SEAT}:{TOKEN}@localhost/ now\n");
    scene.server.set(Mode::RefusePush(403, leak));
    scene.write("a.txt", "first\n");
    let first = commit(&root, "First", &["a.txt"]).expect("a commit all the same");
    let Pushed::No { refusal } = &first.pushed else {
        panic!("it was refused")
    };
    assert_eq!(refusal.code(), "push-failed");
    let words = refusal.words().expect("the server's words").as_str();
    assert!(words.contains("403") && !words.contains(TOKEN), "{words}");
    assert_eq!(scene.served(), served);
    assert_eq!(
        root.status(&Cancel::new()).expect("a state").ahead_behind,
        Some((1, 0))
    );
    assert_eq!(
        push(&root).expect_err("still refused").code(),
        "push-failed"
    );

    scene.server.set(Mode::Serve);
    scene.write("a.txt", "second\n");
    let second = commit(&root, "Second", &["a.txt"]).expect("a commit");
    assert_eq!(second.pushed, Pushed::Yes);
    let log = scene.git_in(&scene.at("upstream.git"), &["log", "--format=%s", "main"]);
    assert_eq!(log, "Second\nFirst\nbegin");
}

#[test]
fn a_push_of_its_own_sends_what_is_there() {
    let scene = Scene::new();
    let root = scene.open();
    scene.write("a.txt", "by a person\n");
    scene.git(&["commit", "-q", "-am", "a person's"]);
    scene.git(&["tag", "-a", "v1", "-m", "a tag"]);
    scene.git(&["branch", "side"]);
    let prepared = root.prepare_push(&Cancel::new()).expect("ready");
    assert_eq!(prepared.summary().ahead, Some(1));
    assert!(prepared.summary().commits.as_str().contains("a person's"));
    let fields = prepared.digest_fields();
    assert!(fields.contains(&("commit", scene.head())), "{fields:?}");
    prepared.push(&Cancel::new()).expect("it is sent");
    assert_eq!(scene.served(), scene.head());
    let refs = scene.git_in(
        &scene.at("upstream.git"),
        &["for-each-ref", "--format=%(refname)"],
    );
    assert_eq!(refs, "refs/heads/main");
    push(&root).expect("nothing new is a success");
}

#[test]
fn a_push_never_overwrites_what_others_sent() {
    let scene = Scene::new();
    let root = scene.open();
    let theirs = scene.upstream("a.txt", "theirs\n");
    scene.write("a.txt", "ours\n");
    let done = commit(&root, "Ours", &["a.txt"]).expect("a commit");
    let Pushed::No { refusal } = &done.pushed else {
        panic!("it was refused")
    };
    assert!(
        refusal
            .words()
            .expect("git's words")
            .as_str()
            .contains("rejected"),
        "{refusal}"
    );
    assert_eq!(scene.served(), theirs);
}

#[test]
fn a_commit_that_is_not_made_leaves_nothing() {
    let scene = Scene::new();
    let root = scene.open();
    let objects = || scene.git(&["count-objects", "-v"]);
    let before = (
        scene.head(),
        objects(),
        fs::read(scene.root().join(".git/index")).expect("an index"),
    );
    scene.write("a.txt", "denied\n");
    drop(prepare(&root, "Denied", &["a.txt"]).expect("ready"));
    let after = (
        scene.head(),
        objects(),
        fs::read(scene.root().join(".git/index")).expect("an index"),
    );
    assert_eq!(before, after);
    assert_eq!(scene.left(), [""; 0]);
}

#[test]
fn what_was_shown_is_what_is_committed_whatever_the_file_became() {
    let scene = Scene::new();
    let root = scene.open();
    scene.write("a.txt", "shown\n");
    let (prepared, _) = prepare(&root, "Shown", &["a.txt"]).expect("ready");
    scene.write("a.txt", "later\n");
    prepared.commit(&Cancel::new()).expect("it is made");
    assert_eq!(scene.git(&["show", "HEAD:a.txt"]), "shown");
    assert_eq!(scene.git(&["status", "--porcelain"]), " M a.txt");
}

#[test]
fn a_prepared_commit_does_not_outlive_a_change_of_the_repository() {
    let changes: [(&str, Change, &str); 5] = [
        (
            "a commit",
            |s| drop(s.git(&["commit", "-q", "--allow-empty", "-m", "x"])),
            "changed-since-prepared",
        ),
        (
            "the index",
            |s| drop(s.git(&["update-index", "--chmod=+x", "dir/c.txt"])),
            "changed-since-prepared",
        ),
        (
            "a merge",
            |s| fs::write(s.root().join(".git/MERGE_HEAD"), "x").expect("a file"),
            "mid-operation",
        ),
        (
            "a key",
            |s| drop(s.git(&["config", "core.fsmonitor", "true"])),
            "config-key",
        ),
        (
            "a lock",
            |s| fs::write(s.root().join(".git/index.lock"), "").expect("a file"),
            "git-locked",
        ),
    ];
    for (name, change, code) in changes {
        let scene = Scene::new();
        let root = scene.open();
        scene.write("a.txt", "x\n");
        let (prepared, _) = prepare(&root, "X", &["a.txt"]).expect("ready");
        change(&scene);
        let head = scene.head();
        let found = prepared.commit(&Cancel::new()).expect_err(name);
        assert_eq!(found.code(), code, "{name}");
        assert_eq!(scene.head(), head, "{name}");
    }
}

#[test]
fn a_commit_without_a_requester_is_refused() {
    let scene = Scene::new();
    let root = scene.open();
    scene.write("a.txt", "x\n");
    let request = CommitRequest {
        message: "X",
        paths: &["a.txt".to_owned()],
        requester: None,
    };
    let found = root.prepare_commit(&request, &Cancel::new());
    assert_eq!(found.err(), Some(GitRefusal::NoRequester));
}

#[test]
fn a_requester_cannot_add_lines_to_a_message() {
    let scene = Scene::new();
    let root = scene.open();
    scene.write("a.txt", "x\n");
    let requester =
        Requester::parse("Eve\n\nSigned-off-by: Boss <boss@example.com>").expect("a name");
    let paths = ["a.txt".to_owned()];
    let request = CommitRequest {
        message: "X",
        paths: &paths,
        requester: Some(&requester),
    };
    let prepared = root
        .prepare_commit(&request, &Cancel::new())
        .expect("ready");
    prepared.commit(&Cancel::new()).expect("it is made");
    let body = scene.git(&["log", "-1", "--format=%B"]);
    assert_eq!(
        body,
        "X\n\nRequested-by: Eve Signed-off-by: Boss <boss@example.com>"
    );
}

#[test]
fn the_first_commit_of_an_empty_repository_makes_the_branch() {
    let scene = Scene::empty();
    let root = scene.open();
    let status = root.status(&Cancel::new()).expect("a state");
    assert_eq!((status.head, status.ahead_behind), (None, None));
    assert_eq!(
        root.prepare_push(&Cancel::new()).err(),
        Some(GitRefusal::NoCommit)
    );
    assert_eq!(
        root.pull(&Cancel::new()).err(),
        Some(GitRefusal::NoUpstream)
    );
    scene.write("a.txt", "x\n");
    let done = commit(&root, "Begin", &["a.txt"]).expect("a commit");
    assert_eq!(done.pushed, Pushed::Yes);
    assert_eq!(scene.served(), done.commit.to_string());
    assert_eq!(scene.git(&["status", "--porcelain"]), "");
}

#[test]
fn a_repository_of_the_newer_object_format_is_served() {
    let scene = Scene::with_format("sha256");
    let root = scene.open();
    scene.write("a.txt", "x\n");
    let done = commit(&root, "X", &["a.txt"]).expect("a commit");
    assert_eq!(done.commit.as_str().len(), 64);
    assert_eq!(done.pushed, Pushed::Yes);
    let theirs = scene.upstream("dir/c.txt", "y\n");
    assert_eq!(
        root.pull(&Cancel::new())
            .expect("it pulls")
            .after
            .to_string(),
        theirs
    );
}

#[test]
fn a_root_that_may_only_be_read_has_no_git() {
    use guildhall_confine::{Access, Refusal, Root};
    let scene = Scene::new();
    let mut settings = scene.settings(Protocol::Plain);
    let read = Root::open_ambient(&scene.root(), Access::Read).expect("a root");
    settings.root = std::sync::Arc::new(read);
    let found =
        guildhall_git::GitRoot::open_for_trial(settings, scene.trial(Keys::Listed), &Cancel::new());
    assert_eq!(found.err(), Some(GitRefusal::Root(Refusal::RootReadonly)));
}

#[test]
fn a_rule_that_calls_a_script_binary_hides_nothing_of_what_is_allowed() {
    let scene = Scene::new();
    let root = scene.open();
    let rules = "*.sh -diff\n*.py binary\n*.txt diff=evil\n*.md working-tree-encoding=UTF-16\n";
    scene.write(".gitattributes", rules);
    scene.write("run.sh", "rm -rf everything\n");
    scene.write("run.py", "import everything\n");
    scene.write("a.txt", "changed\n");
    let (_, summary) = prepare(&root, "X", &["run.sh", "run.py", "a.txt"]).expect("ready");
    for line in ["+rm -rf everything", "+import everything", "+changed"] {
        assert!(
            summary.diff.as_str().contains(line),
            "{line}: {}",
            summary.diff
        );
    }
    let lines: Vec<_> = summary
        .files
        .iter()
        .map(|file| file.lines.is_some())
        .collect();
    assert_eq!(lines, [true; 3]);
}

#[test]
fn what_is_no_text_is_shown_by_its_size_and_its_object() {
    let scene = Scene::new();
    let root = scene.open();
    std::fs::write(scene.root().join("x.bin"), b"\x00\x01\x02").expect("a file");
    let (_, summary) = prepare(&root, "X", &["x.bin"]).expect("ready");
    let [file] = &summary.files[..] else {
        panic!("one file")
    };
    assert_eq!((file.lines, file.bytes), (None, 3));
    let object = scene.git(&["hash-object", "x.bin"]);
    assert_eq!(file.blob.to_string(), object);
    assert!(summary.diff.as_str().contains(&object), "{}", summary.diff);
}
