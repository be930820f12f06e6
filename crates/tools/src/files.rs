//! Tools over files of roots and of the workspace.
//!
//! In: checked arguments. Out: text for a model. Never: a path of the host, a root that the model
//! chose for a workspace's tool, a change of which a person was shown less than all.

mod look; // lists, reads, searches
mod put; // writes and edits
mod words; // results as text

pub(crate) use look::{list, read, search};
pub(crate) use put::write;

use crate::{
    arguments::Arguments,
    call::Call,
    ground::Ground,
    refusal::CallRefusal,
    turn::{Turn, about},
};
use guildhall_authority::{offer::Toolset, permit::Denied};
use guildhall_confine::{FileLimit, RelPath};
use std::sync::Arc;

/// Largest file of a workspace's tools.
const WORKSPACE_FILE: FileLimit = FileLimit::bytes(128 * 1024);
/// Entries of one listing.
const LIST_MAX_COUNT: usize = 200;

/// Where a call works.
struct Place {
    ground: Arc<Ground>,
    path: RelPath,
}

impl Place {
    /// The root and the path of a call. A workspace's tool has the turn's workspace, whatever a model
    /// says.
    fn of(turn: &Turn, call: &Call, arguments: &Arguments) -> Result<Self, CallRefusal> {
        let name = if call.tool.toolset() == Toolset::Workspace {
            turn.scope.workspace()
        } else {
            arguments.may_text("root")
        };
        let ground = name.and_then(|name| turn.host.ground(&turn.scope, name));
        let path = arguments.text("path");
        let root = ground.map(|ground| ground.name.as_str());
        about(turn, call, root, path);
        if let Some(pattern) = arguments.may_text("pattern") {
            turn.record().searches_for(call.number, pattern);
        }
        let ground = ground.ok_or(CallRefusal::Denied(Denied::UnknownRoot))?;
        Ok(Self {
            ground: Arc::clone(ground),
            path: RelPath::parse(path)?,
        })
    }

    /// The place as it stands in lists of what was read.
    fn shown(&self) -> String {
        format!("{}:{}", self.ground.name, self.path)
    }

    /// The same of what was searched: a root whole by its name.
    fn shown_searched(&self) -> String {
        if self.path.is_root() {
            self.ground.name.clone()
        } else {
            self.shown()
        }
    }

    /// The same of a folder.
    fn shown_folder(&self) -> String {
        format!("{}:{}/", self.ground.name, self.path.as_str())
    }
}

/// The largest file that a call may meet.
fn limit(turn: &Turn, call: &Call) -> FileLimit {
    let policy = FileLimit::bytes(turn.file_max_bytes());
    if call.tool.toolset() == Toolset::Workspace {
        policy.min(WORKSPACE_FILE)
    } else {
        policy
    }
}
