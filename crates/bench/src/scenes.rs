//! What is measured: starts, steady turns, a flood, rest.
//!
//! In: the program, the fake. Out: rows of the table. Never: a figure of a scene that failed.

use crate::{
    Args, Failure,
    fake::{Fake, What},
    floors::Floors,
    report::{Aim, Row, Sample, Table, shown},
    seat::{Seat, data_root},
    shapes,
};
use std::{
    fs,
    path::Path,
    time::{Duration, Instant},
};

/// Turns before the steady part, so that caches and connections are warm.
const WARM_TURNS: usize = 20;
/// What `reference` figures call good, for what has no floor in the same run.
const GOOD_START_MILLIS: f64 = 25.0;
const GOOD_RESIDENT_MIB: f64 = 12.0;
const GOOD_PROCESSOR_MILLIS: f64 = 2.0;
const GOOD_SIZE_MIB: f64 = 15.0;

/// Plays every scene.
///
/// # Errors
/// When the program does not do in time what a scene waits for; its last words are in the message.
pub(crate) async fn run(args: &Args, folder: &Path, floors: &Floors) -> Result<Table, Failure> {
    let mut table = Table::of_floors(floors);
    let starts = starts(args, folder).await?;
    let mut fake = Fake::start().await?;
    let root = data_root(folder, "steady", &fake.origin)?;
    let seat = Seat::start(&args.program, &root)?;
    let played = steady(args, &mut fake, &seat, floors, &mut table).await;
    played.map_err(|why| Failure(format!("{why}\n  {}", seat.last_words())))?;
    drop(seat);
    absolute(
        &mut table,
        "start to IDENTIFY",
        "ms",
        millis(starts.median()),
        GOOD_START_MILLIS,
    );
    let bytes = fs::metadata(&args.program)?.len();
    absolute(
        &mut table,
        "size of the program",
        "MiB",
        bytes as f64 / MIB,
        GOOD_SIZE_MIB,
    );
    Ok(table)
}

const MIB: f64 = 1024.0 * 1024.0;

/// A figure that has no floor in the same run: its ratio is to what is called good.
fn absolute(table: &mut Table, what: &'static str, unit: &str, figure: f64, good: f64) {
    table.row(Row {
        what,
        figure: format!("{figure:.2} {unit}"),
        beside: format!("good {good} {unit}"),
        ratio: figure / good,
        aim: Aim::AtMost(1.0),
    });
}

fn millis(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

/// From the spawn to IDENTIFY, each time on a data root of its own.
async fn starts(args: &Args, folder: &Path) -> Result<Sample, Failure> {
    let mut sample = Sample::default();
    for number in 0..args.starts {
        let mut fake = Fake::start().await?;
        let root = data_root(folder, &format!("start{number}"), &fake.origin)?;
        let began = Instant::now();
        let seat = Seat::start(&args.program, &root)?;
        let identified = fake.wait(What::Identify).await;
        let at = identified.map_err(|why| Failure(format!("{why}\n  {}", seat.last_words())))?;
        sample.add(at.duration_since(began));
    }
    Ok(sample)
}

async fn steady(
    args: &Args,
    fake: &mut Fake,
    seat: &Seat,
    floors: &Floors,
    table: &mut Table,
) -> Result<(), Failure> {
    fake.wait(What::Identify).await?;
    let mut sequence = 2;
    let warm = turns(fake, WARM_TURNS, &mut sequence).await?;
    drop(warm);
    tokio::time::sleep(Duration::from_secs(args.rest)).await;
    let resident = seat.resident_kib()?;
    let before = seat.processor_time()?;
    let Turns { to_prompt, to_post } = turns(fake, args.turns, &mut sequence).await?;
    let spent = seat.processor_time()?.saturating_sub(before);
    let (append, post) = (floors.append.median(), floors.post.median());
    // The prompt is seen where it arrives at the provider, so one loopback exchange is in it.
    let floor = ("append + POST", append + post);
    table.time("frame to prompt", &to_prompt, floor, 1.5);
    table.time("answer to POST", &to_post, floor, 1.5);
    drift(table, "frame to prompt, by age", &to_prompt);
    drift(table, "answer to POST, by age", &to_post);
    flood(args, fake, seat, floors, &mut sequence, table).await?;
    let per_turn = millis(spent) / args.turns as f64;
    absolute(
        table,
        "processor time of a turn",
        "ms",
        per_turn,
        GOOD_PROCESSOR_MILLIS,
    );
    absolute(
        table,
        "resident at rest",
        "MiB",
        resident as f64 / 1024.0,
        GOOD_RESIDENT_MIB,
    );
    let grown = seat.resident_kib()? as f64 / resident as f64;
    table.row(Row {
        what: "resident after it all",
        figure: format!("{:.2} MiB", seat.resident_kib()? as f64 / 1024.0),
        beside: "at rest".to_owned(),
        ratio: grown,
        aim: Aim::AtMost(1.5),
    });
    Ok(())
}

/// The last quarter of the turns beside the first.
fn drift(table: &mut Table, what: &'static str, sample: &Sample) {
    let (first, last) = sample.ends();
    table.row(Row {
        what,
        figure: shown(last),
        beside: format!("first quarter {}", shown(first)),
        ratio: last.as_secs_f64() / first.as_secs_f64().max(f64::MIN_POSITIVE),
        aim: Aim::AtMost(1.25),
    });
}

struct Turns {
    to_prompt: Sample,
    to_post: Sample,
}

/// One message after the other, each answered before the next.
async fn turns(fake: &mut Fake, count: usize, sequence: &mut u64) -> Result<Turns, Failure> {
    let mut measured = Turns {
        to_prompt: Sample::default(),
        to_post: Sample::default(),
    };
    for _ in 0..count {
        *sequence += 1;
        let frame = shapes::message_frame(*sequence, fake.next_id(), shapes::ANA, "good evening");
        let sent = Instant::now();
        fake.send(frame).await?;
        measured
            .to_prompt
            .add(fake.wait(What::Prompt).await?.duration_since(sent));
        let answered = fake.wait(What::Answer).await?;
        measured
            .to_post
            .add(fake.wait(What::Post).await?.duration_since(answered));
    }
    Ok(measured)
}

/// Events of strangers as fast as they are read, then one message: its prompt ends the count.
async fn flood(
    args: &Args,
    fake: &mut Fake,
    seat: &Seat,
    floors: &Floors,
    sequence: &mut u64,
    table: &mut Table,
) -> Result<(), Failure> {
    let mut frames = Vec::with_capacity(args.drops);
    for _ in 0..args.drops {
        *sequence += 1;
        frames.push(shapes::message_frame(
            *sequence,
            fake.next_id(),
            shapes::EVE,
            "noise",
        ));
    }
    let before = seat.processor_time()?;
    let began = Instant::now();
    for frame in frames {
        fake.send(frame).await?;
    }
    turns(fake, 1, sequence).await?;
    let rate = args.drops as f64 / began.elapsed().as_secs_f64();
    table.row(Row {
        what: "drops a second",
        figure: format!("{rate:.0}/s"),
        beside: format!("bare parse {:.0}/s", floors.parse),
        ratio: rate / floors.parse,
        aim: Aim::AtLeast(0.5),
    });
    let spent = seat.processor_time()?.saturating_sub(before);
    let own = args.drops as f64 / spent.as_secs_f64().max(0.01);
    table.row(Row {
        what: "drops a processor second",
        figure: format!("{own:.0}/s"),
        beside: format!("bare parse {:.0}/s", floors.parse),
        ratio: own / floors.parse,
        aim: Aim::AtLeast(0.5),
    });
    Ok(())
}
