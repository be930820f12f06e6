//! What the system says about a process.
//!
//! In: a process id. Out: memory, descriptors, threads, children. Never: a figure that was guessed
//! because it could not be read.

use rustix::process::Pid;
use std::fs;

/// A process, measured.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Figures {
    /// Memory in RAM now.
    pub(crate) resident_kib: u64,
    /// The most of it so far.
    pub(crate) peak_kib: u64,
    /// Open descriptors.
    pub(crate) files: u64,
    pub(crate) threads: u64,
    pub(crate) children: u64,
}

impl Figures {
    /// Measures a process that runs.
    pub(crate) fn of(pid: Pid) -> Self {
        let folder = format!("/proc/{}", pid.as_raw_nonzero());
        let read = |name: &str| fs::read_to_string(format!("{folder}/{name}")).expect("it runs");
        let status = read("status");
        let field = |name: &str| {
            let line = status.lines().find_map(|line| line.strip_prefix(name));
            let number = line.and_then(|line| line.split_whitespace().next()?.parse().ok());
            number.expect("a number")
        };
        let tasks = fs::read_dir(format!("{folder}/task"))
            .expect("it runs")
            .flatten();
        let children = tasks.map(|task| {
            // A thread may end while it is looked at.
            let list = fs::read_to_string(task.path().join("children")).unwrap_or_default();
            list.split_whitespace().count() as u64
        });
        Self {
            resident_kib: field("VmRSS:"),
            peak_kib: field("VmHWM:"),
            files: fs::read_dir(format!("{folder}/fd"))
                .expect("it runs")
                .count() as u64,
            threads: field("Threads:"),
            children: children.sum(),
        }
    }
}
