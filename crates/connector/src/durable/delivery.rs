//! One intent and what became of it.
//!
//! In: records of the outbox. Out: how far each delivery is. Never: a text.

use crate::{
    line::Line,
    moment::Wall,
    record::{ConfirmedBy, Owner, Purpose, RefusedWhy},
    turn::DeliveryOutcome,
};
use guildhall_binding::ids::{ChannelId, MessageId};

/// One intent and what became of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Delivery {
    /// Whose it is.
    pub owner: Owner,
    /// What for.
    pub purpose: Purpose,
    /// Which part, from 1.
    pub part: u32,
    /// Of how many.
    pub of: u32,
    /// Which attempt class.
    pub class: u32,
    /// The channel or thread.
    pub place: ChannelId,
    /// The message that it replies to.
    pub reply_to: Option<MessageId>,
    /// The fixed line, where it is one.
    pub line: Option<Line>,
    /// When it was intended.
    pub since: Wall,
    /// How far it is.
    pub state: DeliveryState,
}

/// How far a delivery is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeliveryState {
    /// It will be posted.
    Intended,
    /// It may have been posted.
    Unknown,
    /// It stands in Discord.
    Confirmed {
        /// As this message, where its id is known.
        message: Option<MessageId>,
        /// How we know.
        by: ConfirmedBy,
    },
    /// It does not.
    Refused {
        /// Why.
        why: RefusedWhy,
        /// Discord's code.
        code: Option<u64>,
    },
}

impl Delivery {
    /// The message that it comes after, by Discord's own clock: the one it replies to, or for a later
    /// part of a reply the one that the reply is to.
    #[must_use]
    pub fn asked_by(&self) -> Option<MessageId> {
        self.reply_to.or(match self.owner {
            Owner::Row(row) => row.message(),
            Owner::Notice(_) | Owner::Ask(_) => None,
        })
    }
}

impl DeliveryState {
    /// Whether nothing more will happen to it.
    #[must_use]
    pub const fn has_ended(self) -> bool {
        match self {
            Self::Intended | Self::Unknown => false,
            Self::Confirmed { .. } | Self::Refused { .. } => true,
        }
    }

    /// As the turn record keeps it.
    #[must_use]
    pub const fn outcome(self) -> DeliveryOutcome {
        match self {
            Self::Intended | Self::Unknown => DeliveryOutcome::Open,
            Self::Confirmed { message, by } => DeliveryOutcome::Confirmed { message, by },
            Self::Refused { why, code } => DeliveryOutcome::Refused { why, code },
        }
    }
}
