//! What `check` reads: each thing once, one after the other.
//!
//! In: a client, a policy. Out: what was found, or why it could not be read. Never: a change, a
//! second try, requests side by side, a question to a network that has just failed.

use crate::{
    net::DialFault,
    place::{GuildSeen, MemberSeen, Place},
    rest::{
        ApplicationSeen, GatewayBot, Me, NotSentWhy, Outcome, Reason, Refused, Rest, UnknownWhy,
    },
};
use guildhall_binding::{Policy, ids::ChannelId};
use std::collections::BTreeMap;

/// What was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Facts {
    /// Who the token belongs to.
    pub me: Result<Me, LookupFault>,
    /// The application behind the bot.
    pub application: Result<ApplicationSeen, LookupFault>,
    /// The gateway, and the logins that are left.
    pub gateway: Result<GatewayBot, LookupFault>,
    /// The bound server.
    pub guild: Result<GuildSeen, LookupFault>,
    /// The bot's own membership there.
    pub member: Result<MemberSeen, LookupFault>,
    /// Every listed channel, and every channel that may be posted in.
    pub channels: BTreeMap<ChannelId, Result<Place, LookupFault>>,
    /// Discord's clock, in milliseconds since the Unix epoch.
    pub server_ms: Option<i64>,
}

/// Why something could not be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LookupFault {
    /// There was no connection.
    NoConnection(DialFault),
    /// The connection broke, or no answer came in time.
    NoAnswer,
    /// 401.
    Unauthorized,
    /// 403, with Discord's code.
    Forbidden(u64),
    /// 404, with Discord's code.
    NotFound(u64),
    /// Another refusal: status and Discord's code.
    Refused(u16, u64),
    /// A rate limit.
    Held,
    /// A server error.
    Server(u16),
    /// An answer that is not what Discord answers.
    Odd,
}

impl LookupFault {
    /// What happened, for the operator.
    #[must_use]
    pub fn words(self) -> String {
        match self {
            Self::NoConnection(fault) => fault.to_string(),
            Self::NoAnswer => "Discord's server gave no answer in time".to_owned(),
            Self::Unauthorized => "Discord does not accept the token (401)".to_owned(),
            Self::Forbidden(code) => format!("the bot may not look at it (403, code {code})"),
            Self::NotFound(code) => {
                format!("Discord knows nothing under this id (404, code {code})")
            }
            Self::Refused(status, code) => {
                format!("Discord refused to answer ({status}, code {code})")
            }
            Self::Held => "Discord's rate limit asks for a pause: try again later".to_owned(),
            Self::Server(status) => {
                format!("Discord has a fault of its own ({status}): try again later")
            }
            Self::Odd => "the answer did not come from Discord's API: check discord.apiUrl, and \
                          what stands between this machine and Discord"
                .to_owned(),
        }
    }
}

/// Reads everything that [`super::report`] needs. The gateway is not touched. Once there was no
/// connection or no answer, nothing more is asked, and what was left over has that same fault.
///
/// # Cancel safety
/// A dropped future leaves nothing behind.
pub async fn facts(rest: &Rest, policy: &Policy) -> Facts {
    let guild = policy.guild.id;
    let mut line = Line { down: None };
    let me = line.ask(rest.me()).await;
    let application = line.ask(rest.application()).await;
    let gateway = line.ask(rest.gateway_bot()).await;
    let seen = line.ask(rest.guild(guild)).await;
    let member = line.ask(rest.member(guild, policy.bot)).await;
    let mut channels = BTreeMap::new();
    let listed = policy.channels.keys().chain(&policy.discord.post_channels);
    for channel in listed {
        if !channels.contains_key(channel) {
            channels.insert(*channel, line.ask(rest.channel(*channel)).await);
        }
    }
    let server_ms = rest.server_time().map(|time| time.unix_ms);
    Facts {
        me,
        application,
        gateway,
        guild: seen,
        member,
        channels,
        server_ms,
    }
}

/// The way to Discord.
struct Line {
    /// How it failed.
    down: Option<LookupFault>,
}

impl Line {
    async fn ask<T>(&mut self, call: impl Future<Output = Outcome<T>>) -> Result<T, LookupFault> {
        if let Some(fault) = self.down {
            return Err(fault);
        }
        let answer = looked(call.await);
        if let Err(fault @ (LookupFault::NoConnection(_) | LookupFault::NoAnswer)) = answer {
            self.down = Some(fault);
        }
        answer
    }
}

/// Tells kinds of failure apart: a network that is down and a right that is missing are mended by
/// different people.
fn looked<T>(outcome: Outcome<T>) -> Result<T, LookupFault> {
    match outcome {
        Outcome::Done(value) => Ok(value),
        Outcome::Refused(Refused {
            status,
            code,
            reason,
        }) => Err(match (status, reason) {
            (_, Reason::Unauthorized) => LookupFault::Unauthorized,
            (403, _) => LookupFault::Forbidden(code),
            (404, _) => LookupFault::NotFound(code),
            (_, _) => LookupFault::Refused(status, code),
        }),
        Outcome::NotSent(not_sent) => Err(match not_sent.why {
            NotSentWhy::NoConnection(fault) => LookupFault::NoConnection(fault),
            NotSentWhy::Held(_) | NotSentWhy::Busy => LookupFault::Held,
        }),
        Outcome::Unknown(why) => Err(match why {
            UnknownWhy::AnswerLost | UnknownWhy::TimedOut => LookupFault::NoAnswer,
            UnknownWhy::Server(status) => LookupFault::Server(status),
            UnknownWhy::Unreadable | UnknownWhy::OddStatus(_) => LookupFault::Odd,
        }),
    }
}
