//! What one exchange costs.
//!
//! In: what a provider tells of tokens, the bytes that went and came. Out: the usage, told once, when
//! the exchange is over or dropped. Never: an exchange that costs nothing because it was cut short or
//! because its server counts no tokens.

use super::heard::{Heard, Tokens, usage};
use crate::start::Signs;
use guildhall_binding::Price;

/// How far an exchange got, as its provider counts it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Charge {
    /// Not to the model.
    Nothing,
    /// The model is at work, or was when the exchange was cut short.
    Running,
    /// The answer is whole.
    Whole,
}

/// Counts one exchange.
pub(super) struct Meter<'a> {
    pub(super) charge: Charge,
    signs: &'a Signs,
    price: Option<Price>,
    asked_bytes: usize,
    written_bytes: usize,
    told: Tokens,
}

impl<'a> Meter<'a> {
    /// An exchange that is about to ask with so many bytes.
    pub(super) const fn new(signs: &'a Signs, price: Option<Price>, asked_bytes: usize) -> Self {
        Self {
            charge: Charge::Nothing,
            signs,
            price,
            asked_bytes,
            written_bytes: 0,
            told: Tokens {
                input: None,
                output: None,
                cached: None,
            },
        }
    }

    /// Takes what a message of the provider tells.
    pub(super) fn hear(&mut self, heard: &Heard) {
        self.written_bytes += heard.written_bytes();
        if let Some(tokens) = heard.usage {
            self.told.update(tokens);
        }
    }

    /// The tokens to pay for. Without a price what was told is all that is known; with one, what was
    /// not told is estimated, so that a ceiling is one for every server.
    fn tokens(&self) -> Tokens {
        let told = self.told;
        if self.price.is_none() || self.charge == Charge::Nothing {
            return told;
        }
        let written = estimate(self.written_bytes);
        let output = match (self.charge, told.output) {
            (Charge::Whole, Some(output)) => output,
            // A server may have counted the beginning alone when it was cut short.
            (_, told) => told.unwrap_or(0).max(written),
        };
        Tokens {
            input: Some(told.input.unwrap_or_else(|| estimate(self.asked_bytes))),
            output: Some(output),
            cached: told.cached,
        }
    }
}

/// Tokens of so many bytes, rather too many than too few: English has four bytes a token, other
/// scripts have fewer.
fn estimate(bytes: usize) -> u64 {
    bytes.div_ceil(3) as u64
}

impl Drop for Meter<'_> {
    fn drop(&mut self) {
        self.signs.spend(usage(self.price, self.tokens()));
    }
}
