//! What an engine adds to a turn.
//!
//! In: the program, the fake, pi's command where there is one. Out: rows of the table. Never: a
//! provider's own time in a figure: the fake answers at once, from another process.

use crate::{
    Args, Failure,
    fake::{Fake, What},
    report::{Aim, Row, Sample, Table, shown},
    scenes::{WARM_TURNS, absolute, millis},
    seat::{Engine, Seat, data_root},
    shapes,
};
use std::{
    path::Path,
    time::{Duration, Instant},
};

/// Most processor time that a native turn may add to the provider's own time, in milliseconds.
const ADDED_MAX_MILLIS: f64 = 1.0;
/// Turns of a warm pi.
const PI_TURNS: usize = 20;
/// Largest part of the first turn's way to the model that a later one may take.
const WARM_MOST: f64 = 0.25;

/// Adds the rows.
///
/// # Errors
/// When a turn does not come to its end in time, or pi was started again on a warm route.
pub(crate) async fn measure(args: &Args, folder: &Path, table: &mut Table) -> Result<(), Failure> {
    let without = turn(args, folder, Engine::Practice).await?;
    let native = turn(args, folder, Engine::Native).await?;
    // The practice engine does everything that a turn needs but ask somebody.
    let added = (native - without).max(0.0);
    absolute(
        table,
        "processor time native adds",
        "ms",
        added,
        ADDED_MAX_MILLIS,
    );
    if args.pi.is_empty() {
        eprintln!("bench: pi is left out: name its program with --pi");
        return Ok(());
    }
    pi(args, folder, table).await
}

/// Milliseconds of processor time of one turn with an engine.
async fn turn(args: &Args, folder: &Path, engine: Engine<'_>) -> Result<f64, Failure> {
    let name = match engine {
        Engine::Practice => "practice",
        Engine::Native => "native",
        Engine::Pi(_) => "pi",
    };
    let mut fake = Fake::start().await?;
    let root = data_root(folder, name, &fake.origin, engine)?;
    let seat = Seat::start(&args.program, &root)?;
    let told = |why: Failure| Failure(format!("{name}: {why}\n  {}", seat.last_words()));
    fake.wait(What::Identify).await.map_err(told)?;
    let mut talk = Talk { sequence: 2 };
    for _ in 0..WARM_TURNS {
        talk.turn(args, &mut fake, What::Post).await.map_err(told)?;
    }
    let before = seat.processor_time()?;
    for _ in 0..args.turns {
        talk.turn(args, &mut fake, What::Post).await.map_err(told)?;
    }
    let spent = seat.processor_time()?.saturating_sub(before);
    Ok(millis(spent) / args.turns as f64)
}

/// The first turn of a route starts pi, the others find it there.
async fn pi(args: &Args, folder: &Path, table: &mut Table) -> Result<(), Failure> {
    let mut fake = Fake::start().await?;
    let root = data_root(folder, "pi", &fake.origin, Engine::Pi(&args.pi))?;
    let seat = Seat::start(&args.program, &root)?;
    let told = |why: Failure| Failure(format!("pi: {why}\n  {}", seat.last_words()));
    fake.wait(What::Identify).await.map_err(told)?;
    let mut talk = Talk { sequence: 2 };
    let first = talk
        .turn(args, &mut fake, What::Prompt)
        .await
        .map_err(told)?;
    fake.wait(What::Post).await.map_err(told)?;
    let started = seat.children()?;
    let mut warm = Sample::default();
    for _ in 0..PI_TURNS {
        warm.add(
            talk.turn(args, &mut fake, What::Prompt)
                .await
                .map_err(told)?,
        );
        fake.wait(What::Post).await.map_err(told)?;
    }
    let now = seat.children()?;
    if started.len() != 1 || started != now {
        let why = format!("one process was to serve every turn: {started:?}, then {now:?}");
        return Err(told(Failure(why)));
    }
    table.row(Row {
        what: "pi: a later turn's way to the model",
        figure: shown(warm.median()),
        beside: format!("first turn {}", shown(first)),
        ratio: warm.median().as_secs_f64() / first.as_secs_f64().max(f64::MIN_POSITIVE),
        aim: Aim::AtMost(WARM_MOST),
    });
    Ok(())
}

/// One person who says the same thing again and again.
struct Talk {
    sequence: u64,
}

impl Talk {
    /// Says it, and gives how long it was until the fake saw something.
    async fn turn(
        &mut self,
        args: &Args,
        fake: &mut Fake,
        until: What,
    ) -> Result<Duration, Failure> {
        tokio::time::sleep(Duration::from_millis(args.pace)).await;
        self.sequence += 1;
        let frame =
            shapes::message_frame(self.sequence, fake.next_id(), shapes::ANA, "good evening");
        let sent = Instant::now();
        fake.send(frame).await?;
        Ok(fake.wait(until).await?.duration_since(sent))
    }
}
