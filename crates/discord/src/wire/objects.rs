//! The objects of Discord's API v10, each with the fields that we use.
//!
//! In: JSON. Out: structs of [`Field`]s. Never: a required field, a typed one.
//! Source of the names: Discord API reference, resource pages of August 2026.

use super::Field;
use serde::Deserialize;

macro_rules! objects {
    ($($(#[$doc:meta])* $name:ident { $($field:ident $(= $wire:literal)?),* $(,)? })*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default, Deserialize)]
        #[serde(default)]
        pub(crate) struct $name<'a> {
            $(#[serde(borrow $(, rename = $wire)?)] pub(crate) $field: Field<'a>,)*
        }
    )*};
}

objects! {
    /// Every frame of the gateway.
    Envelope { op, s, t, d }
    Hello { heartbeat_interval }
    Ready { user, guilds, session_id, resume_gateway_url, application }
    Application {
        id, flags, name, interactions_endpoint_url, bot_public, owner, bot, approximate_guild_count,
    }
    User { id, username, global_name, bot, system }
    Member { user, nick, roles, communication_disabled_until, permissions }
    Message {
        id, channel_id, guild_id, author, member, content, kind = "type", mentions, webhook_id,
        attachments, sticker_items, poll, message_reference, referenced_message,
        message_snapshots, nonce, edited_timestamp,
    }
    Reference { kind = "type", message_id, channel_id }
    Snapshot { message }
    Attachment { filename, content_type, size, url }
    Sticker { name }
    Poll { question, answers }
    PollAnswer { poll_media }
    PollMedia { text }
    Deletion { id, ids, channel_id, guild_id }
    Guild {
        id, name, unavailable, owner_id, roles, channels, threads,
    }
    Role { id, name, permissions, tags, managed }
    RoleTags { bot_id }
    Channel {
        id, kind = "type", guild_id, parent_id, owner_id, name, thread_metadata, last_message_id,
        newly_created, permission_overwrites,
    }
    ThreadMetadata { archived, locked }
    ThreadSync { guild_id, channel_ids, threads }
    Overwrite { id, kind = "type", allow, deny }
    Interaction {
        id, kind = "type", token, guild_id, channel_id, channel, member, user, message, data,
    }
    InteractionData { component_type, custom_id }
    Failure { code, retry_after, global, errors }
    GatewayBot { url, session_start_limit }
    SessionStartLimit { total, remaining, reset_after, max_concurrency }
}
