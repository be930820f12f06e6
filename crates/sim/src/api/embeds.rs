//! Embeds.
//!
//! In: `embeds` of a body. Out: the same with the type filled in.
//! Never: fetches anything that an embed points at.

use serde_json::{Value, json};

use super::form::Form;

// Source of the limits: Discord API docs, Embed Limits.
const EMBEDS_MAX_COUNT: usize = 10;
const ALL_TEXT_MAX_CHARS: usize = 6_000;
const FIELDS_MAX_COUNT: usize = 25;
const TEXTS: [(&str, usize); 2] = [("title", 256), ("description", 4_096)];

/// Reads and completes the embeds of a form.
pub(crate) fn read(form: &mut Form) -> Option<Vec<Value>> {
    let mut list = form.list("embeds", EMBEDS_MAX_COUNT)?;
    let mut all = 0;
    for (index, embed) in list.iter_mut().enumerate() {
        let index = index.to_string();
        let Some(map) = embed.as_object_mut() else {
            let text = "Only dictionaries may be used in a DictType";
            form.errors
                .add(&["embeds", &index], "DICT_TYPE_CONVERT", text);
            continue;
        };
        map.retain(|_, value| !value.is_null());
        map.insert("type".to_owned(), json!("rich"));
        for (key, max) in TEXTS {
            let length = map
                .get(key)
                .and_then(Value::as_str)
                .map_or(0, |t| t.chars().count());
            all += length;
            if length > max {
                form.errors.length(&["embeds", &index, key], 0, max);
            }
        }
        if let Some(Value::Array(fields)) = map.get_mut("fields") {
            if fields.len() > FIELDS_MAX_COUNT {
                form.errors
                    .length(&["embeds", &index, "fields"], 0, FIELDS_MAX_COUNT);
            }
            for field in fields {
                field["inline"] = json!(field["inline"] == json!(true));
                let text = |key: &str| field[key].as_str().map_or(0, |t| t.chars().count());
                all += text("name") + text("value");
            }
        }
        let footer = map.get("footer").and_then(|footer| footer["text"].as_str());
        all += footer.map_or(0, |text| text.chars().count());
    }
    if all > ALL_TEXT_MAX_CHARS {
        let text = format!("Embed size exceeds maximum size of {ALL_TEXT_MAX_CHARS}");
        form.errors
            .add(&["embeds"], "MAX_EMBED_SIZE_EXCEEDED", &text);
    }
    Some(list)
}
