//! Random schedules: whatever comes in whatever order, some things always hold.

use super::*;

fn anything(random: &mut fastrand::Rng, seq: u64) -> Says {
    let frame = |value: Value| Says::Frame(value);
    match random.u8(0..16) {
        0 => here(900),
        1 => Says::Address(Address::Later(Duration::from_secs(3))),
        2 => Says::Open,
        3 => hello(),
        4 => ack(),
        5 => ready(BOT),
        6 => resumed(seq),
        7 => frame(json!({ "op": 7 })),
        8 => frame(json!({ "op": 9, "d": random.bool() })),
        9 => frame(json!({ "op": 1 })),
        10 => frame(deletion(seq)),
        11 => frame(typing(seq)),
        12 => Says::Closes(
            random
                .choice([None, Some(1000), Some(4000), Some(4007), Some(4009)])
                .flatten(),
        ),
        13 => Says::Breaks(DownWhy::Lost),
        14 => frame(json!({ "op": 10, "d": { "heartbeat_interval": random.i64(-5..100_000) } })),
        _ => frame(json!({ "op": random.u64(0..50), "s": random.bool(), "t": 7, "d": [] })),
    }
}

/// What must hold after every input, whatever it was.
#[derive(Default)]
struct Watch {
    is_connected: bool,
    connects: Vec<u64>,
    told: u64,
}

impl Watch {
    fn look(&mut self, now: u64, outputs: &[Output], machine: &Machine, seed: u64) {
        for output in outputs {
            match output {
                Output::Connect(_) => {
                    assert!(!self.is_connected, "one connection at a time, seed {seed}");
                    self.is_connected = true;
                    self.connects.push(now);
                }
                Output::Close(_) => self.is_connected = false,
                Output::Send(_) => assert!(self.is_connected, "seed {seed}"),
                Output::Deliver(event) => self.told += u64::from(event.seq.is_some()),
                Output::FindAddress | Output::SessionChanged | Output::Ended => {}
            }
        }
        let ends = machine.stage() == LinkStage::Ended;
        assert_eq!(
            machine.deadline().is_none(),
            ends,
            "it always has a next step, seed {seed}"
        );
    }

    /// No minute sees more connects than the back-off's first steps.
    fn assert_pace(&self, seed: u64) {
        for window in self.connects.windows(9) {
            let (first, last) = (window[0], window[8]);
            assert!(
                last - first >= 4_000,
                "nine connects in {} ms, seed {seed}",
                last - first
            );
        }
    }
}

#[test]
fn whatever_comes_there_is_one_connection_a_next_step_and_a_pace() {
    for seed in 0..2_000 {
        let mut random = fastrand::Rng::with_seed(seed);
        let mut world = World::resuming(kept(5), seed, |_: &Did| vec![]);
        let mut watch = Watch::default();
        let outputs = world.machine.on(world.now, Input::Start);
        watch.look(world.now.mono_ms, &outputs, &world.machine, seed);
        for step in 0..200 {
            world.sleep(random.choice([0, 1, 500, 5_000, 20_000]).unwrap_or(0));
            let tick = world.machine.on(world.now, Input::Tick);
            watch.look(world.now.mono_ms, &tick, &world.machine, seed);
            let outputs = match anything(&mut random, step) {
                Says::Address(address) => world.machine.on(world.now, Input::Address(address)),
                Says::Open => world.machine.on(world.now, Input::Opened),
                Says::Frame(frame) => world
                    .machine
                    .on(world.now, Input::Frame(&frame.to_string())),
                Says::Closes(code) => world.machine.on(world.now, Input::Closed(code)),
                Says::Breaks(why) => world.machine.on(world.now, Input::Broke(why)),
            };
            watch.look(world.now.mono_ms, &outputs, &world.machine, seed);
        }
        watch.assert_pace(seed);
    }
}
