//! Places: servers, channels, threads, roles and members as Discord describes them.
//!
//! In: objects from the gateway and from REST. Out: what admission, look-ups and `check` need of
//! them. Never: a parent that was guessed, a place lost over a field that we do not need.

use crate::wire::{
    Field,
    objects::{Channel, Guild, Member, Overwrite, Role, RoleTags, ThreadMetadata, User},
};
use guildhall_binding::ids::{ChannelId, GuildId, MessageId, RoleId, UserId};
use std::borrow::Cow;

/// What kind of place a channel is. Source: Discord API reference, "Channel Types".
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PlaceKind {
    /// A text channel, or an announcement channel.
    Text,
    /// A voice or stage channel: it has a chat.
    Voice,
    /// A category.
    Category,
    /// A forum or media channel: posts are threads, and no message stands in it itself.
    Forum,
    /// A thread that everybody who sees the parent sees.
    PublicThread,
    /// A thread for its members.
    PrivateThread,
    /// Direct messages.
    Direct,
    /// A kind that we do not know.
    Other(u64),
}

impl PlaceKind {
    /// Whether it is a thread or a forum post.
    #[must_use]
    pub const fn is_thread(self) -> bool {
        matches!(self, Self::PublicThread | Self::PrivateThread)
    }

    fn of(field: Field<'_>) -> Self {
        match field.number() {
            Some(0 | 5) => Self::Text,
            Some(2 | 13) => Self::Voice,
            Some(4) => Self::Category,
            Some(10 | 11) => Self::PublicThread,
            Some(12) => Self::PrivateThread,
            Some(15 | 16) => Self::Forum,
            Some(1 | 3) => Self::Direct,
            Some(other) => Self::Other(other),
            None => Self::Other(u64::MAX),
        }
    }
}

/// Whether a thread takes messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ThreadState {
    /// It does.
    Active,
    /// A message makes it active again; a reaction or an edit is refused.
    Archived,
    /// Only those who manage threads may write.
    Locked,
}

/// A channel or a thread.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// Its id.
    pub id: ChannelId,
    /// What kind it is.
    pub kind: PlaceKind,
    /// The server; absent in direct messages, and often on the gateway.
    pub guild: Option<GuildId>,
    /// A thread's channel, a channel's category.
    pub parent: Option<ChannelId>,
    /// Who made the thread.
    pub owner: Option<UserId>,
    /// Its name: free text.
    pub name: String,
    /// Whether it takes messages; channels are active.
    pub state: ThreadState,
    /// The last message, where Discord says one.
    pub last_message: Option<MessageId>,
    /// Permission overwrites; threads have none.
    pub overwrites: Vec<PermissionOverwrite>,
}

/// A change of permissions for one role or one member in one channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PermissionOverwrite {
    /// Whom it is for.
    pub target: OverwriteTarget,
    /// Bits that are given.
    pub allow: u64,
    /// Bits that are taken.
    pub deny: u64,
}

/// Whom an overwrite is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OverwriteTarget {
    /// A role; the role of everybody has the server's number.
    Role(RoleId),
    /// One member.
    Member(UserId),
}

/// A role of the server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RoleSeen {
    /// Its id.
    pub id: RoleId,
    /// Its name: free text.
    pub name: String,
    /// Its permission bits.
    pub permissions: u64,
    /// The bot whose own managed role it is.
    pub bot: Option<UserId>,
}

/// The server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GuildSeen {
    /// Its id.
    pub id: GuildId,
    /// Its name: free text.
    pub name: String,
    /// Who owns it.
    pub owner: Option<UserId>,
    /// Its roles.
    pub roles: Vec<RoleSeen>,
    /// Its channels; empty when read over REST.
    pub channels: Vec<Place>,
    /// Its active threads; empty when read over REST.
    pub threads: Vec<Place>,
}

/// A member of the server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MemberSeen {
    /// Their user id, where Discord says it.
    pub user: Option<UserId>,
    /// Their roles.
    pub roles: Vec<RoleId>,
    /// Until when they are timed out, as Discord writes it; it may be in the past.
    pub timed_out_until: Option<String>,
}

impl Place {
    pub(crate) fn read(channel: &Channel<'_>) -> Option<Self> {
        let metadata: ThreadMetadata<'_> = channel.thread_metadata.object().unwrap_or_default();
        let state = if metadata.locked.is_true() {
            ThreadState::Locked
        } else if metadata.archived.is_true() {
            ThreadState::Archived
        } else {
            ThreadState::Active
        };
        let overwrites = channel.permission_overwrites.objects::<Overwrite<'_>>();
        Some(Self {
            id: channel.id.id()?,
            kind: PlaceKind::of(channel.kind),
            guild: channel.guild_id.id(),
            parent: channel.parent_id.id(),
            owner: channel.owner_id.id(),
            name: words(channel.name),
            state,
            last_message: channel.last_message_id.id(),
            overwrites: overwrites
                .iter()
                .filter_map(PermissionOverwrite::read)
                .collect(),
        })
    }

    pub(crate) fn read_all(list: Field<'_>) -> Vec<Self> {
        list.objects::<Channel<'_>>()
            .iter()
            .filter_map(Self::read)
            .collect()
    }
}

impl PermissionOverwrite {
    fn read(overwrite: &Overwrite<'_>) -> Option<Self> {
        let target = match overwrite.kind.number()? {
            0 => OverwriteTarget::Role(overwrite.id.id()?),
            1 => OverwriteTarget::Member(overwrite.id.id()?),
            _ => return None,
        };
        Some(Self {
            target,
            allow: overwrite.allow.number().unwrap_or(0),
            deny: overwrite.deny.number().unwrap_or(0),
        })
    }
}

impl RoleSeen {
    fn read(role: &Role<'_>) -> Option<Self> {
        let tags: RoleTags<'_> = role.tags.object().unwrap_or_default();
        Some(Self {
            id: role.id.id()?,
            name: words(role.name),
            permissions: role.permissions.number().unwrap_or(0),
            bot: tags.bot_id.id(),
        })
    }
}

impl GuildSeen {
    pub(crate) fn read(guild: &Guild<'_>) -> Option<Self> {
        let id = guild.id.id()?;
        // Inside a guild object the channels do not repeat where they are.
        let here = |mut place: Place| {
            place.guild = place.guild.or(Some(id));
            place
        };
        Some(Self {
            id,
            name: words(guild.name),
            owner: guild.owner_id.id(),
            roles: guild
                .roles
                .objects::<Role<'_>>()
                .iter()
                .filter_map(RoleSeen::read)
                .collect(),
            channels: Place::read_all(guild.channels)
                .into_iter()
                .map(here)
                .collect(),
            threads: Place::read_all(guild.threads)
                .into_iter()
                .map(here)
                .collect(),
        })
    }

    /// The role that Discord made for this bot: a mention of it looks to people like a mention of
    /// the bot.
    #[must_use]
    pub fn own_role(&self, bot: UserId) -> Option<RoleId> {
        self.roles
            .iter()
            .find(|role| role.bot == Some(bot))
            .map(|role| role.id)
    }
}

impl MemberSeen {
    pub(crate) fn read(member: &Member<'_>) -> Self {
        let user: User<'_> = member.user.object().unwrap_or_default();
        Self {
            user: user.id.id(),
            roles: member.roles.ids(),
            timed_out_until: member
                .communication_disabled_until
                .text()
                .map(Cow::into_owned),
        }
    }
}

fn words(field: Field<'_>) -> String {
    field.text().unwrap_or_default().into_owned()
}
