//! pi as a process: lines in, lines out.
//!
//! In: commands. Out: the lines that matter, each whole and bounded. Never: a process of its group
//! that outlives the value, a line without a bound, a word of its stderr for anybody but the log.

use guildhall_tools::Bridge;
use rustix::process::{Pid, Signal};
use serde_json::Value;
use std::{
    io,
    path::PathBuf,
    process::Stdio,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};
use tokio::{
    io::{AsyncBufReadExt as _, AsyncRead, AsyncReadExt as _, AsyncWriteExt as _, BufReader},
    process::{Child, ChildStdin, Command},
    sync::mpsc,
    task::JoinSet,
    time::timeout,
};

/// Longest line of pi, in bytes: what a run says at its end holds all of it.
const LINE_MAX_BYTES: u64 = 16 * 1024 * 1024;
/// Lines that wait to be looked at.
const LINES_WAITING: usize = 64;
/// Kept of stderr for whoever asks why it did not start, in bytes.
const STDERR_KEPT: usize = 4 * 1024;
/// Longest complaint that is told, in characters.
const COMPLAINT_MAX_CHARS: usize = 300;
/// How long a process may take to end by itself once its input is closed, and then once it is told.
const LEAVES: Duration = Duration::from_secs(5);
const TOLD: Duration = Duration::from_secs(2);
/// How deltas begin; they hold nothing that the message's end does not hold.
const DELTA: &[u8] = br#"{"type":"message_update""#;

/// What was heard.
pub(super) enum Heard {
    /// A piece of an answer.
    Delta,
    /// A line.
    Line(Value),
    /// What is no line of the protocol, or too long.
    Rubbish,
}

impl Heard {
    /// Whether it tells of a run.
    pub(super) fn is_of_a_run(&self) -> bool {
        const RUN: [&str; 4] = ["agent_", "turn_", "message_", "tool_execution_"];
        match self {
            Self::Delta => true,
            Self::Rubbish => false,
            Self::Line(line) => {
                let kind = line["type"].as_str().unwrap_or_default();
                RUN.iter().any(|begin| kind.starts_with(begin))
            }
        }
    }
}

/// A running pi. Dropping it kills its whole group.
pub(super) struct Process {
    child: Child,
    group: Option<Pid>,
    input: Option<ChildStdin>,
    heard: mpsc::Receiver<Heard>,
    pub(super) bridge: Option<Bridge>,
    ids: u64,
    errors: Arc<Mutex<Vec<u8>>>,
    _key: Option<KeyFile>,
    readers: JoinSet<()>,
}

impl Drop for Process {
    fn drop(&mut self) {
        if let Some(group) = self.group {
            // Without a process in it there is no group, and nothing to do.
            rustix::process::kill_process_group(group, Signal::KILL).ok();
        }
    }
}

/// A file with the key, for one process; it goes with the value.
pub(super) struct KeyFile(pub(super) PathBuf);

impl Drop for KeyFile {
    fn drop(&mut self) {
        drop(std::fs::remove_file(&self.0));
    }
}

impl Process {
    /// Starts one; `key` lives as long as it does.
    pub(super) fn start(
        mut command: Command,
        bridge: Option<Bridge>,
        key: Option<KeyFile>,
    ) -> io::Result<Self> {
        before_exec(&mut command);
        command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true);
        let mut child = command.spawn()?;
        let pid = child.id();
        if let (Some(bridge), Some(pid)) = (&bridge, pid) {
            bridge.expect(pid);
        }
        let group = pid
            .and_then(|pid| i32::try_from(pid).ok())
            .and_then(Pid::from_raw);
        let pipes = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let (Some(input), Some(output), Some(errors)) = pipes else {
            return Err(io::Error::other("a pipe is missing"));
        };
        let (say, heard) = mpsc::channel(LINES_WAITING);
        let mut readers = JoinSet::new();
        readers.spawn(read(output, say));
        let kept = Arc::default();
        readers.spawn(drain(errors, Arc::clone(&kept)));
        Ok(Self {
            child,
            group,
            input: Some(input),
            heard,
            bridge,
            ids: 0,
            errors: kept,
            _key: key,
            readers,
        })
    }

    /// Ends it as it likes to be ended: its input closed, then told, then killed when it is dropped.
    pub(super) async fn end(mut self) {
        self.input = None;
        // A full pipe would keep it from leaving.
        self.heard.close();
        if timeout(LEAVES, self.child.wait()).await.is_ok() {
            return;
        }
        if let Some(group) = self.group {
            rustix::process::kill_process_group(group, Signal::TERM).ok();
        }
        drop(timeout(TOLD, self.child.wait()).await);
    }

    /// The first line that it wrote to its stderr, once it has ended: without paths, for the operator.
    pub(super) async fn complaint(&mut self) -> Option<String> {
        let all = async { while self.readers.join_next().await.is_some() {} };
        drop(timeout(TOLD, all).await);
        let errors = self.errors.lock().unwrap_or_else(PoisonError::into_inner);
        complaint(&String::from_utf8_lossy(&errors))
    }

    /// Writes one command and gives its id.
    pub(super) async fn say(&mut self, mut command: Value) -> io::Result<String> {
        self.ids += 1;
        let id = format!("g{}", self.ids);
        command["id"] = Value::from(id.clone());
        self.write(&command).await?;
        Ok(id)
    }

    /// Writes one line as it is.
    pub(super) async fn write(&mut self, line: &Value) -> io::Result<()> {
        let input = self.input.as_mut();
        let input = input.ok_or_else(|| io::Error::other("its input is closed"))?;
        input.write_all(format!("{line}\n").as_bytes()).await
    }

    /// Looks at what it said while nobody asked; false where it cannot be used any more: it has
    /// ended, or told of a run that is nobody's.
    pub(super) fn is_idle(&mut self) -> bool {
        loop {
            match self.heard.try_recv() {
                Ok(Heard::Rubbish) | Err(mpsc::error::TryRecvError::Disconnected) => return false,
                Ok(heard) if heard.is_of_a_run() => return false,
                Ok(Heard::Line(_) | Heard::Delta) => {}
                Err(mpsc::error::TryRecvError::Empty) => {
                    return matches!(self.child.try_wait(), Ok(None));
                }
            }
        }
    }

    /// The next of its lines; `None` once it has ended, whoever still holds its pipes.
    pub(super) async fn hear(&mut self) -> Option<Heard> {
        tokio::select! {
            biased;
            heard = self.heard.recv() => heard,
            _ = self.child.wait() => None,
        }
    }
}

async fn read(output: impl AsyncRead + Unpin, say: mpsc::Sender<Heard>) {
    let mut output = BufReader::new(output);
    let mut line = Vec::new();
    loop {
        line.clear();
        let mut bounded = (&mut output).take(LINE_MAX_BYTES);
        match bounded.read_until(b'\n', &mut line).await {
            Ok(0) | Err(_) => return,
            Ok(_) => {}
        }
        let heard = if line.starts_with(DELTA) && line.ends_with(b"\n") {
            Heard::Delta
        } else {
            match serde_json::from_slice(&line) {
                Ok(value @ Value::Object(_)) => Heard::Line(value),
                Ok(_) | Err(_) => Heard::Rubbish,
            }
        };
        let is_over = matches!(heard, Heard::Rubbish);
        if say.send(heard).await.is_err() || is_over {
            break;
        }
    }
    drop(tokio::io::copy(&mut output, &mut tokio::io::sink()).await);
}

async fn drain(mut errors: impl AsyncRead + Unpin, kept: Arc<Mutex<Vec<u8>>>) {
    let mut piece = [0; 1024];
    loop {
        match errors.read(&mut piece).await {
            Ok(0) | Err(_) => return,
            Ok(read) => {
                let mut kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
                let room = STDERR_KEPT.saturating_sub(kept.len()).min(read);
                kept.extend_from_slice(&piece[..room]);
                tracing::debug!(said = %String::from_utf8_lossy(&piece[..read]), "pi wrote to its stderr");
            }
        }
    }
}

/// The first line of what it complained of, on one line, without paths.
fn complaint(errors: &str) -> Option<String> {
    let line = errors
        .lines()
        .map(str::trim)
        .find(|line| !line.is_empty())?;
    let words = line.split_whitespace().map(|word| match word.find('/') {
        Some(_) => "<path>",
        None => word,
    });
    let line = words.collect::<Vec<_>>().join(" ");
    let shown = line.chars().filter(|c| !c.is_control());
    Some(shown.take(COMPLAINT_MAX_CHARS).collect())
}

/// What the child does to itself before it becomes pi: what it writes is private, and it dies with
/// us, whatever it does with the end of its input.
#[expect(
    unsafe_code,
    reason = "the standard library has no other way to do something between fork and exec"
)]
fn before_exec(command: &mut Command) {
    let us = rustix::process::getpid();
    let before = move || {
        rustix::process::umask(rustix::fs::Mode::from_raw_mode(0o077));
        #[cfg(target_os = "linux")]
        rustix::process::set_parent_process_death_signal(Some(Signal::KILL))?;
        // We may have died before that.
        if rustix::process::getppid() == Some(us) {
            Ok(())
        } else {
            Err(io::ErrorKind::BrokenPipe.into())
        }
    };
    // SAFETY: between fork and exec only system calls are made: nothing is allocated, no lock is taken,
    // and the error is one without a heap.
    unsafe {
        command.pre_exec(before);
    }
}
