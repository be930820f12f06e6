//! What the wizard reads from Discord: the bot, its servers, their channels.
//!
//! In: a token file, where the API is. Out: names and ids. Never: a post, a change.

use crate::{
    clock::Clocks,
    exit::{ExitReason, Failure},
    home::token_of,
};
use guildhall_binding::ids::{GuildId, UserId};
use guildhall_discord::{
    ApiBase, Place, PlaceKind, Rest,
    check::{Needs, TimeOut, effective, intents, invite_url, missing},
    gateway::{Clock, GatewayConfig, Intents, Leave, News, Now, SessionState, connect},
    rest::{ApplicationSeen, Me, NotSentWhy, Outcome, UnknownWhy},
};
use std::{path::Path, time::Duration};

/// How long READY may take.
const READY_WAIT: Duration = Duration::from_secs(30);

/// A bot that logged in.
pub(super) struct Bot {
    pub(super) rest: Rest,
    pub(super) me: Me,
    pub(super) application: ApplicationSeen,
}

/// A channel that a seat can talk in.
pub(super) struct Channel {
    pub(super) place: Place,
    /// Names of the permissions that the bot lacks there.
    pub(super) lacks: Vec<&'static str>,
}

impl Bot {
    /// Asks who the token belongs to.
    pub(super) async fn meet(base: &ApiBase, token_file: &Path) -> Result<Self, Failure> {
        // The client wants to know its bot; until Discord has told us, any number serves.
        let anyone = UserId::from_number(1).map_err(Failure::failed)?;
        let stranger = Rest::new(base, token_of(token_file)?, anyone);
        let me = read("the bot", stranger.me().await)?;
        let rest = Rest::new(base, token_of(token_file)?, me.id);
        let application = read("the bot's application", rest.application().await)?;
        Ok(Self {
            rest,
            me,
            application,
        })
    }

    /// Whether messages come with their text in channels where nobody mentions the bot.
    pub(super) fn hears_everything(&self) -> bool {
        intents(self.application.flags) == Intents::CHANNELS
    }

    /// Where a person lets the bot into a server.
    pub(super) fn invite(&self, guild: Option<GuildId>) -> String {
        guild.map_or_else(
            || {
                format!(
                    "https://discord.com/oauth2/authorize?client_id={}&scope=bot&permissions={}",
                    self.application.id,
                    guildhall_discord::check::PERMISSIONS_FOR_A_SEAT
                )
            },
            |guild| invite_url(self.application.id, guild),
        )
    }

    /// The servers that the bot is in, by id and name: the gateway names them when it lets us in.
    pub(super) async fn guilds(&self) -> Result<Vec<(GuildId, String)>, Failure> {
        let clocks = Clocks::default();
        let now = move || Now {
            mono_ms: clocks.mono().0,
            wall_ms: u64::try_from(clocks.wall().0).unwrap_or(0),
        };
        let config = GatewayConfig {
            bot: self.me.id,
            intents: intents(self.application.flags),
            state: SessionState::default(),
            clock: Clock::new(now),
            seed: fastrand::u64(..),
        };
        let (handle, mut events) = connect(&self.rest, config);
        let ready = tokio::time::timeout(READY_WAIT, async {
            while let Some(event) = events.next().await {
                if let News::Ready(ready) = event.news {
                    return Ok(ready.guilds);
                }
                if let News::Fatal(fatal) = event.news {
                    return Err(Failure::invalid(fatal.words()));
                }
            }
            Err(Failure::failed("the gateway ended without a word"))
        });
        let ids = ready
            .await
            .unwrap_or_else(|_| Err(Failure::failed("the gateway gave no READY in time")));
        handle.leave(Leave::ForGood);
        let closed = async { while events.next().await.is_some() {} };
        if tokio::time::timeout(Duration::from_secs(2), closed)
            .await
            .is_err()
        {
            tracing::debug!("the gateway took too long to close");
        }
        let mut guilds = Vec::new();
        for id in ids? {
            let guild = read("the server", self.rest.guild(id).await)?;
            guilds.push((id, guild.name));
        }
        Ok(guilds)
    }

    /// The channels of a server where a seat can talk, with what the bot lacks in each.
    pub(super) async fn channels(&self, guild: GuildId) -> Result<Vec<Channel>, Failure> {
        let seen = read("the server", self.rest.guild(guild).await)?;
        let member = read(
            "the bot's membership",
            self.rest.member(guild, self.me.id).await,
        )?;
        let places = read("the channels", self.rest.guild_channels(guild).await)?;
        let talks = |place: &Place| {
            matches!(
                place.kind,
                PlaceKind::Text | PlaceKind::Voice | PlaceKind::Forum
            )
        };
        let channels = places.into_iter().filter(talks).map(|place| {
            let bits = effective(&seen, self.me.id, &member, &place, TimeOut::None);
            let lacks = missing(bits, Needs::Talk.in_a(place.kind));
            Channel {
                lacks: lacks.iter().map(|permission| permission.name()).collect(),
                place,
            }
        });
        Ok(channels.collect())
    }
}

/// What was read, or why not, in words that tell kinds of failure apart.
pub(super) fn read<T>(what: &str, outcome: Outcome<T>) -> Result<T, Failure> {
    let failed = |why: &str| Failure::failed(format!("cannot read {what}: {why}"));
    match outcome {
        Outcome::Done(value) => Ok(value),
        Outcome::Refused(no) => {
            let (reason, why) = match no.status {
                401 => (
                    ExitReason::Invalid,
                    "Discord does not accept the token".to_owned(),
                ),
                403 => (ExitReason::Invalid, "the bot may not look at it".to_owned()),
                404 => (
                    ExitReason::Invalid,
                    "Discord knows nothing under this id".to_owned(),
                ),
                status => (ExitReason::Failed, format!("Discord refused ({status})")),
            };
            let what = format!("cannot read {what}: {why} (code {})", no.code);
            Err(Failure::new(reason, what))
        }
        Outcome::NotSent(not_sent) => Err(match not_sent.why {
            NotSentWhy::NoConnection(fault) => failed(&fault.to_string()),
            NotSentWhy::Held(_) | NotSentWhy::Busy => {
                failed("Discord's rate limit asks for a pause")
            }
        }),
        Outcome::Unknown(why) => Err(match why {
            UnknownWhy::AnswerLost | UnknownWhy::TimedOut => failed("no answer came in time"),
            UnknownWhy::Server(status) => {
                failed(&format!("Discord has a fault of its own ({status})"))
            }
            UnknownWhy::Unreadable | UnknownWhy::OddStatus(_) => {
                failed("the answer did not come from Discord's API")
            }
        }),
    }
}
