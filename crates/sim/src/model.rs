//! What the world stores: people, channels, messages.
//!
//! In: nothing; these are records. Out: small questions about one record.
//! Never: JSON (see `view`), permission sums (see `permission`), changes of more than one record.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};

use crate::clock::Moment;
use crate::id::Id;
use crate::permission::{Overwrite, Permissions};
use crate::scenario::Portal;

#[derive(Debug)]
pub(crate) struct Guild {
    pub(crate) id: Id,
    pub(crate) name: String,
    pub(crate) owner: Id,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum UserKind {
    Person,
    Bot,
}

#[derive(Debug)]
pub(crate) struct User {
    pub(crate) id: Id,
    pub(crate) username: String,
    pub(crate) global_name: Option<String>,
    pub(crate) kind: UserKind,
    /// Words for the page, such as "not listed".
    pub(crate) note: String,
}

#[derive(Debug)]
pub(crate) struct Member {
    pub(crate) nick: Option<String>,
    pub(crate) roles: Vec<Id>,
    pub(crate) joined: Moment,
    pub(crate) timed_out_until: Option<Moment>,
}

#[derive(Debug)]
pub(crate) struct Role {
    pub(crate) id: Id,
    pub(crate) name: String,
    pub(crate) permissions: Permissions,
    pub(crate) position: usize,
    /// The bot that this managed role belongs to.
    pub(crate) bot: Option<Id>,
}

/// An application and its bot account.
#[derive(Debug)]
pub(crate) struct App {
    pub(crate) id: Id,
    pub(crate) bot: Id,
    pub(crate) name: String,
    pub(crate) token: String,
    pub(crate) portal: Portal,
}

/// Discord's channel types. The numbers are on the wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ChannelKind {
    Text = 0,
    Dm = 1,
    Voice = 2,
    Category = 4,
    Announcement = 5,
    AnnouncementThread = 10,
    PublicThread = 11,
    PrivateThread = 12,
    Forum = 15,
}

impl ChannelKind {
    pub(crate) fn is_thread(self) -> bool {
        matches!(
            self,
            Self::AnnouncementThread | Self::PublicThread | Self::PrivateThread
        )
    }

    /// Whether messages can be in it at all.
    pub(crate) fn holds_messages(self) -> bool {
        !matches!(self, Self::Category | Self::Forum)
    }
}

#[derive(Debug)]
pub(crate) struct Channel {
    pub(crate) id: Id,
    pub(crate) kind: ChannelKind,
    pub(crate) name: String,
    pub(crate) topic: Option<String>,
    pub(crate) parent: Option<Id>,
    pub(crate) position: usize,
    pub(crate) overwrites: Vec<Overwrite>,
    pub(crate) last_message: Option<Id>,
    /// Both people of a direct message; empty elsewhere.
    pub(crate) recipients: Vec<Id>,
    pub(crate) thread: Option<Thread>,
}

/// What only a thread has.
#[derive(Debug)]
pub(crate) struct Thread {
    pub(crate) owner: Id,
    pub(crate) archive: Archive,
    pub(crate) lock: Lock,
    pub(crate) archive_changed: Moment,
    pub(crate) auto_archive_minutes: u32,
    pub(crate) created: Moment,
    pub(crate) members: BTreeMap<Id, Moment>,
    pub(crate) messages: u32,
    pub(crate) total_sent: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Archive {
    Active,
    Archived,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Lock {
    Open,
    Locked,
}

/// Who wrote a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Author {
    User(Id),
    /// A webhook that is no interaction follow-up: its id and the name it chose.
    Webhook {
        id: Id,
        name: String,
    },
}

impl Author {
    pub(crate) fn id(&self) -> Id {
        match self {
            Self::User(id) | Self::Webhook { id, .. } => *id,
        }
    }
}

/// Discord's message types that this world makes. The numbers are on the wire.
pub(crate) mod message_kind {
    pub(crate) const DEFAULT: u8 = 0;
    pub(crate) const THREAD_CREATED: u8 = 18;
    pub(crate) const REPLY: u8 = 19;
    pub(crate) const COMMAND: u8 = 20;
    pub(crate) const THREAD_STARTER: u8 = 21;
    /// Types that a person or bot wrote and that can be replied to.
    pub(crate) const TALK: [u8; 4] = [DEFAULT, REPLY, COMMAND, 23];
}

/// Message flags. Source: Discord API docs, Message Flags.
pub(crate) mod message_flag {
    pub(crate) const SUPPRESS_EMBEDS: u64 = 1 << 2;
    pub(crate) const HAS_THREAD: u64 = 1 << 5;
    pub(crate) const EPHEMERAL: u64 = 1 << 6;
    pub(crate) const LOADING: u64 = 1 << 7;
    pub(crate) const SUPPRESS_NOTIFICATIONS: u64 = 1 << 12;
    pub(crate) const VOICE_MESSAGE: u64 = 1 << 13;
    pub(crate) const COMPONENTS_V2: u64 = 1 << 15;
}

#[derive(Clone, Debug)]
pub(crate) struct Message {
    pub(crate) id: Id,
    pub(crate) channel: Id,
    pub(crate) author: Author,
    pub(crate) kind: u8,
    pub(crate) content: String,
    pub(crate) created: Moment,
    pub(crate) edited: Option<Moment>,
    pub(crate) flags: u64,
    pub(crate) mentions: Mentions,
    pub(crate) reference: Option<Reference>,
    pub(crate) nonce: Option<Value>,
    pub(crate) reactions: Vec<Reaction>,
    pub(crate) components: Vec<Value>,
    pub(crate) embeds: Vec<Value>,
    pub(crate) attachments: Vec<Attachment>,
    /// Fields that are kept as they came: poll, stickers, snapshots, interaction data.
    pub(crate) extra: Map<String, Value>,
    /// The application of an interaction's answer, which counts as a webhook's message.
    pub(crate) application: Option<Id>,
    /// The one person who sees it, for an ephemeral message.
    pub(crate) only_for: Option<Id>,
    pub(crate) thread: Option<Id>,
    pub(crate) pinned: Pinned,
    /// Moments of edits made when it was over an hour old.
    pub(crate) old_edits: Vec<Moment>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Pinned {
    No,
    Yes,
}

/// Whom a message pings.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Mentions {
    pub(crate) users: Vec<Id>,
    pub(crate) roles: Vec<Id>,
    pub(crate) everyone: Everyone,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Everyone {
    #[default]
    Silent,
    Pinged,
}

/// What a message points at: a reply's target, or a thread's starter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Reference {
    pub(crate) kind: ReferenceKind,
    pub(crate) channel: Id,
    pub(crate) message: Option<Id>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ReferenceKind {
    Default = 0,
    Forward = 1,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Reaction {
    pub(crate) emoji: Emoji,
    pub(crate) users: BTreeSet<Id>,
}

/// A reaction's emoji: a character sequence, or a server's own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Emoji {
    Unicode(String),
    Custom { id: Id, name: String },
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Attachment {
    pub(crate) id: Id,
    pub(crate) filename: String,
    pub(crate) content_type: Option<String>,
    pub(crate) description: Option<String>,
    pub(crate) size: usize,
}
