//! What is released although it has the shape of a credential.
//!
//! In: the text that a rule matched, and the part of it that would be the secret. Out: whether it
//! is taken for a real one.
//! Never: looks beyond the match; what is in doubt stays refused.

/// How the matches of a rule are judged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Filter {
    /// Every match counts.
    None,
    /// Not what manuals and templates put in a token's place.
    Placeholder,
    /// Not the ids that Amazon's own examples use.
    AwsId,
    /// Not the passwords of manuals, and not a variable.
    Password,
    /// Only a value that looks random.
    Assignment,
    /// Only what has a bot's id in front, or a random last part.
    BotToken,
}

/// What stands in examples, in lower case.
const PLACEHOLDERS: [&[u8]; 13] = [
    b"example",
    b"xxxx",
    b"your",
    b"placeholder",
    b"changeme",
    b"replace",
    b"redacted",
    b"dummy",
    b"...",
    b"***",
    b"<",
    b"${",
    b"{{",
];

/// Passwords that guard nothing, in lower case.
const WEAK: [&[u8]; 22] = [
    b"password",
    b"passwd",
    b"pass",
    b"pwd",
    b"passw0rd",
    b"postgres",
    b"mysql",
    b"root",
    b"admin",
    b"token",
    b"secret",
    b"test",
    b"user",
    b"username",
    b"guest",
    b"foo",
    b"bar",
    b"baz",
    b"changeme",
    b"example",
    b"xxx",
    b"123456",
];

/// Fewest bits of entropy a byte for a hexadecimal value that counts.
const HEX_ENTROPY: f64 = 2.5;
/// Shortest hexadecimal value that counts.
const HEX_MIN_BYTES: usize = 32;
/// Fewest bits of entropy a byte for any other value that counts.
const VALUE_ENTROPY: f64 = 3.6;

impl Filter {
    /// Whether a match is taken for a credential. `secret` is the rule's first group, or all of it.
    pub(super) fn takes(self, matched: &[u8], secret: &[u8]) -> bool {
        match self {
            Self::None => true,
            Self::Placeholder => !is_placeholder(matched),
            Self::AwsId => !matched.ends_with(b"EXAMPLE"),
            Self::Password => !is_weak(secret) && !is_placeholder(secret),
            Self::Assignment => !is_placeholder(matched) && is_random(secret),
            Self::BotToken => !is_placeholder(matched) && is_bot_token(matched),
        }
    }
}

fn is_placeholder(text: &[u8]) -> bool {
    let text = text.to_ascii_lowercase();
    PLACEHOLDERS
        .iter()
        .any(|word| memchr::memmem::find(&text, word).is_some())
}

fn is_weak(password: &[u8]) -> bool {
    let variable = matches!(password.first(), Some(b'$' | b'%' | b'{' | b'<' | b'*'));
    let one_letter = password.iter().all(|byte| Some(byte) == password.first());
    let lower = password.to_ascii_lowercase();
    variable || one_letter || WEAK.contains(&lower.as_slice())
}

fn is_random(value: &[u8]) -> bool {
    let core = trimmed(value);
    if core.len() >= HEX_MIN_BYTES && core.iter().all(u8::is_ascii_hexdigit) {
        return entropy(core) > HEX_ENTROPY;
    }
    let mixed = core.iter().any(u8::is_ascii_alphabetic) && core.iter().any(u8::is_ascii_digit);
    mixed && entropy(core) >= VALUE_ENTROPY && !is_uuid(core) && !is_words(core)
}

/// Padding and quotes at the end say nothing about the value.
fn trimmed(value: &[u8]) -> &[u8] {
    let end = value
        .iter()
        .rposition(|byte| *byte != b'=')
        .map_or(0, |at| at + 1);
    &value[..end]
}

/// Bits a byte, by how often each byte occurs.
fn entropy(text: &[u8]) -> f64 {
    let mut counts = [0_u32; 256];
    for byte in text {
        counts[usize::from(*byte)] += 1;
    }
    let total = f64::from(u32::try_from(text.len()).unwrap_or(u32::MAX));
    counts
        .iter()
        .filter(|count| **count > 0)
        .map(|count| f64::from(*count) / total)
        .map(|share| -share * share.log2())
        .sum()
}

fn is_uuid(text: &[u8]) -> bool {
    let groups: Vec<&[u8]> = text.split(|byte| *byte == b'-').collect();
    let lengths: Vec<usize> = groups.iter().map(|group| group.len()).collect();
    lengths == [8, 4, 4, 4, 12] && groups.concat().iter().all(u8::is_ascii_hexdigit)
}

/// Whether all parts between separators read as words, numbers or names in camel case.
fn is_words(text: &[u8]) -> bool {
    text.split(|byte| !byte.is_ascii_alphanumeric())
        .filter(|part| !part.is_empty())
        .all(is_word)
}

/// Letters, then digits: `sha512`, `POLY1305`, `v2`, `2026`, `ServiceClient2`.
fn is_word(part: &[u8]) -> bool {
    let digits = part
        .iter()
        .position(u8::is_ascii_digit)
        .unwrap_or(part.len());
    let (letters, number) = part.split_at(digits);
    if !number.iter().all(u8::is_ascii_digit) {
        return false;
    }
    let humps = 1 + letters
        .windows(2)
        .filter(|pair| pair[0].is_ascii_lowercase() && pair[1].is_ascii_uppercase())
        .count();
    let uniform = letters.iter().all(u8::is_ascii_uppercase);
    // Three letters a hump is what names have; random text changes case every second letter.
    let named = !letters
        .windows(2)
        .any(|pair| pair[0].is_ascii_uppercase() && pair[1].is_ascii_uppercase())
        && letters.len() >= 3 * humps.saturating_sub(1);
    uniform || named
}

/// A bot's token begins with its id in base64 and ends with 27 or more random characters.
fn is_bot_token(matched: &[u8]) -> bool {
    let mut parts = matched.rsplit(|byte| *byte == b'.');
    let last = parts.next().unwrap_or_default();
    let id = parts.nth(1).unwrap_or_default();
    last.iter().any(u8::is_ascii_digit) || decodes_to_digits(id)
}

fn decodes_to_digits(text: &[u8]) -> bool {
    // The boundary before the id may be a part of the match; the id is 24 to 28 characters long.
    let whole = &text[text.len() % 4..];
    data_encoding::BASE64URL_NOPAD
        .decode(whole)
        .is_ok_and(|bytes| !bytes.is_empty() && bytes.iter().all(u8::is_ascii_digit))
}

#[cfg(test)]
mod tests {
    use super::{Filter, entropy, is_uuid, is_words};

    #[test]
    fn words_numbers_and_names_are_no_secrets() {
        for text in [
            "ed25519-sha512-batch-verify",
            "TLS13_CHACHA20_POLY1305_SHA256_INTERNAL",
            "SecretManagerServiceClientConfiguration2",
            "/etc/ssl/private/server-2026-01.key",
        ] {
            assert!(is_words(text.as_bytes()), "{text}");
        }
        for text in [
            "Xq7-FAKE.9v2_Kd83=pL1",
            "OrFaKEZPMvYeXWkUK4Y0vHz",
            "a1b2c3d4e5f6a7b8",
        ] {
            assert!(!is_words(text.as_bytes()), "{text}");
        }
    }

    #[test]
    fn entropy_is_in_bits_a_byte() {
        let cases: &[(&[u8], f64)] = &[(b"aaaa", 0.0), (b"abab", 1.0), (b"abcd", 2.0)];
        for (text, want) in cases {
            assert!((entropy(text) - want).abs() < 1e-9, "{text:?}");
        }
    }

    #[test]
    fn only_the_whole_form_is_a_uuid() {
        assert!(is_uuid(b"ab841bf2-0aa3-4f51-a71f-01c89f4e114f"));
        assert!(!is_uuid(b"ab841bf2-0aa3-4f51-a71f-01c89f4e114"));
        assert!(!is_uuid(b"gb841bf2-0aa3-4f51-a71f-01c89f4e114f"));
    }

    #[test]
    fn a_password_of_a_manual_is_released_and_a_real_one_is_not() {
        for weak in [
            "password", "Postgres", "$PW", "%s", "{pw}", "aaaa", "<masked>",
        ] {
            assert!(!Filter::Password.takes(b"", weak.as_bytes()), "{weak}");
        }
        for real in ["Zk3-7xQ9", "Rabbit7!", "passwords-are-fun-9"] {
            assert!(Filter::Password.takes(b"", real.as_bytes()), "{real}");
        }
    }
}
