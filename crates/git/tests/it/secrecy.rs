//! Where the token is, and where it is not.

use crate::{
    scene::{SEAT, Scene, TOKEN, commit, push},
    server::Mode,
    spying::{Start, processes},
};
use guildhall_git::{Cancel, GitRoot, REMOTE_VARIABLE, TOKEN_FILE_VARIABLE, USER_VARIABLE};
use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
    sync::{Arc, Mutex},
};

/// All that a child may have in its environment.
const VARIABLES: [&str; 35] = [
    "GIT_ALLOW_PROTOCOL",
    "GIT_ASKPASS",
    "GIT_ATTR_NOSYSTEM",
    "GIT_AUTHOR_EMAIL",
    "GIT_AUTHOR_NAME",
    "GIT_CEILING_DIRECTORIES",
    "GIT_COMMITTER_EMAIL",
    "GIT_COMMITTER_NAME",
    "GIT_CONFIG_COUNT",
    "GIT_CONFIG_GLOBAL",
    "GIT_CONFIG_NOSYSTEM",
    "GIT_CONFIG_SYSTEM",
    "GIT_DIR",
    "GIT_EDITOR",
    "GIT_INDEX_FILE",
    "GIT_LITERAL_PATHSPECS",
    "GIT_NO_LAZY_FETCH",
    "GIT_NO_REPLACE_OBJECTS",
    "GIT_OBJECT_DIRECTORY",
    "GIT_OPTIONAL_LOCKS",
    "GIT_PAGER",
    "GIT_PROTOCOL_FROM_USER",
    "GIT_SEQUENCE_EDITOR",
    "GIT_SSH_COMMAND",
    "GIT_TERMINAL_PROMPT",
    "GIT_WORK_TREE",
    "HOME",
    "LC_ALL",
    "PATH",
    "SSH_ASKPASS",
    "TZ",
    TOKEN_FILE_VARIABLE,
    REMOTE_VARIABLE,
    USER_VARIABLE,
    "GIT_CONFIG_",
];

/// What is common to all ways in which a day of a seat can go.
fn day(scene: &Scene, root: &GitRoot) -> BTreeMap<String, usize> {
    let cancel = Cancel::new();
    let mut codes: BTreeMap<String, usize> = BTreeMap::new();
    let mut note =
        |what: &str, code: &str| *codes.entry(format!("{what} {code}")).or_default() += 1;
    let modes = [
        Mode::Serve,
        Mode::RefusePush(403, format!("no, {SEAT}:{TOKEN}")),
        Mode::Serve,
        Mode::Redirect(format!("https://{}", scene.other.host())),
        Mode::RefusePush(500, format!("https://{SEAT}:{TOKEN}@localhost/")),
        Mode::Serve,
    ];
    for (number, mode) in modes.into_iter().enumerate() {
        scene.server.set(mode);
        scene.write("a.txt", &format!("round {number}\n"));
        note(
            "status",
            root.status(&cancel).map_or_else(|r| r.code(), |_| "ok"),
        );
        let committed = commit(root, &format!("Round {number}"), &["a.txt"]);
        let code = match &committed {
            Ok(done) => match &done.pushed {
                guildhall_git::Pushed::Yes => "ok",
                guildhall_git::Pushed::No { refusal } => refusal.code(),
            },
            Err(refusal) => refusal.code(),
        };
        note("commit", code);
        if let Ok(done) = committed {
            assert!(!format!("{done:?}").contains(TOKEN));
        }
        note(
            "pull",
            root.pull(&cancel).map_or_else(|r| r.code(), |_| "ok"),
        );
        note("push", push(root).map_or_else(|r| r.code(), |_| "ok"));
        // And what is refused before a server is asked.
        note(
            "commit",
            commit(root, "Nothing", &["a.txt"]).map_or_else(|r| r.code(), |_| "ok"),
        );
        scene.write("dir/c.txt", &format!("staged {number}\n"));
        scene.git(&["add", "dir/c.txt"]);
        note(
            "commit",
            commit(root, "Staged", &["a.txt"]).map_or_else(|r| r.code(), |_| "ok"),
        );
        scene.git(&["commit", "-q", "-m", "a person's"]);
    }
    codes
}

#[test]
fn no_start_of_a_program_has_the_token_or_where_it_is_among_its_arguments() {
    let scene = Scene::new();
    let seen: Arc<Mutex<BTreeSet<(String, String)>>> = Arc::default();
    let noted = Arc::clone(&seen);
    // While a client waits, all programs of the verb run, the credential's too where git kept it.
    scene
        .server
        .look_at_each(move || noted.lock().expect("a set").extend(processes()));
    let root = scene.open();
    let codes = day(&scene, &root);
    for way in [
        "commit ok",
        "commit push-failed",
        "commit nothing-changed",
        "commit index",
        "pull ok",
        "pull fetch-failed",
        "push ok",
        "push push-failed",
        "status ok",
    ] {
        assert!(codes.contains_key(way), "{way} is missing in {codes:?}");
    }
    let starts = scene.starts.take();
    assert!(starts.len() > 100, "{}", starts.len());
    let file = scene.at("token").to_string_lossy().into_owned();
    for start in &starts {
        assert_plain(start, &file);
    }
    // The same from outside, of whatever git itself started.
    let seen = seen.lock().expect("a set");
    let ours: Vec<_> = seen
        .iter()
        .filter(|(line, _)| line.contains("remote-https"))
        .collect();
    assert!(!ours.is_empty(), "git's own client was seen");
    for (line, environment) in seen.iter() {
        // The stand-in server is a process of this test too, and is told nothing.
        assert!(
            !line.contains(TOKEN) && !environment.contains(TOKEN),
            "{line}"
        );
        assert!(!line.contains(&file), "{line}");
    }
}

fn assert_plain(start: &Start, file: &str) {
    let all = start.args.join("\0");
    assert!(!all.contains(TOKEN) && !all.contains(file), "{start:?}");
    for (name, value) in &start.env {
        assert!(!value.contains(TOKEN), "{name} of {}", start.verb());
        let known = VARIABLES.contains(&name.as_str())
            || name.starts_with("GIT_CONFIG_KEY_")
            || name.starts_with("GIT_CONFIG_VALUE_");
        assert!(known, "{name} of {}", start.verb());
    }
    let online = matches!(start.verb(), "push" | "fetch");
    let named = start.variable(TOKEN_FILE_VARIABLE) == Some(file);
    assert_eq!(named, online, "{start:?}");
    assert!(start.program.ends_with("/git"), "{start:?}");
    assert!(
        !start
            .env
            .iter()
            .any(|(name, value)| name != TOKEN_FILE_VARIABLE && value == file)
    );
}

#[test]
fn after_a_day_of_verbs_no_file_holds_the_token() {
    let scene = Scene::new();
    let root = scene.open();
    day(&scene, &root);
    let pair = data_encoding::BASE64.encode(format!("{SEAT}:{TOKEN}").as_bytes());
    let mut looked = 0;
    for place in ["root", "data", "upstream.git", "out"] {
        holds_none(&scene.at(place), &[TOKEN, &pair], &mut looked);
    }
    assert!(looked > 50, "{looked}");
    assert_eq!(scene.left(), [""; 0]);
}

fn holds_none(folder: &Path, words: &[&str], looked: &mut usize) {
    let Ok(entries) = fs::read_dir(folder) else {
        return;
    };
    for entry in entries.flatten() {
        let path = entry.path();
        if path.is_dir() {
            holds_none(&path, words, looked);
            continue;
        }
        let bytes = fs::read(&path).expect("a file");
        let text = String::from_utf8_lossy(&bytes);
        for word in words {
            assert!(!text.contains(word), "{}", path.display());
        }
        *looked += 1;
    }
}

#[test]
fn a_variable_of_ours_reaches_no_child() {
    // Whatever this process was started with: a child has what is listed above and nothing else.
    let scene = Scene::new();
    let root = scene.open();
    root.status(&Cancel::new()).expect("a state");
    for start in scene.starts.take() {
        assert!(start.variable("CARGO_MANIFEST_DIR").is_none());
        let expected = if start.verb() == "version" {
            ""
        } else {
            "/usr/local/bin:/usr/bin:/bin"
        };
        assert_eq!(start.variable("PATH").unwrap_or(""), expected);
    }
}

#[test]
fn arguments_are_fixed_but_for_paths_ids_branch_and_address() {
    let scene = Scene::new();
    let root = scene.open();
    scene.write("a.txt", "x\n");
    commit(&root, "A message of its own", &["a.txt"]).expect("a commit");
    let url = scene.server.url("upstream.git");
    for start in scene.starts.take() {
        for arg in &start.args {
            assert!(!arg.contains("message"), "{start:?}");
            let id = |text: &str| text.len() == 40 && text.bytes().all(|b| b.is_ascii_hexdigit());
            let variable = *arg == url
                || arg.strip_prefix("--path=").unwrap_or(arg) == "a.txt"
                || id(arg)
                || arg.strip_suffix(":refs/heads/main").is_some_and(id);
            let fixed = arg
                .bytes()
                .all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b"-=2".contains(&b));
            assert!(variable || fixed || arg == "-F", "{arg:?} in {start:?}");
        }
    }
}

#[test]
fn programs_are_started_in_one_place() {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut starting = Vec::new();
    with_word(&source, "Command::", &mut starting);
    assert_eq!(starting, [source.join("spawn.rs")]);
}

fn with_word(folder: &Path, word: &str, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("a folder").flatten() {
        let path = entry.path();
        if path.is_dir() {
            with_word(&path, word, found);
        } else if fs::read_to_string(&path).expect("a source").contains(word) {
            found.push(path);
        }
    }
}

#[test]
fn the_way_around_the_list_of_keys_is_used_by_tests_alone() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .expect("the folder of crates");
    let mut looked = 0;
    for entry in fs::read_dir(crates).expect("crates").flatten() {
        if entry.file_name() == "git" {
            continue;
        }
        holds_none(
            &entry.path().join("src"),
            &["with_keys_unchecked"],
            &mut looked,
        );
    }
    assert!(looked > 100, "{looked}");
}
