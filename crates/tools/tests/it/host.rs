//! What a host is made of, and what it says of a policy that it cannot serve.

use crate::scene::{Says, Scene, policy};
use guildhall_authority::{ask::Answer, permit::found};
use guildhall_git::Trial;
use guildhall_tools::{GitParts, Holds, Host, HostError, HostParts};
use serde_json::{Value, json};
use std::{fs, os::unix::fs::PermissionsExt, path::Path, sync::Arc};

fn host(place: &Path, tools: &Value) -> Result<Host, HostError> {
    let (judge, _) = found();
    Host::new(HostParts {
        judge,
        policy: &policy(place, &json!({"tools": tools})),
        data_root: &place.join("data"),
        home: Some(&place.join("home")),
        web: None,
        git: GitParts {
            state: &place.join("data/git"),
            credential_program: Path::new("/nowhere"),
            trial: Trial::default(),
        },
    })
}

#[test]
fn a_root_that_cannot_be_served_is_named_with_its_field() {
    let scene = Scene::new();
    let at = |path: &str| scene.at(path);
    fs::create_dir(at("data/inner")).expect("a folder");
    fs::create_dir(at("open")).expect("a folder");
    fs::set_permissions(at("open"), fs::Permissions::from_mode(0o777)).expect("sets");
    std::os::unix::fs::symlink(at("docs"), at("link")).expect("links");
    std::os::unix::fs::symlink(at("data"), at("way")).expect("links");
    let cases = [
        ("missing", "there is nothing by that name"),
        ("link", "the path of a root has a symbolic link"),
        (
            "home",
            "a root is not a whole machine and not a home directory",
        ),
        ("open", "every local user may write in the root"),
        ("way/inner", "the path of a root has a symbolic link"),
    ];
    for (name, why) in cases {
        let roots = json!({"roots": [
            {"name": "docs", "path": at("docs")},
            {"name": "bad", "path": at(name)},
        ]});
        let error = host(&at(""), &roots).map(|_| ()).expect_err(name);
        assert_eq!(
            error.to_string(),
            format!("root bad: {why} (tools.roots[1].path)"),
            "{name}"
        );
    }
}

#[test]
fn a_folder_without_git_and_a_host_without_a_web_refuse_what_needs_them() {
    let scene = Scene::new();
    let git = json!({"branch": "main", "identity": "seat", "author": "Seat <seat@example.org>",
        "tokenFile": scene.at("keys/git")});
    let roots = json!({"roots": [
        {"name": "notes", "path": scene.at("notes"), "write": true, "git": git},
    ]});
    let error = host(&scene.at(""), &roots)
        .map(|_| ())
        .expect_err("no repository");
    assert_eq!(
        (error.field.as_str(), error.name.as_str()),
        ("tools.roots[0].git", "root notes")
    );
    let error = host(&scene.at(""), &json!({"web": {}}))
        .map(|_| ())
        .expect_err("no web");
    assert_eq!(error.field, "tools.web");
}

#[test]
fn a_file_is_what_a_dead_process_meant_to_write_or_it_is_not() {
    let scene = Scene::new();
    scene.put("notes/a.txt", "alpha\n");
    let digest = "b6a98d9ce9a2d9149288fa3df42d377c3e42737afdcdaf714e33c0a100b51060";
    let cases = [
        ("notes", "a.txt", digest, Holds::Yes),
        ("notes", "a.txt", "00", Holds::No),
        ("notes", "b.txt", digest, Holds::No),
        ("notes", "../a.txt", digest, Holds::Unknown),
        ("nowhere", "a.txt", digest, Holds::Unknown),
    ];
    for (root, path, after, want) in cases {
        assert_eq!(scene.host.holds(root, path, after), want, "{root} {path}");
    }
}

#[test]
fn what_a_crash_left_is_swept_from_roots_that_may_be_written() {
    let scene = Scene::new();
    scene.put("notes/.guildhall-0123456789abcdef01234567.tmp", "half");
    let swept = scene.host.sweep(i64::MAX);
    let names: Vec<&str> = swept.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["notes", "site"]);
    assert!(swept.iter().all(|(_, done)| done.is_ok()));
}

#[tokio::test]
async fn what_a_reload_takes_away_is_not_done_by_a_turn_that_began_before() {
    let scene = Scene::new();
    let narrowed = policy(
        &scene.at(""),
        &json!({"tools": {"roots": [
            {"name": "docs", "path": scene.at("docs")},
            {"name": "notes", "path": scene.at("notes")},
        ]}}),
    );
    let turn = scene.turn();
    let write = json!({"root": "notes", "path": "a.txt", "text": "x"});
    let (host, policy) = (scene.host.clone(), Arc::clone(&narrowed));
    scene.desk.on_begin(move || host.reloaded(&policy));
    assert_eq!(turn.refused("write_file", write).await, "root-readonly");
    assert!(!scene.at("notes/a.txt").exists());

    scene.desk.says(Says::Answer(Answer::Once));
    let create = json!({"path": "a.txt", "text": "x"});
    assert_eq!(turn.refused("create", create).await, "unknown-root");
    assert!(!scene.at("site/a.txt").exists());
}
