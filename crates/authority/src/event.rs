//! What people did on Discord, in our words.
//!
//! In: nothing; the Discord edge makes these values from its wire. Out: plain data that admission
//! and the connector read. Never: a wire type, a number whose meaning only Discord knows.

use guildhall_binding::ids::{ChannelId, GuildId, MessageId, UserId};
use std::fmt;

/// Text that somebody wrote. Its `Debug` shows a length and never the text, so that no log can
/// hold it by accident.
#[derive(Clone, PartialEq, Eq, Default)]
pub struct MessageText(String);

impl MessageText {
    /// Wraps a text.
    #[must_use]
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// The text itself.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Length in Unicode code points, which is how Discord counts.
    #[must_use]
    pub fn chars(&self) -> usize {
        self.0.chars().count()
    }

    /// Whether nothing but white space is there.
    #[must_use]
    pub fn is_blank(&self) -> bool {
        self.0.trim().is_empty()
    }
}

impl fmt::Debug for MessageText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "MessageText({} bytes)", self.0.len())
    }
}

/// Who wrote a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Author {
    /// Their id; of a webhook, the webhook's.
    pub id: UserId,
    /// What kind of author it is.
    pub kind: AuthorKind,
    /// The name that the server shows: nickname, else global name, else user name. Chosen by its
    /// owner, so it is display text and proves nothing.
    pub name: MessageText,
}

/// What kind of author wrote a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AuthorKind {
    /// A person.
    Person,
    /// A bot or an application.
    Bot,
    /// A webhook, whatever name it chose.
    Webhook,
    /// Discord itself.
    System,
}

/// What kind of message it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SaidKind {
    /// A plain message.
    Plain,
    /// A reply to another message.
    Reply,
    /// Anything else: joins, pins, boosts, command answers, kinds that came after us.
    Other(u64),
}

/// A message that arrived.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Said {
    /// Its id.
    pub id: MessageId,
    /// The channel or thread it stands in.
    pub channel: ChannelId,
    /// The server; absent in direct messages and in what only one person sees.
    pub guild: Option<GuildId>,
    /// Who wrote it.
    pub author: Author,
    /// What kind it is.
    pub kind: SaidKind,
    /// Its text, which may be empty.
    pub text: MessageText,
    /// Whether the bot is among the mentions. `@everyone` and roles do not count.
    pub mentions_bot: Mentioned,
    /// What is quoted or attached, named for the envelope.
    pub enclosed: Vec<Enclosed>,
    /// The message this one replies to.
    pub replies_to: Option<MessageId>,
}

/// Whether the bot is among a message's mentions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mentioned {
    /// It is.
    Yes,
    /// It is not.
    No,
}

/// Something beside the text of a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Enclosed {
    /// A file.
    Attachment {
        /// Its file name.
        name: MessageText,
        /// Its media type, where Discord says one.
        media: Option<MessageText>,
        /// Its size in bytes.
        bytes: u64,
        /// Where it is: Discord's own hosts only, else absent.
        url: Option<String>,
        /// Its text, once it was read; `None` means that it was not read.
        text: Option<MessageText>,
    },
    /// The message that is replied to, as quoted data.
    Quoted {
        /// Who wrote it.
        author: MessageText,
        /// What it says.
        text: MessageText,
    },
    /// A forwarded message, as quoted data.
    Forwarded {
        /// What it says.
        text: MessageText,
    },
    /// A sticker.
    Sticker {
        /// Its name.
        name: MessageText,
    },
    /// A poll.
    Poll {
        /// Its question.
        question: MessageText,
        /// Its answers, ten at most.
        answers: Vec<MessageText>,
    },
}

/// A message was edited: what it says now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edited {
    /// The message as it stands now.
    pub said: Said,
}

/// A message was deleted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Deleted {
    /// Its id.
    pub id: MessageId,
    /// Where it stood.
    pub channel: ChannelId,
}
