//! Tool calls of a model's message, put together from their pieces.
//!
//! In: pieces as providers send them. Out: whole calls in order. Never: a call without an id, two of
//! one id, more than is bounded.
//!
//! Providers differ: most number their pieces, some send whole calls without a number, some give
//! each call of a message the same number, some leave out ids or use one twice.

use std::collections::BTreeSet;

/// Most calls of one message.
pub(super) const CALLS_MAX: usize = 32;
/// Longest id that is sent back as it came, in bytes.
const ID_MAX_BYTES: usize = 64;

/// A piece of a call.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub(super) struct Piece {
    /// The provider's number of the call in its message.
    pub(super) slot: Option<u64>,
    /// Its id; empty where none is given.
    pub(super) id: String,
    /// The tool's name, or a part of it; empty where none is given.
    pub(super) name: String,
    /// A part of its arguments, as JSON text.
    pub(super) arguments: String,
}

/// A whole call.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub(super) struct Call {
    slot: Option<u64>,
    /// Unlike every other of its turn, once [`Ids::settle`] has seen it.
    pub(super) id: String,
    /// The tool's name.
    pub(super) name: String,
    /// Its arguments as JSON text; it need not be any.
    pub(super) arguments: String,
}

/// There are more calls in one message than [`CALLS_MAX`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct TooMany;

/// Adds a piece to the calls of a message. Of arguments past `arguments_max` bytes no more than one
/// character is kept.
///
/// # Errors
/// [`TooMany`].
pub(super) fn add(
    calls: &mut Vec<Call>,
    piece: Piece,
    arguments_max: usize,
) -> Result<(), TooMany> {
    let at = match piece.slot {
        Some(slot) => calls.iter().rposition(|call| call.slot == Some(slot)),
        None => calls.len().checked_sub(1),
    };
    let call = match at.and_then(|at| calls.get_mut(at)) {
        Some(call) if !begins_another(call, &piece) => call,
        Some(_) | None => {
            if calls.len() == CALLS_MAX {
                return Err(TooMany);
            }
            calls.push(Call {
                slot: piece.slot,
                ..Call::default()
            });
            let last = calls.len() - 1;
            &mut calls[last]
        }
    };
    if call.id.is_empty() {
        call.id = piece.id;
    }
    // Some servers repeat the name in each piece.
    if call.name != piece.name {
        call.name.push_str(&piece.name);
    }
    let room = (arguments_max + 1).saturating_sub(call.arguments.len());
    let kept = piece
        .arguments
        .ceil_char_boundary(room.min(piece.arguments.len()));
    call.arguments.push_str(&piece.arguments[..kept]);
    Ok(())
}

/// Whether a piece cannot be of this call: it has another id, or it names a tool after arguments have
/// come and does not say that it belongs to them.
fn begins_another(call: &Call, piece: &Piece) -> bool {
    let other_id = !piece.id.is_empty() && !call.id.is_empty() && piece.id != call.id;
    let same_id = !piece.id.is_empty() && piece.id == call.id;
    let names_again = !piece.name.is_empty() && !call.arguments.is_empty() && !same_id;
    let repeats_name = piece.slot.is_some() && piece.name == call.name && piece.id.is_empty();
    other_id || (names_again && !repeats_name)
}

/// The ids of a turn's calls.
#[derive(Debug, Default)]
pub(super) struct Ids {
    used: BTreeSet<String>,
    given: u32,
}

impl Ids {
    /// Gives each call an id of its own, and arguments that are at least an empty object.
    pub(super) fn settle(&mut self, calls: &mut [Call]) {
        for call in calls {
            if call.arguments.trim().is_empty() {
                "{}".clone_into(&mut call.arguments);
            }
            let usable = !call.id.is_empty()
                && call.id.len() <= ID_MAX_BYTES
                && call
                    .id
                    .bytes()
                    .all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_'));
            while !usable_and_new(&mut self.used, usable, &call.id) {
                self.given += 1;
                call.id = made_id("call", self.given);
                if self.used.insert(call.id.clone()) {
                    break;
                }
            }
        }
    }
}

fn usable_and_new(used: &mut BTreeSet<String>, usable: bool, id: &str) -> bool {
    usable && used.insert(id.to_owned())
}

/// An id of nine letters and digits: every provider takes that, and one of them nothing else.
pub(super) fn made_id(what: &str, number: u32) -> String {
    format!("{what}{:0width$}", number % 100_000, width = 9 - what.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn piece(slot: Option<u64>, id: &str, name: &str, arguments: &str) -> Piece {
        Piece {
            slot,
            id: id.to_owned(),
            name: name.to_owned(),
            arguments: arguments.to_owned(),
        }
    }

    fn joined(pieces: &[Piece]) -> Vec<(String, String, String)> {
        let mut calls = Vec::new();
        for piece in pieces {
            add(&mut calls, piece.clone(), 1_000).expect("few");
        }
        Ids::default().settle(&mut calls);
        calls
            .into_iter()
            .map(|call| (call.id, call.name, call.arguments))
            .collect()
    }

    #[test]
    #[expect(clippy::too_many_lines, reason = "one table of cases")]
    fn the_pieces_of_every_server_make_whole_calls() {
        let one = Some(0);
        let two = Some(1);
        let cases = [
            (
                "numbered pieces",
                vec![
                    piece(one, "a", "read", ""),
                    piece(one, "", "", "{\"pa"),
                    piece(one, "", "", "th\":1}"),
                    piece(two, "b", "list", "{}"),
                ],
                vec![("a", "read", "{\"path\":1}"), ("b", "list", "{}")],
            ),
            (
                "pieces of two calls mixed",
                vec![
                    piece(one, "a", "read", ""),
                    piece(two, "b", "list", ""),
                    piece(one, "", "", "{1}"),
                    piece(two, "", "", "{2}"),
                ],
                vec![("a", "read", "{1}"), ("b", "list", "{2}")],
            ),
            (
                "whole calls without a number",
                vec![
                    piece(None, "a", "read", "{1}"),
                    piece(None, "b", "read", "{2}"),
                ],
                vec![("a", "read", "{1}"), ("b", "read", "{2}")],
            ),
            (
                "one number for all of them",
                vec![
                    piece(one, "a", "read", "{1}"),
                    piece(one, "b", "read", "{2}"),
                ],
                vec![("a", "read", "{1}"), ("b", "read", "{2}")],
            ),
            (
                "neither number nor id",
                vec![
                    piece(None, "", "read", "{1}"),
                    piece(None, "", "read", "{2}"),
                ],
                vec![("call00001", "read", "{1}"), ("call00002", "read", "{2}")],
            ),
            (
                "id and name in every piece",
                vec![piece(one, "a", "read", "{"), piece(one, "a", "read", "}")],
                vec![("a", "read", "{}")],
            ),
            (
                "a name in two pieces, no arguments",
                vec![piece(one, "a", "read_", ""), piece(one, "", "file", "")],
                vec![("a", "read_file", "{}")],
            ),
            (
                "an id twice, and one that cannot be sent back",
                vec![
                    piece(Some(0), "a", "read", "{1}"),
                    piece(Some(1), "a", "read", "{2}"),
                    piece(Some(2), "a b", "read", "{3}"),
                ],
                vec![
                    ("a", "read", "{1}"),
                    ("call00001", "read", "{2}"),
                    ("call00002", "read", "{3}"),
                ],
            ),
        ];
        for (what, pieces, want) in cases {
            let want: Vec<_> = want
                .into_iter()
                .map(|(id, name, arguments)| (id.to_owned(), name.to_owned(), arguments.to_owned()))
                .collect();
            assert_eq!(joined(&pieces), want, "{what}");
        }
    }

    #[test]
    fn ids_stay_apart_over_the_messages_of_a_turn() {
        let mut ids = Ids::default();
        let mut seen = BTreeSet::new();
        for _ in 0..5 {
            let mut calls = Vec::new();
            add(&mut calls, piece(one(), "call00002", "read", "{}"), 1_000).expect("few");
            add(&mut calls, piece(None, "", "list", ""), 1_000).expect("few");
            ids.settle(&mut calls);
            for call in calls {
                assert!(seen.insert(call.id.clone()), "{}", call.id);
            }
        }
        assert_eq!(made_id("call", 7), "call00007");
    }

    fn one() -> Option<u64> {
        Some(0)
    }

    #[test]
    fn calls_have_a_bound() {
        let mut calls = Vec::new();
        for number in 0..CALLS_MAX as u64 {
            assert_eq!(add(&mut calls, piece(Some(number), "", "x", ""), 9), Ok(()));
        }
        assert_eq!(
            add(&mut calls, piece(Some(99), "", "x", ""), 9),
            Err(TooMany)
        );
    }
}
