//! The seat of the demo: a process of its own, started again when it dies.
//!
//! In: starts, kills, the end. Out: one running seat at most. Never: a process that outlives the
//! demo, a restart without a pause.

use super::BINDING;
use crate::exit::Failure;
use guildhall_sim::{ActionFuture, DemoAction, DemoActions};
use rustix::process::{Pid, Signal, kill_process};
use std::{
    fs::OpenOptions,
    os::unix::fs::OpenOptionsExt as _,
    path::{Path, PathBuf},
    process::Stdio,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};
use tokio::process::{Child, Command};

/// How long the supervisor waits before it starts the seat again. Long enough to be seen.
const RESTART_AFTER: Duration = Duration::from_millis(1_500);
/// How long the seat has to end by itself.
const END_GRACE: Duration = Duration::from_secs(10);
/// Lines of the seat's log that are told when it does not start.
const LOG_LINES_TOLD: usize = 6;
/// Starts that may fail one after the other.
const FAILED_STARTS_MAX: u32 = 5;

/// The seat's process, shared by its supervisor, the page's buttons and the panel.
#[derive(Clone)]
pub(super) struct SeatProcess {
    root: PathBuf,
    stand_in: PathBuf,
    think_ms: u64,
    state: Arc<Mutex<State>>,
}

#[derive(Default)]
struct State {
    pid: Option<Pid>,
    starts: u32,
    kills: u32,
    ending: Ending,
}

/// Whether the demo is ending.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Ending {
    #[default]
    No,
    Yes,
}

impl SeatProcess {
    pub(super) fn new(root: &Path, stand_in: &Path, think_ms: u64) -> Self {
        Self {
            root: root.to_owned(),
            stand_in: stand_in.to_owned(),
            think_ms,
            state: Arc::default(),
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What the panel says of the process.
    pub(super) fn words(&self) -> (String, &'static str) {
        let state = self.state();
        let kills = match state.kills {
            0 => String::new(),
            1 => ", killed once so far".to_owned(),
            kills => format!(", killed {kills} times so far"),
        };
        match state.pid {
            Some(pid) => (
                format!("running, process {}{kills}", pid.as_raw_nonzero()),
                "good",
            ),
            None => (
                format!("down; it is started again in a moment{kills}"),
                "bad",
            ),
        }
    }

    /// Starts the seat, and again whenever it dies. Ends only with a seat that cannot start.
    pub(super) async fn supervise(self) -> Failure {
        let mut failed = 0;
        loop {
            let mut child = match self.spawn() {
                Ok(child) => child,
                Err(failure) => return failure,
            };
            let status = child.wait().await;
            if self.gone() == Ending::Yes {
                // The demo ends; whoever ends it does not wait for us.
                return std::future::pending().await;
            }
            let killed = status.as_ref().is_ok_and(|status| status.code().is_none());
            failed = if killed { 0 } else { failed + 1 };
            if failed >= FAILED_STARTS_MAX {
                return self.does_not_start();
            }
            tokio::time::sleep(RESTART_AFTER).await;
        }
    }

    /// The process has ended.
    fn gone(&self) -> Ending {
        let mut state = self.state();
        state.pid = None;
        state.ending
    }

    /// The log may go with the scratch folder, so its end is told here.
    fn does_not_start(&self) -> Failure {
        let log = std::fs::read_to_string(self.log()).unwrap_or_default();
        let lines: Vec<_> = log.lines().rev().take(LOG_LINES_TOLD).collect();
        let told = lines.into_iter().rev().collect::<Vec<_>>().join("\n  ");
        Failure::failed(format!("the seat does not start; it said:\n  {told}"))
    }

    fn log(&self) -> PathBuf {
        self.root.join("seat.log")
    }

    fn spawn(&self) -> Result<Child, Failure> {
        let fail = |what: &str, error: std::io::Error| Failure::failed(format!("{what}: {error}"));
        let program =
            std::env::current_exe().map_err(|error| fail("cannot find our own program", error))?;
        let log = OpenOptions::new()
            .create(true)
            .append(true)
            .mode(0o600)
            .open(self.log())
            .map_err(|error| fail("cannot open the seat's log", error))?;
        let child = Command::new(program)
            .arg("--data-root")
            .arg(&self.root)
            .args([
                "run",
                BINDING,
                "--supervised",
                "--end-with-parent",
                "--practice-delay",
            ])
            .arg(self.think_ms.to_string())
            .arg("--web-stand-in")
            .arg(&self.stand_in)
            .arg("--repo")
            .arg(&self.root)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(log)
            .kill_on_drop(true)
            // Of its own group, so that Ctrl-C reaches the demo alone and the end is in order.
            .process_group(0)
            .spawn()
            .map_err(|error| fail("cannot start the seat", error))?;
        let pid = child
            .id()
            .and_then(|id| i32::try_from(id).ok())
            .and_then(Pid::from_raw);
        let mut state = self.state();
        state.pid = pid;
        state.starts += 1;
        Ok(child)
    }

    fn signal(&self, signal: Signal) -> bool {
        let pid = self.state().pid;
        pid.is_some_and(|pid| kill_process(pid, signal).is_ok())
    }

    /// Kills the process without a warning.
    fn kill(&self) -> Result<String, String> {
        if self.signal(Signal::KILL) {
            self.state().kills += 1;
            Ok("killed; watch it come back and finish what it owes".to_owned())
        } else {
            Err("it does not run right now".to_owned())
        }
    }

    /// Asks the process to end, and kills it when it does not.
    pub(super) async fn end(&self) {
        self.state().ending = Ending::Yes;
        if !self.signal(Signal::TERM) {
            return;
        }
        let until = tokio::time::Instant::now() + END_GRACE;
        while self.state().pid.is_some() && tokio::time::Instant::now() < until {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        self.signal(Signal::KILL);
    }
}

/// The page's buttons.
pub(super) struct Actions {
    seat: SeatProcess,
}

impl Actions {
    pub(super) fn new(seat: SeatProcess) -> Self {
        Self { seat }
    }
}

impl DemoActions for Actions {
    fn actions(&self) -> Vec<DemoAction> {
        vec![DemoAction {
            name: "kill".to_owned(),
            label: "Kill the seat".to_owned(),
            hint: "Ends its process without a warning, as a crash would; it is started again."
                .to_owned(),
        }]
    }

    fn run(&self, name: &str) -> ActionFuture {
        let done = match name {
            "kill" => self.seat.kill(),
            _ => Err("there is no such action".to_owned()),
        };
        Box::pin(std::future::ready(done))
    }
}
