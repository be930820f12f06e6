//! Asking a running seat over its control socket.
//!
//! In: a binding's folder, a request. Out: the seat's answer, or that nobody serves. Never: a wait
//! without end, a request to another user's process.

use crate::{
    exit::Failure,
    seat::{ANSWER_MAX_BYTES, open_folder, through},
};
use serde_json::Value;
use std::{
    io::{self, BufRead as _, BufReader, Read as _, Write as _},
    os::unix::net::UnixStream,
    path::Path,
    time::Duration,
};

/// How long the seat may take: it waits for the disk, and for look-ups of a reload.
const ANSWER_WAIT: Duration = Duration::from_secs(45);

/// What came of asking.
pub(super) enum Answer {
    /// The seat said this.
    Said(Value),
    /// Nobody serves the binding, or not yet.
    Nobody,
    /// Somebody does, and gave no answer that can be used.
    Silent(String),
}

/// Asks once.
pub(super) fn ask(folder: &Path, request: &Value) -> Answer {
    let connected = open_folder(folder).and_then(|folder| UnixStream::connect(through(&folder)));
    let stream = match connected {
        Ok(stream) => stream,
        Err(error)
            if matches!(
                error.kind(),
                io::ErrorKind::NotFound | io::ErrorKind::ConnectionRefused
            ) =>
        {
            return Answer::Nobody;
        }
        Err(error) => return Answer::Silent(error.to_string()),
    };
    match exchange(stream, request) {
        Ok(said) => Answer::Said(said),
        Err(error) => Answer::Silent(error.to_string()),
    }
}

fn exchange(mut stream: UnixStream, request: &Value) -> io::Result<Value> {
    let us = rustix::process::geteuid();
    let peer = rustix::net::sockopt::socket_peercred(&stream)?;
    if peer.uid != us {
        return Err(io::Error::other("the control socket is another user's"));
    }
    stream.set_read_timeout(Some(ANSWER_WAIT))?;
    stream.set_write_timeout(Some(ANSWER_WAIT))?;
    stream.write_all(format!("{request}\n").as_bytes())?;
    let mut line = String::new();
    BufReader::new(stream.take(ANSWER_MAX_BYTES as u64 + 1)).read_line(&mut line)?;
    if line.is_empty() {
        return Err(io::Error::other(
            "it hung up: too many ask at once, or it ends",
        ));
    }
    serde_json::from_str(&line).map_err(io::Error::other)
}

/// The answer, where it is no refusal.
pub(super) fn accepted(said: Value) -> Result<Value, Failure> {
    if said["ok"] == true {
        return Ok(said);
    }
    let words = said["error"].as_str().unwrap_or("the seat refused");
    Err(Failure::failed(words.to_owned()))
}

/// A seat that holds its lock and does not answer.
pub(super) fn silent(why: &str, name: &str) -> Failure {
    Failure::failed(format!("the running seat gives no answer: {why}")).hint(format!(
        "`guildhall status {name}` shows what is known of it"
    ))
}
