//! The program as a process: its data root, its start, its memory and its time.
//!
//! In: the program's path, the fake's origin. Out: figures that the system keeps of it. Never: a
//! process left behind.

use crate::{Failure, shapes};
use serde_json::{Value, json};
use std::{
    fs::{self, DirBuilder, File, OpenOptions},
    io::Write,
    os::unix::fs::{DirBuilderExt, OpenOptionsExt},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    time::Duration,
};

/// The binding's name.
const NAME: &str = "bench";
/// Clock ticks a second in `/proc`; the kernel's own unit, the same on every Linux of today.
const TICKS_PER_SECOND: f64 = 100.0;

/// One run of the program. Dropping it ends it.
pub(crate) struct Seat {
    child: Child,
    log: PathBuf,
}

/// What answers.
#[derive(Clone, Copy)]
pub(crate) enum Engine<'a> {
    /// Answers of its own, without a provider.
    Practice,
    /// Asks the fake for its answers.
    Native,
    /// A process of its own that asks the fake: its program and the first arguments.
    Pi(&'a [String]),
}

impl Engine<'_> {
    fn binding(self, origin: &str) -> Value {
        let base = format!("{origin}/v1");
        match self {
            Self::Practice => json!({"kind": "practice"}),
            Self::Native => json!({"kind": "native", "model": "bench", "baseUrl": base}),
            Self::Pi(command) => json!({
                "kind": "pi", "command": command, "provider": "bench", "model": "bench", "baseUrl": base,
            }),
        }
    }
}

/// Writes a data root of one binding.
pub(crate) fn data_root(
    folder: &Path,
    name: &str,
    origin: &str,
    engine: Engine<'_>,
) -> Result<PathBuf, Failure> {
    let root = folder.join(name);
    DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(root.join("discord"))?;
    let token = folder.join(format!("{name}.token"));
    private(&token, shapes::TOKEN)?;
    let binding = json!({
        "bindingVersion": 1, "name": NAME, "seat": "Bench", "guildId": shapes::GUILD,
        "guildName": "Bench", "botUserId": shapes::BOT, "tokenFile": token,
        "channels": [{"id": shapes::CHANNEL, "name": "general", "mode": "open"}],
        "users": [{"id": shapes::ANA, "name": "Ana"}],
        "engine": engine.binding(origin),
        "limits": {"turnsPerDay": 1_000_000},
        "discord": {"apiUrl": origin},
    });
    private(
        &root.join("discord").join(format!("{NAME}.json")),
        &binding.to_string(),
    )?;
    Ok(root)
}

fn private(path: &Path, content: &str) -> Result<(), Failure> {
    let mut file = OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(path)?;
    Ok(file.write_all(content.as_bytes())?)
}

impl Seat {
    /// Starts `run`.
    pub(crate) fn start(program: &Path, root: &Path) -> Result<Self, Failure> {
        let log = root.with_extension("log");
        let out = File::create(&log)?;
        let child = Command::new(program)
            .args(["run", NAME, "--data-root"])
            .arg(root)
            .env_clear()
            .env("HOME", root)
            .current_dir(root)
            .stdin(Stdio::null())
            .stdout(out.try_clone()?)
            .stderr(out)
            .spawn()?;
        Ok(Self { child, log })
    }

    /// Resident memory now, in KiB.
    pub(crate) fn resident_kib(&self) -> Result<u64, Failure> {
        let status = fs::read_to_string(format!("/proc/{}/status", self.child.id()))?;
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
        let number = line.and_then(|line| line.split_whitespace().next()?.parse().ok());
        number.ok_or_else(|| Failure("the system tells no resident memory".to_owned()))
    }

    /// The processes that it started and that are there now.
    pub(crate) fn children(&self) -> Result<Vec<u32>, Failure> {
        let mut found = Vec::new();
        for task in fs::read_dir(format!("/proc/{}/task", self.child.id()))? {
            let listed = fs::read_to_string(task?.path().join("children")).unwrap_or_default();
            found.extend(
                listed
                    .split_whitespace()
                    .filter_map(|pid| pid.parse::<u32>().ok()),
            );
        }
        found.sort_unstable();
        Ok(found)
    }

    /// Processor time so far, all threads.
    pub(crate) fn processor_time(&self) -> Result<Duration, Failure> {
        let stat = fs::read_to_string(format!("/proc/{}/stat", self.child.id()))?;
        // The name may hold blanks and brackets: fields are counted from behind it.
        let fields = stat.rsplit_once(')').map_or("", |(_, fields)| fields);
        let ticks: f64 = fields
            .split_whitespace()
            .skip(11)
            .take(2)
            .filter_map(|field| field.parse::<f64>().ok())
            .sum();
        Ok(Duration::from_secs_f64(ticks / TICKS_PER_SECOND))
    }

    /// What it said last, for a failure's message.
    pub(crate) fn last_words(&self) -> String {
        let log = fs::read_to_string(&self.log).unwrap_or_default();
        let lines: Vec<&str> = log.lines().collect();
        lines[lines.len().saturating_sub(12)..].join("\n  ")
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        // It may have ended by itself; then there is nothing to end.
        drop(self.child.kill());
        drop(self.child.wait());
    }
}
