//! The gateway's news in the connector's words.
//!
//! In: one event of the gateway. Out: inputs, in order. Never: a judgement on a message.

use guildhall_authority::place::Whereabouts;
use guildhall_binding::ids::{GuildId, UserId};
use guildhall_connector::{
    ids::Nonce,
    input::{Echo, Input, KnownThread, Link, Press},
};
use guildhall_discord::{Place, Pressed, gateway::News};

/// Translates one event. A fatal end of the link is not among them.
pub(crate) fn inputs(news: News, guild: GuildId, bot: UserId) -> Vec<Input> {
    match news {
        News::Ready(_) => vec![Input::Link(Link::Ready)],
        News::Resumed => vec![Input::Link(Link::Resumed)],
        News::Down(_) => vec![Input::Link(Link::Down)],
        News::Guild(seen) if seen.id == guild => {
            let channels = seen
                .channels
                .iter()
                .map(|place| Input::Link(Link::Place(place.id, Whereabouts::NoThread)));
            let threads = seen.threads.iter().filter_map(known_thread).collect();
            channels
                .chain([Input::Link(Link::Guild(threads))])
                .collect()
        }
        News::ThreadCreated(place) | News::ThreadUpdated(place) => {
            place_known(&place).into_iter().collect()
        }
        News::Threads {
            parents: _,
            threads,
        } => threads.iter().filter_map(place_known).collect(),
        News::Said { said, nonce } if said.author.id == bot => {
            let nonce = nonce
                .as_deref()
                .and_then(|nonce| nonce.parse::<Nonce>().ok());
            match nonce {
                Some(_) => {
                    let (message, channel) = (said.id, said.channel);
                    vec![Input::Echoed(Echo {
                        nonce,
                        message,
                        channel,
                    })]
                }
                // Ours, but not by a nonce of our kind: it is dropped by name like any other.
                None => vec![Input::Said(said)],
            }
        }
        News::Said { said, nonce: _ } => vec![Input::Said(said)],
        News::Edited(edited) => vec![Input::Edited(edited)],
        News::Deleted(deleted) => deleted.into_iter().map(Input::Deleted).collect(),
        News::Pressed(pressed) => pressed_in(*pressed, guild).into_iter().collect(),
        News::Fatal(_)
        | News::Guild(_)
        | News::GuildUnavailable(_)
        | News::GuildRemoved(_)
        | News::ThreadDeleted(_)
        | News::Channel(_)
        | News::ChannelDeleted(_)
        | News::PermissionsMoved(_)
        | News::Unreadable { .. } => Vec::new(),
    }
}

fn pressed_in(pressed: Pressed, guild: GuildId) -> Option<Input> {
    let card = match pressed.on_a_card_in(guild) {
        Ok(card) => card,
        Err(ignored) => {
            tracing::info!(why = ignored.code(), "a press was ignored");
            return None;
        }
    };
    Some(Input::Pressed(Press {
        interaction: card.id.get(),
        token: card.token.into_secret(),
        who: card.user,
        channel: card.channel,
        message: card.message,
        custom_id: card.custom_id,
    }))
}

fn place_known(place: &Place) -> Option<Input> {
    let thread = known_thread(place)?;
    Some(Input::Link(Link::Place(
        thread.id,
        Whereabouts::ThreadOf(thread.parent),
    )))
}

fn known_thread(place: &Place) -> Option<KnownThread> {
    let parent = place.parent.filter(|_| place.kind.is_thread())?;
    Some(KnownThread {
        id: place.id,
        parent,
        newest: place.last_message,
    })
}
