//! The host's door for an engine that is a process of its own.
//!
//! In: JSON lines over a private Unix socket, from the process that we started. Out: results of the
//! calls of the turn that is attached. Never: a secret in the socket's path or in a line, a call of
//! anybody else's process, a call between two turns, a line without a bound.
//!
//! One bridge serves one process. The other side asks for `{"tools":true}` once and makes calls
//! with `{"call":7,"name":"..","arguments":{..}}`; it is given `{"tools":[..]}` and
//! `{"result":7,"outcome":"done","text":".."}`. `{"cancel":7}` withdraws a call. What the other
//! side says that it has changes nothing: the turn's tools refuse what the turn was not offered.
//!
//! A line may be as long as the largest arguments of the attached turn. A longer one is skipped to its
//! end: its call is refused, and the other calls go on. Where it does not say first which call it is,
//! `{"error":".."}` answers it.

mod line; // lines in bounded memory
mod peer; // whose process is at the other end
mod serve; // one connection, line by line

use crate::contract::{CallTools, ToolSpec};
use serde_json::{Value, json};
use std::{
    io,
    os::unix::fs::{DirBuilderExt as _, PermissionsExt as _},
    path::{Path, PathBuf},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};
use tokio::{
    net::UnixListener,
    sync::watch,
    task::{AbortHandle, JoinSet},
};

/// Calls of one connection that may be at work at the same time.
pub const CALLS_AT_ONCE: usize = 16;
/// Longest path of a Unix socket, in bytes. Source: unix(7), with its closing zero.
const SOCKET_PATH_MAX: usize = 107;
/// Connections at the same time. An engine needs one; a second one may overlap when it reloads.
const CONNECTIONS_MAX: usize = 4;

/// Why there is no bridge.
#[derive(Debug)]
pub enum BridgeError {
    /// The folder is too deep for a socket in it.
    TooDeep,
    /// The folder or the socket cannot be made.
    Io(io::Error),
}

impl std::fmt::Display for BridgeError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::TooDeep => write!(
                f,
                "the path of a tool socket would be longer than {SOCKET_PATH_MAX} bytes"
            ),
            Self::Io(_) => f.write_str("the tool socket cannot be made"),
        }
    }
}

impl std::error::Error for BridgeError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::TooDeep => None,
            Self::Io(error) => Some(error),
        }
    }
}

/// Which turn's tools calls go to.
type Slot = Arc<Mutex<Seat>>;

/// The turn at the bridge, and its calls.
#[derive(Default)]
struct Seat {
    tools: Option<Arc<dyn CallTools>>,
    /// Counts attachments, so that an old one cannot detach a newer.
    turn: u64,
    calls: Vec<AbortHandle>,
}

fn seat(slot: &Slot) -> MutexGuard<'_, Seat> {
    slot.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A socket that one process may use. Dropping it closes every connection and removes the socket.
pub struct Bridge {
    path: PathBuf,
    folder: PathBuf,
    slot: Slot,
    group: watch::Sender<Option<u32>>,
    // Its tasks end with it.
    _tasks: JoinSet<()>,
}

impl Bridge {
    /// Makes `folder`, which must not exist, with mode 0700, and listens in it. The tools are what
    /// the other side is told of for as long as the bridge stands.
    ///
    /// It is called inside a tokio runtime.
    ///
    /// # Errors
    /// [`BridgeError`].
    pub fn listen(folder: &Path, offer: &[ToolSpec]) -> Result<Self, BridgeError> {
        let path = folder.join("tools.sock");
        if path.as_os_str().len() > SOCKET_PATH_MAX {
            return Err(BridgeError::TooDeep);
        }
        std::fs::DirBuilder::new()
            .mode(0o700)
            .create(folder)
            .map_err(BridgeError::Io)?;
        let listener = UnixListener::bind(&path).map_err(BridgeError::Io)?;
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600))
            .map_err(BridgeError::Io)?;
        let (group, expected) = watch::channel(None);
        let slot = Slot::default();
        let mut tasks = JoinSet::new();
        let list = listed(offer);
        tasks.spawn(accept(listener, list, Arc::clone(&slot), expected));
        Ok(Self {
            path,
            folder: folder.to_owned(),
            slot,
            group,
            _tasks: tasks,
        })
    }

    /// The socket's path, for the environment of the process.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Names the process group that may connect. Before this nobody is answered.
    pub fn expect(&self, group: u32) {
        self.group.send_replace(Some(group));
    }

    /// Lets calls reach these tools until what is returned is dropped. What was attached before is
    /// detached.
    pub fn attach(&self, tools: Arc<dyn CallTools>) -> Attached {
        let mut seat = seat(&self.slot);
        seat.clear();
        seat.turn += 1;
        seat.tools = Some(tools);
        Attached {
            slot: Arc::clone(&self.slot),
            turn: seat.turn,
        }
    }
}

impl Drop for Bridge {
    fn drop(&mut self) {
        seat(&self.slot).clear();
        // A folder that stays is empty of secrets and is swept with its parent.
        drop(std::fs::remove_file(&self.path));
        drop(std::fs::remove_dir(&self.folder));
    }
}

impl Seat {
    /// Cancels what is at work, and lets nothing more begin.
    fn clear(&mut self) {
        self.tools = None;
        for call in self.calls.drain(..) {
            call.abort();
        }
    }
}

/// A turn at the bridge. Dropping it revokes: open calls are cancelled, later ones refused.
#[must_use = "calls are refused again once it is dropped"]
pub struct Attached {
    slot: Slot,
    turn: u64,
}

impl Drop for Attached {
    fn drop(&mut self) {
        let mut seat = seat(&self.slot);
        if seat.turn == self.turn {
            seat.clear();
        }
    }
}

/// What the other side is told of the tools.
fn listed(offer: &[ToolSpec]) -> Arc<str> {
    let tools: Vec<Value> = offer
        .iter()
        .map(|spec| {
            json!({"name": spec.name.wire(), "description": spec.description,
                "parameters": spec.schema})
        })
        .collect();
    json!({ "tools": tools }).to_string().into()
}

async fn accept(
    listener: UnixListener,
    list: Arc<str>,
    slot: Slot,
    expected: watch::Receiver<Option<u32>>,
) {
    let mut connections = JoinSet::new();
    loop {
        let accepted = listener.accept().await;
        while connections.try_join_next().is_some() {}
        match accepted {
            Ok((stream, _)) if connections.len() < CONNECTIONS_MAX => {
                let (list, slot) = (Arc::clone(&list), Arc::clone(&slot));
                connections.spawn(serve::connection(stream, list, slot, expected.clone()));
            }
            // One too many is closed.
            Ok(_) => {}
            // Out of descriptors: others are given back in time.
            Err(_) => tokio::time::sleep(std::time::Duration::from_millis(100)).await,
        }
    }
}
