//! Typed readers over a document, which go on after a fault.
//!
//! In: a tree. Out: `Some` of what was asked for, or `None` with a fault in the log; a caller
//! reads every key first and builds its value last, so that one fault hides no other.
//! Never: a default in the place of something that was written and is wrong.

use crate::{
    bounds::Whole,
    fault::{Fault, FaultCode, Faults, Log},
    json::{Member, Node, Value},
    show,
};
use std::{
    cell::RefCell,
    collections::{BTreeMap, BTreeSet},
    ops::RangeInclusive,
    path::{Path, PathBuf},
    str::FromStr,
};

/// One reading of one document.
#[derive(Debug, Default)]
pub(crate) struct Walk {
    log: RefCell<Log>,
    key_files: RefCell<Vec<KeyFile>>,
    roots: RefCell<Vec<PathBuf>>,
}

/// A file that holds a key, and where the document names it.
#[derive(Debug)]
struct KeyFile {
    at: u32,
    place: String,
    path: PathBuf,
}

impl Walk {
    pub(crate) fn root<'w>(&'w self, node: &'w Node) -> Place<'w> {
        Place {
            walk: self,
            path: String::new(),
            node,
            shown: Shown::Value,
        }
    }

    /// Refuses keys that lie where tools read, once every key and every root has been met.
    pub(crate) fn refuse_keys_inside_roots(&self) {
        for key in self.key_files.borrow().iter() {
            if self
                .roots
                .borrow()
                .iter()
                .any(|root| key.path.starts_with(root))
            {
                self.fault(
                    key.at,
                    key.place.clone(),
                    FaultCode::Conflict,
                    "a file inside a declared root, not shown".to_owned(),
                    "a file that no tool can reach: outside every root",
                );
            }
        }
    }

    pub(crate) fn end(self) -> Result<(), Faults> {
        self.log.into_inner().into_result()
    }

    fn fault(&self, at: u32, path: String, code: FaultCode, found: String, allowed: &str) {
        self.log.borrow_mut().push(
            at,
            Fault {
                path,
                code,
                found,
                allowed: allowed.to_owned(),
            },
        );
    }
}

/// Whether a fault shows the value that was found.
#[derive(Clone, Copy, Debug)]
enum Shown {
    Value,
    TypeOnly,
}

/// A value and where it stands.
#[derive(Clone, Debug)]
pub(crate) struct Place<'w> {
    walk: &'w Walk,
    path: String,
    node: &'w Node,
    shown: Shown,
}

impl<'w> Place<'w> {
    /// The same place, whose faults show no value: a credential may stand here by mistake.
    pub(crate) fn hidden(mut self) -> Self {
        self.shown = Shown::TypeOnly;
        self
    }

    pub(crate) fn path(&self) -> &str {
        &self.path
    }

    pub(crate) fn node(&self) -> &'w Node {
        self.node
    }

    /// Remembers that this names a file with a key in it.
    pub(crate) fn note_key_file(&self, path: &Path) {
        self.walk.key_files.borrow_mut().push(KeyFile {
            at: self.node.at,
            place: self.path.clone(),
            path: path.to_owned(),
        });
    }

    /// Remembers that tools read below this directory.
    pub(crate) fn note_root(&self, path: &Path) {
        self.walk.roots.borrow_mut().push(path.to_owned());
    }

    /// Records a fault about this value.
    pub(crate) fn fault<T>(&self, code: FaultCode, allowed: &str) -> Option<T> {
        let found = match self.shown {
            Shown::Value => show::value(&self.node.value),
            Shown::TypeOnly => show::type_only(&self.node.value),
        };
        self.walk
            .fault(self.node.at, self.path.clone(), code, found, allowed);
        None
    }

    pub(crate) fn text(&self, allowed: &str) -> Option<&'w str> {
        match &self.node.value {
            Value::Text(text) => Some(text),
            Value::Null
            | Value::Flag(_)
            | Value::Whole(_)
            | Value::Real(_)
            | Value::List(_)
            | Value::Object(_) => self.fault(FaultCode::WrongType, &format!("a text: {allowed}")),
        }
    }

    /// A text that `parse` understands.
    pub(crate) fn parsed<T>(
        &self,
        allowed: &str,
        parse: impl FnOnce(&'w str) -> Option<T>,
    ) -> Option<T> {
        let text = self.text(allowed)?;
        parse(text).or_else(|| self.fault(FaultCode::BadValue, allowed))
    }

    pub(crate) fn snowflake<T: FromStr>(&self) -> Option<T> {
        self.parsed("a Discord id in quotes, decimal digits alone", |text| {
            text.parse().ok()
        })
    }

    /// Visible text of 1 to `max` characters.
    pub(crate) fn line(&self, max: usize) -> Option<String> {
        self.parsed(&format!("1 to {max} visible characters"), |text| {
            let fits = !text.trim().is_empty() && text.chars().count() <= max;
            (fits && !text.chars().any(char::is_control)).then(|| text.to_owned())
        })
    }

    pub(crate) fn whole(&self, bound: Whole) -> Option<u64> {
        let allowed = || format!("a whole number from {} to {}", bound.min, bound.max);
        match &self.node.value {
            Value::Whole(number) => u64::try_from(*number)
                .ok()
                .filter(|number| (bound.min..=bound.max).contains(number))
                .or_else(|| self.fault(FaultCode::OutOfRange, &allowed())),
            Value::Null
            | Value::Flag(_)
            | Value::Real(_)
            | Value::Text(_)
            | Value::List(_)
            | Value::Object(_) => self.fault(FaultCode::WrongType, &allowed()),
        }
    }

    pub(crate) fn real(&self, range: RangeInclusive<f64>) -> Option<f64> {
        let allowed = || format!("a number from {} to {}", range.start(), range.end());
        let number = match &self.node.value {
            #[expect(
                clippy::cast_precision_loss,
                reason = "numbers too large for exactness are far outside every range"
            )]
            Value::Whole(number) => *number as f64,
            Value::Real(number) => *number,
            Value::Null | Value::Flag(_) | Value::Text(_) | Value::List(_) | Value::Object(_) => {
                return self.fault(FaultCode::WrongType, &allowed());
            }
        };
        if range.contains(&number) {
            Some(number)
        } else {
            self.fault(FaultCode::OutOfRange, &allowed())
        }
    }

    pub(crate) fn flag(&self) -> Option<bool> {
        match &self.node.value {
            Value::Flag(flag) => Some(*flag),
            Value::Null
            | Value::Whole(_)
            | Value::Real(_)
            | Value::Text(_)
            | Value::List(_)
            | Value::Object(_) => self.fault(FaultCode::WrongType, "true or false"),
        }
    }

    /// One of a table of words.
    pub(crate) fn choice<T: Copy>(&self, table: &[(&str, T)]) -> Option<T> {
        let words: Vec<_> = table.iter().map(|(word, _)| format!("{word:?}")).collect();
        self.parsed(&words.join(", "), |text| {
            table
                .iter()
                .find(|(word, _)| *word == text)
                .map(|(_, meaning)| *meaning)
        })
    }

    /// The items of a list whose length lies in `lengths`; of a longer one, the first ones.
    pub(crate) fn list(&self, lengths: RangeInclusive<usize>, of: &str) -> Option<Vec<Self>> {
        let allowed = || format!("a list of {} to {} {of}", lengths.start(), lengths.end());
        let Value::List(items) = &self.node.value else {
            return self.fault(FaultCode::WrongType, &allowed());
        };
        if items.len() < *lengths.start() {
            return self.fault(FaultCode::Empty, &allowed());
        }
        if items.len() > *lengths.end() {
            self.fault::<()>(FaultCode::TooMany, &allowed());
        }
        let places = items.iter().take(*lengths.end()).enumerate();
        Some(places.map(|(index, node)| self.item(index, node)).collect())
    }

    fn item(&self, index: usize, node: &'w Node) -> Self {
        Self {
            walk: self.walk,
            path: format!("{}[{index}]", self.path),
            node,
            shown: self.shown,
        }
    }

    pub(crate) fn object(&self) -> Option<Fields<'w>> {
        match &self.node.value {
            Value::Object(members) => Some(Fields {
                place: self.clone(),
                members,
                known: Vec::new(),
            }),
            Value::Null
            | Value::Flag(_)
            | Value::Whole(_)
            | Value::Real(_)
            | Value::Text(_)
            | Value::List(_) => self.fault(FaultCode::WrongType, "an object"),
        }
    }
}

/// Every item that could be read, or `None` when one could not.
///
/// Items are all looked at, so that each bad one has its fault.
pub(crate) fn all<'w, T>(
    places: &[Place<'w>],
    mut read: impl FnMut(&Place<'w>) -> Option<T>,
) -> Option<Vec<T>> {
    let read: Vec<Option<T>> = places.iter().map(&mut read).collect();
    read.into_iter().collect()
}

/// Refuses keys that stand twice in a list; `what` names them.
pub(crate) fn distinct<'w, K: Ord>(
    keyed: impl IntoIterator<Item = (K, Place<'w>)>,
    what: &str,
) -> Option<()> {
    let mut first = BTreeMap::<K, String>::new();
    let mut clean = Some(());
    for (key, place) in keyed {
        match first.get(&key) {
            Some(earlier) => {
                let allowed = format!("each {what} once; it stands at {earlier} already");
                clean = place.fault(FaultCode::Duplicate, &allowed);
            }
            None => {
                first.insert(key, place.path);
            }
        }
    }
    clean
}

/// The members of an object, of which the reader asks for those it knows.
#[derive(Debug)]
pub(crate) struct Fields<'w> {
    place: Place<'w>,
    members: &'w [Member],
    known: Vec<&'static str>,
}

impl<'w> Fields<'w> {
    /// The value of a key, if it is there.
    pub(crate) fn get(&mut self, key: &'static str) -> Option<Place<'w>> {
        self.known.push(key);
        let member = self.members.iter().find(|member| member.key == key)?;
        Some(self.member(member))
    }

    /// A key that must be there.
    pub(crate) fn must<T>(
        &mut self,
        key: &'static str,
        read: impl FnOnce(&Place<'w>) -> Option<T>,
    ) -> Option<T> {
        match self.get(key) {
            Some(place) => read(&place),
            None => self.absent(key, FaultCode::Missing, "this key, which is required"),
        }
    }

    /// A key that may be absent: the outer `None` is a fault.
    #[expect(
        clippy::option_option,
        reason = "absent and wrong are different answers"
    )]
    pub(crate) fn may<T>(
        &mut self,
        key: &'static str,
        read: impl FnOnce(&Place<'w>) -> Option<T>,
    ) -> Option<Option<T>> {
        match self.get(key) {
            Some(place) => read(&place).map(Some),
            None => Some(None),
        }
    }

    /// A key that may be absent, which means `default`.
    pub(crate) fn or<T>(
        &mut self,
        key: &'static str,
        default: T,
        read: impl FnOnce(&Place<'w>) -> Option<T>,
    ) -> Option<T> {
        match self.get(key) {
            Some(place) => read(&place),
            None => Some(default),
        }
    }

    /// A bounded whole number with its default.
    pub(crate) fn whole(&mut self, key: &'static str, bound: Whole) -> Option<u64> {
        self.or(key, bound.default, |place| place.whole(bound))
    }

    /// Records that `key` is not there though it is called for.
    pub(crate) fn absent<T>(&self, key: &str, code: FaultCode, allowed: &str) -> Option<T> {
        let path = show::member_path(&self.place.path, key);
        self.place.walk.fault(
            self.place.node.at,
            path,
            code,
            "nothing".to_owned(),
            allowed,
        );
        None
    }

    /// Records that `key`, which is there, does not fit; its value is not shown.
    pub(crate) fn present<T>(&self, key: &str, code: FaultCode, allowed: &str) -> Option<T> {
        let member = self.members.iter().find(|member| member.key == key);
        member.and_then(|member| self.member(member).hidden().fault(code, allowed))
    }

    /// A name that a later version serves: its presence is a fault of its own kind.
    pub(crate) fn reserved(&mut self, key: &'static str) {
        if let Some(place) = self.get(key) {
            place
                .hidden()
                .fault::<()>(FaultCode::Reserved, RESERVED_ALLOWED);
        }
    }

    /// Ends the object: keys that nobody asked for, and keys that stand twice, are faults.
    pub(crate) fn end(self) {
        let mut seen = BTreeSet::new();
        for member in self.members {
            let place = self.member(member).hidden();
            if !seen.insert(member.key.as_str()) {
                let allowed = "each key once in an object";
                place.fault::<()>(FaultCode::DuplicateKey, allowed);
            } else if !self.known.contains(&member.key.as_str()) {
                place.fault::<()>(FaultCode::UnknownKey, &known_keys(&member.key, &self.known));
            }
        }
    }

    fn member(&self, member: &'w Member) -> Place<'w> {
        Place {
            walk: self.place.walk,
            path: show::member_path(&self.place.path, &member.key),
            node: &member.node,
            shown: self.place.shown,
        }
    }
}

/// What a fault about a reserved name allows.
pub(crate) const RESERVED_ALLOWED: &str =
    "nothing: the name is reserved and this version does not serve it yet; remove it";

fn known_keys(key: &str, known: &[&str]) -> String {
    match near(key, known) {
        Some(meant) => format!("no such key; did you mean {meant:?}?"),
        None => format!("no such key; one of {}", known.join(", ")),
    }
}

/// The known key that was probably meant: equal but for case and separators, or at most two
/// slips of the finger away.
fn near<'k>(key: &str, known: &[&'k str]) -> Option<&'k str> {
    let plain = |text: &str| text.replace(['_', '-', ' '], "").to_ascii_lowercase();
    let key = plain(key);
    let slips = |other: &&&str| {
        let other = plain(other);
        let room = if other.len() < 5 { 1 } else { 2 };
        (key.len().abs_diff(other.len()) <= room)
            .then(|| distance(key.as_bytes(), other.as_bytes()))
            .filter(|slips| *slips <= room)
    };
    known
        .iter()
        .filter_map(|other| slips(&other).map(|slips| (slips, *other)))
        .min_by_key(|(slips, _)| *slips)
        .map(|(_, other)| other)
}

/// Levenshtein's distance between two short keys.
fn distance(a: &[u8], b: &[u8]) -> usize {
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, from) in a.iter().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, to) in b.iter().enumerate() {
            let changed = diagonal + usize::from(from != to);
            diagonal = row[j + 1];
            row[j + 1] = changed.min(diagonal + 1).min(row[j] + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_misses_find_the_key_that_was_meant() {
        let known = ["tokenFile", "users", "name", "seat", "usdPerDay"];
        let cases = [
            ("token_file", Some("tokenFile")),
            ("tokenfile", Some("tokenFile")),
            ("tokenFlie", Some("tokenFile")),
            ("user", Some("users")),
            ("nmae", None),
            ("nam", Some("name")),
            ("nothingLikeIt", None),
            ("", None),
        ];
        for (key, want) in cases {
            assert_eq!(near(key, &known), want, "{key:?}");
        }
    }
}
