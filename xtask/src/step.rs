//! One command of a chore, watched from its start to its end.
//!
//! In: a command, a deadline. Out: its output as it comes, the tests it counted, how it ended, how
//! long it took. Never: a process left behind, a wait without end.

use crate::{
    leftovers,
    tally::{Counter, Tally},
    trouble::{Outcome, Trouble},
};
use std::{
    io::{self, BufRead, BufReader, Read, Write},
    process::{Child, Command, ExitStatus, Stdio},
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

/// How a step ended.
pub(crate) struct StepReport {
    /// The step's name.
    pub(crate) name: &'static str,
    /// Tests that it counted; where its runner prints no count, the step counts as one.
    pub(crate) tally: Tally,
    /// How long it took.
    pub(crate) took: Duration,
    /// Why it failed, if it did.
    pub(crate) failure: Option<String>,
}

/// Who sees a step's output, and whether processes that it leaves behind are looked for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Watch {
    /// Output is passed on; a process left behind is ended and fails the step.
    Chore,
    /// Nobody: this process has other children at the same time, and runs under a test runner.
    #[cfg(test)]
    Test,
}

/// Runs a command to its end, with its output passed on as it comes.
///
/// # Errors
/// When the command cannot be started. A command that fails is a report, not an error.
pub(crate) fn run(
    name: &'static str,
    mut command: Command,
    deadline: Duration,
    watch: Watch,
) -> Outcome<StepReport> {
    let began = Instant::now();
    let mut child = command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|error| Trouble::because(format!("cannot start {}", shown(&command)), error))?;
    let out = child
        .stdout
        .take()
        .map(|pipe| relay(pipe, sink(watch, io::stdout())));
    let err = child
        .stderr
        .take()
        .map(|pipe| relay(pipe, sink(watch, io::stderr())));
    let ended = wait(&mut child, began, deadline)?;
    // An orphan may hold the pipes open: it goes first, then the pipes are read to their end.
    let left = if watch == Watch::Chore {
        leftovers::end_orphans()
    } else {
        Vec::new()
    };
    let mut tally = Tally::default();
    for relay in [out, err].into_iter().flatten() {
        tally += relay.join().unwrap_or_default();
    }
    let failure = verdict(ended, deadline, tally, &left);
    if tally.is_empty() {
        match failure {
            None => tally.passed = 1,
            Some(_) => tally.failed = 1,
        }
    }
    Ok(StepReport {
        name,
        tally,
        took: began.elapsed(),
        failure,
    })
}

fn verdict(
    ended: Option<ExitStatus>,
    deadline: Duration,
    tally: Tally,
    left: &[String],
) -> Option<String> {
    match ended {
        None => Some(format!(
            "ended after its {} s were over",
            deadline.as_secs()
        )),
        Some(status) if !status.success() => Some(status.to_string()),
        Some(_) if !left.is_empty() => Some(format!("left running: {}", left.join(", "))),
        Some(_) if tally.failed > 0 => Some("a test failed".to_owned()),
        Some(_) => None,
    }
}

/// `None` when the deadline ended it.
fn wait(child: &mut Child, began: Instant, deadline: Duration) -> Outcome<Option<ExitStatus>> {
    let failed = |error| Trouble::because("cannot wait for a step", error);
    loop {
        if let Some(status) = child.try_wait().map_err(failed)? {
            return Ok(Some(status));
        }
        if began.elapsed() > deadline {
            child.kill().map_err(failed)?;
            child.wait().map_err(failed)?;
            return Ok(None);
        }
        thread::sleep(Duration::from_millis(50));
    }
}

fn sink(watch: Watch, to: impl Write + Send + 'static) -> Box<dyn Write + Send> {
    match watch {
        Watch::Chore => Box::new(to),
        #[cfg(test)]
        Watch::Test => Box::new(io::sink()),
    }
}

/// Passes output on line by line and counts the tests in it.
fn relay(pipe: impl Read + Send + 'static, mut to: Box<dyn Write + Send>) -> JoinHandle<Tally> {
    thread::spawn(move || {
        let mut counter = Counter::default();
        let mut reader = BufReader::new(pipe);
        let mut line = Vec::new();
        while reader
            .read_until(b'\n', &mut line)
            .is_ok_and(|count| count > 0)
        {
            counter.line(&String::from_utf8_lossy(&line));
            // Whoever reads our output may be gone; the step is still read to its end, so that it
            // never blocks on a full pipe.
            drop(to.write_all(&line).and_then(|()| to.flush()));
            line.clear();
        }
        counter.total()
    })
}

/// A command as a person would type it.
pub(crate) fn shown(command: &Command) -> String {
    let program = command.get_program().to_string_lossy();
    let mut words = vec![program.rsplit('/').next().unwrap_or_default().to_owned()];
    words.extend(
        command
            .get_args()
            .map(|word| word.to_string_lossy().into_owned()),
    );
    words.join(" ")
}

#[cfg(test)]
mod tests {
    use super::{Watch, run};
    use crate::tally::Tally;
    use std::{process::Command, time::Duration};

    fn shell(script: &str) -> Command {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        command
    }

    #[test]
    fn a_step_is_judged_by_its_exit_and_by_its_counts() {
        let passed = |passed| Tally {
            passed,
            ..Tally::default()
        };
        let failed = |failed| Tally {
            failed,
            ..Tally::default()
        };
        let cases = [
            ("silent", "true", passed(1), false),
            ("silent and failing", "exit 3", failed(1), true),
            (
                "counted",
                "echo 'test result: ok. 4 passed; 0 failed'",
                passed(4),
                false,
            ),
            (
                "a failure behind exit 0",
                "echo 'closing: 0 passed, 2 failed'",
                failed(2),
                true,
            ),
        ];
        for (name, script, tally, fails) in cases {
            let report = run("step", shell(script), Duration::from_secs(60), Watch::Test)
                .expect("a shell starts");
            assert_eq!(
                (report.tally, report.failure.is_some()),
                (tally, fails),
                "{name}"
            );
        }
    }

    #[test]
    fn a_step_past_its_deadline_is_ended() {
        let deadline = Duration::from_millis(50);
        let report =
            run("step", shell("exec sleep 600"), deadline, Watch::Test).expect("a shell starts");
        assert!(report.failure.is_some_and(|why| why.contains("were over")));
    }
}
