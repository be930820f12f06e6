//! Which permissions the bot has in a place.
//!
//! In: roles, overwrites, a membership. Out: permission bits, and the names of those that are
//! missing. Never: a role's position, a guess about a role that was not listed.
//! Source: Discord API reference, "Permissions".

use crate::place::{GuildSeen, MemberSeen, OverwriteTarget, Place, PlaceKind};
use guildhall_binding::ids::UserId;

/// One permission that a seat needs, or that decides over others.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Permission {
    /// To see the channel at all.
    ViewChannel,
    /// To post in it.
    SendMessages,
    /// To post in its threads.
    SendMessagesInThreads,
    /// To react.
    AddReactions,
    /// To attach to a card what does not fit on it.
    AttachFiles,
    /// To reply, to react and to catch up.
    ReadMessageHistory,
    /// Everything.
    Administrator,
}

impl Permission {
    /// Its bit.
    #[must_use]
    pub const fn bit(self) -> u64 {
        match self {
            Self::Administrator => 1 << 3,
            Self::AddReactions => 1 << 6,
            Self::ViewChannel => 1 << 10,
            Self::SendMessages => 1 << 11,
            Self::AttachFiles => 1 << 15,
            Self::ReadMessageHistory => 1 << 16,
            Self::SendMessagesInThreads => 1 << 38,
        }
    }

    /// Its name as Discord's own settings show it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::ViewChannel => "View Channel",
            Self::SendMessages => "Send Messages",
            Self::SendMessagesInThreads => "Send Messages in Threads",
            Self::AddReactions => "Add Reactions",
            Self::AttachFiles => "Attach Files",
            Self::ReadMessageHistory => "Read Message History",
            Self::Administrator => "Administrator",
        }
    }
}

/// What a seat asks for when it is invited: to see, post, post in threads, react, read history.
pub const PERMISSIONS_FOR_A_SEAT: u64 = Permission::ViewChannel.bit()
    | Permission::SendMessages.bit()
    | Permission::SendMessagesInThreads.bit()
    | Permission::AddReactions.bit()
    | Permission::ReadMessageHistory.bit();

/// What a timed-out member keeps.
const TIMED_OUT_KEEPS: u64 = Permission::ViewChannel.bit() | Permission::ReadMessageHistory.bit();

/// What a place is needed for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Needs {
    /// Conversation: reading, reacting, replying, in threads too.
    Talk,
    /// Posts only.
    Post,
}

impl Needs {
    /// The permissions it takes in a place of this kind.
    #[must_use]
    pub const fn in_a(self, kind: PlaceKind) -> &'static [Permission] {
        use Permission::{
            AddReactions, ReadMessageHistory, SendMessages, SendMessagesInThreads, ViewChannel,
        };
        match (self, kind) {
            // In a thread, and under a forum, the right to post in the channel counts for nothing.
            (Self::Talk, PlaceKind::Forum | PlaceKind::PublicThread | PlaceKind::PrivateThread) => {
                &[
                    ViewChannel,
                    SendMessagesInThreads,
                    AddReactions,
                    ReadMessageHistory,
                ]
            }
            (Self::Post, PlaceKind::PublicThread | PlaceKind::PrivateThread) => {
                &[ViewChannel, SendMessagesInThreads]
            }
            (
                Self::Talk,
                PlaceKind::Text
                | PlaceKind::Voice
                | PlaceKind::Category
                | PlaceKind::Direct
                | PlaceKind::Other(_),
            ) => &[
                ViewChannel,
                SendMessages,
                SendMessagesInThreads,
                AddReactions,
                ReadMessageHistory,
            ],
            (
                Self::Post,
                PlaceKind::Forum
                | PlaceKind::Text
                | PlaceKind::Voice
                | PlaceKind::Category
                | PlaceKind::Direct
                | PlaceKind::Other(_),
            ) => &[ViewChannel, SendMessages],
        }
    }
}

/// Whether a member is timed out just now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TimeOut {
    /// They are.
    Running,
    /// They are not.
    None,
}

/// The bits that a member has in a channel. A thread has its parent's: give the parent.
#[must_use]
pub fn effective(
    guild: &GuildSeen,
    user: UserId,
    member: &MemberSeen,
    channel: &Place,
    time_out: TimeOut,
) -> u64 {
    if guild.owner == Some(user) {
        return u64::MAX;
    }
    let everyone = guild.id.get();
    let holds = |role: u64| role == everyone || member.roles.iter().any(|r| r.get() == role);
    let roles = guild.roles.iter().filter(|role| holds(role.id.get()));
    let base = roles.fold(0, |bits, role| bits | role.permissions);
    if base & Permission::Administrator.bit() != 0 {
        return u64::MAX;
    }
    let (mut role_allow, mut role_deny) = (0, 0);
    let (mut everyone_allow, mut everyone_deny) = (0, 0);
    let (mut own_allow, mut own_deny) = (0, 0);
    for overwrite in &channel.overwrites {
        match overwrite.target {
            OverwriteTarget::Role(role) if role.get() == everyone => {
                (everyone_allow, everyone_deny) = (overwrite.allow, overwrite.deny);
            }
            OverwriteTarget::Role(role) if holds(role.get()) => {
                role_allow |= overwrite.allow;
                role_deny |= overwrite.deny;
            }
            OverwriteTarget::Member(member) if member == user => {
                (own_allow, own_deny) = (overwrite.allow, overwrite.deny);
            }
            OverwriteTarget::Role(_) | OverwriteTarget::Member(_) => {}
        }
    }
    let bits = (base & !everyone_deny) | everyone_allow;
    let bits = (bits & !role_deny) | role_allow;
    let bits = (bits & !own_deny) | own_allow;
    match time_out {
        _ if bits & Permission::ViewChannel.bit() == 0 => 0,
        TimeOut::Running => bits & TIMED_OUT_KEEPS,
        TimeOut::None => bits,
    }
}

/// The permissions of `needed` that `bits` lacks. Without the right to see the channel nothing
/// else counts, so that one alone is named.
#[must_use]
pub fn missing(bits: u64, needed: &[Permission]) -> Vec<Permission> {
    if bits & Permission::ViewChannel.bit() == 0 {
        return vec![Permission::ViewChannel];
    }
    let lacks = |permission: &&Permission| bits & permission.bit() == 0;
    needed.iter().filter(lacks).copied().collect()
}

#[cfg(test)]
mod tests;
