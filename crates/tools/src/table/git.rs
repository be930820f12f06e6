//! The tools over git.
//!
//! In and out as for the whole table. Never: words that promise a model more than the tool does.

use super::{Field, Kind, Need, Row, Size, must};
use std::time::Duration;

/// Several programs in a row, each of which has a minute of its own.
const DEADLINE: Duration = Duration::from_secs(150);

/// The names of a turn's roots come in its place.
const ROOT: &str = "Name of a root.";

pub(super) static STATUS: Row = Row {
    description: "Gives the branch of a root, how far it is ahead of and behind the server by what was \
                  last heard, and the paths that differ.",
    fields: &[must("root", ROOT)],
    deadline: DEADLINE,
    size: Size::Fixed,
};

pub(super) static COMMIT: Row = Row {
    description: "Commits exactly the named files of a root and pushes at once. Who asked is added to \
                  the message.",
    fields: &[
        must("root", ROOT),
        must("message", "What changed and why."),
        Field {
            name: "paths",
            kind: Kind::Texts,
            need: Need::Must,
            about: "One to fifty files, relative to the root.",
        },
    ],
    deadline: DEADLINE,
    size: Size::Fixed,
};

pub(super) static PULL: Row = Row {
    description: "Takes what the server's branch has, fast-forward only.",
    fields: &[must("root", ROOT)],
    deadline: DEADLINE,
    size: Size::Fixed,
};

pub(super) static PUSH: Row = Row {
    description: "Pushes the branch of a root. Never by force.",
    fields: &[must("root", ROOT)],
    deadline: DEADLINE,
    size: Size::Fixed,
};

pub(super) static RESERVE_ID: Row = Row {
    description: "Reserves the next id of a kind of record in a vault.",
    fields: &[
        must("root", ROOT),
        must("prefix", "BUS, PRJ, SS, DEC or REF."),
        must(
            "title",
            "The record's title: one line, at most 200 characters.",
        ),
    ],
    deadline: DEADLINE,
    size: Size::Fixed,
};
