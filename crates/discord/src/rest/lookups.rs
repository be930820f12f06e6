//! Calls that only read.
//!
//! In: ids. Out: an [`Outcome`] with what stands there. Never: a change, a page of more than a
//! hundred messages.

use super::{Outcome, Rest, answer, route::Route};
use crate::{
    http::Answer,
    place::{GuildSeen, MemberSeen, Place},
    said::{self, Heard},
    wire::{
        Field,
        objects::{
            Application, Channel, GatewayBot as WireGatewayBot, Guild, Member, Message,
            SessionStartLimit, ThreadSync, User,
        },
    },
};
use guildhall_binding::ids::{ApplicationId, ChannelId, GuildId, MessageId, UserId};
use std::{borrow::Cow, time::Duration};

/// Most messages of one page. Source: Discord API reference, Get Channel Messages.
pub const PAGE_MAX_COUNT: u8 = 100;

/// Where the gateway is and what it still allows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GatewayBot {
    /// Its address.
    pub url: String,
    /// IDENTIFYs that are left today, of all that the bot has; `None` where Discord said nothing.
    pub identifies_left: Option<u64>,
    /// When the day's IDENTIFYs are given anew.
    pub reset_after: Duration,
}

/// The bot itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Me {
    /// Its user id.
    pub id: UserId,
    /// Its user name.
    pub name: String,
}

/// The application behind the bot.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ApplicationSeen {
    /// Its id.
    pub id: ApplicationId,
    /// Its flags: bits 18 and 19 are the message-content intent.
    pub flags: u64,
    /// Where Discord sends interactions; while it is set, the gateway gets none.
    pub interactions_endpoint: Option<String>,
}

/// Which messages of a channel to read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Page {
    /// The newest.
    Latest,
    /// Newer than this one.
    After(MessageId),
    /// Older than this one.
    Before(MessageId),
    /// This one and those around it.
    Around(MessageId),
}

impl Rest {
    /// Reads the gateway's address and how many IDENTIFYs are left.
    ///
    /// # Cancel safety
    /// A dropped future leaves nothing behind; so do all calls of this module.
    pub async fn gateway_bot(&self) -> Outcome<GatewayBot> {
        self.call(Route::gateway_bot(), |answer| {
            let bot: WireGatewayBot<'_> = object(answer)?;
            let limit: SessionStartLimit<'_> = bot.session_start_limit.object().unwrap_or_default();
            Some(GatewayBot {
                url: bot.url.text()?.into_owned(),
                identifies_left: limit.remaining.number(),
                reset_after: Duration::from_millis(limit.reset_after.number().unwrap_or(0)),
            })
        })
        .await
    }

    /// Reads who the token belongs to.
    pub async fn me(&self) -> Outcome<Me> {
        self.call(Route::me(), |answer| {
            let user: User<'_> = object(answer)?;
            let name = user.username.text().unwrap_or_default().into_owned();
            Some(Me {
                id: user.id.id()?,
                name,
            })
        })
        .await
    }

    /// Reads the application behind the bot.
    pub async fn application(&self) -> Outcome<ApplicationSeen> {
        self.call(Route::application(), |answer| {
            let application: Application<'_> = object(answer)?;
            Some(ApplicationSeen {
                id: application.id.id()?,
                flags: application.flags.number().unwrap_or(0),
                interactions_endpoint: application
                    .interactions_endpoint_url
                    .filled_text()
                    .map(Cow::into_owned),
            })
        })
        .await
    }

    /// Reads a server with its roles.
    pub async fn guild(&self, guild: GuildId) -> Outcome<GuildSeen> {
        self.call(Route::guild(guild), |answer| {
            GuildSeen::read(&object::<Guild<'_>>(answer)?)
        })
        .await
    }

    /// Reads a server's channels; threads are not among them.
    pub async fn guild_channels(&self, guild: GuildId) -> Outcome<Vec<Place>> {
        self.call(Route::guild_channels(guild), |answer| {
            Some(Place::read_all(answer::json(answer)?.list()?))
        })
        .await
    }

    /// Reads a server's active threads.
    pub async fn active_threads(&self, guild: GuildId) -> Outcome<Vec<Place>> {
        self.call(Route::active_threads(guild), |answer| {
            Some(Place::read_all(object::<ThreadSync<'_>>(answer)?.threads))
        })
        .await
    }

    /// Reads a channel or a thread.
    pub async fn channel(&self, channel: ChannelId) -> Outcome<Place> {
        self.call(Route::channel(channel), |answer| {
            Place::read(&object::<Channel<'_>>(answer)?)
        })
        .await
    }

    /// Reads a member.
    pub async fn member(&self, guild: GuildId, user: UserId) -> Outcome<MemberSeen> {
        self.call(Route::member(guild, user), |answer| {
            Some(MemberSeen::read(&object::<Member<'_>>(answer)?))
        })
        .await
    }

    /// Reads at most `limit` messages, newest first. `guild` is what the caller knows of the
    /// channel: Discord does not repeat it here. A channel whose history the bot may not read
    /// looks empty.
    pub async fn messages(
        &self,
        channel: ChannelId,
        guild: Option<GuildId>,
        page: Page,
        limit: u8,
    ) -> Outcome<Vec<Heard>> {
        let limit = limit.clamp(1, PAGE_MAX_COUNT);
        let query = match page {
            Page::Latest => format!("limit={limit}"),
            Page::After(id) => format!("limit={limit}&after={id}"),
            Page::Before(id) => format!("limit={limit}&before={id}"),
            Page::Around(id) => format!("limit={limit}&around={id}"),
        };
        let lens = self.lens();
        self.call(Route::messages(channel, &query), |answer| {
            let messages = answer::json(answer)?.list()?.objects::<Message<'_>>();
            Some(
                messages
                    .iter()
                    .filter_map(|m| said::heard(m, guild, lens))
                    .collect(),
            )
        })
        .await
    }

    /// Reads one message. `guild` as with [`Rest::messages`].
    pub async fn message(
        &self,
        channel: ChannelId,
        guild: Option<GuildId>,
        message: MessageId,
    ) -> Outcome<Heard> {
        let lens = self.lens();
        self.call(Route::message(channel, message), |answer| {
            said::heard(&object::<Message<'_>>(answer)?, guild, lens)
        })
        .await
    }
}

fn object<'a, T: serde::Deserialize<'a>>(answer: &'a Answer) -> Option<T> {
    answer::json(answer).and_then(Field::object)
}
