//! Request bodies, read field by field.
//!
//! In: a JSON or multipart body. Out: checked values, with every complaint collected.
//! Never: stops at the first wrong field; Discord names them all.

use serde_json::{Map, Value};

use super::{Request, multipart};
use crate::error::{ApiError, FormErrors};
use crate::world::Upload;

/// Most files of one request. Source: Discord API docs, Create Message.
const FILES_MAX_COUNT: usize = 10;
/// Largest file. Source: Discord API docs, Uploading Files (default attachment limit).
const FILE_MAX_BYTES: usize = 10 * 1024 * 1024;
/// Largest request. Source: Discord API docs, Create Message.
pub(crate) const REQUEST_MAX_BYTES: usize = 25 * 1024 * 1024;

/// A request's body and the complaints about it.
#[derive(Debug)]
pub(crate) struct Form {
    pub(crate) map: Map<String, Value>,
    pub(crate) uploads: Vec<Upload>,
    pub(crate) errors: FormErrors,
}

impl Form {
    /// Reads a body. An empty one is an empty object.
    ///
    /// # Errors
    ///
    /// 50109 for broken JSON, 50035 for a content type that does not fit, 40005 or 50045 when too
    /// much was sent.
    pub(crate) fn read(request: &Request) -> Result<Self, ApiError> {
        let content_type = request.content_type.as_deref().unwrap_or_default();
        if request.body.len() > REQUEST_MAX_BYTES {
            return Err(ApiError::TOO_LARGE);
        }
        let essence = content_type.split(';').next().unwrap_or_default().trim();
        let (map, uploads) = match essence {
            _ if request.body.is_empty() => (Map::new(), Vec::new()),
            "application/json" => (json_object(&request.body)?, Vec::new()),
            "multipart/form-data" => {
                let boundary = multipart::boundary(content_type).ok_or_else(wrong_content_type)?;
                multipart_form(&request.body, &boundary)?
            }
            _ => return Err(wrong_content_type()),
        };
        let too_many = uploads.len() > FILES_MAX_COUNT;
        if uploads
            .iter()
            .any(|upload| upload.bytes.len() > FILE_MAX_BYTES)
        {
            return Err(ApiError::FILE_TOO_LARGE);
        }
        let mut form = Self {
            map,
            uploads,
            errors: FormErrors::default(),
        };
        if too_many {
            form.errors.length(&["attachments"], 0, FILES_MAX_COUNT);
        }
        Ok(form)
    }

    /// A form out of a JSON value, such as the `data` of an interaction's answer.
    pub(crate) fn of(value: &Value, uploads: Vec<Upload>) -> Self {
        let map = value.as_object().cloned().unwrap_or_default();
        Self {
            map,
            uploads,
            errors: FormErrors::default(),
        }
    }

    /// The field, unless it is absent or null.
    pub(crate) fn get(&self, key: &str) -> Option<&Value> {
        self.map.get(key).filter(|value| !value.is_null())
    }

    /// Whether the field is there, null included.
    pub(crate) fn has(&self, key: &str) -> bool {
        self.map.contains_key(key)
    }

    /// A text of `min` to `max` code points.
    pub(crate) fn text(&mut self, key: &str, min: usize, max: usize) -> Option<String> {
        match self.get(key)? {
            Value::String(text) => {
                let text = text.clone();
                let length = text.chars().count();
                if length > max || length < min {
                    self.errors.length(&[key], min, max);
                    return None;
                }
                Some(text)
            }
            Value::Null
            | Value::Bool(_)
            | Value::Number(_)
            | Value::Array(_)
            | Value::Object(_) => {
                self.errors.wrong_type(&[key], "string");
                None
            }
        }
    }

    /// A text that must be there.
    pub(crate) fn required_text(&mut self, key: &str, min: usize, max: usize) -> String {
        if self.get(key).is_none() {
            self.errors
                .add(&[key], "BASE_TYPE_REQUIRED", "This field is required");
        }
        self.text(key, min, max).unwrap_or_default()
    }

    /// A number that is not negative.
    pub(crate) fn number(&mut self, key: &str) -> Option<u64> {
        let found = self.get(key)?;
        let number = found.as_u64();
        if number.is_none() {
            self.errors.wrong_type(&[key], "int");
        }
        number
    }

    /// A list.
    pub(crate) fn list(&mut self, key: &str, max: usize) -> Option<Vec<Value>> {
        let found = self.get(key)?;
        let Some(list) = found.as_array().cloned() else {
            self.errors.add(
                &[key],
                "LIST_TYPE_CONVERT",
                "Only iterables may be used in a ListType",
            );
            return None;
        };
        if list.len() > max {
            self.errors.length(&[key], 0, max);
        }
        Some(list)
    }

    /// Whether a field is `true`.
    pub(crate) fn is_true(&self, key: &str) -> bool {
        self.get(key) == Some(&Value::Bool(true))
    }

    /// Ends the reading.
    ///
    /// # Errors
    ///
    /// 50035 when anything was wrong.
    pub(crate) fn finish(&mut self) -> Result<(), ApiError> {
        std::mem::take(&mut self.errors).finish()
    }
}

fn json_object(body: &[u8]) -> Result<Map<String, Value>, ApiError> {
    match serde_json::from_slice(body) {
        Ok(Value::Object(map)) => Ok(map),
        Ok(_) => Err(ApiError::form(
            &[],
            "DICT_TYPE_CONVERT",
            "Only dictionaries may be used in a DictType",
        )),
        Err(_) => Err(ApiError::BAD_JSON),
    }
}

type Read = (Map<String, Value>, Vec<Upload>);

/// `payload_json` holds the fields, `files[n]` the files; descriptions stand in `attachments`.
fn multipart_form(body: &[u8], boundary: &str) -> Result<Read, ApiError> {
    let mut map = Map::new();
    let mut uploads = Vec::new();
    for part in multipart::parts(body, boundary).ok_or_else(wrong_content_type)? {
        match (part.name.as_str(), part.filename) {
            ("payload_json", _) => map.extend(json_object(part.bytes)?),
            (_, Some(filename)) => {
                let id = part
                    .name
                    .trim_start_matches("files[")
                    .trim_end_matches(']')
                    .to_owned();
                let upload = Upload {
                    filename,
                    content_type: part.content_type,
                    description: None,
                    bytes: part.bytes.to_vec(),
                };
                uploads.push((id, upload));
            }
            (name, None) => {
                let text = String::from_utf8_lossy(part.bytes).into_owned();
                map.insert(name.to_owned(), Value::String(text));
            }
        }
    }
    let described = map
        .get("attachments")
        .and_then(Value::as_array)
        .cloned()
        .unwrap_or_default();
    let uploads = uploads.into_iter().map(|(id, mut upload)| {
        let entry = described.iter().find(|entry| {
            let number = entry["id"].as_u64().map(|number| number.to_string());
            number.as_deref().or_else(|| entry["id"].as_str()) == Some(id.as_str())
        });
        if let Some(entry) = entry {
            upload.description = entry["description"].as_str().map(str::to_owned);
            if let Some(name) = entry["filename"].as_str() {
                name.clone_into(&mut upload.filename);
            }
        }
        upload
    });
    let uploads = uploads.collect();
    Ok((map, uploads))
}

fn wrong_content_type() -> ApiError {
    ApiError {
        message: "Expected \"Content-Type\" header to be one of {'application/json', 'multipart/form-data'}.",
        ..ApiError::FORM
    }
}
