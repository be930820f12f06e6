//! `guildhall run`: serve a binding.

use crate::{
    cli::RunArgs,
    exit::Failure,
    home::Home,
    seat::{
        self, Notifier, Plan, SOCKET_VARIABLE, Supervision, WATCHDOG_PID_VARIABLE,
        WATCHDOG_VARIABLE,
    },
};
use rustix::process::{Signal, getppid, set_parent_process_death_signal};
use std::{
    path::{Path, PathBuf},
    time::Duration,
};

pub(super) fn run(home: &Home, args: &RunArgs) -> Result<(), Failure> {
    if args.end_with_parent {
        end_with_parent()?;
    }
    seat::run(home, plan(args)?)
}

/// Has the system tell us when our parent ends, however it ends: a seat of the demo must not outlive
/// it.
fn end_with_parent() -> Result<(), Failure> {
    let before = getppid();
    set_parent_process_death_signal(Some(Signal::TERM))
        .map_err(|error| Failure::failed(format!("cannot follow the parent process: {error}")))?;
    // It may have ended before the system was asked.
    if getppid() == before {
        Ok(())
    } else {
        Err(Failure::failed("the parent process has ended"))
    }
}

/// How to run, from what was typed.
pub(super) fn plan(args: &RunArgs) -> Result<Plan, Failure> {
    Ok(Plan {
        binding: args.binding.clone(),
        repo: repo(args.repo.as_deref())?,
        supervision: if args.supervised {
            Supervision::Supervised
        } else {
            Supervision::None
        },
        practice_delay: Duration::from_millis(args.practice_delay),
        stand_in: args.web_stand_in.clone(),
        notifier: notifier(),
    })
}

/// The way to the supervisor, from what it put into the environment.
fn notifier() -> Notifier {
    let socket = std::env::var_os(SOCKET_VARIABLE);
    let watchdog = std::env::var(WATCHDOG_VARIABLE).ok();
    let pid = std::env::var(WATCHDOG_PID_VARIABLE).ok();
    Notifier::of(
        socket.as_deref(),
        watchdog.as_deref(),
        pid.as_deref(),
        std::process::id(),
    )
}

/// The folder that context files are in.
pub(super) fn repo(named: Option<&Path>) -> Result<PathBuf, Failure> {
    match named {
        Some(repo) => Ok(repo.to_owned()),
        None => std::env::current_dir()
            .map_err(|error| Failure::failed(format!("cannot find the current folder: {error}"))),
    }
}
