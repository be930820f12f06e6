//! The program under test as a process: `guildhall run` on a data root of its own.
//!
//! In: a hall, limits, fail points, signals. Out: exits, the log, the files it wrote. Never: a
//! process that outlives the test, an environment that is not its own.

use crate::{
    hall::{ANA, CHANNELS, Hall},
    journal::Journal,
    waiting::{PATIENCE, until, within},
};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use std::{
    fs::{self, DirBuilder, File, OpenOptions},
    io::Write as _,
    os::unix::{
        fs::{DirBuilderExt as _, OpenOptionsExt as _},
        process::ExitStatusExt as _,
    },
    path::{Path, PathBuf},
    process::{Child, Command, ExitStatus, Output, Stdio},
    time::Duration,
};
use tempfile::TempDir;

/// The binding's name.
pub(crate) const NAME: &str = "kills";
/// The variable of fail points.
const FAIL_POINT: &str = "GUILDHALL_FAIL_POINT";

/// A seat's data root, and the process that serves it, if one does.
pub(crate) struct Seat {
    folder: TempDir,
    child: Option<Child>,
    /// Where in the log the present process began.
    began: usize,
    starts: usize,
}

/// How a process ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ended {
    /// By itself, with this code.
    Exit(i32),
    /// By SIGKILL.
    Killed,
}

impl Seat {
    /// A data root with a binding for the hall's channels, each its own route.
    pub(crate) fn new(hall: &Hall) -> Self {
        Self::with(hall, &json!({}))
    }

    /// The same with other fields of the binding.
    pub(crate) fn with(hall: &Hall, changes: &Value) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let seat = Self {
            folder,
            child: None,
            began: 0,
            starts: 0,
        };
        for made in ["data/discord", "home", "work"] {
            DirBuilder::new()
                .recursive(true)
                .mode(0o700)
                .create(seat.path(made))
                .expect("a folder");
        }
        let token = seat.path("token");
        private(&token, &hall.token);
        let mut binding = plain_binding(hall, &token);
        for (key, value) in changes.as_object().into_iter().flatten() {
            binding[key.as_str()] = value.clone();
        }
        private(
            &seat.path(&format!("data/discord/{NAME}.json")),
            &binding.to_string(),
        );
        seat
    }

    pub(crate) fn path(&self, below: &str) -> PathBuf {
        self.folder.path().join(below)
    }

    pub(crate) fn journal(&self) -> Journal {
        Journal(self.path("data/discord").join(NAME))
    }

    /// The spool of its sessions.
    pub(crate) fn spool(&self) -> PathBuf {
        let sessions = self.path("data/sessions").join(format!("discord-{NAME}"));
        sessions.join("spool.jsonl")
    }

    /// A command on this data root.
    pub(crate) fn command(&self, words: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_guildhall"));
        command
            .args(words)
            .arg("--data-root")
            .arg(self.path("data"))
            .env_clear()
            .env("HOME", self.path("home"))
            .current_dir(self.path("work"))
            .stdin(Stdio::null());
        command
    }

    /// Runs another command on the binding to its end.
    pub(crate) fn tool(&self, words: &[&str]) -> Output {
        self.command(words).output().expect("the program starts")
    }

    /// A command's JSON.
    pub(crate) fn ask(&self, words: &[&str]) -> Vec<Value> {
        let output = self.tool(&[words, &["--json"]].concat());
        assert!(output.status.success(), "{words:?}: {output:?}");
        let text = String::from_utf8(output.stdout).expect("UTF-8");
        let lines = text.lines();
        lines
            .map(|line| serde_json::from_str(line).expect("JSON"))
            .collect()
    }

    /// Starts `run` as a supervisor does, and comes back at once.
    pub(crate) fn start(&mut self, fail_point: Option<&str>) {
        let command = self.run_command(fail_point);
        self.spawn(command);
    }

    pub(crate) fn run_command(&self, fail_point: Option<&str>) -> Command {
        let mut command = self.command(&["run", NAME, "--supervised", "-v"]);
        if let Some(point) = fail_point {
            command.env(FAIL_POINT, point);
        }
        command
    }

    /// Starts a command as this seat's process.
    pub(crate) fn spawn(&mut self, mut command: Command) {
        assert!(self.child.is_none(), "it runs already");
        self.began = self.whole_log().len();
        self.starts += 1;
        let log = OpenOptions::new()
            .append(true)
            .create(true)
            .open(self.path("log"))
            .expect("a log");
        let (out, err) = (log.try_clone().expect("a log"), log);
        self.child = Some(command.stdout(out).stderr(err).spawn().expect("it starts"));
    }

    /// Starts it and waits until it is connected.
    pub(crate) fn serve(&mut self) {
        self.start(None);
        self.connected();
    }

    /// Waits until it is connected.
    pub(crate) fn connected(&mut self) {
        until("a connection", || {
            assert_eq!(self.ended(), None, "it ended: {}", self.last_words());
            self.is_connected()
        });
    }

    pub(crate) fn is_connected(&self) -> bool {
        self.log().contains("connected: ")
    }

    /// How it ended, if it has; then it is gone.
    pub(crate) fn ended(&mut self) -> Option<Ended> {
        let child = self.child.as_mut()?;
        let status = child.try_wait().expect("a child of ours")?;
        self.child = None;
        Some(end_of(status))
    }

    /// Waits for its end.
    pub(crate) fn end(&mut self) -> Ended {
        let ended = within(PATIENCE, || self.ended());
        ended.unwrap_or_else(|| panic!("it does not end: {}", self.last_words()))
    }

    /// Asks it to end and waits.
    pub(crate) fn terminate(&mut self) -> Ended {
        self.signal(Signal::TERM);
        self.end()
    }

    pub(crate) fn signal(&self, signal: Signal) {
        if let Some(pid) = self.pid() {
            // It may end in this moment; then there is nobody to tell.
            kill_process(pid, signal).ok();
        }
    }

    pub(crate) fn pid(&self) -> Option<Pid> {
        let id = self.child.as_ref()?.id();
        i32::try_from(id).ok().and_then(Pid::from_raw)
    }

    /// Ends it as a crash would.
    pub(crate) fn kill(&mut self) {
        if let Some(mut child) = self.child.take() {
            drop(child.kill());
            drop(child.wait());
        }
    }

    /// What the present process said so far.
    pub(crate) fn log(&self) -> String {
        let whole = self.whole_log();
        String::from_utf8_lossy(&whole[self.began.min(whole.len())..]).into_owned()
    }

    fn whole_log(&self) -> Vec<u8> {
        fs::read(self.path("log")).unwrap_or_default()
    }

    /// Its last lines, for a failure's message.
    pub(crate) fn last_words(&self) -> String {
        let log = self.log();
        let lines: Vec<_> = log.lines().collect();
        lines[lines.len().saturating_sub(25)..].join("\n")
    }

    /// Waits until these rows are settled, or the process ends, or `patience` is over. Says whether
    /// they are.
    pub(crate) fn settles(&mut self, rows: &[u64], patience: Duration) -> bool {
        let journal = self.journal();
        within(patience, || {
            if journal.has_settled(rows) {
                return Some(true);
            }
            self.ended().map(|_| journal.has_settled(rows))
        })
        .unwrap_or(false)
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        self.kill();
    }
}

fn end_of(status: ExitStatus) -> Ended {
    match (status.code(), status.signal()) {
        (Some(code), _) => Ended::Exit(code),
        (None, Some(9)) => Ended::Killed,
        (None, other) => panic!("it ended by signal {other:?}"),
    }
}

fn plain_binding(hall: &Hall, token: &Path) -> Value {
    let channels = CHANNELS
        .iter()
        .map(|name| json!({"id": hall.channel(name), "name": name, "mode": "open"}));
    json!({
        "bindingVersion": 1, "name": NAME, "seat": "Practice", "guildId": hall.guild,
        "guildName": "Stand", "botUserId": hall.bot, "tokenFile": token,
        "channels": channels.collect::<Vec<_>>(),
        "users": [{"id": hall.user(ANA), "name": ANA}],
        "engine": {"kind": "practice"},
        "sessions": {"scope": "thread"},
        "limits": {"turnsPerDay": 1_000_000, "replyChunkChars": 900},
        "discord": {"apiUrl": hall.origin},
    })
}

/// Writes a private file.
pub(crate) fn private(path: &Path, content: &str) {
    let mut file: File = OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(path)
        .expect("a fresh file");
    file.write_all(content.as_bytes()).expect("room");
}
