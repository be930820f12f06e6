//! An adversary swaps files, links, folders and FIFOs while others read and write by both ways.
//!
//! What must hold at every step: nothing from outside is ever shown, nothing outside ever changes,
//! no reader ever sees a file that is not whole, nobody waits, and no temporary file is left.

use crate::ground::{Ground, WAYS};
use guildhall_confine::{FileLimit, Pattern, Query, Refusal, RelPath, Root, SearchBounds, Way};
use rustix::fs::{CWD, RenameFlags};
use std::{
    collections::BTreeMap,
    fs,
    os::unix::fs::symlink,
    path::PathBuf,
    sync::atomic::{AtomicBool, AtomicUsize, Ordering},
    thread,
};

const LIMIT: FileLimit = FileLimit::bytes(64 * 1024);
const OUTSIDE: &str = "OUTSIDE, never to be seen";
/// One step in this many writes; a write waits for the disk.
const WRITES_EVERY: usize = 80;

#[test]
fn twenty_thousand_steps_against_an_adversary_escape_nowhere_and_tear_nothing() {
    race(20_000);
}

#[test]
#[ignore = "takes minutes: a million steps, for a release"]
fn a_million_steps_against_an_adversary_escape_nowhere_and_tear_nothing() {
    race(1_000_000);
}

fn race(steps: usize) {
    for way in WAYS {
        let ground = ground();
        let outside = outside(&ground);
        let (stop, swaps) = (AtomicBool::new(false), AtomicUsize::new(0));
        let told = thread::scope(|scope| {
            scope.spawn(|| {
                let mut random = fastrand::Rng::with_seed(7);
                while !stop.load(Ordering::Relaxed) {
                    swap(&ground, random.usize(..7));
                    swaps.fetch_add(1, Ordering::Relaxed);
                }
            });
            let writer = scope.spawn(|| worker(&ground, way, steps / WRITES_EVERY / 2, 11, write));
            let told = worker(&ground, way, steps / 2, 13, read);
            let wrote = writer.join();
            stop.store(true, Ordering::Relaxed);
            (told, wrote.expect("the writer ends"))
        });
        println!(
            "{way:?}: {} swaps; reads {:?}; writes {:?}",
            swaps.into_inner(),
            told.0,
            told.1
        );
        assert_eq!(self::outside(&ground), outside, "something outside changed");
        let (read, wrote) = told;
        // A race that always refuses or never does shows nothing.
        assert!(read["ok"] > 0 && read.len() > 1, "{read:?}");
        assert!(wrote["ok"] > 0, "{wrote:?}");
        // Nothing is mounted here: a folder that moves away is not taken for a mount.
        let mounts = [&read, &wrote].map(|told| told.get("mount-boundary"));
        assert_eq!(mounts, [None, None]);
        assert_eq!(leftovers(&ground), Vec::<PathBuf>::new());
    }
}

/// Names that the adversary swaps, each beside what it is swapped with.
fn ground() -> Ground {
    let ground = Ground::with(&[
        ("a/b/f.txt", &whole(1)),
        ("f.txt", &whole(2)),
        ("w.txt", &whole(3)),
        ("m/f.txt", &whole(4)),
    ]);
    fs::create_dir(ground.out("b")).expect("a folder");
    for name in ["b/f.txt", "b/n.txt", "secret.txt"] {
        fs::write(ground.out(name), OUTSIDE).expect("writes");
    }
    symlink(ground.out("b"), ground.work("a/l")).expect("links");
    symlink(ground.out("secret.txt"), ground.work("l.txt")).expect("links");
    let mode = rustix::fs::Mode::from_raw_mode(0o600);
    rustix::fs::mknodat(CWD, ground.work("p"), rustix::fs::FileType::Fifo, mode, 0)
        .expect("a FIFO");
    ground
}

/// One act of the adversary. Names may be gone for a moment: another act took them.
fn swap(ground: &Ground, act: usize) {
    let exchange = |one: &str, other: &str| {
        let flags = RenameFlags::EXCHANGE;
        rustix::fs::renameat_with(CWD, ground.work(one), CWD, ground.work(other), flags)
    };
    let _missed = match act {
        // A folder and a link to one outside.
        0 | 1 => exchange("a/b", "a/l").is_ok(),
        // A file and a link to one outside.
        2 => exchange("f.txt", "l.txt").is_ok(),
        // A file and a FIFO.
        3 => exchange("f.txt", "p").is_ok(),
        // A second name for a file outside, for a moment.
        4 => {
            let linked = fs::hard_link(ground.out("secret.txt"), ground.work("h.txt"));
            linked
                .and_then(|()| fs::remove_file(ground.work("h.txt")))
                .is_ok()
        }
        // Another writer, who replaces whole files.
        5 => {
            let number = u32::from(fastrand::u16(..));
            let fresh = ground.base().join("fresh");
            fs::write(&fresh, whole(number)).is_ok()
                && fs::rename(fresh, ground.work("w.txt")).is_ok()
        }
        // A folder that is elsewhere for a moment.
        _ => {
            let gone = ground.base().join("gone");
            fs::rename(ground.work("m"), &gone)
                .and_then(|()| fs::rename(gone, ground.work("m")))
                .is_ok()
        }
    };
    // Any reader, not only ours, finds whole files.
    if act == 5 {
        let text = fs::read_to_string(ground.work("w.txt")).expect("it always stands");
        assert!(is_whole(&text), "a torn file");
    }
}

type Act = fn(&Root, &mut fastrand::Rng) -> Result<Vec<String>, Refusal>;

/// Does one act again and again, judges what it shows, and counts the outcomes.
fn worker(
    ground: &Ground,
    way: Way,
    steps: usize,
    seed: u64,
    act: Act,
) -> BTreeMap<&'static str, usize> {
    let root = ground.root(way);
    let mut random = fastrand::Rng::with_seed(seed);
    let mut told = BTreeMap::new();
    for _ in 0..steps {
        let code = match act(&root, &mut random) {
            Ok(texts) => {
                for text in texts {
                    assert!(!text.contains("OUTSIDE"), "an escape by {way:?}");
                    assert!(
                        is_whole(&text),
                        "a torn file by {way:?}: {} bytes",
                        text.len()
                    );
                }
                "ok"
            }
            Err(refusal) => refusal.code(),
        };
        *told.entry(code).or_default() += 1;
    }
    told
}

fn path(text: &str) -> RelPath {
    RelPath::parse(text).expect("a path")
}

fn read(root: &Root, random: &mut fastrand::Rng) -> Result<Vec<String>, Refusal> {
    let names = [
        "a/b/f.txt",
        "f.txt",
        "l.txt",
        "w.txt",
        "h.txt",
        "m/f.txt",
        "a/l/f.txt",
    ];
    match random.usize(..32) {
        0 => {
            let (all, never) = (RelPath::root(), AtomicBool::new(false));
            let query = Query {
                pattern: Pattern::Literal("OUTSIDE"),
                glob: None,
                path: &all,
            };
            let found = root.search(&query, &SearchBounds::default(), &never)?;
            Ok(found.hits.into_iter().map(|hit| hit.text).collect())
        }
        1 => {
            let listing = root.list(&path("a/b"), 10)?;
            assert!(
                listing
                    .entries
                    .iter()
                    .all(|entry| entry.name != "secret.txt")
            );
            Ok(Vec::new())
        }
        _ => {
            let name = names[random.usize(..names.len())];
            root.read_text(&path(name), LIMIT)
                .map(|text| vec![text.into_string()])
        }
    }
}

fn write(root: &Root, random: &mut fastrand::Rng) -> Result<Vec<String>, Refusal> {
    let number = random.u32(1..60_000);
    let names = [
        "a/b/f.txt",
        "a/b/n.txt",
        "f.txt",
        "w.txt",
        "w.txt",
        "m/f.txt",
        "m/n.txt",
    ];
    let path = path(names[random.usize(..names.len())]);
    let prepared = if random.bool() {
        root.prepare_write(&path, &whole(number), LIMIT)?
    } else {
        // The number stands at the end and, with a word before it, only there.
        let text = root.read_text(&path, LIMIT)?.into_string();
        let old = text.rsplit(' ').next().unwrap_or_default();
        let old = format!(" end {old}");
        root.prepare_edit(&path, &old, &format!("{old}."), LIMIT)?
    };
    root.publish(prepared).map(|_| Vec::new())
}

/// A text that says itself how long it is; edits add dots to its end.
fn whole(number: u32) -> String {
    let length = usize::try_from(number % 30_000).expect("fits") + 1;
    format!("{number} {} end {number}", "x".repeat(length))
}

fn is_whole(text: &str) -> bool {
    let number = text
        .split(' ')
        .next()
        .and_then(|number| number.parse().ok());
    number.is_some_and(|number| text.trim_end_matches('.') == whole(number))
}

/// Every file outside with its content.
fn outside(ground: &Ground) -> BTreeMap<PathBuf, Vec<u8>> {
    ["", "b"]
        .iter()
        .flat_map(|folder| fs::read_dir(ground.out(folder)).expect("lists").flatten())
        .map(|entry| (entry.path(), fs::read(entry.path()).unwrap_or_default()))
        .collect()
}

/// Temporary files of ours.
fn leftovers(ground: &Ground) -> Vec<PathBuf> {
    ["", "a", "a/b", "a/l", "m"]
        .iter()
        .flat_map(|folder| {
            fs::read_dir(ground.work(folder))
                .into_iter()
                .flatten()
                .flatten()
        })
        .map(|entry| entry.path())
        .filter(|path| path.to_string_lossy().ends_with(".tmp"))
        .collect()
}

#[test]
fn a_second_name_that_comes_and_goes_never_shows_the_file_outside() {
    second_name(10_000);
}

#[test]
#[ignore = "takes minutes: a million reads and as many searches, for a release"]
fn a_second_name_that_comes_and_goes_a_million_times_never_shows_the_file_outside() {
    second_name(1_000_000);
}

/// A file outside has one name again once its name inside is gone, and may be open by then.
fn second_name(steps: usize) {
    for way in WAYS {
        let ground = ground();
        let (secret, name) = (ground.out("secret.txt"), ground.work("h.txt"));
        let stop = AtomicBool::new(false);
        thread::scope(|scope| {
            scope.spawn(|| {
                while !stop.load(Ordering::Relaxed) {
                    let _missed =
                        fs::hard_link(&secret, &name).and_then(|()| fs::remove_file(&name));
                }
            });
            let root = ground.root(way);
            let (path, all, never) = (path("h.txt"), RelPath::root(), AtomicBool::new(false));
            let query = Query {
                pattern: Pattern::Literal("OUTSIDE"),
                glob: None,
                path: &all,
            };
            let mut escapes = (0, 0);
            for _ in 0..steps / 2 {
                let read = root.read_text(&path, LIMIT);
                escapes.0 += usize::from(read.is_ok());
                let found = root.search(&query, &SearchBounds::default(), &never);
                escapes.1 += found.map_or(0, |found| found.hits.len());
            }
            stop.store(true, Ordering::Relaxed);
            assert_eq!(escapes, (0, 0), "reads and searches by {way:?}");
        });
    }
}
