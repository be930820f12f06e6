//! Lines of the peer, in bounded memory.
//!
//! In: bytes of the peer, the bound of now. Out: a whole line, or the beginning of one that is too
//! long, once it has ended. Never: more of a line than its bound, an end of the connection since a
//! line was long.

use serde::de::{Deserializer as _, IgnoredAny, MapAccess, Visitor};
use std::fmt;
use tokio::io::{AsyncBufRead, AsyncBufReadExt as _};

/// What a line may have beside a call's arguments, in bytes: its number, its name, white space.
pub(super) const HEAD_MAX_BYTES: usize = 4 * 1024;

/// How a line came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Came {
    /// Whole.
    Whole,
    /// Too long: only its beginning is kept.
    Head,
}

/// Reads the next line into `line`, with its end; `None` where the peer has left. `arguments_max` is
/// asked anew as the line grows, since a turn may be attached meanwhile.
pub(super) async fn next(
    reader: &mut (impl AsyncBufRead + Unpin),
    line: &mut Vec<u8>,
    arguments_max: impl Fn() -> usize,
) -> Option<Came> {
    line.clear();
    let mut came = Came::Whole;
    loop {
        let piece = reader.fill_buf().await.ok()?;
        if piece.is_empty() {
            return None;
        }
        let end = piece.iter().position(|byte| *byte == b'\n');
        let length = end.map_or(piece.len(), |at| at + 1);
        let max = arguments_max().saturating_add(HEAD_MAX_BYTES);
        if came == Came::Whole {
            line.extend_from_slice(&piece[..length]);
            if line.len() > max {
                came = Came::Head;
                line.truncate(HEAD_MAX_BYTES);
                line.shrink_to_fit();
            }
        }
        reader.consume(length);
        if end.is_some() {
            return Some(came);
        }
    }
}

/// Which call the beginning of a line is of, where that stands before the arguments.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Head {
    pub(super) call: Option<u64>,
    pub(super) name: Option<String>,
}

impl Head {
    pub(super) fn of(line: &[u8]) -> Self {
        let mut head = Self::default();
        // The line is cut, so that reading it fails in any case; what was read before that counts.
        let mut json = serde_json::Deserializer::from_slice(line);
        drop(json.deserialize_map(Fields(&mut head)));
        head
    }
}

struct Fields<'h>(&'h mut Head);

impl<'de> Visitor<'de> for Fields<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a call")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(key) = map.next_key::<String>()? {
            match key.as_str() {
                "call" => self.0.call = Some(map.next_value()?),
                "name" => self.0.name = Some(map.next_value()?),
                _ => {
                    let _: IgnoredAny = map.next_value()?;
                }
            }
        }
        Ok(())
    }
}
