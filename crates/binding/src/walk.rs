//! Typed readers over a document, which go on after a fault.
//!
//! In: a tree. Out: `Some` of what was asked for, or `None` with a fault in the log; a caller
//! reads every key first and builds its value last, so that one fault hides no other.
//! Never: a default in the place of something that was written and is wrong.

mod fields;
mod near;

pub(crate) use fields::{Fields, RESERVED_ALLOWED};

use crate::{
    bounds::Whole,
    fault::{Fault, FaultCode, Faults, Log},
    json::{Node, Value},
    show,
};
use std::{
    cell::RefCell,
    collections::BTreeMap,
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

    /// Counts a fault at `at` without words, if the list is full before it.
    fn counts_only(&self, at: u32) -> bool {
        self.log.borrow_mut().counts_only(at)
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

    /// The JSON path as faults show it.
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
        self.inside(format!("{}[{index}]", self.path), node)
    }

    /// The place of a member of this object.
    fn member(&self, key: &str, node: &'w Node) -> Self {
        self.inside(show::member_path(&self.path, key), node)
    }

    fn inside(&self, path: String, node: &'w Node) -> Self {
        Self {
            walk: self.walk,
            path,
            node,
            shown: self.shown,
        }
    }

    /// Records that `key` is not in this object though it is called for.
    fn lacks<T>(&self, key: &str, code: FaultCode, allowed: &str) -> Option<T> {
        let path = show::member_path(&self.path, key);
        let found = "nothing".to_owned();
        self.walk.fault(self.node.at, path, code, found, allowed);
        None
    }

    pub(crate) fn object(&self) -> Option<Fields<'w>> {
        match &self.node.value {
            Value::Object(members) => Some(Fields::new(self.clone(), members)),
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
