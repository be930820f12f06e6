//! One event, from the wire.
//!
//! In: an event's kind and body. Out: news, or nothing where we have no use for the kind. Never: a
//! body that is looked at before its kind is known to matter, an error that loses more than itself.

use super::{News, Ready};
use crate::{
    interaction,
    place::{GuildSeen, Place},
    said::{self, Lens},
    wire::{
        Field,
        objects::{
            Application, Channel, Deletion, Guild, Interaction, Member, Message,
            Ready as WireReady, ThreadSync, User,
        },
    },
};
use guildhall_authority::event::Edited;
use guildhall_binding::ids::{MessageId, UserId};

/// Reads an event; `None` where its kind, or this one of its kind, does not matter to us.
pub(crate) fn read(kind: &str, body: Field<'_>, lens: Lens) -> Option<News> {
    match kind {
        "MESSAGE_CREATE" => message(body, lens),
        "MESSAGE_UPDATE" => edit(body, lens),
        "MESSAGE_DELETE" | "MESSAGE_DELETE_BULK" => {
            let gone = said::deleted(&body.object::<Deletion<'_>>()?);
            (!gone.is_empty()).then_some(News::Deleted(gone))
        }
        "INTERACTION_CREATE" => {
            let pressed = interaction::pressed(&body.object::<Interaction<'_>>()?)?;
            Some(News::Pressed(Box::new(pressed)))
        }
        "GUILD_CREATE" => guild(body),
        "GUILD_DELETE" => {
            let guild: Guild<'_> = body.object()?;
            let id = guild.id.id()?;
            // An outage says `true`; that the bot was removed says nothing at all.
            if guild.unavailable.is_true() {
                Some(News::GuildUnavailable(id))
            } else {
                Some(News::GuildRemoved(id))
            }
        }
        "THREAD_CREATE" => place(body).map(News::ThreadCreated),
        "THREAD_UPDATE" => place(body).map(News::ThreadUpdated),
        "THREAD_DELETE" => Some(News::ThreadDeleted(body.object::<Channel<'_>>()?.id.id()?)),
        "THREAD_LIST_SYNC" => {
            let sync: ThreadSync<'_> = body.object()?;
            Some(News::Threads {
                parents: sync.channel_ids.ids(),
                threads: Place::read_all(sync.threads),
            })
        }
        "CHANNEL_CREATE" | "CHANNEL_UPDATE" => place(body).map(News::Channel),
        "CHANNEL_DELETE" => Some(News::ChannelDeleted(body.object::<Channel<'_>>()?.id.id()?)),
        "GUILD_ROLE_CREATE" | "GUILD_ROLE_UPDATE" | "GUILD_ROLE_DELETE" => Some(
            News::PermissionsMoved(body.object::<Message<'_>>()?.guild_id.id()),
        ),
        "GUILD_MEMBER_UPDATE" => own_member(body, lens.bot),
        _ => None,
    }
}

/// What a READY says, with the identity that it claims.
pub(crate) struct Greeting {
    pub(crate) bot: Option<UserId>,
    pub(crate) ready: Option<Ready>,
    pub(crate) session: Option<String>,
    pub(crate) resume_url: Option<String>,
}

/// Reads a READY.
pub(crate) fn greeting(body: Field<'_>) -> Greeting {
    let ready: WireReady<'_> = body.object().unwrap_or_default();
    let user: User<'_> = ready.user.object().unwrap_or_default();
    let application: Application<'_> = ready.application.object().unwrap_or_default();
    let guilds = ready.guilds.objects::<Guild<'_>>();
    let bot = user.id.id();
    Greeting {
        bot,
        ready: bot.map(|bot| Ready {
            bot,
            application: application.id.id(),
            guilds: guilds.iter().filter_map(|guild| guild.id.id()).collect(),
        }),
        session: ready.session_id.filled_text().map(Into::into),
        resume_url: ready.resume_gateway_url.filled_text().map(Into::into),
    }
}

fn message(body: Field<'_>, lens: Lens) -> Option<News> {
    let message: Message<'_> = body.object().unwrap_or_default();
    Some(match said::heard(&message, None, lens) {
        Some(heard) => News::Said {
            said: Box::new(heard.said),
            nonce: heard.nonce,
        },
        None => unreadable("MESSAGE_CREATE", message.id.id()),
    })
}

fn edit(body: Field<'_>, lens: Lens) -> Option<News> {
    let message: Message<'_> = body.object().unwrap_or_default();
    if !said::is_edit(&message) {
        return None;
    }
    Some(match said::heard(&message, None, lens) {
        Some(heard) => News::Edited(Box::new(Edited { said: heard.said })),
        None => unreadable("MESSAGE_UPDATE", message.id.id()),
    })
}

fn guild(body: Field<'_>) -> Option<News> {
    let guild: Guild<'_> = body.object()?;
    if guild.unavailable.is_true() {
        return Some(News::GuildUnavailable(guild.id.id()?));
    }
    Some(match GuildSeen::read(&guild) {
        Some(guild) => News::Guild(Box::new(guild)),
        None => unreadable("GUILD_CREATE", None),
    })
}

fn place(body: Field<'_>) -> Option<Box<Place>> {
    Place::read(&body.object::<Channel<'_>>()?).map(Box::new)
}

fn own_member(body: Field<'_>, bot: UserId) -> Option<News> {
    let member: Member<'_> = body.object()?;
    let user: User<'_> = member.user.object()?;
    let guild: Message<'_> = body.object()?;
    (user.id.id() == Some(bot)).then(|| News::PermissionsMoved(guild.guild_id.id()))
}

fn unreadable(event: &'static str, message: Option<MessageId>) -> News {
    News::Unreadable { event, message }
}

#[cfg(test)]
mod tests;
