//! The gateway: one session with Discord, kept alive, resumed, and told to the core in order.
//!
//! In: frames, time, what the core has committed. Out: [`Event`]s, frames, the session to keep on
//! disk. Never: a heartbeat that waits for the core, a reconnect without back-off, an event that is
//! skipped over, an IDENTIFY beyond the budget.

mod backoff; // when to try again
mod close; // what a close code means
mod dispatch; // one event, from the wire
mod machine; // start here: the life of the connection, without a socket
mod session; // what survives a restart
mod socket; // the WebSocket
mod task; // the shell around the machine

pub use backoff::{BACKOFF_FIRST_MS, BACKOFF_MAX_MS, HELD_MS};
pub use close::{CloseMeaning, FatalClose};
pub use machine::{Address, CLOSE_RESUMABLE, Frame, Input, LinkStage, Machine, Output, Settings};
pub use session::{IDENTIFIES_PER_DAY, IdentifyBudget, Session, SessionState};
pub use task::{EventStream, GatewayConfig, Handle, Leave, LinkStatus, connect};

use crate::{
    interaction::Pressed,
    net::DialFault,
    place::{GuildSeen, Place},
};
use guildhall_authority::event::{Deleted, Edited, Said};
use guildhall_binding::ids::{ApplicationId, ChannelId, GuildId, MessageId, UserId};
use std::{fmt, sync::Arc, time::Duration};

/// Two clocks, read together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Now {
    /// Milliseconds of a clock that never jumps and runs on while the machine sleeps.
    pub mono_ms: u64,
    /// Milliseconds since the Unix epoch: only days are counted by it.
    pub wall_ms: u64,
}

/// How the gateway's task reads the clocks: the caller owns them.
#[derive(Clone)]
pub struct Clock(Arc<dyn Fn() -> Now + Send + Sync>);

impl Clock {
    /// A clock that reads `now`.
    pub fn new(now: impl Fn() -> Now + Send + Sync + 'static) -> Self {
        Self(Arc::new(now))
    }

    pub(crate) fn now(&self) -> Now {
        (self.0)()
    }
}

impl fmt::Debug for Clock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Clock")
    }
}

/// What the bot asks to hear. Source: Discord API reference, "Gateway Intents".
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Intents(u64);

impl Intents {
    /// Servers, their messages and what the messages say: 33281.
    pub const CHANNELS: Self = Self(1 | 1 << 9 | 1 << 15);
    /// The same without the privileged part: only messages that mention the bot, reply to it or
    /// are its own come with their text.
    pub const MENTIONS_ONLY: Self = Self(1 | 1 << 9);

    /// The bits.
    #[must_use]
    pub const fn bits(self) -> u64 {
        self.0
    }
}

/// The number of an event in its session. Two sessions never compare.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Seq {
    pub(crate) session: u32,
    pub(crate) number: u64,
}

impl Seq {
    /// The number that Discord gave.
    #[must_use]
    pub const fn number(self) -> u64 {
        self.number
    }
}

/// Something that happened, in the order in which Discord told it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    /// Its number, to be given to [`Handle::committed`] once it and everything before it is
    /// durable or needs no durability; absent for news of the link itself.
    pub seq: Option<Seq>,
    /// What happened.
    pub news: News,
}

/// What happened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum News {
    /// A fresh session: what was said before it may have been missed, so a catch-up is due.
    Ready(Ready),
    /// The old session goes on; what was missed has been told before this.
    Resumed,
    /// The link is down; it is tried again by itself.
    Down(Down),
    /// The link has ended and will not be tried again. The last event.
    Fatal(Fatal),
    /// A server became available, with its channels, active threads and roles.
    Guild(Box<GuildSeen>),
    /// A server has an outage; the bot is still its member.
    GuildUnavailable(GuildId),
    /// The bot is no longer a member of this server.
    GuildRemoved(GuildId),
    /// A thread was opened, or the bot was added to one.
    ThreadCreated(Box<Place>),
    /// A thread changed, or became active again.
    ThreadUpdated(Box<Place>),
    /// A thread was deleted.
    ThreadDeleted(ChannelId),
    /// All active threads of these channels, of the whole server when there are none.
    Threads {
        /// The channels.
        parents: Vec<ChannelId>,
        /// Their active threads, which replace what was known.
        threads: Vec<Place>,
    },
    /// A channel was made or changed, perhaps in who may do what there.
    Channel(Box<Place>),
    /// A channel was deleted.
    ChannelDeleted(ChannelId),
    /// Roles, or the bot's own membership, changed: what the bot may do may have changed.
    PermissionsMoved(Option<GuildId>),
    /// A message. The bot's own come too, with the nonce that they were posted with.
    Said {
        /// The message.
        said: Box<Said>,
        /// The nonce of its sender.
        nonce: Option<String>,
    },
    /// A message says something else now.
    Edited(Box<Edited>),
    /// Messages are gone.
    Deleted(Vec<Deleted>),
    /// A button was pressed.
    Pressed(Box<Pressed>),
    /// An event that we use came in a form that we cannot read; it will not be replayed.
    Unreadable {
        /// Its kind, in Discord's words.
        event: &'static str,
        /// The message that it was about, where that could be read.
        message: Option<MessageId>,
    },
}

/// A fresh session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ready {
    /// The bot, checked against the binding.
    pub bot: UserId,
    /// The application, which interactions name.
    pub application: Option<ApplicationId>,
    /// The servers that the bot is in; each comes as its own event when it is available.
    pub guilds: Vec<GuildId>,
}

/// The link is down.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Down {
    /// Why.
    pub why: DownWhy,
    /// When it is tried again.
    pub retry_in: Duration,
}

/// Why the link is down.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DownWhy {
    /// The gateway's address could not be read.
    NoAddress,
    /// There was no connection.
    NoConnection(DialFault),
    /// The WebSocket was refused.
    NoUpgrade,
    /// A stage did not end in time: nothing was heard at all, or no READY.
    StageTimedOut(LinkStage),
    /// The connection ended without a word.
    Lost,
    /// Discord closed it with a code.
    Closed(u16),
    /// Discord asked for a new connection.
    AskedToReconnect,
    /// Discord said that the session is not valid, or not now.
    InvalidSession,
    /// A heartbeat was not acknowledged.
    NoAck,
    /// A frame could not be written in time.
    WriteStalled,
    /// The machine slept, or was stopped, for too long.
    Slept,
    /// The core was too slow, and its queue is full.
    CoreBehind,
    /// The day's IDENTIFYs are used up; it goes on when there are new ones.
    IdentifiesSpent,
}

/// Why the link has ended for good.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fatal {
    /// Discord closed with a code that is not to be tried again.
    Closed(FatalClose),
    /// REST answered 401.
    Unauthorized,
    /// The token belongs to another bot than the binding names.
    WrongIdentity {
        /// Whose token it is.
        found: UserId,
    },
    /// Discord has fewer IDENTIFYs left today than are kept in reserve.
    IdentifiesLow {
        /// How many.
        left: u64,
    },
    /// This binding has made its own day's number of IDENTIFYs.
    OwnIdentifiesSpent,
    /// Discord named a gateway that a token must not go to.
    AddressRefused,
}

impl Fatal {
    /// What happened and what to do, for the operator.
    #[must_use]
    pub fn words(self) -> String {
        match self {
            Self::Closed(close) => close.words().to_owned(),
            Self::Unauthorized => FatalClose::AuthenticationFailed.words().to_owned(),
            Self::WrongIdentity { found } => format!(
                "the token belongs to the bot user {found}, not to the one in the binding: put the \
                 right token into tokenFile, or the right id into botUserId"
            ),
            Self::IdentifiesLow { left } => format!(
                "Discord allows only {left} more logins today and resets the token when they run \
                 out: find out what logs in so often, and start again tomorrow"
            ),
            Self::OwnIdentifiesSpent => format!(
                "this binding has logged in {IDENTIFIES_PER_DAY} times today, which is far more than \
                 it should need: find out what restarts it, and start again tomorrow"
            ),
            Self::AddressRefused => "the gateway's address is neither encrypted nor on this \
                 machine, so the token does not go there: check discord.apiUrl"
                .to_owned(),
        }
    }

    /// A stable code for records and exit decisions.
    #[must_use]
    pub const fn code(self) -> &'static str {
        match self {
            Self::Closed(close) => close.code(),
            Self::Unauthorized => FatalClose::AuthenticationFailed.code(),
            Self::WrongIdentity { .. } => "wrong_identity",
            Self::IdentifiesLow { .. } => "identifies_low",
            Self::OwnIdentifiesSpent => "own_identifies_spent",
            Self::AddressRefused => "address_refused",
        }
    }
}
