//! Verbs that are cancelled at each of their children.
//!
//! Whatever stops a verb, the repository is one that a person can go on with: the branch at the old
//! commit or at the new one, no lock, no folder of ours; and the same verb works at the next try.

use crate::{
    scene::{Keys, Scene, prepare, push},
    spying::AllStarts,
};
use guildhall_git::{
    Cancel, CommitRequest, GitRefusal, GitRoot, Protocol, Pushed, Requester, Spawned, Spy,
};
use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

/// Cancels a verb when it starts its child of a number.
struct Cutter {
    left: AtomicUsize,
    cancel: Cancel,
    starts: Arc<AllStarts>,
}

impl Spy for Cutter {
    fn spawned(&self, spawned: &Spawned<'_>) {
        self.starts.spawned(spawned);
        if self.left.fetch_sub(1, Ordering::SeqCst) == 1 {
            self.cancel.cancel();
        }
    }
}

/// A root whose verbs are cut at the `number`th child after it was opened.
fn cut_at(scene: &Scene, number: usize) -> (GitRoot, Cancel) {
    let cancel = Cancel::new();
    let mut trial = scene.trial(Keys::Listed);
    trial.spy = Some(Arc::new(Cutter {
        // Opening takes two: the version and the keys.
        left: AtomicUsize::new(number + 2),
        cancel: cancel.clone(),
        starts: Arc::clone(&scene.starts),
    }));
    let settings = scene.settings(Protocol::Plain);
    let root = GitRoot::open_for_trial(settings, trial, &cancel).expect("it opens");
    (root, cancel)
}

fn refuse_leftovers(scene: &Scene, name: &str) {
    for left in [
        ".git/index.lock",
        ".git/index.guildhall",
        ".git/refs/heads/main.lock",
    ] {
        assert!(!scene.root().join(left).exists(), "{name}: {left}");
    }
    assert_eq!(scene.left(), [""; 0], "{name}");
    assert_eq!(
        scene.git(&["fsck", "--strict", "--no-dangling"]),
        "",
        "{name}"
    );
}

#[test]
fn a_commit_that_is_cut_anywhere_is_there_or_not() {
    let mut outcomes = Vec::new();
    for number in 1.. {
        let scene = Scene::new();
        let before = scene.head();
        let (root, cancel) = cut_at(&scene, number);
        scene.write("a.txt", "the seat's\n");
        let name = format!("cut at child {number}");
        let requester = Requester::parse("Ana").expect("a name");
        let paths = ["a.txt".to_owned()];
        let request = CommitRequest {
            message: "X",
            paths: &paths,
            requester: Some(&requester),
        };
        let done = root
            .prepare_commit(&request, &cancel)
            .and_then(|ready| ready.commit(&cancel));
        refuse_leftovers(&scene, &name);
        let state = scene.git(&["status", "--porcelain"]);
        match &done {
            Ok(done) => {
                assert_eq!(scene.head(), done.commit.to_string(), "{name}");
                assert_eq!(state, "", "{name}");
            }
            Err(refusal) => {
                assert_eq!(*refusal, GitRefusal::Cancelled, "{name}");
                assert_eq!(
                    (scene.head(), state.as_str()),
                    (before, " M a.txt"),
                    "{name}"
                );
                let again = scene.open();
                let (ready, _) = prepare(&again, "X", &["a.txt"]).expect("the next try");
                ready.commit(&Cancel::new()).expect("the next try");
            }
        }
        outcomes.push(match done {
            Err(_) => "nothing",
            Ok(done) if done.pushed == Pushed::Yes => "all",
            Ok(_) => "commit",
        });
        if !cancel.is_cancelled() {
            break;
        }
    }
    // The children before the branch is set, the push, and the round that was not cut any more.
    let children = outcomes.len();
    assert!(children > 12, "{outcomes:?}");
    assert!(
        outcomes[..children - 2]
            .iter()
            .all(|outcome| *outcome == "nothing"),
        "{outcomes:?}"
    );
    assert_eq!(outcomes[children - 2..], ["commit", "all"]);
}

#[test]
fn a_pull_that_is_cut_anywhere_leaves_a_repository_to_go_on_with() {
    for number in 1.. {
        let scene = Scene::new();
        let before = scene.head();
        scene.upstream("a.txt", "theirs\n");
        let theirs = scene.upstream("new/file.txt", "theirs\n");
        let (root, cancel) = cut_at(&scene, number);
        let name = format!("cut at child {number}");
        let done = root.pull(&cancel);
        refuse_leftovers(&scene, &name);
        match &done {
            Ok(done) => assert_eq!(done.after.to_string(), theirs, "{name}"),
            Err(refusal) => {
                assert_eq!(*refusal, GitRefusal::Cancelled, "{name}");
                assert_eq!(scene.head(), before, "{name}");
                // A child that was ended while it wrote files leaves them to a person, who says what they are.
                scene.git(&["checkout", "-q", "--", "."]);
                scene.git(&["clean", "-q", "-f", "-d"]);
                let again = scene.open().pull(&Cancel::new()).expect("the next try");
                assert_eq!(again.after.to_string(), theirs, "{name}");
            }
        }
        assert_eq!(scene.git(&["status", "--porcelain"]), "", "{name}");
        if !cancel.is_cancelled() {
            assert!(number > 8, "{number}");
            break;
        }
    }
}

#[test]
fn a_push_that_is_cut_is_repeated_without_harm() {
    for number in 1.. {
        let scene = Scene::new();
        scene.git(&["commit", "-q", "--allow-empty", "-m", "x"]);
        let (root, cancel) = cut_at(&scene, number);
        let done = root
            .prepare_push(&cancel)
            .and_then(|ready| ready.push(&cancel));
        refuse_leftovers(&scene, &format!("cut at child {number}"));
        if let Err(refusal) = &done {
            assert_eq!(*refusal, GitRefusal::Cancelled);
            push(&scene.open()).expect("the next try");
        }
        assert_eq!(scene.served(), scene.head());
        if !cancel.is_cancelled() {
            break;
        }
    }
}
