//! Shapes of credentials: what never leaves through a tool, and never enters a file through one.
//!
//! In: bytes that are read, written or published. Out: the family of the first shape that they
//! match.
//! Never: masks or returns any part of a match. A mask in one place is copied into another, and the
//! text around it lost; a refusal changes nothing. It is a net and not a wall: encoded, split or
//! reversed credentials pass.

mod filter; // what is released all the same
mod known; // secrets that have no shape
mod table; // start here: one line a family

use std::sync::OnceLock;

use aho_corasick::{AhoCorasick, AhoCorasickKind};
use regex::bytes::{Regex, RegexBuilder};

pub use known::{know_secrets, without_known_secrets};

use crate::Refusal;
use filter::Filter;
use table::RULES;

/// Most bytes that one compiled expression may take.
const COMPILED_MAX_BYTES: usize = 16 * 1024 * 1024;

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

/// The family of the first rule of the table that `bytes` match, if any; before that,
/// `known-value` where they hold a secret that this process was told of ([`know_secrets`]).
///
/// Linear in the length of `bytes`: one pass tells which rules can match at all, and each of those
/// takes another one.
#[must_use]
pub fn credential_in(bytes: &[u8]) -> Option<Family> {
    if known::is_known_in(bytes) {
        return Some(Family("known-value"));
    }
    let possible = possible(bytes);
    let mut rules = RULES.iter().zip(possible).enumerate();
    rules
        .find(|(index, (_, possible))| *possible && is_taken(*index, bytes))
        .map(|(_, (rule, _))| Family(rule.family))
}

/// Refuses bytes that match a shape.
pub(crate) fn refuse_credentials(bytes: &[u8]) -> Result<(), Refusal> {
    credential_in(bytes).map_or(Ok(()), |family| Err(Refusal::SecretShape(family)))
}

/// All families, by name.
pub fn families() -> impl Iterator<Item = Family> {
    let names: std::collections::BTreeSet<Family> =
        RULES.iter().map(|rule| Family(rule.family)).collect();
    names.into_iter()
}

/// Whether at least one match of a rule is not released.
fn is_taken(index: usize, bytes: &[u8]) -> bool {
    let rule = &RULES[index];
    let one = one(index);
    if rule.filter == Filter::None {
        return one.is_match(bytes);
    }
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

/// Which rules have a word in `bytes` that every match of theirs holds.
fn possible(bytes: &[u8]) -> [bool; RULES.len()] {
    let Words { all, rules } = words();
    let mut possible = std::array::from_fn(|index| RULES[index].needs.is_empty());
    for found in all.find_overlapping_iter(bytes) {
        possible[rules[found.pattern().as_usize()]] = true;
    }
    possible
}

/// The words of all rules, and for each of them whose it is.
struct Words {
    all: AhoCorasick,
    rules: Vec<usize>,
}

fn words() -> &'static Words {
    static WORDS: OnceLock<Words> = OnceLock::new();
    WORDS.get_or_init(|| {
        let each = RULES.iter().enumerate();
        let pairs = each.flat_map(|(index, rule)| rule.needs.iter().map(move |word| (index, word)));
        let (rules, words): (Vec<usize>, Vec<&&str>) = pairs.unzip();
        let all = AhoCorasick::builder()
            .ascii_case_insensitive(true)
            .kind(Some(AhoCorasickKind::DFA))
            .build(words)
            .expect("a few hundred short words fit: held by a test");
        Words { all, rules }
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
