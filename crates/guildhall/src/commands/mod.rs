//! One file for each command; this one says which is which.

mod demo; // try it
mod sim;

mod init; // write a binding by asking

mod check;
mod diagnose; // what a model can do
mod run;

mod estop;
mod lock; // stop, unlock, recover
mod reload;
mod service;

mod asks; // a person's permission, from the terminal
mod deliveries;
mod rows;
mod socket; // asking a running seat
mod status;
mod terminal; // texts of others on it
mod why;

mod completions;
mod git_credential; // what git runs
mod schema;

use crate::{
    cli::{Cli, Command},
    exit::Failure,
    home::Home,
};

/// Runs the command that was typed.
pub(crate) fn run(cli: Cli) -> Result<(), Failure> {
    let home = || Home::find(cli.data_root.as_deref(), cli.config.as_deref());
    let output = if cli.json { Output::Json } else { Output::Text };
    match cli.command {
        Command::Demo(args) => demo::run(&args, output),
        Command::Sim(args) => sim::run(&args, output),
        Command::Init(args) => init::run(&home()?, &args, output),
        Command::Schema => schema::run(),
        Command::Check(args) => check::run(&home()?, &args, output),
        Command::Run(args) => run::run(&home()?, &args),
        Command::Stop(args) => lock::stop(&home()?, &args.binding, output),
        Command::Unlock(args) => lock::unlock(&home()?, &args.binding, output),
        Command::Recover(args) => lock::recover(&home()?, &args.binding, output),
        Command::Reload(args) => reload::run(&home()?, &args.binding, output),
        Command::Estop(args) => estop::run(&home()?, &args, output),
        Command::Status(args) => status::run(&home()?, args.binding.as_deref(), output),
        Command::Why(args) => why::run(&home()?, &args, output),
        Command::Deliveries(args) => deliveries::run(&home()?, &args, output),
        Command::Diagnose(args) => diagnose::run(&home()?, &args, output),
        Command::Asks(args) => asks::run(&home()?, &args, output),
        Command::Rows(args) => rows::run(&home()?, &args, output),
        Command::Service(args) => service::run(&home()?, &args.action, output),
        Command::GitCredential { operation } => git_credential::run(&operation),
        Command::Man => completions::man(),
        Command::Completions { shell } => completions::run(shell),
    }
}

/// For whom a command prints.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Output {
    /// People.
    Text,
    /// Machines.
    Json,
}

/// Prints a line to stdout; a reader that has gone away is no failure.
pub(crate) fn print(line: impl std::fmt::Display) {
    use std::io::Write as _;
    let mut out = std::io::stdout().lock();
    if writeln!(out, "{line}").and_then(|()| out.flush()).is_err() {
        tracing::debug!("nobody reads stdout any more");
    }
}
