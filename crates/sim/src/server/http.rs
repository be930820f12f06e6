//! Connections and what their requests are for.
//!
//! In: TCP connections. Out: answers of REST, control and page, and upgrades to WebSocket.
//! Never: more connections at once than it can hold.

use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;

use bytes::Bytes;
use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::header::{CONTENT_TYPE, DATE, HeaderValue, UPGRADE};
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio::task::JoinSet;

use super::shared::{Shared, Task};
use super::{guard, page, rest, websocket};

/// Connections at once; further ones wait until one ends.
const CONNECTIONS_MAX_COUNT: usize = 2_048;

/// A body of any origin. An error in it ends the connection in the middle.
pub(crate) type ReplyBody = BoxBody<Bytes, Lost>;
pub(crate) type Reply = Response<ReplyBody>;

/// The connection ends here, on purpose.
#[derive(Clone, Copy, Debug, thiserror::Error)]
#[error("the answer was lost on purpose")]
pub(crate) struct Lost;

/// Takes connections until the simulator stops, then ends those that are left.
pub(super) async fn accept(shared: Arc<Shared>, listener: TcpListener, mut task: Task) {
    let free = Arc::new(Semaphore::new(CONNECTIONS_MAX_COUNT));
    let mut connections = JoinSet::new();
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            () = task.stopped() => break,
        };
        let Ok((stream, _)) = accepted else {
            // Out of file handles or a client that left at once; both pass.
            tokio::task::yield_now().await;
            continue;
        };
        while connections.try_join_next().is_some() {}
        let Ok(permit) = Arc::clone(&free).acquire_owned().await else {
            break;
        };
        let shared = Arc::clone(&shared);
        connections.spawn(async move {
            serve(shared, stream).await;
            drop(permit);
        });
    }
    connections.shutdown().await;
}

async fn serve(shared: Arc<Shared>, stream: TcpStream) {
    // Frames and answers are small; waiting to fill a packet only delays them.
    if stream.set_nodelay(true).is_err() {
        return;
    }
    let service = service_fn(move |request| {
        let shared = Arc::clone(&shared);
        async move { Ok::<_, Lost>(dated(&shared, reply(&shared, request).await?)) }
    });
    let connection = hyper::server::conn::http1::Builder::new()
        .serve_connection(TokioIo::new(stream), service)
        .with_upgrades();
    if let Err(error) = connection.await {
        tracing::debug!(%error, "connection ended");
    }
}

/// Clients read this server's clock from here, so it is the one that tests move.
fn dated(shared: &Shared, mut reply: Reply) -> Reply {
    let now = shared.with(|_, now| now);
    if let Ok(date) = HeaderValue::from_str(&now.http_date()) {
        reply.headers_mut().insert(DATE, date);
    }
    reply
}

async fn reply(shared: &Arc<Shared>, request: Request<Incoming>) -> Result<Reply, Lost> {
    if !guard::is_welcome(request.headers(), shared.origin()) {
        return Ok(text(
            StatusCode::FORBIDDEN,
            "This server answers to this machine only.",
        ));
    }
    let upgrade = request.headers().get(UPGRADE);
    if upgrade.is_some_and(|value| value.as_bytes().eq_ignore_ascii_case(b"websocket")) {
        return Ok(websocket::upgrade(shared, request));
    }
    let path = request.uri().path().to_owned();
    if let Some(inner) = api_path(&path) {
        let inner = inner.to_owned();
        return rest::reply(shared, request, inner).await;
    }
    if let Some(inner) = path.strip_prefix("/control") {
        let inner = inner.to_owned();
        return Ok(crate::control::reply(shared, request, &inner).await);
    }
    if let Some(inner) = path.strip_prefix("/attachments/") {
        return Ok(attachment(shared, inner));
    }
    if request.method() == Method::GET || request.method() == Method::HEAD {
        return Ok(page::reply(&path));
    }
    Ok(text(StatusCode::NOT_FOUND, "There is nothing here."))
}

/// The path below `/api/v10`, `/api/v9` or `/api`.
fn api_path(path: &str) -> Option<&str> {
    let inner = path.strip_prefix("/api")?;
    let inner = ["/v10", "/v9"]
        .iter()
        .find_map(|version| {
            inner
                .strip_prefix(version)
                .filter(|rest| rest.starts_with('/'))
        })
        .unwrap_or(inner);
    inner.starts_with('/').then_some(inner)
}

fn attachment(shared: &Shared, path: &str) -> Reply {
    let id = path.split('/').nth(1).and_then(|id| id.parse().ok());
    let file = id.and_then(|id| shared.with(|world, _| world.files.get(id).cloned()));
    let Some(file) = file else {
        return text(
            StatusCode::NOT_FOUND,
            "This content is no longer available.",
        );
    };
    let mut reply = Response::new(full(file.bytes));
    let kind = HeaderValue::from_str(&file.content_type);
    let fallback = HeaderValue::from_static("application/octet-stream");
    reply
        .headers_mut()
        .insert(CONTENT_TYPE, kind.unwrap_or(fallback));
    for (name, value) in [
        // What people upload must never run as a page of this origin.
        ("content-security-policy", "sandbox; default-src 'none'"),
        ("content-disposition", "attachment"),
        ("x-content-type-options", "nosniff"),
    ] {
        reply
            .headers_mut()
            .insert(name, HeaderValue::from_static(value));
    }
    reply
}

pub(super) fn full(bytes: impl Into<Bytes>) -> ReplyBody {
    Full::new(bytes.into())
        .map_err(|never: Infallible| match never {})
        .boxed()
}

pub(super) fn text(status: StatusCode, message: &'static str) -> Reply {
    let mut reply = Response::new(full(message));
    *reply.status_mut() = status;
    let plain = HeaderValue::from_static("text/plain; charset=utf-8");
    reply.headers_mut().insert(CONTENT_TYPE, plain);
    reply
}

/// JSON whose type is exactly `application/json`.
pub(crate) fn json(status: StatusCode, value: &serde_json::Value) -> Reply {
    let mut reply = Response::new(full(value.to_string()));
    *reply.status_mut() = status;
    reply
        .headers_mut()
        .insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    reply
}

/// The pairs of a query string, decoded.
pub(crate) fn query_pairs(query: Option<&str>) -> Vec<(String, String)> {
    query
        .unwrap_or_default()
        .split('&')
        .filter(|pair| !pair.is_empty())
        .map(|pair| {
            let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
            let decoded = |text: &str| crate::api::percent_decoded(&text.replace('+', " "));
            (decoded(key), decoded(value))
        })
        .collect()
}

/// Reads a body up to `max` bytes; nothing when it is longer or breaks off.
pub(crate) async fn read_body(body: Incoming, max: usize) -> Option<Bytes> {
    let limited: Pin<Box<_>> = Box::pin(http_body_util::Limited::new(body, max).collect());
    limited.await.ok().map(http_body_util::Collected::to_bytes)
}
