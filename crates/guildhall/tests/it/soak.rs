//! The soak: a seat that works for long, with small troubles all the time, does not grow.
//!
//! In: a time, a seed. Out: messages answered once each, and figures of the process that stay where
//! they were. Never: a trouble that would end the process, whose figures would then begin anew.

use crate::{
    ask::Mix,
    hall::{CHANNELS, Hall},
    proc::Figures,
    seat::Ended,
    stage::Stage,
};
use guildhall_sim::Scenario;
use serde_json::{Value, json};
use std::time::{Duration, Instant};

/// How long; the chore `soak` sets it.
const MINUTES_VARIABLE: &str = "GUILDHALL_SOAK_MINUTES";
/// What the troubles are drawn from.
const SEED_VARIABLE: &str = "GUILDHALL_SOAK_SEED";
/// In every run of the tests.
const SHORT: Duration = Duration::from_secs(20);
/// How often the long one says how it is.
const TELL_EVERY: Duration = Duration::from_secs(60);
/// How long a link is left alone: one that lasted so long is taken up again within seconds.
const LINK_LEFT_ALONE: Duration = Duration::from_secs(65);
/// Memory may differ by so much between two moments, whatever the age.
const RESIDENT_SLACK_KIB: u64 = 6 * 1024;
/// Connections that may be open at one moment and not at another.
const FILES_SLACK: u64 = 6;

#[test]
fn a_seat_that_works_for_long_does_not_grow() {
    let number = |name: &str| {
        std::env::var(name)
            .ok()
            .map(|text| text.parse().expect(name))
    };
    let minutes: Option<u64> = number(MINUTES_VARIABLE);
    let length = minutes.map_or(SHORT, |minutes| Duration::from_secs(60 * minutes));
    let seed = number(SEED_VARIABLE).unwrap_or(1);
    println!("soak of {} s, {SEED_VARIABLE}={seed}", length.as_secs());
    let mut soak = Soak::begin(seed);
    let (began, mut told) = (Instant::now(), Instant::now());
    let mut samples = Vec::new();
    while began.elapsed() < length {
        soak.round();
        samples.push((began.elapsed(), soak.figures()));
        if told.elapsed() > TELL_EVERY {
            told = Instant::now();
            soak.tell(began.elapsed());
        }
    }
    soak.tell(began.elapsed());
    judge_growth(&samples, length);
    assert_eq!(soak.stage.seat.terminate(), Ended::Exit(0));
}

struct Soak {
    stage: Stage,
    chance: fastrand::Rng,
    rounds: u64,
    messages: usize,
    /// When the link may be broken again.
    link_due: Instant,
}

impl Soak {
    fn begin(seed: u64) -> Self {
        // A heart that beats often notices a dead line soon.
        let quick = |scenario: &mut Scenario| scenario.rules.heartbeat_interval_ms = 2_000;
        Self {
            stage: Stage::of(Hall::with(quick), &json!({})),
            chance: fastrand::Rng::with_seed(seed),
            rounds: 0,
            messages: 0,
            link_due: Instant::now(),
        }
    }

    /// One trouble, and messages in the middle of it.
    fn round(&mut self) {
        self.rounds += 1;
        let place = usize::try_from(self.rounds % 6).unwrap_or(0) * 2;
        let channels = [CHANNELS[place], CHANNELS[place + 1]];
        self.trouble();
        let mix = *self.chance.choice(Mix::ALL.iter()).expect("a mix");
        let said = mix.say(&self.stage.hall, channels, self.rounds);
        self.messages += said.len();
        self.stage.accounted(&said);
        self.stage.hall.control("DELETE", "/faults", None);
    }

    fn trouble(&mut self) {
        if self.link_due <= Instant::now() {
            self.link_due = Instant::now() + LINK_LEFT_ALONE;
            return self.break_the_link();
        }
        let hall = &self.stage.hall;
        let on_request = |kind: Value| {
            let mut fault = kind;
            fault["on"] = json!("request");
            fault["path"] = json!("/channels/");
            hall.arm(&fault);
        };
        let skip = self.chance.u8(0..4);
        match self.chance.u8(0..9) {
            0 => on_request(json!({"kind": "lose_response", "skip": skip})),
            1 => on_request(json!({"kind": "lose_request", "skip": skip})),
            2 => on_request(json!({"kind": "rate_limit", "scope": "user", "retry_after_ms": 200})),
            3 => {
                on_request(json!({"kind": "rate_limit", "scope": "global", "retry_after_ms": 200}))
            }
            4 => on_request(json!({"kind": "status", "status": 502, "skip": skip})),
            5 => on_request(json!({"kind": "slow_body", "ms": 150})),
            6 => hall.arm(&json!({"on": "dispatch", "kind": "duplicate", "times": 3})),
            _ => {}
        }
    }

    fn break_the_link(&mut self) {
        let hall = &self.stage.hall;
        match self.chance.u8(0..6) {
            0 => hall.strike(&json!({"kind": "drop"})),
            1 => hall.strike(&json!({"kind": "reconnect"})),
            2 => hall.strike(&json!({"kind": "invalid_session", "resumable": true})),
            3 => hall.strike(&json!({"kind": "invalid_session", "resumable": false})),
            4 => hall.strike(&json!({"kind": "half_open"})),
            _ => hall.arm(&json!({"on": "heartbeat"})),
        }
    }

    fn figures(&self) -> Figures {
        Figures::of(self.stage.seat.pid().expect("it runs"))
    }

    fn tell(&self, after: Duration) {
        let Figures {
            resident_kib,
            peak_kib: _,
            files,
            threads,
            children,
        } = self.figures();
        println!(
            "{:>5} s  {} rounds, {} messages: {resident_kib} KiB, {files} files, {threads} threads, {children} children",
            after.as_secs(),
            self.rounds,
            self.messages
        );
    }
}

/// Compares the last fifth of the time with the second one: by then caches are warm.
fn judge_growth(samples: &[(Duration, Figures)], length: Duration) {
    let fifth = length / 5;
    let during = |from: Duration, to: Duration| -> Vec<Figures> {
        let within = samples.iter().filter(|(at, _)| (from..to).contains(at));
        within.map(|(_, figures)| *figures).collect()
    };
    let (early, late) = (during(fifth, 2 * fifth), during(4 * fifth, 2 * length));
    assert!(
        !early.is_empty() && !late.is_empty(),
        "too few rounds: {}",
        samples.len()
    );
    // The least of a time is what stays when nothing is under way.
    let least = |of: &[Figures], what: fn(&Figures) -> u64| of.iter().map(what).min().unwrap_or(0);
    let grown = |what: fn(&Figures) -> u64| (least(&early, what), least(&late, what));
    let (early_kib, late_kib) = grown(|it| it.resident_kib);
    let (early_files, late_files) = grown(|it| it.files);
    let (early_threads, late_threads) = grown(|it| it.threads);
    println!(
        "memory {early_kib} to {late_kib} KiB, files {early_files} to {late_files}, threads {early_threads} to {late_threads}"
    );
    assert!(late_kib <= early_kib + RESIDENT_SLACK_KIB, "memory grew");
    assert!(late_files <= early_files + FILES_SLACK, "open files grew");
    assert!(late_threads <= early_threads + 1, "threads grew");
    assert_eq!(grown(|it| it.children), (0, 0), "children");
}
