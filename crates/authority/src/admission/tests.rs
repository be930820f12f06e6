//! The table of every case of admission.

use super::*;
use crate::event::{Author, MessageText};
use guildhall_binding::{
    Approvals, BindingName, Channel, DiscordConfig, EngineConfig, EngineKind, Guild, Limits,
    PolicyDigest, SeatName, SessionScope, Standing, User,
    ids::{GuildId, MessageId},
};

const GUILD: u64 = 1;
const BOT: u64 = 2;
const ANA: u64 = 10;
const BEN: u64 = 11;
const EVE: u64 = 12;
const OPEN: u64 = 100;
const MENTION: u64 = 101;
const HIDDEN: u64 = 102;
const THREAD: u64 = 200;
const MENTION_THREAD: u64 = 201;
const REMEMBERED: u64 = 202;
const FOREIGN_THREAD: u64 = 203;
const STRANGE: u64 = 204;

fn channel(id: u64) -> ChannelId {
    ChannelId::from_number(id).expect("not zero")
}

fn user(id: u64) -> UserId {
    UserId::from_number(id).expect("not zero")
}

fn practice() -> EngineConfig {
    EngineConfig {
        kind: EngineKind::Practice,
        provider: None,
        model: None,
        thinking: None,
        base_url: None,
        key_file: None,
        key_env: None,
        command: Vec::new(),
        idle: std::time::Duration::from_secs(300),
        price: None,
    }
}

fn policy() -> Policy {
    let channels = [(OPEN, ChannelMode::Open), (MENTION, ChannelMode::Mention)];
    let users = [
        (ANA, UserChannels::Every),
        (BEN, UserChannels::Only([channel(OPEN)].into())),
    ];
    Policy {
        name: BindingName::parse("hall").expect("a name"),
        seat: SeatName::parse("Seat").expect("a name"),
        guild: Guild {
            id: GuildId::from_number(GUILD).expect("not zero"),
            name: "Hall".into(),
        },
        bot: user(BOT),
        token_file: "/nowhere/token".into(),
        channels: channels
            .map(|(id, mode)| {
                (
                    channel(id),
                    Channel {
                        id: channel(id),
                        name: "c".into(),
                        mode,
                    },
                )
            })
            .into(),
        users: users
            .map(|(id, channels)| {
                let name = "u".into();
                (
                    user(id),
                    User {
                        id: user(id),
                        name,
                        channels,
                        standing: Standing::Member,
                    },
                )
            })
            .into(),
        engine: practice(),
        limits: Limits::default(),
        context_files: Vec::new(),
        scope: SessionScope::Seat,
        tools: None,
        platform_toolsets: BTreeMap::new(),
        discord: DiscordConfig::default(),
        approvals: Approvals::default(),
        digest: PolicyDigest::of(b"{}"),
    }
}

fn facts() -> Facts {
    Facts {
        whereabouts: [
            (channel(HIDDEN), Whereabouts::NoThread),
            (channel(THREAD), Whereabouts::ThreadOf(channel(OPEN))),
            (
                channel(MENTION_THREAD),
                Whereabouts::ThreadOf(channel(MENTION)),
            ),
            (channel(REMEMBERED), Whereabouts::ThreadOf(channel(MENTION))),
            (
                channel(FOREIGN_THREAD),
                Whereabouts::ThreadOf(channel(HIDDEN)),
            ),
        ]
        .into(),
        remembered: [channel(REMEMBERED)].into(),
    }
}

fn said(author: u64, place: u64) -> Said {
    Said {
        id: MessageId::from_number(1000).expect("not zero"),
        channel: channel(place),
        guild: Some(GuildId::from_number(GUILD).expect("not zero")),
        author: Author {
            id: user(author),
            kind: AuthorKind::Person,
            name: MessageText::new("somebody"),
        },
        kind: SaidKind::Plain,
        text: MessageText::new("hello"),
        mentions_bot: Mentioned::No,
        enclosed: Vec::new(),
        replies_to: None,
    }
}

fn turn(id: u64) -> Admission {
    Admission::Turn(Place {
        channel: channel(id),
        thread: None,
    })
}

fn turn_in(parent: u64, thread: u64) -> Admission {
    Admission::Turn(Place {
        channel: channel(parent),
        thread: Some(channel(thread)),
    })
}

fn with(mut said: Said, change: impl FnOnce(&mut Said)) -> Said {
    change(&mut said);
    said
}

#[test]
#[expect(clippy::too_many_lines, reason = "one table, read as a whole")]
fn every_message_is_a_turn_or_a_drop_with_its_one_reason() {
    use DropReason as Why;
    let drop = Admission::Drop;
    let kind = |kind| move |s: &mut Said| s.author.kind = kind;
    let mention = |s: &mut Said| s.mentions_bot = Mentioned::Yes;
    let cases = [
        ("open channel, listed", said(ANA, OPEN), turn(OPEN)),
        (
            "a reply is talk",
            with(said(ANA, OPEN), |s| s.kind = SaidKind::Reply),
            turn(OPEN),
        ),
        ("own message", said(BOT, OPEN), drop(Why::OwnMessage)),
        (
            "own, elsewhere",
            with(said(BOT, HIDDEN), |s| s.guild = None),
            drop(Why::OwnMessage),
        ),
        (
            "webhook",
            with(said(ANA, OPEN), kind(AuthorKind::Webhook)),
            drop(Why::Webhook),
        ),
        (
            "bot, though listed",
            with(said(ANA, OPEN), kind(AuthorKind::Bot)),
            drop(Why::Bot),
        ),
        (
            "system",
            with(said(ANA, OPEN), kind(AuthorKind::System)),
            drop(Why::System),
        ),
        (
            "no server",
            with(said(ANA, OPEN), |s| s.guild = None),
            drop(Why::OtherGuild),
        ),
        (
            "another server",
            with(said(ANA, OPEN), |s| s.guild = GuildId::from_number(9).ok()),
            drop(Why::OtherGuild),
        ),
        ("stranger", said(EVE, OPEN), drop(Why::UserNotListed)),
        (
            "stranger with mention",
            with(said(EVE, OPEN), mention),
            drop(Why::UserNotListed),
        ),
        (
            "stranger in an unknown place",
            said(EVE, STRANGE),
            drop(Why::UserNotListed),
        ),
        (
            "a pin",
            with(said(ANA, OPEN), |s| s.kind = SaidKind::Other(6)),
            drop(Why::NotTalk),
        ),
        (
            "kind 999",
            with(said(ANA, OPEN), |s| s.kind = SaidKind::Other(999)),
            drop(Why::NotTalk),
        ),
        (
            "not listed channel",
            said(ANA, HIDDEN),
            drop(Why::ChannelNotListed),
        ),
        (
            "thread of a listed channel",
            said(ANA, THREAD),
            turn_in(OPEN, THREAD),
        ),
        (
            "thread of another channel",
            said(ANA, FOREIGN_THREAD),
            drop(Why::ChannelNotListed),
        ),
        (
            "unknown place",
            said(ANA, STRANGE),
            Admission::LookUp(channel(STRANGE)),
        ),
        (
            "not this person's channel",
            said(BEN, MENTION),
            drop(Why::ChannelNotForUser),
        ),
        (
            "not this person's, with mention",
            with(said(BEN, MENTION_THREAD), mention),
            drop(Why::ChannelNotForUser),
        ),
        (
            "this person's thread",
            said(BEN, THREAD),
            turn_in(OPEN, THREAD),
        ),
        (
            "mention missing",
            said(ANA, MENTION),
            drop(Why::NotMentioned),
        ),
        (
            "mention there",
            with(said(ANA, MENTION), mention),
            turn(MENTION),
        ),
        (
            "mention missing in a thread",
            said(ANA, MENTION_THREAD),
            drop(Why::NotMentioned),
        ),
        (
            "mention there in a thread",
            with(said(ANA, MENTION_THREAD), mention),
            turn_in(MENTION, MENTION_THREAD),
        ),
        (
            "remembered thread",
            said(ANA, REMEMBERED),
            turn_in(MENTION, REMEMBERED),
        ),
    ];
    for (name, message, want) in cases {
        assert_eq!(admit(&policy(), &facts(), &message), want, "{name}");
    }
}

#[test]
fn a_row_that_waits_is_judged_by_the_policy_of_now() {
    let place = |channel_id| Place {
        channel: channel(channel_id),
        thread: None,
    };
    let cases = [
        ("still listed", ANA, OPEN, Ok(())),
        ("person removed", EVE, OPEN, Err(DropReason::UserNotListed)),
        (
            "channel removed",
            ANA,
            HIDDEN,
            Err(DropReason::ChannelNotListed),
        ),
        (
            "right to the place withdrawn",
            BEN,
            MENTION,
            Err(DropReason::ChannelNotForUser),
        ),
        ("no mention is asked for again", ANA, MENTION, Ok(())),
    ];
    for (name, who, at, want) in cases {
        assert_eq!(
            still_admitted(&policy(), user(who), place(at)),
            want,
            "{name}"
        );
    }
}

#[test]
fn every_reason_has_its_own_code_and_is_found_by_it() {
    let mut codes: Vec<_> = DropReason::ALL.iter().map(|reason| reason.code()).collect();
    for reason in DropReason::ALL {
        assert_eq!(DropReason::of_code(reason.code()), Some(*reason));
    }
    codes.sort_unstable();
    codes.dedup();
    assert_eq!(codes.len(), DropReason::ALL.len());
}
