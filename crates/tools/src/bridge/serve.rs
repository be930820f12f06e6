//! One connection, line by line.
//!
//! In: lines of the peer. Out: one line for each list and each call. Never: a call without a turn, a
//! second answer to a call, a wait that keeps other lines from being read.

use super::{
    CALLS_AT_ONCE, Slot,
    line::{self, Came, Head},
    peer, seat,
};
use crate::{
    contract::{CallTools, Outcome, ToolCall, ToolResult},
    turn::ARGUMENTS_MAX_BYTES,
};
use serde::Deserialize;
use serde_json::value::RawValue;
use std::{collections::HashMap, sync::Arc};
use tokio::{
    io::{AsyncWriteExt as _, BufReader},
    net::{UnixStream, unix::OwnedWriteHalf},
    sync::{mpsc, watch},
    task::{AbortHandle, JoinSet},
};

/// Said when no turn is attached, or no longer.
const REVOKED: &str = "revoked: the turn of this call is over";
/// Said when too many calls are at work.
const TOO_MANY: &str = "too-many-calls: too many calls at the same time";

/// Said of a line whose call gives its number and no name before it is too long.
const TOO_LARGE: &str = "arguments-too-large: the arguments are larger than the limit";
/// Said of a line that does not say which call it is before it is too long.
const TOO_LONG: &str = "the line is longer than any call; it was left out";

/// A line of the peer: a list, a call or a withdrawal. Anything else ends the connection.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Asked<'l> {
    tools: Option<bool>,
    call: Option<u64>,
    name: Option<String>,
    #[serde(borrow)]
    arguments: Option<&'l RawValue>,
    cancel: Option<u64>,
}

/// Serves the peer until it leaves or says what is not of the protocol.
pub(super) async fn connection(
    stream: UnixStream,
    list: Arc<str>,
    slot: Slot,
    mut expected: watch::Receiver<Option<u32>>,
) {
    let Ok(group) = expected.wait_for(Option::is_some).await.map(|group| *group) else {
        return;
    };
    if !group.is_some_and(|group| peer::is_of(&stream, group)) {
        return;
    }
    let (read, write) = stream.into_split();
    // Full only while the peer does not read; then its calls wait, and nobody else.
    let (say, said) = mpsc::channel(CALLS_AT_ONCE);
    let mut talk = Talk {
        list,
        slot,
        say,
        calls: JoinSet::new(),
        open: HashMap::new(),
    };
    let writing = tokio::spawn(write_lines(write, said));
    let mut reader = BufReader::new(read);
    let mut line = Vec::new();
    let max = {
        let slot = Arc::clone(&talk.slot);
        move || arguments_max(&slot)
    };
    while let Some(came) = line::next(&mut reader, &mut line, &max).await {
        let goes_on = match came {
            Came::Whole => talk.heard(&line).await,
            Came::Head => talk.heard_too_much(Head::of(&line)).await,
        };
        if !goes_on {
            break;
        }
    }
    // Calls of a peer that left are cancelled by the drop of `talk`.
    drop(talk);
    writing.abort();
}

/// The longest arguments that may come now; between two turns, as of a turn with the least.
fn arguments_max(slot: &Slot) -> usize {
    let tools = seat(slot).tools.clone();
    let max = tools.map_or(0, |tools| tools.arguments_max());
    max.max(ARGUMENTS_MAX_BYTES)
}

async fn write_lines(mut write: OwnedWriteHalf, mut said: mpsc::Receiver<String>) {
    while let Some(mut line) = said.recv().await {
        line.push('\n');
        if write.write_all(line.as_bytes()).await.is_err() {
            return;
        }
    }
}

struct Talk {
    list: Arc<str>,
    slot: Slot,
    say: mpsc::Sender<String>,
    calls: JoinSet<()>,
    open: HashMap<u64, AbortHandle>,
}

impl Talk {
    /// Does what a line asks; false where it is none of ours.
    async fn heard(&mut self, line: &[u8]) -> bool {
        while self.calls.try_join_next().is_some() {}
        self.open.retain(|_, call| !call.is_finished());
        let Ok(asked) = serde_json::from_slice::<Asked<'_>>(line) else {
            return false;
        };
        match (asked.tools, asked.call, asked.cancel) {
            (Some(true), None, None) => self.say.send(self.list.to_string()).await.is_ok(),
            (None, Some(call), None) => {
                let (Some(name), Some(arguments)) = (asked.name, asked.arguments) else {
                    return false;
                };
                self.call(call, name, arguments.get().to_owned()).await;
                true
            }
            (None, None, Some(cancel)) => {
                if let Some(call) = self.open.remove(&cancel) {
                    call.abort();
                }
                true
            }
            _ => false,
        }
    }

    /// A line was too long. The turn refuses its call as it does every call with too much, and keeps it
    /// in its record; it does not have to see the arguments for that.
    async fn heard_too_much(&mut self, head: Head) -> bool {
        let (number, name) = match (head.call, head.name) {
            (Some(number), Some(name)) => (number, name),
            (Some(number), None) => {
                self.refuse(number, TOO_LARGE).await;
                return true;
            }
            (None, _) => {
                let error = serde_json::json!({ "error": TOO_LONG }).to_string();
                return self.say.send(error).await.is_ok();
            }
        };
        let too_much = " ".repeat(arguments_max(&self.slot) + 1);
        self.call(number, name, too_much).await;
        true
    }

    async fn call(&mut self, number: u64, name: String, arguments: String) {
        if self.calls.len() >= CALLS_AT_ONCE {
            self.refuse(number, TOO_MANY).await;
            return;
        }
        let call = ToolCall {
            id: format!("bridge-{number}"),
            name,
            arguments,
        };
        let begun = self.begin(number, call);
        if !begun {
            self.refuse(number, REVOKED).await;
        }
    }

    /// Starts a call for the turn that is attached, in one step with looking which one that is: a
    /// turn that is detached meanwhile finds the call in its list.
    fn begin(&mut self, number: u64, call: ToolCall) -> bool {
        let mut seat = seat(&self.slot);
        let Some(tools) = seat.tools.clone() else {
            return false;
        };
        let say = self.say.clone();
        let work = self.calls.spawn(async move {
            let mut told = Told {
                say,
                line: Some(answer(number, &revoked())),
            };
            let result = carry_out(&*tools, call).await;
            told.line = None;
            // The peer that does not hear it has left.
            drop(told.say.send(answer(number, &result)).await);
        });
        seat.calls.retain(|call| !call.is_finished());
        seat.calls.push(work.clone());
        self.open.insert(number, work);
        true
    }

    async fn refuse(&self, number: u64, why: &str) {
        let result = ToolResult {
            outcome: Outcome::Refused,
            text: why.to_owned(),
        };
        // The peer that does not hear it has left.
        drop(self.say.send(answer(number, &result)).await);
    }
}

async fn carry_out(tools: &dyn CallTools, call: ToolCall) -> ToolResult {
    tools.call(call).await
}

/// Answers a call that is dropped in its middle, so that the peer does not wait for it.
struct Told {
    say: mpsc::Sender<String>,
    line: Option<String>,
}

impl Drop for Told {
    fn drop(&mut self) {
        if let Some(line) = self.line.take() {
            // Full: the peer does not read, and its turn is over anyway.
            drop(self.say.try_send(line));
        }
    }
}

fn revoked() -> ToolResult {
    ToolResult {
        outcome: Outcome::Unknown,
        text: REVOKED.to_owned(),
    }
}

fn answer(number: u64, result: &ToolResult) -> String {
    let outcome = match result.outcome {
        Outcome::Done => "done",
        Outcome::Refused => "refused",
        Outcome::Unknown => "unknown",
    };
    serde_json::json!({"result": number, "outcome": outcome, "text": result.text}).to_string()
}
