//! How fast events are read. A measurement, so it runs only when asked for, in release:
//! `cargo test --release -p guildhall-discord -- --ignored --nocapture throughput`.

use crate::fake::{bot, dispatch, message, ready};
use guildhall_discord::{
    ApiBase,
    gateway::{Address, Input, Machine, Now, Output, SessionState, Settings},
    rest::GatewayBot,
};
use std::time::{Duration, Instant};

#[test]
#[ignore = "a measurement, for a release build on a quiet machine"]
fn a_hundred_thousand_events_a_second_are_read() {
    const EVENTS: u64 = 400_000;
    let now = Now {
        mono_ms: 1,
        wall_ms: 1_764_000_000_000,
    };
    let base = ApiBase::parse("http://127.0.0.1:1").expect("a loopback origin");
    let random = fastrand::Rng::with_seed(1);
    let settings = Settings::new(bot(), &base);
    let mut machine = Machine::new(settings, SessionState::default(), random);
    let address = GatewayBot {
        url: "ws://127.0.0.1:1".into(),
        identifies_left: Some(900),
        reset_after: Duration::ZERO,
    };
    let hello = r#"{"op":10,"d":{"heartbeat_interval":41250}}"#;
    machine.on(now, Input::Start);
    machine.on(now, Input::Address(Address::Here(address)));
    machine.on(now, Input::Opened);
    machine.on(now, Input::Frame(hello));
    machine.on(now, Input::Frame(&ready(1, "ws://127.0.0.1:1").to_string()));
    let mut stranger = message(
        7,
        &"a line of ordinary talk, as people write it. ".repeat(8),
    );
    stranger["embeds"] = serde_json::json!([{ "title": "x", "description": "y".repeat(200) }]);
    let frame = dispatch(2, "MESSAGE_CREATE", stranger).to_string();
    let begun = Instant::now();
    let mut told = 0;
    for _ in 0..EVENTS {
        let outputs = machine.on(now, Input::Frame(&frame));
        told += outputs
            .iter()
            .filter(|o| matches!(o, Output::Deliver(_)))
            .count();
    }
    let seconds = begun.elapsed().as_secs_f64();
    assert_eq!(told as u64, EVENTS);
    #[expect(clippy::cast_precision_loss, reason = "a rate for people")]
    let rate = EVENTS as f64 / seconds;
    println!("{rate:.0} events a second, {} bytes each", frame.len());
}
