//! Lists, reads and searches.

use crate::scene::Scene;
use guildhall_authority::offer::ToolName;
use guildhall_tools::{CallTools, ToolCall};
use serde_json::json;

#[tokio::test]
async fn a_turn_is_told_of_what_the_binding_enables_and_of_nothing_else() {
    let scene = Scene::new();
    let turn = scene.turn();
    let names: Vec<&str> = turn
        .tools
        .specs()
        .iter()
        .map(|spec| spec.name.as_str())
        .collect();
    let want = [
        "list_dir",
        "read_file",
        "search",
        "write_file",
        "edit_file",
        "list",
        "read",
        "create",
        "edit",
    ];
    assert_eq!(names, want);
    let roots = |index: usize| {
        let schema = &turn.tools.specs()[index].schema;
        let about = schema.pointer("/properties/root/description");
        about.and_then(|about| about.as_str()).map(str::to_owned)
    };
    assert_eq!(
        roots(0).as_deref(),
        Some("Name of a root: docs, notes, site.")
    );
    assert_eq!(roots(3).as_deref(), Some("Name of a root: notes."));
    assert_eq!(roots(5), None);
    assert!(
        turn.tools
            .specs()
            .iter()
            .all(|spec| spec.name != ToolName::WebFetch)
    );
}

#[tokio::test]
async fn a_folder_is_listed_with_kinds_and_sizes() {
    let scene = Scene::new();
    scene.put("docs/a.txt", "alpha\n");
    scene.put("docs/b/c.txt", "");
    scene.put("docs/.hidden", "");
    std::os::unix::fs::symlink(scene.at("out"), scene.at("docs/l")).expect("links");
    let turn = scene.turn();
    let text = turn
        .done("list_dir", json!({"root": "docs", "path": "."}))
        .await;
    assert_eq!(
        text,
        ".: 3 entries\na.txt (file, 6 bytes)\nb/ (folder)\nl (link, not followed)"
    );
    let text = turn
        .done("list_dir", json!({"root": "docs", "path": "b"}))
        .await;
    assert_eq!(text, "b: 1 entry\nc.txt (file, 0 bytes)");
}

#[tokio::test]
async fn a_file_is_given_as_it_is() {
    let scene = Scene::new();
    let text = "\u{feff}one\r\ntwo – zwölf 🦀";
    scene.put("docs/a.txt", text);
    let turn = scene.turn();
    let arguments = json!({"root": "docs", "path": "a.txt"});
    assert_eq!(turn.done("read_file", arguments).await, text);
    let uses = turn.tools.uses();
    assert_eq!(uses.len(), 1);
    assert_eq!(
        (
            uses[0].name.as_str(),
            uses[0].outcome.as_str(),
            uses[0].bytes
        ),
        (
            "read_file",
            "done",
            u64::try_from(text.len()).expect("small")
        )
    );
    assert_eq!(uses[0].root.as_deref(), Some("docs"));
    assert_eq!(uses[0].path.as_deref(), Some("a.txt"));
}

#[tokio::test]
async fn a_search_gives_lines_and_says_what_was_left_out() {
    let scene = Scene::new();
    scene.put("docs/a.txt", "alpha\nbeta\n");
    scene.put("docs/b.md", "beta.\n");
    scene.put("docs/c.bin", b"\0beta");
    std::os::unix::fs::symlink(scene.at("out"), scene.at("docs/l")).expect("links");
    let turn = scene.turn();
    let text = turn
        .done("search", json!({"root": "docs", "pattern": "beta"}))
        .await;
    assert_eq!(
        text,
        "a.txt:2: beta\nb.md:1: beta.\n2 hits; 2 files searched.\n\
         Skipped: 1 symbolic links, 1 binary files."
    );
    let arguments = json!({"root": "docs", "pattern": "bet.\\.", "regex": true, "glob": "*.md"});
    let text = turn.done("search", arguments).await;
    assert!(
        text.starts_with("b.md:1: beta.\n1 hit; 1 files searched."),
        "{text}"
    );
}

#[tokio::test]
async fn a_search_ends_with_its_turn() {
    let scene = Scene::new();
    for number in 0..3000 {
        scene.put(&format!("docs/f{number}"), "alpha\n");
    }
    let turn = scene.turn();
    let tools = turn.tools.clone();
    let search = turn.call("search", json!({"root": "docs", "pattern": "beta"}));
    let (result, ()) = tokio::join!(search, async move { tools.end() });
    assert_eq!(crate::scene::code(&result), "revoked");
    assert_eq!(turn.tools.uses()[0].reason.as_deref(), Some("revoked"));
}

#[tokio::test]
async fn a_turn_lives_as_long_as_one_of_its_handles_unless_it_is_ended() {
    let scene = Scene::new();
    scene.put("docs/a.txt", "alpha\n");
    let turn = scene.turn();
    let kept = turn.tools.clone();
    drop(turn);
    let call = |id: &str| ToolCall {
        id: id.to_owned(),
        name: "read_file".to_owned(),
        arguments: r#"{"root":"docs","path":"a.txt"}"#.to_owned(),
    };
    assert_eq!(kept.call(call("1")).await.text, "alpha\n");
    kept.end();
    let result = kept.call(call("2")).await;
    assert_eq!(crate::scene::code(&result), "revoked");
}
