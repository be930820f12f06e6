use crate::ground::{Ground, WAYS};
use guildhall_confine::{End, EntryKind, Reach, Refusal, RelPath};
use std::{fs, os::unix::ffi::OsStrExt};

#[test]
fn the_first_names_are_shown_in_order_with_the_count_of_all() {
    let ground = Ground::new();
    for number in (0..300).rev() {
        ground.put(&format!("many/f{number:03}"), "");
    }
    ground.put("many/.hidden", "");
    for way in WAYS {
        let root = ground.root(way);
        let listing = root
            .list(&RelPath::parse("many").expect("a path"), 200)
            .expect("lists");
        let names: Vec<String> = listing.entries.iter().map(ToString::to_string).collect();
        let want: Vec<String> = (0..200).map(|number| format!("f{number:03}")).collect();
        assert_eq!(names, want);
        assert_eq!(
            (listing.total, listing.withheld, listing.end),
            (300, 0, End::Reached)
        );
        assert_eq!(root.list(&RelPath::root(), 0).expect("lists").entries, []);
    }
}

#[test]
fn each_kind_of_entry_is_named_and_no_target_of_a_link_is() {
    let ground = Ground::with(&[("a.txt", ""), ("folder/x", "")]);
    std::os::unix::fs::symlink(ground.out("secret"), ground.work("l")).expect("links");
    let _socket = std::os::unix::net::UnixListener::bind(ground.work("s")).expect("a socket");
    fs::write(
        ground
            .work("")
            .join(std::ffi::OsStr::from_bytes(b"bad\xff")),
        "",
    )
    .expect("writes");
    let listing = ground
        .root(WAYS[0])
        .list(&RelPath::root(), 200)
        .expect("lists");
    let shown: Vec<String> = listing.entries.iter().map(ToString::to_string).collect();
    let want = [
        "a.txt",
        "bad\\xff (cannot be opened)",
        "folder/",
        "l (link)",
        "s (special)",
    ];
    assert_eq!(shown, want);
    assert_eq!(listing.entries[1].reach, Reach::Closed);
    assert_eq!(listing.entries[3].kind, EntryKind::Link);
}

#[test]
fn a_name_with_the_shape_of_a_credential_is_withheld_and_counted() {
    let token = ["gh", "p_", "aB3dE5gH7jK9mN1pQ3rS5tU7vW9xY1zA3bC5"].concat();
    let ground = Ground::with(&[("a", ""), (&token, "")]);
    let root = ground.root(WAYS[0]);
    let listing = root.list(&RelPath::root(), 200).expect("lists");
    assert_eq!(
        (listing.entries.len(), listing.total, listing.withheld),
        (1, 2, 1)
    );
    let path = RelPath::parse(&token).expect("a path");
    let limit = guildhall_confine::FileLimit::bytes(100);
    let done = root.prepare_write(&path, "x", limit).map(drop);
    assert!(matches!(done, Err(Refusal::SecretShape(_))), "{done:?}");
}

#[test]
fn a_refusal_never_shows_a_path_or_what_the_system_says() {
    let ground = Ground::with(&[("a.txt", "x")]);
    let root = ground.root(WAYS[0]);
    for path in ["missing", "a.txt/x", "a.txt"] {
        let path = RelPath::parse(path).expect("a path");
        let refusal = root.list(&path, 9).expect_err("not a folder");
        let text = format!("{refusal} {refusal:?} {root:?}");
        assert!(
            !text.contains("confine-") && !text.contains("os error"),
            "{text}"
        );
    }
}
