//! Chores that hand over to another program: the fault machine, the benchmark, the audit.
//!
//! In: options of the command line. Out: that program's output and exit code. Never: a step of the
//! test run that only works on somebody's machine.

use crate::{
    checkout::{Checkout, cargo, find_program},
    step::shown,
    tools::Tools,
    trouble::{Outcome, Trouble},
};
use std::{
    ffi::OsString,
    process::{Command, ExitCode},
};

/// Options of the fault machine.
#[derive(clap::Args)]
pub(crate) struct FaultsArgs {
    /// How many schedules to play.
    #[arg(long, value_name = "N", default_value_t = 1000)]
    seeds: u64,
    /// The first seed.
    #[arg(long, value_name = "S", default_value_t = 0)]
    from: u64,
    /// Play this seed alone and print what happens in it: a failing seed replays exactly.
    #[arg(long, value_name = "S", conflicts_with_all = ["seeds", "from", "mutations"])]
    seed: Option<u64>,
    /// Remove one safeguard after the other and show that each removal is found.
    #[arg(long)]
    mutations: bool,
    /// With `--seed`: play it without this safeguard.
    #[arg(long, value_name = "CODE", requires = "seed")]
    mutation: Option<String>,
    /// Build for release first: worth it past some ten thousand schedules.
    #[arg(long)]
    release: bool,
}

/// Options of the benchmark.
#[derive(clap::Args)]
pub(crate) struct BenchArgs {
    /// Passed on to the benchmark; `-- --help` lists what it takes.
    #[arg(
        trailing_var_arg = true,
        allow_hyphen_values = true,
        value_name = "OPTION"
    )]
    options: Vec<String>,
}

/// Plays seeded fault schedules.
///
/// # Errors
/// When cargo cannot be started.
pub(crate) fn faults(args: &FaultsArgs) -> Outcome<ExitCode> {
    let checkout = Checkout::find()?;
    let mut command = Command::new(cargo());
    command.args(["run", "--quiet", "--package", "guildhall-faults"]);
    if args.release {
        command.arg("--release");
    }
    command.arg("--");
    match args.seed {
        Some(seed) => command.args(["--seed", &seed.to_string()]),
        None => command.args([
            "--seeds",
            &args.seeds.to_string(),
            "--from",
            &args.from.to_string(),
        ]),
    };
    if args.mutations {
        command.arg("--mutations");
    }
    if let Some(code) = &args.mutation {
        command.args(["--mutation", code]);
    }
    hand_over(command.current_dir(&checkout.root))
}

/// Builds the program and the benchmark for release, then measures.
///
/// # Errors
/// When cargo cannot be started or the build fails.
pub(crate) fn bench(args: &BenchArgs) -> Outcome<ExitCode> {
    let checkout = Checkout::find()?;
    let mut build = Command::new(cargo());
    build.args([
        "build",
        "--release",
        "--package",
        "guildhall",
        "--package",
        "guildhall-bench",
    ]);
    let built = build
        .current_dir(&checkout.root)
        .status()
        .map_err(|error| Trouble::because(format!("cannot start {}", shown(&build)), error))?;
    if !built.success() {
        return Err(Trouble::new("the build for release failed"));
    }
    let folder = checkout.target.join("release");
    let mut command = Command::new(folder.join("guildhall-bench"));
    command.arg("--program").arg(folder.join("guildhall"));
    if args.options.is_empty() {
        for word in Tools::install(&checkout)?.pi() {
            command.arg("--pi").arg(word);
        }
    }
    command.args(&args.options);
    let measured = hand_over(&mut command)?;
    if measured != ExitCode::SUCCESS || !args.options.is_empty() {
        return Ok(measured);
    }
    measure_libraries(&checkout)
}

/// Measures two libraries beside their peers: the search beside ripgrep, pages beside their tokenizer.
fn measure_libraries(checkout: &Checkout) -> Outcome<ExitCode> {
    println!("\npages as text:");
    let pages = ["--package", "guildhall-web", "--example", "speed"];
    let measured = example(checkout, &pages, &[])?;
    if measured != ExitCode::SUCCESS {
        return Ok(measured);
    }
    println!("\nsearch beside ripgrep:");
    let Some(ripgrep) = find_program("rg") else {
        return Err(
            Trouble::new("ripgrep is missing, so the search has no peer here")
                .remedy("cargo install ripgrep --locked, then run this again."),
        );
    };
    let search = [
        "--package",
        "guildhall-confine",
        "--example",
        "search_ratio",
    ];
    example(checkout, &search, &["generated".into(), ripgrep.into()])
}

fn example(checkout: &Checkout, which: &[&str], options: &[OsString]) -> Outcome<ExitCode> {
    let mut command = Command::new(cargo());
    command
        .args(["run", "--release", "--quiet"])
        .args(which)
        .arg("--")
        .args(options);
    hand_over(command.current_dir(&checkout.root))
}

/// Looks for known advisories against what the lock file names.
///
/// # Errors
/// When the tool is not there.
pub(crate) fn audit() -> Outcome<ExitCode> {
    let checkout = Checkout::find()?;
    if find_program("cargo-deny").is_none() {
        return Err(Trouble::new("cargo-deny is missing").remedy(
            "cargo install cargo-deny --locked; it fetches the advisory database itself.",
        ));
    }
    let mut command = Command::new(cargo());
    command.args(["deny", "--all-features", "check"]);
    hand_over(command.current_dir(&checkout.root))
}

/// Runs a program in our place: its output and its exit code are ours.
fn hand_over(command: &mut Command) -> Outcome<ExitCode> {
    let status = command
        .status()
        .map_err(|error| Trouble::because(format!("cannot start {}", shown(command)), error))?;
    let code = status.code().and_then(|code| u8::try_from(code).ok());
    Ok(code.map_or(ExitCode::FAILURE, ExitCode::from))
}
