//! A live link: heartbeats, numbers, suspension, and a core that is slow.

use super::*;

fn live(server: impl FnMut(&Did) -> Vec<Says>) -> World<impl FnMut(&Did) -> Vec<Says>> {
    let mut world = World::new(server);
    world.start();
    assert_eq!(world.machine.stage(), LinkStage::Live);
    world
}

#[test]
fn a_day_with_nothing_but_acknowledgements_sees_no_reconnect() {
    let mut world = live(kind);
    world.pass(DAY_MS);
    assert_eq!(world.connects(), 1);
    assert_eq!(world.told.len(), 1, "the READY and nothing else");
    let beats = world.sent(beats);
    assert!((2_094..=2_096).contains(&beats), "{beats}");
}

#[test]
fn a_missed_acknowledgement_closes_resumably_and_resumes() {
    let mut deaf = true;
    let mut world = live(move |did: &Did| match did {
        Did::Sent(Frame::Heartbeat(_)) if deaf => vec![],
        Did::Sent(Frame::Resume { .. }) => {
            deaf = false;
            kind(did)
        }
        Did::AskedForAddress | Did::Connected(_) | Did::Sent(_) | Did::Closed(_) => kind(did),
    });
    // Half-open or deaf, it looks the same: two intervals at the most.
    world.pass(2 * 41_250);
    assert_eq!(world.losses(), [DownWhy::NoAck]);
    assert!(world.did.contains(&Did::Closed(4900)));
    world.pass(HOUR_MS);
    assert_eq!((world.sent(resumes), world.sent(identifies)), (1, 1));
    assert_eq!(world.machine.stage(), LinkStage::Live);
}

#[test]
fn only_an_acknowledgement_is_one() {
    let mut world = live(|did: &Did| match did {
        Did::Sent(Frame::Heartbeat(_)) => vec![Says::Frame(typing(9))],
        Did::AskedForAddress | Did::Connected(_) | Did::Sent(_) | Did::Closed(_) => kind(did),
    });
    world.pass(2 * 41_250);
    assert_eq!(world.losses(), [DownWhy::NoAck]);
}

#[test]
fn the_first_heartbeat_is_at_a_random_moment_of_the_interval() {
    let mut firsts = Vec::new();
    for seed in 0..40 {
        let mut world = World::resuming(SessionState::default(), seed, kind);
        world.start();
        firsts.push(world.machine.deadline().expect("a beat is due") - world.now.mono_ms);
    }
    assert!(firsts.iter().all(|first| *first <= 41_250));
    assert!(firsts.iter().any(|first| *first < 10_000));
    assert!(firsts.iter().any(|first| *first > 30_000));
}

#[test]
fn a_heartbeat_that_is_asked_for_comes_at_once_and_not_without_bound() {
    let mut world = live(kind);
    let before = world.sent(beats);
    world.hears(&json!({ "op": 1, "d": null }));
    assert_eq!(world.sent(beats), before + 1);
    for _ in 0..1_000 {
        world.hears(&json!({ "op": 1 }));
    }
    assert!(world.sent(beats) <= 100, "{}", world.sent(beats));
}

#[test]
fn a_number_advances_with_every_dispatch_whatever_is_in_it() {
    let mut world = live(kind);
    let odd = [
        json!({ "op": 0, "s": 2, "t": "MESSAGE_CREATE", "d": null }),
        json!({ "op": 0, "s": 3, "t": "MESSAGE_CREATE", "d": { "id": [] } }),
        json!({ "op": 0, "s": 4, "t": "NEVER_HEARD_OF", "d": { "x": 1 } }),
        json!({ "op": 0, "s": 5, "t": null, "d": 7 }),
        json!({ "op": 99, "d": {} }),
        json!({ "op": "eleven" }),
        json!([]),
    ];
    for frame in &odd {
        world.hears(frame);
    }
    world.give(Input::Frame("{ not json"));
    assert_eq!(world.losses(), []);
    world.give(Input::Closed(None));
    world.pass(5_000);
    let resume = Frame::Resume {
        session: "s".into(),
        seq: 5,
    };
    assert!(world.did.contains(&Did::Sent(resume)));
}

#[test]
fn a_number_is_reported_only_once_it_is_committed() {
    let mut world = live(kind);
    let reported = |world: &World<_>| world.machine.session_state().session.map(|s| s.seq);
    world.hears(&deletion(2));
    world.hears(&typing(3));
    world.hears(&deletion(4));
    world.hears(&typing(5));
    assert_eq!(reported(&world), None, "the READY itself is not committed");
    let seqs: Vec<Seq> = world.told.iter().filter_map(|event| event.seq).collect();
    assert_eq!(
        seqs.iter().map(|seq| seq.number()).collect::<Vec<_>>(),
        [1, 2, 4]
    );
    world.give(Input::Committed(seqs[0]));
    assert_eq!(reported(&world), Some(1));
    world.give(Input::Committed(seqs[1]));
    assert_eq!(reported(&world), Some(2));
    world.give(Input::Committed(seqs[2]));
    assert_eq!(
        reported(&world),
        Some(5),
        "what was never told needs no commit"
    );
    // A new session begins its own numbers; an old one's commits mean nothing to it.
    world.give(Input::Closed(Some(4009)));
    world.pass(20_000);
    world.give(Input::Committed(seqs[2]));
    assert_eq!(reported(&world), None);
}

#[test]
fn a_full_queue_drops_the_link_and_the_event_is_told_again() {
    let mut world = live(kind);
    world.hears(&deletion(2));
    world.hears(&deletion(3));
    world.give(Input::QueueFull);
    assert_eq!(world.losses(), [DownWhy::CoreBehind]);
    assert_eq!(world.did.last(), Some(&Did::Closed(4900)));
    world.pass(HOUR_MS);
    assert_eq!(world.connects(), 1, "not before there is room");
    world.give(Input::QueueRoom);
    world.pass(1_000);
    let resume = Frame::Resume {
        session: "s".into(),
        seq: 2,
    };
    assert!(world.did.contains(&Did::Sent(resume)));
}

#[test]
fn a_machine_that_slept_treats_its_link_as_dead() {
    let mut world = live(kind);
    world.pass(HOUR_MS);
    world.sleep(HOUR_MS);
    // The socket's buffer still holds a frame from before; it will be told again.
    world.hears(&deletion(2));
    assert_eq!(world.losses(), [DownWhy::Slept]);
    assert_eq!(world.told.len(), 2);
    world.pass(10_000);
    assert_eq!(world.sent(resumes), 1);
    // A short stall is no sleep.
    world.sleep(20_000);
    world.give(Input::Tick);
    assert_eq!(world.losses(), [DownWhy::Slept]);
}

#[test]
fn what_was_missed_is_told_in_order_and_a_long_replay_is_no_timeout() {
    let mut world = World::resuming(kept(5), 7, |did: &Did| match did {
        Did::Sent(Frame::Resume { .. }) => vec![],
        Did::AskedForAddress | Did::Connected(_) | Did::Sent(_) | Did::Closed(_) => kind(did),
    });
    world.start();
    for seq in 6..=9 {
        world.pass(50_000);
        world.hears(&deletion(seq));
    }
    let Says::Frame(frame) = resumed(10) else {
        unreachable!("it is a frame");
    };
    world.hears(&frame);
    let told: Vec<_> = world
        .told
        .iter()
        .filter_map(|e| e.seq)
        .map(Seq::number)
        .collect();
    assert_eq!(told, [6, 7, 8, 9, 10]);
    assert_eq!(world.told.last().expect("an event").news, News::Resumed);
    assert_eq!(world.losses(), []);
}

#[test]
fn nothing_is_told_before_ready() {
    let mut world = World::new(|did: &Did| match did {
        Did::Sent(Frame::Identify) => vec![Says::Frame(deletion(1)), ready(BOT)],
        Did::AskedForAddress | Did::Connected(_) | Did::Sent(_) | Did::Closed(_) => kind(did),
    });
    world.start();
    assert!(matches!(
        world.told[..],
        [Event {
            news: News::Ready(_),
            ..
        }]
    ));
}

#[test]
fn leaving_for_good_ends_the_session_and_leaving_to_resume_keeps_it() {
    for (code, is_kept) in [(CLOSE_FOR_GOOD, false), (CLOSE_RESUMABLE, true)] {
        let mut world = live(kind);
        let seq = world.told[0].seq.expect("a READY has a number");
        world.give(Input::Committed(seq));
        world.give(Input::Leave(code));
        assert_eq!(world.did.last(), Some(&Did::Closed(code)));
        assert_eq!(world.machine.session_state().session.is_some(), is_kept);
        world.pass(HOUR_MS);
        assert_eq!(world.connects(), 1);
    }
}
