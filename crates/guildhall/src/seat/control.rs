//! The way in for other commands: `control.sock` in the binding's folder.
//!
//! In: one JSON object a line, from processes of the same user. Out: one JSON object a line.
//! Never: another user's word, a line without bound, a client that holds up the seat or the others.
//!
//! The socket is bound and reached through the folder's descriptor, since a socket's path ends at
//! 107 bytes.

use guildhall_authority::ask::AskId;
use guildhall_binding::ids::MessageId;
use guildhall_connector::ids::{Nonce, RowId};
use rustix::{
    fd::{AsRawFd as _, OwnedFd},
    fs::{AtFlags, FileType, Mode, OFlags},
};
use serde::Deserialize;
use serde_json::{Value, json};
use std::{io, path::Path, sync::Arc, time::Duration};
use tokio::{
    io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader},
    net::{UnixListener, UnixStream},
    sync::{Semaphore, mpsc, oneshot},
    time::timeout,
};

/// Name of the socket in the binding's folder.
pub(crate) const SOCKET_FILE: &str = "control.sock";
/// Longest request, in bytes.
pub(crate) const REQUEST_MAX_BYTES: u64 = 4 * 1024;
/// Longest answer, in bytes.
pub(crate) const ANSWER_MAX_BYTES: usize = 1024 * 1024;
/// Rows or deliveries in one answer; beyond it only their number is told.
pub(crate) const LIST_MAX_COUNT: usize = 1_000;
/// Clients at one time: more than people have hands, few enough to cost nothing.
const CLIENTS_MAX_COUNT: usize = 8;
/// Requests that wait for the seat.
const QUEUE_COUNT: usize = 16;
/// How long a client may be silent, and how long it may take to read an answer.
const CLIENT_WAIT: Duration = Duration::from_secs(10);
/// How long the seat may take: a reload looks channels up.
const SEAT_WAIT: Duration = Duration::from_secs(30);

/// What a client asks for.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(tag = "do", rename_all = "lowercase", deny_unknown_fields)]
pub(crate) enum Request {
    /// What the seat does now.
    Status {},
    /// Open rows.
    Rows {},
    /// Open deliveries.
    Deliveries {},
    /// A person looked: the delivery stands there as this message, or nowhere.
    Settle {
        /// The delivery.
        nonce: Nonce,
        /// The message; absent where it does not stand.
        #[serde(default)]
        there: Option<MessageId>,
    },
    /// Withdraw a row that waits.
    Cancel {
        /// The row.
        row: RowId,
    },
    /// End the run of a row.
    Abort {
        /// The row.
        row: RowId,
    },
    /// Open asks.
    Asks {},
    /// One ask, whole.
    Ask {
        /// The ask.
        ask: AskId,
    },
    /// A person at this machine decides an ask.
    Decide {
        /// The ask.
        ask: AskId,
        /// What they say.
        answer: Word,
    },
    /// Read the binding again, and say what came of it.
    Reload {},
}

/// A person's word on an ask.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Word {
    /// Exactly this, this once.
    Once,
    /// No.
    Deny,
}

/// A request with the way back.
pub(super) struct Asked {
    pub(super) request: Request,
    pub(super) answer: oneshot::Sender<Value>,
}

/// The socket, served until it is dropped; then its file goes.
pub(super) struct Control {
    folder: OwnedFd,
    asked: mpsc::Receiver<Asked>,
    server: tokio::task::JoinHandle<()>,
}

impl Control {
    /// Opens the socket in `folder`, in place of one that a dead process left. The caller holds the
    /// binding's lock.
    ///
    /// # Errors
    /// Something that is no socket has its name, or what the system answers.
    pub(super) fn open(folder: &Path) -> io::Result<Self> {
        let folder = open_folder(folder)?;
        match rustix::fs::statat(&folder, SOCKET_FILE, AtFlags::SYMLINK_NOFOLLOW) {
            Err(rustix::io::Errno::NOENT) => {}
            Err(errno) => return Err(errno.into()),
            Ok(found) if FileType::from_raw_mode(found.st_mode) == FileType::Socket => {
                rustix::fs::unlinkat(&folder, SOCKET_FILE, AtFlags::empty())?;
            }
            Ok(_) => {
                let what = "something that is no socket has the name control.sock";
                return Err(io::Error::new(io::ErrorKind::AlreadyExists, what));
            }
        }
        let listener = UnixListener::bind(through(&folder))?;
        rustix::fs::chmodat(
            &folder,
            SOCKET_FILE,
            Mode::from_raw_mode(0o600),
            AtFlags::empty(),
        )?;
        let (ask, asked) = mpsc::channel(QUEUE_COUNT);
        let server = tokio::spawn(serve(listener, ask));
        Ok(Self {
            folder,
            asked,
            server,
        })
    }

    /// The next request.
    ///
    /// # Cancel safety
    /// A dropped future leaves the request in the queue.
    pub(super) async fn next(control: &mut Option<Self>) -> Asked {
        if let Some(open) = control
            && let Some(asked) = open.asked.recv().await
        {
            return asked;
        }
        std::future::pending().await
    }
}

impl Drop for Control {
    fn drop(&mut self) {
        self.server.abort();
        if let Err(error) = rustix::fs::unlinkat(&self.folder, SOCKET_FILE, AtFlags::empty()) {
            tracing::debug!(%error, "the control socket stays");
        }
    }
}

/// The folder's descriptor, never through a link.
pub(crate) fn open_folder(folder: &Path) -> io::Result<OwnedFd> {
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    Ok(rustix::fs::open(folder, flags, Mode::empty())?)
}

/// A path of the socket that is short however long the folder's is.
pub(crate) fn through(folder: &OwnedFd) -> String {
    format!("/proc/self/fd/{}/{SOCKET_FILE}", folder.as_raw_fd())
}

async fn serve(listener: UnixListener, ask: mpsc::Sender<Asked>) {
    let places = Arc::new(Semaphore::new(CLIENTS_MAX_COUNT));
    let us = rustix::process::geteuid().as_raw();
    loop {
        let client = match listener.accept().await {
            Ok((client, _)) => client,
            Err(error) => {
                // Too many open files, most likely: they will be fewer in a moment.
                tracing::warn!(%error, "a control client was not let in");
                tokio::time::sleep(Duration::from_millis(200)).await;
                continue;
            }
        };
        if !client.peer_cred().is_ok_and(|peer| peer.uid() == us) {
            tracing::warn!("a process of another user tried the control socket");
            continue;
        }
        // One too many is let go at once; it may try again.
        let Ok(place) = Arc::clone(&places).try_acquire_owned() else {
            continue;
        };
        let ask = ask.clone();
        tokio::spawn(async move {
            if let Err(error) = talk(client, &ask).await {
                tracing::debug!(%error, "a control client was let go");
            }
            drop(place);
        });
    }
}

/// Serves one client, line by line.
async fn talk(mut client: UnixStream, ask: &mpsc::Sender<Asked>) -> io::Result<()> {
    let (read, mut write) = client.split();
    let mut lines = BufReader::new(read);
    loop {
        let mut line = Vec::new();
        let mut bounded = (&mut lines).take(REQUEST_MAX_BYTES);
        let read = timeout(CLIENT_WAIT, bounded.read_until(b'\n', &mut line)).await??;
        if read == 0 {
            return Ok(());
        }
        let (answer, goes_on) = if line.last() == Some(&b'\n') {
            match serde_json::from_slice(&line) {
                Ok(request) => (put(request, ask).await, true),
                Err(error) => (no("bad-request", &error.to_string()), true),
            }
        } else {
            // Longer than a request may be, or the client ended in mid-line.
            (
                no("bad-request", "a request is one line of at most 4096 bytes"),
                false,
            )
        };
        let mut bytes = answer.to_string().into_bytes();
        if bytes.len() > ANSWER_MAX_BYTES {
            bytes = no("too-long", "the answer is longer than may be sent")
                .to_string()
                .into_bytes();
        }
        bytes.push(b'\n');
        timeout(CLIENT_WAIT, write.write_all(&bytes)).await??;
        if !goes_on {
            return Ok(());
        }
    }
}

/// Gives a request to the seat and waits for what it says.
async fn put(request: Request, ask: &mpsc::Sender<Asked>) -> Value {
    let (answer, answered) = oneshot::channel();
    if ask.try_send(Asked { request, answer }).is_err() {
        return no("busy", "the seat has enough requests to work on; try again");
    }
    match timeout(SEAT_WAIT, answered).await {
        Ok(Ok(answer)) => answer,
        Ok(Err(_)) => no("ending", "the seat ends"),
        Err(_) => no("late", "the seat gave no answer in time"),
    }
}

/// An answer that says no, by a fixed code.
pub(super) fn no(code: &str, words: &str) -> Value {
    json!({"ok": false, "code": code, "error": words})
}

#[cfg(test)]
mod tests;
