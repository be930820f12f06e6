//! Discord ids as types, made by parsing.
//!
//! In: the decimal text that Discord and the binding use. Out: a value that cannot be zero and
//! cannot be mistaken for an id of another kind. Never: an id made from anything but a snowflake.

use std::{fmt, num::NonZeroU64, str::FromStr};

/// Why a text is no snowflake.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not a snowflake: a decimal number from 1 to 2^64-1, as text")]
pub struct NotASnowflake;

/// Milliseconds from the Unix epoch to Discord's own (the first moment of 2015).
/// Source: Discord API reference, "Snowflakes".
pub const DISCORD_EPOCH_MS: u64 = 1_420_070_400_000;

fn parse(text: &str) -> Result<NonZeroU64, NotASnowflake> {
    // No sign, no leading zero, no blanks: one id has exactly one spelling.
    let canonical =
        matches!(text.as_bytes(), [b'1'..=b'9', rest @ ..] if rest.iter().all(u8::is_ascii_digit));
    if !canonical {
        return Err(NotASnowflake);
    }
    text.parse().map_err(|_| NotASnowflake)
}

macro_rules! snowflake {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(NonZeroU64);

        impl $name {
            /// The id as a number, never zero.
            #[must_use]
            pub const fn get(self) -> u64 {
                self.0.get()
            }

            /// The id of this number.
            ///
            /// # Errors
            /// [`NotASnowflake`] for zero.
            pub fn from_number(number: u64) -> Result<Self, NotASnowflake> {
                NonZeroU64::new(number).map(Self).ok_or(NotASnowflake)
            }

            /// When Discord made the id, in milliseconds since the Unix epoch.
            #[must_use]
            pub const fn created_ms(self) -> u64 {
                (self.0.get() >> 22) + DISCORD_EPOCH_MS
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, concat!(stringify!($name), "({})"), self.0)
            }
        }

        impl FromStr for $name {
            type Err = NotASnowflake;
            fn from_str(text: &str) -> Result<Self, NotASnowflake> {
                parse(text).map(Self)
            }
        }

        impl schemars::JsonSchema for $name {
            fn inline_schema() -> bool {
                true
            }

            fn schema_name() -> std::borrow::Cow<'static, str> {
                stringify!($name).into()
            }

            fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
                // Looser than the type: a pattern cannot tell 2^64.
                schemars::json_schema!({"type": "string", "pattern": "^[1-9][0-9]{0,19}$"})
            }
        }

        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }

        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                struct Text;
                impl serde::de::Visitor<'_> for Text {
                    type Value = NonZeroU64;
                    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                        f.write_str("a snowflake as text")
                    }
                    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<NonZeroU64, E> {
                        parse(text).map_err(E::custom)
                    }
                }
                deserializer.deserialize_str(Text).map(Self)
            }
        }
    };
}

snowflake!(
    /// A Discord server, which Discord calls a guild.
    GuildId
);
snowflake!(
    /// A channel or a thread: Discord numbers both from one series.
    ChannelId
);
snowflake!(
    /// A person or a bot.
    UserId
);
snowflake!(
    /// A message. A thread made from a message has the same number.
    MessageId
);
snowflake!(
    /// A role of the guild.
    RoleId
);
snowflake!(
    /// The application behind the bot: interactions name it, messages name the bot user.
    ApplicationId
);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_canonical_decimal_text_is_a_snowflake() {
        let cases = [
            ("1", Some(1)),
            ("18446744073709551615", Some(u64::MAX)),
            ("18446744073709551616", None),
            ("0", None),
            ("01", None),
            ("+1", None),
            (" 1", None),
            ("1 ", None),
            ("", None),
            ("-1", None),
            ("1e3", None),
            ("\u{0661}", None),
        ];
        for (text, want) in cases {
            assert_eq!(
                text.parse::<UserId>().ok().map(UserId::get),
                want,
                "{text:?}"
            );
        }
    }

    #[test]
    fn ids_travel_as_text_and_not_as_numbers() {
        let id: MessageId = "1203".parse().expect("a snowflake");
        assert_eq!(serde_json::to_string(&id).expect("json"), "\"1203\"");
        assert!(serde_json::from_str::<MessageId>("1203").is_err());
    }
}
