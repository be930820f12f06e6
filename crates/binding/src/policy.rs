//! The checked policy: what the rest of the house reads.
//!
//! In: nothing; `read` makes these values. Out: plain data whose types are the proof that the
//! checks were made. Never: a path that is opened, an environment variable that is read.

use crate::ids::{ChannelId, GuildId, UserId};
use std::{
    collections::{BTreeMap, BTreeSet},
    fmt,
    path::PathBuf,
    time::Duration,
};

/// One seat on one server, as the operator wrote it, after every check that needs no disk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Policy {
    /// Equals the file's name without `.json`.
    pub name: BindingName,
    /// The seat that is served.
    pub seat: SeatName,
    /// The one server.
    pub guild: Guild,
    /// The bot user that `check` confirms.
    pub bot: UserId,
    /// Absolute path of the bot token.
    pub token_file: PathBuf,
    /// Listed channels by id; never empty.
    pub channels: BTreeMap<ChannelId, Channel>,
    /// Listed people by id; never empty, never the bot.
    pub users: BTreeMap<UserId, User>,
    /// What turns a prompt into a reply.
    pub engine: EngineConfig,
    /// Bounds on work.
    pub limits: Limits,
    /// Context files in order: repository-relative, no `..`, not absolute.
    pub context_files: Vec<PathBuf>,
    /// What a conversation is.
    pub scope: SessionScope,
    /// Absent means: no tools at all.
    pub tools: Option<Tools>,
    /// Which toolsets each origin gets; an origin that is not named has its default.
    pub platform_toolsets: BTreeMap<Platform, BTreeSet<String>>,
    /// Where Discord is, and what the Discord toolset may do.
    pub discord: DiscordConfig,
    /// How asks are put and decided.
    pub approvals: Approvals,
    /// First 16 hex digits of the SHA-256 of the file's bytes.
    pub digest: PolicyDigest,
}

/// The bound server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Guild {
    /// Its id.
    pub id: GuildId,
    /// Its name as the operator wrote it: display text.
    pub name: String,
}

/// A binding's name: 1 to 64 of `a-z`, `0-9`, `-`, `_`, beginning with a letter or digit.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct BindingName(String);

/// A seat's name: 1 to 64 visible characters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SeatName(String);

/// Longest name of a binding and of a seat, in characters.
pub const NAME_MAX_CHARS: usize = 64;

/// Why a text is not a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadName {
    /// Not a binding's name.
    #[error("1 to 64 of a-z, 0-9, - and _, beginning with a letter or a digit")]
    Binding,
    /// Not a seat's name.
    #[error("1 to 64 visible characters")]
    Seat,
}

impl BindingName {
    /// Checks a binding's name; it is a file name and an argument, so its alphabet is small.
    ///
    /// # Errors
    /// [`BadName::Binding`].
    pub fn parse(text: &str) -> Result<Self, BadName> {
        let first = text
            .bytes()
            .next()
            .is_some_and(|b| b.is_ascii_lowercase() || b.is_ascii_digit());
        let rest = text
            .bytes()
            .all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-' || b == b'_');
        if first && rest && text.len() <= NAME_MAX_CHARS {
            Ok(Self(text.to_owned()))
        } else {
            Err(BadName::Binding)
        }
    }

    /// The name as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl SeatName {
    /// Checks a seat's name: no control characters, not blank.
    ///
    /// # Errors
    /// [`BadName::Seat`].
    pub fn parse(text: &str) -> Result<Self, BadName> {
        let fits = !text.trim().is_empty() && text.chars().count() <= NAME_MAX_CHARS;
        if fits && !text.chars().any(char::is_control) {
            Ok(Self(text.to_owned()))
        } else {
            Err(BadName::Seat)
        }
    }

    /// The name as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for BindingName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Display for SeatName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A listed channel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Channel {
    /// Its id.
    pub id: ChannelId,
    /// Its name as the operator wrote it: display text.
    pub name: String,
    /// Which messages are answered; threads inherit it.
    pub mode: ChannelMode,
}

/// Which messages of a listed channel are answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChannelMode {
    /// Every message of a listed user.
    Open,
    /// Only where the bot is mentioned.
    Mention,
}

/// A listed person.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct User {
    /// Their id.
    pub id: UserId,
    /// Their name as the operator wrote it: display text.
    pub name: String,
    /// Where they may speak.
    pub channels: UserChannels,
    /// Whether they may decide asks.
    pub standing: Standing,
}

/// Where a person may speak.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum UserChannels {
    /// In every listed channel and its threads.
    Every,
    /// In these listed channels and their threads only; never empty.
    Only(BTreeSet<ChannelId>),
}

/// Whether a person may decide asks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// May not.
    Member,
    /// May.
    Operator,
}

/// The engine and its settings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EngineConfig {
    /// Which engine.
    pub kind: EngineKind,
    /// The provider's name, for engines that have several.
    pub provider: Option<String>,
    /// The model's name at the provider.
    pub model: Option<String>,
    /// How hard the model should think, in the provider's words.
    pub thinking: Option<String>,
    /// The provider's base URL: https, or http on loopback.
    pub base_url: Option<String>,
    /// Absolute path of the provider's key, 0600.
    pub key_file: Option<PathBuf>,
    /// Name of the environment variable that holds the key.
    pub key_env: Option<String>,
    /// Program and arguments of an engine that is a child process.
    pub command: Vec<String>,
    /// How long an idle route keeps its engine warm.
    pub idle: Duration,
    /// What tokens cost; absent: the engine's own word on cost counts, or none.
    pub price: Option<Price>,
}

/// What a million tokens cost, in millionths of a US dollar.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Price {
    /// Tokens in.
    pub input_micro_usd: u64,
    /// Tokens out, thoughts included.
    pub output_micro_usd: u64,
    /// Tokens in that the provider had in its cache; absent: they cost what the others do.
    pub cached_input_micro_usd: Option<u64>,
}

/// Which engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EngineKind {
    /// A deterministic seat without a model.
    Practice,
    /// A provider's API, called directly.
    Native,
    /// The `pi` coding agent over RPC.
    Pi,
    /// An Agent Client Protocol agent.
    Acp,
}

/// Bounds on work.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Limits {
    /// Turns of all origins in one UTC day.
    pub turns_per_day: u32,
    /// Longest turn, at most one hour.
    pub turn_timeout: Duration,
    /// Longest part of a reply, in Unicode code points.
    pub reply_chunk_chars: usize,
    /// Longest message that is taken, in Unicode code points.
    pub inbound_max_chars: usize,
    /// How far back missed messages are read; zero turns it off.
    pub catch_up: Duration,
    /// Turns at work at once, over all routes.
    pub parallel_turns: usize,
    /// Rows waiting on one route.
    pub queued_turns: usize,
    /// Ceiling on a provider's cost in one UTC day, in millionths of a US dollar.
    pub micro_usd_per_day: Option<u64>,
}

impl Eq for Limits {}

impl Default for Limits {
    fn default() -> Self {
        Self {
            turns_per_day: 200,
            turn_timeout: Duration::from_secs(180),
            reply_chunk_chars: 1900,
            inbound_max_chars: 4000,
            catch_up: Duration::from_secs(900),
            parallel_turns: 4,
            queued_turns: 256,
            micro_usd_per_day: None,
        }
    }
}

/// What a conversation is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SessionScope {
    /// One conversation for all channels.
    Seat,
    /// Each thread its own, and each channel's own talk.
    Thread,
}

/// Declared tools.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tools {
    /// Declared directories.
    pub roots: Vec<Root>,
    /// Largest file that a tool reads or writes, in bytes.
    pub max_file_bytes: u64,
    /// Calls in one turn.
    pub max_calls_per_turn: u32,
    /// Web tools; absent means none.
    pub web: Option<Web>,
    /// The record client; absent means none.
    pub setspark: Option<SetSpark>,
}

/// A declared directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Root {
    /// Its name towards the engine.
    pub name: String,
    /// Where it is: absolute, checked for shape here and on disk by `check` and `run`.
    pub path: PathBuf,
    /// Whether tools may write there.
    pub write: RootWrite,
    /// Git settings; absent means no git tools there.
    pub git: Option<RootGit>,
}

/// Whether tools may write in a root.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RootWrite {
    /// Never.
    No,
    /// By the operator's policy.
    Yes,
    /// A workspace: each write needs Allow Once.
    Ask,
}

/// Git settings of a root.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RootGit {
    /// The bound branch.
    pub branch: String,
    /// The seat's name at the git server: user name over https and owner of locks.
    pub identity: String,
    /// Absolute path of the push token, 0600.
    pub token_file: PathBuf,
    /// The author, `Name <address>`.
    pub author: String,
    /// Absent: plain commits. `vault`: the vault protocol.
    pub protocol: Option<String>,
}

/// Web tools.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Web {
    /// The search service: https, or http on loopback.
    pub searxng: Option<String>,
    /// Largest body that is read, in bytes.
    pub max_fetch_bytes: u64,
}

/// The record client.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SetSpark {
    /// https origin, or http on loopback.
    pub base_url: String,
    /// Absolute path of the key, 0600.
    pub key_file: PathBuf,
    /// Who the connector is towards the service.
    pub principal: String,
    /// Deadline of one call.
    pub timeout: Duration,
}

/// An origin's platform, as `platformToolsets` names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Platform {
    /// People on Discord.
    Discord,
    /// Peers and plugins on the mesh.
    Cotal,
    /// Schedules.
    Schedule,
}

/// Where Discord is, and what the Discord toolset may do.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct DiscordConfig {
    /// Another origin than Discord's own: https, or http on loopback; no path.
    pub api_url: Option<String>,
    /// Channels that the toolset may post in.
    pub post_channels: BTreeSet<ChannelId>,
    /// Whether cards mention the operators.
    pub approval_mentions: ApprovalMentions,
    /// Whether each person has a session of their own in a thread.
    pub thread_sessions: ThreadSessions,
}

/// Whether cards mention the operators.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum ApprovalMentions {
    /// They do not.
    #[default]
    Off,
    /// They do.
    On,
}

/// How people share the session of a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum ThreadSessions {
    /// One session for all.
    #[default]
    Shared,
    /// One for each person.
    PerUser,
}

/// How asks are put and decided.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Approvals {
    /// Who decides first.
    pub mode: ApprovalMode,
    /// How long an ask stays open.
    pub ask_timeout: Duration,
    /// The reviewer's settings as compact JSON: `provider`, `model`, `baseUrl`, `keyFile`, `keyEnv`,
    /// checked as the native engine's are; only with mode `smart`.
    pub reviewer: Option<String>,
}

impl Default for Approvals {
    fn default() -> Self {
        Self {
            mode: ApprovalMode::Manual,
            ask_timeout: Duration::from_secs(300),
            reviewer: None,
        }
    }
}

/// Who decides an ask first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ApprovalMode {
    /// A person.
    Manual,
    /// A reviewer model, then a person.
    Smart,
    /// Nobody, for the operator's own turns and above the floor.
    Off,
}

/// First 16 hex digits of the SHA-256 of a binding file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PolicyDigest(pub(crate) String);

impl PolicyDigest {
    /// Digest of a binding file's bytes.
    #[must_use]
    pub fn of(bytes: &[u8]) -> Self {
        use sha2::Digest as _;
        let full = data_encoding::HEXLOWER.encode(&sha2::Sha256::digest(bytes));
        Self(full[..16].to_owned())
    }

    /// The digits.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}
