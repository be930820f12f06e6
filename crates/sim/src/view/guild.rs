//! The guild, for REST and for GUILD_CREATE.

use serde_json::{Value, json};

use super::user::role_json;
use crate::id::Id;
use crate::model::Archive;
use crate::world::World;

/// Most members that GUILD_CREATE lists for a client that did not say `large_threshold`.
/// Source: Discord API docs, Identify.
pub(crate) const LARGE_THRESHOLD: usize = 50;

impl World {
    /// `GET /guilds/{id}`.
    pub(crate) fn guild_json(&self) -> Value {
        json!({
            "id": self.guild.id,
            "name": self.guild.name,
            "icon": null,
            "description": null,
            "home_header": null,
            "splash": null,
            "discovery_splash": null,
            "features": [],
            "banner": null,
            "owner_id": self.guild.owner,
            "application_id": null,
            "region": "deprecated",
            "afk_channel_id": null,
            "afk_timeout": 300,
            "system_channel_id": null,
            "system_channel_flags": 0,
            "widget_enabled": false,
            "widget_channel_id": null,
            "verification_level": 0,
            "roles": self.roles_json(),
            "default_message_notifications": 1,
            "mfa_level": 0,
            "explicit_content_filter": 0,
            "max_presences": null,
            "max_members": 500_000,
            "max_stage_video_channel_users": 50,
            "max_video_channel_users": 25,
            "vanity_url_code": null,
            "premium_tier": 0,
            "premium_subscription_count": 0,
            "preferred_locale": "en-US",
            "rules_channel_id": null,
            "safety_alerts_channel_id": null,
            "public_updates_channel_id": null,
            "premium_progress_bar_enabled": false,
            "nsfw": false,
            "nsfw_level": 0,
            "emojis": [],
            "stickers": [],
            "incidents_data": null,
        })
    }

    /// The roles by position, `@everyone` first.
    pub(crate) fn roles_json(&self) -> Vec<Value> {
        let mut roles: Vec<_> = self.roles.values().collect();
        roles.sort_by_key(|role| role.position);
        roles.into_iter().map(role_json).collect()
    }

    /// The data of GUILD_CREATE for one bot: what it can see, and its own member first.
    pub(crate) fn guild_create_json(&self, bot: Id) -> Value {
        let mut guild = self.guild_json();
        let members = std::iter::once(bot)
            .chain(self.members.keys().copied().filter(|&user| user != bot))
            .take(LARGE_THRESHOLD)
            .filter_map(|user| self.member_json(user));
        let threads = self.channels.values().filter(|channel| {
            channel.kind.is_thread()
                && channel
                    .thread
                    .as_ref()
                    .is_some_and(|thread| thread.archive == Archive::Active)
                && self.can_see(bot, channel.id)
        });
        if let Some(map) = guild.as_object_mut() {
            let extra = json!({
                "joined_at": self.members.get(&bot).map(|member| member.joined.to_string()),
                "large": self.members.len() > LARGE_THRESHOLD,
                "unavailable": false,
                "member_count": self.members.len(),
                "members": members.collect::<Vec<_>>(),
                "channels": self.guild_channels_json(bot),
                "threads": threads.map(|t| self.channel_json(t, Some(bot))).collect::<Vec<_>>(),
                "presences": [],
                "voice_states": [],
                "stage_instances": [],
                "guild_scheduled_events": [],
                "soundboard_sounds": [],
            });
            if let Value::Object(extra) = extra {
                map.extend(extra);
            }
        }
        guild
    }

    /// The channels that are no threads. Discord tells bots of all of them, hidden ones included,
    /// and leaves it to permissions what they can do with them.
    pub(crate) fn guild_channels_json(&self, viewer: Id) -> Vec<Value> {
        let mut channels: Vec<_> = self
            .channels
            .values()
            .filter(|channel| !channel.kind.is_thread() && channel.recipients.is_empty())
            .collect();
        channels.sort_by_key(|channel| channel.position);
        channels
            .into_iter()
            .map(|channel| self.channel_json(channel, Some(viewer)))
            .collect()
    }
}
