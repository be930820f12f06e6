//! The JSON Schema of the file, for editors.
//!
//! In: the types of [`crate::file`]. Out: a schema that accepts every file that the reader
//! accepts. Never: a shape of its own; what two fields mean to each other is the reader's to say.

use crate::file::Binding;
use schemars::{Schema, generate::SchemaSettings, transform::RecursiveTransform};
use serde_json::Value;

/// The schema (JSON Schema, draft 2020-12), with descriptions, defaults and bounds.
#[must_use]
pub fn schema() -> Value {
    SchemaSettings::draft2020_12()
        .with_transform(RecursiveTransform(as_the_reader_sees_it))
        .into_generator()
        .into_root_schema_for::<Binding>()
        .to_value()
}

/// An optional key may be absent but never null, Rust's number types mean nothing in a file, and
/// a description is one line.
fn as_the_reader_sees_it(schema: &mut Schema) {
    let Some(object) = schema.as_object_mut() else {
        return;
    };
    object.retain(|key, value| match key.as_str() {
        "default" => !value.is_null(),
        "format" => value == "uri",
        _ => true,
    });
    if let Some(Value::String(text)) = object.get_mut("description") {
        *text = text.replace('\n', " ");
    }
    if let Some(Value::Array(values)) = object.get_mut("enum") {
        values.retain(|value| !value.is_null());
    }
    if let Some(Value::Array(types)) = object.get_mut("type") {
        types.retain(|name| name != "null");
        if let [only] = types.as_slice() {
            let only = only.clone();
            object.insert("type".to_owned(), only);
        }
    }
    if let Some(Value::Array(either)) = object.get_mut("anyOf") {
        either.retain(|schema| schema.get("type").is_none_or(|name| name != "null"));
        if let [Value::Object(only)] = either.as_slice() {
            let only = only.clone();
            object.remove("anyOf");
            // What stands beside the reference describes this use of it and stays.
            for (key, value) in only {
                object.entry(key).or_insert(value);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_in_the_schema_is_null() {
        let text = schema().to_string();
        assert!(!text.contains("null"), "{text}");
        assert!(!text.contains("uint"), "{text}");
    }

    #[test]
    fn every_object_is_closed_and_every_property_is_described() {
        let schema = schema();
        let definitions = schema["$defs"].as_object().expect("definitions");
        let objects = definitions
            .values()
            .chain([&schema])
            .filter(|schema| schema.get("properties").is_some());
        let mut count = 0;
        for object in objects {
            assert_eq!(object["additionalProperties"], false, "{object}");
            for (name, property) in object["properties"].as_object().expect("properties") {
                assert!(property.get("description").is_some(), "{name}: {property}");
                count += 1;
            }
        }
        assert!(count > 50, "{count} properties");
    }
}
