//! WebSocket connections: the gateway's, and those of open pages.
//!
//! In: an upgrade request. Out: frames both ways until somebody ends it.
//! Never: decides what a frame means.

use std::sync::Arc;

use futures_util::{SinkExt, StreamExt};
use hyper::body::Incoming;
use hyper::header::{CONNECTION, HeaderValue, SEC_WEBSOCKET_ACCEPT, SEC_WEBSOCKET_KEY, UPGRADE};
use hyper::upgrade::Upgraded;
use hyper::{Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use tokio::io::AsyncWriteExt;
use tokio::sync::broadcast::error::RecvError;
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::handshake::derive_accept_key;
use tokio_tungstenite::tungstenite::protocol::frame::coding::CloseCode;
use tokio_tungstenite::tungstenite::protocol::{CloseFrame, Role, WebSocketConfig};
use tokio_tungstenite::tungstenite::{Error, Message};

use super::http::{Reply, full, text};
use super::shared::{Out, Shared, Task};
use crate::world::ConnectionId;

type Socket = WebSocketStream<TokioIo<Upgraded>>;

/// Largest frame that is read at all; the world closes with 4002 far below it.
const FRAME_MAX_BYTES: usize = 64 * 1024;

/// Path of the page's own connection.
pub(super) const PAGE_PATH: &str = "/page/live";

/// Answers an upgrade and leaves the rest to a task of its own.
pub(super) fn upgrade(shared: &Arc<Shared>, mut request: Request<Incoming>) -> Reply {
    let path = request.uri().path();
    let is_page = path == PAGE_PATH;
    if !is_page && !path.bytes().all(|byte| byte == b'/') {
        return text(StatusCode::NOT_FOUND, "The gateway is at /.");
    }
    let Some(key) = request.headers().get(SEC_WEBSOCKET_KEY).cloned() else {
        return text(StatusCode::BAD_REQUEST, "Sec-WebSocket-Key is missing.");
    };
    if !is_page && let Some(status) = shared.with(|world, _| world.faults.on_upgrade()) {
        let status = StatusCode::from_u16(status).unwrap_or(StatusCode::SERVICE_UNAVAILABLE);
        return text(status, "Armed fault.");
    }
    let pending = hyper::upgrade::on(&mut request);
    let shared = Arc::clone(shared);
    let mut task = shared.task();
    tokio::spawn(async move {
        let Ok(upgraded) = pending.await else { return };
        let mut config = WebSocketConfig::default();
        config.max_message_size = Some(FRAME_MAX_BYTES);
        config.max_frame_size = Some(FRAME_MAX_BYTES);
        let socket =
            Socket::from_raw_socket(TokioIo::new(upgraded), Role::Server, Some(config)).await;
        if is_page {
            page(&shared, socket, &mut task).await;
        } else {
            gateway(&shared, socket, &mut task).await;
        }
    });
    accepted(&key)
}

fn accepted(key: &HeaderValue) -> Reply {
    let mut reply = Response::new(full(""));
    *reply.status_mut() = StatusCode::SWITCHING_PROTOCOLS;
    let headers = reply.headers_mut();
    headers.insert(CONNECTION, HeaderValue::from_static("Upgrade"));
    headers.insert(UPGRADE, HeaderValue::from_static("websocket"));
    let accept = HeaderValue::from_str(&derive_accept_key(key.as_bytes()));
    headers.insert(
        SEC_WEBSOCKET_ACCEPT,
        accept.expect("base64 is always a valid header value"),
    );
    reply
}

/// How a gateway connection ended.
enum End {
    /// The client said goodbye, or TCP broke.
    Client(Option<u16>),
    /// This side ended it; the world knows already.
    Server,
}

async fn gateway(shared: &Shared, mut socket: Socket, task: &mut Task) {
    let (id, mut outbox) = shared.connect();
    let end = loop {
        tokio::select! {
            out = outbox.recv() => match out {
                Some(Out::Frame(frame)) => {
                    if socket.send(Message::text(frame)).await.is_err() {
                        break End::Client(None);
                    }
                }
                Some(Out::Close { code, reason }) => {
                    close(&mut socket, code, reason).await;
                    break End::Server;
                }
                Some(Out::Tear(frame)) => {
                    tear(&mut socket, &frame).await;
                    break End::Server;
                }
                Some(Out::Drop) => break End::Server,
                // The outbox was full.
                None => break End::Client(None),
            },
            read = socket.next() => match heard(shared, id, read) {
                Some(end) => break end,
                None => continue,
            },
            () = task.stopped() => break End::Client(None),
        }
    };
    match end {
        End::Client(code) => shared.disconnect(id, code),
        End::Server => shared.disconnect(id, None),
    }
}

/// Passes a frame on. Gives the end, if this was it.
fn heard(shared: &Shared, id: ConnectionId, read: Option<Result<Message, Error>>) -> Option<End> {
    match read {
        Some(Ok(Message::Text(frame))) => {
            shared.with(|world, now| world.frame(now, id, frame.as_str()));
            None
        }
        // ETF is not imitated; what cannot be read is closed with 4002.
        Some(Ok(Message::Binary(_))) => {
            shared.with(|world, now| world.frame(now, id, "(binary)"));
            None
        }
        Some(Ok(Message::Ping(_) | Message::Pong(_) | Message::Frame(_))) => None,
        Some(Ok(Message::Close(frame))) => {
            Some(End::Client(frame.map(|frame| u16::from(frame.code))))
        }
        Some(Err(_)) | None => Some(End::Client(None)),
    }
}

async fn close(socket: &mut Socket, code: u16, reason: &'static str) {
    let frame = CloseFrame {
        code: CloseCode::from(code),
        reason: reason.into(),
    };
    // The client may be gone already; then there is nobody to tell.
    if socket.close(Some(frame)).await.is_ok() {
        // Waits for the echo, so that the client surely reads the code before TCP ends.
        let echo = async { while let Some(Ok(_)) = socket.next().await {} };
        tokio::time::timeout(std::time::Duration::from_secs(1), echo)
            .await
            .ok();
    }
}

/// Writes half of an unmasked text frame straight to TCP.
async fn tear(socket: &mut Socket, text: &str) {
    let length = u8::try_from(text.len()).unwrap_or(125).min(125);
    let mut bytes = vec![0x81, length];
    bytes.extend(text.bytes().take(usize::from(length) / 2));
    let stream = socket.get_mut();
    if stream.write_all(&bytes).await.is_ok() {
        stream.flush().await.ok();
    }
}

/// Sends an open page the whole state, then every event.
async fn page(shared: &Shared, mut socket: Socket, task: &mut Task) {
    let (state, mut events) = shared.watch_page();
    if socket.send(Message::text(state.to_string())).await.is_err() {
        return;
    }
    loop {
        let event = tokio::select! {
            event = events.recv() => event,
            read = socket.next() => match read {
                Some(Ok(Message::Close(_)) | Err(_)) | None => return,
                Some(Ok(_)) => continue,
            },
            () = task.stopped() => return,
        };
        let text = match event {
            Ok(event) => event.to_string(),
            // Too slow for the single events: everything again.
            Err(RecvError::Lagged(_)) => {
                shared.with(|world, _| world.page_state_json()).to_string()
            }
            Err(RecvError::Closed) => return,
        };
        if socket.send(Message::text(text)).await.is_err() {
            return;
        }
    }
}
