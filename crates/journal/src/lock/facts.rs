//! What the system says about a process, right now.
//!
//! In: a process id. Out: whether it lives, when it started, which boot this is.
//! Never: decides, or takes "cannot be read" for "is gone".

use serde_json::json;

use super::record::is_boot_id;
use crate::platform;

/// Facts that a verdict about a record needs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProcessFacts {
    /// The process with the recorded id.
    pub process: Seen,
    /// The present boot's id, if it can be read.
    pub boot: Option<String>,
}

/// What can be seen of a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Seen {
    /// There is no such process, or only what its parent has not collected yet.
    Gone,
    /// There is one.
    Alive {
        /// When it started, in clock ticks since boot, if that can be read.
        start: Option<u64>,
    },
    /// The system did not say.
    Unknown,
}

/// Looks at the process `pid`.
pub fn observe(pid: i32) -> ProcessFacts {
    ProcessFacts {
        process: platform::see(pid),
        boot: boot_id(),
    }
}

fn boot_id() -> Option<String> {
    platform::boot_id().filter(|boot| is_boot_id(boot))
}

/// Signals that an owner understands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OwnerSignal {
    /// Finish the turn in flight, then exit.
    Terminate,
    /// Read the binding again.
    Reload,
}

/// The identity that a claim records.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Owner {
    /// Process id.
    pub pid: i32,
    /// Start time in clock ticks since boot, if it can be read.
    pub start: Option<u64>,
    /// Boot id, if it can be read.
    pub boot: Option<String>,
}

impl Owner {
    /// This process.
    pub fn current() -> Self {
        let pid = rustix::process::getpid().as_raw_nonzero().get();
        let ProcessFacts { process, boot } = observe(pid);
        let start = match process {
            Seen::Alive { start } => start,
            Seen::Gone | Seen::Unknown => None,
        };
        Self { pid, start, boot }
    }

    /// The record's text.
    pub(crate) fn to_json(&self) -> String {
        let Self { pid, start, boot } = self;
        format!("{}\n", json!({ "pid": pid, "start": start, "boot": boot }))
    }
}
