//! Random changes of a document, near enough to the file's own words to matter.

use proptest::prelude::*;
use serde_json::{Value, json};

/// Every place of a document, as JSON pointers.
pub(crate) fn pointers(value: &Value) -> Vec<String> {
    let mut found = vec![String::new()];
    let children = value
        .as_object()
        .into_iter()
        .flatten()
        .map(|(key, value)| (key.clone(), value))
        .chain(
            value
                .as_array()
                .into_iter()
                .flatten()
                .enumerate()
                .map(|(index, value)| (index.to_string(), value)),
        );
    for (key, value) in children {
        found.extend(pointers(value).iter().map(|rest| format!("/{key}{rest}")));
    }
    found
}

/// Words that mean something somewhere in the file, and some that mean nothing.
pub(crate) const WORDS: &[&str] = &[
    "",
    " ",
    "a",
    "Ab-9_",
    "-a",
    "x\n",
    "7",
    "100000000000000010",
    "100000000000000011",
    "100000000000000002",
    "18446744073709551615",
    "18446744073709551616",
    "open",
    "mention",
    "ask",
    "practice",
    "native",
    "pi",
    "acp",
    "seat",
    "thread",
    "manual",
    "smart",
    "off",
    "files",
    "discord",
    "discord_admin",
    "terminal",
    "mcp:x",
    "vault",
    "/",
    "/srv/x",
    "/srv/example",
    "a/b",
    "../a",
    "https://example.com",
    "https://example.com/v1",
    "http://127.0.0.1:1",
    "http://10.0.0.1",
    "Seat <a@b>",
    "main",
    "KEY",
    "\u{feff}",
    "a\u{0}b",
    "\u{202e}",
];

fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => prop::sample::select(WORDS.to_vec()).prop_map(str::to_owned),
        1 => any::<String>(),
        1 => "[a-z0-9_/:.@<> -]{0,80}",
    ]
}

fn scalar() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        (0_u64..5000).prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        // JSON Schema takes 3.0 for a whole number; the reader asks for 3.
        any::<f64>()
            .prop_filter("a fraction", |real| real.fract() != 0.0)
            .prop_map(Value::from),
        Just(json!(1e300)),
        text().prop_map(Value::from),
    ]
}

fn key() -> impl Strategy<Value = String> {
    let keys = "id name mode channels operator kind provider model thinking baseUrl keyFile keyEnv \
        command idleSeconds write git path roots web searxng scope files reviewer mesh tools $schema";
    let keys: Vec<_> = keys.split_whitespace().collect();
    prop_oneof![
        6 => prop::sample::select(keys).prop_map(str::to_owned),
        1 => text(),
    ]
}

pub(crate) fn value() -> impl Strategy<Value = Value> {
    scalar().prop_recursive(3, 24, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::vec((key(), inner), 0..4)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

/// One change of a document: a value replaced, a key added, a key or an item removed or doubled.
#[derive(Clone, Debug)]
pub(crate) enum Change {
    Replace(Value),
    Add(String, Value),
    Remove,
    Repeat,
}

pub(crate) fn change() -> impl Strategy<Value = Change> {
    prop_oneof![
        4 => value().prop_map(Change::Replace),
        2 => (key(), value()).prop_map(|(key, value)| Change::Add(key, value)),
        1 => Just(Change::Remove),
        1 => Just(Change::Repeat),
    ]
}

pub(crate) fn apply(document: &mut Value, place: &prop::sample::Index, change: Change) {
    let all = pointers(document);
    let pointer = place.get(&all).clone();
    let parent_and_key = pointer
        .rsplit_once('/')
        .map(|(parent, key)| (parent, key.to_owned()));
    match change {
        Change::Replace(value) => {
            if let Some(target) = document.pointer_mut(&pointer) {
                *target = value;
            }
        }
        Change::Add(key, value) => {
            if let Some(Value::Object(target)) = document.pointer_mut(&pointer) {
                target.insert(key, value);
            }
        }
        Change::Remove | Change::Repeat => {
            let Some((parent, key)) = parent_and_key else {
                return;
            };
            let repeat = matches!(change, Change::Repeat);
            match document.pointer_mut(parent) {
                Some(Value::Object(target)) if !repeat => {
                    target.remove(&key);
                }
                Some(Value::Array(items)) => {
                    let index: usize = key.parse().expect("a pointer into a list");
                    let item = items.remove(index);
                    if repeat {
                        items.extend([item.clone(), item]);
                    }
                }
                _ => {}
            }
        }
    }
}
