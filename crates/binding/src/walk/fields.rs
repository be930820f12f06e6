//! The members of an object.
//!
//! In: an object's members. Out: the places of the keys that a reader asks for. Never: a key that
//! nobody asked for and nobody hears of.

use super::{Place, near::known_keys};
use crate::{bounds::Whole, fault::FaultCode, json::Member};
use std::collections::BTreeSet;

/// The members of an object, of which the reader asks for those it knows.
#[derive(Debug)]
pub(crate) struct Fields<'w> {
    place: Place<'w>,
    members: &'w [Member],
    known: Vec<&'static str>,
}

impl<'w> Fields<'w> {
    pub(super) const fn new(place: Place<'w>, members: &'w [Member]) -> Self {
        Self {
            place,
            members,
            known: Vec::new(),
        }
    }

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
        self.place.lacks(key, code, allowed)
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
            let again = !seen.insert(member.key.as_str());
            let known = self.known.contains(&member.key.as_str());
            if (known && !again) || self.place.walk.counts_only(member.node.at) {
                continue;
            }
            let place = self.member(member).hidden();
            if again {
                let allowed = "each key once in an object";
                place.fault::<()>(FaultCode::DuplicateKey, allowed);
            } else {
                place.fault::<()>(FaultCode::UnknownKey, &known_keys(&member.key, &self.known));
            }
        }
    }

    fn member(&self, member: &'w Member) -> Place<'w> {
        self.place.member(&member.key, &member.node)
    }
}

/// What a fault about a reserved name allows.
pub(crate) const RESERVED_ALLOWED: &str =
    "nothing: the name is reserved and this version does not serve it yet; remove it";
