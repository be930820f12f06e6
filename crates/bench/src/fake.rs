//! A Discord and a model, as small and as quick as they can be.
//!
//! In: frames to send. Out: when what the program did arrived. Never: a rule of Discord's beyond
//! what one turn needs; other fakes test rules, this one must cost nothing.

use crate::{Failure, shapes};
use axum::{
    Json, Router,
    body::Bytes,
    extract::{
        State, WebSocketUpgrade,
        ws::{Message, WebSocket, rejection::WebSocketUpgradeRejection},
    },
    http::{Method, StatusCode, Uri, header::CONTENT_TYPE},
    response::{IntoResponse, Response},
};
use serde_json::{Value, json};
use std::{
    sync::{
        Arc, Mutex,
        atomic::{AtomicU64, Ordering},
    },
    time::Instant,
};
use tokio::sync::mpsc;

/// Something that the program did, and when it arrived here.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Seen {
    /// When.
    pub(crate) at: Instant,
    /// What.
    pub(crate) what: What,
}

/// What the program did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum What {
    /// It identified itself at the gateway.
    Identify,
    /// It asked the model.
    Prompt,
    /// The model's answer left here.
    Answer,
    /// It posted a message.
    Post,
}

/// The fake's side of the link to the program.
pub(crate) struct Fake {
    /// Where it listens.
    pub(crate) origin: String,
    /// What arrives.
    pub(crate) seen: mpsc::UnboundedReceiver<Seen>,
    hub: Arc<Hub>,
}

struct Hub {
    origin: String,
    seen: mpsc::UnboundedSender<Seen>,
    /// The frames' way to the one live connection.
    frames: Mutex<Option<mpsc::Sender<String>>>,
    next_id: AtomicU64,
}

/// How many frames wait between the scene and the socket.
const FRAMES_AHEAD: usize = 1_024;

impl Fake {
    /// Starts it on a free loopback port.
    pub(crate) async fn start() -> Result<Self, Failure> {
        let listener = tokio::net::TcpListener::bind(("127.0.0.1", 0)).await?;
        let origin = format!("http://{}", listener.local_addr()?);
        let (sender, seen) = mpsc::unbounded_channel();
        let hub = Arc::new(Hub {
            origin: origin.clone(),
            seen: sender,
            frames: Mutex::new(None),
            next_id: AtomicU64::new(1_400_000_000_000_000_000),
        });
        let router = Router::new().fallback(front).with_state(hub.clone());
        let listener = axum::serve::ListenerExt::tap_io(listener, |stream| {
            // A frame must leave when it is sent; without this the kernel may hold it back.
            if let Err(error) = stream.set_nodelay(true) {
                eprintln!("bench: a connection stays slow: {error}");
            }
        });
        tokio::spawn(async move {
            if let Err(error) = axum::serve(listener, router).await {
                eprintln!("bench: the fake ended: {error}");
            }
        });
        Ok(Self { origin, seen, hub })
    }

    /// A snowflake that is later than every other one.
    pub(crate) fn next_id(&self) -> u64 {
        self.hub.next_id()
    }

    /// Sends a frame on the live connection; waits while too many are under way.
    pub(crate) async fn send(&self, frame: String) -> Result<(), Failure> {
        let live = self
            .hub
            .frames
            .lock()
            .map(|live| live.clone())
            .unwrap_or_default();
        let live = live.ok_or_else(|| Failure("the program is not connected".to_owned()))?;
        live.send(frame)
            .await
            .map_err(|_| Failure("the connection ended".to_owned()))
    }

    /// Waits for the next thing of this kind.
    pub(crate) async fn wait(&mut self, what: What) -> Result<Instant, Failure> {
        loop {
            let next = tokio::time::timeout(std::time::Duration::from_secs(60), self.seen.recv());
            match next.await {
                Ok(Some(seen)) if seen.what == what => return Ok(seen.at),
                Ok(Some(_)) => {}
                _ => return Err(Failure(format!("waited in vain for {what:?}"))),
            }
        }
    }
}

impl Hub {
    fn next_id(&self) -> u64 {
        self.next_id.fetch_add(1 << 22, Ordering::Relaxed)
    }

    fn saw(&self, what: What) {
        let seen = Seen {
            at: Instant::now(),
            what,
        };
        if self.seen.send(seen).is_err() {
            // Nobody listens when a scene is over; then nobody needs to know.
        }
    }
}

async fn front(
    State(hub): State<Arc<Hub>>,
    socket: Result<WebSocketUpgrade, WebSocketUpgradeRejection>,
    method: Method,
    uri: Uri,
    body: Bytes,
) -> Response {
    if let Ok(upgrade) = socket {
        return upgrade.on_upgrade(move |socket| gateway(hub, socket));
    }
    let path = uri.path();
    if path == "/v1/chat/completions" {
        hub.saw(What::Prompt);
        let answer = shapes::completion("A short answer.");
        hub.saw(What::Answer);
        return ([(CONTENT_TYPE, "text/event-stream")], answer).into_response();
    }
    let Some(path) = path.strip_prefix("/api/v10/") else {
        return StatusCode::NOT_FOUND.into_response();
    };
    let parts: Vec<&str> = path.split('/').collect();
    match (method.as_str(), parts.as_slice()) {
        ("POST", ["channels", _, "messages"]) => {
            hub.saw(What::Post);
            posted(&hub, &body)
        }
        ("PUT" | "DELETE", _) | ("POST", [.., "typing"]) => StatusCode::NO_CONTENT.into_response(),
        _ => read(&hub, &parts),
    }
}

fn posted(hub: &Hub, body: &[u8]) -> Response {
    let Ok(said) = serde_json::from_slice::<Value>(body) else {
        return StatusCode::BAD_REQUEST.into_response();
    };
    let content = said["content"].as_str().unwrap_or_default();
    let mut message = shapes::message(hub.next_id(), shapes::BOT, content);
    message["nonce"] = said["nonce"].clone();
    bare_json(&message)
}

fn read(hub: &Hub, parts: &[&str]) -> Response {
    let found = match parts {
        ["gateway", ..] => json!({
            "url": gateway_url(hub), "shards": 1,
            "session_start_limit":
                {"total": 1000, "remaining": 1000, "reset_after": 0, "max_concurrency": 1},
        }),
        ["users", "@me"] => shapes::user(shapes::BOT),
        ["applications" | "oauth2", ..] => shapes::application(),
        ["guilds", _] => shapes::guild(),
        ["guilds", _, "channels"] => json!([shapes::channel()]),
        ["guilds", _, "threads", "active"] => json!({"threads": [], "members": []}),
        ["guilds", _, "members", id] => {
            let mut member = shapes::member();
            member["user"] = shapes::user(id);
            member
        }
        ["guilds", _, "roles"] => shapes::guild()["roles"].clone(),
        ["channels", _] => shapes::channel(),
        ["channels", _, "messages"] => json!([]),
        _ => return StatusCode::NOT_FOUND.into_response(),
    };
    bare_json(&found)
}

fn gateway_url(hub: &Hub) -> String {
    hub.origin.replacen("http", "ws", 1)
}

/// Discord's content type has no character set.
fn bare_json(value: &Value) -> Response {
    Json(value).into_response()
}

async fn gateway(hub: Arc<Hub>, mut socket: WebSocket) {
    let (sender, mut frames) = mpsc::channel(FRAMES_AHEAD);
    let hello = shapes::frame(10, &json!({"heartbeat_interval": 41_250}), None, None);
    if socket.send(Message::text(hello)).await.is_err() {
        return;
    }
    loop {
        let replies = tokio::select! {
            frame = frames.recv() => match frame {
                Some(frame) => vec![frame],
                None => return,
            },
            said = socket.recv() => match said {
                Some(Ok(Message::Text(text))) => answers(&hub, &text, &sender),
                Some(Ok(Message::Close(_)) | Err(_)) | None => return,
                Some(Ok(_)) => Vec::new(),
            },
        };
        for reply in replies {
            if socket.send(Message::text(reply)).await.is_err() {
                return;
            }
        }
    }
}

/// What the gateway says to a client's frame.
fn answers(hub: &Hub, text: &str, sender: &mpsc::Sender<String>) -> Vec<String> {
    let said: Value = serde_json::from_str(text).unwrap_or_default();
    match said["op"].as_u64() {
        Some(1) => vec![shapes::frame(11, &Value::Null, None, None)],
        // A resume in a new process of the same session is taken as a new one: nothing was missed.
        Some(6) => vec![shapes::frame(9, &json!(false), None, None)],
        Some(2) => {
            hub.saw(What::Identify);
            if let Ok(mut live) = hub.frames.lock() {
                *live = Some(sender.clone());
            }
            vec![
                shapes::frame(0, &shapes::ready(&gateway_url(hub)), Some(1), Some("READY")),
                shapes::frame(0, &shapes::guild_create(), Some(2), Some("GUILD_CREATE")),
            ]
        }
        _ => Vec::new(),
    }
}
