//! What an edited binding may change in a running process.

use crate::{
    changes::{apply, change as random_change},
    documents::{example, minimal, policy, read_value, with, without},
};
use guildhall_binding::{Change, Differences, FixedWhy, LimitChange, change};
use proptest::prelude::*;
use serde_json::{Value, json};

/// Applies an edit to a document; `null` takes the key away.
fn edited(base: &Value, pointer: &str, value: &str) -> Value {
    let value: Value = serde_json::from_str(value).expect("a JSON value");
    if value.is_null() {
        return without(base.clone(), pointer);
    }
    with(base.clone(), pointer, value)
}

fn outcome(base: &Value, pointer: &str, value: &str) -> Result<Change, Vec<(String, FixedWhy)>> {
    let fields = |fixed: guildhall_binding::FixedChanged| {
        fixed
            .fields
            .into_iter()
            .map(|field| (field.path, field.why))
            .collect()
    };
    change(&policy(base), &policy(&edited(base, pointer, value))).map_err(fields)
}

#[test]
fn people_places_and_limits_change_in_both_directions() {
    let channel =
        |name: &str| format!(r#"{{"id": "100000000000000012", "name": "{name}", "mode": "open"}}"#);
    let base = edited(&example(), "/channels/0", &channel("new"));
    let old = policy(&example());
    let change = change(&old, &policy(&base)).expect("may change");
    let id = |text: &str| text.parse().expect("an id");
    assert_eq!(
        change.channels,
        Differences {
            added: vec![id("100000000000000012")],
            removed: vec![id("100000000000000010")],
            changed: vec![],
        }
    );
    let users = outcome(&example(), "/users/1/operator", "true")
        .expect("may change")
        .users;
    assert_eq!(users.changed, [id_of_user("100000000000000021")]);
    assert!(users.added.is_empty() && users.removed.is_empty());
    let limits = outcome(&example(), "/limits", r#"{"turnsPerDay": 500}"#)
        .expect("may change")
        .limits;
    let expected = |limit, from, to| LimitChange { limit, from, to };
    assert_eq!(
        limits,
        [
            expected("turnsPerDay", Some(200), Some(500)),
            expected("microUsdPerDay", Some(5_000_000), None),
        ]
    );
    let renamed = outcome(&example(), "/guildName", "\"Other\"").expect("may change");
    assert_eq!(renamed.other, ["guildName"]);
}

fn id_of_user(text: &str) -> guildhall_binding::ids::UserId {
    text.parse().expect("an id")
}

#[test]
fn what_is_read_once_stays_until_the_next_start() {
    let cases = [
        ("/name", "\"other\"", "name"),
        ("/seat", "\"Other\"", "seat"),
        ("/guildId", "\"9\"", "guildId"),
        ("/botUserId", "\"9\"", "botUserId"),
        ("/tokenFile", "\"/etc/token\"", "tokenFile"),
        ("/engine/model", "\"other\"", "engine"),
        ("/engine/idleSeconds", "10", "engine"),
        ("/context/files", "[]", "context"),
        ("/sessions/scope", "\"seat\"", "sessions"),
        (
            "/discord/apiUrl",
            "\"http://127.0.0.1:1\"",
            "discord.apiUrl",
        ),
    ];
    for (pointer, value, path) in cases {
        let want = Err(vec![(path.to_owned(), FixedWhy::Fixed)]);
        assert_eq!(outcome(&example(), pointer, value), want, "{pointer}");
    }
}

#[test]
fn later_sections_narrow_in_place_and_widen_at_a_start() {
    // What stands in the example, what narrows it, and the path that is reported.
    let cases = [
        ("/tools", "null", "tools"),
        ("/tools/web", "null", "tools.web"),
        ("/tools/web/searxng", "null", "tools.web.searxng"),
        ("/tools/web/maxFetchBytes", "1", "tools.web.maxFetchBytes"),
        ("/tools/maxFileBytes", "1", "tools.maxFileBytes"),
        ("/tools/maxCallsPerTurn", "1", "tools.maxCallsPerTurn"),
        ("/tools/roots/1/git", "null", "tools.roots.notes.git"),
        ("/tools/roots/2/write", "false", "tools.roots.drafts.write"),
        (
            "/platformToolsets/discord",
            "[\"files\"]",
            "platformToolsets.discord",
        ),
        (
            "/discord/threadSessionsPerUser",
            "true",
            "discord.threadSessionsPerUser",
        ),
        (
            "/approvals/askTimeoutSeconds",
            "10",
            "approvals.askTimeoutSeconds",
        ),
    ];
    for (pointer, value, path) in cases {
        let narrowed = edited(&example(), pointer, value);
        let taken = change(&policy(&example()), &policy(&narrowed)).expect("may narrow");
        let want = Change {
            other: vec![path.to_owned()],
            ..Change::default()
        };
        assert_eq!(taken, want, "{pointer}");
        let back = change(&policy(&narrowed), &policy(&example())).expect_err("may not widen");
        let fields: Vec<_> = back
            .fields
            .iter()
            .map(|f| (f.path.as_str(), f.why))
            .collect();
        assert_eq!(fields, [(path, FixedWhy::Widens)], "{pointer}");
    }
}

#[test]
fn a_root_may_go_and_may_neither_come_nor_move_nor_change_places() {
    let roots = &example()["tools"]["roots"];
    let list = |indices: &[usize]| {
        let roots: Vec<_> = indices.iter().map(|index| roots[*index].clone()).collect();
        Value::from(roots).to_string()
    };
    let gone = outcome(&example(), "/tools/roots", &list(&[0, 2])).expect("may narrow");
    assert_eq!(gone.other, ["tools.roots.notes"]);
    let moved = outcome(&example(), "/tools/roots/0/path", "\"/srv/example/other\"");
    assert_eq!(
        moved,
        Err(vec![(
            "tools.roots.library.path".to_owned(),
            FixedWhy::Widens
        )])
    );
    let workspace = outcome(&example(), "/tools/roots/1/write", "\"ask\"");
    assert_eq!(
        workspace,
        Err(vec![(
            "tools.roots.notes.write".to_owned(),
            FixedWhy::Widens
        )])
    );
    let order = outcome(&example(), "/tools/roots", &list(&[1, 0, 2]));
    assert_eq!(
        order,
        Err(vec![("tools.roots".to_owned(), FixedWhy::Fixed)])
    );
}

#[test]
fn an_absent_list_is_judged_by_what_it_means() {
    // The base, the edit, and whether it may be taken.
    let no_toolsets = without(example(), "/platformToolsets");
    let no_posts = without(example(), "/discord/postChannels");
    let cotal = with(example(), "/platformToolsets/cotal", json!(["files"]));
    let cases = [
        (
            &no_toolsets,
            "/platformToolsets",
            r#"{"discord": ["files"]}"#,
            true,
        ),
        (
            &no_toolsets,
            "/platformToolsets",
            r#"{"discord": ["files", "discord"]}"#,
            false,
        ),
        (
            &no_toolsets,
            "/platformToolsets",
            r#"{"cotal": ["files"]}"#,
            false,
        ),
        (&example(), "/platformToolsets", "null", false),
        (&cotal, "/platformToolsets/cotal", "null", true),
        (&no_posts, "/discord/postChannels", r#"["7"]"#, false),
        (&example(), "/discord/postChannels", "null", false),
        (&example(), "/discord/postChannels", r#"["7"]"#, false),
        (&example(), "/discord/approvalMentions", "false", true),
        (
            &without(example(), "/discord/approvalMentions"),
            "/discord/approvalMentions",
            "true",
            true,
        ),
    ];
    for (base, pointer, value, taken) in cases {
        assert_eq!(
            outcome(base, pointer, value).is_ok(),
            taken,
            "{pointer} = {value}"
        );
    }
}

#[test]
fn approvals_may_only_go_towards_a_person() {
    let reviewer = |model: &str| json!({"model": model, "baseUrl": "http://127.0.0.1:1"});
    let approvals = |mode: &str| match mode {
        "smart" => json!({"mode": "smart", "reviewer": reviewer("m")}),
        mode => json!({"mode": mode}),
    };
    for (from, to, taken) in [
        ("off", "manual", true),
        ("smart", "manual", true),
        ("manual", "smart", false),
        ("manual", "off", false),
        ("off", "smart", false),
        ("smart", "off", false),
    ] {
        let base = with(minimal(), "/approvals", approvals(from));
        let found = outcome(&base, "/approvals", &approvals(to).to_string());
        assert_eq!(found.is_ok(), taken, "{from} to {to}");
    }
    let smart = with(minimal(), "/approvals", approvals("smart"));
    let other = outcome(
        &smart,
        "/approvals/reviewer",
        &reviewer("other").to_string(),
    );
    assert_eq!(
        other,
        Err(vec![("approvals.reviewer".to_owned(), FixedWhy::Fixed)])
    );
}

#[test]
fn every_hindrance_is_named_at_once_and_nothing_else_is_taken() {
    let mut document = with(example(), "/seat", json!("Other"));
    document = with(document, "/tools/maxFileBytes", json!(300_000));
    document = with(document, "/limits/turnsPerDay", json!(1));
    let fixed = change(&policy(&example()), &policy(&document)).expect_err("needs a start");
    assert_eq!(
        fixed.to_string(),
        "seat is fixed until the next start\n\
         tools.maxFileBytes would allow more than before, which needs a new start"
    );
    assert_eq!(
        serde_json::to_value(&fixed).expect("json"),
        json!({"fields": [
            {"path": "seat", "why": "fixed"},
            {"path": "tools.maxFileBytes", "why": "widens"},
        ]})
    );
}

#[test]
fn the_record_of_a_change_holds_ids_and_numbers() {
    let document = with(example(), "/limits/parallelTurns", json!(2));
    let document = with(document, "/users/0/operator", json!(false));
    let taken = change(&policy(&example()), &policy(&document)).expect("may change");
    assert_eq!(
        serde_json::to_value(&taken).expect("json"),
        json!({
            "channels": {"added": [], "removed": [], "changed": []},
            "users": {"added": [], "removed": [], "changed": ["100000000000000020"]},
            "limits": [{"limit": "parallelTurns", "from": 4, "to": 2}],
            "other": [],
        })
    );
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1000, failure_persistence: None, ..ProptestConfig::default() })]

    /// Whatever is edited: the same policy is no change, a change that is taken is reported, and
    /// what narrowed cannot be taken back.
    #[test]
    fn a_change_is_reported_and_narrowing_is_one_way(
        changes in prop::collection::vec((any::<prop::sample::Index>(), random_change()), 1..4),
    ) {
        let mut document = example();
        for (place, edit) in changes {
            apply(&mut document, &place, edit);
        }
        let old = policy(&example());
        let Ok(mut new) = read_value(&document) else {
            return Ok(());
        };
        prop_assert!(change(&new, &new).is_ok_and(|change| change.is_empty()));
        let there = change(&old, &new);
        let free = |path: &String| path == "guildName" || path == "discord.approvalMentions";
        match &there {
            Ok(taken) => {
                new.digest = old.digest.clone();
                prop_assert_eq!(taken.is_empty(), new == old);
                let one_way = !taken.other.iter().all(free);
                prop_assert_eq!(change(&new, &old).is_err(), one_way);
            }
            Err(fixed) => prop_assert!(!fixed.fields.is_empty()),
        }
    }
}
