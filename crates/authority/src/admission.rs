//! Admission: is this message a turn?
//!
//! In: the policy, facts about the server, one message. Out: a turn's place, a drop by name, or
//! the one look-up without which nothing can be said. Never: a guess about a thread's parent, a
//! name that counts as identity, a look-up on behalf of somebody who is not listed.

use crate::{
    event::{AuthorKind, Mentioned, Said, SaidKind},
    place::{Place, Whereabouts},
};
use guildhall_binding::{
    ChannelMode, Policy, UserChannels,
    ids::{ChannelId, UserId},
};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// What is known of the server beyond the binding.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Facts {
    /// Threads and their parents, and ids that are known to be no thread.
    pub whereabouts: BTreeMap<ChannelId, Whereabouts>,
    /// Threads in which a message needs no mention.
    pub remembered: BTreeSet<ChannelId>,
}

/// The decision on one message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub enum Admission {
    /// It asks for a turn, here.
    Turn(Place),
    /// It does not, and this is why.
    Drop(DropReason),
    /// Nothing can be said before this channel's parent is known.
    LookUp(ChannelId),
}

macro_rules! reasons {
    ($($(#[$doc:meta])* $name:ident = $code:literal,)*) => {
        /// Why a message did not become a turn, or a turn's row was withdrawn.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub enum DropReason { $($(#[$doc])* $name,)* }

        impl DropReason {
            /// Every reason, for tables and tests.
            pub const ALL: &'static [Self] = &[$(Self::$name,)*];

            /// The stable code that records hold.
            #[must_use]
            pub const fn code(self) -> &'static str {
                match self { $(Self::$name => $code,)* }
            }

            /// The reason of a code.
            #[must_use]
            pub fn of_code(code: &str) -> Option<Self> {
                match code { $($code => Some(Self::$name),)* _ => None }
            }
        }
    };
}

reasons! {
    /// The bot's own message.
    OwnMessage = "own-message",
    /// A webhook wrote it.
    Webhook = "webhook",
    /// Another bot wrote it.
    Bot = "bot",
    /// Discord itself wrote it.
    System = "system",
    /// It is of another server, or of none.
    OtherGuild = "other-guild",
    /// The author is not listed.
    UserNotListed = "user-not-listed",
    /// A join, a pin, a command's answer: no talk.
    NotTalk = "not-talk",
    /// Neither the channel nor the thread's parent is listed.
    ChannelNotListed = "channel-not-listed",
    /// The author may not speak in this channel.
    ChannelNotForUser = "channel-not-for-user",
    /// A mention is needed and missing.
    NotMentioned = "not-mentioned",
    /// This message was seen before.
    Duplicate = "duplicate",
    /// The brake for the whole data root is set.
    Estop = "estop",
    /// There is no room on the disk for another row.
    NoRoom = "no-room",
    /// Longer than `inboundMaxChars`.
    Oversize = "oversize",
    /// The day's turns are used up.
    Ceiling = "ceiling",
    /// The day's money is spent.
    CostCeiling = "cost-ceiling",
    /// Too many rows wait on the route.
    QueueFull = "queue-full",
    /// The author deleted it before its turn.
    Withdrawn = "withdrawn",
    /// It was gone when its text was read again.
    Gone = "gone",
    /// Older than `catchUpSeconds`.
    TooOld = "too-old",
    /// An operator cancelled it.
    Cancelled = "cancelled",
    /// It answers an ask, and is no talk.
    Approval = "approval",
}

impl Serialize for DropReason {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.code())
    }
}

impl<'de> Deserialize<'de> for DropReason {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let code = std::borrow::Cow::<str>::deserialize(deserializer)?;
        Self::of_code(&code).ok_or_else(|| serde::de::Error::custom("an unknown drop reason"))
    }
}

/// Decides on one message.
///
/// Order, and why: the author first, since most messages end there and nobody who is not listed
/// may cause a look-up; then the kind, the place, the person's right to the place, the mention.
pub fn admit(policy: &Policy, facts: &Facts, said: &Said) -> Admission {
    if let Some(reason) = author_refused(policy, said) {
        return Admission::Drop(reason);
    }
    let place = match locate(policy, facts, said.channel) {
        Located::Here(place) => place,
        Located::NotListed => return Admission::Drop(DropReason::ChannelNotListed),
        Located::Unknown => return Admission::LookUp(said.channel),
    };
    match may_speak(policy, facts, said.author.id, place, said.mentions_bot) {
        Ok(()) => Admission::Turn(place),
        Err(reason) => Admission::Drop(reason),
    }
}

/// Decides again on a row that waits, with the policy of now: the person and the place, not the
/// mention, which was judged when the message came.
///
/// # Errors
/// The reason for which the row is to be cancelled.
pub fn still_admitted(policy: &Policy, who: UserId, place: Place) -> Result<(), DropReason> {
    if !policy.users.contains_key(&who) {
        return Err(DropReason::UserNotListed);
    }
    if !policy.channels.contains_key(&place.channel) {
        return Err(DropReason::ChannelNotListed);
    }
    may_enter(policy, who, place)
}

fn author_refused(policy: &Policy, said: &Said) -> Option<DropReason> {
    if said.author.id == policy.bot {
        return Some(DropReason::OwnMessage);
    }
    match said.author.kind {
        AuthorKind::Webhook => return Some(DropReason::Webhook),
        AuthorKind::Bot => return Some(DropReason::Bot),
        AuthorKind::System => return Some(DropReason::System),
        AuthorKind::Person => {}
    }
    if said.guild != Some(policy.guild.id) {
        return Some(DropReason::OtherGuild);
    }
    if !policy.users.contains_key(&said.author.id) {
        return Some(DropReason::UserNotListed);
    }
    match said.kind {
        SaidKind::Plain | SaidKind::Reply => None,
        SaidKind::Other(_) => Some(DropReason::NotTalk),
    }
}

/// Where a channel id stands towards the binding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Located {
    /// In a listed channel, or a thread of one.
    Here(Place),
    /// Known, and not listed.
    NotListed,
    /// Neither listed nor known: it may be a thread.
    Unknown,
}

/// Finds the listed place of a channel id.
#[must_use]
pub fn locate(policy: &Policy, facts: &Facts, id: ChannelId) -> Located {
    if policy.channels.contains_key(&id) {
        return Located::Here(Place {
            channel: id,
            thread: None,
        });
    }
    match facts.whereabouts.get(&id) {
        None => Located::Unknown,
        Some(Whereabouts::NoThread) => Located::NotListed,
        Some(Whereabouts::ThreadOf(parent)) if policy.channels.contains_key(parent) => {
            Located::Here(Place {
                channel: *parent,
                thread: Some(id),
            })
        }
        Some(Whereabouts::ThreadOf(_)) => Located::NotListed,
    }
}

fn may_speak(
    policy: &Policy,
    facts: &Facts,
    who: UserId,
    place: Place,
    mentioned: Mentioned,
) -> Result<(), DropReason> {
    may_enter(policy, who, place)?;
    let mode = policy
        .channels
        .get(&place.channel)
        .map(|channel| channel.mode);
    let remembered = place
        .thread
        .is_some_and(|thread| facts.remembered.contains(&thread));
    match (mode, mentioned) {
        (None, _) => Err(DropReason::ChannelNotListed),
        (Some(ChannelMode::Open), _) | (Some(ChannelMode::Mention), Mentioned::Yes) => Ok(()),
        (Some(ChannelMode::Mention), Mentioned::No) if remembered => Ok(()),
        (Some(ChannelMode::Mention), Mentioned::No) => Err(DropReason::NotMentioned),
    }
}

fn may_enter(policy: &Policy, who: UserId, place: Place) -> Result<(), DropReason> {
    match policy.users.get(&who).map(|user| &user.channels) {
        None => Err(DropReason::UserNotListed),
        Some(UserChannels::Every) => Ok(()),
        Some(UserChannels::Only(ids)) if ids.contains(&place.channel) => Ok(()),
        Some(UserChannels::Only(_)) => Err(DropReason::ChannelNotForUser),
    }
}

#[cfg(test)]
mod tests;
