//! Servers that never let us in for long: an hour of each costs a bounded number of connects.

use super::*;

fn hour(server: impl FnMut(&Did) -> Vec<Says>) -> World<impl FnMut(&Did) -> Vec<Says>> {
    let mut world = World::new(server);
    world.start();
    world.pass(HOUR_MS);
    world
}

fn or_kind(says: Option<Vec<Says>>, did: &Did) -> Vec<Says> {
    says.unwrap_or_else(|| kind(did))
}

#[test]
fn a_server_that_closes_at_once_sees_the_back_offs_number_of_connects() {
    let world = hour(|did| {
        let closes = vec![Says::Open, Says::Closes(None)];
        or_kind(matches!(did, Did::Connected(_)).then_some(closes), did)
    });
    assert!(
        world.connects() <= CONNECTS_PER_HOUR,
        "{}",
        world.connects()
    );
    assert!(
        world.connects() >= 48,
        "it goes on trying: {}",
        world.connects()
    );
    assert_eq!(world.sent(identifies), 0);
}

#[test]
fn a_server_that_is_not_there_is_tried_again_at_the_same_pace() {
    let broken = DownWhy::NoConnection(DialFault::Unreachable);
    let world = hour(move |did| {
        or_kind(
            matches!(did, Did::Connected(_)).then(|| vec![Says::Breaks(broken)]),
            did,
        )
    });
    assert!(
        (48..=CONNECTS_PER_HOUR).contains(&world.connects()),
        "{}",
        world.connects()
    );
}

#[test]
fn op_7_instead_of_hello_for_ever_is_not_followed_at_once() {
    let world = hour(|did| {
        let asks = vec![Says::Open, Says::Frame(json!({ "op": 7 }))];
        or_kind(matches!(did, Did::Connected(_)).then_some(asks), did)
    });
    assert!(
        world.connects() <= CONNECTS_PER_HOUR,
        "{}",
        world.connects()
    );
    assert!(
        world
            .losses()
            .iter()
            .all(|why| *why == DownWhy::AskedToReconnect)
    );
}

#[test]
fn op_7_after_each_ready_does_not_reset_the_back_off() {
    let world = hour(|did| {
        let asks = Says::Frame(json!({ "op": 7 }));
        match did {
            Did::Sent(Frame::Identify) => vec![ready(BOT), asks],
            Did::Sent(Frame::Resume { seq, .. }) => vec![resumed(seq + 1), asks],
            Did::AskedForAddress | Did::Connected(_) | Did::Sent(_) | Did::Closed(_) => kind(did),
        }
    });
    assert!(
        world.connects() <= CONNECTS_PER_HOUR,
        "{}",
        world.connects()
    );
    assert_eq!(
        world.sent(identifies),
        1,
        "the session is resumed all the time"
    );
}

#[test]
fn each_resume_answered_with_4007_or_4009_gets_a_new_session_and_the_back_off() {
    for code in [4003, 4007, 4009] {
        let world = hour(move |did| match did {
            Did::Sent(Frame::Identify) => vec![ready(BOT), Says::Closes(None)],
            Did::Sent(Frame::Resume { .. }) => vec![Says::Closes(Some(code))],
            Did::AskedForAddress | Did::Connected(_) | Did::Sent(_) | Did::Closed(_) => kind(did),
        });
        assert!(
            world.connects() <= CONNECTS_PER_HOUR,
            "{code}: {}",
            world.connects()
        );
        let (logins, resumes) = (world.sent(identifies), world.sent(resumes));
        assert!(
            logins.abs_diff(resumes) <= 1,
            "{code}: {logins} logins, {resumes} resumes"
        );
    }
}

#[test]
fn three_resumes_that_fail_are_enough() {
    let says_no = Says::Frame(json!({ "op": 9, "d": true }));
    for answer in [
        vec![says_no],
        vec![Says::Closes(None)],
        vec![Says::Closes(Some(4000))],
        vec![],
    ] {
        let mut world = World::resuming(kept(5), 7, move |did: &Did| {
            or_kind(
                matches!(did, Did::Sent(Frame::Resume { .. })).then(|| answer.clone()),
                did,
            )
        });
        world.start();
        world.pass(HOUR_MS);
        assert_eq!(world.sent(resumes), 3);
        assert_eq!(world.sent(identifies), 1);
        assert_eq!(world.machine.stage(), LinkStage::Live);
    }
}

#[test]
fn a_login_that_is_answered_with_an_invalid_session_stays_within_the_days_budget() {
    let mut world = World::new(|did: &Did| {
        let invalid = Says::Frame(json!({ "op": 9, "d": false }));
        or_kind(
            matches!(did, Did::Sent(Frame::Identify)).then(|| vec![invalid]),
            did,
        )
    });
    world.start();
    world.pass(DAY_MS - 1);
    assert_eq!(
        world.sent(identifies),
        super::super::super::IDENTIFIES_PER_DAY as usize
    );
    assert_eq!(world.fatal(), Some(Fatal::OwnIdentifiesSpent));
}

#[test]
fn many_seats_that_lose_their_link_together_do_not_come_back_together() {
    let mut waits = std::collections::BTreeSet::new();
    for seed in 0..50 {
        let mut world = World::resuming(SessionState::default(), seed, kind);
        world.start();
        world.give(Input::Closed(Some(1006)));
        waits.insert(world.machine.deadline().expect("it waits") - world.now.mono_ms);
    }
    assert!(waits.len() > 25, "{} different waits", waits.len());
    assert!(waits.iter().all(|wait| (750..=1_250).contains(wait)));
}
