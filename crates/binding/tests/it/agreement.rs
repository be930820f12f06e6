//! The schema and the reader agree: what the schema refuses the reader refuses, and each class of
//! fault that has to do with shape is seen by both.

use crate::{
    changes::{WORDS, apply, change, pointers, value},
    documents::{example, full, minimal, read_value, with, without},
};
use guildhall_binding::{Fault, FaultCode, Faults, file, schema};
use jsonschema::Validator;
use proptest::prelude::*;
use serde_json::{Value, json};
use std::sync::LazyLock;

static SCHEMA: LazyLock<Validator> =
    LazyLock::new(|| jsonschema::draft202012::new(&schema()).expect("the schema is a schema"));

/// Reads a document, and checks that the schema refuses nothing that the reader takes, and takes
/// nothing whose shape the reader refuses.
fn read_and_compare(document: &Value) -> Result<(), Faults> {
    let read = read_value(document).map(|_| ());
    match &read {
        Ok(()) => {
            let refused = SCHEMA
                .validate(document)
                .err()
                .map(|error| error.to_string());
            assert_eq!(refused, None, "{document}");
        }
        Err(faults) => {
            let of_shape = faults
                .as_slice()
                .iter()
                .find(|fault| is_of_shape(fault.code));
            assert!(
                of_shape.is_none() || !SCHEMA.is_valid(document),
                "{of_shape:?}\n{document}"
            );
        }
    }
    read
}

/// Whether a fault can be told without knowing what the values mean.
fn is_of_shape(code: FaultCode) -> bool {
    use FaultCode::{Empty, Missing, OutOfRange, TooMany, UnknownKey, WrongType};
    matches!(
        code,
        Empty | Missing | OutOfRange | TooMany | UnknownKey | WrongType
    )
}

#[test]
fn both_take_the_examples() {
    for document in [example(), minimal(), full()] {
        assert!(read_and_compare(&document).is_ok());
    }
}

fn both_refuse(wrong: &[(&str, Value)]) {
    for (pointer, value) in wrong {
        let document = with(example(), pointer, value.clone());
        assert!(!SCHEMA.is_valid(&document), "schema: {pointer}");
        assert!(read_value(&document).is_err(), "reader: {pointer}");
    }
}

#[test]
fn both_see_each_fault_of_shape_in_who_where_and_the_engine() {
    both_refuse(&[
        ("/tokenFiel", json!("/x")),
        ("/channels/0/mode", json!("loud")),
        ("/channels/0/extra", json!(1)),
        ("/channels", json!([])),
        ("/users", json!({})),
        ("/users/1/channels", json!([])),
        ("/users/1/channels", json!(["7", "7"])),
        ("/users/0/operator", json!("yes")),
        ("/guildId", json!(100)),
        ("/guildId", json!("0100")),
        ("/name", json!("a b")),
        ("/seat", json!("")),
        ("/bindingVersion", json!(2)),
        ("/tokenFile", json!("relative")),
        ("/engine/kind", json!("gpt")),
        ("/engine/baseUrl", json!("ftp://example.com")),
        ("/engine/command", json!(["x"])),
        ("/engine", json!({"kind": "practice", "model": "m"})),
        ("/engine", json!({"kind": "acp"})),
        ("/engine/price", json!({"inputPerMTok": 1})),
        (
            "/engine/price",
            json!({"inputPerMTok": -1, "outputPerMTok": 1}),
        ),
        (
            "/engine/price",
            json!({"inputPerMTok": 1, "outputPerMTok": 1, "perCall": 1}),
        ),
        (
            "/engine",
            json!({"kind": "practice", "price": {"inputPerMTok": 1, "outputPerMTok": 1}}),
        ),
        (
            "/engine",
            json!({"kind": "acp", "command": ["a"], "price": {"inputPerMTok": 1, "outputPerMTok": 1}}),
        ),
        ("/engine", json!({"kind": "native", "model": "m"})),
    ]);
}

#[test]
fn both_see_each_fault_of_shape_in_the_other_parts() {
    both_refuse(&[
        ("/limits/turnTimeoutSeconds", json!(3601)),
        ("/limits/turnsPerDay", json!(0)),
        ("/limits/usdPerDay", json!(0)),
        ("/limits", json!(null)),
        ("/context/files/0", json!("/etc/passwd")),
        ("/sessions/scope", json!("all")),
        ("/tools/roots/0/write", json!("yes")),
        ("/tools/roots/0/name", json!("a/b")),
        ("/tools/roots/1/git/author", json!("Seat")),
        ("/tools/roots/1/git/protocol", json!("x")),
        ("/platformToolsets/discord/0", json!("file")),
        ("/platformToolsets/cotal", json!(["discord_admin"])),
        ("/discord/postChannels", json!([])),
        ("/discord/apiUrl", json!("http://127.0.0.1/api")),
        ("/approvals/mode", json!("smart")),
        (
            "/approvals/reviewer",
            json!({"provider": "p", "model": "m"}),
        ),
    ]);
}

#[test]
fn both_miss_what_must_be_there() {
    for key in [
        "/name",
        "/engine",
        "/users/0/name",
        "/tools/roots/1/git/branch",
    ] {
        let document = without(example(), key);
        assert!(!SCHEMA.is_valid(&document), "schema: {key}");
        assert!(read_value(&document).is_err(), "reader: {key}");
    }
}

#[test]
fn the_schema_knows_the_reserved_names_that_the_reader_refuses() {
    for pointer in [
        "/mesh",
        "/plugins",
        "/schedules",
        "/tools/mcp",
        "/tools/terminal",
    ] {
        let document = with(example(), pointer, json!({"x": [1, null]}));
        assert!(SCHEMA.is_valid(&document), "{pointer}");
        assert!(read_value(&document).is_err_and(|faults| faults.only_reserved()));
    }
}

#[test]
fn a_file_written_from_the_types_is_read_back() {
    let id = "100000000000000001";
    let binding = file::Binding {
        schema: None,
        binding_version: 1,
        name: "written".to_owned(),
        seat: "Writer".to_owned(),
        guild_id: id.parse().expect("an id"),
        guild_name: "Server".to_owned(),
        bot_user_id: id.parse().expect("an id"),
        token_file: "/etc/guildhall/token".to_owned(),
        channels: vec![file::Channel {
            id: id.parse().expect("an id"),
            name: "general".to_owned(),
            mode: file::ChannelMode::Mention,
        }],
        users: vec![file::User {
            id: "100000000000000003".parse().expect("an id"),
            name: "Ana".to_owned(),
            channels: None,
            operator: Some(true),
        }],
        engine: practice(),
        limits: Some(file::Limits::default()),
        context: None,
        sessions: None,
        tools: Some(file::Tools {
            roots: Some(vec![file::Root {
                name: "work".to_owned(),
                path: "/srv/work".to_owned(),
                write: Some(file::Write::Ask),
                git: None,
            }]),
            ..file::Tools::default()
        }),
        platform_toolsets: None,
        discord: None,
        approvals: None,
        plugins: None,
        mesh: None,
        schedules: None,
    };
    let document = serde_json::to_value(&binding).expect("json");
    assert_eq!(read_and_compare(&document), Ok(()));
}

fn practice() -> file::Engine {
    file::Engine {
        kind: file::EngineKind::Practice,
        provider: None,
        model: None,
        thinking: None,
        base_url: None,
        key_file: None,
        key_env: None,
        command: None,
        idle_seconds: None,
        price: None,
    }
}

/// Every word, and a value of every other kind.
fn vocabulary() -> Vec<Value> {
    let numbers = [-1, 0, 1, 7, 60, 3600, 3601, 90_000, 100_000_000].map(Value::from);
    let others = [
        json!(null),
        json!(true),
        json!(false),
        json!(0.5),
        json!([]),
        json!({}),
        json!(["7"]),
    ];
    let words = WORDS.iter().map(|word| Value::from(*word));
    let long = Value::from("a".repeat(5000));
    words.chain(numbers).chain(others).chain([long]).collect()
}

#[test]
fn each_value_at_each_place_is_read_alike() {
    let mut accepted = 0;
    let vocabulary = vocabulary();
    let full = full();
    for pointer in pointers(&full).into_iter().skip(1) {
        for value in &vocabulary {
            let document = with(full.clone(), &pointer, value.clone());
            accepted += usize::from(read_and_compare(&document).is_ok());
        }
    }
    assert!(accepted > 500, "{accepted}");
}

fn assert_bounded(faults: &Faults) {
    assert!(!faults.as_slice().is_empty());
    assert!(faults.as_slice().len() <= guildhall_binding::FAULTS_MAX);
    for Fault {
        path,
        found,
        allowed,
        ..
    } in faults.as_slice()
    {
        assert!(path.len() < 1000 && found.len() < 1000 && allowed.len() < 1000);
    }
    let shown = faults.to_string();
    assert!(
        shown.chars().all(|c| c == '\n' || !c.is_control()),
        "{shown:?}"
    );
    let lines = faults.as_slice().len() + usize::from(faults.more() > 0);
    assert_eq!(shown.lines().count(), lines);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_thousand_changed_examples_are_read_alike(
        changes in prop::collection::vec((any::<prop::sample::Index>(), change()), 1..4),
        small in any::<bool>(),
    ) {
        let mut document = if small { minimal() } else { full() };
        for (place, change) in changes {
            apply(&mut document, &place, change);
        }
        if let Err(faults) = read_and_compare(&document) {
            assert_bounded(&faults);
        }
    }

    #[test]
    fn any_json_is_read_or_refused_within_bounds(document in value()) {
        if let Err(faults) = read_and_compare(&document) {
            assert_bounded(&faults);
        }
    }

    #[test]
    fn any_bytes_are_refused_within_bounds(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        let refused = guildhall_binding::read(&bytes, crate::documents::machine());
        assert_bounded(&refused.expect_err("noise is no binding"));
    }

    #[test]
    fn an_example_with_changed_bytes_never_panics(
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6),
        cut in any::<prop::sample::Index>(),
        whole in any::<bool>(),
    ) {
        let mut bytes = crate::documents::EXAMPLE.as_bytes().to_vec();
        for (place, byte) in changes {
            let index = place.index(bytes.len());
            bytes[index] = byte;
        }
        if !whole {
            bytes.truncate(cut.index(bytes.len()));
        }
        if let Err(faults) = guildhall_binding::read(&bytes, crate::documents::machine()) {
            assert_bounded(&faults);
            assert!(faults.as_slice().iter().all(|fault| fault.code != FaultCode::TooLarge));
        }
    }
}

#[test]
fn the_full_document_has_every_key_of_the_schema_that_is_served() {
    let schema = schema();
    let mut missing = Vec::new();
    absent_keys(&schema, &schema, &full(), "", &mut missing);
    let reserved = [
        "mesh",
        "plugins",
        "schedules",
        "tools.mcp",
        "tools.terminal",
    ];
    // The one beside them stands in the document, or its engine is of another kind.
    let instead = [
        "engine.keyEnv",
        "engine.price",
        "approvals.reviewer.keyFile",
    ];
    missing.retain(|path| !reserved.contains(&path.as_str()) && !instead.contains(&path.as_str()));
    assert_eq!(missing, Vec::<String>::new());
}

/// The keys of a schema that no object of the document at that place has.
fn absent_keys(schema: &Value, root: &Value, at: &Value, path: &str, missing: &mut Vec<String>) {
    let schema = match schema["$ref"].as_str() {
        Some(reference) => root.pointer(&reference[1..]).expect("a definition"),
        None => schema,
    };
    for (key, property) in schema["properties"].as_object().into_iter().flatten() {
        let objects: Vec<_> = match at.as_array() {
            Some(items) => items.iter().collect(),
            None => vec![at],
        };
        let dot = if path.is_empty() { "" } else { "." };
        let path = format!("{path}{dot}{key}");
        match objects.iter().find_map(|object| object.get(key)) {
            Some(value) => absent_keys(
                property.get("items").unwrap_or(property),
                root,
                value,
                &path,
                missing,
            ),
            None => missing.push(path),
        }
    }
}
