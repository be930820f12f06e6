//! `guildhall completions`: generated from the command definitions.

use crate::{
    cli::{Cli, Shell},
    exit::Failure,
};
use clap::CommandFactory as _;
use clap_complete::{generate, shells};

pub(super) fn run(shell: Shell) -> Result<(), Failure> {
    let (mut command, mut out) = (Cli::command(), std::io::stdout());
    let name = "guildhall";
    match shell {
        Shell::Bash => generate(shells::Bash, &mut command, name, &mut out),
        Shell::Zsh => generate(shells::Zsh, &mut command, name, &mut out),
        Shell::Fish => generate(shells::Fish, &mut command, name, &mut out),
    }
    Ok(())
}
