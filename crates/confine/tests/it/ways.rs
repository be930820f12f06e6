//! The kernel's own confinement and single steps give the same answers on any tree.

use crate::ground::{Ground, WAYS};
use guildhall_confine::{FileLimit, RelPath, Root, Way};
use proptest::prelude::*;
use std::{fs, os::unix::fs::symlink};

const LIMIT: FileLimit = FileLimit::bytes(64);

/// Something that another process puts at a path.
#[derive(Clone, Debug)]
enum Thing {
    File(&'static str),
    Folder,
    Link(&'static str),
    SecondName(String),
    Fifo,
    /// Mode bits that a plain user feels and root does not.
    Mode(u32),
}

fn name() -> impl Strategy<Value = String> {
    prop::collection::vec(prop::sample::select(vec!["a", "b", "c"]), 1..5)
        .prop_map(|names| names.join("/"))
}

fn thing() -> impl Strategy<Value = Thing> {
    let targets = vec![
        "a",
        "b",
        "..",
        "../out",
        "/etc",
        "a/b",
        ".",
        "c/c",
        "/proc/self/root",
    ];
    prop_oneof![
        4 => Just(Thing::Folder),
        3 => prop::sample::select(vec!["", "text", "x"]).prop_map(Thing::File),
        2 => prop::sample::select(targets).prop_map(Thing::Link),
        1 => name().prop_map(Thing::SecondName),
        1 => Just(Thing::Fifo),
        1 => prop::sample::select(vec![0o000, 0o444, 0o700]).prop_map(Thing::Mode),
    ]
}

/// Puts what can be put; what cannot is left out.
fn put(ground: &Ground, path: &str, thing: &Thing) {
    use std::os::unix::fs::PermissionsExt;
    let place = ground.work(path);
    let _left_out = match thing {
        Thing::File(text) => place.symlink_metadata().is_err() && fs::write(&place, text).is_ok(),
        Thing::Folder => fs::create_dir(&place).is_ok(),
        Thing::Link(target) => symlink(target, &place).is_ok(),
        Thing::SecondName(other) => fs::hard_link(ground.work(other), &place).is_ok(),
        Thing::Fifo => {
            let (kind, mode) = (
                rustix::fs::FileType::Fifo,
                rustix::fs::Mode::from_raw_mode(0o600),
            );
            rustix::fs::mknodat(rustix::fs::CWD, &place, kind, mode, 0).is_ok()
        }
        Thing::Mode(bits) => {
            let plain = place.symlink_metadata().is_ok_and(|facts| facts.is_file());
            plain && fs::set_permissions(&place, fs::Permissions::from_mode(*bits)).is_ok()
        }
    };
}

/// Every answer of one root about a path.
fn answers(root: &Root, path: &RelPath) -> [String; 5] {
    let code = |refusal: guildhall_confine::Refusal| refusal.code().to_owned();
    let read = root.read_text(path, LIMIT);
    let list = root.list(path, 10);
    let write = root.prepare_write(path, "new", LIMIT);
    let create = root.prepare_create(path, "new", LIMIT);
    let edit = root.prepare_edit(path, "x", "y", LIMIT);
    [
        read.map_or_else(code, |text| format!("text {}", text.as_str())),
        list.map_or_else(code, |listing| format!("{listing:?}")),
        write.map_or_else(code, |prepared| {
            format!("{prepared:?} {:?}", prepared.text_before())
        }),
        create.map_or_else(code, |prepared| format!("{prepared:?}")),
        edit.map_or_else(code, |prepared| prepared.text_after().to_owned()),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn both_ways_give_the_same_answer_about_every_path_of_any_tree(
        things in prop::collection::vec((name(), thing()), 1..24),
        paths in prop::collection::vec(name(), 24),
    ) {
        let ground = Ground::new();
        for (path, thing) in &things {
            put(&ground, path, thing);
        }
        let [by_kernel, by_steps] = WAYS.map(|way| ground.root(way));
        let made = things.iter().map(|(path, _)| path);
        for path in paths.iter().chain(made) {
            let path = RelPath::parse(path).expect("a path");
            prop_assert_eq!(answers(&by_kernel, &path), answers(&by_steps, &path), "{}", path);
        }
    }
}

#[test]
fn this_machine_has_the_kernels_own_way() {
    // Where it has not, the test above compares a way with itself, and this tells.
    assert_eq!(Way::available(), Way::Openat2);
}
