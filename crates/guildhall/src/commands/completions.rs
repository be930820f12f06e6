//! `guildhall completions` and `man`: generated from the command definitions.

use crate::{
    cli::{Cli, Shell},
    exit::Failure,
};
use clap::CommandFactory as _;
use clap_complete::{generate, shells};
use clap_mangen::Man;
use std::io::Write as _;

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

/// The manual page: the program's own, then one section for each command.
pub(super) fn man() -> Result<(), Failure> {
    let mut command = Cli::command();
    command.build();
    let mut page = Vec::new();
    let failed = |error| Failure::failed(format!("cannot print the manual page: {error}"));
    Man::new(command.clone())
        .render(&mut page)
        .map_err(failed)?;
    for sub in command.get_subcommands().filter(|sub| !sub.is_hide_set()) {
        let sub = sub
            .clone()
            .display_name(format!("guildhall {}", sub.get_name()));
        let man = Man::new(sub.clone());
        let heading = format!(".SH \"guildhall {}\"\n", sub.get_name());
        page.extend_from_slice(heading.as_bytes());
        for part in [Man::render_description_section, Man::render_options_section] {
            let mut section = Vec::new();
            part(&man, &mut section).map_err(failed)?;
            // A section of a command is a subsection here.
            let text = String::from_utf8_lossy(&section).replace(".SH ", ".SS ");
            page.extend_from_slice(text.as_bytes());
        }
    }
    std::io::stdout().write_all(&page).map_err(failed)
}
