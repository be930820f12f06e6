//! Many bots and a busy server: does every bot hear every message, in order?
//!
//! `cargo run --release -p guildhall-sim --example load [BOTS] [MESSAGES]` (200 and 5,000)
//!
//! Prints counters and ends with an error when anything is missing. How long it takes is printed
//! and judged by nobody.

use std::time::Instant;

use futures_util::{SinkExt, StreamExt};
use guildhall_sim::{Rules, Scenario, SimConfig};
use http_body_util::Full;
use hyper_util::client::legacy::Client;
use hyper_util::rt::TokioExecutor;
use serde_json::{Value, json};
use tokio_tungstenite::tungstenite::Message;

type Failure = Box<dyn std::error::Error + Send + Sync>;

/// How often a bot shows that it is alive.
const HEARTBEAT: std::time::Duration = std::time::Duration::from_secs(20);
/// Requests that are under way at once.
const WRITERS: usize = 8;

/// Logs in, says so, then counts messages until all are there.
async fn bot(
    url: String,
    token: String,
    wanted: usize,
    ready: tokio::sync::mpsc::Sender<()>,
) -> Result<usize, Failure> {
    let (mut socket, _) = tokio_tungstenite::connect_async(url).await?;
    let (mut heard, mut last) = (0, 0);
    let mut heartbeat = tokio::time::interval(HEARTBEAT);
    while heard < wanted {
        let message = tokio::select! {
            message = socket.next() => message,
            _ = heartbeat.tick() => {
                socket.send(Message::text(r#"{"op":1,"d":null}"#)).await?;
                continue;
            }
        };
        let Some(message) = message else { break };
        let message = message?;
        if let Message::Close(frame) = message {
            return Err(format!("closed after {heard} messages: {frame:?}").into());
        }
        let frame: Value = serde_json::from_str(message.to_text()?)?;
        if frame["op"] == 10 {
            let data = json!({ "token": token, "intents": 1 | 1 << 9 | 1 << 15, "properties": {} });
            socket
                .send(Message::text(json!({ "op": 2, "d": data }).to_string()))
                .await?;
        }
        if let Some(number) = frame["s"].as_u64() {
            if number != last + 1 {
                return Err(format!("frame {number} came after {last}").into());
            }
            last = number;
        }
        match frame["t"].as_str() {
            Some("GUILD_CREATE") => ready.send(()).await?,
            Some("MESSAGE_CREATE") => heard += 1,
            _ => {}
        }
    }
    Ok(heard)
}

async fn speak(control: String, from: usize, to: usize) -> Result<(), Failure> {
    let client = Client::builder(TokioExecutor::new()).build_http();
    for number in from..to {
        let body = json!({ "channel": "general", "author": "Ana", "content": number.to_string() });
        let request = hyper::Request::post(format!("{control}/messages"))
            .body(Full::new(bytes::Bytes::from(body.to_string())))?;
        let answer = client.request(request).await?;
        if answer.status() != 200 {
            return Err(format!("message {number}: {}", answer.status()).into());
        }
    }
    Ok(())
}

#[tokio::main(flavor = "multi_thread", worker_threads = 2)]
async fn main() -> Result<(), Failure> {
    let number = |index: usize, usual: usize| match std::env::args().nth(index) {
        Some(text) => text.parse(),
        None => Ok(usual),
    };
    let (bots, messages) = (number(1, 200)?, number(2, 5_000)?);
    let rules = Rules {
        max_concurrency: u32::MAX,
        ..Rules::lenient()
    };
    let scenario = Scenario {
        rules,
        ..Scenario::demo()
    };
    let sim = guildhall_sim::start(SimConfig::new(scenario)).await?;
    let (ready, mut readies) = tokio::sync::mpsc::channel(bots.max(1));
    let url = sim.origin().replacen("http", "ws", 1);
    let listeners: Vec<_> = (0..bots)
        .map(|_| tokio::spawn(bot(url.clone(), sim.token(), messages, ready.clone())))
        .collect();
    for _ in 0..bots {
        readies.recv().await;
    }
    println!("bots connected      {bots}");
    let began = Instant::now();
    let share = messages.div_ceil(WRITERS);
    let writers: Vec<_> = (0..WRITERS)
        .map(|index| {
            let (from, to) = (index * share, ((index + 1) * share).min(messages));
            tokio::spawn(speak(sim.control(), from.min(to), to))
        })
        .collect();
    for writer in writers {
        writer.await??;
    }
    let mut heard = 0;
    for listener in listeners {
        heard += listener.await??;
    }
    println!("messages sent       {messages}");
    println!("events expected     {}", bots * messages);
    println!("events heard        {heard}");
    println!("seconds             {:.1}", began.elapsed().as_secs_f64());
    sim.stop().await;
    if heard == bots * messages {
        Ok(())
    } else {
        Err("some bots missed something".into())
    }
}
