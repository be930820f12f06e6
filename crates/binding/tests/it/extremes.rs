//! Files of the largest size, made to cause as much work as they can.

use crate::documents::{machine, minimal};
use guildhall_binding::{FAULTS_MAX, FILE_MAX_BYTES, Faults, read};

/// `head`, then as many of `item` as fit, then `tail`.
fn filled(head: &str, item: impl Fn(usize) -> String, tail: &str) -> Vec<u8> {
    let mut text = head.to_owned();
    for index in 0.. {
        let item = item(index);
        if text.len() + item.len() + tail.len() > FILE_MAX_BYTES {
            break;
        }
        text += &item;
    }
    (text + tail).into_bytes()
}

fn refused(bytes: &[u8]) -> Faults {
    let faults = read(bytes, machine()).expect_err("refused");
    assert!(faults.as_slice().len() <= FAULTS_MAX);
    assert!(faults.to_string().len() < 100_000);
    faults
}

/// The minimal example, ready for further keys.
fn open() -> String {
    let text = minimal().to_string();
    text.strip_suffix('}').expect("an object").to_owned()
}

#[test]
fn a_file_full_of_unknown_keys_is_refused_with_a_count() {
    let bytes = filled(&open(), |index| format!(",\"k{index}\":0"), "}");
    let faults = refused(&bytes);
    assert!(faults.more() > 50_000, "{}", faults.more());
}

#[test]
fn a_file_full_of_one_key_is_refused_with_a_count() {
    let bytes = filled(&open(), |_| ",\"seat\":0".to_owned(), "}");
    assert!(refused(&bytes).more() > 50_000);
}

#[test]
fn a_list_far_past_its_length_is_read_no_further() {
    let places = [
        "\"context\":{\"files\":[0",
        "\"tools\":{\"roots\":[0",
        "\"platformToolsets\":{\"discord\":[0",
        "\"discord\":{\"postChannels\":[0",
    ];
    for place in places {
        let head = format!("{},{place}", open());
        let faults = refused(&filled(&head, |_| ",0".to_owned(), "]}}"));
        let first = &faults.as_slice()[0];
        assert_eq!(first.code.as_str(), "too-many", "{place}");
        assert!(faults.as_slice().len() + faults.more() <= 501, "{place}");
    }
}

#[test]
fn long_texts_and_keys_are_cut() {
    let long = "y ".repeat(FILE_MAX_BYTES / 4);
    let bytes = format!(
        "{},\"{long}\":0,\"engine\":{{\"kind\":\"{long}\"}}}}",
        open()
    )
    .into_bytes();
    for fault in refused(&bytes).as_slice() {
        assert!(fault.path.len() + fault.found.len() < 300);
    }
}

#[test]
fn every_user_may_list_every_channel() {
    let mut document = minimal();
    let id = |index: u64| (index + 1_000_000).to_string();
    let channel = |index| serde_json::json!({"id": id(index), "name": "c", "mode": "open"});
    document["channels"] = (0..60).map(channel).collect();
    let listed: Vec<_> = (0..60).map(id).collect();
    let user = |index| serde_json::json!({"id": id(index), "name": "u", "channels": listed});
    document["users"] = (0..1000).map(user).collect();
    let policy = read(document.to_string().as_bytes(), machine()).expect("accepted");
    assert_eq!((policy.channels.len(), policy.users.len()), (60, 1000));
}
