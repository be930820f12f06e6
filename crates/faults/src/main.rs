//! The fault machine's command line.
//!
//! In: how many seeds, or one seed, or the wish for the table of mutations. Out: what failed, with
//! the seed and the shortest schedule that still fails; exit code 1 where anything did. Never: a
//! result that depends on anything but the seeds.

use guildhall_faults::{
    Caught, Survey, Trace, Worst, hunt, mutation::Mutation, plan::Plan, run, shrink, survey,
};
use std::{process::ExitCode, time::Instant};

const USAGE: &str = "\
usage: guildhall-faults [--seeds N] [--from S] [--seed S] [--mutations] [--mutation CODE] [--quiet]
  --seeds N        run N seeds (default 1000); with --mutations, try N at most for each
  --from S         begin with seed S (default 0)
  --seed S         run one seed and print what happens in it
  --mutations      take away one safeguard at a time and print which seed shows it
  --mutation CODE  with --seed: take away this safeguard
  --quiet          print failures only";

/// How much is printed.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Print {
    All,
    Failures,
}

enum Wish {
    Survey,
    One(u64),
    Mutations,
}

struct Args {
    wish: Wish,
    from: u64,
    seeds: u64,
    mutation: Option<Mutation>,
    print: Print,
}

fn main() -> ExitCode {
    let args = match parse(std::env::args().skip(1)) {
        Ok(args) => args,
        Err(why) => {
            eprintln!("{why}\n{USAGE}");
            return ExitCode::from(4);
        }
    };
    // A panic of the connector is a finding, and is printed as one.
    std::panic::set_hook(Box::new(|_| {}));
    let clean = match args.wish {
        Wish::Survey => print_survey(&args),
        Wish::One(seed) => print_seed(seed, &args),
        Wish::Mutations => print_mutations(&args),
    };
    if clean {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}

fn parse(mut words: impl Iterator<Item = String>) -> Result<Args, String> {
    let mut args = Args {
        wish: Wish::Survey,
        from: 0,
        seeds: 1_000,
        mutation: None,
        print: Print::All,
    };
    while let Some(word) = words.next() {
        let mut number = || {
            let text = words.next().ok_or(format!("{word} needs a number"))?;
            text.parse::<u64>()
                .map_err(|_| format!("{text} is no number"))
        };
        match word.as_str() {
            "--seeds" => args.seeds = number()?,
            "--from" => args.from = number()?,
            "--seed" => args.wish = Wish::One(number()?),
            "--mutations" => args.wish = Wish::Mutations,
            "--quiet" => args.print = Print::Failures,
            "--mutation" => {
                let code = words.next().ok_or("--mutation needs a code")?;
                let mut all = Mutation::ALL.iter().copied();
                let found = all.find(|mutation| mutation.code() == code);
                args.mutation = Some(found.ok_or(format!("{code} is no mutation"))?);
            }
            _ => return Err(format!("{word} is not understood")),
        }
    }
    Ok(args)
}

fn print_survey(args: &Args) -> bool {
    let began = Instant::now();
    let Survey {
        seeds,
        counts,
        failed,
    } = survey(args.from..args.from + args.seeds);
    for Worst { seed, violation } in failed.iter().take(20) {
        println!("seed {seed}: {violation}");
    }
    if let Some(Worst { seed, violation }) = failed.first() {
        let short = shrink(&Plan::of_seed(*seed), None, violation.invariant);
        println!("\nseed {seed}, shrunk to {} steps:", short.steps.len());
        print_plan(&short);
        for violation in run(&short, None, Trace::Off).violations {
            println!("  {violation}");
        }
        println!("replay: cargo run -p guildhall-faults -- --seed {seed}");
    }
    if args.print == Print::All || !failed.is_empty() {
        let secs = began.elapsed().as_secs_f64();
        println!(
            "{seeds} seeds, {} failed; {} messages, {} posts, {} runs, {} processes, {} events; {secs:.1} s",
            failed.len(),
            counts.said,
            counts.posted,
            counts.runs,
            counts.processes,
            counts.events
        );
    }
    failed.is_empty()
}

fn print_plan(plan: &Plan) {
    println!("  {:?}", plan.knobs);
    for step in &plan.steps {
        println!("  {:>8} ms {:?}", step.at_ms, step.action);
    }
}

fn print_seed(seed: u64, args: &Args) -> bool {
    let plan = Plan::of_seed(seed);
    let outcome = run(&plan, args.mutation, Trace::On);
    let Some(violation) = outcome.violations.first() else {
        if args.print == Print::All {
            print_plan(&plan);
            print_lines(&outcome.trace);
        }
        println!("seed {seed}: nothing found");
        return true;
    };
    let short = shrink(&plan, args.mutation, violation.invariant);
    let outcome = run(&short, args.mutation, Trace::On);
    println!(
        "seed {seed}, shrunk from {} to {} steps:",
        plan.steps.len(),
        short.steps.len()
    );
    print_plan(&short);
    if args.print == Print::All {
        print_lines(&outcome.trace);
    }
    for violation in &outcome.violations {
        println!("  {violation}");
    }
    false
}

fn print_lines(lines: &[String]) {
    for line in lines {
        println!("{line}");
    }
}

fn print_mutations(args: &Args) -> bool {
    let mut all_caught = true;
    println!("| safeguard taken away | seed | what shows |\n| --- | --- | --- |");
    for mutation in Mutation::ALL {
        let Caught { by, seeds, .. } = hunt(*mutation, args.from..args.from + args.seeds);
        match by {
            Some(Worst { seed, violation }) => {
                println!(
                    "| {} | {seed} | {} |",
                    mutation.code(),
                    violation.invariant.code()
                );
            }
            None => {
                all_caught &= !mutation.is_seen_outside();
                println!("| {} | none of {seeds} | |", mutation.code());
            }
        }
    }
    all_caught
}
