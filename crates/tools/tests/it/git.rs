//! Git verbs through the host, over a repository whose server cannot be used.

use crate::scene::{Says, Scene, TestTurn, code};
use guildhall_authority::{ask::Answer, call::CallEnd, scope::Origin};
use guildhall_tools::CallTools;
use serde_json::{Value, json};
use std::{
    fs,
    path::Path,
    process::{Command, Output},
};

const TOOL: &str = "import pathlib, sys
here = pathlib.Path(__file__).resolve().parents[2]
with open(here / 'out' / 'calls', 'a') as calls:
    calls.write(' '.join(sys.argv[1:]) + '\\n')
if sys.argv[1] == 'lock' and (here / 'out' / 'held').exists():
    print('held by ana')
    sys.exit(1)
if sys.argv[1] == 'reserve':
    print(sys.argv[-2] + '-7')
";

fn git(folder: &Path, args: &[&str]) -> Output {
    let output = Command::new("git")
        .args(args)
        .current_dir(folder)
        .env_clear()
        .env("PATH", "/usr/bin:/bin:/usr/local/bin")
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .envs([
            ("GIT_AUTHOR_NAME", "P"),
            ("GIT_AUTHOR_EMAIL", "p@example.org"),
        ])
        .envs([
            ("GIT_COMMITTER_NAME", "P"),
            ("GIT_COMMITTER_EMAIL", "p@example.org"),
        ])
        .output()
        .expect("git runs");
    assert!(
        output.status.success(),
        "{args:?}: {}",
        String::from_utf8_lossy(&output.stderr)
    );
    output
}

fn log(scene: &Scene) -> String {
    let output = git(&scene.at("vault"), &["log", "-1", "--format=%an%n%B"]);
    String::from_utf8_lossy(&output.stdout).trim().to_owned()
}

/// A root with git, as a workspace or not, with the vault protocol or not.
fn scene(write: Value, protocol: Option<&str>) -> Scene {
    Scene::made(&["vault", "plain"], None, |place| {
        let root = place.join("vault");
        git(&root, &["init", "-q", "-b", "main"]);
        fs::create_dir(root.join("tools")).expect("a folder");
        fs::write(root.join("tools/vault_lock.py"), TOOL).expect("writes");
        fs::write(root.join("tools/validate_vault.py"), "").expect("writes");
        fs::write(root.join("a.txt"), "one\n").expect("writes");
        git(&root, &["add", "."]);
        git(&root, &["commit", "-q", "-m", "begin"]);
        let mut bound = json!({
            "branch": "main", "identity": "seat", "author": "Seat <seat@example.org>",
            "tokenFile": place.join("keys/git"),
        });
        if let Some(protocol) = protocol {
            // Nobody listens there; the stand-in of the tool does not ask it either.
            let origin = "https://127.0.0.1:1/vault.git";
            git(&root, &["remote", "add", "origin", origin]);
            bound["protocol"] = json!(protocol);
        }
        json!({"roots": [
            {"name": "vault", "path": root, "write": write, "git": bound},
            {"name": "plain", "path": place.join("plain")},
        ]})
    })
}

fn vault() -> Value {
    json!({"root": "vault"})
}

fn commit_a() -> Value {
    json!({"root": "vault", "message": "Change a", "paths": ["a.txt"]})
}

async fn change_a(scene: &Scene, turn: &TestTurn) {
    let edit = json!({"root": "vault", "path": "a.txt", "old": "one", "new": "two"});
    turn.done("edit_file", edit).await;
    assert_eq!(scene.text("vault/a.txt"), "two\n");
}

#[tokio::test]
async fn a_commit_names_who_asked_and_says_that_it_is_not_pushed() {
    let scene = scene(json!(true), None);
    let turn = scene.turn();
    let names: Vec<&str> = turn
        .tools
        .specs()
        .iter()
        .map(|spec| spec.name.as_str())
        .collect();
    assert_eq!(
        names[5..],
        ["git_status", "git_commit", "git_pull", "git_push"]
    );
    change_a(&scene, &turn).await;
    let text = turn.done("git_status", vault()).await;
    assert!(
        text.starts_with("branch main at ") && text.ends_with(" M a.txt"),
        "{text}"
    );
    let text = turn.done("git_commit", commit_a()).await;
    assert!(text.contains("a.txt (+1 -1)\npushed: false ("), "{text}");
    assert_eq!(log(&scene), "Seat\nChange a\n\nRequested-by: Ana");
    let begun = scene.desk.begun();
    assert_eq!(begun.len(), 2);
    assert!(begun[1].target.starts_with("main "), "{:?}", begun[1]);
    let host = scene.at("").to_string_lossy().into_owned();
    assert!(!text.contains(&host), "{text}");
    assert_eq!(
        turn.refused("git_commit", commit_a()).await,
        "nothing-changed"
    );
    assert_eq!(turn.refused("git_push", vault()).await, "config-key");
}

#[tokio::test]
async fn a_commit_without_a_person_who_asked_is_refused() {
    let scene = scene(json!(true), None);
    let turn = scene.turn_of(Origin::Plugin);
    change_a(&scene, &turn).await;
    assert_eq!(turn.refused("git_commit", commit_a()).await, "requester");
    assert_eq!(log(&scene), "P\nbegin");
}

#[tokio::test]
async fn a_root_without_git_and_a_root_that_nobody_declared_are_told_apart() {
    let scene = scene(json!(true), None);
    let turn = scene.turn();
    assert_eq!(
        turn.refused("git_status", json!({"root": "plain"})).await,
        "no-git"
    );
    assert_eq!(
        turn.refused("git_status", json!({"root": "nope"})).await,
        "unknown-root"
    );
    let many: Vec<String> = (0..51).map(|number| format!("f{number}")).collect();
    let arguments = json!({"root": "vault", "message": "m", "paths": many});
    assert_eq!(turn.refused("git_commit", arguments).await, "path-count");
    let arguments = json!({"root": "vault", "message": "m", "paths": "a.txt"});
    assert_eq!(turn.refused("git_commit", arguments).await, "bad-arguments");
}

#[tokio::test]
async fn a_commit_of_a_workspace_asks_with_its_difference_and_a_no_leaves_no_trace() {
    let scene = scene(json!("ask"), None);
    let turn = scene.turn();
    turn.done("edit", json!({"path": "a.txt", "old": "one", "new": "two"}))
        .await;
    scene.desk.says(Says::Answer(Answer::Denied));
    assert_eq!(turn.refused("git_commit", commit_a()).await, "denied");
    assert_eq!(log(&scene), "P\nbegin");
    scene.desk.says(Says::Answer(Answer::Once));
    turn.done("git_commit", commit_a()).await;
    assert_eq!(log(&scene), "Seat\nChange a\n\nRequested-by: Ana");
    let shown = &scene.desk.asked()[2].shown;
    assert_eq!(shown.what, "Commit 1 file and push");
    let content = shown.content.as_ref().expect("a difference");
    assert!(content.text.contains("-one\n+two"), "{}", content.text);
    let message = shown.facts.iter().find(|(label, _)| label == "message");
    assert_eq!(
        message.expect("a message").1,
        "Change a\n\nRequested-by: Ana\n"
    );
}

#[tokio::test]
async fn a_commit_that_changed_while_it_was_asked_about_is_not_made() {
    let scene = scene(json!("ask"), None);
    let turn = scene.turn();
    turn.done("edit", json!({"path": "a.txt", "old": "one", "new": "two"}))
        .await;
    let root = scene.at("vault");
    scene.desk.on_ask(move || {
        git(&root, &["commit", "-q", "--allow-empty", "-m", "between"]);
    });
    let result = turn.call("git_commit", commit_a()).await;
    assert_eq!(code(&result), "changed-since-prepared", "{}", result.text);
    assert_eq!(log(&scene), "P\nbetween");
    let why = "changed-since-prepared".to_owned();
    assert_eq!(scene.desk.ended()[1].end, CallEnd::Refused { why });
}

#[tokio::test]
async fn a_vaults_file_changes_under_its_lock_and_not_under_anothers() {
    let scene = scene(json!(true), Some("vault"));
    let turn = scene.turn();
    change_a(&scene, &turn).await;
    let calls = scene.text("out/calls");
    assert_eq!(
        calls,
        "lock --owner seat --ttl 300 -- a.txt\nunlock --owner seat -- a.txt\n"
    );
    scene.put("out/held", "");
    let edit = json!({"root": "vault", "path": "a.txt", "old": "two", "new": "three"});
    let result = turn.call("edit_file", edit).await;
    assert_eq!(code(&result), "vault-locked");
    assert!(result.text.contains("held by ana"), "{}", result.text);
    assert_eq!(scene.text("vault/a.txt"), "two\n");
}

#[tokio::test]
async fn no_call_writes_what_a_vaults_verbs_run() {
    for write in [json!(true), json!("ask")] {
        let scene = scene(write.clone(), Some("vault"));
        let turn = scene.turn();
        let before = scene.text("vault/tools/vault_lock.py");
        let (tool, arguments) = if write == json!(true) {
            (
                "write_file",
                json!({"root": "vault", "path": "tools/vault_lock.py", "text": "x"}),
            )
        } else {
            ("create", json!({"path": "tools/argparse.py", "text": "x"}))
        };
        assert_eq!(turn.refused(tool, arguments).await, "vault-tools");
        assert_eq!(scene.text("vault/tools/vault_lock.py"), before);
        assert_eq!(scene.desk.asked().len(), 0, "nobody is asked");
    }
}

#[tokio::test]
async fn an_id_is_reserved_as_the_seat() {
    let scene = scene(json!(true), Some("vault"));
    let turn = scene.turn();
    let arguments = json!({"root": "vault", "prefix": "DEC", "title": "Bees"});
    let text = turn.done("reserve_id", arguments).await;
    assert!(text.starts_with("Reserved DEC-7. "), "{text}");
    assert_eq!(
        scene.text("out/calls"),
        "reserve --owner seat -- DEC Bees\n"
    );
    let arguments = json!({"root": "vault", "prefix": "XYZ", "title": "Bees"});
    assert_eq!(
        turn.refused("reserve_id", arguments).await,
        "bad-reservation"
    );
}
