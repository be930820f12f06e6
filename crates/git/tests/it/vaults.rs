//! The vault protocol against stand-ins of its tools, with the command line that they have.

use crate::{
    scene::{Keys, Scene, commit, rel},
    spying::Start,
};
use guildhall_git::{Cancel, GitRefusal, GitRoot, Protocol, TOKEN_FILE_VARIABLE};
use std::{fs, path::Path};

/// Keeps locks and ids in files beside the root, and what it was called with.
const LOCK_TOOL: &str = r#"
import argparse, os, pathlib, subprocess, sys
out = pathlib.Path(__file__).resolve().parents[2] / "out"
with open(out / "calls", "a") as calls:
    calls.write(repr(sys.argv[1:]) + "\n")
parser = argparse.ArgumentParser()
sub = parser.add_subparsers(dest="command", required=True)
for name in ["lock", "unlock", "check", "reserve"]:
    one = sub.add_parser(name)
    one.add_argument("--owner", required=True)
    if name == "lock":
        one.add_argument("--ttl", type=int, required=True)
    one.add_argument("words", nargs="+")
args = parser.parse_args()
assert pathlib.Path.cwd().name == "root", "in the root"
def lock_of(path):
    return out / ("lock-" + path.replace("/", "_"))
if args.command == "lock":
    file = lock_of(args.words[0])
    if file.exists() and file.read_text() != args.owner:
        print(f"locked by {file.read_text()} until later")
        sys.exit(3)
    file.write_text(args.owner)
elif args.command == "unlock":
    lock_of(args.words[0]).unlink()
elif args.command == "check":
    if (out / "fetch-at-check").exists():
        subprocess.run(["git", "fetch", "--quiet", "origin"], check=True)
    for path in args.words:
        file = lock_of(path)
        if file.exists() and file.read_text() != args.owner:
            print(f"{path} is locked by {file.read_text()}")
            sys.exit(1)
else:
    prefix, title = args.words
    if title == "taken":
        print("no free id", file=sys.stderr)
        sys.exit(1)
    if title == "odd":
        print("not an id at all\nsecond line")
        sys.exit(0)
    if title == "fetch":
        done = subprocess.run(["git", "fetch", "--quiet", "origin"], capture_output=True, text=True)
        if done.returncode:
            print(done.stderr)
            sys.exit(1)
    with open("registry.md", "a") as registry:
        registry.write(f"{prefix}-0042 {title}\n")
    print(f"{prefix}-0042")
    print("reserved")
"#;

const VALIDATE_TOOL: &str = r#"
import pathlib, sys
sys.path.insert(0, str(pathlib.Path(__file__).parent))
import rules
for line in rules.broken():
    print(line)
sys.exit(1 if rules.broken() else 0)
"#;

const RULES: &str = r#"
import pathlib
def broken():
    text = pathlib.Path("a.txt").read_text()
    lines = [f"a.txt: rule {n} is broken" for n in range(40)] if "bad" in text else []
    return lines + (["see https://seat:hunter22@host/x"] if lines else [])
"#;

/// Something that is done to the folder of tools.
type ToTools = fn(&Path);

fn vault() -> (Scene, GitRoot) {
    let scene = Scene::new();
    scene.write("tools/vault_lock.py", LOCK_TOOL);
    scene.write("tools/validate_vault.py", VALIDATE_TOOL);
    scene.write("tools/rules.py", RULES);
    scene.git(&["add", "tools"]);
    scene.git(&["commit", "-q", "-m", "tools"]);
    let root = scene
        .try_open(Protocol::Vault, Keys::Listed)
        .expect("it opens");
    (scene, root)
}

fn calls(scene: &Scene) -> Vec<String> {
    let text = fs::read_to_string(scene.at("out/calls")).unwrap_or_default();
    text.lines().map(str::to_owned).collect()
}

#[test]
fn a_lock_is_taken_and_given_back_as_the_seat() {
    let (scene, root) = vault();
    let cancel = Cancel::new();
    root.lock(&rel("a.txt"), &cancel).expect("it is free");
    root.lock(&rel("a.txt"), &cancel).expect("it is ours");
    root.unlock(&rel("a.txt"), &cancel).expect("it was ours");
    root.lock(&rel("-odd name;$(x).txt"), &cancel)
        .expect("it is free");
    assert_eq!(
        calls(&scene),
        [
            "['lock', '--owner', 'seat-one', '--ttl', '300', '--', 'a.txt']",
            "['lock', '--owner', 'seat-one', '--ttl', '300', '--', 'a.txt']",
            "['unlock', '--owner', 'seat-one', '--', 'a.txt']",
            "['lock', '--owner', 'seat-one', '--ttl', '300', '--', '-odd name;$(x).txt']",
        ]
    );
}

#[test]
fn a_lock_of_another_owner_refuses_with_the_owners_name() {
    let (scene, root) = vault();
    fs::write(scene.at("out/lock-a.txt"), "seat-two").expect("a file");
    let found = root
        .lock(&rel("a.txt"), &Cancel::new())
        .expect_err("it is held");
    assert_eq!(found.code(), "vault-locked");
    assert_eq!(
        found.text(),
        "the lock is held by somebody else: locked by seat-two until later"
    );
    scene.write("a.txt", "x\n");
    let head = scene.head();
    let found = commit(&root, "X", &["a.txt"]).expect_err("it is held");
    assert_eq!(
        found.text(),
        "the vault's lock check refuses: a.txt is locked by seat-two"
    );
    assert_eq!(scene.head(), head);
}

#[test]
fn a_commit_checks_its_paths_and_validates_the_vault() {
    let (scene, root) = vault();
    scene.write("a.txt", "good\n");
    scene.write("new.txt", "x\n");
    commit(&root, "X", &["a.txt", "new.txt"]).expect("a commit");
    let check = "['check', '--owner', 'seat-one', '--', 'a.txt', 'new.txt']";
    assert_eq!(
        calls(&scene),
        [check, check],
        "once before it is shown, once before it is made"
    );
    scene.write("a.txt", "bad\n");
    let head = scene.head();
    let found = commit(&root, "Y", &["a.txt"]).expect_err("it is broken");
    assert_eq!(found.code(), "vault-invalid");
    let words = found.words().expect("the tool's words").as_str();
    assert!(words.starts_with("a.txt: rule 0 is broken\n"), "{words}");
    assert_eq!(words.lines().count(), 10);
    assert_eq!(scene.head(), head);
    assert_eq!(scene.git(&["status", "--porcelain"]), " M a.txt");
}

#[test]
fn what_becomes_invalid_while_a_person_decides_is_not_committed() {
    let (scene, root) = vault();
    scene.write("a.txt", "good\n");
    let (prepared, _) = crate::scene::prepare(&root, "X", &["a.txt"]).expect("ready");
    fs::write(scene.at("out/lock-a.txt"), "seat-two").expect("a file");
    let found = prepared
        .commit(&Cancel::new())
        .expect_err("it is locked now");
    assert_eq!(found.code(), "vault-check");
}

#[test]
fn an_id_is_reserved_and_its_line_goes_with_the_record() {
    let (scene, root) = vault();
    let id = root
        .reserve_id("DEC", "--a title; with $(things)", &Cancel::new())
        .expect("an id");
    assert_eq!(id, "DEC-0042");
    let call = "['reserve', '--owner', 'seat-one', '--', 'DEC', '--a title; with $(things)']";
    assert_eq!(calls(&scene), [call]);
    scene.write("DEC-0042.md", "a record\n");
    commit(&root, "Record", &["DEC-0042.md"]).expect("a commit");
    assert_eq!(
        scene.git(&["show", "HEAD:registry.md"]),
        "DEC-0042 --a title; with $(things)"
    );
    assert_eq!(scene.git(&["status", "--porcelain"]), "");
    // And it was this once.
    scene.write("registry.md", "by hand\n");
    scene.write("a.txt", "good\n");
    commit(&root, "Next", &["a.txt"]).expect("a commit");
    assert_eq!(scene.git(&["status", "--porcelain"]), " M registry.md");
}

#[test]
fn several_reservations_wait_for_one_commit_over_a_restart() {
    let (scene, root) = vault();
    for title in ["one", "two"] {
        root.reserve_id("DEC", title, &Cancel::new())
            .expect("an id");
    }
    drop(root);
    let root = scene
        .try_open(Protocol::Vault, Keys::Listed)
        .expect("it opens");
    scene.write("DEC-0042.md", "a record\n");
    let (prepared, summary) =
        crate::scene::prepare(&root, "Record", &["DEC-0042.md", "registry.md"]).expect("ready");
    let paths: Vec<_> = summary
        .files
        .iter()
        .map(|file| file.path.as_str())
        .collect();
    assert_eq!(
        paths,
        ["DEC-0042.md", "registry.md"],
        "named besides, and there once"
    );
    drop(prepared);
    let (prepared, summary) =
        crate::scene::prepare(&root, "Record", &["DEC-0042.md"]).expect("ready");
    assert_eq!(summary.files.len(), 2, "it is shown before it is allowed");
    let done = prepared.commit(&Cancel::new());
    assert!(done.is_ok());
    assert_eq!(
        scene.git(&["show", "HEAD:registry.md"]),
        "DEC-0042 one\nDEC-0042 two"
    );
}

#[test]
fn what_somebody_else_wrote_into_the_registry_is_theirs_to_commit() {
    let ways: [(&str, &str); 2] = [("before", "by hand\n"), ("after", "")];
    for (when, text) in ways {
        let (scene, root) = vault();
        if when == "before" {
            scene.write("registry.md", text);
        }
        root.reserve_id("DEC", "one", &Cancel::new())
            .expect("an id");
        if when == "after" {
            scene.write("registry.md", "DEC-0042 one\nby hand\n");
        }
        scene.write("a.txt", "good\n");
        commit(&root, "X", &["a.txt"]).expect("a commit");
        assert_eq!(
            scene.git(&["status", "--porcelain"]),
            "?? registry.md",
            "{when}"
        );
    }
}

#[test]
fn reservations_that_do_not_fit_never_reach_the_tool() {
    let (scene, root) = vault();
    let long = "x".repeat(201);
    let cases = [
        ("dec", "x"),
        ("ABC", "x"),
        ("", "x"),
        ("DEC", ""),
        ("DEC", " \u{200b}"),
        ("DEC", "a\nb"),
        ("DEC", "a\u{202e}b"),
        ("DEC", &long),
        ("--owner", "x"),
    ];
    for (prefix, title) in cases {
        let found = root.reserve_id(prefix, title, &Cancel::new());
        assert_eq!(found, Err(GitRefusal::BadReservation), "{prefix} {title:?}");
    }
    assert_eq!(calls(&scene).len(), 0);
    for (title, words) in [
        ("taken", "no free id"),
        ("odd", "not an id at all\nsecond line"),
    ] {
        let found = root
            .reserve_id("REF", title, &Cancel::new())
            .expect_err("no id");
        assert_eq!(found.text(), format!("no id was reserved: {words}"));
    }
}

#[test]
fn only_a_reservation_is_told_where_the_token_is() {
    let (scene, root) = vault();
    scene.write("a.txt", "good\n");
    root.lock(&rel("a.txt"), &Cancel::new())
        .expect("it is free");
    let (prepared, _) = crate::scene::prepare(&root, "X", &["a.txt"]).expect("ready");
    drop(prepared);
    root.reserve_id("BUS", "x", &Cancel::new()).expect("an id");
    let tools: Vec<Start> = scene
        .starts
        .take()
        .into_iter()
        .filter(|start| start.program.ends_with("/python3"))
        .collect();
    let named = |start: &Start| start.variable(TOKEN_FILE_VARIABLE).is_some();
    let told: Vec<_> = tools
        .iter()
        .map(|start| (start.args.get(1).map(String::as_str), named(start)))
        .collect();
    assert_eq!(
        told,
        [
            (Some("lock"), false),
            (Some("check"), false),
            (None, false),
            (Some("reserve"), true)
        ]
    );
    let token = scene.at("token").to_string_lossy().into_owned();
    assert!(tools.iter().all(|start| !start.args.contains(&token)));
}

#[test]
fn a_git_of_the_tool_has_the_seats_credential_in_a_reservation_alone() {
    let (scene, root) = vault();
    scene.git(&["config", "branch.main.description", "fine"]);
    root.reserve_id("PRJ", "fetch", &Cancel::new())
        .expect("its git may ask the server");
    let known = scene
        .server
        .seen()
        .iter()
        .filter(|seen| seen.authorization.is_some())
        .count();
    assert!(known > 0);
    scene.server.forget();
    fs::write(scene.at("out/fetch-at-check"), "").expect("a file");
    scene.write("a.txt", "good\n");
    let found = crate::scene::prepare(&root, "X", &["a.txt"]).expect_err("no credential there");
    assert_eq!(found.code(), "vault-check");
    assert!(
        scene
            .server
            .seen()
            .iter()
            .all(|seen| seen.authorization.is_none())
    );
}

#[test]
fn tools_that_differ_from_what_was_committed_are_not_run() {
    let ways: [(&str, &str, ToTools); 8] = [
        ("changed", "vault_lock.py", |tools| {
            fs::write(tools.join("vault_lock.py"), "print('evil')").expect("a file")
        }),
        ("company", "argparse.py", |tools| {
            fs::write(tools.join("argparse.py"), "print('evil')").expect("a file")
        }),
        ("company in a folder", "sub/x.py", |tools| {
            fs::create_dir(tools.join("sub")).expect("a folder");
            fs::write(tools.join("sub/x.py"), "").expect("a file");
        }),
        ("gone", "rules.py", |tools| {
            fs::remove_file(tools.join("rules.py")).expect("a file")
        }),
        ("a link", "rules.py", |tools| {
            fs::rename(tools.join("rules.py"), tools.join("../../rules.py")).expect("a file");
            std::os::unix::fs::symlink("../../rules.py", tools.join("rules.py")).expect("a link");
        }),
        ("hidden by a flag", "rules.py", |tools| {
            in_root(
                tools,
                &["update-index", "--assume-unchanged", "tools/rules.py"],
            );
            fs::write(tools.join("rules.py"), "print('evil')").expect("a file");
        }),
        ("left out by a flag", "rules.py", |tools| {
            in_root(
                tools,
                &["update-index", "--skip-worktree", "tools/rules.py"],
            );
            fs::write(tools.join("rules.py"), "print('evil')").expect("a file");
        }),
        ("the same to git by an attribute", "rules.py", |tools| {
            fs::write(tools.join("../.gitattributes"), "*.py ident\n").expect("a file");
            let text = fs::read_to_string(tools.join("rules.py")).expect("a file");
            let evil = text.replace("# $Id$", "# $Id: \n#$\nprint('evil')");
            fs::write(tools.join("rules.py"), evil + "# $Id: x $\n").expect("a file");
        }),
    ];
    for (name, which, way) in ways {
        let (scene, root) = vault();
        way(&scene.root().join("tools"));
        scene.write("a.txt", "good\n");
        let cancel = Cancel::new();
        let changed = Some(GitRefusal::VaultToolsChanged(format!("tools/{which}")));
        assert_eq!(root.lock(&rel("a.txt"), &cancel).err(), changed, "{name}");
        assert_eq!(root.reserve_id("SS", "x", &cancel).err(), changed, "{name}");
        assert_eq!(commit(&root, "X", &["a.txt"]).err(), changed, "{name}");
        assert_eq!(calls(&scene).len(), 0, "{name}");
    }
}

fn in_root(tools: &Path, args: &[&str]) {
    let done = std::process::Command::new("git")
        .args(args)
        .current_dir(tools.join(".."))
        .status();
    assert!(done.expect("git starts").success());
}

#[test]
fn what_an_editor_leaves_beside_the_tools_stops_nobody() {
    let (scene, root) = vault();
    for name in [
        "tools/rules.py~",
        "tools/.rules.py.swp",
        "tools/__pycache__/rules.pyc",
    ] {
        scene.write(name, "x");
    }
    root.lock(&rel("a.txt"), &Cancel::new())
        .expect("it is free");
    assert!(root.runs(&rel("tools/new.py")) && root.runs(&rel("TOOLS/x")));
    assert!(!root.runs(&rel("tools.md")) && !root.runs(&rel("a/tools/x")));
}

#[test]
fn a_tool_that_breaks_is_told_from_one_that_says_no() {
    let ways = [
        "import sys\nsys.exit(int('x'))\n",
        "import argparse\nargparse.ArgumentParser().parse_args()\n",
        "import os, signal\nos.kill(os.getpid(), signal.SIGKILL)\n",
    ];
    for way in ways {
        let (scene, root) = vault();
        scene.write("tools/vault_lock.py", way);
        scene.git(&["commit", "-qam", "broken"]);
        let found = root
            .lock(&rel("a.txt"), &Cancel::new())
            .expect_err("broken");
        assert_eq!(found.code(), "vault-tool-failed", "{}", found.text());
    }
}

#[test]
fn a_check_that_rewrites_the_next_tool_does_not_run_it() {
    let (scene, root) = vault();
    let evil = "import pathlib\npathlib.Path('tools/validate_vault.py').write_text('raise SystemExit(0)')\n";
    scene.write("tools/vault_lock.py", evil);
    scene.git(&["commit", "-qam", "odd"]);
    scene.write("a.txt", "good\n");
    let found = commit(&root, "X", &["a.txt"]).expect_err("it changed");
    let changed = GitRefusal::VaultToolsChanged("tools/validate_vault.py".to_owned());
    assert_eq!(found, changed);
}

#[test]
fn a_seat_does_not_commit_the_tools_that_its_verbs_run() {
    let (scene, root) = vault();
    scene.write("tools/rules.py", "def broken(): return []\n");
    scene.write("Tools/x.md", "x\n");
    for path in ["tools/rules.py", "Tools/x.md"] {
        let found = commit(&root, "X", &[path]);
        assert_eq!(found.err(), Some(GitRefusal::VaultToolsProtected), "{path}");
    }
}

#[test]
fn the_tools_leave_nothing_of_their_own_in_the_vault() {
    let (scene, root) = vault();
    scene.write("a.txt", "good\n");
    commit(&root, "X", &["a.txt"]).expect("a commit");
    assert_eq!(scene.git(&["status", "--porcelain", "--ignored"]), "");
}

#[test]
fn a_root_without_the_protocol_has_none_of_its_verbs() {
    let scene = Scene::new();
    let root = scene.open();
    let cancel = Cancel::new();
    assert_eq!(root.lock(&rel("a.txt"), &cancel), Err(GitRefusal::NoVault));
    assert_eq!(
        root.unlock(&rel("a.txt"), &cancel),
        Err(GitRefusal::NoVault)
    );
    assert_eq!(
        root.reserve_id("DEC", "x", &cancel),
        Err(GitRefusal::NoVault)
    );
}
