//! The limiter in virtual time: what goes when, counted and not timed.

use super::*;

const POST: &str = "POST message";
const PATCH: &str = "PATCH message";
const TYPING: &str = "POST typing";

fn key(route: &'static str, major: u64) -> RouteKey {
    RouteKey {
        route,
        major,
        counting: Counting::Counts,
    }
}

fn go(limiter: &mut Limiter, now: u64, key: RouteKey) -> Ticket {
    let ticket = limiter.enter(key).expect("room in line");
    assert_eq!(limiter.turn(now, ticket), Turn::Go);
    ticket
}

fn windowed(bucket: &str, remaining: u64, reset_after_ms: u64) -> Reading<'_> {
    Reading {
        status: 200,
        bucket: Some(bucket),
        remaining: Some(remaining),
        reset_after_ms: Some(reset_after_ms),
        limited: None,
    }
}

fn limited(scope: Scope, wait_ms: u64) -> Reading<'static> {
    Reading {
        status: 429,
        limited: Some(Limited { scope, wait_ms }),
        ..Reading::default()
    }
}

#[test]
fn a_successful_answer_is_read_and_the_wait_comes_before_the_next_request() {
    let mut limiter = Limiter::default();
    let first = go(&mut limiter, 1_000, key(POST, 1));
    limiter.answered(1_100, first, &windowed("b", 0, 2_000));
    let second = limiter.enter(key(POST, 1)).expect("room in line");
    assert_eq!(limiter.turn(1_200, second), Turn::At(3_150, Hold::Bucket));
    assert_eq!(limiter.turn(3_150, second), Turn::Go);
}

#[test]
fn requests_of_one_bucket_go_one_at_a_time_in_their_order() {
    let mut limiter = Limiter::default();
    let first = go(&mut limiter, 1, key(POST, 1));
    let second = limiter.enter(key(POST, 1)).expect("room in line");
    let third = limiter.enter(key(POST, 1)).expect("room in line");
    assert_eq!(limiter.turn(1, second), Turn::Behind);
    limiter.answered(
        2,
        first,
        &Reading {
            status: 200,
            ..Reading::default()
        },
    );
    assert_eq!(
        limiter.turn(2, third),
        Turn::Behind,
        "the second is before it"
    );
    assert_eq!(limiter.turn(2, second), Turn::Go);
    limiter.leave(second);
    assert_eq!(limiter.turn(3, third), Turn::Go);
}

#[test]
fn typing_and_other_channels_never_delay_a_post() {
    let mut limiter = Limiter::default();
    let typing = go(&mut limiter, 1, key(TYPING, 1));
    let elsewhere = go(&mut limiter, 1, key(POST, 2));
    let post = go(&mut limiter, 1, key(POST, 1));
    assert!(typing < elsewhere && elsewhere < post);
}

#[test]
fn two_routes_share_a_bucket_once_answers_said_so() {
    let mut limiter = Limiter::default();
    let post = go(&mut limiter, 1, key(POST, 1));
    limiter.answered(1, post, &windowed("shared", 5, 1_000));
    let edit = go(&mut limiter, 2, key(PATCH, 1));
    limiter.answered(2, edit, &windowed("shared", 0, 1_000));
    let post = limiter.enter(key(POST, 1)).expect("room in line");
    assert_eq!(limiter.turn(3, post), Turn::At(1_052, Hold::Bucket));
    // The same name in another channel is another bucket.
    let elsewhere = go(&mut limiter, 3, key(POST, 2));
    limiter.answered(3, elsewhere, &windowed("shared", 5, 1_000));
}

#[test]
fn each_kind_of_429_holds_back_what_it_is_about() {
    let cases = [
        ("user", Scope::User, Some(Hold::Bucket), None, None),
        ("shared", Scope::Shared, Some(Hold::Bucket), None, None),
        (
            "global",
            Scope::Global,
            Some(Hold::Global),
            Some(Hold::Global),
            None,
        ),
        (
            "edge",
            Scope::Edge,
            Some(Hold::Edge),
            Some(Hold::Edge),
            Some(Hold::Edge),
        ),
    ];
    for (name, scope, same, other, interaction) in cases {
        let mut limiter = Limiter::default();
        let ticket = go(&mut limiter, 1_000, key(POST, 1));
        limiter.answered(1_000, ticket, &limited(scope, 5_000));
        let interacts = RouteKey {
            counting: Counting::Exempt,
            ..key("POST interaction", 9)
        };
        for (key, want) in [
            (key(POST, 1), same),
            (key(POST, 2), other),
            (interacts, interaction),
        ] {
            let ticket = limiter.enter(key).expect("room in line");
            let want = want.map_or(Turn::Go, |hold| Turn::At(6_050, hold));
            assert_eq!(limiter.turn(1_001, ticket), want, "{name} {}", key.route);
            limiter.leave(ticket);
        }
    }
}

#[test]
fn a_shared_429_outranks_the_window_that_its_headers_show() {
    let mut limiter = Limiter::default();
    let ticket = go(&mut limiter, 1_000, key(POST, 1));
    let reading = Reading {
        bucket: Some("b"),
        remaining: Some(4),
        reset_after_ms: Some(100),
        ..limited(Scope::Shared, 8_000)
    };
    limiter.answered(1_000, ticket, &reading);
    let next = limiter.enter(key(POST, 1)).expect("room in line");
    assert_eq!(limiter.turn(1_500, next), Turn::At(9_050, Hold::Bucket));
    assert_eq!(
        limiter.invalid_count(),
        0,
        "shared limits are not our fault"
    );
}

#[test]
fn a_401_ends_everything_and_one_on_an_interaction_does_not() {
    let unauthorized = Reading {
        status: 401,
        ..Reading::default()
    };
    let mut limiter = Limiter::default();
    let interacts = RouteKey {
        counting: Counting::Exempt,
        ..key("POST interaction", 9)
    };
    let ticket = go(&mut limiter, 1, interacts);
    limiter.answered(1, ticket, &unauthorized);
    assert!(!limiter.is_halted());
    let ticket = go(&mut limiter, 1, key(POST, 1));
    let waiting = limiter.enter(key(POST, 1)).expect("room in line");
    limiter.answered(1, ticket, &unauthorized);
    assert!(limiter.is_halted());
    assert_eq!(limiter.turn(1_000_000, waiting), Turn::Halted);
}

#[test]
fn the_invalid_request_brake_holds_at_five_hundred_in_ten_minutes() {
    let mut limiter = Limiter::default();
    let (mut now, mut sent) = (1, 0);
    // A caller that tries a forbidden channel again and again, for two hours.
    while now < 2 * 60 * 60 * 1_000 {
        let ticket = limiter.enter(key(POST, 1)).expect("room in line");
        if limiter.turn(now, ticket) == Turn::Go {
            sent += 1;
            limiter.answered(
                now,
                ticket,
                &Reading {
                    status: 403,
                    ..Reading::default()
                },
            );
        } else {
            limiter.leave(ticket);
        }
        now += 100;
    }
    assert!(sent <= 13 * INVALID_BRAKE_COUNT, "{sent}");
    assert!(sent >= INVALID_BRAKE_COUNT);
}

#[test]
fn a_server_that_always_says_429_is_asked_at_the_pace_that_it_names() {
    for (scope, wait_ms, most) in [(Scope::Global, 5_000, 13), (Scope::Edge, 60_000, 2)] {
        let mut limiter = Limiter::default();
        let mut sent = 0;
        for now in (1..60_000).step_by(10) {
            let ticket = limiter.enter(key(POST, 1)).expect("room in line");
            if limiter.turn(now, ticket) == Turn::Go {
                sent += 1;
                limiter.answered(now, ticket, &limited(scope, wait_ms));
            } else {
                limiter.leave(ticket);
            }
        }
        assert!(sent <= most, "{sent} in a minute");
    }
}

#[test]
fn no_more_than_the_global_limit_goes_in_one_second() {
    let mut limiter = Limiter::default();
    let mut sent = 0;
    for channel in 1..=200 {
        let ticket = limiter.enter(key(POST, channel)).expect("room in line");
        sent += usize::from(limiter.turn(1_000, ticket) == Turn::Go);
    }
    assert_eq!(sent, GLOBAL_PER_SECOND_COUNT);
}

#[test]
fn the_line_and_the_memory_are_bounded() {
    let mut limiter = Limiter::default();
    let taken = (0..)
        .take_while(|_| limiter.enter(key(POST, 1)).is_some())
        .count();
    assert_eq!(taken, TICKET_COUNT);
    let mut limiter = Limiter::default();
    for channel in 1..=20_000 {
        let now = channel * 100;
        let ticket = go(&mut limiter, now, key(POST, channel));
        limiter.answered(now, ticket, &windowed("b", 4, 1_000));
    }
    assert!(
        limiter.buckets.len() <= BUCKET_COUNT + 1,
        "{}",
        limiter.buckets.len()
    );
    assert!(
        limiter.learned.len() <= BUCKET_COUNT + 1,
        "{}",
        limiter.learned.len()
    );
}

#[test]
fn a_wait_that_no_clock_reaches_is_cut_to_a_day() {
    let mut limiter = Limiter::default();
    let ticket = go(&mut limiter, 1, key(POST, 1));
    limiter.answered(1, ticket, &limited(Scope::Global, u64::MAX));
    let next = limiter.enter(key(POST, 1)).expect("room in line");
    assert_eq!(
        limiter.turn(2, next),
        Turn::At(1 + WAIT_MAX_MS + WAIT_PAD_MS, Hold::Global)
    );
}
