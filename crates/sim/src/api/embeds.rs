//! Embeds.
//!
//! In: `embeds` of a body. Out: the same with the type filled in.
//! Never: fetches anything that an embed points at.

use serde_json::{Map, Value, json};

use super::form::Form;
use crate::error::FormErrors;

// Source of the limits: Discord API docs, Embed Limits.
const EMBEDS_MAX_COUNT: usize = 10;
const ALL_TEXT_MAX_CHARS: usize = 6_000;
const FIELDS_MAX_COUNT: usize = 25;
const TEXTS: [(&str, usize); 2] = [("title", 256), ("description", 4_096)];
const FIELD_TEXTS: [(&str, usize); 2] = [("name", 256), ("value", 1_024)];
/// What a bot may set; anything else in an embed is left out.
const KNOWN: [&str; 10] = [
    "title",
    "description",
    "url",
    "timestamp",
    "color",
    "footer",
    "image",
    "thumbnail",
    "author",
    "fields",
];
const FOOTER_MAX_CHARS: usize = 2_048;

/// Reads and completes the embeds of a form.
pub(crate) fn read(form: &mut Form) -> Option<Vec<Value>> {
    let mut list = form.list("embeds", EMBEDS_MAX_COUNT)?;
    let mut all = 0;
    for (index, embed) in list.iter_mut().enumerate() {
        let index = index.to_string();
        match embed.as_object_mut() {
            Some(map) => all += complete(map, &["embeds", &index], &mut form.errors),
            None => no_object(&["embeds", &index], &mut form.errors),
        }
    }
    if all > ALL_TEXT_MAX_CHARS {
        let text = format!("Embed size exceeds maximum size of {ALL_TEXT_MAX_CHARS}");
        form.errors
            .add(&["embeds"], "MAX_EMBED_SIZE_EXCEEDED", &text);
    }
    Some(list)
}

/// Checks and completes one embed. Gives the length of its texts.
fn complete(map: &mut Map<String, Value>, at: &[&str], errors: &mut FormErrors) -> usize {
    map.retain(|key, value| !value.is_null() && KNOWN.contains(&key.as_str()));
    for key in ["url", "timestamp"] {
        if map.get(key).is_some_and(|value| !value.is_string()) {
            errors.wrong_type(&[at, &[key]].concat(), "string");
        }
    }
    if map
        .get("color")
        .is_some_and(|value| value.as_u64().is_none_or(|color| color > 0xff_ffff))
    {
        errors.wrong_type(&[at, &["color"]].concat(), "int");
    }
    for key in ["footer", "image", "thumbnail", "author"] {
        if map.get(key).is_some_and(|value| !value.is_object()) {
            no_object(&[at, &[key]].concat(), errors);
        }
    }
    map.insert("type".to_owned(), json!("rich"));
    let mut all = 0;
    for (key, max) in TEXTS {
        let Some(value) = map.get(key) else { continue };
        all += text_length(value, &[at, &[key]].concat(), max, errors);
    }
    if let Some(Value::Object(footer)) = map.get("footer") {
        let path = [at, &["footer", "text"]].concat();
        let text = footer.get("text").unwrap_or(&Value::Null);
        all += text_length(text, &path, FOOTER_MAX_CHARS, errors);
    }
    let fields_at = [at, &["fields"]].concat();
    match map.get_mut("fields") {
        None => {}
        Some(Value::Array(fields)) => all += complete_fields(fields, &fields_at, errors),
        Some(_) => errors.add(
            &fields_at,
            "LIST_TYPE_CONVERT",
            "Only iterables may be used in a ListType",
        ),
    }
    all
}

fn complete_fields(fields: &mut [Value], at: &[&str], errors: &mut FormErrors) -> usize {
    if fields.len() > FIELDS_MAX_COUNT {
        errors.length(at, 0, FIELDS_MAX_COUNT);
    }
    let mut all = 0;
    for (index, field) in fields.iter_mut().enumerate() {
        let index = index.to_string();
        let path = [at, &[index.as_str()]].concat();
        let Some(map) = field.as_object_mut() else {
            no_object(&path, errors);
            continue;
        };
        let inline = map.get("inline") == Some(&json!(true));
        map.insert("inline".to_owned(), json!(inline));
        for (key, max) in FIELD_TEXTS {
            let value = map.get(key).unwrap_or(&Value::Null);
            all += text_length(value, &[path.as_slice(), &[key]].concat(), max, errors);
        }
    }
    all
}

/// The length of a text in code points; a complaint when it is none or too long.
fn text_length(value: &Value, at: &[&str], max: usize, errors: &mut FormErrors) -> usize {
    let Some(text) = value.as_str() else {
        errors.wrong_type(at, "string");
        return 0;
    };
    let length = text.chars().count();
    if length > max {
        errors.length(at, 0, max);
    }
    length
}

fn no_object(at: &[&str], errors: &mut FormErrors) {
    errors.add(
        at,
        "DICT_TYPE_CONVERT",
        "Only dictionaries may be used in a DictType",
    );
}
