//! Buttons, menus and the other parts of a message.
//!
//! In: `components` of a body. Out: the same with ids and defaults filled in.
//! Never: two components with one `custom_id`.

use serde_json::{Value, json};

use super::form::Form;
use crate::error::FormErrors;
use crate::model::message_flag;

/// Which of the two component systems a message uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Layout {
    /// Rows of buttons under the content.
    Classic,
    /// Components instead of content.
    V2,
}

impl Layout {
    pub(crate) fn of(flags: u64) -> Self {
        if flags & message_flag::COMPONENTS_V2 == 0 {
            Self::Classic
        } else {
            Self::V2
        }
    }
}

// Source of the limits: Discord API docs, Component Reference.
const ROWS_MAX_COUNT: usize = 5;
const BUTTONS_MAX_COUNT: usize = 5;
const V2_MAX_COUNT: usize = 40;
const CUSTOM_ID_MAX_CHARS: usize = 100;
const LABEL_MAX_CHARS: usize = 80;

const ACTION_ROW: u64 = 1;
const BUTTON: u64 = 2;
const STRING_SELECT: u64 = 3;
const LINK_STYLE: u64 = 5;
const PREMIUM_STYLE: u64 = 6;

/// Reads and completes the components of a form.
pub(crate) fn read(form: &mut Form, layout: Layout) -> Option<Vec<Value>> {
    let max = match layout {
        Layout::Classic => ROWS_MAX_COUNT,
        Layout::V2 => V2_MAX_COUNT,
    };
    let mut list = form.list("components", max)?;
    let mut reader = Reader {
        next_id: 1,
        custom_ids: Vec::new(),
        errors: &mut form.errors,
    };
    for (index, component) in list.iter_mut().enumerate() {
        let at = vec!["components".to_owned(), index.to_string()];
        if layout == Layout::Classic && component["type"].as_u64() != Some(ACTION_ROW) {
            reader.complain(
                &at,
                "UNION_TYPE_CHOICES",
                "Value of field \"type\" must be one of (1,).",
            );
        } else {
            reader.component(component, at);
        }
    }
    if reader.next_id > V2_MAX_COUNT + 1 && layout == Layout::V2 {
        form.errors.length(&["components"], 0, V2_MAX_COUNT);
    }
    Some(list)
}

struct Reader<'a> {
    next_id: usize,
    custom_ids: Vec<String>,
    errors: &'a mut FormErrors,
}

impl Reader<'_> {
    fn complain(&mut self, at: &[String], code: &str, message: &str) {
        let path: Vec<&str> = at.iter().map(String::as_str).collect();
        self.errors.add(&path, code, message);
    }

    fn component(&mut self, component: &mut Value, at: Vec<String>) {
        let Some(kind) = component["type"].as_u64() else {
            return self.complain(&at, "BASE_TYPE_REQUIRED", "This field is required");
        };
        if component["id"].as_u64().is_none_or(|id| id == 0) {
            component["id"] = json!(self.next_id);
        }
        self.next_id += 1;
        match kind {
            BUTTON => self.button(component, &at),
            ACTION_ROW => self.row_size(component, &at),
            STRING_SELECT => select_defaults(component),
            _ => {}
        }
        self.custom_id(component, &at);
        for key in ["components", "accessory"] {
            match component.get_mut(key) {
                Some(Value::Array(inner)) => {
                    for (index, one) in inner.iter_mut().enumerate() {
                        let path = [at.clone(), vec![key.to_owned(), index.to_string()]].concat();
                        self.component(one, path);
                    }
                }
                Some(one @ Value::Object(_)) => {
                    self.component(one, [at.clone(), vec![key.to_owned()]].concat());
                }
                Some(_) | None => {}
            }
        }
    }

    fn row_size(&mut self, row: &Value, at: &[String]) {
        let count = row["components"].as_array().map_or(0, Vec::len);
        if count == 0 || count > BUTTONS_MAX_COUNT {
            let path = [at, &["components".to_owned()]].concat();
            let text = format!("Must be between 1 and {BUTTONS_MAX_COUNT} in length.");
            self.complain(&path, "BASE_TYPE_BAD_LENGTH", &text);
        }
    }

    fn button(&mut self, button: &mut Value, at: &[String]) {
        let style = button["style"].as_u64().unwrap_or(0);
        if !(1..=PREMIUM_STYLE).contains(&style) {
            let path = [at, &["style".to_owned()]].concat();
            self.complain(
                &path,
                "BASE_TYPE_CHOICES",
                "Value must be one of {1, 2, 3, 4, 5, 6}.",
            );
        }
        if button["label"]
            .as_str()
            .is_some_and(|text| text.chars().count() > LABEL_MAX_CHARS)
        {
            let path = [at, &["label".to_owned()]].concat();
            let text = format!("Must be {LABEL_MAX_CHARS} or fewer in length.");
            self.complain(&path, "BASE_TYPE_MAX_LENGTH", &text);
        }
        let wanted = match style {
            LINK_STYLE => "url",
            PREMIUM_STYLE => "sku_id",
            _ => "custom_id",
        };
        if !button[wanted].is_string() {
            let path = [at, &[wanted.to_owned()]].concat();
            self.complain(&path, "BASE_TYPE_REQUIRED", "This field is required");
        }
        if button["label"].is_null() && button["emoji"].is_null() && style != PREMIUM_STYLE {
            let text = "A button needs a label or an emoji.";
            self.complain(at, "BUTTON_COMPONENT_LABEL_OR_EMOJI_REQUIRED", text);
        }
        drop_nulls(button);
    }

    fn custom_id(&mut self, component: &Value, at: &[String]) {
        let Some(id) = component["custom_id"].as_str() else {
            return;
        };
        let path = [at, &["custom_id".to_owned()]].concat();
        let length = id.chars().count();
        if length == 0 || length > CUSTOM_ID_MAX_CHARS {
            let text = format!("Must be between 1 and {CUSTOM_ID_MAX_CHARS} in length.");
            self.complain(&path, "BASE_TYPE_BAD_LENGTH", &text);
        }
        if self.custom_ids.iter().any(|known| known == id) {
            let text = "Component custom id cannot be duplicated";
            self.complain(&path, "COMPONENT_CUSTOM_ID_DUPLICATED", text);
        }
        self.custom_ids.push(id.to_owned());
    }
}

fn select_defaults(select: &mut Value) {
    for key in ["min_values", "max_values"] {
        if select[key].is_null() {
            select[key] = json!(1);
        }
    }
    drop_nulls(select);
}

fn drop_nulls(value: &mut Value) {
    if let Some(map) = value.as_object_mut() {
        map.retain(|_, value| !value.is_null());
    }
}
