//! The tools over files.
//!
//! In and out as for the whole table. Never: words that promise a model more than the tool does.

use super::{DEADLINE, Kind, Row, Size, may, must};

/// The names of a turn's roots come in its place.
const ROOT: &str = "Name of a root.";
const FOLDER: &str = "Folder, relative to the root; `.` is the root itself.";
const FILE: &str = "File, relative to the root.";
const WORKSPACE_FOLDER: &str = "Folder, relative to the workspace; `.` is the workspace itself.";
const WORKSPACE_FILE: &str = "File, relative to the workspace.";
const OLD: &str = "The exact text to replace, line ends and blanks included. It must occur once.";
const NEW: &str = "What stands there instead.";

pub(super) static LIST_DIR: Row = Row {
    description: "Lists a folder of a root: names, kinds and sizes. Names that begin with a dot are \
                  out of reach.",
    fields: &[must("root", ROOT), must("path", FOLDER)],
    deadline: DEADLINE,
    size: Size::File,
};

pub(super) static READ_FILE: Row = Row {
    description: "Gives the whole text of a file of a root. Binary files, links and files that hold \
                  credentials are refused.",
    fields: &[must("root", ROOT), must("path", FILE)],
    deadline: DEADLINE,
    size: Size::File,
};

pub(super) static SEARCH: Row = Row {
    description: "Searches the files of a root line by line. Ignored, binary and oversize files are \
                  skipped, and the result says what was left out.",
    fields: &[
        must("root", ROOT),
        must("pattern", "The text to look for."),
        may(
            "regex",
            Kind::Flag,
            "Whether the pattern is a regular expression. It is plain text otherwise.",
        ),
        may(
            "glob",
            Kind::Text,
            "Only files that match: by name such as `*.md`, or by path such as `docs/**`; after `!`, \
             all but those.",
        ),
        may(
            "path",
            Kind::Text,
            "Only below this folder, or in this file.",
        ),
    ],
    deadline: DEADLINE,
    size: Size::File,
};

pub(super) static WRITE_FILE: Row = Row {
    description: "Makes a file in a root, or replaces all of it. The folder must exist. The file is \
                  not committed.",
    fields: &[
        must("root", ROOT),
        must("path", FILE),
        must("text", "The whole text of the file."),
    ],
    deadline: DEADLINE,
    size: Size::File,
};

pub(super) static EDIT_FILE: Row = Row {
    description: "Replaces one exact text in a file of a root. The text must occur exactly once. The \
                  file is not committed.",
    fields: &[
        must("root", ROOT),
        must("path", FILE),
        must("old", OLD),
        must("new", NEW),
    ],
    deadline: DEADLINE,
    size: Size::File,
};

pub(super) static LIST: Row = Row {
    description: "Lists a folder of the workspace: names, kinds and sizes.",
    fields: &[must("path", WORKSPACE_FOLDER)],
    deadline: DEADLINE,
    size: Size::Fixed,
};

pub(super) static READ: Row = Row {
    description: "Gives the whole text of a file of the workspace.",
    fields: &[must("path", WORKSPACE_FILE)],
    deadline: DEADLINE,
    size: Size::Fixed,
};

pub(super) static CREATE: Row = Row {
    description: "Makes a new file in the workspace, once a person allows it. The folder must exist, \
                  the file must not. The file is not committed.",
    fields: &[
        must("path", WORKSPACE_FILE),
        must("text", "The whole text of the file."),
    ],
    deadline: DEADLINE,
    size: Size::Fixed,
};

pub(super) static EDIT: Row = Row {
    description: "Replaces one exact text in a file of the workspace, once a person allows it. The \
                  text must occur exactly once. The file is not committed.",
    fields: &[
        must("path", WORKSPACE_FILE),
        must("old", OLD),
        must("new", NEW),
    ],
    deadline: DEADLINE,
    size: Size::Fixed,
};
