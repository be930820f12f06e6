//! Writes and edits of roots that the policy opens for them.

use crate::scene::{Scene, Seen};
use guildhall_authority::call::CallEnd;
use serde_json::json;

#[tokio::test]
async fn a_write_is_on_disk_as_begun_before_it_is_made_and_as_done_after_it() {
    let scene = Scene::new();
    let turn = scene.turn();
    let target = scene.at("notes/today.md");
    let there = target.clone();
    scene.desk.on_begin(move || assert!(!there.exists()));
    let arguments = json!({"root": "notes", "path": "today.md", "text": "one\r\n"});
    let text = turn.done("write_file", arguments).await;
    assert!(text.contains("not committed"), "{text}");
    assert_eq!(scene.text("notes/today.md"), "one\r\n");
    let seen = scene.desk.seen();
    let [Seen::Begun(begun), Seen::Ended(ended)] = seen.as_slice() else {
        panic!("{seen:?}");
    };
    assert_eq!(
        (begun.root.as_deref(), begun.target.as_str()),
        (Some("notes"), "today.md")
    );
    assert_eq!(begun.ask, None);
    assert_eq!(ended.end, CallEnd::Done);
    let after = begun.after.as_deref().expect("a digest");
    let holds = scene.host.holds("notes", "today.md", after);
    assert_eq!(holds, guildhall_tools::Holds::Yes);
}

#[tokio::test]
async fn an_edit_changes_what_it_names_and_no_other_byte() {
    let scene = Scene::new();
    scene.put("notes/a.txt", "\u{feff}one\r\ntwo\r\nthree");
    let turn = scene.turn();
    let arguments = json!({"root": "notes", "path": "a.txt", "old": "two", "new": "2"});
    turn.done("edit_file", arguments.clone()).await;
    assert_eq!(scene.text("notes/a.txt"), "\u{feff}one\r\n2\r\nthree");
    assert_eq!(turn.refused("edit_file", arguments).await, "no-match");
}

#[tokio::test]
async fn each_text_is_written_and_read_back_byte_for_byte() {
    let scene = Scene::new();
    let turn = scene.turn();
    let texts = [
        "",
        "\n",
        "a",
        "a\r\nb\r\n",
        "a\nb\r\nc\rd",
        "\u{feff}a\n",
        "zwölf Boxkämpfer 🦀\u{200d}🧶 e\u{301} \u{202e}\n",
        "\"quotes\" \\ \u{1b}[0m\ttabs\n",
    ];
    for (number, text) in texts.into_iter().enumerate() {
        for (place, path) in [
            ("notes", format!("{number}.txt")),
            ("notes", "same.txt".to_owned()),
        ] {
            let write = json!({"root": place, "path": path, "text": text});
            turn.done("write_file", write).await;
            assert_eq!(scene.text(&format!("{place}/{path}")), text, "{text:?}");
            let read = json!({"root": place, "path": path});
            assert_eq!(turn.done("read_file", read).await, text, "{text:?}");
        }
        let path = format!("{number}.txt");
        turn.done("create", json!({"path": path, "text": text}))
            .await;
        assert_eq!(scene.text(&format!("site/{path}")), text, "{text:?}");
        assert_eq!(
            turn.done("read", json!({"path": path})).await,
            text,
            "{text:?}"
        );
    }
    let listed = json!({"root": "notes", "path": "."});
    let once = turn.done("list_dir", listed.clone()).await;
    assert_eq!(turn.done("list_dir", listed).await, once);
}

#[tokio::test]
async fn an_edit_needs_its_text_exactly_once_and_says_how_often_it_stands_there() {
    let scene = Scene::new();
    scene.put("notes/a.txt", "aaa\r\nb\r\nb\r\n");
    scene.put("notes/latin1.txt", b"caf\xe9 one\n");
    let turn = scene.turn();
    let cases = [
        ("a.txt", "aa", "x", "ambiguous", "it occurs 2 times"),
        ("a.txt", "b", "x", "ambiguous", "it occurs 2 times"),
        ("a.txt", "c", "x", "no-match", "(0 occurrences)"),
        ("a.txt", "aaa\nb", "x", "no-match", "end with CRLF"),
        ("a.txt", "", "x", "bad-arguments", "empty"),
        ("a.txt", "aaa", "aaa", "no-change", "the same"),
        ("latin1.txt", "one", "two", "not-utf8", "UTF-8"),
        ("a.txt", "aaa", "x\0y", "binary", "NUL"),
        ("none.txt", "one", "two", "not-found", "nothing"),
    ];
    for (path, old, new, want, words) in cases {
        let edit = json!({"root": "notes", "path": path, "old": old, "new": new});
        let result = turn.call("edit_file", edit).await;
        assert_eq!(crate::scene::code(&result), want, "{path} {old:?}");
        assert!(result.text.contains(words), "{}", result.text);
    }
    assert_eq!(scene.text("notes/a.txt"), "aaa\r\nb\r\nb\r\n");
    let latin1 = std::fs::read(scene.at("notes/latin1.txt")).expect("there");
    assert_eq!(latin1, b"caf\xe9 one\n");
    assert_eq!(scene.desk.seen(), []);
}

#[tokio::test]
async fn mode_bits_stay_and_no_folder_is_made() {
    use std::os::unix::fs::PermissionsExt as _;
    let scene = Scene::new();
    scene.put("notes/run.sh", "echo one\n");
    let set = std::fs::Permissions::from_mode(0o755);
    std::fs::set_permissions(scene.at("notes/run.sh"), set).expect("sets");
    let turn = scene.turn();
    let edit = json!({"root": "notes", "path": "run.sh", "old": "one", "new": "two"});
    turn.done("edit_file", edit).await;
    let write = json!({"root": "notes", "path": "run.sh", "text": "echo three\n"});
    turn.done("write_file", write).await;
    let facts = std::fs::metadata(scene.at("notes/run.sh")).expect("there");
    assert_eq!(facts.permissions().mode() & 0o7777, 0o755);
    for path in ["new/a.txt", ".git/config", "run.sh/a"] {
        let write = json!({"root": "notes", "path": path, "text": "x"});
        turn.refused("write_file", write).await;
    }
    let names: Vec<_> = std::fs::read_dir(scene.at("notes"))
        .expect("there")
        .flatten()
        .collect();
    assert_eq!(names.len(), 1);
}

#[tokio::test]
async fn a_mask_is_not_written_back_in_place_of_what_it_covers() {
    let scene = Scene::new();
    scene.put("notes/a.txt", "url = https://example.org\n");
    scene.put("notes/words.txt", "we show <masked> there\n");
    let turn = scene.turn();
    let masked = "url = https://<masked>@example.org\n";
    let write = json!({"root": "notes", "path": "a.txt", "text": masked});
    assert_eq!(turn.refused("write_file", write).await, "masked-text");
    let edit =
        json!({"root": "notes", "path": "a.txt", "old": "https://", "new": "https://<masked>@"});
    assert_eq!(turn.refused("edit_file", edit).await, "masked-text");
    let create = json!({"path": "a.txt", "text": masked});
    assert_eq!(turn.refused("create", create).await, "masked-text");
    // A text that speaks of masks can be edited all the same.
    let edit = json!({"root": "notes", "path": "words.txt", "old": "<masked> there", "new": "<masked> here"});
    turn.done("edit_file", edit).await;
    assert_eq!(scene.text("notes/a.txt"), "url = https://example.org\n");
}
