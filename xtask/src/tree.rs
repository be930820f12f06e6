//! `cargo xtask check-tree`: the project's own rules, as tests over its files and dependencies.
//!
//! In: what git tracks, what cargo resolved. Out: each rule with what breaks it, by file and line.
//! Never: a rule that is only a warning.

mod files; // what git tracks
mod floors; // who may know whom
mod licences; // what others ask of us
mod metadata; // what cargo resolved
mod sources; // what may stand in a file

use crate::{
    checkout::Checkout,
    tally::Tally,
    trouble::{Outcome, Trouble},
};
use files::Files;
use metadata::Metadata;
use std::process::ExitCode;

/// Most findings that are shown of one rule.
const SHOWN_MAX: usize = 20;

/// One thing that breaks a rule, as a person finds it.
type Finding = String;

/// A rule and what breaks it.
struct Verdict {
    rule: &'static str,
    findings: Vec<Finding>,
}

/// Checks every rule and prints what breaks them.
///
/// # Errors
/// When git or cargo cannot tell what there is.
pub(crate) fn run() -> Outcome<ExitCode> {
    let checkout = Checkout::find()?;
    let metadata = Metadata::read(&checkout)?;
    let files = Files::tracked(&checkout)?;
    let mut tally = Tally::default();
    for verdict in verdicts(&metadata, &files, &checkout) {
        if verdict.findings.is_empty() {
            tally.passed += 1;
            println!("ok      {}", verdict.rule);
        } else {
            tally.failed += 1;
            println!("BROKEN  {}", verdict.rule);
            for finding in verdict.findings.iter().take(SHOWN_MAX) {
                println!("          {finding}");
            }
            let more = verdict.findings.len().saturating_sub(SHOWN_MAX);
            if more > 0 {
                println!("          and {more} more");
            }
        }
    }
    println!("closing: {tally}");
    Ok(if tally.failed == 0 {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}

fn verdicts(metadata: &Metadata, files: &Files, checkout: &Checkout) -> Vec<Verdict> {
    let rule = |rule, findings| Verdict { rule, findings };
    vec![
        rule("a crate knows only lower floors", floors::upward(metadata)),
        rule(
            "deciding crates reach no runtime and no adapter",
            floors::reached(metadata),
        ),
        rule(
            "dependencies stay within their budget",
            floors::over_budget(metadata),
        ),
        rule(
            "every licence is one that we may ship",
            licences::refused(metadata),
        ),
        rule(
            "a source file has one subject: 500 lines at most",
            sources::too_long(files),
        ),
        rule(
            "a source file begins with what flows in and out",
            sources::undocumented(files),
        ),
        rule("a file is named for its subject", sources::unnamed(files)),
        rule(
            "a page names tests that there are",
            sources::untested(files),
        ),
        rule(
            "deciding crates have no clock, disk, chance or random order",
            sources::impure(files),
        ),
        rule(
            "nothing is left to do later in the code",
            sources::unfinished(files),
        ),
        rule(
            "no address of a package registry stands in a file",
            sources::registries(files),
        ),
        rule(
            "no path of a machine stands in a file",
            sources::machines(files, checkout),
        ),
    ]
}

/// A program's output as text, or what it complained about.
fn output_of(command: &mut std::process::Command, what: &str) -> Outcome<String> {
    let output = command
        .stdin(std::process::Stdio::null())
        .output()
        .map_err(|error| Trouble::because(format!("cannot start {what}"), error))?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        return Err(Trouble::because(format!("{what} failed"), said));
    }
    String::from_utf8(output.stdout)
        .map_err(|error| Trouble::because(format!("{what} printed no UTF-8"), error))
}
