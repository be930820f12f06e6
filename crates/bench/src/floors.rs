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
    time::Instant,
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

/// Measures all of them.
pub(crate) async fn measure(folder: &Path) -> Result<Floors, Failure> {
    Ok(Floors {
        append: append(folder, ALLOCATED_BYTES)?,
        append_growing: append(folder, 0)?,
        post: post().await?,
        parse: parse()?,
    })
}

fn append(folder: &Path, allocated: usize) -> Result<Sample, Failure> {
    let mut file = File::create(folder.join("floor.jsonl"))?;
    file.write_all(&vec![b'\n'; allocated])?;
    file.sync_all()?;
    file.seek(SeekFrom::Start(0))?;
    let line = [vec![b'x'; LINE_BYTES - 1], vec![b'\n']].concat();
    let mut sample = Sample::default();
    for _ in 0..ROUNDS {
        let began = Instant::now();
        file.write_all(&line)?;
        file.sync_data()?;
        sample.add(began.elapsed());
    }
    Ok(sample)
}

async fn post() -> Result<Sample, Failure> {
    let fake = Fake::start().await?;
    let mut connector = HttpConnector::new();
    connector.set_nodelay(true);
    let client = Client::builder(TokioExecutor::new()).build::<_, Full<Bytes>>(connector);
    let url = format!(
        "{}/api/v10/channels/{}/messages",
        fake.origin,
        shapes::CHANNEL
    );
    let body = Bytes::from_static(br#"{"content":"A short answer.","nonce":"n"}"#);
    let mut sample = Sample::default();
    for _ in 0..ROUNDS {
        let request = hyper::Request::post(&url)
            .header("content-type", "application/json")
            .body(Full::new(body.clone()))?;
        let began = Instant::now();
        let answer = client.request(request).await?;
        answer.into_body().collect().await?;
        sample.add(began.elapsed());
    }
    Ok(sample)
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

fn parse() -> Result<f64, Failure> {
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
