//! From a path to what it names.
//!
//! In: a path without `/api/v10`. Out: a target and its rate-limit bucket.
//! Never: a target for a path that Discord does not have.

use super::{Caller, Method};
use crate::id::Id;
use crate::model::Emoji;
use crate::world::limits::{Bucket, Global};

/// Whom a path means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Who {
    Me,
    User(Id),
}

/// Which message of an interaction's token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FollowUp {
    Original,
    Message(Id),
}

/// What a path names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Target {
    Gateway,
    GatewayBot,
    Me,
    MyApplication,
    Commands(Id, Option<Id>),
    Command(Id, Option<Id>, Id),
    MyGuilds,
    DirectMessages,
    User(Id),
    Guild(Id),
    GuildChannels(Id),
    GuildThreads(Id),
    GuildRoles(Id),
    GuildMembers(Id),
    GuildMemberSearch(Id),
    GuildMember(Id, Who),
    Channel(Id),
    Messages(Id),
    Message(Id, Id),
    Typing(Id),
    Reactions(Id, Id),
    ReactionUsers(Id, Id, Emoji),
    Reaction(Id, Id, Emoji, Who),
    BadEmoji(Id),
    Threads(Id),
    MessageThreads(Id, Id),
    ArchivedThreads(Id),
    ThreadMembers(Id),
    ThreadMember(Id, Who),
    Callback(Id, String),
    Webhook(Id, String),
    WebhookMessage(Id, String, FollowUp),
}

impl Target {
    /// The target of a path. Ids that are none lead nowhere, as unknown paths do.
    pub(crate) fn parse(path: &str) -> Option<Self> {
        let parts: Vec<String> = path
            .trim_matches('/')
            .split('/')
            .map(percent_decoded)
            .collect();
        let parts: Vec<&str> = parts.iter().map(String::as_str).collect();
        match parts.as_slice() {
            ["gateway"] => Some(Self::Gateway),
            ["gateway", "bot"] => Some(Self::GatewayBot),
            ["users", "@me"] => Some(Self::Me),
            ["users", "@me", "guilds"] => Some(Self::MyGuilds),
            ["users", "@me", "channels"] => Some(Self::DirectMessages),
            ["users", user] => Some(Self::User(user.parse().ok()?)),
            ["applications", "@me"] | ["oauth2", "applications", "@me"] => {
                Some(Self::MyApplication)
            }
            ["applications", app, rest @ ..] => Self::in_application(app.parse().ok()?, rest),
            ["guilds", guild, rest @ ..] => Self::in_guild(guild.parse().ok()?, rest),
            ["channels", channel, rest @ ..] => Self::in_channel(channel.parse().ok()?, rest),
            ["interactions", id, token, "callback"] => {
                Some(Self::Callback(id.parse().ok()?, (*token).to_owned()))
            }
            ["webhooks", id, token] => Some(Self::Webhook(id.parse().ok()?, (*token).to_owned())),
            ["webhooks", id, token, "messages", message] => {
                let which = match *message {
                    "@original" => FollowUp::Original,
                    other => FollowUp::Message(other.parse().ok()?),
                };
                Some(Self::WebhookMessage(
                    id.parse().ok()?,
                    (*token).to_owned(),
                    which,
                ))
            }
            _ => None,
        }
    }

    fn in_application(app: Id, rest: &[&str]) -> Option<Self> {
        match rest {
            ["commands"] => Some(Self::Commands(app, None)),
            ["commands", id] => Some(Self::Command(app, None, id.parse().ok()?)),
            ["guilds", guild, "commands"] => Some(Self::Commands(app, Some(guild.parse().ok()?))),
            ["guilds", guild, "commands", id] => Some(Self::Command(
                app,
                Some(guild.parse().ok()?),
                id.parse().ok()?,
            )),
            _ => None,
        }
    }

    fn in_guild(guild: Id, rest: &[&str]) -> Option<Self> {
        match rest {
            [] => Some(Self::Guild(guild)),
            ["channels"] => Some(Self::GuildChannels(guild)),
            ["threads", "active"] => Some(Self::GuildThreads(guild)),
            ["roles"] => Some(Self::GuildRoles(guild)),
            ["members"] => Some(Self::GuildMembers(guild)),
            ["members", "search"] => Some(Self::GuildMemberSearch(guild)),
            ["members", user] => Some(Self::GuildMember(guild, Who::parse(user)?)),
            _ => None,
        }
    }

    fn in_channel(channel: Id, rest: &[&str]) -> Option<Self> {
        match rest {
            [] => Some(Self::Channel(channel)),
            ["messages"] => Some(Self::Messages(channel)),
            ["messages", message] => Some(Self::Message(channel, message.parse().ok()?)),
            ["typing"] => Some(Self::Typing(channel)),
            ["threads"] => Some(Self::Threads(channel)),
            ["threads", "archived", "public" | "private"] => Some(Self::ArchivedThreads(channel)),
            ["messages", message, "threads"] => {
                Some(Self::MessageThreads(channel, message.parse().ok()?))
            }
            ["messages", message, "reactions"] => {
                Some(Self::Reactions(channel, message.parse().ok()?))
            }
            ["messages", message, "reactions", emoji, who @ ..] => {
                let message = message.parse().ok()?;
                let Some(emoji) = Emoji::parse(emoji) else {
                    return Some(Self::BadEmoji(channel));
                };
                match who {
                    [] => Some(Self::ReactionUsers(channel, message, emoji)),
                    [who] => Some(Self::Reaction(channel, message, emoji, Who::parse(who)?)),
                    _ => None,
                }
            }
            ["thread-members"] => Some(Self::ThreadMembers(channel)),
            ["thread-members", who] => Some(Self::ThreadMember(channel, Who::parse(who)?)),
            _ => None,
        }
    }

    /// The id that buckets of this target are kept apart by.
    pub(crate) fn major(&self) -> Option<Id> {
        match self {
            Self::Gateway
            | Self::GatewayBot
            | Self::Me
            | Self::MyApplication
            | Self::MyGuilds
            | Self::DirectMessages
            | Self::User(_)
            | Self::Callback(..) => None,
            Self::Commands(id, _)
            | Self::Command(id, ..)
            | Self::Guild(id)
            | Self::GuildChannels(id)
            | Self::GuildThreads(id)
            | Self::GuildRoles(id)
            | Self::GuildMembers(id)
            | Self::GuildMemberSearch(id)
            | Self::GuildMember(id, _)
            | Self::Channel(id)
            | Self::Messages(id)
            | Self::Message(id, _)
            | Self::Typing(id)
            | Self::Reactions(id, _)
            | Self::ReactionUsers(id, ..)
            | Self::Reaction(id, ..)
            | Self::BadEmoji(id)
            | Self::Threads(id)
            | Self::MessageThreads(id, _)
            | Self::ArchivedThreads(id)
            | Self::ThreadMembers(id)
            | Self::ThreadMember(id, _)
            | Self::Webhook(id, _)
            | Self::WebhookMessage(id, ..) => Some(*id),
        }
    }

    /// Interaction endpoints do not count for the global limit.
    pub(crate) fn global(&self) -> Global {
        let exempt = matches!(
            self,
            Self::Callback(..) | Self::Webhook(..) | Self::WebhookMessage(..)
        );
        if exempt {
            Global::Exempt
        } else {
            Global::Counts
        }
    }

    /// The bucket; not every route has one.
    pub(crate) fn bucket(&self, method: Method) -> Option<Bucket> {
        let bucket = |name, limit, window_ms| {
            Some(Bucket {
                name,
                limit,
                window_ms,
            })
        };
        match (self, method) {
            (Self::Messages(_), Method::Post) => bucket("create-message", 5, 5_000),
            (Self::Messages(_), Method::Get) => bucket("list-messages", 10, 5_000),
            (Self::Message(..), Method::Patch) => bucket("edit-message", 5, 5_000),
            (Self::Message(..), Method::Delete) => bucket("delete-message", 5, 1_000),
            (Self::Message(..), Method::Get) => bucket("get-message", 10, 5_000),
            (Self::Typing(_), _) => bucket("typing", 5, 5_000),
            // Adding and taking back share one small bucket in each channel.
            (Self::Reaction(..), Method::Put | Method::Delete) => bucket("reaction", 1, 250),
            (Self::Threads(_) | Self::MessageThreads(..), Method::Post) => {
                bucket("create-thread", 10, 60_000)
            }
            (Self::Channel(_), Method::Patch) => bucket("edit-channel", 5, 20_000),
            (Self::DirectMessages, _) => bucket("open-dm", 10, 60_000),
            (Self::Webhook(..), Method::Post) => bucket("execute-webhook", 5, 2_000),
            (Self::WebhookMessage(..), _) => bucket("webhook-message", 5, 5_000),
            (Self::GuildMember(..) | Self::GuildMemberSearch(_), Method::Get) => {
                bucket("members", 10, 10_000)
            }
            _ => None,
        }
    }
}

impl Who {
    fn parse(text: &str) -> Option<Self> {
        match text {
            "@me" => Some(Self::Me),
            other => other.parse().ok().map(Self::User),
        }
    }

    pub(crate) fn id(self, caller: Caller) -> Id {
        match self {
            Self::Me => caller.bot,
            Self::User(id) => id,
        }
    }
}

impl Emoji {
    /// An emoji out of a decoded path part: `name:id`, or characters of which none is a plain
    /// letter. A digit counts only with the combining mark that makes it a key cap.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        if let Some((name, id)) = text.rsplit_once(':') {
            let name = name.trim_start_matches("a:").trim_matches(':');
            let id = id.parse().ok()?;
            return (!name.is_empty()).then(|| Self::Custom {
                id,
                name: name.to_owned(),
            });
        }
        let plain = text.is_ascii();
        let fits = !text.is_empty() && text.chars().count() <= 16 && !plain;
        (fits && !text.chars().any(|c| c.is_ascii_alphabetic() || c == '%'))
            .then(|| Self::Unicode(text.to_owned()))
    }
}

/// A path part with its `%xx` resolved; broken escapes stay as they are.
pub(crate) fn percent_decoded(part: &str) -> String {
    let bytes = part.as_bytes();
    let mut out = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        let escaped = (byte == b'%').then(|| part.get(at + 1..at + 3)).flatten();
        match escaped.and_then(|hex| u8::from_str_radix(hex, 16).ok()) {
            Some(decoded) => {
                out.push(decoded);
                at += 3;
            }
            None => {
                out.push(byte);
                at += 1;
            }
        }
    }
    String::from_utf8_lossy(&out).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_lead_to_targets() {
        let id = |text: &str| text.parse::<Id>().expect("an id");
        let eyes = Emoji::Unicode("👀".to_owned());
        let custom = Emoji::Custom {
            id: id("9"),
            name: "wave".to_owned(),
        };
        let cases = [
            ("/gateway/bot", Some(Target::GatewayBot)),
            (
                "/channels/5/messages/6",
                Some(Target::Message(id("5"), id("6"))),
            ),
            (
                "/channels/5/messages/6/reactions/%F0%9F%91%80/@me",
                Some(Target::Reaction(id("5"), id("6"), eyes, Who::Me)),
            ),
            (
                "/channels/5/messages/6/reactions/wave%3A9/7",
                Some(Target::Reaction(
                    id("5"),
                    id("6"),
                    custom,
                    Who::User(id("7")),
                )),
            ),
            (
                "/channels/5/messages/6/reactions/eyes/@me",
                Some(Target::BadEmoji(id("5"))),
            ),
            ("/channels/zero", None),
            ("/nothing", None),
        ];
        for (path, want) in cases {
            assert_eq!(Target::parse(path), want, "{path}");
        }
    }
}
