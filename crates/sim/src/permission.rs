//! Permission bits and how they add up in a channel.
//!
//! In: who owns the guild, roles, overwrites. Out: one set of bits.
//! Never: looks anything up; the world hands over what counts.

use serde::{Deserialize, Serialize, Serializer};

use crate::id::Id;

/// A set of permission bits. On the wire it is a decimal string.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Permissions(u64);

macro_rules! bits {
    ($($(#[$doc:meta])* $name:ident = $bit:expr;)*) => {
        impl Permissions {
            $($(#[$doc])* pub const $name: Self = Self(1 << $bit);)*

            /// Every permission that has a name here.
            pub const ALL: Self = Self(0 $(| (1 << $bit))*);

            /// Bits by the name that scenarios use, such as `VIEW_CHANNEL`.
            #[must_use]
            pub fn by_name(name: &str) -> Option<Self> {
                match name {
                    $(stringify!($name) => Some(Self::$name),)*
                    "ALL" => Some(Self::ALL),
                    _ => None,
                }
            }
        }
    };
}

// Source of every bit: Discord API docs, Permissions.
bits! {
    /// Put the first reaction of its kind on a message.
    ADD_REACTIONS = 6;
    /// Everything, whatever the overwrites say.
    ADMINISTRATOR = 3;
    /// Create, edit and delete channels.
    MANAGE_CHANNELS = 4;
    /// See a channel at all.
    VIEW_CHANNEL = 10;
    /// Write in a channel, or open a post in a forum.
    SEND_MESSAGES = 11;
    /// Delete other people's messages.
    MANAGE_MESSAGES = 13;
    /// Have links unfurled and send embeds.
    EMBED_LINKS = 14;
    /// Send files.
    ATTACH_FILES = 15;
    /// Read what was written before.
    READ_MESSAGE_HISTORY = 16;
    /// Ping `@everyone` and roles that may not be mentioned.
    MENTION_EVERYONE = 17;
    /// Archive, lock and delete threads; see private ones.
    MANAGE_THREADS = 34;
    /// Open public threads.
    CREATE_PUBLIC_THREADS = 35;
    /// Open private threads.
    CREATE_PRIVATE_THREADS = 36;
    /// Write in threads.
    SEND_MESSAGES_IN_THREADS = 38;
    /// Pin messages.
    PIN_MESSAGES = 51;
}

impl Permissions {
    /// No permission at all.
    pub const NONE: Self = Self(0);
    /// What `@everyone` may do in a new scenario: read, write, react, use threads.
    pub const ORDINARY: Self = Self(
        Self::ADD_REACTIONS.0
            | Self::VIEW_CHANNEL.0
            | Self::SEND_MESSAGES.0
            | Self::EMBED_LINKS.0
            | Self::ATTACH_FILES.0
            | Self::READ_MESSAGE_HISTORY.0
            | Self::CREATE_PUBLIC_THREADS.0
            | Self::CREATE_PRIVATE_THREADS.0
            | Self::SEND_MESSAGES_IN_THREADS.0,
    );

    /// Whether every bit of `wanted` is set.
    #[must_use]
    pub const fn contains(self, wanted: Self) -> bool {
        self.0 & wanted.0 == wanted.0
    }

    /// Both sets together.
    #[must_use]
    pub const fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// This set without the bits of `other`.
    #[must_use]
    pub const fn without(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }
}

impl Serialize for Permissions {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&self.0)
    }
}

/// A list of names, such as `["VIEW_CHANNEL", "SEND_MESSAGES"]`.
impl<'de> Deserialize<'de> for Permissions {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let names = Vec::<String>::deserialize(deserializer)?;
        names.iter().try_fold(Self::NONE, |sum, name| {
            let bits = Self::by_name(name).ok_or_else(|| {
                serde::de::Error::custom(format!("no permission is called {name}"))
            })?;
            Ok(sum.with(bits))
        })
    }
}

/// Whom an overwrite is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OverwriteTarget {
    Role(Id),
    Member(Id),
}

/// One exception of one channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Overwrite {
    pub(crate) target: OverwriteTarget,
    pub(crate) allow: Permissions,
    pub(crate) deny: Permissions,
}

/// What a member brings along before a channel's exceptions are applied.
pub(crate) struct Standing<'a> {
    pub(crate) user: Id,
    pub(crate) everyone: Id,
    pub(crate) roles: &'a [Id],
    pub(crate) base: Permissions,
}

/// The bits that `standing` has in a channel with these overwrites.
///
/// Order (Discord API docs, Permissions): administrator beats all; then the `@everyone` overwrite;
/// then all role denies together, all role allows together; then the member's own.
pub(crate) fn in_channel(standing: &Standing<'_>, overwrites: &[Overwrite]) -> Permissions {
    if standing.base.contains(Permissions::ADMINISTRATOR) {
        return Permissions::ALL;
    }
    let of = |wanted: &dyn Fn(OverwriteTarget) -> bool| {
        overwrites
            .iter()
            .filter(|overwrite| wanted(overwrite.target))
            .fold(
                (Permissions::NONE, Permissions::NONE),
                |(allow, deny), overwrite| (allow.with(overwrite.allow), deny.with(overwrite.deny)),
            )
    };
    let layers = [
        of(&|target| target == OverwriteTarget::Role(standing.everyone)),
        of(&|target| match target {
            OverwriteTarget::Role(role) => standing.roles.contains(&role),
            OverwriteTarget::Member(_) => false,
        }),
        of(&|target| target == OverwriteTarget::Member(standing.user)),
    ];
    let sum = layers.iter().fold(standing.base, |bits, (allow, deny)| {
        bits.without(*deny).with(*allow)
    });
    if sum.contains(Permissions::VIEW_CHANNEL) {
        sum
    } else {
        Permissions::NONE
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(number: u64) -> Id {
        number.to_string().parse().expect("a positive number")
    }

    fn overwrite(target: OverwriteTarget, allow: Permissions, deny: Permissions) -> Overwrite {
        Overwrite {
            target,
            allow,
            deny,
        }
    }

    #[test]
    fn overwrites_apply_in_discords_order() {
        use OverwriteTarget::{Member, Role};
        const SEND: Permissions = Permissions::SEND_MESSAGES;
        const NONE: Permissions = Permissions::NONE;
        let base = Permissions::ORDINARY;
        let roles = [id(2), id(3)];
        let everyone_may_not = overwrite(Role(id(1)), NONE, SEND);
        let role_may = overwrite(Role(id(2)), SEND, NONE);
        let other_role_may_not = overwrite(Role(id(3)), NONE, SEND);
        let member_may_not = overwrite(Member(id(9)), NONE, SEND);
        let hidden = overwrite(Role(id(1)), NONE, Permissions::VIEW_CHANNEL);
        let admin = Permissions::ADMINISTRATOR;
        let cases = [
            ("none", base, vec![], true),
            ("everyone denied", base, vec![everyone_may_not], false),
            (
                "a role's allow beats everyone's deny",
                base,
                vec![role_may, everyone_may_not],
                true,
            ),
            (
                "a role's allow beats another's deny",
                base,
                vec![role_may, other_role_may_not],
                true,
            ),
            (
                "the member's deny beats a role's allow",
                base,
                vec![role_may, member_may_not],
                false,
            ),
            ("without the view nothing counts", base, vec![hidden], false),
            (
                "an administrator keeps everything",
                admin,
                vec![member_may_not],
                true,
            ),
        ];
        for (name, base, overwrites, may_send) in cases {
            let standing = Standing {
                user: id(9),
                everyone: id(1),
                roles: &roles,
                base,
            };
            let bits = in_channel(&standing, &overwrites);
            assert_eq!(bits.contains(SEND), may_send, "{name}");
        }
    }
}
