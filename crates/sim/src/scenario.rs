//! What a world holds when it starts, and which of Discord's numbers it keeps.
//!
//! In: a value built in code or read from JSON. Out: the same value, for the world to fill itself.
//! Never: holds ids; they are made from the seed when the world is made. Things refer to each other
//! by name.

use serde::{Deserialize, Serialize};

use crate::permission::Permissions;

/// A guild and everything in it, by name.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Scenario {
    /// Name of the guild.
    pub guild: String,
    /// What `@everyone` may do. Empty means what a new Discord server allows.
    #[serde(default = "ordinary")]
    pub everyone: Permissions,
    /// Roles besides `@everyone`.
    #[serde(default)]
    pub roles: Vec<RoleSpec>,
    /// The people; the first one owns the guild.
    pub people: Vec<PersonSpec>,
    /// The bots. The first is the one that [`crate::Sim::token`] belongs to.
    pub bots: Vec<BotSpec>,
    /// Channels in their order; a thread follows its parent.
    pub channels: Vec<ChannelSpec>,
    /// Discord's numbers, where a test wants others.
    #[serde(default)]
    pub rules: Rules,
}

/// A role.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RoleSpec {
    /// Its name, unique in the scenario.
    pub name: String,
    /// What it adds to `@everyone`.
    #[serde(default)]
    pub permissions: Permissions,
}

/// A person whom the page and the control API can speak as.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PersonSpec {
    /// Shown name; the user name is its lower-case form.
    pub name: String,
    /// Name on this server only.
    #[serde(default)]
    pub nick: Option<String>,
    /// Roles, by name.
    #[serde(default)]
    pub roles: Vec<String>,
    /// A few words for the page: what this person is for.
    #[serde(default)]
    pub note: String,
}

/// A bot account with its application.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BotSpec {
    /// Shown name of the bot user and name of the application.
    pub name: String,
    /// Roles, by name. Every bot also has a managed role of its own.
    #[serde(default)]
    pub roles: Vec<String>,
    /// Which privileged intents the developer portal has switched on.
    #[serde(default)]
    pub portal: Portal,
}

/// The switches of the developer portal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Portal {
    /// Message content intent.
    pub message_content: Switch,
    /// Server members intent.
    pub members: Switch,
    /// Presence intent.
    pub presence: Switch,
}

impl Default for Portal {
    fn default() -> Self {
        Self {
            message_content: Switch::On,
            members: Switch::On,
            presence: Switch::Off,
        }
    }
}

/// On or off.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Switch {
    /// Switched on.
    On,
    /// Switched off.
    Off,
}

impl Switch {
    pub(crate) fn is_on(self) -> bool {
        self == Self::On
    }
}

/// A channel, forum or thread.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ChannelSpec {
    /// Its name, unique in the scenario.
    pub name: String,
    /// What it is.
    #[serde(default)]
    pub kind: ChannelKindSpec,
    /// Text under the name.
    #[serde(default)]
    pub topic: Option<String>,
    /// The channel that a thread belongs to, by name.
    #[serde(default)]
    pub parent: Option<String>,
    /// Exceptions to the roles' permissions.
    #[serde(default)]
    pub overwrites: Vec<OverwriteSpec>,
    /// Messages that are there from the start: author's name and text.
    #[serde(default)]
    pub messages: Vec<(String, String)>,
}

/// Kinds of channel that a scenario can have.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ChannelKindSpec {
    /// Text channel.
    #[default]
    Text,
    /// Announcement channel.
    Announcement,
    /// Voice channel, with its text chat.
    Voice,
    /// Category, which holds channels.
    Category,
    /// Forum.
    Forum,
    /// Public thread, or a forum's post.
    Thread,
    /// Private thread; all people of the scenario who wrote in it are members.
    PrivateThread,
}

/// One permission exception of one channel.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OverwriteSpec {
    /// Name of a role (`@everyone` included), person or bot.
    pub target: String,
    /// Added bits.
    #[serde(default)]
    pub allow: Permissions,
    /// Removed bits.
    #[serde(default)]
    pub deny: Permissions,
}

/// Discord's numbers. Where Discord publishes none, the default says so.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Rules {
    /// `heartbeat_interval` of HELLO, in milliseconds. Observed on Discord: 41,250.
    pub heartbeat_interval_ms: u64,
    /// How long a dropped session can be resumed. Not published ("a few minutes").
    pub session_life_ms: u64,
    /// Dispatches kept for a replay in each session. Not published.
    pub replay_frames: usize,
    /// How long a nonce is remembered. Not published ("the past few minutes").
    pub nonce_window_ms: u64,
    /// IDENTIFYs in 24 hours.
    pub identify_total: u32,
    /// IDENTIFYs per window below.
    pub max_concurrency: u32,
    /// The concurrency window; Discord's is five seconds. Zero switches the rule off.
    pub identify_window_ms: u64,
    /// Client frames that one connection may send in a minute.
    pub gateway_frames_per_minute: usize,
    /// Time to answer an interaction.
    pub interaction_answer_ms: u64,
    /// Life of an interaction's token.
    pub interaction_token_ms: u64,
    /// What becomes of a request over its limit.
    pub rate_limits: RateLimitRule,
    /// Requests that one bot may make in a second, all routes together.
    pub global_per_second: u32,
    /// Answers of 401, 403 and 429 in ten minutes before the HTML ban page.
    pub invalid_requests: u32,
    /// Edits in an hour of one message that is older than an hour. Not published.
    pub old_edits_per_hour: usize,
    /// Messages kept in each channel; the oldest is forgotten first.
    pub messages_per_channel: usize,
    /// Bytes of attachments kept in all; the oldest is forgotten first.
    pub attachment_bytes: usize,
    /// Entries of the log of requests and frames; the oldest is forgotten first.
    pub log_entries: usize,
    /// Bytes of the log of requests and frames; the oldest is forgotten first.
    pub log_bytes: usize,
}

/// What becomes of a request over its limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RateLimitRule {
    /// It gets a 429, as on Discord.
    Enforced,
    /// The headers count down, and nothing is refused.
    HeadersOnly,
}

impl Default for Rules {
    fn default() -> Self {
        Self {
            heartbeat_interval_ms: 41_250,
            session_life_ms: 180_000,
            replay_frames: 1_000,
            nonce_window_ms: 300_000,
            identify_total: 1_000,
            max_concurrency: 1,
            identify_window_ms: 5_000,
            gateway_frames_per_minute: 120,
            interaction_answer_ms: 3_000,
            interaction_token_ms: 900_000,
            rate_limits: RateLimitRule::Enforced,
            global_per_second: 50,
            invalid_requests: 10_000,
            old_edits_per_hour: 3,
            messages_per_channel: 2_000,
            attachment_bytes: 32 * 1024 * 1024,
            log_entries: 20_000,
            log_bytes: 32 * 1024 * 1024,
        }
    }
}

impl Rules {
    /// The numbers for tests that restart a bot often: no IDENTIFY pause, no 429 of its own.
    #[must_use]
    pub fn lenient() -> Self {
        Self {
            identify_window_ms: 0,
            rate_limits: RateLimitRule::HeadersOnly,
            ..Self::default()
        }
    }
}

fn ordinary() -> Permissions {
    Permissions::ORDINARY
}

impl Scenario {
    /// The server that the demo shows: a few channels, a forum, a thread, four people, one bot.
    #[must_use]
    pub fn demo() -> Self {
        let person = |name: &str, note: &str, roles: &[&str]| PersonSpec {
            name: name.to_owned(),
            nick: None,
            roles: roles.iter().map(|&role| role.to_owned()).collect(),
            note: note.to_owned(),
        };
        Self {
            guild: "Guildhall".to_owned(),
            everyone: Permissions::ORDINARY,
            roles: vec![
                RoleSpec {
                    name: "Operators".to_owned(),
                    permissions: Permissions::MANAGE_MESSAGES,
                },
                RoleSpec {
                    name: "Members".to_owned(),
                    permissions: Permissions::NONE,
                },
            ],
            people: vec![
                person("Olga", "the operator", &["Operators"]),
                person("Ana", "a listed member", &["Members"]),
                person("Ben", "a listed member", &["Members"]),
                person("Eve", "not listed", &[]),
            ],
            bots: vec![BotSpec {
                name: "Seat".to_owned(),
                roles: Vec::new(),
                portal: Portal::default(),
            }],
            channels: demo_channels(),
            rules: Rules::default(),
        }
    }

    /// The demo's server with [`Rules::lenient`].
    #[must_use]
    pub fn for_tests() -> Self {
        Self {
            rules: Rules::lenient(),
            ..Self::demo()
        }
    }
}

fn demo_channels() -> Vec<ChannelSpec> {
    let said = |author: &str, text: &str| vec![(author.to_owned(), text.to_owned())];
    let text = |name: &str, topic: &str| ChannelSpec {
        topic: Some(topic.to_owned()),
        ..ChannelSpec::named(name, ChannelKindSpec::Text)
    };
    let thread = |name: &str, parent: &str, messages| ChannelSpec {
        parent: Some(parent.to_owned()),
        messages,
        ..ChannelSpec::named(name, ChannelKindSpec::Thread)
    };
    let sight = |target: &str, allow, deny| OverwriteSpec {
        target: target.to_owned(),
        allow,
        deny,
    };
    let (view, none) = (Permissions::VIEW_CHANNEL, Permissions::NONE);
    vec![
        text("general", "Talk to the seat here"),
        thread(
            "release notes",
            "general",
            said("Ben", "Collecting what goes into the next release here."),
        ),
        text("help", "Ask for help"),
        ChannelSpec {
            topic: Some("One post for each question".to_owned()),
            ..ChannelSpec::named("questions", ChannelKindSpec::Forum)
        },
        thread(
            "How do I see what is queued?",
            "questions",
            said(
                "Ana",
                "Is there a way to see which questions still wait for an answer?",
            ),
        ),
        ChannelSpec {
            overwrites: vec![
                sight("@everyone", none, view),
                sight("Operators", view, none),
                sight("Seat", view, none),
            ],
            ..text("operators", "For the people who run this server")
        },
    ]
}

impl ChannelSpec {
    /// An empty channel with nothing special.
    #[must_use]
    pub fn named(name: &str, kind: ChannelKindSpec) -> Self {
        Self {
            name: name.to_owned(),
            kind,
            topic: None,
            parent: None,
            overwrites: Vec::new(),
            messages: Vec::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scenario_is_read_from_json_with_defaults() {
        let text = r#"{"guild": "G", "people": [{"name": "Ana"}], "bots": [{"name": "B"}],
            "channels": [{"name": "c", "overwrites": [{"target": "@everyone", "deny": ["SEND_MESSAGES"]}]}],
            "rules": {"nonce_window_ms": 1000}}"#;
        let scenario: Scenario = serde_json::from_str(text).expect("a valid scenario");
        assert_eq!(scenario.everyone, Permissions::ORDINARY);
        assert_eq!(
            scenario.channels[0].overwrites[0].deny,
            Permissions::SEND_MESSAGES
        );
        assert_eq!(
            scenario.rules,
            Rules {
                nonce_window_ms: 1_000,
                ..Rules::default()
            }
        );
    }

    #[test]
    fn an_unknown_key_in_a_scenario_is_refused() {
        let text = r#"{"guild": "G", "people": [], "bots": [], "channels": [], "colour": 1}"#;
        assert!(serde_json::from_str::<Scenario>(text).is_err());
    }
}
