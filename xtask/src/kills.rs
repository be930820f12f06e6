//! Chores that take long: the kill table and the soak with the real program, and the race for files.
//!
//! In: how often, or how long. Out: what the integration tests print, and their exit
//! code. Never: a case of its own; the tests hold them all.

use crate::{
    checkout::{Checkout, cargo},
    step::shown,
    trouble::{Outcome, Trouble},
};
use std::process::{Command, ExitCode};

/// Options of the kill table.
#[derive(clap::Args)]
pub(crate) struct KillsArgs {
    /// How often the program dies at each step.
    #[arg(long, value_name = "N", default_value_t = 20)]
    times: u32,
}

/// Options of the soak.
#[derive(clap::Args)]
pub(crate) struct SoakArgs {
    /// How long it goes on.
    #[arg(long, value_name = "N", default_value_t = 60)]
    minutes: u32,
}

/// Options of the race.
#[derive(clap::Args)]
pub(crate) struct RaceArgs {
    /// Calls of tools that are made meanwhile; the races below the tools take a million steps each.
    #[arg(long, value_name = "N", default_value_t = 1_000_000)]
    steps: u32,
}

/// Races an adversary against calls of tools, and against the layer below them. Some minutes.
///
/// # Errors
/// When cargo cannot be started.
pub(crate) fn race(args: &RaceArgs) -> Outcome<ExitCode> {
    let tools = tests(
        "guildhall-tools",
        &["--test", "it", "--", "race::", "--nocapture"],
        ("GUILDHALL_RACE_STEPS", args.steps),
    )?;
    if tools != ExitCode::SUCCESS {
        return Ok(tools);
    }
    tests(
        "guildhall-confine",
        &[
            "--test",
            "it",
            "--",
            "races::",
            "--include-ignored",
            "--nocapture",
        ],
        ("GUILDHALL_RACE_STEPS", args.steps),
    )
}

/// Kills the program at every durable and network step and prints what became of the messages.
///
/// # Errors
/// When cargo cannot be started.
pub(crate) fn kills(args: &KillsArgs) -> Outcome<ExitCode> {
    run("kills::", "GUILDHALL_KILLS_TIMES", args.times)
}

/// Lets the program work under random faults and fails when it grows.
///
/// # Errors
/// When cargo cannot be started.
pub(crate) fn soak(args: &SoakArgs) -> Outcome<ExitCode> {
    run("soak::", "GUILDHALL_SOAK_MINUTES", args.minutes)
}

fn run(named: &str, variable: &str, value: u32) -> Outcome<ExitCode> {
    let words = ["--test", "it", "--", named, "--nocapture"];
    tests("guildhall", &words, (variable, value))
}

fn tests(package: &str, words: &[&str], (variable, value): (&str, u32)) -> Outcome<ExitCode> {
    let checkout = Checkout::find()?;
    let mut command = Command::new(cargo());
    command
        .args(["test", "--quiet", "--package", package])
        .args(words)
        .env(variable, value.to_string())
        .current_dir(&checkout.root);
    let status = command
        .status()
        .map_err(|error| Trouble::because(format!("cannot start {}", shown(&command)), error))?;
    Ok(if status.success() {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}
