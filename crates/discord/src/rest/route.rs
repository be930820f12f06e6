//! Paths: every call's method, path, body and the limits it belongs to.
//!
//! In: ids and checked text. Out: one route. Never: a path from anywhere else, an id that was not
//! parsed, an emoji that is not percent-encoded.

use super::{
    content::Form,
    limiter::{Counting, RouteKey},
};
use crate::secret::InteractionToken;
use bytes::Bytes;
use guildhall_binding::ids::{ApplicationId, ChannelId, GuildId, MessageId, UserId};
use hyper::{Method, header::HeaderValue};
use std::fmt::Write as _;

/// What stands before every path.
const PREFIX: &str = "/api/v10";

/// One request, ready to be sent.
#[derive(Clone)]
pub(crate) struct Route {
    pub(crate) key: RouteKey,
    pub(crate) method: Method,
    /// It may hold an interaction's token: only `key.route` is ever logged.
    pub(crate) path: String,
    pub(crate) body: Bytes,
    /// Its content type, where there is one.
    pub(crate) media: Option<HeaderValue>,
    pub(crate) deadline: Deadline,
}

/// Which deadline a call has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Deadline {
    /// Each exchange has its own.
    Exchange,
    /// The whole call has the one of a press.
    Press,
}

impl Route {
    fn new(method: Method, route: &'static str, major: u64, path: &str) -> Self {
        Self {
            key: RouteKey {
                route,
                major,
                counting: Counting::Counts,
            },
            method,
            path: format!("{PREFIX}{path}"),
            body: Bytes::new(),
            media: None,
            deadline: Deadline::Exchange,
        }
    }

    fn exempt(mut self) -> Self {
        self.key.counting = Counting::Exempt;
        self
    }

    /// The same with a JSON body.
    pub(crate) fn with(mut self, body: &serde_json::Value) -> Self {
        self.body = Bytes::from(body.to_string());
        self.media = Some(HeaderValue::from_static("application/json"));
        self
    }

    /// The same with a body in several parts.
    pub(super) fn with_form(mut self, form: Form) -> Self {
        self.body = form.body;
        self.media = Some(
            HeaderValue::try_from(form.media)
                .expect("a boundary is made of letters, digits and hyphens"),
        );
        self
    }

    pub(crate) fn gateway_bot() -> Self {
        Self::new(Method::GET, "GET gateway/bot", 0, "/gateway/bot")
    }

    pub(crate) fn me() -> Self {
        Self::new(Method::GET, "GET users/@me", 0, "/users/@me")
    }

    pub(crate) fn application() -> Self {
        Self::new(Method::GET, "GET applications/@me", 0, "/applications/@me")
    }

    pub(crate) fn guild(guild: GuildId) -> Self {
        let path = format!("/guilds/{guild}");
        Self::new(Method::GET, "GET guild", guild.get(), &path)
    }

    pub(crate) fn guild_channels(guild: GuildId) -> Self {
        let path = format!("/guilds/{guild}/channels");
        Self::new(Method::GET, "GET guild channels", guild.get(), &path)
    }

    pub(crate) fn active_threads(guild: GuildId) -> Self {
        let path = format!("/guilds/{guild}/threads/active");
        Self::new(Method::GET, "GET guild threads", guild.get(), &path)
    }

    pub(crate) fn member(guild: GuildId, user: UserId) -> Self {
        let path = format!("/guilds/{guild}/members/{user}");
        Self::new(Method::GET, "GET member", guild.get(), &path)
    }

    pub(crate) fn channel(channel: ChannelId) -> Self {
        let path = format!("/channels/{channel}");
        Self::new(Method::GET, "GET channel", channel.get(), &path)
    }

    pub(crate) fn messages(channel: ChannelId, query: &str) -> Self {
        let path = format!("/channels/{channel}/messages?{query}");
        Self::new(Method::GET, "GET messages", channel.get(), &path)
    }

    pub(crate) fn message(channel: ChannelId, message: MessageId) -> Self {
        let path = format!("/channels/{channel}/messages/{message}");
        Self::new(Method::GET, "GET message", channel.get(), &path)
    }

    pub(crate) fn create_message(channel: ChannelId) -> Self {
        let path = format!("/channels/{channel}/messages");
        Self::new(Method::POST, "POST message", channel.get(), &path)
    }

    pub(crate) fn edit_message(channel: ChannelId, message: MessageId) -> Self {
        let path = format!("/channels/{channel}/messages/{message}");
        Self::new(Method::PATCH, "PATCH message", channel.get(), &path)
    }

    pub(crate) fn react(channel: ChannelId, message: MessageId, emoji: &str) -> Self {
        let emoji = percent_encode(emoji);
        let path = format!("/channels/{channel}/messages/{message}/reactions/{emoji}/@me");
        Self::new(Method::PUT, "PUT reaction", channel.get(), &path)
    }

    pub(crate) fn typing(channel: ChannelId) -> Self {
        let path = format!("/channels/{channel}/typing");
        Self::new(Method::POST, "POST typing", channel.get(), &path)
    }

    pub(crate) fn create_thread(channel: ChannelId) -> Self {
        let path = format!("/channels/{channel}/threads");
        Self::new(Method::POST, "POST thread", channel.get(), &path)
    }

    pub(crate) fn interaction_callback(id: u64, token: &InteractionToken) -> Self {
        let path = format!("/interactions/{id}/{}/callback", token.reveal());
        let deadline = Deadline::Press;
        let route = Self::new(Method::POST, "POST interaction", id, &path).exempt();
        Self { deadline, ..route }
    }

    pub(crate) fn follow_up(
        application: ApplicationId,
        interaction: u64,
        token: &InteractionToken,
    ) -> Self {
        let path = format!("/webhooks/{application}/{}", token.reveal());
        Self::new(Method::POST, "POST follow-up", interaction, &path).exempt()
    }
}

fn percent_encode(text: &str) -> String {
    let mut out = String::new();
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.' | b'~') {
            out.push(char::from(byte));
        } else {
            write!(out, "%{byte:02X}").expect("writing to a string cannot fail");
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_emoji_is_percent_encoded() {
        let cases = [
            ("\u{1f440}", "%F0%9F%91%80"),
            ("\u{2705}", "%E2%9C%85"),
            ("seat:123", "seat%3A123"),
            ("../x", "..%2Fx"),
        ];
        for (emoji, want) in cases {
            assert_eq!(percent_encode(emoji), want);
        }
    }
}
