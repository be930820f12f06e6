//! The file's shape as types: what `init` writes and what the schema describes.
//!
//! In: values that a program fills in. Out: JSON in the order of the documentation, and a JSON
//! Schema. Never: a check; [`crate::read`] alone decides, and accepts nothing that the schema
//! refuses.
//!
//! The descriptions that an editor shows are the comments of the fields below.

mod tools;

pub use tools::{Git, GitProtocol, Root, SetSpark, Tools, Web, Write};

use crate::{
    bounds::{
        ARGUMENT_MAX_CHARS, ASK_TIMEOUT_SECONDS, BINDING_VERSION, CATCH_UP_SECONDS, CHANNELS_MAX,
        COMMAND_MAX, CONTEXT_FILES_MAX, DISPLAY_NAME_MAX_CHARS, IDLE_SECONDS, INBOUND_MAX_CHARS,
        LABEL_MAX_CHARS, PARALLEL_TURNS, QUEUED_TURNS, REPLY_CHUNK_CHARS, TOOLSETS_MAX,
        TURN_TIMEOUT_SECONDS, TURNS_PER_DAY, URL_MAX_CHARS, USD_PER_DAY_MAX, USD_PER_DAY_MIN,
        USD_PER_MTOK_MAX, USERS_MAX,
    },
    ids::{ChannelId, GuildId, UserId},
    policy::NAME_MAX_CHARS,
};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Serialize;
use serde_json::Value;

/// The patterns of texts; each is looser than the reader, which has the last word.
pub(crate) mod pattern {
    pub(crate) const BINDING_NAME: &str = "^[a-z0-9][a-z0-9_-]*$";
    pub(crate) const ROOT_NAME: &str = "^[A-Za-z0-9][A-Za-z0-9_-]*$";
    pub(crate) const ABSOLUTE_PATH: &str = "^/";
    pub(crate) const RELATIVE_PATH: &str = "^[^/]";
    pub(crate) const URL: &str = r"^https?://[^\s/?#@\\]+(/[^\s?#\\]*)?$";
    pub(crate) const ORIGIN: &str = r"^https?://[^\s/?#@\\]+/?$";
    pub(crate) const VARIABLE: &str = "^[A-Za-z_][A-Za-z0-9_]*$";
    pub(crate) const PRINCIPAL: &str = "^[!-9;-~]+$";
    pub(crate) const AUTHOR: &str = "^[^<>]+ <[^<>@\\s]+@[^<>\\s]+>$";
}

/// A seat's policy on one Discord server. Keep it private: it holds ids of real people.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Binding {
    /// Where an editor finds this schema. The program does not read it.
    #[serde(rename = "$schema", skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = URL_MAX_CHARS))]
    pub schema: Option<String>,
    /// Version of the file's meaning.
    #[schemars(extend("const" = BINDING_VERSION))]
    pub binding_version: u64,
    /// The binding's name; the file is called by it, with .json at the end.
    #[schemars(length(max = NAME_MAX_CHARS), extend("pattern" = pattern::BINDING_NAME))]
    pub name: String,
    /// The seat that is served.
    #[schemars(length(min = 1, max = NAME_MAX_CHARS))]
    pub seat: String,
    /// The one Discord server.
    pub guild_id: GuildId,
    /// The server's name, for people.
    #[schemars(length(min = 1, max = DISPLAY_NAME_MAX_CHARS))]
    pub guild_name: String,
    /// The user id of the bot, which a check confirms.
    pub bot_user_id: UserId,
    /// Absolute path of the file with the bot token: mode 0600, no link, outside every root.
    #[schemars(extend("pattern" = pattern::ABSOLUTE_PATH))]
    pub token_file: String,
    /// The channels where the seat listens; threads belong to their channel.
    #[schemars(length(min = 1, max = CHANNELS_MAX))]
    pub channels: Vec<Channel>,
    /// The only people who get an answer.
    #[schemars(length(min = 1, max = USERS_MAX))]
    pub users: Vec<User>,
    /// What turns a prompt into a reply.
    pub engine: Engine,
    /// Bounds on work.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limits: Option<Limits>,
    /// What the engine is told before it hears anybody.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub context: Option<Context>,
    /// What counts as one conversation.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sessions: Option<Sessions>,
    /// What the engine may do; without it the engine has no tools at all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tools: Option<Tools>,
    /// Which toolsets each origin of a turn gets.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub platform_toolsets: Option<PlatformToolsets>,
    /// Where Discord is, and what the seat may do there beside answering.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub discord: Option<Discord>,
    /// How people are asked for permission.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub approvals: Option<Approvals>,
    /// Reserved: not served by this version.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub plugins: Option<Value>,
    /// Reserved: not served by this version.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mesh: Option<Value>,
    /// Reserved: not served by this version.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub schedules: Option<Value>,
}

/// A channel where the seat listens.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Channel {
    /// Its id.
    pub id: ChannelId,
    /// Its name, for people.
    #[schemars(length(min = 1, max = DISPLAY_NAME_MAX_CHARS))]
    pub name: String,
    /// Which messages are answered, in its threads too.
    pub mode: ChannelMode,
}

/// Which messages of a listed person are answered.
#[derive(Clone, Copy, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ChannelMode {
    /// Every one.
    Open,
    /// Those that mention the bot.
    Mention,
}

/// A person who gets an answer.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct User {
    /// Their user id; never the bot's.
    pub id: UserId,
    /// Their name, for people.
    #[schemars(length(min = 1, max = DISPLAY_NAME_MAX_CHARS))]
    pub name: String,
    /// The listed channels where they are heard; without it, all of them.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = CHANNELS_MAX), extend("uniqueItems" = true))]
    pub channels: Option<Vec<ChannelId>>,
    /// Whether they may decide asks.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("default" = false))]
    pub operator: Option<bool>,
}

/// The engine and its model.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(extend("allOf" = [
    {
        "if": {"properties": {"kind": {"const": "practice"}}},
        "then": {"properties": {
            "provider": false, "model": false, "thinking": false, "baseUrl": false,
            "keyFile": false, "keyEnv": false, "command": false, "price": false,
        }},
    },
    {
        "if": {"properties": {"kind": {"const": "native"}}},
        "then": {
            "required": ["model"],
            "anyOf": [{"required": ["baseUrl"]}, {"required": ["provider"]}],
            "properties": {"command": false},
        },
    },
    {
        "if": {"properties": {"kind": {"const": "acp"}}},
        "then": {"required": ["command"], "properties": {"price": false}},
    },
    {"not": {"required": ["keyFile", "keyEnv"]}},
]))]
pub struct Engine {
    /// Which engine: practice has no model, native calls a provider, pi and acp start an agent.
    pub kind: EngineKind,
    /// The provider's name.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = LABEL_MAX_CHARS))]
    pub provider: Option<String>,
    /// The model's name at the provider; native needs it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = LABEL_MAX_CHARS))]
    pub model: Option<String>,
    /// How hard the model should think, in the provider's words.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = LABEL_MAX_CHARS))]
    pub thinking: Option<String>,
    /// The provider's base URL: https, or http on this machine, where no key is needed.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = URL_MAX_CHARS), extend("format" = "uri", "pattern" = pattern::URL))]
    pub base_url: Option<String>,
    /// Absolute path of the file with the provider's key; not beside keyEnv.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("pattern" = pattern::ABSOLUTE_PATH))]
    pub key_file: Option<String>,
    /// Name of the environment variable with the provider's key; not beside keyFile.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = LABEL_MAX_CHARS), extend("pattern" = pattern::VARIABLE))]
    pub key_env: Option<String>,
    /// Program and arguments of pi or of an acp agent; acp needs it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = COMMAND_MAX), inner(length(max = ARGUMENT_MAX_CHARS)))]
    pub command: Option<Vec<String>>,
    /// Seconds that an idle conversation keeps its engine warm.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = IDLE_SECONDS.min, max = IDLE_SECONDS.max), extend("default" = IDLE_SECONDS.default))]
    pub idle_seconds: Option<u64>,
    /// What the provider takes for tokens; without it no cost is counted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub price: Option<Price>,
}

/// US dollars for a million tokens.
#[derive(Clone, Copy, Debug, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Price {
    /// Tokens that the model reads, in US dollars a million.
    #[serde(rename = "inputPerMTok")]
    #[schemars(range(min = 0.0, max = USD_PER_MTOK_MAX))]
    pub input: f64,
    /// Tokens that the model writes, thoughts included, in US dollars a million.
    #[serde(rename = "outputPerMTok")]
    #[schemars(range(min = 0.0, max = USD_PER_MTOK_MAX))]
    pub output: f64,
    /// Tokens that it reads from the provider's cache; without it they cost what the others do.
    #[serde(rename = "cachedInputPerMTok", skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0.0, max = USD_PER_MTOK_MAX))]
    pub cached_input: Option<f64>,
}

/// Which engine.
#[derive(Clone, Copy, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum EngineKind {
    /// A deterministic seat without a model, to try things out.
    Practice,
    /// A provider's API, called directly.
    Native,
    /// The pi coding agent.
    Pi,
    /// An Agent Client Protocol agent.
    Acp,
}

/// Bounds on work.
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Limits {
    /// Turns of all origins in one UTC day.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = TURNS_PER_DAY.min, max = TURNS_PER_DAY.max), extend("default" = TURNS_PER_DAY.default))]
    pub turns_per_day: Option<u64>,
    /// Longest turn, in seconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = TURN_TIMEOUT_SECONDS.min, max = TURN_TIMEOUT_SECONDS.max), extend("default" = TURN_TIMEOUT_SECONDS.default))]
    pub turn_timeout_seconds: Option<u64>,
    /// Longest message of a reply, in characters; Discord takes 2000.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = REPLY_CHUNK_CHARS.min, max = REPLY_CHUNK_CHARS.max), extend("default" = REPLY_CHUNK_CHARS.default))]
    pub reply_chunk_chars: Option<u64>,
    /// Longest message that is taken, in characters.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = INBOUND_MAX_CHARS.min, max = INBOUND_MAX_CHARS.max), extend("default" = INBOUND_MAX_CHARS.default))]
    pub inbound_max_chars: Option<u64>,
    /// How far back missed messages are read after an interruption, in seconds; 0 for not at all.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = CATCH_UP_SECONDS.min, max = CATCH_UP_SECONDS.max), extend("default" = CATCH_UP_SECONDS.default))]
    pub catch_up_seconds: Option<u64>,
    /// Turns at work at once, over all conversations.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = PARALLEL_TURNS.min, max = PARALLEL_TURNS.max), extend("default" = PARALLEL_TURNS.default))]
    pub parallel_turns: Option<u64>,
    /// Messages that may wait in one conversation.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = QUEUED_TURNS.min, max = QUEUED_TURNS.max), extend("default" = QUEUED_TURNS.default))]
    pub queued_turns: Option<u64>,
    /// Ceiling on the provider's cost in one UTC day, in US dollars; without it there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = USD_PER_DAY_MIN, max = USD_PER_DAY_MAX))]
    pub usd_per_day: Option<f64>,
}

/// What the engine is told before it hears anybody.
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Context {
    /// Files of the repository that are appended to the system prompt, in order.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(
        length(max = CONTEXT_FILES_MAX),
        inner(regex(pattern = pattern::RELATIVE_PATH)),
        extend("uniqueItems" = true, "default" = [])
    )]
    pub files: Option<Vec<String>>,
}

/// What counts as one conversation.
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Sessions {
    /// seat: one conversation for all channels. thread: each thread its own.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("default" = "seat"))]
    pub scope: Option<SessionScope>,
}

/// What counts as one conversation.
#[derive(Clone, Copy, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum SessionScope {
    /// All channels together.
    Seat,
    /// Each thread, and each channel's own talk.
    Thread,
}

/// Which toolsets each origin of a turn gets.
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PlatformToolsets {
    /// Turns of people; without a list they get what is configured, but for discord and
    /// discord_admin.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(default, schema_with = "toolsets_of_people")]
    pub discord: Option<Vec<String>>,
    /// Turns of peers and plugins; without a list they get none.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(default, schema_with = "toolsets_of_others")]
    pub cotal: Option<Vec<String>>,
    /// Turns of schedules; without a list they get none.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(default, schema_with = "toolsets_of_others")]
    pub schedule: Option<Vec<String>>,
}

fn toolsets_of_people(_: &mut SchemaGenerator) -> Schema {
    toolsets(&crate::read::TOOLSETS)
}

fn toolsets_of_others(_: &mut SchemaGenerator) -> Schema {
    let served = crate::read::TOOLSETS;
    let others = served.into_iter().filter(|name| *name != "discord_admin");
    toolsets(&others.collect::<Vec<_>>())
}

fn toolsets(names: &[&str]) -> Schema {
    json_schema!({
        "type": "array",
        "minItems": 1,
        "maxItems": TOOLSETS_MAX,
        "uniqueItems": true,
        "items": {"anyOf": [
            {"enum": names},
            {"description": "Reserved: not served by this version.", "enum": ["terminal", "schedule"]},
            {"description": "Reserved: not served by this version.", "type": "string", "pattern": "^mcp:"},
        ]},
    })
}

/// Where Discord is, and what the seat may do there beside answering.
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Discord {
    /// Another place of Discord's API, for a stand-in: https, or http on this machine; no path.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = URL_MAX_CHARS), extend("format" = "uri", "pattern" = pattern::ORIGIN))]
    pub api_url: Option<String>,
    /// Where the seat may post by tool; without it, a person's turn may post anywhere on the
    /// server, and no other turn may.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = CHANNELS_MAX), extend("uniqueItems" = true))]
    pub post_channels: Option<Vec<ChannelId>>,
    /// Whether cards mention the operators.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("default" = false))]
    pub approval_mentions: Option<bool>,
    /// Whether each person has a session of their own in a thread.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("default" = false))]
    pub thread_sessions_per_user: Option<bool>,
}

/// How people are asked for permission.
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(extend(
    "if" = {"properties": {"mode": {"const": "smart"}}, "required": ["mode"]},
    "then" = {"required": ["reviewer"]},
    "else" = {"properties": {"reviewer": false}},
))]
pub struct Approvals {
    /// Who decides first: manual, a person; smart, the reviewer; off, nobody on an operator's turn.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("default" = "manual"))]
    pub mode: Option<ApprovalMode>,
    /// Seconds that an ask stays open; after them it is denied.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = ASK_TIMEOUT_SECONDS.min, max = ASK_TIMEOUT_SECONDS.max), extend("default" = ASK_TIMEOUT_SECONDS.default))]
    pub ask_timeout_seconds: Option<u64>,
    /// The reviewer's model; needed with mode smart, refused with any other.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reviewer: Option<Reviewer>,
}

/// Who decides an ask first.
#[derive(Clone, Copy, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ApprovalMode {
    /// A person.
    Manual,
    /// A reviewer model, then a person.
    Smart,
    /// Nobody, on an operator's own turn and above the floor.
    Off,
}

/// A model that reviews asks; the keys are the engine's.
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(extend(
    "anyOf" = [{"required": ["baseUrl"]}, {"required": ["provider"]}],
    "not" = {"required": ["keyFile", "keyEnv"]},
))]
pub struct Reviewer {
    /// The provider's name.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = LABEL_MAX_CHARS))]
    pub provider: Option<String>,
    /// The model's name at the provider.
    #[schemars(length(min = 1, max = LABEL_MAX_CHARS))]
    pub model: String,
    /// The provider's base URL: https, or http on this machine, where no key is needed.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = URL_MAX_CHARS), extend("format" = "uri", "pattern" = pattern::URL))]
    pub base_url: Option<String>,
    /// Absolute path of the file with the provider's key; not beside keyEnv.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("pattern" = pattern::ABSOLUTE_PATH))]
    pub key_file: Option<String>,
    /// Name of the environment variable with the provider's key; not beside keyFile.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = LABEL_MAX_CHARS), extend("pattern" = pattern::VARIABLE))]
    pub key_env: Option<String>,
}
