//! Schemas, checks and the table say the same.

use super::{Kind, Need, Row};
use crate::arguments::Arguments;
use guildhall_authority::offer::ToolName;
use proptest::prelude::*;
use serde_json::{Map, Value, json};

/// Names that a model may write: every one of the table, and one that no tool has.
const NAMES: [&str; 15] = [
    "root", "path", "pattern", "regex", "glob", "text", "old", "new", "url", "query", "message",
    "paths", "prefix", "title", "follow",
];

fn value() -> impl Strategy<Value = Value> {
    prop_oneof![
        4 => ".{0,8}".prop_map(Value::String),
        1 => any::<bool>().prop_map(Value::Bool),
        1 => Just(Value::Null),
        1 => any::<i32>().prop_map(|number| json!(number)),
        1 => prop::collection::vec(".{0,4}", 0..3).prop_map(|texts| json!(texts)),
        1 => Just(json!(["a", 1])),
        1 => Just(json!({"a": "b"})),
    ]
}

/// Arguments that have what a tool must have, most of the time, and some that it may not.
fn arguments(row: &'static Row) -> impl Strategy<Value = Value> {
    let good = |kind: Kind| match kind {
        Kind::Text => json!("a"),
        Kind::Flag => json!(true),
        Kind::Texts => json!(["a"]),
    };
    let must = row.fields.iter().filter(|field| field.need == Need::Must);
    let base: Map<String, Value> = must
        .map(|field| (field.name.to_owned(), good(field.kind)))
        .collect();
    let more = prop::collection::vec((prop::sample::select(&NAMES[..]), value()), 0..3);
    let without = prop::option::weighted(0.2, prop::sample::select(&NAMES[..]));
    (more, without).prop_map(move |(more, without)| {
        let mut all = base.clone();
        all.extend(
            more.into_iter()
                .map(|(name, value)| (name.to_owned(), value)),
        );
        if let Some(name) = without {
            all.remove(name);
        }
        Value::Object(all)
    })
}

proptest! {
    #[test]
    fn the_check_takes_exactly_what_the_schema_takes_and_null_for_what_may_be_left_out(
        (tool, arguments) in prop::sample::select(ToolName::ALL)
            .prop_flat_map(|tool| (Just(tool), arguments(Row::of(tool))))
    ) {
        let row = Row::of(tool);
        let by_check = Arguments::parse(row, &arguments.to_string()).is_ok();
        let mut stripped = arguments.clone();
        if let Some(fields) = stripped.as_object_mut() {
            let may = |name: &str| row.fields.iter().any(|it| it.name == name && it.need == Need::May);
            fields.retain(|name, value| !(value.is_null() && may(name)));
        }
        let by_schema = jsonschema::is_valid(&row.schema(), &stripped);
        prop_assert_eq!(by_schema, by_check, "{} {}", tool, arguments);
    }
}

#[test]
fn every_schema_is_one() {
    for tool in ToolName::ALL {
        let row = Row::of(*tool);
        assert!(jsonschema::meta::is_valid(&row.schema()), "{tool}");
        assert!(
            row.fields.iter().all(|field| NAMES.contains(&field.name)),
            "{tool}"
        );
        assert!(row.description.len() < 300, "{tool}");
    }
}

#[test]
fn null_is_nothing_where_an_argument_may_be_left_out_and_a_fault_where_it_may_not() {
    let row = Row::of(ToolName::Search);
    let null = r#"{"root":"a","pattern":"b","regex":null,"glob":null,"path":null}"#;
    let Ok(arguments) = Arguments::parse(row, null) else {
        panic!("null is as good as nothing");
    };
    assert_eq!(arguments.may_text("glob"), None);
    assert!(!arguments.is_set("regex"));
    for bad in [
        r#"{"root":"a","pattern":null}"#,
        r#"{"root":"a","pattern":"b","follow":null}"#,
        r#"{"root":"a","pattern":"b","glob":null,"glob":"*"}"#,
    ] {
        assert!(Arguments::parse(row, bad).is_err(), "{bad}");
    }
}
