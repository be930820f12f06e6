//! The set of everything that was ever accepted.
//!
//! In: row ids. Out: whether one was seen. Never: forgets one. A million messages cost eight
//! megabytes: ids of messages are kept as sorted numbers.

use crate::ids::RowId;
use std::collections::BTreeSet;

/// Late ids that are kept apart before they are sorted in.
const LATE_MAX_COUNT: usize = 4096;

/// Every accepted row id.
#[derive(Clone, Debug, Default)]
pub struct Seen {
    /// Message ids in ascending order.
    messages: Vec<u64>,
    /// Message ids that came later than a greater one.
    late: BTreeSet<u64>,
    /// Work that is no message.
    foreign: BTreeSet<RowId>,
}

impl Seen {
    /// A set of these message ids, which may come in any order and more than once.
    #[must_use]
    pub fn of_messages(mut ids: Vec<u64>) -> Self {
        if !ids.is_sorted() {
            ids.sort_unstable();
        }
        ids.dedup();
        Self {
            messages: ids,
            ..Self::default()
        }
    }

    /// Whether this row was accepted before.
    #[must_use]
    pub fn contains(&self, row: RowId) -> bool {
        match row.message() {
            None => self.foreign.contains(&row),
            Some(id) => {
                self.messages.binary_search(&id.get()).is_ok() || self.late.contains(&id.get())
            }
        }
    }

    /// Remembers a row.
    pub fn insert(&mut self, row: RowId) {
        let Some(id) = row.message() else {
            self.foreign.insert(row);
            return;
        };
        let id = id.get();
        if self.messages.last().is_none_or(|last| *last < id) {
            self.messages.push(id);
        } else if self.messages.binary_search(&id).is_err() {
            self.late.insert(id);
            if self.late.len() > LATE_MAX_COUNT {
                self.messages.extend(std::mem::take(&mut self.late));
                self.messages.sort_unstable();
            }
        }
    }

    /// How many rows were accepted.
    #[must_use]
    pub fn len(&self) -> usize {
        self.messages.len() + self.late.len() + self.foreign.len()
    }

    /// Whether nothing was ever accepted.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    fn sorted(&self) -> Vec<u64> {
        let mut all = self.messages.clone();
        all.extend(&self.late);
        all.sort_unstable();
        all
    }
}

impl PartialEq for Seen {
    fn eq(&self, other: &Self) -> bool {
        self.foreign == other.foreign && self.sorted() == other.sorted()
    }
}

impl Eq for Seen {}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(id: u64) -> RowId {
        RowId::Message(guildhall_binding::ids::MessageId::from_number(id).expect("not zero"))
    }

    #[test]
    fn ids_are_found_whatever_their_order() {
        let mut seen = Seen::of_messages(vec![5, 3, 9, 3]);
        for id in [4, 10, 8, 4] {
            seen.insert(row(id));
        }
        let found: Vec<_> = (1..=11).filter(|id| seen.contains(row(*id))).collect();
        assert_eq!(found, [3, 4, 5, 8, 9, 10]);
        assert_eq!(seen.len(), 6);
        assert_eq!(seen, Seen::of_messages(vec![10, 9, 8, 5, 4, 3]));
    }

    #[test]
    fn many_late_ids_are_sorted_in_and_none_is_lost() {
        let mut seen = Seen::of_messages(vec![1_000_000]);
        for id in (1..=10_000).rev() {
            seen.insert(row(id));
        }
        assert!((1..=10_000).all(|id| seen.contains(row(id))));
        assert_eq!(seen.len(), 10_001);
    }
}
