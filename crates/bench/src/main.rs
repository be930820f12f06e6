//! What a turn costs, measured from outside, beside what it cannot cost less than.
//!
//! In: the program's path. Out: a table of ratios to floors that were measured in the same run on
//! the same disk. Never: a look into the program, an absolute time that decides anything.

mod engines; // what an engine adds to a turn
mod fake; // Discord and a model, small and quick
mod floors;
mod report;
mod scenes; // start here: what is measured
mod seat;
mod shapes;

use clap::Parser;
use report::Table;
use std::{path::PathBuf, process::ExitCode};

/// Measures the program against floors of the same run.
#[derive(Parser)]
#[command(name = "guildhall-bench", version)]
struct Args {
    /// The program to measure, built for release.
    #[arg(long, value_name = "FILE")]
    program: PathBuf,
    /// Turns of the steady part.
    #[arg(long, default_value_t = 400)]
    turns: usize,
    /// Milliseconds between turns: Discord takes 50 requests a second, and a turn makes some.
    #[arg(long, default_value_t = 100)]
    pace: u64,
    /// Events to be dropped in the flood.
    #[arg(long, default_value_t = 60_000)]
    drops: usize,
    /// Starts that are timed.
    #[arg(long, default_value_t = 10)]
    starts: usize,
    /// Seconds of rest before resident memory is read.
    #[arg(long, default_value_t = 10)]
    rest: u64,
    /// The program that runs pi and its first arguments, one option each; without it pi is left out.
    #[arg(long, value_name = "WORD", allow_hyphen_values = true)]
    pi: Vec<String>,
    /// Only the floors, without the program.
    #[arg(long)]
    floors: bool,
    /// Folder for the data roots; the disk under it is part of what is measured.
    #[arg(long, value_name = "FOLDER")]
    folder: Option<PathBuf>,
}

fn main() -> ExitCode {
    let mut args = Args::parse();
    let runtime = match tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
    {
        Ok(runtime) => runtime,
        Err(error) => {
            eprintln!("bench: no runtime: {error}");
            return ExitCode::FAILURE;
        }
    };
    // It is started in another folder.
    args.program = std::path::absolute(&args.program).unwrap_or(args.program);
    match runtime.block_on(measure(&args)) {
        Ok(table) => {
            println!("{table}");
            ExitCode::SUCCESS
        }
        Err(why) => {
            eprintln!("bench: {why}");
            ExitCode::FAILURE
        }
    }
}

async fn measure(args: &Args) -> Result<Table, Failure> {
    let folder = match &args.folder {
        Some(chosen) => tempfile::tempdir_in(chosen)?,
        None => tempfile::tempdir()?,
    };
    if args.floors {
        return Ok(Table::of_floors(&floors::measure(folder.path()).await?));
    }
    scenes::run(args, folder.path()).await
}

/// Why a measurement could not be made.
#[derive(Debug)]
struct Failure(String);

impl std::fmt::Display for Failure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl<E: std::error::Error> From<E> for Failure {
    fn from(error: E) -> Self {
        let mut text = error.to_string();
        let mut source = error.source();
        while let Some(cause) = source {
            text = format!("{text}: {cause}");
            source = cause.source();
        }
        Self(text)
    }
}
