//! The nonces that authors used lately.
//!
//! In: author, nonce and the message that it made. Out: that message, within the window.
//! Never: compares channel or content; Discord does not, and clients must know it.

use std::collections::{HashMap, VecDeque};

use crate::clock::Moment;
use crate::id::Id;

/// Most nonces that are remembered at once.
const NONCES_MAX_COUNT: usize = 50_000;

/// A message that a nonce made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Made {
    pub(crate) channel: Id,
    pub(crate) message: Id,
    at: Moment,
}

/// Nonces by author.
#[derive(Debug, Default)]
pub(crate) struct Nonces {
    made: HashMap<(Id, String), Made>,
    order: VecDeque<(Id, String)>,
}

impl Nonces {
    /// The message that `author` made with `nonce` less than `window_ms` ago. It may have been
    /// deleted since.
    pub(crate) fn find(
        &self,
        author: Id,
        nonce: &str,
        now: Moment,
        window_ms: u64,
    ) -> Option<Made> {
        let made = self.made.get(&(author, nonce.to_owned()))?;
        (now.since(made.at) < window_ms).then_some(*made)
    }

    /// Remembers a nonce; the latest message with it counts.
    pub(crate) fn remember(
        &mut self,
        author: Id,
        nonce: String,
        channel: Id,
        message: Id,
        at: Moment,
    ) {
        let key = (author, nonce);
        if self
            .made
            .insert(
                key.clone(),
                Made {
                    channel,
                    message,
                    at,
                },
            )
            .is_none()
        {
            self.order.push_back(key);
        }
        while self.order.len() > NONCES_MAX_COUNT {
            if let Some(oldest) = self.order.pop_front() {
                self.made.remove(&oldest);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_nonce_counts_per_author_and_within_its_window() {
        let id = |text: &str| text.parse::<Id>().expect("an id");
        let at = Moment::from_ms;
        let mut nonces = Nonces::default();
        nonces.remember(id("1"), "n".to_owned(), id("5"), id("6"), at(1_000));
        let cases = [
            ("same author, inside", "1", "n", 1_999, true),
            ("same author, outside", "1", "n", 2_000, false),
            ("another author", "2", "n", 1_500, false),
            ("another nonce", "1", "m", 1_500, false),
        ];
        for (name, author, nonce, now, found) in cases {
            let got = nonces.find(id(author), nonce, at(now), 1_000);
            assert_eq!(got.is_some(), found, "{name}");
        }
    }
}
