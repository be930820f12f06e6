//! Who may do what where.
//!
//! In: a user and a channel. Out: permission bits, or the refusal that Discord would give.
//! Never: changes anything.

use crate::clock::Moment;
use crate::error::ApiError;
use crate::id::Id;
use crate::model::{Archive, Channel, ChannelKind, Lock};
use crate::permission::{Permissions, Standing, in_channel};
use crate::world::World;

/// Most active threads of a guild. Source: Discord API docs, code 160006 and Threads.
const ACTIVE_THREADS_MAX_COUNT: usize = 1_000;
/// What a member who is timed out keeps.
const TIMED_OUT: Permissions = Permissions::VIEW_CHANNEL.with(Permissions::READ_MESSAGE_HISTORY);

impl World {
    /// A member's permissions before any channel.
    pub(crate) fn base_permissions(&self, user: Id) -> Permissions {
        let Some(member) = self.members.get(&user) else {
            return Permissions::NONE;
        };
        if user == self.guild.owner {
            return Permissions::ALL;
        }
        let everyone = self.roles.get(&self.guild.id).map(|role| role.permissions);
        let sum = member
            .roles
            .iter()
            .filter_map(|id| self.roles.get(id))
            .fold(everyone.unwrap_or_default(), |sum, role| {
                sum.with(role.permissions)
            });
        if sum.contains(Permissions::ADMINISTRATOR) {
            Permissions::ALL
        } else {
            sum
        }
    }

    /// What `user` may do in `channel`. A thread takes its parent's result.
    pub(crate) fn permissions(&self, user: Id, channel: Id, now: Moment) -> Permissions {
        let Some(channel) = self.channels.get(&channel) else {
            return Permissions::NONE;
        };
        if !channel.recipients.is_empty() {
            let inside = channel.recipients.contains(&user);
            return if inside {
                Permissions::ORDINARY
            } else {
                Permissions::NONE
            };
        }
        let base = self.base_permissions(user);
        let holder = match (&channel.thread, channel.parent) {
            (Some(_), Some(parent)) => self.channels.get(&parent).unwrap_or(channel),
            _ => channel,
        };
        let bits = match self.members.get(&user) {
            None => return Permissions::NONE,
            Some(_) if user == self.guild.owner => Permissions::ALL,
            Some(member) => {
                let everyone = self.guild.id;
                let standing = Standing {
                    user,
                    everyone,
                    roles: &member.roles,
                    base,
                };
                in_channel(&standing, &holder.overwrites)
            }
        };
        let bits = self.in_private_thread(user, channel, bits);
        let until = self
            .members
            .get(&user)
            .and_then(|member| member.timed_out_until);
        match until {
            Some(until) if until > now && !bits.contains(Permissions::ADMINISTRATOR) => {
                bits.without(Permissions::ALL.without(TIMED_OUT))
            }
            _ => bits,
        }
    }

    fn in_private_thread(&self, user: Id, channel: &Channel, bits: Permissions) -> Permissions {
        let hidden = channel.kind == ChannelKind::PrivateThread
            && !bits.contains(Permissions::MANAGE_THREADS)
            && channel
                .thread
                .as_ref()
                .is_none_or(|thread| !thread.members.contains_key(&user));
        if hidden { Permissions::NONE } else { bits }
    }

    /// Whether events of `channel` reach `user`.
    pub(crate) fn can_see(&self, user: Id, channel: Id) -> bool {
        // A time-out never hides a channel, so the moment does not matter.
        self.permissions(user, channel, Moment::default())
            .contains(Permissions::VIEW_CHANNEL)
    }

    /// The channel, if `user` can see it.
    ///
    /// # Errors
    ///
    /// 10003 when it does not exist or is somebody else's direct message, 50001 when it is hidden.
    pub(crate) fn visible(&self, user: Id, channel: Id) -> Result<&Channel, ApiError> {
        let found = self
            .channels
            .get(&channel)
            .ok_or(ApiError::UNKNOWN_CHANNEL)?;
        if self.can_see(user, channel) {
            Ok(found)
        } else if found.recipients.is_empty() {
            Err(ApiError::MISSING_ACCESS)
        } else {
            Err(ApiError::UNKNOWN_CHANNEL)
        }
    }

    /// Passes when `user` can see `channel` and has `wanted` there.
    ///
    /// # Errors
    ///
    /// Those of [`World::visible`], and 50013 when the permission is missing.
    pub(crate) fn allowed(
        &self,
        user: Id,
        channel: Id,
        wanted: Permissions,
        now: Moment,
    ) -> Result<&Channel, ApiError> {
        let found = self.visible(user, channel)?;
        if self.permissions(user, channel, now).contains(wanted) {
            Ok(found)
        } else {
            Err(ApiError::MISSING_PERMISSIONS)
        }
    }

    /// Passes when `user` may write in `channel` now.
    ///
    /// # Errors
    ///
    /// Those of [`World::allowed`]; 40058 for a forum, 50024 for a category, 160005 for a locked
    /// thread.
    pub(crate) fn may_write(&self, user: Id, channel: Id, now: Moment) -> Result<(), ApiError> {
        let found = self.visible(user, channel)?;
        match found.kind {
            ChannelKind::Forum => return Err(ApiError::FORUM_MESSAGE),
            ChannelKind::Category => return Err(ApiError::WRONG_CHANNEL_TYPE),
            ChannelKind::Text
            | ChannelKind::Dm
            | ChannelKind::Voice
            | ChannelKind::Announcement
            | ChannelKind::AnnouncementThread
            | ChannelKind::PublicThread
            | ChannelKind::PrivateThread => {}
        }
        let wanted = match found.thread {
            Some(_) => Permissions::SEND_MESSAGES_IN_THREADS,
            None => Permissions::SEND_MESSAGES,
        };
        self.allowed(user, channel, wanted, now)?;
        let locked = found
            .thread
            .as_ref()
            .is_some_and(|thread| thread.lock == Lock::Locked);
        let manages = self
            .permissions(user, channel, now)
            .contains(Permissions::MANAGE_THREADS);
        if locked && !manages {
            Err(ApiError::LOCKED)
        } else {
            Ok(())
        }
    }

    /// Passes unless `channel` is an archived thread, in which nothing but a new message is taken.
    ///
    /// # Errors
    ///
    /// 50083 in an archived thread.
    pub(crate) fn not_archived(&self, channel: Id) -> Result<(), ApiError> {
        let thread = self
            .channels
            .get(&channel)
            .and_then(|channel| channel.thread.as_ref());
        match thread.map(|thread| thread.archive) {
            Some(Archive::Archived) => Err(ApiError::ARCHIVED),
            Some(Archive::Active) | None => Ok(()),
        }
    }

    /// Passes when the guild may have one more active thread.
    ///
    /// # Errors
    ///
    /// 160006 when there are as many as Discord allows.
    pub(crate) fn room_for_thread(&self) -> Result<(), ApiError> {
        let threads = self
            .channels
            .values()
            .filter_map(|channel| channel.thread.as_ref());
        let active = threads
            .filter(|thread| thread.archive == Archive::Active)
            .count();
        if active < ACTIVE_THREADS_MAX_COUNT {
            Ok(())
        } else {
            Err(ApiError::TOO_MANY_THREADS)
        }
    }

    pub(crate) fn parent_kind(&self, channel: Id) -> Option<ChannelKind> {
        let parent = self.channels.get(&channel)?.parent?;
        self.channels.get(&parent).map(|parent| parent.kind)
    }
}
