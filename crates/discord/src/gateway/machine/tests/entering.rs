//! Coming in: what each stage waits for, what ends it, what is never tried again.

use super::*;
use crate::gateway::FatalClose;

#[test]
fn each_stage_has_a_deadline_and_is_tried_again() {
    let silent_at = |stage: LinkStage| {
        move |did: &Did| match (did, stage) {
            (Did::AskedForAddress, LinkStage::Finding) => vec![],
            (Did::Connected(_), LinkStage::Connecting) => vec![],
            (Did::Connected(_), LinkStage::Greeting) => vec![Says::Open],
            (Did::Sent(Frame::Identify), LinkStage::Entering) => vec![],
            (did, _) => kind(did),
        }
    };
    let cases = [
        (LinkStage::Finding, 30_000),
        (LinkStage::Connecting, 15_000),
        (LinkStage::Greeting, 15_000),
        (LinkStage::Entering, 60_000),
    ];
    for (stage, deadline) in cases {
        let mut world = World::new(silent_at(stage));
        world.start();
        world.pass(deadline - 1);
        assert_eq!(world.losses(), [], "{stage:?}");
        world.pass(1);
        assert_eq!(world.losses(), [DownWhy::StageTimedOut(stage)]);
        world.pass(HOUR_MS / 2);
        assert!(world.losses().len() > 5, "{stage:?} is tried again");
    }
}

#[test]
fn a_resume_goes_to_its_own_address_and_falls_back_to_the_gateways() {
    let mut world = World::resuming(kept(5), 7, |did: &Did| match did {
        Did::Connected(url) if url.contains(":2/") => {
            vec![Says::Breaks(DownWhy::NoConnection(DialFault::Unreachable))]
        }
        Did::Connected(_) | Did::AskedForAddress | Did::Sent(_) | Did::Closed(_) => kind(did),
    });
    world.start();
    world.pass(10_000);
    let urls = world.did.iter().filter_map(|did| match did {
        Did::Connected(url) => Some(url.as_str()),
        Did::AskedForAddress | Did::Sent(_) | Did::Closed(_) => None,
    });
    let urls: Vec<_> = urls.collect();
    let query = "/?v=10&encoding=json";
    assert_eq!(
        urls,
        [
            format!("ws://127.0.0.1:2{query}"),
            format!("ws://127.0.0.1:1{query}")
        ]
    );
    assert_eq!((world.sent(resumes), world.sent(identifies)), (1, 0));
    assert_eq!(world.machine.stage(), LinkStage::Live);
}

#[test]
fn an_address_that_a_token_must_not_go_to_is_not_used_for_a_resume() {
    let mut state = kept(5);
    let evil = "ws://gateway.example".to_owned();
    state.session.as_mut().expect("a session").resume_url = Some(evil);
    let mut world = World::resuming(state, 7, kind);
    world.start();
    assert_eq!(world.machine.stage(), LinkStage::Live);
    assert!(world.did.contains(&Did::Connected(
        "ws://127.0.0.1:1/?v=10&encoding=json".into()
    )));
    let away = Says::Address(Address::Here(GatewayBot {
        url: "wss://gateway.example".into(),
        identifies_left: None,
        reset_after: Duration::ZERO,
    }));
    let mut world = World::new(move |did: &Did| match did {
        Did::AskedForAddress => vec![away.clone()],
        Did::Connected(_) | Did::Sent(_) | Did::Closed(_) => kind(did),
    });
    world.start();
    assert_eq!(world.fatal(), Some(Fatal::AddressRefused));
}

#[test]
fn fatal_closes_are_never_tried_again_before_ready_and_after_an_hour() {
    let cases = [
        (4004, FatalClose::AuthenticationFailed),
        (4010, FatalClose::InvalidShard),
        (4011, FatalClose::ShardingRequired),
        (4012, FatalClose::InvalidVersion),
        (4013, FatalClose::InvalidIntents),
        (4014, FatalClose::DisallowedIntents),
    ];
    for (code, fatal) in cases {
        let mut world = World::new(move |did: &Did| match did {
            Did::Sent(Frame::Identify) => vec![Says::Closes(Some(code))],
            Did::AskedForAddress | Did::Connected(_) | Did::Sent(_) | Did::Closed(_) => kind(did),
        });
        world.start();
        world.pass(DAY_MS);
        assert_eq!(
            (world.fatal(), world.connects()),
            (Some(Fatal::Closed(fatal)), 1)
        );
        assert!(fatal.words().len() > 40, "{code} is said in words");

        let mut world = World::new(kind);
        world.start();
        world.pass(HOUR_MS);
        world.give(Input::Closed(Some(code)));
        world.pass(HOUR_MS);
        assert_eq!(
            (world.fatal(), world.connects()),
            (Some(Fatal::Closed(fatal)), 1)
        );
    }
    assert!(
        FatalClose::DisallowedIntents
            .words()
            .contains("Message Content Intent")
    );
}

#[test]
fn a_refused_token_ends_before_a_socket_is_opened() {
    let mut world = World::new(|did: &Did| match did {
        Did::AskedForAddress => vec![Says::Address(Address::Unauthorized)],
        Did::Connected(_) | Did::Sent(_) | Did::Closed(_) => kind(did),
    });
    world.start();
    assert_eq!(
        (world.fatal(), world.connects()),
        (Some(Fatal::Unauthorized), 0)
    );
}

#[test]
fn another_bots_ready_is_a_wrong_identity_and_serves_nothing() {
    let mut world = World::new(|did: &Did| match did {
        Did::Sent(Frame::Identify) => vec![ready(BOT + 1), Says::Frame(deletion(2))],
        Did::AskedForAddress | Did::Connected(_) | Did::Sent(_) | Did::Closed(_) => kind(did),
    });
    world.start();
    let found = UserId::from_number(BOT + 1).expect("not zero");
    assert_eq!(world.fatal(), Some(Fatal::WrongIdentity { found }));
    assert_eq!(world.told.len(), 1);
    assert_eq!(world.machine.session_state().session, None);
    assert_eq!(world.did.last(), Some(&Did::Closed(1000)));
}

#[test]
fn a_start_is_refused_when_few_logins_are_left_and_a_serving_seat_waits() {
    let mut world = World::new(|did: &Did| match did {
        Did::AskedForAddress => vec![here(49)],
        Did::Connected(_) | Did::Sent(_) | Did::Closed(_) => kind(did),
    });
    world.start();
    assert_eq!(world.fatal(), Some(Fatal::IdentifiesLow { left: 49 }));
    assert_eq!(world.connects(), 0);

    let mut asked = 0;
    let mut world = World::new(move |did: &Did| match did {
        Did::AskedForAddress => {
            asked += 1;
            vec![here(if asked == 2 { 49 } else { 900 })]
        }
        Did::Connected(_) | Did::Sent(_) | Did::Closed(_) => kind(did),
    });
    world.start();
    world.pass(HOUR_MS);
    world.give(Input::Closed(Some(4009)));
    world.pass(HOUR_MS / 2);
    assert_eq!(
        world.losses(),
        [DownWhy::Closed(4009), DownWhy::IdentifiesSpent]
    );
    world.pass(HOUR_MS);
    assert_eq!(world.machine.stage(), LinkStage::Live);
}

#[test]
fn the_days_logins_are_counted_across_restarts_and_a_clock_set_back_gives_none() {
    let spent = IdentifyBudget {
        day: 20_000,
        used: 200,
    };
    let state = SessionState {
        session: None,
        identifies: spent,
    };
    let mut world = World::resuming(state.clone(), 7, kind);
    world.start();
    assert_eq!(world.fatal(), Some(Fatal::OwnIdentifiesSpent));
    let mut world = World::resuming(state.clone(), 7, kind);
    world.now.wall_ms -= 3 * DAY_MS;
    world.start();
    assert_eq!(world.fatal(), Some(Fatal::OwnIdentifiesSpent));
    let mut world = World::resuming(state, 7, kind);
    world.now.wall_ms += DAY_MS;
    world.start();
    assert_eq!(world.machine.stage(), LinkStage::Live);
    let want = IdentifyBudget {
        day: 20_001,
        used: 1,
    };
    assert_eq!(world.machine.session_state().identifies, want);
}

#[test]
fn an_invalid_session_waits_a_moment_and_keeps_what_may_be_kept() {
    for (resumable, logins) in [(false, 2), (true, 1)] {
        let mut world = World::new(kind);
        world.start();
        world.pass(HOUR_MS);
        world.hears(&json!({ "op": 9, "d": resumable }));
        let wait = world.machine.deadline().expect("it waits") - world.now.mono_ms;
        assert!((1_000..=5_000).contains(&wait), "{wait}");
        world.pass(20_000);
        assert_eq!(world.machine.stage(), LinkStage::Live);
        assert_eq!(world.sent(identifies), logins);
    }
}

#[test]
fn two_logins_are_five_seconds_apart() {
    let mut world = World::new(kind);
    world.start();
    world.give(Input::Closed(Some(4009)));
    world.pass(5_400);
    assert_eq!(world.sent(identifies), 1);
    world.pass(200);
    assert_eq!(world.sent(identifies), 2);
}
