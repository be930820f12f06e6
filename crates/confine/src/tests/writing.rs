//! What another process does in the last interval before a publication, and file systems that lack
//! a call.

use super::scene::Scene;
use crate::{
    Access, FileLimit, How, Prepared, Published, Refusal, RelPath, Root, Trouble, Way,
    moment::{self, Moment},
};
use rustix::{fs::XattrFlags, io::Errno};
use std::{
    cell::RefCell,
    collections::BTreeMap,
    fs,
    os::unix::fs::{MetadataExt, PermissionsExt, symlink},
    path::{Path, PathBuf},
    rc::Rc,
};

const LIMIT: FileLimit = FileLimit::bytes(4096);

/// A root with `d/f.txt`, which holds `old`, and a change of it to `new`.
struct Stage {
    scene: Rc<Scene>,
    root: Root,
}

impl Stage {
    fn new() -> Self {
        let scene = Scene::new();
        fs::create_dir(scene.place("work", "d")).expect("a folder");
        fs::write(scene.place("work", "d/f.txt"), "old").expect("writes");
        let root = scene.root("work", Access::Write, Way::available());
        Self {
            scene: Rc::new(scene),
            root,
        }
    }

    fn place(&self, path: &str) -> PathBuf {
        self.scene.place("work", path)
    }

    fn prepared(&self, path: &str) -> Prepared {
        let path = RelPath::parse(path).expect("a path");
        self.root
            .prepare_write(&path, "new", LIMIT)
            .expect("prepares")
    }

    /// Publishes a change of `path` while `act` happens once at `at`, and tells which files were
    /// there right after it.
    fn publish_while(
        &self,
        path: &str,
        at: Moment,
        act: impl Fn(&Scene) + 'static,
    ) -> (Result<Published, Refusal>, BTreeMap<PathBuf, String>) {
        let prepared = self.prepared(path);
        let seen = Rc::new(RefCell::new(None));
        let (scene, note) = (Rc::clone(&self.scene), Rc::clone(&seen));
        let done = moment::during(
            move |moment| {
                if moment == at && note.borrow().is_none() {
                    act(&scene);
                    *note.borrow_mut() = Some(without_temporaries(scene.snapshot()));
                }
                Ok(())
            },
            || self.root.publish(prepared),
        );
        let seen = seen.borrow_mut().take().expect("the moment was passed");
        (done, seen)
    }

    fn publish_failing(
        &self,
        path: &str,
        failing: &'static [(Moment, Errno)],
    ) -> Result<Published, Refusal> {
        let prepared = self.prepared(path);
        let act = move |moment| {
            let fails = failing.iter().find(|(at, _)| *at == moment);
            fails.map_or(Ok(()), |(_, errno)| Err(*errno))
        };
        moment::during(act, || self.root.publish(prepared))
    }
}

fn without_temporaries(mut files: BTreeMap<PathBuf, String>) -> BTreeMap<PathBuf, String> {
    files.retain(|path, _| !path.to_string_lossy().contains(".guildhall-"));
    files
}

fn put(place: &Path, text: &str) {
    fs::write(place, text).expect("writes");
}

type Act = fn(&Scene);

#[test]
#[expect(clippy::too_many_lines, reason = "one table")]
fn what_another_writer_did_in_the_last_interval_stands_and_is_named() {
    let cases: &[(&str, Act, Refusal)] = &[
        (
            "rewritten",
            |s| put(&s.place("work", "d/f.txt"), "theirs"),
            Refusal::ChangedSinceRead,
        ),
        (
            "of equal length",
            |s| put(&s.place("work", "d/f.txt"), "OLD"),
            Refusal::ChangedSinceRead,
        ),
        (
            "another file",
            |s| {
                put(&s.place("work", "d/g.txt"), "theirs");
                fs::rename(s.place("work", "d/g.txt"), s.place("work", "d/f.txt")).expect("moves");
            },
            Refusal::ChangedSinceRead,
        ),
        (
            "removed",
            |s| fs::remove_file(s.place("work", "d/f.txt")).expect("removes"),
            Refusal::ChangedSinceRead,
        ),
        (
            "a link",
            |s| {
                put(&s.place("work", "@out/secret"), "outside");
                fs::remove_file(s.place("work", "d/f.txt")).expect("removes");
                symlink(s.place("work", "@out/secret"), s.place("work", "d/f.txt")).expect("links");
            },
            Refusal::Symlink,
        ),
        (
            "a folder",
            |s| {
                fs::remove_file(s.place("work", "d/f.txt")).expect("removes");
                fs::create_dir(s.place("work", "d/f.txt")).expect("a folder");
                put(&s.place("work", "d/f.txt/inner"), "theirs");
            },
            Refusal::NotRegular,
        ),
        (
            "another mode",
            |s| {
                let mode = fs::Permissions::from_mode(0o755);
                fs::set_permissions(s.place("work", "d/f.txt"), mode).expect("sets");
            },
            Refusal::ChangedSinceRead,
        ),
        (
            "a second name",
            |s| {
                fs::hard_link(s.place("work", "d/f.txt"), s.place("work", "@out/f"))
                    .expect("links");
            },
            Refusal::HardLink,
        ),
        (
            "larger than the limit",
            |s| put(&s.place("work", "d/f.txt"), &"x".repeat(9000)),
            Refusal::ChangedSinceRead,
        ),
        (
            "folder moved out",
            |s| {
                fs::rename(s.place("work", "d"), s.place("work", "@out/d")).expect("moves");
            },
            Refusal::ParentMoved,
        ),
        (
            "root replaced",
            |s| {
                fs::rename(s.place("work", ""), s.place("work", "@was")).expect("moves");
                fs::create_dir(s.place("work", "")).expect("a folder");
            },
            Refusal::RootReplaced,
        ),
    ];
    for (name, act, want) in cases {
        let stage = Stage::new();
        let (done, there) = stage.publish_while("d/f.txt", Moment::Exchange, act);
        assert_eq!(done, Err(*want), "{name}");
        assert_eq!(stage.scene.snapshot(), there, "{name}");
    }
}

#[test]
fn what_appears_in_the_place_of_a_new_file_stands_and_is_named() {
    let cases: &[(&str, Act, Refusal)] = &[
        (
            "a file",
            |s| put(&s.place("work", "d/n.txt"), "theirs"),
            Refusal::Exists,
        ),
        (
            "a link",
            |s| {
                symlink(s.place("work", "@out/n"), s.place("work", "d/n.txt")).expect("links");
            },
            Refusal::Exists,
        ),
        (
            "a folder",
            |s| fs::create_dir(s.place("work", "d/n.txt")).expect("a folder"),
            Refusal::Exists,
        ),
        (
            "folder moved out",
            |s| {
                fs::rename(s.place("work", "d"), s.place("work", "@out/d")).expect("moves");
            },
            Refusal::ParentMoved,
        ),
        (
            "folder behind a link",
            |s| {
                fs::rename(s.place("work", "d"), s.place("work", "@out/d")).expect("moves");
                symlink(s.place("work", "@out/d"), s.place("work", "d")).expect("links");
            },
            Refusal::Symlink,
        ),
    ];
    for (name, act, want) in cases {
        let stage = Stage::new();
        let (done, there) = stage.publish_while("d/n.txt", Moment::PublishNew, act);
        assert_eq!(done, Err(*want), "{name}");
        assert_eq!(stage.scene.snapshot(), there, "{name}");
    }
}

#[test]
fn a_file_system_without_a_call_is_served_by_the_next_one() {
    use Moment::{Exchange, PublishByLink, PublishNew, Rename};
    type Case = (
        &'static str,
        &'static [(Moment, Errno)],
        Result<How, Refusal>,
    );
    let unsupported = Err(Refusal::Io(Trouble::Unsupported));
    let cases: &[Case] = &[
        ("d/n.txt", &[], Ok(How::Checked)),
        ("d/n.txt", &[(PublishNew, Errno::INVAL)], Ok(How::Checked)),
        (
            "d/n.txt",
            &[(PublishNew, Errno::INVAL), (PublishByLink, Errno::PERM)],
            unsupported,
        ),
        (
            "d/n.txt",
            &[(PublishNew, Errno::NOSPC)],
            Err(Refusal::Io(Trouble::NoSpace)),
        ),
        ("d/f.txt", &[], Ok(How::Checked)),
        ("d/f.txt", &[(Exchange, Errno::INVAL)], Ok(How::Unchecked)),
        (
            "d/f.txt",
            &[(Exchange, Errno::NOSYS), (Rename, Errno::ROFS)],
            Err(Refusal::Io(Trouble::ReadOnly)),
        ),
        (
            "d/f.txt",
            &[(Exchange, Errno::ACCESS)],
            Err(Refusal::Io(Trouble::NoAccess)),
        ),
    ];
    for (path, failing, want) in cases {
        let stage = Stage::new();
        let before = stage.scene.snapshot();
        let done = stage.publish_failing(path, failing);
        assert_eq!(
            done.map(|published| published.how),
            *want,
            "{path} {failing:?}"
        );
        let after = stage.scene.snapshot();
        if want.is_ok() {
            assert_eq!(
                fs::read(stage.place(path)).expect("there"),
                b"new",
                "{path} {failing:?}"
            );
            let facts = fs::metadata(stage.place(path)).expect("there");
            assert_eq!(facts.nlink(), 1);
        } else {
            assert_eq!(before, after, "{path} {failing:?}");
        }
        assert_eq!(
            after,
            without_temporaries(after.clone()),
            "a temporary file is left"
        );
    }
}

#[test]
fn what_changed_while_the_file_was_staged_is_seen_before_it_is_named() {
    // Without exchange nothing is displaced that could tell: the second look has to.
    let cases: &[(&str, Act, Refusal)] = &[
        (
            "rewritten",
            |s| put(&s.place("work", "d/f.txt"), "theirs"),
            Refusal::ChangedSinceRead,
        ),
        (
            "another mode",
            |s| {
                let mode = fs::Permissions::from_mode(0o755);
                fs::set_permissions(s.place("work", "d/f.txt"), mode).expect("sets");
            },
            Refusal::ChangedSinceRead,
        ),
        (
            "folder moved out",
            |s| fs::rename(s.place("work", "d"), s.place("work", "@out/d")).expect("moves"),
            Refusal::ParentMoved,
        ),
    ];
    for (name, act, want) in cases {
        let stage = Stage::new();
        let prepared = stage.prepared("d/f.txt");
        let (scene, act) = (Rc::clone(&stage.scene), *act);
        let failing = move |moment| match moment {
            Moment::Staged => {
                act(&scene);
                Ok(())
            }
            Moment::Exchange => Err(Errno::INVAL),
            _ => Ok(()),
        };
        let done = moment::during(failing, || stage.root.publish(prepared));
        assert_eq!(done, Err(*want), "{name}");
        let after = stage.scene.snapshot();
        assert_eq!(after, without_temporaries(after.clone()), "{name}");
        let here = [stage.place("d/f.txt"), stage.place("@out/d/f.txt")];
        let text = here.iter().find_map(|place| fs::read(place).ok());
        assert_ne!(text.as_deref(), Some(&b"new"[..]), "{name}");
    }
}

#[test]
fn a_link_in_place_of_a_missing_call_still_never_replaces() {
    let stage = Stage::new();
    let prepared = stage.prepared("d/n.txt");
    let place = stage.place("d/n.txt");
    let act = move |moment| match moment {
        Moment::PublishNew => Err(Errno::INVAL),
        Moment::PublishByLink => {
            put(&place, "theirs");
            Ok(())
        }
        _ => Ok(()),
    };
    let done = moment::during(act, || stage.root.publish(prepared));
    assert_eq!(done, Err(Refusal::Exists));
    assert_eq!(fs::read(stage.place("d/n.txt")).expect("there"), b"theirs");
}

#[test]
fn a_folder_that_may_not_be_synced_leaves_the_outcome_unknown() {
    let stage = Stage::new();
    let done = stage.publish_failing("d/f.txt", &[(Moment::Published, Errno::IO)]);
    assert_eq!(done, Err(Refusal::OutcomeUnknown));
}

#[test]
fn a_change_that_is_dropped_changes_nothing() {
    let stage = Stage::new();
    let before = stage.scene.snapshot();
    drop(stage.prepared("d/f.txt"));
    drop(stage.prepared("d/n.txt"));
    assert_eq!(stage.scene.snapshot(), before);
}

#[test]
fn a_change_is_bound_to_the_root_that_it_was_prepared_in() {
    let (stage, other) = (Stage::new(), Stage::new());
    let before = other.scene.snapshot();
    assert_eq!(
        other.root.publish(stage.prepared("d/f.txt")),
        Err(Refusal::RootReplaced)
    );
    assert_eq!(other.scene.snapshot(), before);
}

#[test]
fn the_second_of_two_prepared_changes_meets_the_first() {
    let stage = Stage::new();
    let (one, two) = (stage.prepared("d/f.txt"), stage.prepared("d/f.txt"));
    assert!(stage.root.publish(one).is_ok());
    assert_eq!(stage.root.publish(two), Err(Refusal::ChangedSinceRead));
    let (one, two) = (stage.prepared("d/n.txt"), stage.prepared("d/n.txt"));
    assert!(stage.root.publish(one).is_ok());
    assert_eq!(stage.root.publish(two), Err(Refusal::Exists));
}

#[test]
fn what_is_kept_beside_the_bytes_survives_or_refuses() {
    let stage = Stage::new();
    let place = stage.place("d/f.txt");
    let file = fs::File::open(&place).expect("opens");
    let note = rustix::fs::fsetxattr(&file, c"user.note", b"kept", XattrFlags::empty());
    assert!(stage.root.publish(stage.prepared("d/f.txt")).is_ok());
    // Not every file system has attributes.
    if note.is_ok() {
        let mut value = [0_u8; 16];
        let length = rustix::fs::getxattr(&place, c"user.note", &mut value).expect("kept");
        assert_eq!(&value[..length], b"kept");
    }

    // Version 2, then owner, user 1, group, mask, others: tag, permissions, id.
    let mut list = vec![2, 0, 0, 0];
    for (tag, id) in [
        (1_u16, u32::MAX),
        (2, 1),
        (4, u32::MAX),
        (16, u32::MAX),
        (32, u32::MAX),
    ] {
        list.extend(tag.to_le_bytes());
        list.extend(4_u16.to_le_bytes());
        list.extend(id.to_le_bytes());
    }
    let set = rustix::fs::setxattr(
        &place,
        c"system.posix_acl_access",
        &list,
        XattrFlags::empty(),
    );
    if set.is_ok() {
        let mode = fs::Permissions::from_mode(0o644);
        fs::set_permissions(&place, mode).expect("sets");
        let done = stage.root.publish(stage.prepared("d/f.txt"));
        assert_eq!(done, Err(Refusal::SpecialAttributes));
    }
}

#[test]
fn an_owner_is_kept_where_the_process_may_and_refused_where_not() {
    let stage = Stage::new();
    let place = stage.place("d/f.txt");
    if std::os::unix::fs::chown(&place, Some(12_345), Some(12_345)).is_err() {
        // A plain user cannot give a file away, and so cannot be in this place.
        return;
    }
    assert!(stage.root.publish(stage.prepared("d/f.txt")).is_ok());
    let facts = fs::metadata(&place).expect("there");
    assert_eq!(
        (facts.uid(), facts.gid(), facts.mode() & 0o7777),
        (12_345, 12_345, 0o644)
    );
}

#[test]
fn what_a_tool_may_not_show_is_bound_by_its_digest_alone() {
    let stage = Stage::new();
    let token = ["gh", "p_", "aB3dE5gH7jK9mN1pQ3rS5tU7vW9xY1zA3bC5"].concat();
    let cases = [
        ("text", b"plain".to_vec(), true),
        ("token", token.into_bytes(), false),
        ("bytes", vec![0, 255], false),
    ];
    for (name, bytes, shown) in cases {
        fs::write(stage.place("d/f.txt"), &bytes).expect("writes");
        let prepared = stage.prepared("d/f.txt");
        assert_eq!(prepared.text_before().is_some(), shown, "{name}");
        assert_eq!(
            prepared.digest_before(),
            Some(crate::prepare::digest(&bytes)),
            "{name}"
        );
        assert!(stage.root.publish(prepared).is_ok(), "{name}");
    }
}

#[test]
fn a_temporary_file_with_a_second_name_is_not_published() {
    for path in ["d/f.txt", "d/n.txt"] {
        let stage = Stage::new();
        let (done, there) = stage.publish_while(path, Moment::Staged, |scene| {
            let mut names = fs::read_dir(scene.place("work", "d"))
                .expect("lists")
                .flatten();
            let staged = names.find(|name| name.file_name().to_string_lossy().ends_with(".tmp"));
            let staged = staged.expect("a temporary file").path();
            fs::hard_link(staged, scene.place("work", "@out/stolen")).expect("links");
        });
        assert_eq!(done, Err(Refusal::HardLink), "{path}");
        let (mut there, mut after) = (there, stage.scene.snapshot());
        // Its second name outside is the other process's own.
        let stolen = stage.place("@out/stolen");
        assert!(there.remove(&stolen).is_some() && after.remove(&stolen).is_some());
        assert_eq!(there, after, "{path}");
    }
}
