//! Arguments of what an operator does once: making a binding, and having it served as a service.

use clap::{Args, Subcommand};
use std::path::PathBuf;

/// A systemd user unit that serves bindings, one instance for each.
#[derive(Debug, Args)]
pub(crate) struct ServiceArgs {
    #[command(subcommand)]
    pub(crate) action: ServiceAction,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ServiceAction {
    /// Print the unit without writing it
    Render(UnitArgs),
    /// Write the unit, and print the commands that follow
    #[command(
        after_help = "Example:\n  guildhall service install workshop --repo ~/src/notes\n\nSurviving logout and reboot needs `loginctl enable-linger`."
    )]
    Install(InstallArgs),
    /// Remove the unit; refused while an instance is active
    Uninstall(PlaceArgs),
    /// Show the unit's state, the brakes and the lock
    Status {
        /// The binding's name
        binding: String,
    },
}

#[derive(Debug, Args)]
pub(crate) struct UnitArgs {
    /// The binding that the printed commands are for [default: a placeholder]
    pub(crate) binding: Option<String>,
    /// The repository that context files are in [default: the current folder]
    #[arg(long, value_name = "DIR")]
    pub(crate) repo: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct InstallArgs {
    #[command(flatten)]
    pub(crate) unit: UnitArgs,
    #[command(flatten)]
    pub(crate) place: PlaceArgs,
}

#[derive(Debug, Args)]
pub(crate) struct PlaceArgs {
    /// Folder of the unit [default: ~/.config/systemd/user]
    #[arg(long, value_name = "DIR")]
    pub(crate) dir: Option<PathBuf>,
    /// Do not tell systemd to read its units again
    #[arg(long)]
    pub(crate) no_reload: bool,
}

#[derive(Debug, Args)]
pub(crate) struct RowsArgs {
    /// The binding's name
    pub(crate) binding: String,
    /// The row: the id of the message that it came from
    pub(crate) row: Option<String>,
    /// Withdraw it; it must not have begun
    #[arg(long, requires = "row", conflicts_with = "abort")]
    pub(crate) cancel: bool,
    /// End its run
    #[arg(long, requires = "row")]
    pub(crate) abort: bool,
}
