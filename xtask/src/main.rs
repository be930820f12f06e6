//! The project's own chores behind one command, `cargo xtask`.
//!
//! In: a chore's name. Out: what it did, in words, and an exit code. Never: a change to a tracked
//! file, a download of anything that is not a package asked for by name.

mod checkout;
mod chores; // faults, bench, audit
mod kills; // the real program, killed at every step and soaked
mod leftovers;
mod step; // one command, watched from start to end
mod suite; // start here: `cargo xtask test`
mod tally;
mod tools; // what the tests need, outside the checkout
mod tree; // `cargo xtask check-tree`
mod trouble;

use clap::{Parser, Subcommand};
use std::process::ExitCode;

/// Chores of the Guildhall project.
#[derive(Parser)]
#[command(
    name = "cargo xtask",
    bin_name = "cargo xtask",
    version,
    arg_required_else_help = true
)]
struct Cli {
    #[command(subcommand)]
    chore: Chore,
}

#[derive(Subcommand)]
enum Chore {
    /// Install what the tests need, then run every test there is.
    Test(suite::TestArgs),
    /// Play seeded fault schedules against the connector.
    Faults(chores::FaultsArgs),
    /// Kill the real program at every step, and print what became of each message.
    Kills(kills::KillsArgs),
    /// Have an adversary exchange files, links and folders under readers and writers, a million times.
    Race(kills::RaceArgs),
    /// Let the real program work under random faults, and fail when it grows.
    Soak(kills::SoakArgs),
    /// Measure the release build against floors of the same run.
    Bench(chores::BenchArgs),
    /// Look for known advisories against our dependencies; needs the network.
    Audit,
    /// Hold the tree against the project's own rules: floors, licences, budgets, files.
    CheckTree,
    /// Install what the tests need, and print the variables that tests read.
    Tools,
}

fn main() -> ExitCode {
    let done = match Cli::parse().chore {
        Chore::Test(args) => suite::run(&args),
        Chore::Faults(args) => chores::faults(&args),
        Chore::Kills(args) => kills::kills(&args),
        Chore::Race(args) => kills::race(&args),
        Chore::Soak(args) => kills::soak(&args),
        Chore::Bench(args) => chores::bench(&args),
        Chore::Audit => chores::audit(),
        Chore::CheckTree => tree::run(),
        Chore::Tools => suite::print_tools(),
    };
    match done {
        Ok(code) => code,
        Err(trouble) => {
            eprintln!("xtask: {trouble}");
            ExitCode::FAILURE
        }
    }
}
