//! The lines: how a record looks in its named file, and how a group looks in the commit log.
//!
//! In: a group number, a time and record texts. Out: bytes, or a decoded line.
//! Never: touches a file, knows the meaning of a record, or lets a line break into a line.

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

/// Version that is written into every line.
pub const FORMAT_VERSION: u64 = 1;

/// Longest line of the commit log, in bytes. The reserve of a segment is never smaller.
pub const GROUP_MAX_BYTES: usize = 1024 * 1024;

/// Group number of a line that belongs to no group: an unsynced one.
pub const NO_GROUP: u64 = 0;

/// What every unsynced line begins with.
pub(crate) const UNSYNCED_PREFIX: &[u8] = br#"{"v":1,"g":0,"#;

/// Why a record cannot be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RecordFault {
    /// The text does not begin with `{"k":"`: the kind comes first.
    #[error("it does not begin with its kind")]
    NoKind,
    /// A control character, such as a line break.
    #[error("it holds a control character")]
    ControlCharacter,
    /// Not one JSON object.
    #[error("it is not one JSON object")]
    NotAnObject,
    /// The log is not among those that the journal was opened with.
    #[error("the journal has no such log")]
    UnknownLog,
    /// A write-once record without the field that names its file, or with an unfit value.
    #[error("its id cannot be a file name")]
    NoFileName,
}

/// Checks that `json` can stand as a record: one object on one line, its kind first.
pub(crate) fn check_record(json: &str) -> Result<(), RecordFault> {
    if !json.starts_with(r#"{"k":""#) {
        return Err(RecordFault::NoKind);
    }
    if json.bytes().any(|byte| byte < 0x20) {
        return Err(RecordFault::ControlCharacter);
    }
    // Ends in the brace, so that nothing but the object is spliced.
    if !json.ends_with('}') || serde_json::from_str::<serde::de::IgnoredAny>(json).is_err() {
        return Err(RecordFault::NotAnObject);
    }
    Ok(())
}

/// Whether `at` is a UTC time in RFC 3339, at most 40 bytes.
pub(crate) fn is_time(at: &str) -> bool {
    at.len() <= 40 && at.ends_with('Z') && at.parse::<jiff::Timestamp>().is_ok()
}

/// The line of a record in its named file, line break included.
///
/// `json` has passed [`check_record`]: its first byte is the brace that `v`, `g` and `at` follow.
pub(crate) fn named_line(g: u64, at: &str, json: &str) -> String {
    let rest = json.strip_prefix('{').unwrap_or(json);
    format!("{{\"v\":{FORMAT_VERSION},\"g\":{g},\"at\":\"{at}\",{rest}\n")
}

/// The part of a named line after `v`, `g` and `at`: what two tellings of a record share.
pub(crate) fn body_of(line: &[u8]) -> &[u8] {
    memchr::memmem::find(line, b"\"k\":").map_or(line, |start| &line[start..])
}

/// Whether a record is new, or told again at a checkpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// New with this group, and copied to the named files.
    New,
    /// Told again at a checkpoint because it is still open; already in its named file.
    Restated,
}

/// The line of one group in the commit log, line break included.
pub(crate) fn group_line<'a>(
    standing: Standing,
    g: u64,
    at: &str,
    records: impl IntoIterator<Item = (&'a str, &'a str)>,
) -> String {
    let key = match standing {
        Standing::New => "recs",
        Standing::Restated => "restated",
    };
    let mut line = format!("{{\"v\":{FORMAT_VERSION},\"g\":{g},\"at\":\"{at}\",\"{key}\":[");
    for (index, (log, json)) in records.into_iter().enumerate() {
        if index > 0 {
            line.push(',');
        }
        line.push_str("[\"");
        line.push_str(log);
        line.push_str("\",");
        line.push_str(json);
        line.push(']');
    }
    line.push_str("]}\n");
    line
}

/// A decoded line of the commit log after its header.
#[derive(Debug, Deserialize)]
pub(crate) struct GroupLine<'a> {
    pub(crate) g: u64,
    #[serde(borrow)]
    pub(crate) at: std::borrow::Cow<'a, str>,
    #[serde(borrow, default)]
    pub(crate) recs: Option<Vec<(&'a str, &'a RawValue)>>,
    #[serde(borrow, default)]
    pub(crate) restated: Option<Vec<(&'a str, &'a RawValue)>>,
}

/// The first line of a segment.
#[derive(Debug, Deserialize, Serialize)]
pub(crate) struct Header {
    pub(crate) v: u64,
    /// Number of the first group of this segment.
    pub(crate) next: u64,
    pub(crate) at: String,
    /// Length of each named file at the checkpoint, in bytes; synced up to there.
    pub(crate) lengths: std::collections::BTreeMap<String, u64>,
    /// Number of the last file put aside, for the logs that are rotated.
    #[serde(default)]
    pub(crate) aside: std::collections::BTreeMap<String, u64>,
    /// Whether the carry and the restated records stand for everything before `next`. If not,
    /// the named files have to be read whole.
    pub(crate) folded: Folded,
    #[serde(default)]
    pub(crate) carry: Option<serde_json::Value>,
}

/// The line of a segment's header, line break included.
pub(crate) fn header_line(header: &Header) -> String {
    let mut line = serde_json::to_string(header)
        .expect("a header is made of strings, numbers and JSON values: all of them can be written");
    line.push('\n');
    line
}

/// See [`Header::folded`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Folded {
    Yes,
    No,
}

/// A decoded line of a named file.
#[derive(Debug, Deserialize)]
pub(crate) struct NamedLine<'a> {
    pub(crate) g: u64,
    #[serde(borrow)]
    pub(crate) at: std::borrow::Cow<'a, str>,
}

#[derive(Deserialize)]
struct VersionOnly {
    v: u64,
}

/// A line could not be decoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LineFault {
    /// Written by a newer version than the reader knows.
    TooNew(u64),
    /// Not such a line at all: torn or damaged.
    Bad,
}

/// Decodes `line`, which has no line break, as a `T` of at most version `reader_version`.
pub(crate) fn decode<'a, T: Deserialize<'a>>(
    line: &'a [u8],
    reader_version: u64,
) -> Result<T, LineFault> {
    match serde_json::from_slice::<VersionOnly>(line) {
        Ok(VersionOnly { v }) if v > reader_version => return Err(LineFault::TooNew(v)),
        // There is no version 0: a digit was lost.
        Ok(VersionOnly { v: 0 }) | Err(_) => return Err(LineFault::Bad),
        Ok(_) => {}
    }
    serde_json::from_slice(line).map_err(|_| LineFault::Bad)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_is_one_object_on_one_line_with_its_kind_first() {
        let cases = [
            (r#"{"k":"seen","row":"1"}"#, Ok(())),
            (r#"{"row":"1","k":"seen"}"#, Err(RecordFault::NoKind)),
            (
                "{\"k\":\"seen\",\n\"row\":1}",
                Err(RecordFault::ControlCharacter),
            ),
            (r#"{"k":"seen","row":1"#, Err(RecordFault::NotAnObject)),
            (r#"{"k":"seen"},{"k":"x"}"#, Err(RecordFault::NotAnObject)),
            (r#"{"k":"seen"} "#, Err(RecordFault::NotAnObject)),
            (r#"{"k":"a\nb"}"#, Ok(())),
            ("", Err(RecordFault::NoKind)),
        ];
        for (json, want) in cases {
            assert_eq!(check_record(json), want, "{json}");
        }
    }

    #[test]
    fn a_named_line_begins_with_version_group_and_time() {
        assert_eq!(
            named_line(17, "2026-11-30T14:04:05.123Z", r#"{"k":"seen","row":"9"}"#),
            "{\"v\":1,\"g\":17,\"at\":\"2026-11-30T14:04:05.123Z\",\"k\":\"seen\",\"row\":\"9\"}\n"
        );
    }

    #[test]
    fn a_group_line_decodes_to_what_was_written() {
        let records = [
            ("inbox", r#"{"k":"seen","row":"9"}"#),
            ("rows", r#"{"k":"queued"}"#),
        ];
        let line = group_line(Standing::New, 3, "2026-11-30T14:04:05.123Z", records);
        let decoded: GroupLine = decode(line.trim_end().as_bytes(), 1).expect("a group line");
        let found: Vec<_> = decoded
            .recs
            .expect("records")
            .iter()
            .map(|(log, raw)| (*log, raw.get()))
            .collect();
        assert_eq!((decoded.g, &*decoded.at), (3, "2026-11-30T14:04:05.123Z"));
        assert_eq!(found, records);
    }

    #[test]
    fn a_newer_line_is_named_as_such_whatever_else_it_holds() {
        let cases = [
            (&br#"{"v":2,"x":1}"#[..], LineFault::TooNew(2)),
            (br#"{"v":1,"x":1}"#, LineFault::Bad),
            (br#"{"v":0,"g":1,"at":""}"#, LineFault::Bad),
            (br#"{"v":1,"g":1"#, LineFault::Bad),
            (b"\0\0", LineFault::Bad),
        ];
        for (line, want) in cases {
            assert_eq!(decode::<GroupLine>(line, 1).err(), Some(want));
        }
    }

    #[test]
    fn times_are_utc_in_rfc_3339() {
        let cases = [
            ("2026-11-30T14:04:05.123Z", true),
            ("2026-11-30T14:04:05+01:00", false),
            ("now", false),
            ("", false),
            ("2026-11-30T14:04:05.123\"Z", false),
        ];
        for (at, want) in cases {
            assert_eq!(is_time(at), want, "{at}");
        }
    }
}
