//! Documents that the tests begin from, and ways to change them.

use guildhall_binding::{Expect, Fault, Faults, Policy, read};
use serde_json::{Value, json};
use std::path::Path;

pub(crate) const EXAMPLE: &str = include_str!("../../../../examples/binding.example.json");
pub(crate) const MINIMAL: &str = include_str!("../../../../examples/binding.minimal.json");

/// A machine whose data root and home lie apart from the examples' roots.
pub(crate) fn machine() -> Expect<'static> {
    Expect {
        name: None,
        data_root: Path::new("/home/someone/.local/share/guildhall"),
        home: Some(Path::new("/home/someone")),
    }
}

pub(crate) fn example() -> Value {
    serde_json::from_str(EXAMPLE).expect("the example is JSON")
}

pub(crate) fn minimal() -> Value {
    serde_json::from_str(MINIMAL).expect("the minimal example is JSON")
}

/// A document with every key that the reader takes.
pub(crate) fn full() -> Value {
    let mut document = example();
    document["$schema"] = json!("./binding.schema.json");
    document["engine"] = json!({
        "kind": "pi",
        "provider": "example",
        "model": "example-model",
        "thinking": "high",
        "baseUrl": "https://example.com/v1",
        "keyFile": "/etc/guildhall/provider.key",
        "command": ["pi", "--quiet"],
        "idleSeconds": 60,
    });
    document["tools"]["roots"][1]["git"]["protocol"] = json!("vault");
    document["tools"]["setspark"] = json!({
        "baseUrl": "https://example.com",
        "keyFile": "/etc/guildhall/setspark.key",
        "principal": "archivist",
        "timeoutMs": 15000,
    });
    document["platformToolsets"]["cotal"] = json!(["files"]);
    document["platformToolsets"]["schedule"] = json!(["files"]);
    document["discord"]["apiUrl"] = json!("http://127.0.0.1:4100");
    document["discord"]["threadSessionsPerUser"] = json!(true);
    document["approvals"] = json!({
        "mode": "smart",
        "askTimeoutSeconds": 60,
        "reviewer": {
            "provider": "example",
            "model": "reviewer",
            "baseUrl": "https://example.com/v1",
            "keyEnv": "REVIEWER_KEY",
        },
    });
    document
}

pub(crate) fn read_value(document: &Value) -> Result<Policy, Faults> {
    read(document.to_string().as_bytes(), machine())
}

/// The policy of a document that must be accepted.
pub(crate) fn policy(document: &Value) -> Policy {
    read_value(document).expect("the document is accepted")
}

/// Path and code of each fault of a document that must be refused.
pub(crate) fn faults(document: &Value) -> Vec<(String, &'static str)> {
    let faults = read_value(document).expect_err("the document has faults");
    let pair = |fault: &Fault| (fault.path.clone(), fault.code.as_str());
    faults.as_slice().iter().map(pair).collect()
}

/// `base` with the value at `pointer` set; a missing last key is added.
pub(crate) fn with(mut base: Value, pointer: &str, value: Value) -> Value {
    let (parent, key) = pointer.rsplit_once('/').expect("a JSON pointer");
    let target = base.pointer_mut(parent).expect("the parent is there");
    match target.as_array_mut() {
        Some(items) => items[key.parse::<usize>().expect("an index")] = value,
        None => target[key] = value,
    }
    base
}

/// `base` without the key at `pointer`.
pub(crate) fn without(mut base: Value, pointer: &str) -> Value {
    let (parent, key) = pointer.rsplit_once('/').expect("a JSON pointer");
    let target = base.pointer_mut(parent).and_then(Value::as_object_mut);
    target.expect("the parent is an object").remove(key);
    base
}
