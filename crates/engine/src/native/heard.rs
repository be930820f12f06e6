//! What one message of a provider tells, in our words.
//!
//! In: nothing; the wire modules make these values. Out: plain data for the turn. Never: a
//! provider's field name.

use guildhall_connector::run::Usage;

/// What one message of a provider tells.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub(super) struct Heard {
    /// Text for people.
    pub(super) text: String,
    /// Whether the model is at work: text, thoughts, a call. Not so for a keep-alive.
    pub(super) at_work: bool,
    /// Tokens so far. A later value replaces an earlier one, field by field.
    pub(super) usage: Option<Tokens>,
    /// Why the model stopped.
    pub(super) stopped: Option<Stop>,
    /// Nothing more comes.
    pub(super) over: bool,
}

/// Tokens of one exchange; a field that was not told is absent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub(super) struct Tokens {
    /// Read by the model.
    pub(super) input: Option<u64>,
    /// Written by the model.
    pub(super) output: Option<u64>,
}

impl Tokens {
    /// Takes what a later message tells.
    pub(super) fn update(&mut self, later: Self) {
        self.input = later.input.or(self.input);
        self.output = later.output.or(self.output);
    }
}

/// Why a model stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stop {
    /// It had said what it wanted to say.
    Done,
    /// It reached its limit of tokens.
    Length,
    /// A filter of the provider, or the model itself, refused.
    Refused,
    /// It wants a tool called.
    ToolCall,
}

/// What tokens cost, where the operator says so.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Price {
    /// For a million tokens in, in millionths of a US dollar.
    pub input_micro_usd: u64,
    /// For a million tokens out, in millionths of a US dollar.
    pub output_micro_usd: u64,
}

impl Price {
    /// The usage with its cost, rounded up so that a ceiling is never passed by rounding.
    pub(super) fn usage(price: Option<Self>, tokens: Tokens) -> Usage {
        let input_tokens = tokens.input.unwrap_or(0);
        let output_tokens = tokens.output.unwrap_or(0);
        let micro_usd = price.map_or(0, |price| {
            let of = |tokens: u64, price: u64| u128::from(tokens) * u128::from(price);
            let sum =
                of(input_tokens, price.input_micro_usd) + of(output_tokens, price.output_micro_usd);
            u64::try_from(sum.div_ceil(1_000_000)).unwrap_or(u64::MAX)
        });
        Usage {
            input_tokens,
            output_tokens,
            micro_usd,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_price_is_for_a_million_tokens_and_rounded_up() {
        let price = Price {
            input_micro_usd: 3_000_000,
            output_micro_usd: 15_000_000,
        };
        let tokens = |input, output| Tokens {
            input: Some(input),
            output: Some(output),
        };
        let cost = |tokens| Price::usage(Some(price), tokens).micro_usd;
        assert_eq!(cost(tokens(1_000, 100)), 4_500);
        assert_eq!(cost(tokens(0, 0)), 0);
        assert_eq!(cost(tokens(u64::MAX, u64::MAX)), u64::MAX);
        let cheap = Price {
            input_micro_usd: 1,
            output_micro_usd: 0,
        };
        assert_eq!(Price::usage(Some(cheap), tokens(1, 0)).micro_usd, 1);
        assert_eq!(Price::usage(None, tokens(5, 6)).micro_usd, 0);
    }
}
