//! The gateway half: each connection plays the next script; the last one is played again.

use futures_util::{SinkExt as _, StreamExt as _};
use serde_json::{Value, json};
use std::sync::{Arc, Mutex};
use tokio::{
    net::{TcpListener, TcpStream},
    sync::watch,
};
use tokio_tungstenite::{
    WebSocketStream, accept_async,
    tungstenite::{
        Message,
        protocol::{CloseFrame, frame::coding::CloseCode},
    },
};

/// What a connection does next. After the last step it answers heartbeats.
#[derive(Clone, Debug)]
pub(crate) enum Step {
    /// TCP is accepted and nothing more.
    NoUpgrade,
    /// op 10 with this interval in milliseconds.
    Hello(u64),
    /// Wait for a frame with this op.
    Await(u64),
    /// Send this frame.
    Say(Value),
    /// Send this text.
    SayText(String),
    /// Send those of these frames that come after the number of the last RESUME.
    Replay(Arc<Vec<Value>>),
    /// Close with this code.
    Close(u16),
    /// Drop TCP.
    Drop,
    /// Stop reading and writing, and keep TCP open.
    Freeze,
}

/// What the fake saw.
#[derive(Clone, Debug, Default)]
pub(crate) struct Seen {
    /// Connections that were accepted.
    pub(crate) connects: usize,
    /// Frames of the client, heartbeats left out, with the number of their connection.
    pub(crate) frames: Vec<(usize, Value)>,
    /// Heartbeats, with the number of their connection.
    pub(crate) beats: Vec<(usize, Value)>,
    /// Codes that the client closed with.
    pub(crate) closes: Vec<(usize, Option<u16>)>,
}

/// A gateway on loopback.
pub(crate) struct Gateway {
    url: String,
    seen: watch::Receiver<Seen>,
}

impl Gateway {
    /// Starts one. The scripts are told its own URL.
    pub(crate) async fn start(scripts: impl FnOnce(&str) -> Vec<Vec<Step>>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let url = format!("ws://{}", listener.local_addr().expect("an address"));
        let scripts = scripts(&url);
        let (sender, seen) = watch::channel(Seen::default());
        let sender = Arc::new(Mutex::new(sender));
        tokio::spawn(async move {
            let mut number = 0;
            while let Ok((stream, _)) = listener.accept().await {
                let script = scripts.get(number).or_else(|| scripts.last()).cloned();
                let log = Log {
                    number,
                    sender: Arc::clone(&sender),
                };
                log.note(|seen| seen.connects += 1);
                tokio::spawn(play(stream, script.unwrap_or_default(), log));
                number += 1;
            }
        });
        Self { url, seen }
    }

    pub(crate) fn url(&self) -> &str {
        &self.url
    }

    pub(crate) fn seen(&self) -> Seen {
        self.seen.borrow().clone()
    }

    /// Waits until what was seen satisfies `enough`.
    pub(crate) async fn until(&self, enough: impl FnMut(&Seen) -> bool) -> Seen {
        let mut seen = self.seen.clone();
        let found = tokio::time::timeout(super::PATIENCE, seen.wait_for(enough)).await;
        found
            .expect("the client does it in time")
            .expect("the fake runs")
            .clone()
    }
}

struct Log {
    number: usize,
    sender: Arc<Mutex<watch::Sender<Seen>>>,
}

impl Log {
    fn note(&self, change: impl FnOnce(&mut Seen)) {
        self.sender
            .lock()
            .expect("no panic in the fake")
            .send_modify(change);
    }
}

impl Log {
    fn resumed_after(&self) -> u64 {
        let sender = self.sender.lock().expect("no panic in the fake");
        let frames = &sender.borrow().frames;
        let last = frames.last().expect("a RESUME came");
        last.1["d"]["seq"].as_u64().expect("a RESUME has a number")
    }
}

type Socket = WebSocketStream<TcpStream>;

async fn play(stream: TcpStream, script: Vec<Step>, log: Log) {
    if matches!(script.first(), Some(Step::NoUpgrade)) {
        let kept = stream;
        std::future::pending::<()>().await;
        drop(kept);
        return;
    }
    let Ok(mut socket) = accept_async(stream).await else {
        return;
    };
    for step in script {
        let text = match step {
            Step::NoUpgrade | Step::Drop => return,
            Step::Freeze => {
                std::future::pending::<()>().await;
                return;
            }
            Step::Hello(interval) => {
                json!({ "op": 10, "d": { "heartbeat_interval": interval } }).to_string()
            }
            Step::Await(op) => {
                if !hear_until(&mut socket, &log, Some(op)).await {
                    return;
                }
                continue;
            }
            Step::Close(code) => {
                let frame = CloseFrame {
                    code: CloseCode::from(code),
                    reason: "".into(),
                };
                socket.close(Some(frame)).await.ok();
                hear_until(&mut socket, &log, None).await;
                return;
            }
            Step::Replay(frames) => {
                let after = log.resumed_after();
                for frame in frames
                    .iter()
                    .filter(|frame| frame["s"].as_u64() > Some(after))
                {
                    if socket.send(Message::text(frame.to_string())).await.is_err() {
                        return;
                    }
                }
                continue;
            }
            Step::Say(frame) => frame.to_string(),
            Step::SayText(text) => text,
        };
        if socket.send(Message::text(text)).await.is_err() {
            return;
        }
    }
    hear_until(&mut socket, &log, None).await;
}

/// Reads until a frame with this op came, answering heartbeats; `false` when the client is gone.
async fn hear_until(socket: &mut Socket, log: &Log, wanted: Option<u64>) -> bool {
    while let Some(Ok(message)) = socket.next().await {
        match message {
            Message::Text(text) => {
                let frame: Value = serde_json::from_str(&text).expect("a JSON frame");
                let op = frame["op"].as_u64();
                let entry = (log.number, frame);
                if op == Some(1) {
                    log.note(|seen| seen.beats.push(entry));
                    let ack = Message::text(json!({ "op": 11 }).to_string());
                    if socket.send(ack).await.is_err() {
                        return false;
                    }
                } else {
                    log.note(|seen| seen.frames.push(entry));
                }
                if wanted.is_some() && op == wanted {
                    return true;
                }
            }
            Message::Close(frame) => {
                let code = frame.map(|frame| u16::from(frame.code));
                log.note(|seen| seen.closes.push((log.number, code)));
            }
            Message::Binary(_) | Message::Ping(_) | Message::Pong(_) | Message::Frame(_) => {}
        }
    }
    false
}
