//! Every line of `git-hostile.jsonl`, with the list of keys and without it.
//!
//! A line passes when no program of the repository ran, nothing outside changed, nobody else was asked
//! for anything, and a line that has to be refused was refused by its class. Without the list of keys
//! the same must hold by the private git directory alone.

mod control; // that the lines are as dangerous as they say
mod effects; // what must not have happened
mod line; // a line of the corpus
mod steps; // from a line to a repository

use crate::scene::{Keys, Scene, commit, push};
use guildhall_git::{Cancel, GitRefusal, GitRoot, Protocol};
use line::{Expect, Line, corpus};
use std::{collections::BTreeMap, fs, os::unix::fs::MetadataExt, thread};

/// Lines whose verb is refused although they only ask that nothing happens: a key off the list. The
/// corpus lets a verb go on there, and does not ask for it.
const REFUSED_BY_KEY: [&str; 8] = [
    "G007", "G008", "G009", "G053", "G054", "G060", "G061", "G068",
];

/// Lines that only ask that nothing happens, and whose verb all the same does not go on.
const STOPPED: [(&str, &str, &str); 4] = [
    // A redirect is not followed, and there is nothing else.
    ("G051", "pull", "fetch-failed"),
    // A path whose changes are hidden is shown as hidden, and not committed.
    ("G067", "commit", "hidden-path"),
    // There is no such file, whatever it would match.
    ("G073", "commit", "not-found"),
    // A folder that became a link has none of the branch's files: a person's change.
    ("G076", "pull", "dirty"),
];

/// What each verb said.
type Said = BTreeMap<&'static str, String>;

#[test]
fn every_line_is_refused_or_neutralised_with_the_list_of_keys() {
    each(|line| {
        let scene = Scene::new();
        let root = scene.open();
        steps::set_up(&scene, line);
        effects::begin(&scene);
        let said = verbs(&scene, &root, line);
        effects::refuse_any(&scene, line);
        judge(line, &said);
        effects::look(&scene, &root, line, &said);
        // A start over the same repository sees the same.
        if let Ok(root) = scene.try_open(Protocol::Plain, Keys::Listed) {
            let said = verbs(&scene, &root, line);
            if line.expect == Expect::Refuse {
                judge(line, &said);
            }
        }
        effects::refuse_any(&scene, line);
    });
}

#[test]
fn every_line_is_kept_away_by_the_private_directory_alone() {
    each(|line| {
        let scene = Scene::new();
        let opened = scene
            .try_open(Protocol::Plain, Keys::Unchecked)
            .expect("it opens");
        steps::set_up(&scene, line);
        effects::begin(&scene);
        let said = verbs(&scene, &opened, line);
        effects::refuse_any(&scene, line);
        if line.expect == Expect::Neutralise {
            for verb in line.verbs() {
                assert_eq!(
                    said[verb],
                    neutral(line, verb),
                    "{} {verb}: {said:?}",
                    line.id
                );
            }
        }
        effects::look(&scene, &opened, line, &said);
    });
}

/// Runs every line, two at a time, and names all that fail.
fn each(run: impl Fn(&Line) + Sync) {
    let lines = corpus();
    assert_eq!(lines.len(), 79);
    let next = std::sync::atomic::AtomicUsize::new(0);
    let failed = std::sync::Mutex::new(Vec::new());
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while let Some(line) =
                    lines.get(next.fetch_add(1, std::sync::atomic::Ordering::Relaxed))
                {
                    if let Some(why) = not_run(line) {
                        println!("{} was not run: {why}", line.id);
                        continue;
                    }
                    let ran = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| run(line)));
                    if ran.is_err() {
                        failed
                            .lock()
                            .expect("a list")
                            .push(format!("{} {}", line.id, line.title));
                    }
                }
            });
        }
    });
    assert_eq!(*failed.lock().expect("a list"), Vec::<String>::new());
}

/// Only root may give a folder to another account.
fn not_run(line: &Line) -> Option<&'static str> {
    let needs_root = line
        .setup
        .iter()
        .any(|step| matches!(step, line::Step::Chown { .. }));
    let is_root = fs::metadata("/proc/self").is_ok_and(|facts| facts.uid() == 0);
    (needs_root && !is_root).then_some("it needs root")
}

/// Every verb, in the order of a day.
fn verbs(scene: &Scene, root: &GitRoot, line: &Line) -> Said {
    let cancel = Cancel::new();
    let code = |refusal: GitRefusal| refusal.code().to_owned();
    let ok = "ok".to_owned();
    let mut said = Said::new();
    said.insert(
        "status",
        root.status(&cancel).map_or_else(code, |_| ok.clone()),
    );
    said.insert("pull", root.pull(&cancel).map_or_else(code, |_| ok.clone()));
    let paths = line.paths();
    if paths == ["a.txt"] {
        scene.write("a.txt", "the seat's\n");
    }
    let paths: Vec<&str> = paths.iter().map(String::as_str).collect();
    said.insert(
        "commit",
        commit(root, "The seat's", &paths).map_or_else(code, |_| ok.clone()),
    );
    said.insert("push", push(root).map_or_else(code, |_| ok.clone()));
    said
}

/// Holds what the verbs that reach a line said against what it expects.
fn judge(line: &Line, said: &Said) {
    for verb in line.verbs() {
        let found = said[verb].as_str();
        match line.expect {
            Expect::Refuse => assert_eq!(found, line.reason, "{} {verb}: {said:?}", line.id),
            Expect::Neutralise if REFUSED_BY_KEY.contains(&line.id.as_str()) => {
                assert_eq!(found, "config-key", "{} {verb}: {said:?}", line.id);
            }
            Expect::Neutralise => {
                assert_eq!(found, neutral(line, verb), "{} {verb}: {said:?}", line.id);
            }
        }
    }
}

/// What a verb says that is not refused for what a line set up.
fn neutral(line: &Line, verb: &str) -> &'static str {
    let known = STOPPED
        .iter()
        .find(|(id, of, _)| *id == line.id && *of == verb);
    known.map_or("ok", |(_, _, code)| code)
}
