//! What is measured: starts, steady turns, a flood, rest.
//!
//! In: the program, the fake. Out: rows of the table. Never: a figure of a scene that failed.

use crate::{
    Args, Failure, engines,
    fake::{Fake, What},
    floors::{self, Floors, Probe},
    report::{Aim, Row, Sample, Table, shown},
    seat::{Engine, Seat, data_root},
    shapes,
};
use std::{
    fs,
    path::Path,
    time::{Duration, Instant},
};

/// Turns before the steady part, so that caches and connections are warm.
pub(crate) const WARM_TURNS: usize = 20;
/// What `reference` figures call good, for what has no floor in the same run.
const GOOD_START_MILLIS: f64 = 25.0;
const GOOD_RESIDENT_MIB: f64 = 12.0;
const GOOD_PROCESSOR_MILLIS: f64 = 2.0;
const GOOD_SIZE_MIB: f64 = 15.0;

/// Plays every scene.
///
/// # Errors
/// When the program does not do in time what a scene waits for; its last words are in the message.
pub(crate) async fn run(args: &Args, folder: &Path) -> Result<Table, Failure> {
    let starts = starts(args, folder).await?;
    let mut fake = Fake::start().await?;
    let root = data_root(folder, "steady", &fake.origin, Engine::Native)?;
    let seat = Seat::start(&args.program, &root)?;
    let probe = Probe::open(folder).await?;
    let mut scene = Scene {
        args,
        fake: &mut fake,
        seat: &seat,
        probe,
        sequence: 2,
    };
    let played = scene.play().await;
    let mut table = played.map_err(|why| Failure(format!("{why}\n  {}", seat.last_words())))?;
    drop(seat);
    engines::measure(args, folder, &mut table).await?;
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
pub(crate) fn absolute(table: &mut Table, what: &'static str, unit: &str, figure: f64, good: f64) {
    table.row(Row {
        what,
        figure: format!("{figure:.2} {unit}"),
        beside: format!("good {good} {unit}"),
        ratio: figure / good,
        aim: Aim::AtMost(1.0),
    });
}

pub(crate) fn millis(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

/// From the spawn to IDENTIFY, each time on a data root of its own.
async fn starts(args: &Args, folder: &Path) -> Result<Sample, Failure> {
    let mut sample = Sample::default();
    for number in 0..args.starts {
        let mut fake = Fake::start().await?;
        let root = data_root(
            folder,
            &format!("start{number}"),
            &fake.origin,
            Engine::Native,
        )?;
        let began = Instant::now();
        let seat = Seat::start(&args.program, &root)?;
        let identified = fake.wait(What::Identify).await;
        let at = identified.map_err(|why| Failure(format!("{why}\n  {}", seat.last_words())))?;
        sample.add(at.duration_since(began));
    }
    Ok(sample)
}

/// One program at work, and what is kept between its turns.
struct Scene<'a> {
    args: &'a Args,
    fake: &'a mut Fake,
    seat: &'a Seat,
    probe: Probe,
    sequence: u64,
}

/// What turns took, with the floors that were measured between them.
#[derive(Default)]
struct Turns {
    to_prompt: Sample,
    to_post: Sample,
    floors: Floors,
}

impl Scene<'_> {
    async fn play(&mut self) -> Result<Table, Failure> {
        self.fake.wait(What::Identify).await?;
        self.turns(WARM_TURNS).await?;
        tokio::time::sleep(Duration::from_secs(self.args.rest)).await;
        let resident = self.seat.resident_kib()?;
        let before = self.seat.processor_time()?;
        let Turns {
            to_prompt,
            to_post,
            mut floors,
        } = self.turns(self.args.turns).await?;
        let spent = self.seat.processor_time()?.saturating_sub(before);
        floors.parse = floors::parse()?;
        let mut table = Table::of_floors(&floors);
        // The prompt is seen where it arrives at the provider, so one loopback exchange is in it.
        let floor = (
            "append + POST",
            floors.append.median() + floors.post.median(),
        );
        table.time("frame to prompt", &to_prompt, floor, 1.5);
        table.time("answer to POST", &to_post, floor, 1.5);
        drift(&mut table, "frame to prompt, by age", &to_prompt);
        drift(&mut table, "answer to POST, by age", &to_post);
        self.flood(floors.parse, &mut table).await?;
        let per_turn = millis(spent) / self.args.turns as f64;
        absolute(
            &mut table,
            "processor time of a turn",
            "ms",
            per_turn,
            GOOD_PROCESSOR_MILLIS,
        );
        absolute(
            &mut table,
            "resident at rest",
            "MiB",
            mib(resident),
            GOOD_RESIDENT_MIB,
        );
        let after = self.seat.resident_kib()?;
        table.row(Row {
            what: "resident after it all",
            figure: format!("{:.2} MiB", mib(after)),
            beside: format!("at rest {:.2} MiB", mib(resident)),
            ratio: mib(after) / mib(resident),
            aim: Aim::AtMost(1.5),
        });
        Ok(table)
    }

    /// One message after the other, each answered before the next.
    async fn turns(&mut self, count: usize) -> Result<Turns, Failure> {
        let mut measured = Turns::default();
        for _ in 0..count {
            self.probe.take(&mut measured.floors).await?;
            tokio::time::sleep(Duration::from_millis(self.args.pace)).await;
            let frame = self.frame(shapes::ANA, "good evening");
            let sent = Instant::now();
            self.fake.send(frame).await?;
            measured
                .to_prompt
                .add(self.fake.wait(What::Prompt).await?.duration_since(sent));
            let answered = self.fake.wait(What::Answer).await?;
            measured
                .to_post
                .add(self.fake.wait(What::Post).await?.duration_since(answered));
        }
        Ok(measured)
    }

    fn frame(&mut self, author: &str, content: &str) -> String {
        self.sequence += 1;
        shapes::message_frame(self.sequence, self.fake.next_id(), author, content)
    }

    /// Events of strangers as fast as they are read, then one message: its prompt ends the count.
    async fn flood(&mut self, parse: f64, table: &mut Table) -> Result<(), Failure> {
        let drops = self.args.drops;
        let frames: Vec<String> = (0..drops)
            .map(|_| self.frame(shapes::EVE, "noise"))
            .collect();
        let last = self.frame(shapes::ANA, "good evening");
        let before = self.seat.processor_time()?;
        let began = Instant::now();
        for frame in frames {
            self.fake.send(frame).await?;
        }
        self.fake.send(last).await?;
        let ended = self.fake.wait(What::Prompt).await?;
        let spent = self.seat.processor_time()?.saturating_sub(before);
        self.fake.wait(What::Post).await?;
        let rates = [
            ("drops a second", ended.duration_since(began)),
            (
                "drops a processor second",
                spent.max(Duration::from_millis(10)),
            ),
        ];
        for (what, took) in rates {
            let rate = drops as f64 / took.as_secs_f64();
            table.row(Row {
                what,
                figure: format!("{rate:.0}/s"),
                beside: format!("bare parse {parse:.0}/s"),
                ratio: rate / parse,
                aim: Aim::AtLeast(0.5),
            });
        }
        Ok(())
    }
}

fn mib(kib: u64) -> f64 {
    kib as f64 / 1024.0
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
