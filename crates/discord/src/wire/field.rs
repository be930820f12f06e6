//! One field of a JSON object, whatever is in it.
//!
//! In: a value's own text. Out: what it means as text, id, number or list, or nothing. Never: an
//! error: `null`, a wrong type and an absent field are all "nothing" unless a caller asks.

use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;
use std::{borrow::Cow, str::FromStr};

/// A field that may be absent, null or anything.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Field<'a>(Option<&'a RawValue>);

impl<'de: 'a, 'a> Deserialize<'de> for Field<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        <&'a RawValue>::deserialize(deserializer).map(|raw| Self(Some(raw)))
    }
}

impl<'a> Field<'a> {
    /// The value's own text; absent and null are nothing.
    fn raw(self) -> Option<&'a str> {
        self.0.map(RawValue::get).filter(|raw| *raw != "null")
    }

    /// Whether a value other than null is there.
    pub(crate) fn is_there(self) -> bool {
        self.raw().is_some()
    }

    /// Whether the field is there and null.
    pub(crate) fn is_null(self) -> bool {
        self.0.is_some_and(|raw| raw.get() == "null")
    }

    /// A string; lone surrogates become the replacement character.
    pub(crate) fn text(self) -> Option<Cow<'a, str>> {
        let quoted = self.raw()?;
        let inner = quoted.strip_prefix('"')?.strip_suffix('"')?;
        if inner.as_bytes().contains(&b'\\') {
            Some(Cow::Owned(unescape(inner)))
        } else {
            Some(Cow::Borrowed(inner))
        }
    }

    /// A string with something else than white space in it.
    pub(crate) fn filled_text(self) -> Option<Cow<'a, str>> {
        self.text().filter(|text| !text.trim().is_empty())
    }

    /// An id, as text or as a number.
    pub(crate) fn id<T: FromStr>(self) -> Option<T> {
        self.bare()?.parse().ok()
    }

    /// A number that is not negative, as a number or as text; a fraction is cut off.
    pub(crate) fn number(self) -> Option<u64> {
        let bare = self.bare()?;
        bare.parse().ok().or_else(|| {
            let float: f64 = bare.parse().ok()?;
            let fits = (0.0..1.8e19).contains(&float);
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "checked to be in range; the fraction is cut off on purpose"
            )]
            fits.then_some(float as u64)
        })
    }

    /// A finite number, as a number or as text.
    pub(crate) fn float(self) -> Option<f64> {
        let float: f64 = self.bare()?.parse().ok()?;
        float.is_finite().then_some(float)
    }

    /// Whether the value is `true`.
    pub(crate) fn is_true(self) -> bool {
        self.raw() == Some("true")
    }

    /// The items of a list; anything else has none.
    pub(crate) fn items(self) -> Vec<Field<'a>> {
        match self.raw() {
            Some(raw) if raw.starts_with('[') && raw != "[]" => {
                serde_json::from_str(raw).unwrap_or_default()
            }
            Some(_) | None => Vec::new(),
        }
    }

    /// The field itself, where it is a list.
    pub(crate) fn list(self) -> Option<Self> {
        self.raw().filter(|raw| raw.starts_with('[')).map(|_| self)
    }

    /// The fields of an object; anything else is nothing.
    pub(crate) fn object<T: Deserialize<'a>>(self) -> Option<T> {
        let raw = self.raw().filter(|raw| raw.starts_with('{'))?;
        serde_json::from_str(raw).ok()
    }

    /// The objects of a list; items that are none are left out.
    pub(crate) fn objects<T: Deserialize<'a>>(self) -> Vec<T> {
        self.items().into_iter().filter_map(Field::object).collect()
    }

    /// The ids of a list; items that are none are left out.
    pub(crate) fn ids<T: FromStr>(self) -> Vec<T> {
        self.items().into_iter().filter_map(Field::id).collect()
    }

    fn bare(self) -> Option<&'a str> {
        let raw = self.raw()?;
        match raw.strip_prefix('"') {
            Some(rest) => rest.strip_suffix('"'),
            None => Some(raw),
        }
    }
}

/// Reads a whole body as one field.
pub(crate) fn read(body: &[u8]) -> Option<Field<'_>> {
    serde_json::from_slice(body).ok()
}

/// Undoes JSON's escapes. The input is the inside of a string that the scanner has accepted, so
/// every escape is complete; what it did not check is whether surrogates are paired.
fn unescape(inner: &str) -> String {
    let mut out = String::with_capacity(inner.len());
    let mut rest = inner;
    while let Some(at) = rest.find('\\') {
        out.push_str(&rest[..at]);
        let escape = rest[at + 1..].chars().next().unwrap_or('\\');
        rest = rest.get(at + 1 + escape.len_utf8()..).unwrap_or_default();
        match escape {
            'n' => out.push('\n'),
            't' => out.push('\t'),
            'r' => out.push('\r'),
            'b' => out.push('\u{8}'),
            'f' => out.push('\u{c}'),
            'u' => rest = unescape_unicode(rest, &mut out),
            other => out.push(other),
        }
    }
    out.push_str(rest);
    out
}

/// Reads four hex digits, and the second half of a pair where there is one.
fn unescape_unicode<'a>(rest: &'a str, out: &mut String) -> &'a str {
    let unit = |text: &str| u32::from_str_radix(text.get(..4)?, 16).ok();
    let Some(first) = unit(rest) else {
        out.push(char::REPLACEMENT_CHARACTER);
        return rest;
    };
    let rest = &rest[4..];
    if (0xd800..0xdc00).contains(&first) {
        let second = rest.strip_prefix("\\u").and_then(unit);
        if let Some(second) = second.filter(|second| (0xdc00..0xe000).contains(second)) {
            let scalar = 0x1_0000 + ((first - 0xd800) << 10) + (second - 0xdc00);
            out.push(char::from_u32(scalar).unwrap_or(char::REPLACEMENT_CHARACTER));
            return &rest[6..];
        }
    }
    out.push(char::from_u32(first).unwrap_or(char::REPLACEMENT_CHARACTER));
    rest
}

#[cfg(test)]
mod tests {
    use super::*;
    use guildhall_binding::ids::UserId;
    use proptest::prelude::*;

    fn field(json: &str) -> Field<'_> {
        serde_json::from_str(json).expect("json")
    }

    #[test]
    fn a_field_of_the_wrong_type_is_nothing_and_never_an_error() {
        for json in ["null", "true", "{}", "[]", "-1", "1e400", "\"x\""] {
            let field = field(json);
            assert_eq!(field.id::<UserId>(), None, "{json}");
            assert!(field.items().is_empty(), "{json}");
            assert_eq!(field.number(), None, "{json}");
        }
        assert_eq!(Field::default().text(), None);
        assert_eq!(field("12").text(), None);
    }

    #[test]
    fn ids_and_numbers_are_taken_as_text_and_as_numbers() {
        let id: UserId = "123".parse().expect("a snowflake");
        assert_eq!(field("\"123\"").id(), Some(id));
        assert_eq!(field("123").id(), Some(id));
        assert_eq!(field("0").id::<UserId>(), None);
        let cases = [
            ("7", 7),
            ("\"7\"", 7),
            ("7.9", 7),
            ("70000000000", 70_000_000_000),
        ];
        for (json, want) in cases {
            assert_eq!(field(json).number(), Some(want), "{json}");
        }
    }

    #[test]
    fn a_lone_surrogate_becomes_the_replacement_character() {
        let cases = [
            (r#""a\ud83d""#, "a\u{fffd}"),
            (r#""\udc00b""#, "\u{fffd}b"),
            (r#""\ud83d\ud83d\ude00""#, "\u{fffd}\u{1f600}"),
            (r#""\u0000\ufeff\u202e""#, "\u{0}\u{feff}\u{202e}"),
            (r#""\\u0041\"\/""#, "\\u0041\"/"),
        ];
        for (json, want) in cases {
            assert_eq!(field(json).text().as_deref(), Some(want), "{json}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_read_as_serde_reads_it(text in any::<String>()) {
            let json = serde_json::to_string(&text).expect("json");
            let got = field(&json).text();
            prop_assert_eq!(got.as_deref(), Some(text.as_str()));
        }
    }
}
