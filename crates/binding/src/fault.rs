//! What is wrong with a binding file, for people and for machines.
//!
//! In: faults in the order in which the reader met them. Out: a bounded list in document order.
//! Never: a text that could be a secret, or more than [`FAULTS_MAX`] faults.

use std::fmt;

/// Most faults that are listed; the rest is a count.
pub const FAULTS_MAX: usize = 100;

/// One thing that is wrong.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Fault {
    /// Where: a JSON path such as `channels[2].id`; empty for the document itself.
    pub path: String,
    /// What kind of fault.
    pub code: FaultCode,
    /// What stands there: its type, and its value where that is short and no secret.
    pub found: String,
    /// What may stand there.
    pub allowed: String,
}

/// Kinds of faults; the codes are stable.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum FaultCode {
    /// The file is longer than [`crate::FILE_MAX_BYTES`].
    TooLarge,
    /// The bytes are not one JSON document.
    NotJson,
    /// The file is written for a later program.
    TooNew,
    /// A key that nobody reads.
    UnknownKey,
    /// A key that stands twice in one object.
    DuplicateKey,
    /// A key that must be there is not.
    Missing,
    /// Another JSON type than the one that is read.
    WrongType,
    /// A list that must not be empty is.
    Empty,
    /// A list that is too long.
    TooMany,
    /// A number or a text outside its bounds.
    OutOfRange,
    /// The right type, but not a value that is understood.
    BadValue,
    /// The binding's name is not the file's.
    NameMismatch,
    /// A reference to a channel that is not listed.
    NotListed,
    /// The same id, name or path twice in a list.
    Duplicate,
    /// The bot is among the users.
    BotListed,
    /// Two settings that exclude each other, or one without effect.
    Conflict,
    /// A setting that another one requires.
    Needed,
    /// A directory that no root may be.
    ForbiddenRoot,
    /// A reserved name: understood, but not served by this version.
    Reserved,
}

impl FaultCode {
    /// The code as records and `--json` show it.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::TooLarge => "too-large",
            Self::NotJson => "not-json",
            Self::TooNew => "too-new",
            Self::UnknownKey => "unknown-key",
            Self::DuplicateKey => "duplicate-key",
            Self::Missing => "missing",
            Self::WrongType => "wrong-type",
            Self::Empty => "empty",
            Self::TooMany => "too-many",
            Self::OutOfRange => "out-of-range",
            Self::BadValue => "bad-value",
            Self::NameMismatch => "name-mismatch",
            Self::NotListed => "not-listed",
            Self::Duplicate => "duplicate",
            Self::BotListed => "bot-listed",
            Self::Conflict => "conflict",
            Self::Needed => "needed",
            Self::ForbiddenRoot => "forbidden-root",
            Self::Reserved => "reserved",
        }
    }
}

impl fmt::Display for FaultCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl serde::Serialize for FaultCode {
    fn serialize<S: serde::Serializer>(&self, sink: S) -> Result<S::Ok, S::Error> {
        sink.serialize_str(self.as_str())
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = if self.path.is_empty() {
            "the file"
        } else {
            &self.path
        };
        write!(f, "{path}: found {}; allowed: {}", self.found, self.allowed)
    }
}

/// All that is wrong with one file, in document order; never empty.
///
/// `Display` gives one line a fault. `Serialize` gives `{"faults": [..], "more": n}`.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Faults {
    faults: Vec<Fault>,
    more: usize,
}

impl Faults {
    /// The listed faults, at most [`FAULTS_MAX`].
    #[must_use]
    pub fn as_slice(&self) -> &[Fault] {
        &self.faults
    }

    /// How many further faults there are.
    #[must_use]
    pub const fn more(&self) -> usize {
        self.more
    }

    /// Whether the file would be accepted but for reserved names.
    #[must_use]
    pub fn only_reserved(&self) -> bool {
        self.more == 0 && self.faults.iter().all(|f| f.code == FaultCode::Reserved)
    }

    pub(crate) fn one(code: FaultCode, found: String, allowed: &str) -> Self {
        let fault = Fault {
            path: String::new(),
            code,
            found,
            allowed: allowed.to_owned(),
        };
        Self {
            faults: vec![fault],
            more: 0,
        }
    }
}

impl fmt::Display for Faults {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut lines = self.faults.iter();
        if let Some(first) = lines.next() {
            write!(f, "{first}")?;
        }
        lines.try_for_each(|fault| write!(f, "\n{fault}"))?;
        if self.more > 0 {
            write!(f, "\nand {} more", self.more)?;
        }
        Ok(())
    }
}

impl std::error::Error for Faults {}

/// Faults as they come in; keeps the first ones in document order, whatever their number.
#[derive(Debug, Default)]
pub(crate) struct Log {
    kept: Vec<(u32, Fault)>,
    total: usize,
    /// Once the list is full: where its last fault stands.
    full_up_to: Option<u32>,
}

impl Log {
    pub(crate) fn push(&mut self, at: u32, fault: Fault) {
        self.total += 1;
        self.kept.push((at, fault));
        if self.kept.len() >= 2 * FAULTS_MAX {
            self.trim();
        }
    }

    /// Counts a fault that would not be kept, and says so: the caller need not word it.
    pub(crate) fn counts_only(&mut self, at: u32) -> bool {
        let past = self.full_up_to.is_some_and(|last| at > last);
        self.total += usize::from(past);
        past
    }

    fn trim(&mut self) {
        // Stable: faults of one place stay in the order in which they were found.
        self.kept.sort_by_key(|(at, _)| *at);
        self.kept.truncate(FAULTS_MAX);
        if self.kept.len() == FAULTS_MAX {
            self.full_up_to = self.kept.last().map(|(at, _)| *at);
        }
    }

    /// Nothing, or the faults.
    pub(crate) fn into_result(mut self) -> Result<(), Faults> {
        if self.total == 0 {
            return Ok(());
        }
        self.trim();
        Err(Faults {
            more: self.total - self.kept.len(),
            faults: self.kept.into_iter().map(|(_, fault)| fault).collect(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fault(path: &str) -> Fault {
        Fault {
            path: path.to_owned(),
            code: FaultCode::BadValue,
            found: "true".to_owned(),
            allowed: "false".to_owned(),
        }
    }

    #[test]
    fn the_first_hundred_of_the_document_are_kept_whatever_the_order_of_arrival() {
        let mut log = Log::default();
        for at in (0..1000).rev() {
            log.push(at, fault(&at.to_string()));
        }
        let faults = log.into_result().expect_err("faults");
        let paths: Vec<_> = faults.as_slice().iter().map(|f| f.path.clone()).collect();
        let want: Vec<_> = (0..100).map(|at: u32| at.to_string()).collect();
        assert_eq!((paths, faults.more()), (want, 900));
    }

    #[test]
    fn a_fault_past_a_full_list_is_counted_without_words() {
        let mut log = Log::default();
        assert!(!log.counts_only(u32::MAX), "the list is empty");
        for at in 0..200 {
            log.push(at, fault("x"));
        }
        assert!(log.counts_only(100) && !log.counts_only(99));
        let faults = log.into_result().expect_err("faults");
        assert_eq!((faults.as_slice().len(), faults.more()), (100, 101));
    }

    #[test]
    fn people_get_one_line_a_fault_and_machines_get_fields() {
        let mut log = Log::default();
        log.push(1, fault("seat"));
        log.push(0, fault(""));
        let faults = log.into_result().expect_err("faults");
        assert_eq!(
            faults.to_string(),
            "the file: found true; allowed: false\nseat: found true; allowed: false"
        );
        assert_eq!(
            serde_json::to_string(&faults).expect("json"),
            "{\"faults\":[{\"path\":\"\",\"code\":\"bad-value\",\"found\":\"true\",\"allowed\":\"false\"},\
             {\"path\":\"seat\",\"code\":\"bad-value\",\"found\":\"true\",\"allowed\":\"false\"}],\"more\":0}"
        );
    }
}
