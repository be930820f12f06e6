//! Counts of tests, read from what test runners print.
//!
//! In: a runner's output, line by line. Out: how many tests passed, failed and were left out.
//! Never: a count that no runner printed.

use std::{fmt, ops::AddAssign};

/// How many tests passed, failed, and were left out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Tally {
    /// Tests that passed.
    pub(crate) passed: u64,
    /// Tests that failed.
    pub(crate) failed: u64,
    /// Tests that were there and did not run.
    pub(crate) skipped: u64,
}

impl Tally {
    /// Whether no runner said anything.
    pub(crate) fn is_empty(self) -> bool {
        self == Self::default()
    }
}

impl AddAssign for Tally {
    fn add_assign(&mut self, other: Self) {
        self.passed += other.passed;
        self.failed += other.failed;
        self.skipped += other.skipped;
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} passed, {} failed", self.passed, self.failed)?;
        if self.skipped > 0 {
            write!(f, ", {} skipped", self.skipped)
        } else {
            Ok(())
        }
    }
}

/// Adds up the closing lines of cargo's and Python's test runners, and our own.
#[derive(Debug, Default)]
pub(crate) struct Counter {
    total: Tally,
    /// Python's count comes one line before its verdict.
    python_ran: u64,
}

impl Counter {
    /// Looks at one line of a runner's output.
    pub(crate) fn line(&mut self, line: &str) {
        let line = line.trim();
        if let Some(counts) = line.strip_prefix("test result: ") {
            self.total += listed_counts(counts);
        } else if let Some(ran) = line.strip_prefix("Ran ") {
            self.python_ran = leading_number(ran);
        } else if self.python_ran > 0 && (line.starts_with("OK") || line.starts_with("FAILED")) {
            self.total += python_counts(line, self.python_ran);
            self.python_ran = 0;
        } else if let Some(counts) = line.strip_prefix("closing: ") {
            self.total += listed_counts(counts);
        }
    }

    /// What was counted so far.
    pub(crate) fn total(&self) -> Tally {
        self.total
    }
}

/// `ok. 12 passed; 0 failed; 1 ignored; ...`, or the same with commas.
fn listed_counts(counts: &str) -> Tally {
    let mut tally = Tally::default();
    for part in counts.split([';', ',', '.']) {
        let number = leading_number(part.trim());
        match part
            .trim()
            .trim_start_matches(|c: char| c.is_ascii_digit())
            .trim()
        {
            "passed" => tally.passed = number,
            "failed" => tally.failed = number,
            "ignored" | "skipped" => tally.skipped = number,
            _ => {}
        }
    }
    tally
}

/// `OK (skipped=1)` or `FAILED (failures=1, errors=2)`.
fn python_counts(verdict: &str, ran: u64) -> Tally {
    let count = |name: &str| {
        verdict
            .split(['(', ')', ','])
            .find_map(|part| part.trim().strip_prefix(name)?.strip_prefix('='))
            .map_or(0, leading_number)
    };
    let failed = count("failures") + count("errors") + count("unexpected successes");
    let skipped = count("skipped");
    Tally {
        passed: ran.saturating_sub(failed + skipped),
        failed,
        skipped,
    }
}

fn leading_number(text: &str) -> u64 {
    let end = text
        .find(|c: char| !c.is_ascii_digit())
        .unwrap_or(text.len());
    text[..end].parse().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::{Counter, Tally};

    #[test]
    fn closing_lines_of_each_runner_are_counted() {
        type Case = (&'static str, &'static [&'static str], (u64, u64, u64));
        let cases: [Case; 6] = [
            (
                "cargo",
                &["test result: ok. 12 passed; 0 failed; 1 ignored; 0 measured"],
                (12, 0, 1),
            ),
            (
                "cargo, failing",
                &["test result: FAILED. 3 passed; 2 failed; 0 ignored"],
                (3, 2, 0),
            ),
            ("python", &["Ran 5 tests in 0.003s", "", "OK"], (5, 0, 0)),
            (
                "python, failing",
                &[
                    "Ran 9 tests in 1.2s",
                    "",
                    "FAILED (failures=1, errors=2, skipped=3)",
                ],
                (3, 3, 3),
            ),
            ("ours", &["closing: 7 passed, 1 failed"], (7, 1, 0)),
            ("talk", &["OK then", "we Ran 5 tests", "passed"], (0, 0, 0)),
        ];
        for (name, lines, (passed, failed, skipped)) in cases {
            let mut counter = Counter::default();
            lines.iter().for_each(|line| counter.line(line));
            assert_eq!(
                counter.total(),
                Tally {
                    passed,
                    failed,
                    skipped
                },
                "{name}"
            );
        }
    }

    #[test]
    fn several_binaries_add_up() {
        let mut counter = Counter::default();
        counter.line("test result: ok. 2 passed; 0 failed; 0 ignored");
        counter.line("test result: ok. 40 passed; 0 failed; 0 ignored");
        assert_eq!(counter.total().to_string(), "42 passed, 0 failed");
    }
}
