//! The command line of Guildhall.
//!
//! In: a command. Out: an exit code from one documented table. Never: a decision; the crates below
//! make them.

mod cli; // start here: what can be asked
mod commands; // one file for each command
mod seat; // a seat that runs

mod clock;
mod exit;
mod home;
mod unserved;

use clap::Parser as _;
use exit::{ExitReason, Failure};
use std::{io::IsTerminal as _, process::ExitCode};
use tracing_subscriber::EnvFilter;

fn main() -> ExitCode {
    let cli = match cli::Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => {
            let reason = if error.use_stderr() {
                ExitReason::Usage
            } else {
                ExitReason::Ok
            };
            return match error.print() {
                Ok(()) => reason.into(),
                Err(_) => ExitReason::Failed.into(),
            };
        }
    };
    log_to_stderr(&cli);
    match arm().and_then(|()| commands::run(cli)) {
        Ok(()) => ExitReason::Ok.into(),
        Err(failure) => {
            eprintln!("{failure}");
            failure.reason.into()
        }
    }
}

/// Fail points are for tests: they make the process die at a named place.
fn arm() -> Result<(), Failure> {
    let point = std::env::var(guildhall_journal::FAIL_POINT_VARIABLE).ok();
    guildhall_journal::arm(point.as_deref()).map_err(|error| Failure::new(ExitReason::Usage, error))
}

/// The log is stderr: ids, counts and states. Colour only on a terminal. A command that answers a
/// person has its answer to give, and logs what is wrong only.
fn log_to_stderr(cli: &cli::Cli) {
    let serves = matches!(
        cli.command,
        cli::Command::Run(_) | cli::Command::Demo(_) | cli::Command::Sim(_)
    );
    let level = match cli.verbose {
        0 if !serves => "warn",
        0 => "info",
        1 => "debug",
        _ => "trace",
    };
    let filter = EnvFilter::try_from_env("GUILDHALL_LOG")
        .unwrap_or_else(|_| EnvFilter::new(format!("warn,guildhall={level},guildhall_discord={level},guildhall_engine={level},guildhall_journal={level}")));
    tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(std::io::stderr)
        .with_ansi(std::io::stderr().is_terminal())
        .with_target(false)
        .init();
}
