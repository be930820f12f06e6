//! The command line: one definition for the parser, the help and the completions.
//!
//! In: what was typed. Out: a command with its arguments. Never: a look at the disk.

mod operate; // what an operator does once

use clap::{Args, Parser, Subcommand};
use std::path::PathBuf;

pub(crate) use operate::{
    AsksArgs, InitArgs, InstallArgs, PlaceArgs, RowsArgs, ServiceAction, ServiceArgs, UnitArgs,
};

/// An AI seat in a Discord server, under the operator's rules.
#[derive(Debug, Parser)]
#[command(
    name = "guildhall",
    version,
    about,
    max_term_width = 100,
    arg_required_else_help = true
)]
#[command(
    after_help = "Try it without an account:  guildhall demo\n\nExit codes: 0 ok, 1 failed, 2 invalid data or configuration, 3 refused by a brake or a held binding, 4 usage."
)]
pub(crate) struct Cli {
    /// Where bindings and all durable state are [default: the platform's user data folder]
    #[arg(long, global = true, value_name = "DIR", env = "GUILDHALL_DATA_ROOT")]
    pub(crate) data_root: Option<PathBuf>,
    /// Read the binding from this file instead of the data root
    #[arg(long, global = true, value_name = "PATH")]
    pub(crate) config: Option<PathBuf>,
    /// Print JSON for machines
    #[arg(long, global = true)]
    pub(crate) json: bool,
    /// Log more; twice for everything
    #[arg(long, short, global = true, action = clap::ArgAction::Count)]
    pub(crate) verbose: u8,
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Try it: a Discord stand-in, a web page and a practice seat, without an account
    #[command(
        after_help = "Examples:\n  guildhall demo                 open the page that is printed, and type\n  guildhall demo --port 4100     the same address every time\n  guildhall demo --keep DIR      keep the journal to look at afterwards\n  guildhall demo --engine native --provider ollama --model llama3.2\n  guildhall demo --engine native --provider anthropic --model NAME --key-env ANTHROPIC_API_KEY"
    )]
    Demo(DemoArgs),
    /// Run the Discord stand-in alone, for bots and tests
    #[command(
        after_help = "Examples:\n  guildhall sim --port 4100\n  guildhall sim --json | head -1     origin, token, ids for a test"
    )]
    Sim(SimArgs),
    /// Write a binding by asking
    #[command(
        after_help = "Examples:\n  guildhall init\n  guildhall init workshop --yes --token-file ~/bot.token --channel 1203491293471234567:open --user 1203491293471234568:Ana:operator"
    )]
    Init(InitArgs),
    /// Print the binding's JSON Schema
    #[command(after_help = "Example:\n  guildhall schema > binding.schema.json")]
    Schema,
    /// Check a binding: the file, the token, the engine, and Discord's side
    #[command(after_help = "Example:\n  guildhall check workshop")]
    Check(RunArgs),
    /// Serve a binding until SIGTERM, SIGINT or `guildhall stop`
    #[command(
        after_help = "Examples:\n  guildhall run workshop\n  guildhall run workshop --repo ~/src/notes     context files are read from there"
    )]
    Run(RunArgs),
    /// Set the brake of a binding and ask its process to end
    Stop(BindingArgs),
    /// Clear the lock of a process that is gone; leaves the brake STOP set
    Unlock(BindingArgs),
    /// Clear the way for a supervised start
    Recover(BindingArgs),
    /// Have a running process take the edited binding
    Reload(BindingArgs),
    /// Set or release the brake of the whole data root
    #[command(
        after_help = "Examples:\n  guildhall estop --why \"token leaked\"\n  guildhall estop --release --yes"
    )]
    Estop(EstopArgs),
    /// Show what runs, what is in flight and what is wrong
    #[command(
        after_help = "Examples:\n  guildhall status               every binding of the data root\n  guildhall status workshop --json"
    )]
    Status(StatusArgs),
    /// Tell one message's life: seen, dropped or answered, and every part of the answer
    #[command(
        after_help = "Examples:\n  guildhall why workshop 1203491293471234567\n  guildhall why workshop https://discord.com/channels/1/2/1203491293471234567"
    )]
    Why(WhyArgs),
    /// List deliveries that are not settled, and settle them by hand
    #[command(
        after_help = "Examples:\n  guildhall deliveries workshop\n  guildhall deliveries workshop NONCE --there 1203491293471234567\n  guildhall deliveries workshop NONCE --not-there"
    )]
    Deliveries(DeliveriesArgs),
    /// List open rows, withdraw one that waits, or end the run of one
    #[command(
        after_help = "Examples:\n  guildhall rows workshop\n  guildhall rows workshop 1203491293471234567 --cancel\n  guildhall rows workshop 1203491293471234567 --abort"
    )]
    Rows(RowsArgs),
    /// Let a binding's engine and model do small tasks with tools, and say what they can
    #[command(
        after_help = "Nothing of the binding's roots, sessions or channels is touched: the tasks work in a folder \
                      of their own. A model that fails here will not do its work in a channel either.\n\n\
                      Examples:\n  guildhall diagnose workshop\n  guildhall diagnose workshop --json"
    )]
    Diagnose(DiagnoseArgs),
    /// List what waits for a person's permission, show one whole, allow or deny it
    #[command(
        after_help = "Examples:\n  guildhall asks workshop\n  guildhall asks workshop 0123456789abcdef            everything it would do\n  guildhall asks workshop 0123456789abcdef --once\n  guildhall asks workshop 0123456789abcdef --deny"
    )]
    Asks(AsksArgs),
    /// Have systemd serve a binding: print, write or remove the unit, or show its state
    Service(ServiceArgs),
    /// Print the manual page, for `man -l -`
    #[command(hide = true)]
    Man,
    /// Answer git's question for the credential of a root's remote; git calls it, nobody else
    #[command(name = guildhall_git::CREDENTIAL_COMMAND, hide = true)]
    GitCredential {
        /// What git does: get, store or erase
        operation: String,
    },
    /// Print shell completions
    Completions {
        /// The shell
        shell: Shell,
    },
}

#[derive(Clone, Copy, Debug, clap::ValueEnum)]
pub(crate) enum Shell {
    Bash,
    Zsh,
    Fish,
}

#[derive(Debug, Args)]
pub(crate) struct BindingArgs {
    /// The binding's name
    pub(crate) binding: String,
}

#[derive(Debug, Args)]
pub(crate) struct RunArgs {
    /// The binding's name
    pub(crate) binding: String,
    /// The repository that context files are in [default: the current folder]
    #[arg(long, value_name = "DIR")]
    pub(crate) repo: Option<PathBuf>,
    /// Started by a supervisor: clear a dead lock first
    #[arg(long)]
    pub(crate) supervised: bool,
    /// End when the process that started us does
    #[arg(long, hide = true)]
    pub(crate) end_with_parent: bool,
    /// Let the practice engine think for so long, in milliseconds
    #[arg(long, value_name = "MS", default_value_t = 0, hide = true)]
    pub(crate) practice_delay: u64,
    /// The demo's pages in place of the web
    #[arg(long, value_name = "FILE", hide = true)]
    pub(crate) web_stand_in: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct DiagnoseArgs {
    /// The binding's name
    pub(crate) binding: String,
    /// The folder that context files are in [default: the current one]
    #[arg(long, value_name = "DIR")]
    pub(crate) repo: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct DemoArgs {
    /// Port of the page [default: a free one]
    #[arg(long, default_value_t = 0, hide_default_value = true)]
    pub(crate) port: u16,
    /// Do not open a browser
    #[arg(long)]
    pub(crate) no_open: bool,
    /// Keep the scratch data root: in this folder, which must be empty or missing, or where it is
    #[arg(long, value_name = "DIR")]
    pub(crate) keep: Option<Option<PathBuf>>,
    /// What answers: practice, or a model through native or pi
    #[arg(long, default_value = "practice")]
    pub(crate) engine: DemoEngine,
    /// The model's provider, such as openai, anthropic, ollama or llama.cpp
    #[arg(long)]
    pub(crate) provider: Option<String>,
    /// The model's name at the provider
    #[arg(long)]
    pub(crate) model: Option<String>,
    /// The provider's base URL: https, or http on this machine
    #[arg(long, value_name = "URL")]
    pub(crate) base_url: Option<String>,
    /// The environment variable that holds the provider's key
    #[arg(long, value_name = "NAME")]
    pub(crate) key_env: Option<String>,
    /// The file that holds the provider's key, mode 0600
    #[arg(long, value_name = "PATH", conflicts_with = "key_env")]
    pub(crate) key_file: Option<PathBuf>,
    /// How long the practice seat thinks, in milliseconds
    #[arg(long, value_name = "MS", default_value_t = 1200)]
    pub(crate) think: u64,
}

/// What answers in the demo.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum DemoEngine {
    /// A small deterministic seat without a model.
    Practice,
    /// A provider's API, called directly.
    Native,
    /// The coding agent pi, which has to be installed.
    Pi,
}

#[derive(Debug, Args)]
pub(crate) struct SimArgs {
    /// Port on 127.0.0.1 [default: a free one]
    #[arg(long, default_value_t = 0, hide_default_value = true)]
    pub(crate) port: u16,
    /// What all ids and tokens are made from
    #[arg(long, default_value_t = 1)]
    pub(crate) seed: u64,
    /// The server, its people and its numbers, as JSON [default: the demo's server]
    #[arg(long, value_name = "FILE")]
    pub(crate) scenario: Option<PathBuf>,
    /// No rate limits and no pause between logins, for tests that are in a hurry
    #[arg(long)]
    pub(crate) lenient: bool,
    /// Let the clock stand at this moment until it is moved, in milliseconds since 1970
    #[arg(long, value_name = "MS")]
    pub(crate) clock: Option<u64>,
}

#[derive(Debug, Args)]
pub(crate) struct StatusArgs {
    /// The binding's name [default: all of the data root]
    pub(crate) binding: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct WhyArgs {
    /// The binding's name
    pub(crate) binding: String,
    /// A message id, or a link to the message
    pub(crate) message: String,
}

#[derive(Debug, Args)]
pub(crate) struct DeliveriesArgs {
    /// The binding's name
    pub(crate) binding: String,
    /// The delivery to settle
    pub(crate) nonce: Option<String>,
    /// It stands in Discord, as this message
    #[arg(
        long,
        value_name = "MESSAGE",
        requires = "nonce",
        conflicts_with = "not_there"
    )]
    pub(crate) there: Option<String>,
    /// It does not stand in Discord
    #[arg(long, requires = "nonce")]
    pub(crate) not_there: bool,
}

#[derive(Debug, Args)]
#[command(group = clap::ArgGroup::new("what").required(true))]
pub(crate) struct EstopArgs {
    /// Set it, for this reason
    #[arg(long, value_name = "TEXT", group = "what")]
    pub(crate) why: Option<String>,
    /// Remove it
    #[arg(long, group = "what")]
    pub(crate) release: bool,
    /// Do not ask before removing it
    #[arg(long)]
    pub(crate) yes: bool,
}
