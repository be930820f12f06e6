//! The one place where a program is started.
//!
//! In: a program's absolute path, fixed arguments, the whole environment, what it may read, how much
//! it may say and how long it may take. Out: how it ended and what it said.
//! Never: a shell, an inherited variable, the terminal's input, a process that outlives the call:
//! its group is killed at the end, at the deadline, and when the call is cancelled.

use std::{
    ffi::{OsStr, OsString},
    io::{Read, Write},
    os::unix::process::CommandExt,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
        mpsc::{Receiver, RecvTimeoutError, Sender, channel},
    },
    thread,
    time::{Duration, Instant},
};

use rustix::process::{Pid, Signal, WaitId, WaitIdOptions};

use crate::{descriptors::keep_from_children, refusal::GitRefusal};

/// How long one program may take. Source: the git page.
pub const CHILD_MAX: Duration = Duration::from_secs(60);
/// How often a wait looks whether the call was cancelled.
const TICK: Duration = Duration::from_millis(10);
/// How long what a program left in its pipes is read after its group was killed.
const DRAIN_MAX: Duration = Duration::from_secs(2);

/// Ends what runs, from another thread.
#[derive(Clone, Debug, Default)]
pub struct Cancel(Arc<AtomicBool>);

impl Cancel {
    /// One that was not used yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Ends the program that runs and lets no further one start.
    pub fn cancel(&self) {
        self.0.store(true, Ordering::SeqCst);
    }

    /// Whether it was used.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        self.0.load(Ordering::SeqCst)
    }
}

/// One start of a program, as a spy sees it.
#[derive(Debug)]
pub struct Spawned<'a> {
    /// The program.
    pub program: &'a Path,
    /// Its arguments.
    pub args: &'a [OsString],
    /// Its whole environment.
    pub env: &'a [(OsString, OsString)],
    /// Its working directory.
    pub folder: &'a Path,
}

/// Sees every start, in tests.
pub trait Spy: Send + Sync {
    /// Called before the program is started.
    fn spawned(&self, spawned: &Spawned<'_>);
}

/// A program that is to be run.
pub(crate) struct Run {
    pub(crate) program: PathBuf,
    pub(crate) args: Vec<OsString>,
    pub(crate) env: Vec<(OsString, OsString)>,
    pub(crate) folder: PathBuf,
    /// What it reads; nothing closes its input at once.
    pub(crate) input: Vec<u8>,
    /// Most bytes of its output that are kept; what comes after is read and dropped.
    pub(crate) keep: usize,
    pub(crate) deadline: Duration,
}

impl Run {
    /// Adds arguments.
    pub(crate) fn args<A: AsRef<OsStr>>(mut self, args: impl IntoIterator<Item = A>) -> Self {
        let args = args.into_iter().map(|arg| arg.as_ref().to_owned());
        self.args.extend(args);
        self
    }

    /// What the program reads.
    pub(crate) fn input(mut self, input: Vec<u8>) -> Self {
        self.input = input;
        self
    }

    /// How much of its output is kept.
    pub(crate) const fn keep(mut self, bytes: usize) -> Self {
        self.keep = bytes;
        self
    }
}

/// How a program ended.
pub(crate) struct Ended {
    /// Its exit code; `None` after a signal.
    pub(crate) code: Option<i32>,
    pub(crate) out: Vec<u8>,
    pub(crate) err: Vec<u8>,
    /// Whether its output was longer than what was kept.
    pub(crate) out_cut: bool,
}

impl Ended {
    /// Whether it ended well.
    pub(crate) fn is_ok(&self) -> bool {
        self.code == Some(0)
    }
}

/// Runs a program to its end.
///
/// # Errors
/// [`GitRefusal::Cancelled`], [`GitRefusal::TimedOut`], [`GitRefusal::NoProgram`], or the class of
/// what the system said.
pub(crate) fn run(run: &Run, cancel: &Cancel, spy: Option<&dyn Spy>) -> Result<Ended, GitRefusal> {
    if cancel.is_cancelled() {
        return Err(GitRefusal::Cancelled);
    }
    if let Some(spy) = spy {
        spy.spawned(&Spawned {
            program: &run.program,
            args: &run.args,
            env: &run.env,
            folder: &run.folder,
        });
    }
    let mut command = Command::new(&run.program);
    command
        .args(&run.args)
        .env_clear()
        .envs(run.env.iter().map(|(name, value)| (name, value)))
        .current_dir(&run.folder)
        .process_group(0)
        .stdin(if run.input.is_empty() {
            Stdio::null()
        } else {
            Stdio::piped()
        })
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    keep_from_children()?;
    let child = command.spawn().map_err(|error| {
        if error.kind() == std::io::ErrorKind::NotFound {
            GitRefusal::NoProgram("git or python3")
        } else {
            GitRefusal::of_io(&error)
        }
    })?;
    Running::of(child, run)?.wait(cancel, run.deadline)
}

/// What was read of one pipe.
#[derive(Default)]
struct Kept {
    bytes: Vec<u8>,
    is_cut: bool,
}

/// A program that runs, alone in its group.
struct Running {
    child: Child,
    group: Pid,
    out: Arc<Mutex<Kept>>,
    err: Arc<Mutex<Kept>>,
    /// Says once for each pipe that it came to its end.
    ends: Receiver<()>,
    is_reaped: bool,
}

impl Running {
    fn of(mut child: Child, run: &Run) -> Result<Self, GitRefusal> {
        let group = Pid::from_child(&child);
        let (say, ends) = channel();
        let (out, err) = (Arc::default(), Arc::default());
        let pipes = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        // From here on a failure kills the group: the value's drop does.
        let running = Self {
            child,
            group,
            out,
            err,
            ends,
            is_reaped: false,
        };
        if let Some(mut pipe) = pipes.0 {
            let input = run.input.clone();
            start("git-input", move || {
                // A program that ends before it read everything closes the pipe; its exit tells why.
                drop(pipe.write_all(&input));
            })?;
        }
        if let Some(pipe) = pipes.1 {
            running.read(pipe, &running.out, run.keep, say.clone())?;
        }
        if let Some(pipe) = pipes.2 {
            let keep = crate::masked::SHOWN_MAX_BYTES * 2;
            running.read(pipe, &running.err, keep, say)?;
        }
        Ok(running)
    }

    fn read(
        &self,
        mut pipe: impl Read + Send + 'static,
        kept: &Arc<Mutex<Kept>>,
        keep: usize,
        say: Sender<()>,
    ) -> Result<(), GitRefusal> {
        let kept = Arc::clone(kept);
        start("git-output", move || {
            let mut chunk = [0; 16 * 1024];
            while let Ok(count @ 1..) = pipe.read(&mut chunk) {
                let mut kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
                let room = keep.saturating_sub(kept.bytes.len()).min(count);
                kept.bytes.extend_from_slice(&chunk[..room]);
                kept.is_cut |= room < count;
            }
            // Nobody may wait any more.
            say.send(()).ok();
        })
    }

    fn wait(mut self, cancel: &Cancel, deadline: Duration) -> Result<Ended, GitRefusal> {
        let begun = Instant::now();
        let mut open_pipes = 2;
        let refusal = loop {
            match self.ends.recv_timeout(TICK) {
                Ok(()) => open_pipes -= 1,
                Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => {}
            }
            if self.has_exited()? {
                break None;
            }
            if open_pipes == 0 {
                // It said its last; its exit is a matter of a moment, or of the deadline.
                thread::sleep(TICK / 10);
            }
            if cancel.is_cancelled() {
                break Some(GitRefusal::Cancelled);
            }
            if begun.elapsed() > deadline {
                break Some(GitRefusal::TimedOut);
            }
        };
        // Whatever it left behind ends now; its number cannot be another's before it is reaped.
        self.kill();
        let status = self.child.wait();
        self.is_reaped = true;
        let drained = Instant::now();
        while open_pipes > 0 && drained.elapsed() < DRAIN_MAX {
            if self.ends.recv_timeout(TICK).is_ok() {
                open_pipes -= 1;
            }
        }
        if let Some(refusal) = refusal {
            return Err(refusal);
        }
        let status = status.map_err(|error| GitRefusal::of_io(&error))?;
        let out = std::mem::take(&mut *self.out.lock().unwrap_or_else(PoisonError::into_inner));
        let err = std::mem::take(&mut *self.err.lock().unwrap_or_else(PoisonError::into_inner));
        Ok(Ended {
            code: status.code(),
            out: out.bytes,
            err: err.bytes,
            out_cut: out.is_cut,
        })
    }

    /// Whether it ended; it stays to be reaped, so that its group's number stays its own.
    fn has_exited(&self) -> Result<bool, GitRefusal> {
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        let found = rustix::process::waitid(WaitId::Pid(self.group), options);
        found
            .map(|status| status.is_some())
            .map_err(GitRefusal::of_errno)
    }

    fn kill(&self) {
        // Without a process in it there is no group, and nothing to do.
        rustix::process::kill_process_group(self.group, Signal::KILL).ok();
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if !self.is_reaped {
            self.kill();
            drop(self.child.wait());
        }
    }
}

fn start(name: &str, work: impl FnOnce() + Send + 'static) -> Result<(), GitRefusal> {
    let thread = thread::Builder::new().name(name.to_owned()).spawn(work);
    thread.map(drop).map_err(|error| GitRefusal::of_io(&error))
}

#[cfg(test)]
mod tests;
