//! What `check` reads, and the one login that it makes.

use crate::fake::{
    Answer, Api, Asked, BOT, GUILD, Gateway, HALL, Step, bot, client, clock, gateway_bot, ready,
};
use guildhall_binding::{
    Approvals, BindingName, Channel, ChannelMode, DiscordConfig, EngineConfig, EngineKind, Guild,
    Limits, Policy, PolicyDigest, SeatName, SessionScope, ids::ChannelId,
};
use guildhall_discord::{
    DialFault, Rest, Token,
    check::{CheckOutcome, LookupFault, Probe, facts, probe, report},
    gateway::{Fatal, FatalClose, GatewayConfig, Intents, SessionState},
};
use serde_json::json;
use std::{collections::BTreeMap, time::Duration};

fn policy(channels: &[u64]) -> Policy {
    let channel = |number: &u64| {
        let id = ChannelId::from_number(*number).expect("not zero");
        (
            id,
            Channel {
                id,
                name: "hall".into(),
                mode: ChannelMode::Open,
            },
        )
    };
    Policy {
        name: BindingName::parse("test").expect("a name"),
        seat: SeatName::parse("seat").expect("a name"),
        guild: Guild {
            id: crate::fake::guild(),
            name: "g".into(),
        },
        bot: bot(),
        token_file: "/token".into(),
        channels: channels.iter().map(channel).collect(),
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

fn discord(asked: &Asked, hall: &dyn Fn() -> Answer) -> Answer {
    let everyone = json!({ "id": GUILD.to_string(), "permissions": "274877975616" });
    match asked.path.trim_start_matches("/api/v10") {
        "/users/@me" => Answer::ok(json!({ "id": BOT.to_string(), "username": "seat" })),
        "/applications/@me" => Answer::ok(json!({ "id": "101", "flags": 1 << 19 })),
        "/gateway/bot" => Answer::ok(gateway_bot("wss://gateway.discord.gg")),
        path if path == format!("/guilds/{GUILD}") => {
            Answer::ok(json!({ "id": GUILD.to_string(), "name": "g", "roles": [everyone] }))
        }
        path if path.contains("/members/") => Answer::ok(json!({ "roles": [] })),
        _ => hall(),
    }
}

#[tokio::test]
async fn a_good_seat_is_read_in_a_bounded_number_of_requests_one_after_the_other() {
    let api = Api::start(|asked| {
        let id = asked.path.rsplit('/').next().unwrap_or_default().to_owned();
        discord(asked, &|| {
            Answer::ok(json!({ "id": id, "type": 0, "guild_id": GUILD.to_string() }))
        })
    })
    .await;
    let channels: Vec<u64> = (HALL..HALL + 50).collect();
    let policy = policy(&channels);
    let facts = facts(&client(&api), &policy).await;
    let lines = report(&policy, &facts, None);
    assert!(
        lines.iter().all(|line| line.outcome == CheckOutcome::Ok),
        "{lines:?}"
    );
    assert_eq!(api.asked().len(), 5 + 50);
    assert_eq!(api.connections(), 1);
}

#[tokio::test]
async fn each_way_a_lookup_fails_is_told_apart() {
    let cases: [(fn() -> Answer, LookupFault); 6] = [
        (|| Answer::failure(401, 0), LookupFault::Unauthorized),
        (
            || Answer::failure(403, 50_001),
            LookupFault::Forbidden(50_001),
        ),
        (
            || Answer::failure(404, 10_003),
            LookupFault::NotFound(10_003),
        ),
        (|| Answer::failure(503, 0), LookupFault::Server(503)),
        (|| Answer::Lost, LookupFault::NoAnswer),
        (
            || Answer::Page(200, "text/html", "<html>login</html>".into(), Vec::new()),
            LookupFault::Odd,
        ),
    ];
    for (answer, want) in cases {
        let api = Api::start(move |asked| discord(asked, &answer)).await;
        let facts = facts(&client(&api), &policy(&[HALL])).await;
        assert_eq!(facts.channels[&crate::fake::hall()], Err(want));
    }
}

#[tokio::test]
async fn a_network_that_has_failed_is_not_asked_again() {
    let api = Api::start(|asked| discord(asked, &|| Answer::Lost)).await;
    let channels: Vec<u64> = (HALL..HALL + 50).collect();
    let facts = facts(&client(&api), &policy(&channels)).await;
    assert_eq!(api.asked().len(), 5 + 1);
    let unread = facts.channels.values();
    let all = unread.filter(|read| **read == Err(LookupFault::NoAnswer));
    assert_eq!(all.count(), 50);
    // A refusal is an answer: the others are asked all the same.
    let api = Api::start(|asked| discord(asked, &|| Answer::failure(503, 0))).await;
    drop(guildhall_discord::check::facts(&client(&api), &policy(&channels)).await);
    assert_eq!(api.asked().len(), 5 + 50);
}

#[tokio::test]
async fn a_name_that_does_not_resolve_is_not_taken_for_a_refusal() {
    // A label of more than 63 characters is turned down before anybody is asked.
    let origin = format!("https://{}.invalid", "x".repeat(70));
    let base = guildhall_discord::ApiBase::parse(&origin).expect("an origin");
    let rest = Rest::new(&base, Token::parse("a-fake-token").expect("a token"), bot());
    let facts = facts(&rest, &policy(&[HALL])).await;
    assert_eq!(
        facts.me.map(|me| me.id),
        Err(LookupFault::NoConnection(DialFault::Dns))
    );
}

async fn probed(gateway: &Gateway) -> (Probe, SessionState) {
    let url = gateway.url().to_owned();
    let api = Api::start(move |_| Answer::ok(gateway_bot(&url))).await;
    let state = SessionState::default();
    let intents = Intents::CHANNELS;
    let config = GatewayConfig {
        bot: bot(),
        intents,
        state,
        clock: clock(),
        seed: 1,
    };
    probe(&client(&api), config).await
}

#[tokio::test]
async fn a_probe_logs_in_once_and_leaves_for_good() {
    let gateway = Gateway::start(|url| {
        vec![vec![
            Step::Hello(40_000),
            Step::Await(2),
            Step::Say(ready(1, url)),
        ]]
    })
    .await;
    let (found, state) = probed(&gateway).await;
    assert_eq!(found, Probe::Ready);
    assert_eq!((state.session, state.identifies.used), (None, 1));
    let seen = gateway.until(|seen| !seen.closes.is_empty()).await;
    assert_eq!((seen.connects, seen.closes), (1, vec![(0, Some(1000))]));
}

#[tokio::test]
async fn a_probe_that_is_turned_away_says_why() {
    let closing = |code| vec![Step::Hello(40_000), Step::Await(2), Step::Close(code)];
    let cases = [
        (4014, FatalClose::DisallowedIntents),
        (4004, FatalClose::AuthenticationFailed),
    ];
    for (code, fatal) in cases {
        let gateway = Gateway::start(|_| vec![closing(code)]).await;
        assert_eq!(probed(&gateway).await.0, Probe::Fatal(Fatal::Closed(fatal)));
    }
    let gateway = Gateway::start(|_| vec![vec![Step::Drop]]).await;
    assert!(matches!(probed(&gateway).await.0, Probe::Lost(_)));
}
