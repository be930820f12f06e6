//! Somebody who exchanges folders, files and links, as fast as they can, against calls through the
//! host.
//!
//! How many calls there are stands in `GUILDHALL_RACE_STEPS`.

use crate::scene::{Scene, TestTurn, code};
use guildhall_tools::{Outcome, ToolResult};
use serde_json::{Value, json};
use std::{
    collections::BTreeMap,
    fs, io,
    os::unix::fs::symlink,
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    thread::JoinHandle,
};

/// Calls where nobody says otherwise: some seconds.
const STEPS: usize = 12_000;
/// Calls of one turn.
const CALLS_OF_A_TURN: usize = 1000;
/// Calls that are made at once.
const AT_ONCE: usize = 2;
/// What stands in every file that must never be reached.
const SECRET: &str = "OUTSIDE";

/// Refusals that a race may bring about. Anything else would be a bug of ours.
const MAY_REFUSE: [&str; 16] = [
    "symlink",
    "hard-link",
    "not-found",
    "not-directory",
    "not-regular",
    "changed-since-read",
    "parent-moved",
    "parent-missing",
    "exists",
    "no-match",
    "no-change",
    "busy",
    "mount-boundary",
    "outcome-unknown",
    "io-error",
    "ambiguous",
];

/// What an attacker does in one turn.
type Act = Box<dyn FnMut(usize) -> io::Result<()> + Send>;

/// Threads that do something again and again until they are dropped.
struct Attackers {
    stop: Arc<AtomicBool>,
    turns: Arc<AtomicUsize>,
    threads: Vec<JoinHandle<()>>,
}

impl Attackers {
    /// One thread for each list of acts; more would only keep the calls from running.
    fn begin(lists: Vec<Vec<Act>>) -> Self {
        let (stop, turns) = (Arc::<AtomicBool>::default(), Arc::<AtomicUsize>::default());
        let threads = lists.into_iter().map(|mut acts| {
            let (stop, turns) = (Arc::clone(&stop), Arc::clone(&turns));
            std::thread::spawn(move || {
                let mut turn = 0;
                while !stop.load(Ordering::Relaxed) {
                    for act in &mut acts {
                        // Another attacker may have been faster.
                        if act(turn).is_ok() {
                            turns.fetch_add(1, Ordering::Relaxed);
                        }
                    }
                    turn += 1;
                    std::thread::yield_now();
                }
            })
        });
        let threads = threads.collect();
        Self {
            stop,
            turns,
            threads,
        }
    }

    fn end(mut self) -> usize {
        self.stop.store(true, Ordering::Relaxed);
        for thread in self.threads.drain(..) {
            thread.join().expect("an attacker ends");
        }
        self.turns.load(Ordering::Relaxed)
    }
}

/// Gives a name now to what stands at `a`, now to what stands at `b`.
fn alternating(name: PathBuf, a: PathBuf, b: PathBuf) -> Act {
    Box::new(move |turn| {
        // What has the name goes back to its own place, then the other one takes it.
        let (back, next) = if turn.is_multiple_of(2) {
            (&a, &b)
        } else {
            (&b, &a)
        };
        fs::rename(&name, back)?;
        fs::rename(next, &name)
    })
}

fn attackers(scene: &Scene) -> Attackers {
    let at = |path: &str| scene.at(path);
    // A folder and a link to one outside.
    let folder = alternating(at("notes/d"), at("notes/d-own"), at("notes/d-link"));
    // A file and a link to one outside, in a folder that is also exchanged.
    let file = alternating(at("notes/f.txt"), at("notes/f-own"), at("notes/f-link"));
    // A file and a second name of one outside.
    let (secret, name, own) = (at("out/secret"), at("notes/h.txt"), at("notes/h-own"));
    let second_name = Box::new(move |turn: usize| {
        if turn.is_multiple_of(2) {
            fs::rename(&name, &own)?;
            fs::hard_link(&secret, &name)
        } else {
            fs::remove_file(&name)?;
            fs::rename(&own, &name)
        }
    });
    // A folder that leaves the root and comes back.
    let (inside, outside) = (at("notes/m"), at("out/m"));
    let leaves = Box::new(move |turn: usize| {
        if turn.is_multiple_of(2) {
            fs::rename(&inside, &outside)
        } else {
            fs::rename(&outside, &inside)
        }
    });
    // Another program that edits.
    let busy = at("notes/busy.txt");
    let edits = Box::new(move |turn: usize| fs::write(&busy, format!("one {turn}\n")));
    Attackers::begin(vec![vec![folder, leaves], vec![file, second_name, edits]])
}

fn prepare(scene: &Scene) {
    for (path, text) in [
        ("out/secret", "OUTSIDE secret\n"),
        ("out/a.txt", "OUTSIDE a\n"),
        ("out/sub/a.txt", "OUTSIDE sub\n"),
        ("notes/d/a.txt", "one a\n"),
        ("notes/d/sub/a.txt", "one sub\n"),
        ("notes/f.txt", "one f\n"),
        ("notes/h.txt", "one h\n"),
        ("notes/m/a.txt", "one m\n"),
        ("notes/busy.txt", "one\n"),
    ] {
        scene.put(path, text);
    }
    symlink("../out", scene.at("notes/d-link")).expect("links");
    symlink("../out/secret", scene.at("notes/f-link")).expect("links");
}

/// The next call: mostly looks, since a change waits for the disk.
fn call(rng: &mut fastrand::Rng) -> (&'static str, Value) {
    const FILES: [&str; 8] = [
        "d/a.txt",
        "d/sub/a.txt",
        "f.txt",
        "h.txt",
        "m/a.txt",
        "busy.txt",
        "d/secret",
        "d/new.txt",
    ];
    const FOLDERS: [&str; 5] = [".", "d", "d/sub", "m", "nothing"];
    let file = FILES[rng.usize(..FILES.len())];
    let folder = FOLDERS[rng.usize(..FOLDERS.len())];
    match rng.u32(..64) {
        0 => (
            "write_file",
            json!({"root": "notes", "path": file, "text": "one written\n"}),
        ),
        1 => (
            "edit_file",
            json!({"root": "notes", "path": file, "old": "one", "new": "one one"}),
        ),
        2..=12 => ("list_dir", json!({"root": "notes", "path": folder})),
        13..=22 => (
            "search",
            json!({"root": "notes", "pattern": "e", "path": folder}),
        ),
        _ => ("read_file", json!({"root": "notes", "path": file})),
    }
}

fn judge(tool: &str, result: &ToolResult) -> &'static str {
    assert!(
        !result.text.contains(SECRET),
        "{tool} shows what lies outside"
    );
    match result.outcome {
        Outcome::Done => "done",
        Outcome::Refused | Outcome::Unknown => {
            let code = code(result);
            let named = MAY_REFUSE.iter().find(|may| **may == code);
            named
                .copied()
                .unwrap_or_else(|| panic!("{tool}: {}", result.text))
        }
    }
}

/// What lies outside, but for the folder that comes and goes.
fn outside(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut files = BTreeMap::new();
    for entry in fs::read_dir(folder).expect("a folder").flatten() {
        if entry.file_name() == "m" {
            continue;
        }
        if entry.path().is_dir() {
            files.extend(outside(&entry.path()));
        } else {
            files.insert(entry.path(), fs::read(entry.path()).expect("a file"));
        }
    }
    files
}

/// A folder that came and went may hold what the tools wrote while it was inside, and nothing else.
fn temporary_files(folder: &Path) -> usize {
    let entries = fs::read_dir(folder).expect("a folder").flatten();
    entries
        .map(|entry| {
            let kept = entry.file_name().to_string_lossy().ends_with(".kept");
            let ours = entry
                .file_name()
                .to_string_lossy()
                .starts_with(".guildhall-");
            let below = if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                temporary_files(&entry.path())
            } else {
                0
            };
            below + usize::from(ours && !kept)
        })
        .sum()
}

async fn calls(scene: &Scene, seed: u64, left: &AtomicUsize) -> BTreeMap<&'static str, usize> {
    let mut rng = fastrand::Rng::with_seed(seed);
    let mut counts = BTreeMap::new();
    let mut turn: TestTurn = scene.turn();
    let mut used = 0;
    let take = |left: usize| left.checked_sub(1);
    while left
        .fetch_update(Ordering::Relaxed, Ordering::Relaxed, take)
        .is_ok()
    {
        if used == CALLS_OF_A_TURN {
            (turn, used) = (scene.turn(), 0);
            scene.desk.forget();
        }
        let (tool, arguments) = call(&mut rng);
        let result = turn.call(tool, arguments).await;
        *counts.entry(judge(tool, &result)).or_default() += 1;
        used += 1;
    }
    counts
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_exchange_of_names_brings_a_call_outside_or_a_write_astray() {
    let steps = std::env::var("GUILDHALL_RACE_STEPS").ok();
    let steps = steps.map_or(STEPS, |steps| steps.parse().expect("a number of steps"));
    let scene = Scene::new();
    prepare(&scene);
    let before = outside(&scene.at("out"));
    let attackers = attackers(&scene);
    let left = AtomicUsize::new(steps);
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    let both: [_; AT_ONCE] = [calls(&scene, 1, &left), calls(&scene, 2, &left)];
    for some in futures_util::future::join_all(both).await {
        for (code, count) in some {
            *counts.entry(code).or_default() += count;
        }
    }
    let turns = attackers.end();
    println!("{steps} calls against {turns} exchanges: {counts:?}");
    assert_eq!(
        outside(&scene.at("out")),
        before,
        "what lies outside changed"
    );
    assert_eq!(temporary_files(&scene.at("notes")), 0);
    let done = counts.get("done").copied().unwrap_or_default();
    assert!(
        done > 0 && done < steps,
        "both sides have some luck: {counts:?}"
    );
    assert!(turns > steps / 100, "the attackers were at work");
}
