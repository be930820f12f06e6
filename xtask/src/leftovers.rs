//! Processes that a step left behind.
//!
//! In: nothing. Out: the names of orphans that came to us, after they were ended. Never: a process
//! that this run did not start: only our own children are looked at.

use rustix::process::{Pid, Signal, WaitOptions};
use std::{fs, thread, time::Duration};

/// How long an orphan may take to end by itself, since a program's last child may be on its way
/// out when the program is gone.
const GRACE: Duration = Duration::from_secs(2);
const PAUSE: Duration = Duration::from_millis(50);

/// Makes orphans of our descendants our own children, so that they can be seen and ended.
#[cfg(target_os = "linux")]
pub(crate) fn adopt_orphans() {
    if let Err(error) = rustix::process::set_child_subreaper(Some(rustix::process::getpid())) {
        eprintln!("xtask: processes left behind cannot be looked for: {error}");
    }
}

/// Elsewhere orphans go to the system, and nothing is looked for.
#[cfg(not(target_os = "linux"))]
pub(crate) fn adopt_orphans() {}

/// Ends what is still running below this process and says what it was.
///
/// Call it only when every child that was started on purpose has been waited for.
pub(crate) fn end_orphans() -> Vec<String> {
    let mut found = Vec::new();
    let mut waited = Duration::ZERO;
    loop {
        let orphans = children();
        if orphans.is_empty() {
            return found;
        }
        if waited >= GRACE {
            for orphan in orphans {
                orphan.end();
                found.push(orphan.name);
            }
        }
        thread::sleep(PAUSE);
        waited += PAUSE;
    }
}

struct Orphan {
    pid: Pid,
    name: String,
}

impl Orphan {
    /// Ends it and takes its exit status, so that no entry of it stays in the process table.
    fn end(&self) {
        // It may have ended by itself since it was seen; then there is nothing left to do.
        if rustix::process::kill_process(self.pid, Signal::KILL).is_ok() {
            reap(self.pid);
        }
    }
}

fn reap(pid: Pid) {
    if let Err(error) = rustix::process::waitpid(Some(pid), WaitOptions::empty()) {
        eprintln!("xtask: waiting for an ended process: {error}");
    }
}

/// Our children that still run; those that have ended are reaped on the way.
fn children() -> Vec<Orphan> {
    let me = std::process::id();
    let Ok(entries) = fs::read_dir("/proc") else {
        return Vec::new();
    };
    let mut running = Vec::new();
    for entry in entries.flatten() {
        let number = entry
            .file_name()
            .to_str()
            .and_then(|name| name.parse().ok());
        let Some(pid) = number.and_then(Pid::from_raw) else {
            continue;
        };
        let Ok(stat) = fs::read_to_string(entry.path().join("stat")) else {
            continue;
        };
        match parse_stat(&stat) {
            Some((_, 'Z', parent)) if parent == me => reap(pid),
            Some((name, _, parent)) if parent == me => {
                running.push(Orphan {
                    pid,
                    name: name.to_owned(),
                });
            }
            _ => {}
        }
    }
    running
}

/// Name, state and parent of `/proc/<pid>/stat`. The name stands in brackets and may hold any
/// character, brackets and blanks too, so the last closing one ends it.
fn parse_stat(stat: &str) -> Option<(&str, char, u32)> {
    let open = stat.find('(')?;
    let close = stat.rfind(')')?;
    let mut rest = stat.get(close + 1..)?.split_whitespace();
    let state = rest.next()?.chars().next()?;
    let parent = rest.next()?.parse().ok()?;
    Some((stat.get(open + 1..close)?, state, parent))
}

#[cfg(test)]
mod tests {
    use super::parse_stat;

    #[test]
    fn a_process_name_with_brackets_and_blanks_is_read_whole() {
        let cases = [
            ("12 (bash) S 7 12 12", Some(("bash", 'S', 7))),
            ("12 (a) b (c)) Z 9 1 1", Some(("a) b (c)", 'Z', 9))),
            ("12 no brackets", None),
            ("12 (x) S", None),
        ];
        for (stat, want) in cases {
            assert_eq!(parse_stat(stat), want, "{stat}");
        }
    }
}
