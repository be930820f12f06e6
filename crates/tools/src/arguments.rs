//! A call's arguments, checked.
//!
//! In: JSON text as the model wrote it, and the tool's row. Out: values that have the row's names and
//! kinds; null in place of what may be left out is left out. Never: a name that the row lacks, a name
//! twice, a value that is converted into another kind, a word of the arguments in a refusal.

use crate::{
    refusal::ArgumentFault,
    table::{Need, Row},
};
use serde::de::{Deserialize, Deserializer, Error as _, MapAccess, Visitor};
use serde_json::Value;
use std::{collections::BTreeMap, fmt};

/// Arguments that fit their row.
pub(crate) struct Arguments(BTreeMap<String, Value>);

impl Arguments {
    /// Checks `text` against a row.
    pub(crate) fn parse(row: &Row, text: &str) -> Result<Self, ArgumentFault> {
        let Object(mut values) =
            serde_json::from_str(text).map_err(|error| fault_of(&error, text))?;
        let known = |name: &String| row.fields.iter().any(|field| field.name == name);
        if !values.keys().all(known) {
            return Err(ArgumentFault::Unknown);
        }
        // Many models write null for what they leave out.
        let optional = row.fields.iter().filter(|field| field.need == Need::May);
        for field in optional {
            if values.get(field.name).is_some_and(Value::is_null) {
                values.remove(field.name);
            }
        }
        for field in row.fields {
            match values.get(field.name) {
                None if field.need == Need::Must => return Err(ArgumentFault::Missing(field.name)),
                Some(value) if !field.kind.takes(value) => {
                    return Err(ArgumentFault::Kind(field.name, field.kind.words()));
                }
                None | Some(_) => {}
            }
        }
        Ok(Self(values))
    }

    /// A text; the empty one where it was left out.
    pub(crate) fn text(&self, name: &str) -> &str {
        self.may_text(name).unwrap_or_default()
    }

    /// A text that may be left out.
    pub(crate) fn may_text(&self, name: &str) -> Option<&str> {
        self.0.get(name).and_then(Value::as_str)
    }

    /// A list of texts; the empty one where it was left out.
    pub(crate) fn texts(&self, name: &str) -> Vec<String> {
        let list = self.0.get(name).and_then(Value::as_array);
        let texts = list.into_iter().flatten().filter_map(Value::as_str);
        texts.map(str::to_owned).collect()
    }

    /// A flag; not set where it was left out.
    pub(crate) fn is_set(&self, name: &str) -> bool {
        self.0.get(name).and_then(Value::as_bool).unwrap_or(false)
    }
}

const TWICE: &str = "a name twice";

fn fault_of(error: &serde_json::Error, text: &str) -> ArgumentFault {
    if error.to_string().starts_with(TWICE) {
        return ArgumentFault::Twice;
    }
    match serde_json::from_str::<Value>(text) {
        Ok(value) if !value.is_object() => ArgumentFault::NotAnObject,
        Ok(_) | Err(_) => ArgumentFault::NotJson,
    }
}

/// An object whose names are distinct: readers differ in which of two they take.
struct Object(BTreeMap<String, Value>);

impl<'de> Deserialize<'de> for Object {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Pairs;
        impl<'de> Visitor<'de> for Pairs {
            type Value = Object;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Object, A::Error> {
                let mut values = BTreeMap::new();
                while let Some((name, value)) = map.next_entry::<String, Value>()? {
                    if values.insert(name, value).is_some() {
                        return Err(A::Error::custom(TWICE));
                    }
                }
                Ok(Object(values))
            }
        }
        deserializer.deserialize_map(Pairs)
    }
}
