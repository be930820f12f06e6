//! Shapes of credentials: what never leaves through a tool, and never enters a file through one.
//!
//! In: bytes that are read, written or published. Out: the family of the first shape that they
//! match.
//! Never: masks or returns any part of a match. A mask in one place is copied into another, and the
//! text around it lost; a refusal changes nothing. It is a net and not a wall: encoded, split or
//! reversed credentials pass.

mod filter; // what is released all the same
mod table; // start here: one line a family

use std::sync::OnceLock;

use regex::bytes::{Regex, RegexBuilder, RegexSet, RegexSetBuilder};

use crate::Refusal;
use filter::Filter;
use table::{RULES, Rule};

/// Most bytes that one compiled expression, or all of them together, may take.
const COMPILED_MAX_BYTES: usize = 64 * 1024 * 1024;

/// A family of credentials, by the name of its rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Family(&'static str);

impl Family {
    /// The rule's name, for people.
    #[must_use]
    pub const fn name(self) -> &'static str {
        self.0
    }
}

/// The family of the first rule of the table that `bytes` match, if any.
///
/// Linear in the length of `bytes`. The first call compiles the table, about ten milliseconds.
#[must_use]
pub fn credential_in(bytes: &[u8]) -> Option<Family> {
    let found = all().matches(bytes);
    found
        .iter()
        .find(|index| is_taken(*index, bytes))
        .map(|index| Family(RULES[index].family))
}

/// Refuses bytes that match a shape.
pub(crate) fn refuse_credentials(bytes: &[u8]) -> Result<(), Refusal> {
    credential_in(bytes).map_or(Ok(()), |family| Err(Refusal::SecretShape(family)))
}

/// The names of all families, in the order of the table.
pub fn families() -> impl Iterator<Item = Family> {
    RULES.iter().map(|rule| Family(rule.family))
}

/// Whether at least one match of a rule is not released.
fn is_taken(index: usize, bytes: &[u8]) -> bool {
    let rule = &RULES[index];
    if rule.filter == Filter::None {
        return true;
    }
    let one = one(index);
    let mut from = 0;
    while let Some(groups) = one.captures_at(bytes, from) {
        let Some(whole) = groups.get(0) else { break };
        let secret = groups.get(1).unwrap_or(whole);
        if rule.filter.takes(whole.as_bytes(), secret.as_bytes()) {
            return true;
        }
        // A released match may hide another one in its secret; groups are bounded, so looking
        // again there stays linear.
        let inner = if groups.get(1).is_some() {
            secret.start()
        } else {
            whole.end()
        };
        from = inner.max(from + 1);
        if from > bytes.len() {
            break;
        }
    }
    false
}

fn all() -> &'static RegexSet {
    static ALL: OnceLock<RegexSet> = OnceLock::new();
    ALL.get_or_init(|| {
        RegexSetBuilder::new(RULES.iter().map(Rule::pattern))
            .unicode(false)
            .size_limit(COMPILED_MAX_BYTES)
            .build()
            .expect("every rule of the table compiles: held by a test")
    })
}

/// A rule alone, compiled when its first candidate is met.
fn one(index: usize) -> &'static Regex {
    static EACH: [OnceLock<Regex>; RULES.len()] = [const { OnceLock::new() }; RULES.len()];
    EACH[index].get_or_init(|| {
        RegexBuilder::new(&RULES[index].pattern())
            .unicode(false)
            .size_limit(COMPILED_MAX_BYTES)
            .build()
            .expect("every rule of the table compiles: held by a test")
    })
}

#[cfg(test)]
mod tests;
