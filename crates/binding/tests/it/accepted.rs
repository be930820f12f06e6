//! Documents that are accepted, and what they come to.

use crate::documents::{EXAMPLE, MINIMAL, example, machine, minimal, policy, with};
use guildhall_binding::{
    Approvals, DiscordConfig, EngineKind, Expect, Limits, PolicyDigest, Price, RootWrite,
    SessionScope, Standing, UserChannels, read,
};
use serde_json::json;
use std::{path::PathBuf, time::Duration};

#[test]
fn both_examples_are_accepted_under_their_own_names() {
    for (name, text) in [("example", EXAMPLE), ("minimal", MINIMAL)] {
        let expect = Expect {
            name: Some(name),
            ..machine()
        };
        let policy = read(text.as_bytes(), expect).unwrap_or_else(|faults| panic!("{faults}"));
        assert_eq!(policy.name.as_str(), name);
        assert_eq!(policy.digest, PolicyDigest::of(text.as_bytes()));
    }
}

#[test]
fn what_the_minimal_example_leaves_out_has_its_default() {
    let policy = policy(&minimal());
    assert_eq!(policy.limits, Limits::default());
    assert_eq!(policy.discord, DiscordConfig::default());
    assert_eq!(policy.approvals, Approvals::default());
    assert_eq!(policy.scope, SessionScope::Seat);
    assert_eq!(policy.tools, None);
    assert_eq!(policy.engine.kind, EngineKind::Practice);
    assert_eq!(policy.engine.idle, Duration::from_secs(300));
    assert!(policy.context_files.is_empty() && policy.platform_toolsets.is_empty());
    let ana = policy.users.values().next().expect("one user");
    assert_eq!(
        (&ana.channels, ana.standing),
        (&UserChannels::Every, Standing::Operator)
    );
}

#[test]
fn a_price_is_read_in_millionths_of_a_dollar() {
    let engine = json!({
        "kind": "native", "provider": "example", "model": "m", "keyEnv": "K",
        "price": {"inputPerMTok": 3, "outputPerMTok": 15.25, "cachedInputPerMTok": 0.0000004},
    });
    let policy = policy(&with(minimal(), "/engine", engine));
    let want = Price {
        input_micro_usd: 3_000_000,
        output_micro_usd: 15_250_000,
        cached_input_micro_usd: Some(0),
    };
    assert_eq!(policy.engine.price, Some(want));
}

#[test]
fn empty_sections_mean_the_same_as_absent_ones() {
    let mut document = minimal();
    for key in [
        "limits",
        "context",
        "sessions",
        "platformToolsets",
        "discord",
        "approvals",
    ] {
        document = with(document, &format!("/{key}"), json!({}));
    }
    let mut policy_of_empty = policy(&document);
    let policy_of_absent = policy(&minimal());
    policy_of_empty.digest = policy_of_absent.digest.clone();
    assert_eq!(policy_of_empty, policy_of_absent);
}

#[test]
fn the_tools_of_the_example_are_read_as_written() {
    let tools = policy(&example()).tools.expect("tools");
    let roots: Vec<_> = tools
        .roots
        .iter()
        .map(|root| {
            (
                root.name.as_str(),
                root.path.clone(),
                root.write,
                root.git.is_some(),
            )
        })
        .collect();
    assert_eq!(
        roots,
        [
            (
                "library",
                PathBuf::from("/srv/example/library"),
                RootWrite::No,
                false
            ),
            (
                "notes",
                PathBuf::from("/srv/example/notes"),
                RootWrite::Yes,
                true
            ),
            (
                "drafts",
                PathBuf::from("/srv/example/drafts"),
                RootWrite::Ask,
                false
            ),
        ]
    );
    assert_eq!(
        (tools.max_file_bytes, tools.max_calls_per_turn),
        (262_144, 8)
    );
}
