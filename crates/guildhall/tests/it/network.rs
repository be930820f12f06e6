//! Faults of Discord's REST side: lost, late, refused and limited posts.
//!
//! In: faults of the simulator, and a middleman that breaks what the simulator cannot. Out: each
//! message answered once, whether the seat lives through the trouble or dies in it. Never: a post
//! that is repeated under another nonce.

use crate::{
    ask::Mix,
    hall::Hall,
    middleman::{Middleman, Trick},
    pool::{all_hold, case},
    seat::Ended,
    stage::Stage,
    waiting::until,
};
use serde_json::{Value, json};

/// Cases at once: nearly all of their time is waiting.
const AT_ONCE: usize = 6;

fn on_post(fault: Value) -> Value {
    let mut fault = fault;
    for (key, value) in [("on", "request"), ("method", "POST"), ("path", "/messages")] {
        fault[key] = json!(value);
    }
    fault
}

/// Faults and how often each strikes.
fn troubles() -> Vec<(&'static str, Vec<Value>)> {
    let status = |status: u16| on_post(json!({"kind": "status", "status": status, "times": 2}));
    let limit = |scope: &str| {
        on_post(json!({"kind": "rate_limit", "scope": scope, "retry_after_ms": 400, "times": 2}))
    };
    vec![
        (
            "lost answers",
            vec![on_post(json!({"kind": "lose_response", "times": 3}))],
        ),
        (
            "lost requests",
            vec![on_post(json!({"kind": "lose_request", "times": 3}))],
        ),
        ("429 of the route", vec![limit("user")]),
        ("429 of the channel", vec![limit("shared")]),
        ("429 of everything", vec![limit("global")]),
        (
            "429 without a time",
            vec![on_post(json!({"kind": "status", "status": 429}))],
        ),
        ("500", vec![status(500)]),
        (
            "502 as a page",
            vec![on_post(
                json!({"kind": "status", "status": 502, "html": "<p>no</p>"}),
            )],
        ),
        ("503, then 504", vec![status(503), status(504)]),
        (
            "a body in two halves",
            vec![on_post(json!({"kind": "slow_body", "ms": 700, "times": 2}))],
        ),
        (
            "a lost answer, then 503",
            vec![
                on_post(json!({"kind": "lose_response"})),
                on_post(json!({"kind": "status", "status": 503, "skip": 1})),
            ],
        ),
    ]
}

#[test]
fn whatever_becomes_of_a_post_each_message_is_answered_once() {
    let mut cases = Vec::new();
    for (name, faults) in troubles() {
        let crashing = faults.clone();
        cases.push(case(name, move || live_through(&faults)));
        cases.push(case(name, move || die_in(&crashing)));
    }
    for (name, trick) in [
        (
            "a post that is done and answered with 502",
            Trick::DoneAnswered(502),
        ),
        ("a connection that is dropped in the middle", Trick::Dropped),
    ] {
        cases.push(case(name, move || behind_a_middleman(trick)));
    }
    let stalled = || behind_a_middleman(Trick::Stalled);
    cases.push(case(
        "a socket that takes a post and never answers",
        stalled,
    ));
    all_hold(&cases, AT_ONCE);
}

fn live_through(faults: &[Value]) {
    let mut stage = Stage::open();
    faults.iter().for_each(|fault| stage.hall.arm(fault));
    let said = stage.say(Mix::TwoRoutes);
    stage.answered(&said);
    stage.struck();
}

fn die_in(faults: &[Value]) {
    let mut stage = Stage::open();
    faults.iter().for_each(|fault| stage.hall.arm(fault));
    let said = stage.say(Mix::TwoRoutes);
    stage.struck();
    stage.crash();
    stage.accounted(&said);
}

/// The middleman plays its trick on the first two posts after the greeting.
fn behind_a_middleman(trick: Trick) {
    let hall = Hall::open();
    let middleman = Middleman::before(&hall);
    let mut stage = Stage::of(hall, &middleman.binding());
    middleman.play(trick, 2);
    let said = stage.say(Mix::TwoRoutes);
    stage.answered(&said);
    assert_eq!(middleman.left(), 0, "the trick was played");
    drop(stage);
    drop(middleman);
}

/// Nothing gets through when it starts: it waits, ends when it is asked to, and goes on later.
#[test]
fn a_network_that_is_down_at_a_start_is_waited_for() {
    let mut stage = Stage::open();
    assert_eq!(stage.seat.terminate(), Ended::Exit(0));
    let said = stage.say(Mix::TwoRoutes);
    stage.seat.start(Some("discord.after-post"));
    assert_eq!(stage.seat.end(), Ended::Killed);
    let down = json!({"on": "request", "kind": "lose_request", "times": 100_000});
    stage.hall.arm(&down);
    let waits = "waiting for Discord's time";
    stage.seat.start(None);
    until("a word about it", || stage.seat.log().contains(waits));
    let posts = stage.hall.bot_posts(said[0].channel, said[0].row);
    assert_eq!(
        stage.seat.terminate(),
        Ended::Exit(0),
        "{}",
        stage.seat.last_words()
    );
    stage.seat.start(None);
    until("a word about it", || stage.seat.log().contains(waits));
    let still = stage.hall.bot_posts(said[0].channel, said[0].row);
    assert_eq!(posts.len(), still.len(), "nothing was tried meanwhile");
    stage.hall.control("DELETE", "/faults", None);
    stage.accounted(&said);
    stage.greet(60);
}
