//! What the kill table shows.
//!
//! In: runs of each point. Out: one line a point, and a line of sums. Never: a run left out.

use crate::verdict::{Outcome, Verdict};

/// All runs of a point.
pub(crate) struct Line {
    pub(crate) point: &'static str,
    pub(crate) runs: Vec<Run>,
}

/// One run.
pub(crate) struct Run {
    /// Point, pass, mix and number.
    pub(crate) context: String,
    /// Whether the process died at the point; otherwise it was not passed so often.
    pub(crate) died: bool,
    pub(crate) verdict: Verdict,
}

impl Line {
    pub(crate) fn died(&self) -> usize {
        self.runs.iter().filter(|run| run.died).count()
    }

    pub(crate) fn faults(&self) -> impl Iterator<Item = String> {
        self.runs.iter().flat_map(|run| {
            let faults = run.verdict.faults.iter();
            faults.map(|fault| format!("{}: {fault}", run.context))
        })
    }

    fn count(&self, outcome: Outcome) -> usize {
        self.runs.iter().map(|run| run.verdict.count(outcome)).sum()
    }

    fn cells(&self) -> [usize; 8] {
        [
            self.runs.len(),
            self.died(),
            self.count(Outcome::Answered),
            self.count(Outcome::FailureLine),
            self.count(Outcome::InterruptedLine),
            self.count(Outcome::Lost),
            self.count(Outcome::Doubled),
            self.faults().count(),
        ]
    }
}

/// Prints the table.
pub(crate) fn print(lines: &[Line]) {
    let heads = [
        "runs",
        "died",
        "answered",
        "failed",
        "interrupted",
        "lost",
        "doubled",
        "faults",
    ];
    println!("{:<28}{}", "killed at", row(&heads.map(str::to_owned)));
    let mut sums = [0; 8];
    for line in lines {
        let cells = line.cells();
        for (sum, cell) in sums.iter_mut().zip(cells) {
            *sum += cell;
        }
        println!(
            "{:<28}{}",
            line.point,
            row(&cells.map(|cell| cell.to_string()))
        );
    }
    println!(
        "{:<28}{}",
        "together",
        row(&sums.map(|sum| sum.to_string()))
    );
}

fn row(cells: &[String; 8]) -> String {
    cells.iter().map(|cell| format!("{cell:>12}")).collect()
}
