//! What systemd answers: bounded questions to the user's own manager.
//!
//! In: `systemctl --user`. Out: states and names. Never: a start or a stop, a wait without end.

use crate::exit::Failure;
use std::{
    collections::BTreeMap,
    io::Read as _,
    process::{Command, Stdio},
    time::{Duration, Instant},
};

/// How long systemd may take to answer.
const ANSWER_WAIT: Duration = Duration::from_secs(20);
const POLL: Duration = Duration::from_millis(20);
/// Longest answer that is read, in bytes.
const ANSWER_MAX_BYTES: u64 = 256 * 1024;

/// What is asked about a unit, by systemd's names.
const PROPERTIES: &str = "LoadState,UnitFileState,ActiveState,SubState,Result,ExecMainCode,\
                          ExecMainStatus,NRestarts,MainPID,StatusText,ActiveEnterTimestamp";

/// A unit's properties by systemd's names.
pub(super) type State = BTreeMap<String, String>;

/// Has the manager read its units again.
pub(super) fn daemon_reload() -> Result<(), Failure> {
    ask(&["daemon-reload"]).map(drop)
}

/// Instances that run, or are about to.
pub(super) fn active_instances() -> Result<Vec<String>, Failure> {
    let told = ask(&[
        "list-units",
        "--plain",
        "--no-legend",
        "--state=active,activating,reloading,deactivating",
        "guildhall@*.service",
    ])?;
    let names = told
        .lines()
        .filter_map(|line| line.split_whitespace().next());
    Ok(names.map(str::to_owned).collect())
}

/// What is known of one instance.
pub(super) fn state(name: &str) -> Result<State, Failure> {
    let unit = format!("guildhall@{name}.service");
    let told = ask(&["show", &unit, "--property", PROPERTIES])?;
    let pairs = told.lines().filter_map(|line| line.split_once('='));
    Ok(pairs
        .map(|(key, value)| (key.to_owned(), value.to_owned()))
        .collect())
}

/// A unit's state for people.
pub(super) fn words(name: &str, state: &State) -> Vec<String> {
    let get = |key: &str| state.get(key).map_or("", String::as_str);
    if get("LoadState") == "not-found" {
        return vec![
            format!("guildhall@{name}: there is no such unit"),
            "  `guildhall service install` writes it".to_owned(),
        ];
    }
    let since = match get("ActiveEnterTimestamp") {
        "" => String::new(),
        at => format!(", last active since {at}"),
    };
    let mut lines = vec![format!(
        "guildhall@{name}: {} ({}){since}",
        get("ActiveState"),
        get("SubState")
    )];
    if !get("UnitFileState").is_empty() {
        lines.push(format!("  at login: {}", get("UnitFileState")));
    }
    if !get("StatusText").is_empty() {
        lines.push(format!("  says: {}", get("StatusText")));
    }
    if !matches!(get("Result"), "" | "success") {
        lines.push(format!(
            "  last end: {}{}",
            get("Result"),
            exit_words(state)
        ));
    }
    if !matches!(get("NRestarts"), "" | "0") {
        lines.push(format!("  restarts: {}", get("NRestarts")));
    }
    lines
}

/// What the last exit code means: the table of the exit codes.
fn exit_words(state: &State) -> String {
    // Source: waitid(2), CLD_EXITED.
    if state.get("ExecMainCode").map(String::as_str) != Some("1") {
        return String::new();
    }
    let status = state.get("ExecMainStatus").map_or("", String::as_str);
    let meaning = match status {
        "1" => "the operation failed",
        "2" => "invalid data or configuration: run `guildhall check`",
        "3" => "a brake is set, or the binding is held; it is not tried again",
        "4" => "the command line makes no sense",
        _ => return format!(", exit code {status}"),
    };
    format!(", exit code {status}: {meaning}")
}

/// Asks the user's manager; gives what it printed.
fn ask(words: &[&str]) -> Result<String, Failure> {
    let mut command = Command::new("systemctl");
    command
        .args(["--user", "--no-pager"])
        .args(words)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    // A shell that was not made by a login, such as one of `su`, does not know its manager's folder.
    let folder = format!("/run/user/{}", rustix::process::geteuid().as_raw());
    if std::env::var_os("XDG_RUNTIME_DIR").is_none() && std::path::Path::new(&folder).is_dir() {
        command.env("XDG_RUNTIME_DIR", folder);
    }
    let mut child = command
        .spawn()
        .map_err(|error| Failure::failed(format!("systemctl cannot be run: {error}")))?;
    let (out, err) = (child.stdout.take(), child.stderr.take());
    let read = |from: Option<Box<dyn std::io::Read + Send>>| {
        std::thread::spawn(move || {
            let mut bytes = Vec::new();
            let read = from.map(|from| from.take(ANSWER_MAX_BYTES).read_to_end(&mut bytes));
            if !matches!(read, None | Some(Ok(_))) {
                tracing::debug!("systemctl's output ended early");
            }
            String::from_utf8_lossy(&bytes).into_owned()
        })
    };
    let out = read(out.map(|out| Box::new(out) as Box<dyn std::io::Read + Send>));
    let err = read(err.map(|err| Box::new(err) as Box<dyn std::io::Read + Send>));
    let until = Instant::now() + ANSWER_WAIT;
    let status = loop {
        match child.try_wait() {
            Ok(Some(status)) => break status,
            Ok(None) if Instant::now() < until => std::thread::sleep(POLL),
            Ok(None) | Err(_) => {
                let killed = child.kill().and_then(|()| child.wait());
                tracing::debug!(?killed, "systemctl was ended");
                return Err(Failure::failed("systemd gave no answer in time"));
            }
        }
    };
    let (out, err) = (
        out.join().unwrap_or_default(),
        err.join().unwrap_or_default(),
    );
    if status.success() {
        return Ok(out);
    }
    let first = err.lines().next().unwrap_or("it said nothing").to_owned();
    Err(Failure::failed(format!("systemd cannot be asked: {first}")))
}
