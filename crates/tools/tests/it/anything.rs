//! Any call at all: it is answered, and nothing of the host or from outside is in the answer.

use crate::scene::Scene;
use guildhall_authority::offer::ToolName;
use proptest::prelude::*;
use serde_json::{Map, Value, json};

/// Paths that mean harm, and some that do not.
const PATHS: [&str; 20] = [
    ".",
    "",
    "a.txt",
    "d",
    "d/b.txt",
    "l",
    "dl/secret",
    "../out/secret",
    "/etc/passwd",
    "d/../a.txt",
    ".git/config",
    "a.txt/",
    "a//b",
    "\u{202e}txt.a",
    "a\0b",
    "git~1",
    "~/.ssh/id",
    "fifo",
    "two",
    "%2e%2e/out/secret",
];

fn text() -> impl Strategy<Value = Value> {
    prop_oneof![
        4 => prop::sample::select(&PATHS[..]).prop_map(|path| json!(path)),
        2 => prop::sample::select(&["docs", "notes", "site", "nope"][..]).prop_map(|root| json!(root)),
        2 => "\\PC{0,20}".prop_map(Value::String),
        1 => any::<String>().prop_map(Value::String),
        1 => any::<bool>().prop_map(Value::Bool),
        1 => Just(Value::Null),
        1 => Just(json!(["a", {"b": [1.5e300]}])),
    ]
}

fn any_call() -> impl Strategy<Value = (String, String)> {
    let known = prop::sample::select(ToolName::ALL).prop_map(|tool| tool.as_str().to_owned());
    let name = prop_oneof![9 => known, 1 => any::<String>()];
    let key = prop::sample::select(
        &[
            "root", "path", "pattern", "regex", "glob", "text", "old", "new", "url", "more",
        ][..],
    );
    let object = prop::collection::vec((key, text()), 0..6).prop_map(|pairs| {
        let pairs = pairs
            .into_iter()
            .map(|(key, value)| (key.to_owned(), value));
        Value::Object(pairs.collect::<Map<_, _>>()).to_string()
    });
    let fitting = (
        prop::sample::select(&["docs", "notes", "site"][..]),
        prop::sample::select(&PATHS[..]),
    )
        .prop_map(|(root, path)| json!({"root": root, "path": path}).to_string());
    let arguments = prop_oneof![4 => object, 4 => fitting, 1 => any::<String>()];
    (name, arguments)
}

fn prepared() -> Scene {
    let scene = Scene::new();
    scene.put("out/secret", "OUTSIDE\n");
    for root in ["docs", "notes", "site"] {
        scene.put(&format!("{root}/a.txt"), "alpha\n");
        scene.put(&format!("{root}/d/b.txt"), "beta\n");
        let at = |path: &str| scene.at(&format!("{root}/{path}"));
        std::os::unix::fs::symlink("../out/secret", at("l")).expect("links");
        std::os::unix::fs::symlink("../out", at("dl")).expect("links");
        std::fs::hard_link(scene.at("out/secret"), at("two")).expect("links");
        let made = std::process::Command::new("mkfifo")
            .arg(at("fifo"))
            .status();
        assert!(made.expect("it runs").success());
    }
    scene
}

#[test]
fn every_call_is_answered_and_shows_nothing_from_outside() {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .expect("a runtime");
    let scene = prepared();
    let host = scene
        .at("")
        .to_string_lossy()
        .trim_end_matches('/')
        .to_owned();
    let config = ProptestConfig::with_cases(400);
    proptest!(config, |((name, arguments) in any_call())| {
        let turn = scene.turn();
        let call = turn.call_of(&name, &arguments);
        let work = guildhall_tools::CallTools::call(&turn.tools, call);
        let result = runtime.block_on(async {
            tokio::time::timeout(crate::scene::PATIENCE, work).await
        });
        let result = result.expect("it answers");
        let asked = arguments.contains("OUTSIDE") || name.contains("OUTSIDE");
        prop_assert!(asked || !result.text.contains("OUTSIDE"), "{} {}", name, arguments);
        prop_assert!(!result.text.contains(&host), "{} {}", name, arguments);
        prop_assert_eq!(turn.tools.uses().len(), 1);
    });
    assert_eq!(scene.text("out/secret"), "OUTSIDE\n");
    let out = std::fs::read_dir(scene.at("out")).expect("there").count();
    assert_eq!(out, 1);
}
