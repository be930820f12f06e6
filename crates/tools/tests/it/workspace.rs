//! The workspace: every write waits for a person.

use crate::scene::{Begins, Says, Scene, Seen, code, policy};
use guildhall_authority::{ask::Answer, call::CallEnd, scope::Origin};
use serde_json::json;

#[tokio::test]
async fn a_new_file_is_made_once_a_person_allows_it() {
    let scene = Scene::new();
    let turn = scene.turn();
    let arguments = json!({"path": "index.html", "text": "<p>hi</p>\n"});
    turn.done("create", arguments).await;
    assert_eq!(scene.text("site/index.html"), "<p>hi</p>\n");
    let asked = scene.desk.asked();
    assert_eq!(asked.len(), 1);
    assert_eq!(asked[0].shown.what, "Create index.html");
    assert_eq!(scene.desk.begun()[0].ask, Some(asked[0].id));
    assert_eq!(scene.desk.ended()[0].end, CallEnd::Done);
}

#[tokio::test]
async fn each_answer_but_once_leaves_the_file_as_it_is_and_says_which_it_was() {
    let scene = Scene::new();
    scene.put("site/a.txt", "one\n");
    let cases = [
        (Says::Answer(Answer::Denied), "denied"),
        (Says::Answer(Answer::TimedOut), "ask-timed-out"),
        (Says::Answer(Answer::Undelivered), "ask-undelivered"),
        (Says::Answer(Answer::Stopped), "stopped"),
        (Says::Answer(Answer::Withdrawn), "revoked"),
        (Says::Closed, "revoked"),
    ];
    for (says, want) in cases {
        scene.desk.says(says);
        let turn = scene.turn();
        let arguments = json!({"path": "a.txt", "old": "one", "new": "two"});
        assert_eq!(turn.refused("edit", arguments).await, want, "{says:?}");
        assert_eq!(scene.text("site/a.txt"), "one\n");
        let uses = turn.tools.uses();
        assert_eq!(uses[0].reason.as_deref(), Some(want));
    }
    assert_eq!(scene.desk.begun(), []);
}

fn create(path: &str) -> serde_json::Value {
    json!({"path": path, "text": "new\n"})
}

fn edit_one() -> serde_json::Value {
    json!({"path": "a.txt", "old": "one", "new": "two"})
}

#[tokio::test]
async fn the_card_shows_the_difference_whole_and_what_was_read_so_far() {
    let scene = Scene::new();
    scene.put("docs/rules.txt", "be kind\n");
    scene.put("docs/hits.txt", "a kind of hit\n");
    scene.put("site/a.txt", "zero\none\nthree\r\n");
    let turn = scene.turn();
    turn.done("read_file", json!({"root": "docs", "path": "rules.txt"}))
        .await;
    for path in ["", "."] {
        turn.done("list_dir", json!({"root": "docs", "path": path}))
            .await;
    }
    std::fs::create_dir(scene.at("site/sub")).expect("a folder");
    turn.done("list", json!({"path": "sub"})).await;
    turn.done("search", json!({"root": "docs", "pattern": "a kind"}))
        .await;
    let nothing = json!({"root": "docs", "pattern": "nowhere", "path": "rules.txt"});
    turn.done("search", nothing).await;
    turn.done("edit", edit_one()).await;
    let shown = &scene.desk.asked()[0].shown;
    assert_eq!(shown.what, "Edit a.txt");
    let read = [
        "docs:rules.txt",
        "docs:/",
        "site:sub/",
        "docs: search",
        "docs:hits.txt",
        "docs:rules.txt: search",
    ];
    assert_eq!(shown.read, read);
    let content = shown.content.as_ref().expect("a difference");
    assert_eq!(
        content.text,
        "--- a.txt\n+++ a.txt\n@@ -1,3 +1,3 @@\n zero\n-one\n+two\n three\r\n"
    );
    let fact = |name: &str| {
        let facts = shown.facts.iter();
        facts.filter(|(label, _)| label == name).count()
    };
    for name in [
        "workspace",
        "path",
        "bytes after",
        "sha256 after",
        "sha256 before",
    ] {
        assert_eq!(fact(name), 1, "{name}");
    }
}

#[tokio::test]
async fn a_card_has_the_exact_bytes_of_what_cannot_be_seen() {
    let scene = Scene::new();
    let turn = scene.turn();
    let text = "if admin {\u{202e} // } \u{200b}\\u{200b}\r\n";
    turn.done("create", json!({"path": "a.rs", "text": text}))
        .await;
    assert_eq!(scene.text("site/a.rs"), text);
    let asked = scene.desk.asked();
    let content = asked[0].shown.content.as_ref().expect("the content");
    assert_eq!(content.text, text);
    let (_, after) = &asked[0].shown.facts[3];
    assert_eq!(after, scene.desk.begun()[0].after.as_ref().expect("a file"));
}

#[tokio::test]
async fn a_target_that_changes_while_the_ask_is_open_is_left_as_it_is() {
    type Step = fn(&std::path::Path);
    let cases: [(&str, &str, Step); 6] = [
        ("other bytes", "changed-since-read", |site| {
            std::fs::write(site.join("a.txt"), "one and more\n").expect("writes");
        }),
        (
            "another file of the same bytes",
            "changed-since-read",
            |site| {
                std::fs::write(site.join("b.txt"), "one\n").expect("writes");
                std::fs::rename(site.join("b.txt"), site.join("a.txt")).expect("renames");
            },
        ),
        ("a link", "symlink", |site| {
            std::fs::remove_file(site.join("a.txt")).expect("removes");
            std::os::unix::fs::symlink("../out/secret", site.join("a.txt")).expect("links");
        }),
        ("a second name", "hard-link", |site| {
            std::fs::hard_link(site.join("a.txt"), site.join("b.txt")).expect("links");
        }),
        ("nothing", "changed-since-read", |site| {
            std::fs::remove_file(site.join("a.txt")).expect("removes");
        }),
        ("another root", "root-replaced", |site| {
            std::fs::rename(site, site.with_file_name("old")).expect("renames");
            std::fs::create_dir(site).expect("a folder");
            std::fs::write(site.join("a.txt"), "one\n").expect("writes");
        }),
    ];
    for (name, want, step) in cases {
        let scene = Scene::new();
        scene.put("site/a.txt", "one\n");
        scene.put("out/secret", "one\n");
        let site = scene.at("site");
        scene.desk.on_ask(move || step(&site));
        let turn = scene.turn();
        assert_eq!(turn.refused("edit", edit_one()).await, want, "{name}");
        assert_eq!(scene.text("out/secret"), "one\n", "{name}");
        let ended = scene.desk.ended();
        let why = want.to_owned();
        assert_eq!(ended[0].end, CallEnd::Refused { why }, "{name}");
        assert!(!scene.at("site/a.txt").exists() || !scene.text("site/a.txt").contains("two"));
    }
}

#[tokio::test]
async fn two_asks_of_one_turn_stand_apart_and_the_second_meets_what_the_first_did() {
    let scene = Scene::new();
    scene.desk.says(Says::Waits);
    let turn = scene.turn();
    let (one, other) = (
        turn.call("create", create("a.txt")),
        turn.call("create", create("a.txt")),
    );
    let decide = async {
        let both = scene.desk.until(|seen| {
            let asked: Vec<_> = seen
                .iter()
                .filter_map(|seen| match seen {
                    Seen::Asked(spec) => Some(spec.id),
                    Seen::Gone(_) | Seen::Begun(_) | Seen::Ended(_) => None,
                })
                .collect();
            (asked.len() == 2).then_some(asked)
        });
        let both = both.await;
        assert_ne!(both[0], both[1]);
        scene.desk.decide(both[1], Answer::Once);
        scene.desk.until(|seen| seen.iter().find_map(ended)).await;
        scene.desk.decide(both[0], Answer::Once);
    };
    let (one, other, ()) = tokio::join!(one, other, decide);
    let texts = [one.text, other.text];
    let made = texts
        .iter()
        .filter(|text| text.starts_with("Created"))
        .count();
    let refused = texts
        .iter()
        .filter(|text| text.starts_with("exists: "))
        .count();
    assert_eq!((made, refused), (1, 1), "{texts:?}");
    assert_eq!(scene.desk.ended().len(), 2);
}

fn ended(seen: &Seen) -> Option<()> {
    matches!(seen, Seen::Ended(_)).then_some(())
}

#[tokio::test]
async fn each_identical_call_asks_anew() {
    let scene = Scene::new();
    let turn = scene.turn();
    turn.done("create", create("a.txt")).await;
    std::fs::remove_file(scene.at("site/a.txt")).expect("removes");
    scene.desk.says(Says::Answer(Answer::Denied));
    assert_eq!(turn.refused("create", create("a.txt")).await, "denied");
    assert_eq!(scene.desk.asked().len(), 2);
    assert!(!scene.at("site/a.txt").exists());
}

#[tokio::test]
async fn a_call_that_is_dropped_while_it_asks_withdraws_its_ask() {
    let scene = Scene::new();
    scene.desk.says(Says::Waits);
    let turn = scene.turn();
    let mut call = Box::pin(turn.call("create", create("a.txt")));
    let asked = scene.desk.until(|seen| match seen.first() {
        Some(Seen::Asked(spec)) => Some(spec.id),
        Some(Seen::Gone(_) | Seen::Begun(_) | Seen::Ended(_)) | None => None,
    });
    let ask = tokio::select! {
        ask = asked => ask,
        result = &mut call => panic!("it waits: {result:?}"),
    };
    drop(call);
    assert_eq!(scene.desk.seen().last(), Some(&Seen::Gone(ask)));
    assert!(!scene.at("site/a.txt").exists());
    assert_eq!(turn.tools.uses()[0].reason.as_deref(), Some("cancelled"));
}

#[tokio::test]
async fn a_decision_about_another_turn_or_another_text_allows_nothing() {
    let scene = Scene::new();
    scene.desk.says(Says::Waits);
    let (mine, other) = (scene.turn(), scene.turn());
    let swap = async {
        let both = scene.desk.until(|seen| {
            let asked: Vec<_> = seen
                .iter()
                .filter_map(|seen| match seen {
                    Seen::Asked(spec) => Some(spec.id),
                    Seen::Gone(_) | Seen::Begun(_) | Seen::Ended(_) => None,
                })
                .collect();
            (asked.len() == 2).then_some(asked)
        });
        let both = both.await;
        let decisions = [0, 1].map(|index| scene.desk.decision(both[index], Answer::Once));
        let [first, second] = decisions;
        scene.desk.hand(both[1], first);
        scene.desk.hand(both[0], second);
    };
    let calls = (
        mine.call("create", create("a.txt")),
        other.call("create", json!({"path": "a.txt", "text": "other\n"})),
    );
    let (one, two, ()) = tokio::join!(calls.0, calls.1, swap);
    assert_eq!(
        (code(&one), code(&two)),
        ("other-effect".to_owned(), "other-effect".to_owned())
    );
    assert!(!scene.at("site/a.txt").exists());
    assert_eq!(scene.desk.begun(), []);
}

#[tokio::test]
async fn a_turn_that_ends_while_it_asks_or_begins_changes_nothing() {
    let scene = Scene::new();
    let turn = scene.turn();
    let tools = turn.tools.clone();
    scene.desk.on_ask(move || tools.end());
    assert_eq!(turn.refused("create", create("a.txt")).await, "revoked");

    let turn = scene.turn();
    let tools = turn.tools.clone();
    scene.desk.on_ask(|| {});
    scene.desk.on_begin(move || tools.end());
    let refused = turn.refused("create", create("a.txt")).await;
    assert!(
        ["revoked", "cancelled"].contains(&refused.as_str()),
        "{refused}"
    );
    // Both were allowed, and the connector hears of both that they came to nothing.
    let ended = scene.desk.ended();
    assert_eq!(ended.len(), 2);
    let why = "revoked".to_owned();
    assert_eq!(ended[0].end, CallEnd::Refused { why });
    assert_eq!(scene.desk.begun().len(), 1);
    assert!(!scene.at("site/a.txt").exists());
}

#[tokio::test]
async fn a_change_that_a_reload_forbids_after_a_person_allowed_it_is_told_as_refused() {
    let scene = Scene::new();
    let (host, place) = (scene.host.clone(), scene.at(""));
    let narrowed = policy(
        &place,
        &json!({"tools": {"roots": [
            {"name": "site", "path": place.join("site")},
        ]}}),
    );
    scene
        .desk
        .on_ask(move || host.reloaded(&std::sync::Arc::clone(&narrowed)));
    for (says, ends) in [(Answer::Denied, 0), (Answer::Once, 1)] {
        scene.desk.says(Says::Answer(says));
        let turn = scene.turn();
        let refused = turn.refused("create", create("a.txt")).await;
        assert_eq!(refused, "root-readonly");
        assert_eq!(scene.desk.ended().len(), ends, "{says:?}");
    }
    let why = "root-readonly".to_owned();
    assert_eq!(scene.desk.ended()[0].end, CallEnd::Refused { why });
    assert_eq!(scene.desk.begun(), []);
    assert!(!scene.at("site/a.txt").exists());
}

#[tokio::test]
async fn a_call_whose_beginning_never_comes_to_be_on_disk_changes_nothing() {
    let scene = Scene::new();
    scene.desk.begins(Begins::Closed);
    let turn = scene.turn();
    assert_eq!(turn.refused("create", create("a.txt")).await, "revoked");

    scene.desk.begins(Begins::Never);
    let turn = scene.turn();
    let mut call = Box::pin(turn.call("create", create("a.txt")));
    let begun = scene.desk.until(|seen| {
        let begun = seen.iter().filter(|seen| matches!(seen, Seen::Begun(_)));
        (begun.count() == 2).then_some(())
    });
    tokio::select! {
        () = begun => {}
        result = &mut call => panic!("it waits: {result:?}"),
    }
    drop(call);
    assert!(!scene.at("site/a.txt").exists());
    // Nobody saw it end.
    assert_eq!(turn.tools.uses()[0].outcome, "unknown");
}

#[tokio::test]
async fn a_peer_asks_nobody_and_a_plugin_asks_like_a_person() {
    let scene = Scene::new();
    let peer = scene.turn_of(Origin::Peer);
    assert_eq!(
        peer.refused("create", create("a.txt")).await,
        "peer-never-asks"
    );
    assert!(!scene.at("site/a.txt").exists());
    let schedule = scene.turn_of(Origin::Schedule);
    assert_eq!(
        schedule.refused("create", create("a.txt")).await,
        "not-offered"
    );
    let plugin = scene.turn_of(Origin::Plugin);
    plugin.done("create", create("a.txt")).await;
    assert_eq!(scene.desk.asked().len(), 1);
}

#[tokio::test]
async fn a_workspaces_tools_know_no_other_root_and_its_root_no_other_write() {
    let scene = Scene::with(|place| {
        json!({"roots": [
            {"name": "site", "path": place.join("site"), "write": "ask"},
            {"name": "docs", "path": place.join("docs"), "write": "ask"},
            {"name": "notes", "path": place.join("notes"), "write": true},
        ]})
    });
    scene.put("docs/a.txt", "one\n");
    scene.put("site/a.txt", "one\n");
    let turn = scene.turn();
    let root = json!({"root": "docs", "path": "a.txt"});
    assert_eq!(turn.refused("read", root).await, "bad-arguments");
    turn.done("edit", edit_one()).await;
    assert_eq!(
        (scene.text("site/a.txt"), scene.text("docs/a.txt")),
        ("two\n".into(), "one\n".into())
    );
    let arguments = json!({"root": "site", "path": "b.txt", "text": ""});
    assert_eq!(
        turn.refused("write_file", arguments).await,
        "workspace-only"
    );
}

#[tokio::test]
async fn the_bounds_of_a_workspace_are_its_own() {
    let scene = Scene::new();
    let turn = scene.turn();
    scene.put("site/full.txt", "a".repeat(128 * 1024));
    scene.put("site/over.txt", "a".repeat(128 * 1024 + 1));
    let text = turn.done("read", json!({"path": "full.txt"})).await;
    assert_eq!(text.len(), 128 * 1024);
    assert_eq!(
        turn.refused("read", json!({"path": "over.txt"})).await,
        "too-large"
    );
    for number in 0..201 {
        scene.put(&format!("site/many/{number:03}"), "");
    }
    let text = turn.done("list", json!({"path": "many"})).await;
    assert!(
        text.starts_with("many: 201 entries\n000 (file, 0 bytes)\n"),
        "{text}"
    );
    assert!(text.ends_with("These are the first 200 by name; list a folder below, or search."));
    let long = json!({"path": "a.txt", "text": "a".repeat(64 * 1024)});
    assert_eq!(turn.refused("create", long).await, "arguments-too-large");
    assert_eq!(scene.desk.asked(), []);
}

#[tokio::test]
async fn the_list_of_what_was_read_is_bounded_and_says_how_much_more_there_is() {
    let scene = Scene::new();
    for number in 0..70 {
        std::fs::create_dir(scene.at(&format!("site/f{number}"))).expect("a folder");
    }
    let turn = scene.turn();
    for number in 0..70 {
        turn.done("list", json!({"path": format!("f{number}")}))
            .await;
    }
    turn.done("create", create("a.txt")).await;
    let read = &scene.desk.asked()[0].shown.read;
    assert_eq!((read.len(), read[60].as_str()), (61, "and 10 more"));
}
