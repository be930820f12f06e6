//! A JSON document as it was written: member order and repeated keys are kept.
//!
//! In: bytes. Out: a tree whose nodes are numbered in document order, or where the text stops
//! being JSON. Never: a key that silently wins over an earlier one of the same name.

use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use std::{cell::Cell, fmt};

/// One value of the document.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Node {
    /// Position in document order; an object stands before its members.
    pub(crate) at: u32,
    pub(crate) value: Value,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Value {
    Null,
    Flag(bool),
    Whole(i128),
    Real(f64),
    Text(String),
    List(Vec<Node>),
    Object(Vec<Member>),
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Member {
    pub(crate) key: String,
    pub(crate) node: Node,
}

/// Parses one whole document. Nesting is bounded by the parser (128 levels).
pub(crate) fn parse(bytes: &[u8]) -> Result<Node, serde_json::Error> {
    let count = Cell::new(0);
    let mut source = serde_json::Deserializer::from_slice(bytes);
    let node = Seed { count: &count }.deserialize(&mut source)?;
    source.end()?;
    Ok(node)
}

#[derive(Clone, Copy)]
struct Seed<'c> {
    count: &'c Cell<u32>,
}

impl<'de> DeserializeSeed<'de> for Seed<'_> {
    type Value = Node;

    fn deserialize<D: Deserializer<'de>>(self, source: D) -> Result<Node, D::Error> {
        let at = self.count.get();
        self.count.set(at.saturating_add(1));
        let value = source.deserialize_any(self)?;
        Ok(Node { at, value })
    }
}

impl<'de> Visitor<'de> for Seed<'_> {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E: Error>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E: Error>(self, flag: bool) -> Result<Value, E> {
        Ok(Value::Flag(flag))
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<Value, E> {
        Ok(Value::Whole(number.into()))
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<Value, E> {
        Ok(Value::Whole(number.into()))
    }

    fn visit_f64<E: Error>(self, number: f64) -> Result<Value, E> {
        Ok(Value::Real(number))
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Value, E> {
        Ok(Value::Text(text.to_owned()))
    }

    fn visit_string<E: Error>(self, text: String) -> Result<Value, E> {
        Ok(Value::Text(text))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut list = Vec::new();
        while let Some(node) = items.next_element_seed(self)? {
            list.push(node);
        }
        Ok(Value::List(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Value, A::Error> {
        let mut object = Vec::new();
        while let Some(key) = members.next_key::<String>()? {
            let node = members.next_value_seed(self)?;
            object.push(Member { key, node });
        }
        Ok(Value::Object(object))
    }
}

impl Node {
    /// The document again, without blanks, in the order it was written in.
    pub(crate) fn compact(&self) -> String {
        serde_json::to_string(self).expect("a tree of JSON values with text keys is always JSON")
    }
}

impl serde::Serialize for Node {
    fn serialize<S: serde::Serializer>(&self, sink: S) -> Result<S::Ok, S::Error> {
        match &self.value {
            Value::Null => sink.serialize_unit(),
            Value::Flag(flag) => sink.serialize_bool(*flag),
            Value::Whole(number) => match u64::try_from(*number) {
                Ok(number) => sink.serialize_u64(number),
                Err(_) => {
                    sink.serialize_i64(i64::try_from(*number).map_err(serde::ser::Error::custom)?)
                }
            },
            Value::Real(number) => sink.serialize_f64(*number),
            Value::Text(text) => sink.serialize_str(text),
            Value::List(list) => sink.collect_seq(list),
            Value::Object(members) => sink.collect_map(members.iter().map(|m| (&m.key, &m.node))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repeated_keys_and_member_order_survive() {
        let text = r#"{"b":1,"a":[null,-2,1.5,"x"],"b":{"c":true}}"#;
        let node = parse(text.as_bytes()).expect("json");
        assert_eq!(node.compact(), text);
    }

    #[test]
    fn nodes_are_numbered_in_document_order() {
        let node = parse(br#"{"a":[1,2],"b":3}"#).expect("json");
        let Value::Object(members) = &node.value else {
            panic!("an object");
        };
        assert_eq!((node.at, members[0].node.at, members[1].node.at), (0, 1, 4));
    }

    #[test]
    fn a_deep_document_is_an_error_and_not_a_crash() {
        let deep = "[".repeat(100_000);
        assert!(parse(deep.as_bytes()).is_err());
    }
}
