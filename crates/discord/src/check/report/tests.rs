//! Every fault that an operator can make, and the line that names it.

use super::*;
use crate::{
    gateway::{DownWhy, Fatal, FatalClose},
    net::DialFault,
    place::{GuildSeen, MemberSeen, OverwriteTarget, PermissionOverwrite, RoleSeen, ThreadState},
    rest::{ApplicationSeen, GatewayBot, Me},
};
use guildhall_binding::{
    Approvals, BindingName, Channel, DiscordConfig, EngineConfig, EngineKind, Guild, Limits,
    PolicyDigest, Root, SeatName, SessionScope, Tools,
    ids::{ApplicationId, GuildId, RoleId, UserId},
};
use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

fn channel_id(number: u64) -> ChannelId {
    ChannelId::from_number(number).expect("not zero")
}

fn user(number: u64) -> UserId {
    UserId::from_number(number).expect("not zero")
}

fn policy(mode: ChannelMode) -> Policy {
    let channel = Channel {
        id: channel_id(400),
        name: "hall".into(),
        mode,
    };
    Policy {
        name: BindingName::parse("test").expect("a name"),
        seat: SeatName::parse("seat").expect("a name"),
        guild: Guild {
            id: GuildId::from_number(300).expect("not zero"),
            name: "g".into(),
        },
        bot: user(100),
        token_file: "/token".into(),
        channels: BTreeMap::from([(channel.id, channel)]),
        users: BTreeMap::new(),
        engine: EngineConfig {
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
        },
        limits: Limits::default(),
        context_files: Vec::new(),
        scope: SessionScope::Seat,
        tools: None,
        platform_toolsets: BTreeMap::new(),
        discord: DiscordConfig::default(),
        approvals: Approvals::default(),
        digest: PolicyDigest::of(b"test"),
    }
}

fn place(kind: PlaceKind) -> Place {
    Place {
        id: channel_id(400),
        kind,
        guild: GuildId::from_number(300).ok(),
        parent: None,
        owner: None,
        name: "hall".into(),
        state: ThreadState::Active,
        last_message: None,
        overwrites: Vec::new(),
    }
}

fn facts() -> Facts {
    let guild = GuildId::from_number(300).expect("not zero");
    Facts {
        me: Ok(Me {
            id: user(100),
            name: "seat".into(),
        }),
        application: Ok(ApplicationSeen {
            id: ApplicationId::from_number(101).expect("not zero"),
            flags: 1 << 19,
            interactions_endpoint: None,
        }),
        gateway: Ok(GatewayBot {
            url: "wss://gateway.discord.gg".into(),
            identifies_left: Some(900),
            reset_after: Duration::from_secs(1),
        }),
        guild: Ok(GuildSeen {
            id: guild,
            name: "g".into(),
            owner: None,
            roles: vec![RoleSeen {
                id: RoleId::from_number(300).expect("not zero"),
                name: "@everyone".into(),
                permissions: super::super::PERMISSIONS_FOR_A_SEAT,
                bot: None,
            }],
            channels: Vec::new(),
            threads: Vec::new(),
        }),
        member: Ok(MemberSeen {
            user: Some(user(100)),
            roles: Vec::new(),
            timed_out_until: None,
        }),
        channels: BTreeMap::from([(channel_id(400), Ok(place(PlaceKind::Text)))]),
        server_ms: Some(1_764_000_000_000),
    }
}

/// The lines that are not ok, each with its hint.
fn faults(policy: &Policy, facts: &Facts, probe: Option<Probe>) -> Vec<String> {
    let lines = report(policy, facts, probe);
    let bad = lines.iter().filter(|line| line.outcome != CheckOutcome::Ok);
    bad.map(|line| {
        format!(
            "{} | {}",
            line.what,
            line.hint.as_deref().unwrap_or("no hint")
        )
    })
    .collect()
}

fn one_fault(facts: &Facts, words: &[&str]) {
    let faults = faults(&policy(ChannelMode::Open), facts, Some(Probe::Ready));
    assert_eq!(faults.len(), 1, "{faults:?}");
    for word in words {
        assert!(faults[0].contains(word), "{word:?} in {faults:?}");
    }
    assert!(!faults[0].ends_with("no hint"));
}

#[test]
fn a_seat_that_is_set_up_well_has_only_good_lines() {
    let lines = report(&policy(ChannelMode::Open), &facts(), Some(Probe::Ready));
    assert!(
        lines.iter().all(|line| line.outcome == CheckOutcome::Ok),
        "{lines:?}"
    );
    assert_eq!(lines.len(), 7);
}

#[test]
fn each_missing_permission_is_named_with_its_channel() {
    use super::super::Permission::{
        AddReactions, ReadMessageHistory, SendMessages, SendMessagesInThreads, ViewChannel,
    };
    let all = [
        SendMessages,
        SendMessagesInThreads,
        AddReactions,
        ReadMessageHistory,
        ViewChannel,
    ];
    for permission in all {
        let mut facts = facts();
        let mut place = place(PlaceKind::Text);
        place.overwrites.push(PermissionOverwrite {
            target: OverwriteTarget::Member(user(100)),
            allow: 0,
            deny: permission.bit(),
        });
        facts.channels.insert(channel_id(400), Ok(place));
        one_fault(
            &facts,
            &["channel 400 (hall)", permission.name(), "overwrite"],
        );
    }
}

#[test]
fn a_place_where_cards_cannot_be_whole_is_named_where_something_asks() {
    let root = |write| Root {
        name: "notes".into(),
        path: "/notes".into(),
        write,
        git: None,
    };
    let with = |write| Policy {
        tools: Some(Tools {
            roots: vec![root(write)],
            max_file_bytes: 1,
            max_calls_per_turn: 1,
            web: None,
            setspark: None,
        }),
        ..policy(ChannelMode::Open)
    };
    let mut attaching = facts();
    let roles = &mut attaching.guild.as_mut().expect("a server").roles;
    roles[0].permissions |= Permission::AttachFiles.bit();
    let cases = [
        (policy(ChannelMode::Open), facts(), 0),
        (with(RootWrite::No), facts(), 0),
        (with(RootWrite::Yes), facts(), 0),
        (with(RootWrite::Ask), facts(), 1),
        (with(RootWrite::Ask), attaching, 0),
    ];
    for (policy, facts, want) in cases {
        let lines = faults(&policy, &facts, Some(Probe::Ready));
        assert_eq!(lines.len(), want, "{lines:?}");
        assert!(
            lines
                .iter()
                .all(|line| line.contains("Attach Files in: 400"))
        );
    }
}

#[test]
fn each_way_a_channel_cannot_be_read_has_its_own_words() {
    let cases = [
        (LookupFault::NoConnection(DialFault::Dns), "name"),
        (
            LookupFault::NoConnection(DialFault::Unreachable),
            "no connection",
        ),
        (LookupFault::NoAnswer, "no answer"),
        (LookupFault::Unauthorized, "401"),
        (LookupFault::Forbidden(50_001), "403"),
        (LookupFault::NotFound(10_003), "404"),
        (LookupFault::Server(503), "503"),
        (LookupFault::Held, "rate limit"),
        (LookupFault::Odd, "discord.apiUrl"),
    ];
    let mut said = BTreeSet::new();
    for (fault, word) in cases {
        let mut facts = facts();
        facts.channels.insert(channel_id(400), Err(fault));
        one_fault(&facts, &["channel 400 (hall)", word]);
        assert!(said.insert(fault.words()), "{fault:?} is told apart");
    }
}

#[test]
fn the_content_intent_is_read_before_a_login_and_mention_seats_do_without() {
    let mut facts = facts();
    let application = facts.application.as_mut().expect("an application");
    application.flags = 0;
    one_fault(
        &facts,
        &[
            "message-content intent",
            "Message Content Intent",
            "mode mention",
        ],
    );
    let mention = report(&policy(ChannelMode::Mention), &facts, Some(Probe::Ready));
    let worst = mention.iter().map(|line| line.outcome).max();
    assert_eq!(worst, Some(CheckOutcome::Warning));
    assert_eq!(intents(0).bits(), 513);
    assert_eq!(
        (intents(1 << 18).bits(), intents(1 << 19).bits()),
        (33_281, 33_281)
    );
}

#[test]
fn what_keeps_a_bot_from_working_is_named_with_what_to_do() {
    let mut elsewhere = facts();
    elsewhere.me = Ok(Me {
        id: user(999),
        name: "other".into(),
    });
    one_fault(&elsewhere, &["999", "100", "botUserId"]);

    let mut endpoint = facts();
    let application = endpoint.application.as_mut().expect("an application");
    application.interactions_endpoint = Some("https://example.org".into());
    one_fault(&endpoint, &["interactions endpoint", "clear", "terminal"]);
    let lines = report(&policy(ChannelMode::Open), &endpoint, None);
    let outcomes: Vec<CheckOutcome> = lines.iter().map(|line| line.outcome).collect();
    assert!(!outcomes.contains(&CheckOutcome::NotOk), "{lines:?}");

    let mut low = facts();
    low.gateway.as_mut().expect("a gateway").identifies_left = Some(12);
    one_fault(&low, &["only 12 more logins"]);

    let mut silenced = facts();
    let member = silenced.member.as_mut().expect("a member");
    member.timed_out_until = Some("2030-01-01T00:00:00+00:00".into());
    let lines = faults(&policy(ChannelMode::Open), &silenced, None);
    assert!(
        lines[0].contains("timed out") && lines[1].contains("Send Messages"),
        "{lines:?}"
    );
    let member = silenced.member.as_mut().expect("a member");
    member.timed_out_until = Some("2020-01-01T00:00:00+00:00".into());
    assert_eq!(faults(&policy(ChannelMode::Open), &silenced, None).len(), 0);
}

#[test]
fn a_bot_outside_the_server_gets_an_invitation_with_the_exact_bits() {
    for fault in [
        LookupFault::Forbidden(50_001),
        LookupFault::NotFound(10_004),
    ] {
        let mut facts = facts();
        facts.guild = Err(fault);
        let lines = faults(&policy(ChannelMode::Open), &facts, None);
        assert!(lines[0].contains("not in server 300"), "{lines:?}");
        assert!(lines[0].contains("client_id=101&scope=bot&permissions=274877975616&guild_id=300"));
    }
}

#[test]
fn only_channels_that_can_be_talked_in_and_belong_to_the_server_pass() {
    let cases = [
        (PlaceKind::Category, Some("category")),
        (PlaceKind::PublicThread, Some("thread")),
        (PlaceKind::Direct, Some("direct")),
        (PlaceKind::Forum, None),
        (PlaceKind::Voice, None),
        (PlaceKind::Other(99), None),
    ];
    for (kind, word) in cases {
        let mut facts = facts();
        facts.channels.insert(channel_id(400), Ok(place(kind)));
        match word {
            Some(word) => one_fault(&facts, &[word]),
            None => assert_eq!(faults(&policy(ChannelMode::Open), &facts, None).len(), 0),
        }
    }
    let mut facts = facts();
    let mut foreign = place(PlaceKind::Text);
    foreign.guild = GuildId::from_number(301).ok();
    facts.channels.insert(channel_id(400), Ok(foreign));
    one_fault(&facts, &["not in server 300"]);
}

#[test]
fn channels_that_may_be_posted_in_are_checked_too() {
    let mut policy = policy(ChannelMode::Open);
    policy.discord.post_channels.insert(channel_id(401));
    let mut facts = facts();
    let mut place = place(PlaceKind::Text);
    place.overwrites.push(PermissionOverwrite {
        target: OverwriteTarget::Member(user(100)),
        allow: 0,
        deny: super::super::Permission::SendMessages.bit(),
    });
    facts.channels.insert(channel_id(401), Ok(place));
    let lines = faults(&policy, &facts, None);
    assert!(
        lines[0].contains("channel 401 the bot lacks: Send Messages"),
        "{lines:?}"
    );
}

#[test]
fn a_login_that_failed_is_told_in_words() {
    let cases = [
        (
            Probe::Fatal(Fatal::Closed(FatalClose::DisallowedIntents)),
            "Message Content Intent",
        ),
        (
            Probe::Fatal(Fatal::Closed(FatalClose::AuthenticationFailed)),
            "token",
        ),
        (Probe::Lost(DownWhy::NoUpgrade), "network"),
        (Probe::TimedOut, "outage"),
    ];
    for (probe, word) in cases {
        let lines = faults(&policy(ChannelMode::Open), &facts(), Some(probe));
        assert!(lines.len() == 1 && lines[0].contains(word), "{lines:?}");
    }
}
