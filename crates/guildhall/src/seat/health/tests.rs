//! Conditions: when they begin, how long they last, and which of them starve the watchdog.

use super::*;
use guildhall_binding::Expect;
use guildhall_connector::{
    Connector,
    carry::Carry,
    durable::Durable,
    moment::{Brake, Brakes, Moment, Mono},
    record::Owner,
    status::{AtWork, OpenDelivery},
};
use std::{path::Path, sync::Arc};

const LIVE_AT: u64 = 1_800_000_000_000;

fn status() -> Status {
    let bytes = include_bytes!("../../../../../examples/binding.minimal.json");
    let expect = Expect {
        name: None,
        data_root: Path::new("/data"),
        home: None,
    };
    let policy = guildhall_binding::read(bytes, expect).expect("the example is valid");
    let (_, book) = guildhall_authority::permit::found();
    let durable = Durable::of_carry(Carry::default());
    let connector = Connector::new(Arc::new(policy), durable, book);
    connector.status(&Moment {
        mono: Mono(0),
        wall: wall(0),
        brakes: Brakes {
            stop: Brake::Off,
            estop: Brake::Off,
        },
    })
}

fn link(stage: LinkStage, heard_ms: u64) -> LinkStatus {
    LinkStatus {
        stage,
        since_ms: LIVE_AT,
        heard_ms: Some(heard_ms),
        event_ms: None,
        connects_count: 1,
        last_loss: None,
    }
}

fn wall(after_ms: u64) -> Wall {
    Wall(i64::try_from(LIVE_AT + after_ms).expect("a time"))
}

fn observe(
    health: &mut Health,
    after_ms: u64,
    heard_ms: u64,
    status: &Status,
) -> Vec<&'static str> {
    let link = link(LinkStage::Live, LIVE_AT + heard_ms);
    let _changed = health.observe(&Seen {
        now: wall(after_ms),
        status,
        link: Some(&link),
        runs: Vec::new(),
    });
    health.told().iter().map(|told| told.what).collect()
}

fn channel() -> ChannelId {
    ChannelId::from_number(4).expect("not zero")
}

/// A message that Discord made so long after the link went live.
fn message(after_ms: u64) -> MessageId {
    let made = LIVE_AT + after_ms - MessageId::from_number(1).expect("one").created_ms();
    MessageId::from_number(made << 22 | 1).expect("not zero")
}

fn looked(newest: MessageId) -> Looked {
    Looked {
        channel: channel(),
        kind: PlaceKind::Text,
        newest: Some(newest),
    }
}

#[test]
fn a_live_link_that_is_silent_for_two_heartbeats_starves_the_watchdog() {
    let mut health = Health::default();
    assert_eq!(observe(&mut health, 80_000, 0, &status()), [""; 0]);
    assert!(health.is_alive());
    assert_eq!(
        observe(&mut health, 91_000, 0, &status()),
        ["gateway-silent"]
    );
    assert!(!health.is_alive());
    assert_eq!(observe(&mut health, 92_000, 91_500, &status()), [""; 0]);
    assert!(health.is_alive());
}

#[test]
fn a_link_that_is_being_mended_is_degraded_and_alive_since_it_was_lost() {
    let mut health = Health::default();
    for after_ms in [1_000, 500_000] {
        let down = link(LinkStage::Waiting, LIVE_AT);
        let changed = health.observe(&Seen {
            now: wall(after_ms),
            status: &status(),
            link: Some(&down),
            runs: Vec::new(),
        });
        assert_eq!(changed, after_ms == 1_000);
        let told = health.told();
        assert_eq!((told[0].what, told[0].since), ("link-down", wall(1_000)));
        assert!(health.is_alive());
    }
}

#[test]
fn a_gateway_is_deaf_when_two_looks_find_a_message_that_was_never_told_of() {
    let mut health = Health::default();
    observe(&mut health, 0, 0, &status());
    let untold = looked(message(10_000));
    assert!(
        !health.looked(wall(20_000), 60_000, untold),
        "it may still come"
    );
    assert!(
        health.looked(wall(80_000), 60_000, untold),
        "to be looked at again"
    );
    assert_eq!(observe(&mut health, 80_000, 80_000, &status()), [""; 0]);
    assert!(!health.looked(wall(90_000), 60_000, untold));
    assert_eq!(
        observe(&mut health, 90_000, 90_000, &status()),
        ["gateway-deaf"]
    );
    assert!(!health.is_alive());
    assert!(health.is_deaf());

    health.heard(wall(95_000), channel(), message(10_000));
    health.looked(wall(110_000), 60_000, untold);
    assert_eq!(observe(&mut health, 110_000, 110_000, &status()), [""; 0]);
}

#[test]
fn no_gateway_is_called_deaf_on_a_message_that_it_need_not_tell_of() {
    type Case = (&'static str, Option<u64>, Looked);
    let cases: [Case; 5] = [
        ("from before the link", None, looked(message(1_000))),
        ("told of", Some(10_000), looked(message(10_000))),
        ("told of later ones", Some(20_000), looked(message(10_000))),
        (
            "of a forum",
            None,
            Looked {
                kind: PlaceKind::Forum,
                ..looked(message(10_000))
            },
        ),
        (
            "of an empty channel",
            None,
            Looked {
                newest: None,
                ..looked(message(10_000))
            },
        ),
    ];
    for (name, told, looked) in cases {
        let mut health = Health::default();
        observe(&mut health, 0, 0, &status());
        if let Some(told) = told {
            health.heard(wall(told), channel(), message(told));
        }
        for after_ms in [200_000, 300_000, 400_000] {
            assert!(!health.looked(wall(after_ms), 60_000, looked), "{name}");
        }
        assert!(!health.is_deaf(), "{name}");
    }
}

#[test]
fn a_queue_that_is_being_worked_off_is_not_deaf_and_neither_is_another_session() {
    let mut health = Health::default();
    observe(&mut health, 0, 0, &status());
    let other = ChannelId::from_number(5).expect("not zero");
    for after_ms in [100_000, 200_000] {
        health.heard(wall(after_ms - 1_000), other, message(after_ms - 90_000));
        assert!(!health.looked(wall(after_ms), 60_000, looked(message(10_000))));
    }
    assert!(health.looked(wall(300_000), 60_000, looked(message(10_000))));
    let mut again = link(LinkStage::Live, LIVE_AT + 310_000);
    again.since_ms = LIVE_AT + 310_000;
    health.observe(&Seen {
        now: wall(310_000),
        status: &status(),
        link: Some(&again),
        runs: Vec::new(),
    });
    assert!(!health.looked(wall(400_000), 60_000, looked(message(10_000))));
    assert!(!health.is_deaf());
}

#[test]
fn a_run_that_outlives_its_abort_starves_the_watchdog() {
    let mut health = Health::default();
    let row: RowId = "1203491293471234567".parse().expect("a row");
    let mut working = status();
    working.at_work = vec![AtWork {
        route: Route::Seat,
        row,
        step: "aborting",
    }];
    for (after_ms, alive) in [(0, true), (59_000, true), (61_000, false)] {
        let live = link(LinkStage::Live, LIVE_AT + after_ms);
        health.observe(&Seen {
            now: wall(after_ms),
            status: &working,
            link: Some(&live),
            runs: vec![row],
        });
        assert_eq!(health.is_alive(), alive, "after {after_ms} ms");
    }
    working.at_work[0].step = "running";
    let live = link(LinkStage::Live, LIVE_AT + 62_000);
    health.observe(&Seen {
        now: wall(62_000),
        status: &working,
        link: Some(&live),
        runs: vec![row],
    });
    assert!(health.is_alive(), "a run that is awaited may take its time");
}

#[test]
fn what_a_new_start_would_not_mend_is_told_and_does_not_starve_the_watchdog() {
    let mut health = Health::default();
    let mut troubled = status();
    troubled.room = "none";
    troubled.paused = vec![(Route::Seat, "unknown".to_owned())];
    troubled.deliveries = vec![OpenDelivery {
        nonce: Nonce::derive("b", "o", "answer", 1, 0),
        owner: Owner::Row("1203491293471234567".parse().expect("a row")),
        step: "stuck",
    }];
    let found = observe(&mut health, 1_000, 1_000, &troubled);
    assert_eq!(found, ["no-room", "delivery-stuck", "route-paused"]);
    assert!(health.is_alive());
    assert!(
        health
            .line()
            .is_some_and(|line| line.starts_with("degraded: "))
    );
    assert_eq!(observe(&mut health, 2_000, 2_000, &status()), [""; 0]);
    assert_eq!(health.line(), None);
}
