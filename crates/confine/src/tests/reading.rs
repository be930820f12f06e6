//! What another process does while a file is read.

use super::scene::Scene;
use crate::{
    Access, FileLimit, Refusal, RelPath, Way,
    moment::{self, Moment},
};
use std::{fs, path::Path, rc::Rc};

type Act = fn(&Path, &Path);

/// At which moment, what is done with the file and a place outside, and what the read says.
const CASES: [(&str, Moment, Act, Result<&str, Refusal>); 9] = [
    ("nothing", Moment::Opened, |_, _| {}, Ok("INSIDE")),
    (
        "taken outside",
        Moment::Opened,
        move_out,
        Err(Refusal::ChangedSinceRead),
    ),
    (
        "taken outside, later",
        Moment::Looked,
        move_out,
        Err(Refusal::ChangedSinceRead),
    ),
    (
        "named outside",
        Moment::Opened,
        name_outside,
        Err(Refusal::HardLink),
    ),
    (
        "named outside, later",
        Moment::Looked,
        name_outside,
        Err(Refusal::HardLink),
    ),
    (
        "named outside for a moment",
        Moment::Looked,
        name_for_a_moment,
        Err(Refusal::ChangedSinceRead),
    ),
    (
        "its inside name lost",
        Moment::Opened,
        lose_the_name_inside,
        Err(Refusal::ChangedSinceRead),
    ),
    (
        "rewritten",
        Moment::Looked,
        rewrite,
        Err(Refusal::ChangedSinceRead),
    ),
    (
        "replaced",
        Moment::Looked,
        replace,
        Err(Refusal::ChangedSinceRead),
    ),
];

fn move_out(file: &Path, outside: &Path) {
    fs::rename(file, outside).expect("moves");
}

fn name_outside(file: &Path, outside: &Path) {
    fs::hard_link(file, outside).expect("links");
}

fn name_for_a_moment(file: &Path, outside: &Path) {
    name_outside(file, outside);
    fs::remove_file(outside).expect("removes");
}

/// What an adversary does with a file outside that he gave a name inside: one name is left.
fn lose_the_name_inside(file: &Path, outside: &Path) {
    name_outside(file, outside);
    fs::remove_file(file).expect("removes");
}

fn rewrite(file: &Path, _: &Path) {
    fs::write(file, "inside").expect("writes");
}

fn replace(file: &Path, outside: &Path) {
    fs::write(outside, "OTHERS").expect("writes");
    fs::rename(outside, file).expect("moves");
}

#[test]
fn a_file_that_changes_or_moves_under_a_read_is_not_shown() {
    for way in [Way::Openat2, Way::Steps] {
        for (name, at, act, want) in CASES {
            let scene = Rc::new(Scene::new());
            let (file, outside) = (scene.place("work", "f.txt"), scene.place("work", "@out/f"));
            fs::write(&file, "INSIDE").expect("writes");
            let root = scene.root("work", Access::Write, way);
            let path = RelPath::parse("f.txt").expect("a path");
            let acting = move |moment| {
                if moment == at {
                    act(&file, &outside);
                }
                Ok(())
            };
            let read = || root.read_text(&path, FileLimit::bytes(100));
            let done = moment::during(acting, read);
            assert_eq!(
                done.map(|text| text.into_string()),
                want.map(str::to_owned),
                "{name} {way:?}"
            );
        }
    }
}
