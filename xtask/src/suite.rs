//! `cargo xtask test`: every test there is, in one run.
//!
//! In: the checkout. Out: each step's output, a table of steps, one closing line, an exit code.
//! Never: a step that is left out because a tool is missing.

use crate::{
    checkout::{Checkout, cargo},
    leftovers,
    step::{self, StepReport, Watch},
    tally::Tally,
    tools::Tools,
    trouble::{Outcome, Trouble},
};
use std::{
    process::{Command, ExitCode},
    time::{Duration, Instant},
};

/// Longest that one step may take: far above what it needs on two slow cores.
const STEP_DEADLINE: Duration = Duration::from_secs(25 * 60);

/// Fault schedules of a test run; many more are played by hand.
const FAULT_SEEDS: &str = "300";

/// Options of the test run.
#[derive(clap::Args)]
pub(crate) struct TestArgs {
    /// Run only these steps (may be given several times).
    #[arg(long, value_name = "STEP", value_parser = names())]
    only: Vec<String>,
}

/// One step: its name, what it runs on, and how its command is made.
struct Step {
    name: &'static str,
    needs: Needs,
    command: fn(&Checkout, &Tools) -> Command,
}

/// What a step runs on.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Needs {
    /// The checkout as it stands.
    Sources,
    /// The programs that the step `build` made.
    Programs,
}

const BUILD: &str = "build";

/// In the order in which they run: what is quick and fails often comes first.
const STEPS: [Step; 8] = [
    Step {
        name: "tree",
        needs: Needs::Sources,
        command: |_, _| own(&["check-tree"]),
    },
    Step {
        name: BUILD,
        needs: Needs::Sources,
        command: |_, _| cargo_command(&["build", "--all-targets"]),
    },
    Step {
        name: "tests",
        needs: Needs::Sources,
        command: |_, _| cargo_command(&["test", "--all-targets", "--no-fail-fast"]),
    },
    Step {
        name: "doctests",
        needs: Needs::Sources,
        command: |_, _| cargo_command(&["test", "--doc", "--no-fail-fast"]),
    },
    Step {
        name: "faults",
        needs: Needs::Programs,
        command: |checkout, _| {
            let mut command = Command::new(checkout.target.join("debug/guildhall-faults"));
            command.args(["--seeds", FAULT_SEEDS]);
            command
        },
    },
    Step {
        name: "fake-discord",
        needs: Needs::Sources,
        command: |_, tools| python(tools, "tests/fake-discord/run_itself.py"),
    },
    Step {
        name: "demo",
        needs: Needs::Programs,
        command: |checkout, tools| {
            let mut command = Command::new(tools.node());
            command
                .arg("tests/demo/demo.mjs")
                .env("GUILDHALL_BIN", checkout.target.join("debug/guildhall"));
            command
        },
    },
    Step {
        name: "e2e",
        needs: Needs::Programs,
        command: |checkout, tools| {
            let mut command = python(tools, "tests/fake-discord/run_e2e.py");
            command.env("GUILDHALL_BIN", checkout.target.join("debug/guildhall"));
            command
        },
    },
];

fn names() -> clap::builder::PossibleValuesParser {
    STEPS
        .iter()
        .map(|step| step.name)
        .collect::<Vec<_>>()
        .into()
}

fn cargo_command(words: &[&str]) -> Command {
    let mut command = Command::new(cargo());
    command
        .args(&words[..1])
        .arg("--workspace")
        .args(&words[1..]);
    command
}

/// Another chore of this very program.
fn own(words: &[&str]) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap_or_else(|_| "xtask".into()));
    command.args(words);
    command
}

fn python(tools: &Tools, script: &str) -> Command {
    let mut command = Command::new(tools.python());
    command
        .arg(script)
        // Nothing is written into the checkout, and what is printed comes when it is printed.
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .env("PYTHONUNBUFFERED", "1");
    command
}

/// Installs what is missing, runs the steps, prints the table and the closing line.
///
/// # Errors
/// A tool that is missing, or a step that cannot even be started.
pub(crate) fn run(args: &TestArgs) -> Outcome<ExitCode> {
    let checkout = Checkout::find()?;
    leftovers::adopt_orphans();
    let began = Instant::now();
    println!("== tools: in {}", checkout.cache.display());
    let tools = Tools::install(&checkout)?;
    let mut reports = Vec::new();
    for step in STEPS.iter().filter(|step| chosen(&args.only, step.name)) {
        let mut command = (step.command)(&checkout, &tools);
        command.current_dir(&checkout.root).envs(tools.variables());
        println!("\n== {}: {}", step.name, step::shown(&command));
        let report = step::run(step.name, command, STEP_DEADLINE, Watch::Chore)?;
        let built = report.failure.is_none() || step.name != BUILD;
        reports.push(report);
        if !built {
            break;
        }
    }
    Ok(close(&reports, began.elapsed()))
}

/// Whether a step runs: when nothing is chosen, when it is, and the build for what needs it.
fn chosen(only: &[String], name: &str) -> bool {
    let named = |name: &str| only.iter().any(|only| only == name);
    let builds = || {
        STEPS
            .iter()
            .any(|step| step.needs == Needs::Programs && named(step.name))
    };
    only.is_empty() || named(name) || (name == BUILD && builds())
}

/// Prints how it went, and gives the exit code.
fn close(reports: &[StepReport], took: Duration) -> ExitCode {
    let mut total = Tally::default();
    println!("\n{:<14} {:>9}  outcome", "step", "seconds");
    for report in reports {
        total += report.tally;
        let outcome = report.failure.as_deref().unwrap_or("ok");
        let seconds = report.took.as_secs_f64();
        println!(
            "{:<14} {seconds:>9.1}  {outcome} ({})",
            report.name, report.tally
        );
    }
    println!("{:<14} {:>9.1}", "together", took.as_secs_f64());
    println!("\n{total}");
    if reports.iter().all(|report| report.failure.is_none()) && !reports.is_empty() {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}

/// Installs what is missing and prints the variables, ready for a shell.
///
/// # Errors
/// A tool that is missing and cannot be installed.
pub(crate) fn print_tools() -> Outcome<ExitCode> {
    let tools = Tools::install(&Checkout::find()?)?;
    for (name, value) in tools.variables() {
        let value = value
            .to_str()
            .ok_or_else(|| Trouble::new("a tool's path is not UTF-8"))?;
        println!("export {name}='{value}'");
    }
    Ok(ExitCode::SUCCESS)
}

#[cfg(test)]
mod tests {
    use super::{STEPS, chosen};

    #[test]
    fn a_step_that_needs_programs_brings_the_build() {
        let steps = |only: &[&str]| {
            let only: Vec<String> = only.iter().map(|name| (*name).to_owned()).collect();
            let names = STEPS.iter().map(|step| step.name);
            names.filter(|name| chosen(&only, name)).collect::<Vec<_>>()
        };
        assert_eq!(steps(&[]).len(), STEPS.len());
        assert_eq!(steps(&["tree"]), ["tree"]);
        assert_eq!(steps(&["e2e"]), ["build", "e2e"]);
        assert_eq!(steps(&["tree", "faults"]), ["tree", "build", "faults"]);
    }
}
