//! Presses of buttons: from Discord's wire to our words.
//!
//! In: an interaction object. Out: who pressed what, with what is needed to answer it. Never: a
//! judgement on whether the presser may, an interaction of another kind.

use crate::{
    said,
    secret::InteractionToken,
    wire::objects::{Interaction, InteractionData, Member, Message, User},
};
use guildhall_authority::event::MessageText;
use guildhall_binding::ids::{ChannelId, GuildId, MessageId, NotASnowflake, UserId};
use std::{fmt, num::NonZeroU64, str::FromStr};

/// Kind number of a press. Source: Discord API reference, "Interaction Type".
const KIND_COMPONENT: u64 = 3;
/// Kind number of a button.
const COMPONENT_BUTTON: u64 = 2;

/// One interaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct InteractionId(NonZeroU64);

impl InteractionId {
    /// The interaction of this number; none has zero.
    #[must_use]
    pub fn from_number(number: u64) -> Option<Self> {
        NonZeroU64::new(number).map(Self)
    }

    /// The id as a number.
    #[must_use]
    pub const fn get(self) -> u64 {
        self.0.get()
    }
}

impl FromStr for InteractionId {
    type Err = NotASnowflake;
    fn from_str(text: &str) -> Result<Self, NotASnowflake> {
        text.parse().map(Self).map_err(|_| NotASnowflake)
    }
}

/// A button that was pressed. Whether the presser may is not decided here.
#[derive(Clone, PartialEq, Eq)]
pub struct Pressed {
    /// The interaction.
    pub id: InteractionId,
    /// What answers it, for fifteen minutes.
    pub token: InteractionToken,
    /// What the button was made with: public text, which anyone may send again.
    pub custom_id: String,
    /// Who pressed it.
    pub user: UserId,
    /// Their name in the server: display text.
    pub name: MessageText,
    /// The message with the button.
    pub message: Option<MessageId>,
    /// Where it stands.
    pub channel: Option<ChannelId>,
    /// The server.
    pub guild: Option<GuildId>,
}

impl fmt::Debug for Pressed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pressed")
            .field("id", &self.id)
            .field("custom_id", &self.custom_id)
            .field("user", &self.user)
            .field("message", &self.message)
            .field("channel", &self.channel)
            .finish_non_exhaustive()
    }
}

/// A press on a message of the bound server: everything that deciding over it takes is there.
#[derive(Clone, PartialEq, Eq)]
pub struct CardPress {
    /// The interaction.
    pub id: InteractionId,
    /// What answers it.
    pub token: InteractionToken,
    /// What the button was made with.
    pub custom_id: String,
    /// Who pressed it, as a member of the server.
    pub user: UserId,
    /// Where the message stands.
    pub channel: ChannelId,
    /// The message with the button.
    pub message: MessageId,
}

impl fmt::Debug for CardPress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CardPress")
            .field("id", &self.id)
            .field("custom_id", &self.custom_id)
            .field("user", &self.user)
            .field("message", &self.message)
            .field("channel", &self.channel)
            .finish_non_exhaustive()
    }
}

/// Why a press is ignored: it is not answered, and nothing follows from it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PressIgnored {
    /// It came from outside any server.
    #[error("the press came from a direct message")]
    DirectMessage,
    /// It came from a server that is not the bound one.
    #[error("the press came from another server")]
    OtherGuild,
    /// It does not say on which message, or where that stands.
    #[error("the press names no message or no channel")]
    NoMessage,
}

impl PressIgnored {
    /// A stable code for records.
    #[must_use]
    pub const fn code(self) -> &'static str {
        match self {
            Self::DirectMessage => "direct_message",
            Self::OtherGuild => "other_guild",
            Self::NoMessage => "no_message",
        }
    }
}

impl Pressed {
    /// The press, where it was made on a message of this server.
    ///
    /// # Errors
    /// [`PressIgnored`].
    pub fn on_a_card_in(self, guild: GuildId) -> Result<CardPress, PressIgnored> {
        match self.guild {
            None => return Err(PressIgnored::DirectMessage),
            Some(other) if other != guild => return Err(PressIgnored::OtherGuild),
            Some(_) => {}
        }
        let (Some(channel), Some(message)) = (self.channel, self.message) else {
            return Err(PressIgnored::NoMessage);
        };
        Ok(CardPress {
            id: self.id,
            token: self.token,
            custom_id: self.custom_id,
            user: self.user,
            channel,
            message,
        })
    }
}

/// Reads a press; other interactions are none of ours.
pub(crate) fn pressed(interaction: &Interaction<'_>) -> Option<Pressed> {
    let data: InteractionData<'_> = interaction.data.object()?;
    let button = data.component_type.number() == Some(COMPONENT_BUTTON);
    if interaction.kind.number() != Some(KIND_COMPONENT) || !button {
        return None;
    }
    let member: Option<Member<'_>> = interaction.member.object();
    let of_member = member
        .as_ref()
        .and_then(|member| member.user.object::<User<'_>>());
    // In a server only the membership tells who pressed; a direct message has no membership.
    let guild: Option<GuildId> = interaction.guild_id.id();
    let user = match guild {
        Some(_) => of_member?,
        None => of_member.or_else(|| interaction.user.object())?,
    };
    let message: Message<'_> = interaction.message.object().unwrap_or_default();
    let channel: Message<'_> = interaction.channel.object().unwrap_or_default();
    Some(Pressed {
        id: interaction.id.id()?,
        token: InteractionToken::parse(&interaction.token.text()?)?,
        custom_id: data.custom_id.text()?.into_owned(),
        user: user.id.id()?,
        name: said::name(member.as_ref(), &user),
        message: message.id.id(),
        channel: interaction.channel_id.id().or_else(|| channel.id.id()),
        guild,
    })
}
