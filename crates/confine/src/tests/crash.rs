//! The process dies inside a publication: what is found afterwards is the old file or the new one,
//! and the next start takes away what was left.

use super::scene::Scene;
use crate::{
    Access, FileLimit, RelPath, Root, WalkBounds, Way,
    moment::{self, Moment},
};
use std::{env, fs, os::unix::process::ExitStatusExt, path::Path, process::Command};

const LIMIT: FileLimit = FileLimit::bytes(4096);
const VARIABLES: [&str; 4] = [
    "CONFINE_ROOT",
    "CONFINE_PATH",
    "CONFINE_TEXT",
    "CONFINE_MOMENT",
];

/// Every moment of a publication, and whether the new text must stand after a death in it.
const MOMENTS: [(Moment, Option<&str>); 5] = [
    (Moment::Staged, Some("old")),
    (Moment::LastCheck, Some("old")),
    (Moment::Exchange, Some("old")),
    (Moment::PublishNew, None),
    (Moment::Published, Some("new")),
];

#[test]
fn a_death_leaves_the_old_text_or_the_new_one_and_nothing_else() {
    for (moment, want) in MOMENTS {
        for there in [true, false] {
            // A moment that is not passed is no death.
            let passed = match moment {
                Moment::Exchange => there,
                Moment::PublishNew => !there,
                _ => true,
            };
            if !passed {
                continue;
            }
            let scene = Scene::new();
            let file = scene.place("work", "f.txt");
            if there {
                fs::write(&file, "old").expect("writes");
            }
            write_in_a_child(
                &scene.place("work", ""),
                "f.txt",
                "new",
                &format!("{moment:?}"),
            );
            let text = fs::read_to_string(&file).ok();
            let absent = moment != Moment::Published && !there;
            let want = if absent { None } else { want };
            assert_eq!(text.as_deref(), want, "{moment:?}, there: {there}");

            let root = scene.root("work", Access::Write, Way::available());
            // At once, as by a process that starts before the clock of the file system has ticked.
            let swept = root.sweep(0, WalkBounds::default()).expect("sweeps");
            // The staged file, or the one that it displaced.
            let left = usize::from(moment != Moment::Published || there);
            assert_eq!(
                (swept.removed, swept.cut),
                (left, None),
                "{moment:?}, there: {there}"
            );
            let names: Vec<_> = fs::read_dir(scene.place("work", ""))
                .expect("lists")
                .collect();
            assert_eq!(names.len(), usize::from(text.is_some()), "{moment:?}");
        }
    }
}

#[test]
fn a_sweep_leaves_what_somebody_works_on() {
    for (at, there) in [
        (Moment::Staged, true),
        (Moment::Staged, false),
        (Moment::LastCheck, true),
        (Moment::Published, true),
    ] {
        let scene = Scene::new();
        let file = scene.place("work", "f.txt");
        if there {
            fs::write(&file, "old").expect("writes");
        }
        let root = scene.root("work", Access::Write, Way::available());
        let other = scene.root("work", Access::Write, Way::available());
        let path = RelPath::parse("f.txt").expect("a path");
        let prepared = root.prepare_write(&path, "new", LIMIT).expect("prepares");
        let seen = std::rc::Rc::new(std::cell::Cell::new(None));
        let found = std::rc::Rc::clone(&seen);
        let act = move |moment: Moment| {
            if moment == at {
                // As a process that starts much later than the file was written.
                let swept = other.sweep(i64::MAX, WalkBounds::default());
                found.set(Some(swept.expect("sweeps").removed));
            }
            Ok(())
        };
        let done = moment::during(act, || root.publish(prepared));
        assert!(done.is_ok(), "{at:?}: {done:?}");
        assert_eq!(seen.get(), Some(0), "{at:?}, there: {there}");
        assert_eq!(fs::read_to_string(&file).ok().as_deref(), Some("new"));
        let names = fs::read_dir(scene.place("work", "")).expect("lists");
        assert_eq!(names.count(), 1, "{at:?}");
    }
}

/// Writes a file in another process, which dies at `moment`.
pub(super) fn write_in_a_child(root: &Path, path: &str, text: &str, moment: &str) {
    let values = [
        root.as_os_str(),
        path.as_ref(),
        text.as_ref(),
        moment.as_ref(),
    ];
    let done = Command::new(env::current_exe().expect("this test"))
        .args(["tests::crash::child", "--exact", "--ignored", "--nocapture"])
        .envs(VARIABLES.iter().zip(values))
        .output()
        .expect("the child starts");
    let killed = rustix::process::Signal::KILL.as_raw();
    assert_eq!(
        done.status.signal(),
        Some(killed),
        "{}",
        String::from_utf8_lossy(&done.stdout)
    );
}

#[test]
#[ignore = "the process that dies; its parent starts it"]
fn child() {
    let [root, path, text, at] = VARIABLES.map(|name| env::var(name).expect("set by the parent"));
    let root = Root::open_ambient(Path::new(&root), Access::Write).expect("a root");
    let path = RelPath::parse(&path).expect("a path");
    let prepared = root.prepare_write(&path, &text, LIMIT).expect("prepares");
    let act = move |moment: Moment| {
        if format!("{moment:?}") == at {
            let me = rustix::process::getpid();
            rustix::process::kill_process(me, rustix::process::Signal::KILL).expect("dies");
        }
        Ok(())
    };
    let lived = moment::during(act, || root.publish(prepared));
    panic!("still here: {lived:?}");
}
