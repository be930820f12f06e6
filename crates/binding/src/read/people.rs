//! Channels and users.
//!
//! In: the two lists. Out: maps by id. Never: an empty list, an id twice, a user's channel that is
//! not listed, the bot as a user.

use crate::{
    bounds::{CHANNELS_MAX, DISPLAY_NAME_MAX_CHARS, USERS_MAX},
    fault::FaultCode,
    ids::{ChannelId, UserId},
    policy::{Channel, ChannelMode, Standing, User, UserChannels},
    walk::{Fields, Place, all, distinct},
};
use std::collections::{BTreeMap, BTreeSet};

/// The channels, and which ids are listed whatever else is wrong with their entries.
pub(super) struct Channels {
    pub(super) channels: Option<BTreeMap<ChannelId, Channel>>,
    pub(super) listed: Option<BTreeSet<ChannelId>>,
}

pub(super) const CHANNEL_MODES: [(&str, ChannelMode); 2] = [
    ("open", ChannelMode::Open),
    ("mention", ChannelMode::Mention),
];

pub(super) fn channels(fields: &mut Fields<'_>) -> Channels {
    let mut listed = BTreeSet::new();
    let mut is_list = false;
    let channels = fields.must("channels", |place| {
        let places = place.list(1..=CHANNELS_MAX, "channels")?;
        is_list = true;
        let mut ids = Vec::new();
        let read = all(&places, |place| channel(place, &mut ids));
        listed.extend(ids.iter().map(|(id, _)| *id));
        distinct(ids, "channel id")?;
        Some(by_id(read?, |channel| channel.id))
    });
    Channels {
        channels,
        listed: is_list.then_some(listed),
    }
}

fn channel<'w>(place: &Place<'w>, ids: &mut Vec<(ChannelId, Place<'w>)>) -> Option<Channel> {
    let mut fields = place.object()?;
    let id = fields.must("id", |place| noted(place, ids));
    let name = fields.must("name", |place| place.line(DISPLAY_NAME_MAX_CHARS));
    let mode = fields.must("mode", |place| place.choice(&CHANNEL_MODES));
    fields.end();
    Some(Channel {
        id: id?,
        name: name?,
        mode: mode?,
    })
}

pub(super) fn users(
    fields: &mut Fields<'_>,
    listed: Option<&BTreeSet<ChannelId>>,
    bot: Option<UserId>,
) -> Option<BTreeMap<UserId, User>> {
    fields.must("users", |place| {
        let places = place.list(1..=USERS_MAX, "users")?;
        let mut ids = Vec::new();
        let read = all(&places, |place| user(place, &mut ids, listed));
        let mut bots = ids.iter().filter(|(id, _)| Some(*id) == bot);
        bots.clone().for_each(|(_, place)| {
            let allowed = "the id of a person; this is botUserId";
            place.fault::<()>(FaultCode::BotListed, allowed);
        });
        let no_bot = bots.next().is_none().then_some(());
        distinct(ids, "user id")?;
        no_bot?;
        Some(by_id(read?, |user| user.id))
    })
}

fn user<'w>(
    place: &Place<'w>,
    ids: &mut Vec<(UserId, Place<'w>)>,
    listed: Option<&BTreeSet<ChannelId>>,
) -> Option<User> {
    let mut fields = place.object()?;
    let id = fields.must("id", |place| noted(place, ids));
    let name = fields.must("name", |place| place.line(DISPLAY_NAME_MAX_CHARS));
    let channels = fields.or("channels", UserChannels::Every, |place| {
        user_channels(place, listed)
    });
    let standing = fields.or("operator", Standing::Member, |place| {
        Some(match place.flag()? {
            true => Standing::Operator,
            false => Standing::Member,
        })
    });
    fields.end();
    Some(User {
        id: id?,
        name: name?,
        channels: channels?,
        standing: standing?,
    })
}

fn user_channels(place: &Place<'_>, listed: Option<&BTreeSet<ChannelId>>) -> Option<UserChannels> {
    let places = place.list(1..=CHANNELS_MAX, "ids of listed channels")?;
    let read = all(&places, |place| {
        let id: ChannelId = place.snowflake()?;
        match listed {
            Some(listed) if !listed.contains(&id) => {
                place.fault(FaultCode::NotListed, "the id of a channel in `channels`")
            }
            Some(_) | None => Some((id, place.clone())),
        }
    })?;
    distinct(read.iter().cloned(), "channel id")?;
    Some(UserChannels::Only(
        read.into_iter().map(|(id, _)| id).collect(),
    ))
}

/// An id that is remembered with its place, whatever becomes of the rest of its entry.
fn noted<'w, Id: std::str::FromStr + Copy>(
    place: &Place<'w>,
    ids: &mut Vec<(Id, Place<'w>)>,
) -> Option<Id> {
    let id = place.snowflake()?;
    ids.push((id, place.clone()));
    Some(id)
}

fn by_id<Id: Ord, T>(items: Vec<T>, id: impl Fn(&T) -> Id) -> BTreeMap<Id, T> {
    items.into_iter().map(|item| (id(&item), item)).collect()
}
