//! Ids of rows, routes and nonces. None is random: a schedule that is replayed makes the same.
//!
//! In: snowflakes and names. Out: ids that are safe as file names and in records. Never: entropy.

use guildhall_authority::place::Place;
use guildhall_binding::{
    SessionScope,
    ids::{ChannelId, MessageId},
};
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use std::{fmt, str::FromStr};

/// Why a text is no id of its kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not an id of this kind")]
pub struct NotAnId;

macro_rules! by_text {
    ($name:ident) => {
        impl Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }
        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let text = std::borrow::Cow::<str>::deserialize(deserializer)?;
                text.parse().map_err(serde::de::Error::custom)
            }
        }
    };
}

/// Characters of a digest in an id of foreign work.
const FOREIGN_CHARS: usize = 20;
/// Characters of a nonce. Discord takes at most 25.
const NONCE_CHARS: usize = 24;

/// A row's id, which is its turn's id too: a message's snowflake, or derived from the source's key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum RowId {
    /// A person's message.
    Message(MessageId),
    /// A plugin's note, a peer's message or a schedule's tick.
    Foreign(ForeignId),
}

impl RowId {
    /// The message, where it is a person's.
    #[must_use]
    pub const fn message(self) -> Option<MessageId> {
        match self {
            Self::Message(id) => Some(id),
            Self::Foreign(_) => None,
        }
    }
}

/// Id of work that is not a Discord message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ForeignId {
    source: Source,
    digest: [u8; FOREIGN_CHARS],
}

/// Where foreign work comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Source {
    /// A plugin's note.
    Plugin,
    /// A peer on the mesh.
    Peer,
    /// A schedule.
    Schedule,
}

impl Source {
    const fn letter(self) -> char {
        match self {
            Self::Plugin => 'p',
            Self::Peer => 'c',
            Self::Schedule => 's',
        }
    }
}

impl ForeignId {
    /// Derives an id from the source's own key, so that the same work has the same id.
    #[must_use]
    pub fn derive(source: Source, key: &[&str]) -> Self {
        Self {
            source,
            digest: base32(&digest("guildhall row 1", key)),
        }
    }
}

impl fmt::Display for RowId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Message(id) => id.fmt(f),
            Self::Foreign(id) => {
                write!(f, "{}-{}", id.source.letter(), ascii(&id.digest))
            }
        }
    }
}

impl FromStr for RowId {
    type Err = NotAnId;
    fn from_str(text: &str) -> Result<Self, NotAnId> {
        if let Ok(id) = text.parse() {
            return Ok(Self::Message(id));
        }
        let source = match text.get(..2) {
            Some("p-") => Source::Plugin,
            Some("c-") => Source::Peer,
            Some("s-") => Source::Schedule,
            Some(_) | None => return Err(NotAnId),
        };
        let digest = parse_base32(text.get(2..).ok_or(NotAnId)?)?;
        Ok(Self::Foreign(ForeignId { source, digest }))
    }
}
by_text!(RowId);

/// The conversation that a row belongs to. Its text is the session's folder name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Route {
    /// The seat's one conversation.
    Seat,
    /// A channel's own talk.
    Channel(ChannelId),
    /// A thread.
    Thread(ChannelId),
    /// A peer on the mesh.
    Peer([u8; FOREIGN_CHARS]),
}

impl Route {
    /// The route of a person's message.
    #[must_use]
    pub fn of(scope: SessionScope, place: Place) -> Self {
        match (scope, place.thread) {
            (SessionScope::Seat, _) => Self::Seat,
            (SessionScope::Thread, Some(thread)) => Self::Thread(thread),
            (SessionScope::Thread, None) => Self::Channel(place.channel),
        }
    }
}

impl fmt::Display for Route {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Seat => f.write_str("seat"),
            Self::Channel(id) => write!(f, "channel-{id}"),
            Self::Thread(id) => write!(f, "thread-{id}"),
            Self::Peer(digest) => write!(f, "peer-{}", ascii(digest)),
        }
    }
}

impl FromStr for Route {
    type Err = NotAnId;
    fn from_str(text: &str) -> Result<Self, NotAnId> {
        let id = |text: &str| text.parse().map_err(|_| NotAnId);
        match text.split_once('-') {
            None if text == "seat" => Ok(Self::Seat),
            Some(("channel", rest)) => Ok(Self::Channel(id(rest)?)),
            Some(("thread", rest)) => Ok(Self::Thread(id(rest)?)),
            Some(("peer", rest)) => Ok(Self::Peer(parse_base32(rest)?)),
            Some(_) | None => Err(NotAnId),
        }
    }
}
by_text!(Route);

/// What Discord dedupes a message by: the same intent always has the same nonce.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Nonce([u8; NONCE_CHARS]);

impl Nonce {
    /// Derives the nonce of one intent. `class` is 0, and one more for each time an operator
    /// ordered a fresh attempt.
    #[must_use]
    pub fn derive(binding: &str, owner: &str, purpose: &str, part: u32, class: u32) -> Self {
        let (part, class) = (part.to_string(), class.to_string());
        Self(base32(&digest(
            "guildhall nonce 1",
            &[binding, owner, purpose, &part, &class],
        )))
    }

    /// The nonce as text, 24 characters.
    #[must_use]
    pub fn as_str(&self) -> &str {
        ascii(&self.0)
    }
}

impl fmt::Display for Nonce {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl fmt::Debug for Nonce {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Nonce({})", self.as_str())
    }
}

impl FromStr for Nonce {
    type Err = NotAnId;
    fn from_str(text: &str) -> Result<Self, NotAnId> {
        parse_base32(text).map(Self)
    }
}
by_text!(Nonce);

/// SHA-256 over a tag and fields, each with its length before it, so that no two lists of fields
/// give the same input.
#[must_use]
pub fn digest(tag: &str, fields: &[&str]) -> [u8; 32] {
    let mut hash = Sha256::new();
    for field in std::iter::once(&tag).chain(fields) {
        let length = u32::try_from(field.len()).unwrap_or(u32::MAX);
        hash.update(length.to_be_bytes());
        hash.update(field.as_bytes());
    }
    hash.finalize().into()
}

const ALPHABET: &[u8; 32] = b"abcdefghijklmnopqrstuvwxyz234567";

/// The first `N` base-32 characters of a digest.
fn base32<const N: usize>(bytes: &[u8; 32]) -> [u8; N] {
    std::array::from_fn(|place| {
        let bit = place * 5;
        let pair = u16::from_be_bytes([
            bytes.get(bit / 8).copied().unwrap_or(0),
            bytes.get(bit / 8 + 1).copied().unwrap_or(0),
        ]);
        let index = usize::from((pair >> (11 - bit % 8)) & 31);
        ALPHABET.get(index).copied().unwrap_or(b'a')
    })
}

fn parse_base32<const N: usize>(text: &str) -> Result<[u8; N], NotAnId> {
    let bytes: [u8; N] = text.as_bytes().try_into().map_err(|_| NotAnId)?;
    if bytes.iter().all(|byte| ALPHABET.contains(byte)) {
        Ok(bytes)
    } else {
        Err(NotAnId)
    }
}

fn ascii(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base32_agrees_with_the_well_kept_encoder() {
        for seed in 0..64_u32 {
            let bytes = digest("test", &[&seed.to_string()]);
            let want = data_encoding::BASE32_NOPAD.encode(&bytes).to_lowercase();
            let got: [u8; 24] = base32(&bytes);
            assert_eq!(ascii(&got), &want[..24]);
        }
    }

    #[test]
    fn ids_survive_the_way_through_text() {
        let channel: ChannelId = "77".parse().expect("an id");
        let foreign = RowId::Foreign(ForeignId::derive(Source::Plugin, &["handoff", "a"]));
        for row in [RowId::Message("12".parse().expect("an id")), foreign] {
            assert_eq!(row.to_string().parse(), Ok(row));
        }
        for route in [Route::Seat, Route::Channel(channel), Route::Thread(channel)] {
            assert_eq!(route.to_string().parse(), Ok(route));
        }
        for text in [
            "",
            "seats",
            "thread-",
            "thread-0",
            "channel-x",
            "../seat",
            "peer-",
        ] {
            assert_eq!(text.parse::<Route>(), Err(NotAnId), "{text}");
        }
        for text in [
            "",
            "p-",
            "p-UPPERUPPERUPPERUPPER",
            "x-aaaaaaaaaaaaaaaaaaaa",
            "0",
        ] {
            assert_eq!(text.parse::<RowId>(), Err(NotAnId), "{text}");
        }
    }

    #[test]
    fn a_nonce_differs_in_every_field_and_in_nothing_else() {
        let base = Nonce::derive("hall", "1", "answer", 1, 0);
        assert_eq!(base, Nonce::derive("hall", "1", "answer", 1, 0));
        assert_eq!(base.as_str().len(), 24);
        let others = [
            Nonce::derive("hal", "l1", "answer", 1, 0),
            Nonce::derive("hall", "2", "answer", 1, 0),
            Nonce::derive("hall", "1", "failure", 1, 0),
            Nonce::derive("hall", "1", "answer", 2, 0),
            Nonce::derive("hall", "1", "answer", 1, 1),
        ];
        for other in others {
            assert_ne!(base, other);
        }
    }
}
