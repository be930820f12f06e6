//! `owner.json`: who took the lock.
//!
//! In: bytes that a crash, another version or a person may have left. Out: a record, each value
//! checked by itself. Never: reads a half-written record as no record.

/// What an owner record says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record {
    /// Process id; always positive.
    pub pid: i32,
    /// Start time of that process in clock ticks since boot; `None` if the value is missing or
    /// is no start tick.
    pub start: Option<u64>,
    /// Boot id of the system that it ran on; `None` if the value is missing or is no boot id.
    pub boot: Option<String>,
}

/// Why a record cannot be understood.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RecordError {
    /// Empty, cut or not a JSON object.
    #[error("the record is not a JSON object")]
    NotAnObject,
    /// No process id, or a value that cannot be one.
    #[error("the record names no process id")]
    NoPid,
    /// Written by a version that we do not know.
    #[error("the record was written by a newer version")]
    TooNew,
}

impl Record {
    /// Reads a record.
    ///
    /// # Errors
    /// [`RecordError`]. A start or boot value that makes no sense is not one of them: such a record
    /// still names a process, whose identity is then in doubt.
    pub fn parse(bytes: &[u8]) -> Result<Self, RecordError> {
        let value: serde_json::Map<String, serde_json::Value> =
            serde_json::from_slice(bytes).map_err(|_| RecordError::NotAnObject)?;
        if value
            .get("v")
            .is_some_and(|v| v.as_u64().is_none_or(|v| v > 1))
        {
            return Err(RecordError::TooNew);
        }
        let pid = value.get("pid").and_then(serde_json::Value::as_i64);
        let pid = pid
            .and_then(|pid| i32::try_from(pid).ok())
            .filter(|pid| *pid > 0);
        let start = value.get("start").and_then(|start| match start.as_str() {
            Some(digits) => digits.parse().ok(),
            None => start.as_u64(),
        });
        let boot = value.get("boot").and_then(serde_json::Value::as_str);
        Ok(Self {
            pid: pid.ok_or(RecordError::NoPid)?,
            start,
            boot: boot.filter(|boot| is_boot_id(boot)).map(str::to_owned),
        })
    }
}

/// Whether `text` has the form of a boot id: a UUID in lower case.
pub(crate) fn is_boot_id(text: &str) -> bool {
    text.len() == 36
        && text.bytes().enumerate().all(|(at, byte)| match at {
            8 | 13 | 18 | 23 => byte == b'-',
            _ => byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte),
        })
}

#[cfg(test)]
mod tests {
    use super::{Record, RecordError};

    const BOOT: &str = "6f0a5c1e-5d1f-4a3f-9d4e-0123456789ab";

    fn record(start: Option<u64>, boot: Option<&str>) -> Result<Record, RecordError> {
        Ok(Record {
            pid: 42,
            start,
            boot: boot.map(str::to_owned),
        })
    }

    #[test]
    fn a_record_is_understood_or_refused_value_by_value() {
        let cases = [
            (
                format!(r#"{{"pid":42,"start":7,"boot":"{BOOT}"}}"#),
                record(Some(7), Some(BOOT)),
            ),
            (
                format!(r#"{{"pid":42,"start":"7","boot":"{BOOT}"}}"#),
                record(Some(7), Some(BOOT)),
            ),
            (
                r#"{"pid":42,"start":7,"host":"x"}"#.into(),
                record(Some(7), None),
            ),
            (
                r#"{"pid":42,"start":"soon","boot":"yes"}"#.into(),
                record(None, None),
            ),
            (
                r#"{"pid":42,"start":-1,"boot":null}"#.into(),
                record(None, None),
            ),
            (r#"{"pid":42}"#.into(), record(None, None)),
            (r#"{"v":1,"pid":42}"#.into(), record(None, None)),
            (r#"{"v":2,"pid":42}"#.into(), Err(RecordError::TooNew)),
            (r#"{"pid":0}"#.into(), Err(RecordError::NoPid)),
            (r#"{"pid":-4}"#.into(), Err(RecordError::NoPid)),
            (r#"{"pid":4294967297}"#.into(), Err(RecordError::NoPid)),
            (r#"{"pid":"42"}"#.into(), Err(RecordError::NoPid)),
            (r#"{"start":7}"#.into(), Err(RecordError::NoPid)),
            (r#"{"pid":42,"sta"#.into(), Err(RecordError::NotAnObject)),
            ("42".into(), Err(RecordError::NotAnObject)),
            (String::new(), Err(RecordError::NotAnObject)),
        ];
        for (text, want) in cases {
            assert_eq!(Record::parse(text.as_bytes()), want, "{text}");
        }
    }
}
