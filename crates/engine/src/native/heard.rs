//! What one message of a provider tells, in our words.
//!
//! In: nothing; the wire modules make these values. Out: plain data for the turn. Never: a
//! provider's field name.

use super::calls::Piece;
use guildhall_binding::Price;
use guildhall_connector::run::Usage;
use serde_json::{Map, Value};

/// A model's thought as its provider wants it back within the same turn; nobody else sees it.
pub(super) type Thought = Map<String, Value>;

/// What one message of a provider tells.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub(super) struct Heard {
    /// Text for people.
    pub(super) text: String,
    /// Pieces of tool calls.
    pub(super) calls: Vec<Piece>,
    /// Pieces of thoughts, and of which one each is: texts of the same key are joined.
    pub(super) thoughts: Vec<(u64, Thought)>,
    /// Whether the model is at work: text, thoughts, a call. Not so for a keep-alive.
    pub(super) at_work: bool,
    /// Tokens so far. A later value replaces an earlier one, field by field.
    pub(super) usage: Option<Tokens>,
    /// Why the model stopped.
    pub(super) stopped: Option<Stop>,
    /// Nothing more comes.
    pub(super) over: bool,
}

impl Heard {
    /// How much the model has written in this message, in bytes.
    pub(super) fn written_bytes(&self) -> usize {
        let texts = |thought: &Thought| -> usize {
            let texts = thought.iter().filter(|(key, _)| *key != "type");
            texts
                .filter_map(|(_, value)| value.as_str())
                .map(str::len)
                .sum()
        };
        self.text.len()
            + self
                .calls
                .iter()
                .map(|call| call.name.len() + call.arguments.len())
                .sum::<usize>()
            + self
                .thoughts
                .iter()
                .map(|(_, thought)| texts(thought))
                .sum::<usize>()
    }
}

/// Tokens of one exchange; a field that was not told is absent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub(crate) struct Tokens {
    /// Read by the model.
    pub(crate) input: Option<u64>,
    /// Written by the model.
    pub(crate) output: Option<u64>,
    /// How many of those that were read came from the provider's cache.
    pub(crate) cached: Option<u64>,
}

impl Tokens {
    /// Takes what a later message tells.
    pub(super) fn update(&mut self, later: Self) {
        self.input = later.input.or(self.input);
        self.output = later.output.or(self.output);
        self.cached = later.cached.or(self.cached);
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

/// Joins a piece of a thought with what came before of it.
pub(super) fn join(thought: &mut Thought, piece: Thought) {
    for (key, value) in piece {
        match (thought.get_mut(&key), value) {
            (Some(Value::String(text)), Value::String(more)) if key != "type" => {
                text.push_str(&more)
            }
            (_, value) => {
                thought.insert(key, value);
            }
        }
    }
}

/// The usage with its cost, rounded up so that a ceiling is never passed by rounding.
pub(crate) fn usage(price: Option<Price>, tokens: Tokens) -> Usage {
    let input_tokens = tokens.input.unwrap_or(0);
    let output_tokens = tokens.output.unwrap_or(0);
    let micro_usd = price.map_or(0, |price| {
        let cached = tokens.cached.unwrap_or(0).min(input_tokens);
        let of = |tokens: u64, price: u64| u128::from(tokens) * u128::from(price);
        let cached_price = price
            .cached_input_micro_usd
            .unwrap_or(price.input_micro_usd);
        let sum = of(input_tokens - cached, price.input_micro_usd)
            + of(cached, cached_price)
            + of(output_tokens, price.output_micro_usd);
        u64::try_from(sum.div_ceil(1_000_000)).unwrap_or(u64::MAX)
    });
    Usage {
        input_tokens,
        output_tokens,
        micro_usd,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_price_is_for_a_million_tokens_and_rounded_up() {
        let price = Price {
            input_micro_usd: 3_000_000,
            output_micro_usd: 15_000_000,
            cached_input_micro_usd: None,
        };
        let tokens = |input, output, cached| Tokens {
            input: Some(input),
            output: Some(output),
            cached,
        };
        let cost = |tokens| usage(Some(price), tokens).micro_usd;
        assert_eq!(cost(tokens(1_000, 100, None)), 4_500);
        assert_eq!(cost(tokens(1_000, 100, Some(400))), 4_500);
        assert_eq!(cost(tokens(0, 0, None)), 0);
        assert_eq!(cost(tokens(u64::MAX, u64::MAX, None)), u64::MAX);
        let cheap = Price {
            input_micro_usd: 1,
            output_micro_usd: 0,
            cached_input_micro_usd: None,
        };
        assert_eq!(usage(Some(cheap), tokens(1, 0, None)).micro_usd, 1);
        assert_eq!(usage(None, tokens(5, 6, None)).micro_usd, 0);
        let with_cache = Price {
            cached_input_micro_usd: Some(300_000),
            ..price
        };
        let cost = |cached| usage(Some(with_cache), tokens(1_000, 0, cached)).micro_usd;
        assert_eq!(
            (cost(Some(900)), cost(Some(5_000)), cost(None)),
            (570, 300, 3_000)
        );
    }

    #[test]
    fn pieces_of_a_thought_are_joined_key_by_key() {
        let object = |value: Value| value.as_object().cloned().expect("an object");
        let mut thought = object(json!({"type": "thinking", "thinking": ""}));
        for piece in [
            json!({"thinking": "h"}),
            json!({"thinking": "m"}),
            json!({"signature": "s"}),
        ] {
            join(&mut thought, object(piece));
        }
        let want = json!({"type": "thinking", "thinking": "hm", "signature": "s"});
        assert_eq!(Value::Object(thought), want);
    }
}
