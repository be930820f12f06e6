//! Channels, threads and direct messages.

use serde_json::{Map, Value, json};

use crate::clock::Moment;
use crate::id::Id;
use crate::model::{Archive, Channel, ChannelKind, Lock, Thread};
use crate::permission::{Overwrite, OverwriteTarget};
use crate::world::World;

impl World {
    /// A channel of any kind. For a thread, `viewer`'s own membership is included.
    pub(crate) fn channel_json(&self, channel: &Channel, viewer: Option<Id>) -> Value {
        let common = json!({
            "id": channel.id,
            "type": channel.kind as u8,
            "last_message_id": channel.last_message,
            "flags": 0,
            "last_pin_timestamp": null,
        });
        let special = match (&channel.thread, channel.kind) {
            (Some(thread), _) => self.thread_fields(channel, thread, viewer),
            (None, ChannelKind::Dm) => json!({
                "recipients": channel.recipients.iter().filter(|&&user| Some(user) != viewer)
                    .map(|&user| self.user_json(user)).collect::<Vec<_>>(),
            }),
            (None, _) => self.guild_channel_fields(channel),
        };
        merged(common, special)
    }

    fn guild_channel_fields(&self, channel: &Channel) -> Value {
        let common = json!({
            "guild_id": self.guild.id,
            "name": channel.name,
            "parent_id": channel.parent,
            "position": channel.position,
            "permission_overwrites":
                channel.overwrites.iter().map(overwrite_json).collect::<Vec<_>>(),
            "nsfw": false,
            "rate_limit_per_user": 0,
            "topic": channel.topic,
        });
        let special = match channel.kind {
            ChannelKind::Forum => json!({
                "available_tags": [],
                "default_reaction_emoji": null,
                "default_sort_order": null,
                "default_forum_layout": 0,
                "default_auto_archive_duration": 4320,
            }),
            ChannelKind::Voice => json!({ "bitrate": 64_000, "user_limit": 0, "rtc_region": null }),
            ChannelKind::Text
            | ChannelKind::Dm
            | ChannelKind::Category
            | ChannelKind::Announcement
            | ChannelKind::AnnouncementThread
            | ChannelKind::PublicThread
            | ChannelKind::PrivateThread => json!({}),
        };
        merged(common, special)
    }

    fn thread_fields(&self, channel: &Channel, thread: &Thread, viewer: Option<Id>) -> Value {
        let mut json = json!({
            "guild_id": self.guild.id,
            "name": channel.name,
            "parent_id": channel.parent,
            "owner_id": thread.owner,
            "rate_limit_per_user": 0,
            "message_count": thread.messages,
            "total_message_sent": thread.total_sent,
            "member_count": thread.members.len().min(50),
            "thread_metadata": metadata_json(channel.kind, thread),
        });
        let joined = viewer.and_then(|user| Some((user, *thread.members.get(&user)?)));
        if let (Some((user, at)), Some(map)) = (joined, json.as_object_mut()) {
            map.insert(
                "member".to_owned(),
                thread_member_json(channel.id, user, at),
            );
        }
        json
    }
}

fn metadata_json(kind: ChannelKind, thread: &Thread) -> Value {
    let mut json = json!({
        "archived": thread.archive == Archive::Archived,
        "archive_timestamp": thread.archive_changed.to_string(),
        "auto_archive_duration": thread.auto_archive_minutes,
        "locked": thread.lock == Lock::Locked,
        "create_timestamp": thread.created.to_string(),
    });
    if kind == ChannelKind::PrivateThread
        && let Some(map) = json.as_object_mut()
    {
        map.insert("invitable".to_owned(), json!(true));
    }
    json
}

/// One person's membership of a thread.
pub(crate) fn thread_member_json(thread: Id, user: Id, joined: Moment) -> Value {
    json!({ "id": thread, "user_id": user, "join_timestamp": joined.to_string(), "flags": 1 })
}

fn overwrite_json(overwrite: &Overwrite) -> Value {
    let (kind, id) = match overwrite.target {
        OverwriteTarget::Role(id) => (0, id),
        OverwriteTarget::Member(id) => (1, id),
    };
    json!({ "id": id, "type": kind, "allow": overwrite.allow, "deny": overwrite.deny })
}

/// Two objects as one; the second wins.
pub(crate) fn merged(first: Value, second: Value) -> Value {
    let mut all = Map::new();
    for value in [first, second] {
        if let Value::Object(map) = value {
            all.extend(map);
        }
    }
    Value::Object(all)
}
