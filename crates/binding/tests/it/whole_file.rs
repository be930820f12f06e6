//! Faults of the file as a whole, and how many faults come together.

use crate::documents::{MINIMAL, example, faults, machine, minimal, read_value, with};
use guildhall_binding::{Expect, FAULTS_MAX, FILE_MAX_BYTES, FaultCode, Faults, read};
use serde_json::{Value, json};

fn refused(bytes: &[u8]) -> Faults {
    read(bytes, machine()).expect_err("refused")
}

#[test]
fn a_file_that_is_no_json_is_one_fault_with_line_and_column() {
    let cases: [(&[u8], &str); 9] = [
        (b"", "an empty file"),
        (b" \n\t", "an empty file"),
        (
            b"{\n  \"name\": ",
            "the end of the file in the middle, at line 2, column 10",
        ),
        (b"{\"name\": \"x\",}", "trailing comma at line 1, column 14"),
        (b"{} {}", "trailing characters at line 1, column 4"),
        (b"// a comment\n{}", "expected value at line 1, column 1"),
        (b"\xef\xbb\xbf{}", "a byte order mark at line 1, column 1"),
        (
            b"{\"name\": \"\xff\"}",
            "invalid unicode code point at line 1, column 11",
        ),
        (
            b"{\"name\": 1e999}",
            "number out of range at line 1, column 14",
        ),
    ];
    for (bytes, found) in cases {
        let refused = refused(bytes);
        let [fault] = refused.as_slice() else {
            panic!("one fault: {refused}");
        };
        assert_eq!(
            (fault.code, fault.found.as_str()),
            (FaultCode::NotJson, found)
        );
    }
    let not_an_object = refused(b"[]");
    assert_eq!(not_an_object.as_slice()[0].code, FaultCode::WrongType);
}

#[test]
fn a_file_past_the_size_limit_is_not_parsed() {
    let large = vec![b' '; FILE_MAX_BYTES + 1];
    assert_eq!(refused(&large).as_slice()[0].code, FaultCode::TooLarge);
    let mut fits = MINIMAL.as_bytes().to_vec();
    fits.resize(FILE_MAX_BYTES, b' ');
    assert!(read(&fits, machine()).is_ok());
}

#[test]
fn a_key_that_stands_twice_is_refused_wherever_it_is() {
    let text = MINIMAL
        .replacen("\"seat\"", "\"seat\": \"other\", \"seat\"", 1)
        .replacen("\"mode\"", "\"mode\": \"open\", \"mode\"", 1);
    let paths: Vec<_> = refused(text.as_bytes())
        .as_slice()
        .iter()
        .map(|fault| (fault.path.clone(), fault.code.as_str()))
        .collect();
    let twice = |path: &str| (path.to_owned(), "duplicate-key");
    assert_eq!(paths, [twice("seat"), twice("channels[0].mode")]);
}

#[test]
fn a_file_for_a_later_program_says_so_and_nothing_else() {
    let document = with(json!({"whatever": true}), "/bindingVersion", json!(2));
    assert_eq!(
        faults(&document),
        [("bindingVersion".to_owned(), "too-new")]
    );
    for (version, code) in [(json!(0), "bad-value"), (json!("1"), "wrong-type")] {
        let document = with(minimal(), "/bindingVersion", version);
        assert_eq!(faults(&document), [("bindingVersion".to_owned(), code)]);
    }
}

#[test]
fn the_name_is_the_files_own() {
    let expect = Expect {
        name: Some("other"),
        ..machine()
    };
    let text = MINIMAL.as_bytes();
    let refused = read(text, expect).expect_err("refused");
    assert_eq!(refused.as_slice()[0].code, FaultCode::NameMismatch);
}

#[test]
fn all_faults_come_at_once_in_document_order() {
    let mut document = example();
    for (pointer, value) in [
        ("/tools/roots/0/path", json!("/")),
        ("/guildId", json!("x")),
        ("/limits/turnsPerDay", json!(0)),
        ("/users/1/channels/0", json!("100000000000000099")),
        ("/channels/1/mode", json!("loud")),
        ("/approvals/colour", json!("red")),
        ("/engine/baseUrl", json!("http://example.com")),
    ] {
        document = with(document, pointer, value);
    }
    let found = faults(&document);
    assert_eq!(found.len(), 7);
    let in_order = document_order(&document);
    let places: Vec<_> = found
        .iter()
        .map(|(path, _)| in_order.iter().position(|known| known == path))
        .collect();
    assert!(places.is_sorted(), "{found:?}");
}

/// Every path of a document, parents first, in the order of the text.
fn document_order(document: &Value) -> Vec<String> {
    fn walk(value: &Value, path: &str, paths: &mut Vec<String>) {
        paths.push(path.to_owned());
        for (key, value) in value.as_object().into_iter().flatten() {
            let dot = if path.is_empty() { "" } else { "." };
            walk(value, &format!("{path}{dot}{key}"), paths);
        }
        for (index, value) in value.as_array().into_iter().flatten().enumerate() {
            walk(value, &format!("{path}[{index}]"), paths);
        }
    }
    let mut paths = Vec::new();
    walk(document, "", &mut paths);
    paths
}

#[test]
fn past_a_hundred_faults_the_rest_is_counted() {
    let channels: Vec<_> = (0..300)
        .map(|_| json!({"id": 1, "mode": "x", "y": 1}))
        .collect();
    let document = with(minimal(), "/channels", json!(channels));
    let refused = read_value(&document).expect_err("refused");
    assert_eq!(
        (refused.as_slice().len(), refused.more()),
        (FAULTS_MAX, 1100)
    );
    assert!(refused.to_string().ends_with("\nand 1100 more"));
    assert_eq!(refused.to_string().lines().count(), FAULTS_MAX + 1);
}
