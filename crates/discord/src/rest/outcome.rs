//! How one call ended, in words that the callers decide by.
//!
//! In: nothing; `answer` and `Rest` make these values. Out: four ends that differ in what may be
//! done next. Never: Discord's message texts, a URL, a body.

use super::limiter::Hold;
use crate::net::DialFault;
use std::time::Duration;

/// How one call ended.
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use = "an outcome that is not looked at is a delivery that is not known"]
pub enum Outcome<T> {
    /// Discord did it.
    Done(T),
    /// Discord answered that it did not and will not.
    Refused(Refused),
    /// Nothing was done, and trying again is free.
    NotSent(NotSent),
    /// It may have been done: the answer was lost, late, a server error or unreadable.
    Unknown(UnknownWhy),
}

impl<T> Outcome<T> {
    /// The same end with another value.
    pub(crate) fn and_then<U>(self, next: impl FnOnce(T) -> Outcome<U>) -> Outcome<U> {
        match self {
            Self::Done(value) => next(value),
            Self::Refused(refused) => Outcome::Refused(refused),
            Self::NotSent(not_sent) => Outcome::NotSent(not_sent),
            Self::Unknown(why) => Outcome::Unknown(why),
        }
    }

    /// The value, where it is done.
    pub fn done(self) -> Option<T> {
        match self {
            Self::Done(value) => Some(value),
            Self::Refused(_) | Self::NotSent(_) | Self::Unknown(_) => None,
        }
    }
}

/// A final no.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Refused {
    /// The HTTP status.
    pub status: u16,
    /// Discord's own code; zero where it gave none.
    pub code: u64,
    /// What the code means to us.
    pub reason: Reason,
}

/// What a refusal means. Source of the codes: Discord API reference, "JSON Error Codes".
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Reason {
    /// The token is wrong or was reset; every later call is refused without being sent.
    Unauthorized,
    /// There is no such channel, or no longer.
    UnknownChannel,
    /// There is no such message. On a repeat of a post with its nonce: it was posted and deleted.
    UnknownMessage,
    /// Something else that the path or the body names is not there.
    UnknownOther,
    /// The bot cannot see the channel.
    NoAccess,
    /// The bot sees the channel and may not do this there.
    NoPermission,
    /// The thread is archived.
    Archived,
    /// The thread is locked.
    Locked,
    /// A message cannot stand in a forum or media channel itself.
    ForumNeedsPost,
    /// The message that is replied to is not there.
    UnknownReference,
    /// Replying needs the right to read the channel's history.
    ReplyNeedsHistory,
    /// The content was over Discord's length.
    TooLong,
    /// There was nothing to post.
    Empty,
    /// Another fault in the form of the request.
    BadForm,
    /// The emoji is not known, or twenty kinds are there already.
    Emoji,
    /// The person has blocked the bot, or takes no direct messages.
    Blocked,
    /// The interaction is over, or was answered before.
    InteractionOver,
    /// The message already has a thread, or there are too many.
    ThreadExists,
    /// Auto-moderation or a link filter held it back.
    Moderated,
    /// The edge network in front of Discord turned the request away.
    Edge,
    /// Nothing of the above.
    Other,
}

impl Reason {
    /// A stable code for records.
    #[must_use]
    pub const fn code(self) -> &'static str {
        match self {
            Self::Unauthorized => "unauthorized",
            Self::UnknownChannel => "unknown_channel",
            Self::UnknownMessage => "unknown_message",
            Self::UnknownOther => "unknown_other",
            Self::NoAccess => "no_access",
            Self::NoPermission => "no_permission",
            Self::Archived => "archived",
            Self::Locked => "locked",
            Self::ForumNeedsPost => "forum_needs_post",
            Self::UnknownReference => "unknown_reference",
            Self::ReplyNeedsHistory => "reply_needs_history",
            Self::TooLong => "too_long",
            Self::Empty => "empty",
            Self::BadForm => "bad_form",
            Self::Emoji => "emoji",
            Self::Blocked => "blocked",
            Self::InteractionOver => "interaction_over",
            Self::ThreadExists => "thread_exists",
            Self::Moderated => "moderated",
            Self::Edge => "edge",
            Self::Other => "other",
        }
    }
}

/// Nothing was done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NotSent {
    /// Why.
    pub why: NotSentWhy,
    /// When trying again makes sense.
    pub retry_after: Duration,
}

/// Why nothing was done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NotSentWhy {
    /// There was no connection.
    NoConnection(DialFault),
    /// A rate limit asks for a longer wait than the client makes by itself.
    Held(Hold),
    /// Requests before this one took the time.
    Busy,
}

/// Why it is not known whether something was done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnknownWhy {
    /// The connection broke after the request was written.
    AnswerLost,
    /// No whole answer within the deadline.
    TimedOut,
    /// A server error, with its status.
    Server(u16),
    /// A success whose body could not be read.
    Unreadable,
    /// A status that has no meaning here, such as a redirect.
    OddStatus(u16),
}
