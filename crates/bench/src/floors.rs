//! What nothing that does the same work can be faster than, on this machine, now.
//!
//! In: a folder on the disk that is measured. Out: medians. Never: a floor kept from another run.

use crate::{Failure, fake::Fake, report::Sample, shapes};
use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper_util::{
    client::legacy::{Client, connect::HttpConnector},
    rt::TokioExecutor,
};
use serde::Deserialize;
use std::{
    fs::File,
    io::{Seek, SeekFrom, Write},
    path::Path,
    time::{Duration, Instant},
};

/// How often each floor is measured.
const ROUNDS: usize = 300;
/// A group line of one accepted message, about.
const LINE_BYTES: usize = 700;
/// Room that is written out beforehand.
const ALLOCATED_BYTES: usize = 1 << 20;
/// Frames that are parsed.
const FRAMES: usize = 40_000;

/// The floors of one run.
#[derive(Default)]
pub(crate) struct Floors {
    /// One line written into room that is there already, and synced.
    pub(crate) append: Sample,
    /// The same at the end of a file that grows.
    pub(crate) append_growing: Sample,
    /// One POST of a message over a connection that is open.
    pub(crate) post: Sample,
    /// Frames a second whose few needed fields are read, and nothing else.
    pub(crate) parse: f64,
}

/// What is needed to measure floors again and again, between other things: a figure and its floor
/// must have had the same neighbours on the machine.
pub(crate) struct Probe {
    allocated: File,
    growing: File,
    line: Vec<u8>,
    client: Client<HttpConnector, Full<Bytes>>,
    url: String,
    /// Kept, since its end would end the server that the floor posts to.
    _fake: Fake,
}

impl Probe {
    /// Opens the files and the connection.
    pub(crate) async fn open(folder: &Path) -> Result<Self, Failure> {
        let fake = Fake::start().await?;
        let mut connector = HttpConnector::new();
        connector.set_nodelay(true);
        Ok(Self {
            allocated: append_file(folder, "floor-allocated.jsonl", ALLOCATED_BYTES)?,
            growing: append_file(folder, "floor-growing.jsonl", 0)?,
            line: [vec![b'x'; LINE_BYTES - 1], vec![b'\n']].concat(),
            client: Client::builder(TokioExecutor::new()).build(connector),
            url: format!(
                "{}/api/v10/channels/{}/messages",
                fake.origin,
                shapes::CHANNEL
            ),
            _fake: fake,
        })
    }

    /// Takes one measurement of each floor.
    pub(crate) async fn take(&mut self, floors: &mut Floors) -> Result<(), Failure> {
        floors.append.add(append(&mut self.allocated, &self.line)?);
        if self.allocated.stream_position()? > (ALLOCATED_BYTES - LINE_BYTES) as u64 {
            self.allocated.seek(SeekFrom::Start(0))?;
        }
        floors
            .append_growing
            .add(append(&mut self.growing, &self.line)?);
        floors.post.add(self.post().await?);
        Ok(())
    }

    async fn post(&self) -> Result<Duration, Failure> {
        let body = Bytes::from_static(br#"{"content":"A short answer.","nonce":"n"}"#);
        let request = hyper::Request::post(&self.url)
            .header("content-type", "application/json")
            .body(Full::new(body))?;
        let began = Instant::now();
        let answer = self.client.request(request).await?;
        answer.into_body().collect().await?;
        Ok(began.elapsed())
    }
}

/// Measures the floors that nothing else runs beside.
pub(crate) async fn measure(folder: &Path) -> Result<Floors, Failure> {
    let mut floors = Floors {
        parse: parse()?,
        ..Floors::default()
    };
    let mut probe = Probe::open(folder).await?;
    for _ in 0..ROUNDS {
        probe.take(&mut floors).await?;
    }
    Ok(floors)
}

fn append_file(folder: &Path, name: &str, allocated: usize) -> Result<File, Failure> {
    let mut file = File::create(folder.join(name))?;
    file.write_all(&vec![b'\n'; allocated])?;
    file.sync_all()?;
    file.seek(SeekFrom::Start(0))?;
    Ok(file)
}

fn append(file: &mut File, line: &[u8]) -> Result<Duration, Failure> {
    let began = Instant::now();
    file.write_all(line)?;
    file.sync_data()?;
    Ok(began.elapsed())
}

/// What a seat has to know of a message to drop it.
#[derive(Deserialize)]
struct Needed<'a> {
    op: u8,
    s: Option<u64>,
    #[serde(borrow)]
    t: Option<&'a str>,
    #[serde(borrow)]
    d: NeededMessage<'a>,
}

#[derive(Deserialize)]
struct NeededMessage<'a> {
    id: &'a str,
    channel_id: &'a str,
    guild_id: Option<&'a str>,
    #[serde(borrow)]
    author: NeededAuthor<'a>,
}

#[derive(Deserialize)]
struct NeededAuthor<'a> {
    id: &'a str,
    #[serde(default)]
    bot: bool,
}

pub(crate) fn parse() -> Result<f64, Failure> {
    let frame = |n| shapes::message_frame(n, 1_400_000_000_000_000_000 + n, shapes::EVE, "noise");
    let frames: Vec<String> = (0..1_000).map(frame).collect();
    let began = Instant::now();
    let mut sum = 0_usize;
    for frame in frames.iter().cycle().take(FRAMES) {
        let needed: Needed<'_> = serde_json::from_str(frame)?;
        let message = &needed.d;
        sum += message.id.len() + message.channel_id.len() + message.author.id.len();
        sum += usize::from(message.author.bot) + message.guild_id.map_or(0, str::len);
        sum += usize::from(needed.op) + needed.t.map_or(0, str::len);
        sum += needed.s.map_or(0, |_| 1);
    }
    std::hint::black_box(sum);
    Ok(f64::from(u32::try_from(FRAMES)?) / began.elapsed().as_secs_f64())
}
