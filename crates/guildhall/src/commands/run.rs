//! `guildhall run`: serve a binding.

use crate::{
    cli::RunArgs,
    exit::Failure,
    home::Home,
    seat::{self, Plan, Supervision},
};
use std::{path::PathBuf, time::Duration};

pub(super) fn run(home: &Home, args: &RunArgs) -> Result<(), Failure> {
    seat::run(home, &plan(args)?)
}

/// How to run, from what was typed.
pub(super) fn plan(args: &RunArgs) -> Result<Plan, Failure> {
    Ok(Plan {
        binding: args.binding.clone(),
        repo: repo(args)?,
        supervision: if args.supervised {
            Supervision::Supervised
        } else {
            Supervision::None
        },
        practice_delay: Duration::from_millis(args.practice_delay),
    })
}

pub(super) fn repo(args: &RunArgs) -> Result<PathBuf, Failure> {
    match &args.repo {
        Some(repo) => Ok(repo.clone()),
        None => std::env::current_dir()
            .map_err(|error| Failure::failed(format!("cannot find the current folder: {error}"))),
    }
}
