//! Discord's OpenAPI description as the judge of every REST answer.
//!
//! In: method, path and answer. Out: nothing, or a failed test that names the place.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use jsonschema::Validator;
use serde_json::{Value, json};

use crate::harness::Answer;

const DESCRIPTION: &str = include_str!("../../../../testdata/discord-openapi.json");

fn description() -> &'static Value {
    static PARSED: OnceLock<Value> = OnceLock::new();
    PARSED.get_or_init(|| {
        let mut parsed: Value = serde_json::from_str(DESCRIPTION).expect("the description is JSON");
        // The description gives the codes of form errors as integers; the service sends names,
        // such as BASE_TYPE_REQUIRED, as the prose says.
        parsed["components"]["schemas"]["InnerErrors"]["properties"]["_errors"]["items"] = json!({
            "type": "object", "required": ["code", "message"], "additionalProperties": false,
            "properties": {
                "code": { "type": "string", "pattern": "^[A-Z0-9_]+$" },
                "message": { "type": "string" },
            },
        });
        parsed
    })
}

/// Fails the test when `answer` does not fit what the description says about `path`.
pub(crate) fn check(method: &str, path: &str, answer: &Answer) {
    if answer
        .header("content-type")
        .is_none_or(|kind| kind != "application/json")
    {
        return;
    }
    let path = path.split('?').next().unwrap_or_default();
    let Some(operation) = operation(path, method) else {
        assert!(
            answer.status >= 400,
            "{method} {path} is not in the description"
        );
        return;
    };
    let status = answer.status.to_string();
    let responses = &operation["responses"];
    let response = [status.as_str(), "4XX"]
        .iter()
        .find_map(|key| responses.get(key));
    assert!(response.is_some(), "{method} {path} never answers {status}");
    let response = response.expect("was asserted");
    let schema = response_schema(response);
    let body = answer.json();
    let validator = validator(&schema);
    let errors: Vec<String> = validator
        .iter_errors(&body)
        .map(|error| format!("{} at {}", error, error.instance_path()))
        .collect();
    assert!(
        errors.is_empty(),
        "{method} {path} {status}: {errors:#?}\n{body:#}"
    );
}

/// The operation whose path template fits; a template without parameters wins.
fn operation(path: &str, method: &str) -> Option<&'static Value> {
    let paths = description()["paths"]
        .as_object()
        .expect("paths are an object");
    let parts: Vec<&str> = path.trim_matches('/').split('/').collect();
    let fits = |template: &str| {
        let wanted: Vec<&str> = template.trim_matches('/').split('/').collect();
        let same = |(want, have): (&&str, &&str)| want.starts_with('{') || want == have;
        (wanted.len() == parts.len() && wanted.iter().zip(&parts).all(same))
            .then(|| wanted.iter().filter(|part| part.starts_with('{')).count())
    };
    let method = method.to_lowercase();
    paths
        .iter()
        .filter_map(|(template, item)| Some((fits(template)?, item.get(&method)?)))
        .min_by_key(|(parameters, _)| *parameters)
        .map(|(_, operation)| operation)
}

fn response_schema(response: &Value) -> Value {
    let response = match response["$ref"].as_str() {
        Some(pointer) => description()
            .pointer(&pointer[1..])
            .expect("a reference that leads on"),
        None => response,
    };
    response["content"]["application/json"]["schema"].clone()
}

/// A validator for a schema of the description, compiled once.
fn validator(schema: &Value) -> Arc<Validator> {
    static COMPILED: OnceLock<Mutex<HashMap<String, Arc<Validator>>>> = OnceLock::new();
    let compiled = COMPILED.get_or_init(Mutex::default);
    let mut compiled = compiled.lock().unwrap_or_else(PoisonError::into_inner);
    let entry = compiled.entry(schema.to_string()).or_insert_with(|| {
        let whole = json!({
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "allOf": [schema],
            "components": description()["components"],
        });
        Arc::new(jsonschema::validator_for(&whole).expect("a schema that compiles"))
    });
    Arc::clone(entry)
}
