//! What a close code of the gateway means.
//!
//! In: a code. Out: resume, a new session, or an end with words. Never: a fatal code that is tried
//! again, an unknown code that ends anything.
//! Source: Discord API reference, "Gateway Close Event Codes".

/// What to do after a close.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CloseMeaning {
    /// The session may still be good.
    Resume,
    /// The same, and something that we sent was wrong.
    ResumeAfterOurFault,
    /// The session is gone.
    NewSession,
    /// Nothing helps but a person.
    Fatal(FatalClose),
}

/// Closes that only a person can mend.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FatalClose {
    /// 4004.
    AuthenticationFailed,
    /// 4010.
    InvalidShard,
    /// 4011.
    ShardingRequired,
    /// 4012.
    InvalidVersion,
    /// 4013.
    InvalidIntents,
    /// 4014.
    DisallowedIntents,
}

impl CloseMeaning {
    /// The meaning of a close code; `None` is a connection that ended without one.
    #[must_use]
    pub const fn of(code: Option<u16>) -> Self {
        match code {
            Some(4003 | 4007 | 4009) => Self::NewSession,
            Some(4001 | 4002 | 4005 | 4008) => Self::ResumeAfterOurFault,
            Some(4004) => Self::Fatal(FatalClose::AuthenticationFailed),
            Some(4010) => Self::Fatal(FatalClose::InvalidShard),
            Some(4011) => Self::Fatal(FatalClose::ShardingRequired),
            Some(4012) => Self::Fatal(FatalClose::InvalidVersion),
            Some(4013) => Self::Fatal(FatalClose::InvalidIntents),
            Some(4014) => Self::Fatal(FatalClose::DisallowedIntents),
            Some(_) | None => Self::Resume,
        }
    }
}

impl FatalClose {
    /// What happened and what to do, for the operator.
    #[must_use]
    pub const fn words(self) -> &'static str {
        match self {
            Self::AuthenticationFailed => {
                "Discord does not accept the bot token: copy a fresh one from the developer portal \
                 (Bot, Reset Token) into tokenFile"
            }
            Self::InvalidShard => {
                "Discord does not accept our shard number, which this program never sends: please \
                 report this"
            }
            Self::ShardingRequired => {
                "the bot is in more servers than one connection may serve: use a bot of its own \
                 for this server"
            }
            Self::InvalidVersion => {
                "Discord no longer serves the API version that this program speaks: update \
                 Guildhall"
            }
            Self::InvalidIntents => {
                "Discord does not know the intents that this program asks for: please report this"
            }
            Self::DisallowedIntents => {
                "the message-content intent is not granted: in the developer portal open the bot's \
                 page and switch on \"Message Content Intent\""
            }
        }
    }

    /// A stable code for records.
    #[must_use]
    pub const fn code(self) -> &'static str {
        match self {
            Self::AuthenticationFailed => "authentication_failed",
            Self::InvalidShard => "invalid_shard",
            Self::ShardingRequired => "sharding_required",
            Self::InvalidVersion => "invalid_version",
            Self::InvalidIntents => "invalid_intents",
            Self::DisallowedIntents => "disallowed_intents",
        }
    }
}
