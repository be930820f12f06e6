//! Faults of the gateway: ends, silence, and sessions that are not taken up.
//!
//! In: what the gateway does to the connection. Out: what was said before, meanwhile and afterwards
//! is answered once, in order. Never: a session that is given up while it could be resumed.

use crate::{
    ask::{Ask, say},
    hall::Hall,
    pool::{all_hold, case},
    stage::{HERE, Stage},
};
use guildhall_sim::Scenario;
use serde_json::{Value, json};

/// Cases at once: nearly all of their time is waiting.
const AT_ONCE: usize = 6;

/// A name, what happens at once, and what is armed for what follows.
fn troubles() -> Vec<(&'static str, Option<Value>, Vec<Value>)> {
    let at_once = |kind: &str| Some(json!({"kind": kind}));
    let session =
        |resumable: bool| Some(json!({"kind": "invalid_session", "resumable": resumable}));
    let close = |code: u16| Some(json!({"kind": "close", "code": code}));
    let armed = |on: &str, kind: &str| json!({"on": on, "kind": kind});
    vec![
        ("a dropped connection", at_once("drop"), vec![]),
        ("a torn frame", at_once("tear"), vec![]),
        ("op 7", at_once("reconnect"), vec![]),
        ("op 9, resumable", session(true), vec![]),
        ("op 9, not resumable", session(false), vec![]),
        ("close 4000", close(4000), vec![]),
        ("close 4009", close(4009), vec![]),
        ("a silent line", at_once("half_open"), vec![]),
        ("an asked heartbeat", at_once("ask_heartbeat"), vec![]),
        (
            "a heartbeat without its answer",
            None,
            vec![json!({"on": "heartbeat"})],
        ),
        (
            "a drop, then no resume",
            at_once("drop"),
            vec![json!({"on": "resume", "kind": "invalid_session", "resumable": false})],
        ),
        (
            "a drop, then silence and a refusal",
            at_once("drop"),
            vec![
                armed("connect", "drop"),
                json!({"on": "connect", "kind": "refuse", "status": 503}),
            ],
        ),
        (
            "events that come twice",
            None,
            vec![
                json!({"on": "dispatch", "kind": "duplicate", "event": "MESSAGE_CREATE", "times": 6}),
            ],
        ),
    ]
}

#[test]
fn whatever_becomes_of_the_link_each_message_is_answered_once() {
    let mut cases = Vec::new();
    for (name, at_once, armed) in troubles() {
        cases.push(case(name, move || live_through(at_once.as_ref(), &armed)));
    }
    all_hold(&cases, AT_ONCE);
}

fn live_through(at_once: Option<&Value>, armed: &[Value]) {
    // A heart that beats often notices a dead line soon.
    let quick = |scenario: &mut Scenario| scenario.rules.heartbeat_interval_ms = 700;
    let mut stage = Stage::of(Hall::with(quick), &json!({}));
    armed.iter().for_each(|fault| stage.hall.arm(fault));
    let [one, two] = HERE;
    let before = say(&stage.hall, one, Ask::Long);
    if let Some(at_once) = at_once {
        stage.hall.strike(at_once);
    }
    let meanwhile = [
        say(&stage.hall, one, Ask::Short(1)),
        say(&stage.hall, two, Ask::Short(2)),
    ];
    stage.answered(&[before, meanwhile[0], meanwhile[1]]);
    stage.struck();
    let afterwards = say(&stage.hall, two, Ask::Short(3));
    stage.answered(&[afterwards]);
}
