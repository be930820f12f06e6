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

#[derive(Debug, Args)]
pub(crate) struct AsksArgs {
    /// The binding's name, or an ask of any binding [default: every binding]
    pub(crate) binding: Option<String>,
    /// The ask: its 16 digits, as the card and the list show them
    pub(crate) ask: Option<String>,
    /// Allow exactly what it shows, this once
    #[arg(long, requires = "binding", conflicts_with = "deny")]
    pub(crate) once: bool,
    /// Deny it
    #[arg(long, requires = "binding")]
    pub(crate) deny: bool,
}

#[derive(Debug, Args)]
pub(crate) struct InitArgs {
    /// The binding's name [default: workshop]
    pub(crate) binding: Option<String>,
    /// Ask nothing: flags and defaults are all there is
    #[arg(long)]
    pub(crate) yes: bool,
    /// The file with the bot's token, mode 0600 [default: beside the binding, from what is typed]
    #[arg(long, value_name = "PATH")]
    pub(crate) token_file: Option<PathBuf>,
    /// The server [default: the only one that the bot is in]
    #[arg(long, value_name = "ID")]
    pub(crate) guild: Option<String>,
    /// A channel by id or name, and its mode, mention or open [default mode: mention]
    #[arg(long, value_name = "ID[:MODE]")]
    pub(crate) channel: Vec<String>,
    /// A person who gets answers; an operator may also decide asks
    #[arg(long, value_name = "ID:NAME[:operator]")]
    pub(crate) user: Vec<String>,
    /// The seat's name [default: the bot's]
    #[arg(long, value_name = "NAME")]
    pub(crate) seat: Option<String>,
    /// practice, native, pi or acp [default: practice]
    #[arg(long, value_name = "KIND")]
    pub(crate) engine: Option<String>,
    /// The provider's name
    #[arg(long)]
    pub(crate) provider: Option<String>,
    /// The model's name at the provider
    #[arg(long)]
    pub(crate) model: Option<String>,
    /// The provider's base URL
    #[arg(long, value_name = "URL")]
    pub(crate) base_url: Option<String>,
    /// The file with the provider's key, mode 0600
    #[arg(long, value_name = "PATH", conflicts_with = "key_env")]
    pub(crate) key_file: Option<PathBuf>,
    /// The environment variable with the provider's key
    #[arg(long, value_name = "NAME")]
    pub(crate) key_env: Option<String>,
    /// Program and arguments of pi or of an acp agent, one word each
    #[arg(long, value_name = "WORD")]
    pub(crate) command: Vec<String>,
    /// Another place of Discord's API, for a stand-in
    #[arg(long, value_name = "URL")]
    pub(crate) api_url: Option<String>,
}
