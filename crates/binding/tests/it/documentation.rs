//! The page about the binding names every key that the schema has, with its default.

use guildhall_binding::schema;
use serde_json::Value;

const PAGE: &str = include_str!("../../../../docs/binding.md");

/// Every key of the file as the page writes it, with its default and whether it is required.
fn keys(schema: &Value, root: &Value, path: &str, found: &mut Vec<(String, Option<Value>, bool)>) {
    let schema = resolved(schema, root);
    let required = schema["required"].as_array().cloned().unwrap_or_default();
    for (name, property) in schema["properties"].as_object().into_iter().flatten() {
        let path = if path.is_empty() {
            name.clone()
        } else {
            format!("{path}.{name}")
        };
        let must = required.contains(&Value::from(name.as_str()));
        found.push((path.clone(), property.get("default").cloned(), must));
        keys(property, root, &path, found);
        if let Some(items) = resolved(property, root).get("items") {
            keys(items, root, &format!("{path}[]"), found);
        }
    }
}

fn resolved<'s>(schema: &'s Value, root: &'s Value) -> &'s Value {
    match schema["$ref"].as_str() {
        Some(reference) => root.pointer(&reference[1..]).expect("a definition"),
        None => schema,
    }
}

#[test]
fn the_page_has_a_row_for_every_key_with_its_default() {
    let root = schema();
    let mut found = Vec::new();
    keys(&root, &root, "", &mut found);
    assert!(found.len() > 70, "{} keys", found.len());
    for (path, default, required) in found {
        let start = format!("| `{path}` | ");
        let row = PAGE
            .lines()
            .find_map(|line| line.strip_prefix(start.as_str()));
        let row = row.unwrap_or_else(|| panic!("no row for {path}"));
        let cell = row.split(" | ").next().unwrap_or_default();
        match default {
            Some(Value::String(word)) => assert_eq!(cell, format!("`{word}`"), "{path}"),
            Some(value) => assert_eq!(cell, format!("`{value}`"), "{path}"),
            None => assert_eq!(cell == "required", required, "{path}: {cell}"),
        }
    }
}

#[test]
fn the_faults_that_the_page_shows_are_real() {
    let mut document = crate::documents::example();
    document["channels"][1]["mode"] = "loud".into();
    document["users"][0]["chanels"] = serde_json::json!(["100000000000000010"]);
    document["tokenFile"] = "MTAw.".repeat(15)[..72].into();
    let refused = crate::documents::read_value(&document).expect_err("refused");
    for line in refused.to_string().lines() {
        assert!(PAGE.lines().any(|shown| shown == line), "{line}");
    }
}
