//! Who and what is listed: the policies of a run, and an answer of its own to who may speak where.
//!
//! In: a plan's knobs and a variant of the binding. Out: a policy, and whether a message is to be
//! taken under it. Never: the product's own admission, which this is compared with.

use guildhall_authority::event::AuthorKind;
use guildhall_binding::{
    Approvals, BindingName, Channel, ChannelMode, DiscordConfig, EngineConfig, EngineKind, Guild,
    Limits, Policy, PolicyDigest, SeatName, SessionScope, Standing, User, UserChannels,
    ids::{ChannelId, GuildId, MessageId, UserId},
};
use std::{collections::BTreeMap, time::Duration};

/// The seat's own user.
pub(crate) const BOT: u64 = 2;
/// The server.
pub(crate) const GUILD: u64 = 1;
/// Another server.
pub(crate) const ELSEWHERE: u64 = 9;
/// Longest message that is taken.
pub(crate) const INBOUND_MAX_CHARS: usize = 400;
/// Longest part of a reply: small, so that many parts cost little.
pub(crate) const REPLY_CHUNK_CHARS: usize = 200;

/// Somebody who writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Speaker {
    /// Listed everywhere, always.
    Ana,
    /// Listed, except in [`Variant::NoBea`].
    Bea,
    /// Listed in [`Variant::More`] alone.
    Cyd,
    /// Listed for [`Spot::General`] alone.
    Lim,
    /// Never listed.
    Eve,
    /// A bot that carries Ana's name.
    Robot,
    /// A webhook.
    Hook,
}

impl Speaker {
    pub(crate) const fn id(self) -> u64 {
        match self {
            Self::Ana => 10,
            Self::Bea => 11,
            Self::Cyd => 12,
            Self::Lim => 13,
            Self::Eve => 66,
            Self::Robot => 70,
            Self::Hook => 71,
        }
    }

    pub(crate) const fn kind(self) -> AuthorKind {
        match self {
            Self::Ana | Self::Bea | Self::Cyd | Self::Lim | Self::Eve => AuthorKind::Person,
            Self::Robot => AuthorKind::Bot,
            Self::Hook => AuthorKind::Webhook,
        }
    }
}

/// Somewhere to write.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Spot {
    /// Listed, open.
    General,
    /// Listed, open, except in [`Variant::NoHelp`].
    Help,
    /// Listed; a mention is needed.
    Quiet,
    /// Listed in [`Variant::More`] alone.
    Attic,
    /// Never listed.
    Off,
    /// The thread that many openings back; general where there is none.
    Thread(u8),
}

pub(crate) const GENERAL: u64 = 100;
pub(crate) const HELP: u64 = 101;
pub(crate) const QUIET: u64 = 102;
pub(crate) const ATTIC: u64 = 103;
pub(crate) const OFF: u64 = 104;

/// One content of the operator's file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Variant {
    /// As the run begins.
    Base,
    /// Bea was removed.
    NoBea,
    /// The help channel was removed.
    NoHelp,
    /// Cyd and the attic were added.
    More,
}

/// What of the policy a plan chooses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// What a conversation is.
    pub scope: SessionScope,
    /// Turns of one day.
    pub turns_per_day: u32,
    /// Money of one day, in millionths of a dollar; each run of the model costs five.
    pub micro_usd_per_day: Option<u64>,
    /// How far back missed messages are read.
    pub catch_up: Duration,
    /// Turns at work at once.
    pub parallel_turns: usize,
    /// Rows that wait on one route.
    pub queued_turns: usize,
    /// Longest turn.
    pub turn_timeout: Duration,
}

pub(crate) fn channel(id: u64) -> ChannelId {
    ChannelId::from_number(id).expect("the machine makes no id of zero")
}

pub(crate) fn message(id: u64) -> MessageId {
    MessageId::from_number(id).expect("the machine makes no id of zero")
}

pub(crate) fn user(id: u64) -> UserId {
    UserId::from_number(id).expect("the machine makes no id of zero")
}

pub(crate) fn guild(id: u64) -> GuildId {
    GuildId::from_number(id).expect("the machine makes no id of zero")
}

fn channels(variant: Variant) -> Vec<(u64, ChannelMode)> {
    let mut listed = vec![(GENERAL, ChannelMode::Open), (QUIET, ChannelMode::Mention)];
    if variant != Variant::NoHelp {
        listed.push((HELP, ChannelMode::Open));
    }
    if variant == Variant::More {
        listed.push((ATTIC, ChannelMode::Open));
    }
    listed
}

fn speakers(variant: Variant) -> Vec<Speaker> {
    let mut listed = vec![Speaker::Ana, Speaker::Lim];
    if variant != Variant::NoBea {
        listed.push(Speaker::Bea);
    }
    if variant == Variant::More {
        listed.push(Speaker::Cyd);
    }
    listed
}

/// Who may decide asks under a variant, by this machine's own reading.
pub(crate) fn operators(variant: Variant) -> Vec<Speaker> {
    match variant {
        Variant::Base | Variant::NoHelp | Variant::More => vec![Speaker::Ana, Speaker::Bea],
        Variant::NoBea => vec![Speaker::Ana],
    }
}

/// The policy that a variant of the file gives.
pub(crate) fn policy(bounds: &Bounds, variant: Variant) -> Policy {
    let listed = |(id, mode): (u64, ChannelMode)| {
        let name = format!("channel {id}");
        let id = channel(id);
        (id, Channel { id, name, mode })
    };
    let person = |speaker: Speaker| {
        let id = user(speaker.id());
        let channels = match speaker {
            Speaker::Lim => UserChannels::Only([channel(GENERAL)].into()),
            Speaker::Ana
            | Speaker::Bea
            | Speaker::Cyd
            | Speaker::Eve
            | Speaker::Robot
            | Speaker::Hook => UserChannels::Every,
        };
        let standing = if operators(variant).contains(&speaker) {
            Standing::Operator
        } else {
            Standing::Member
        };
        let name = format!("{speaker:?}");
        (
            id,
            User {
                id,
                name,
                channels,
                standing,
            },
        )
    };
    Policy {
        name: BindingName::parse("hall").expect("a name"),
        seat: SeatName::parse("Seat").expect("a name"),
        guild: Guild {
            id: guild(GUILD),
            name: "Hall".to_owned(),
        },
        bot: user(BOT),
        token_file: "/nowhere/token".into(),
        channels: channels(variant).into_iter().map(listed).collect(),
        users: speakers(variant).into_iter().map(person).collect(),
        engine: engine(),
        limits: limits(bounds),
        context_files: Vec::new(),
        scope: bounds.scope,
        tools: None,
        platform_toolsets: BTreeMap::new(),
        discord: DiscordConfig::default(),
        approvals: Approvals::default(),
        digest: PolicyDigest::of(format!("{variant:?}").as_bytes()),
    }
}

fn engine() -> EngineConfig {
    EngineConfig {
        kind: EngineKind::Practice,
        provider: None,
        model: None,
        thinking: None,
        base_url: None,
        key_file: None,
        key_env: None,
        command: Vec::new(),
        idle: Duration::from_secs(300),
        price: None,
    }
}

fn limits(bounds: &Bounds) -> Limits {
    Limits {
        turns_per_day: bounds.turns_per_day,
        turn_timeout: bounds.turn_timeout,
        reply_chunk_chars: REPLY_CHUNK_CHARS,
        inbound_max_chars: INBOUND_MAX_CHARS,
        catch_up: bounds.catch_up,
        parallel_turns: bounds.parallel_turns,
        queued_turns: bounds.queued_turns,
        micro_usd_per_day: bounds.micro_usd_per_day,
    }
}

/// Whether a person may speak in a channel under a variant, by this machine's own reading. The
/// channel is the listed one; of a thread, its parent.
pub(crate) fn may_speak(variant: Variant, author: u64, kind: AuthorKind, parent: u64) -> bool {
    let listed = speakers(variant).iter().any(|who| who.id() == author);
    let place = channels(variant).iter().any(|(id, _)| *id == parent);
    let limited = author == Speaker::Lim.id() && parent != GENERAL;
    kind == AuthorKind::Person && listed && place && !limited
}

/// Whether a channel asks for a mention.
pub(crate) const fn asks_for_mention(parent: u64) -> bool {
    parent == QUIET
}
