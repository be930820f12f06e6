//! REST requests on their way to the world, and the network faults on the way back.
//!
//! In: an HTTP request. Out: the world's answer, late, slow or not at all if a fault says so.
//! Never: an answer that the log does not have.

use std::time::Duration;

use bytes::Bytes;
use futures_util::stream;
use http_body_util::{BodyExt, StreamBody};
use hyper::body::{Frame, Incoming};
use hyper::header::{AUTHORIZATION, CONTENT_TYPE, HeaderName, HeaderValue};
use hyper::{HeaderMap, Request, Response, StatusCode};

use super::http::{Lost, Reply, ReplyBody, full, query_pairs, read_body, text};
use super::shared::Shared;
use crate::api::{self, Answer, Body, REQUEST_MAX_BYTES};
use crate::error::ApiError;
use crate::world::Loss;

/// Answers one request.
///
/// # Errors
///
/// Fails when a fault says that the connection ends without an answer.
pub(super) async fn reply(
    shared: &Shared,
    request: Request<Incoming>,
    path: String,
) -> Result<Reply, Lost> {
    let Some(method) = api::Method::parse(request.method().as_str()) else {
        return Ok(reply_of(&Answer::refusal(&ApiError::METHOD), None));
    };
    let query = query_pairs(request.uri().query());
    let authorization = header(request.headers(), &AUTHORIZATION);
    let content_type = header(request.headers(), &CONTENT_TYPE);
    // One byte more than allowed, so that the world sees that it was too much.
    let Some(body) = read_body(request.into_body(), REQUEST_MAX_BYTES + 1).await else {
        return Ok(reply_of(&Answer::refusal(&ApiError::TOO_LARGE), None));
    };
    let body = body.to_vec();
    let request = api::Request {
        method,
        path,
        query,
        authorization,
        content_type,
        body,
    };
    let plan = shared.with(|world, _| world.plan(&request));
    if plan.delay_ms > 0 {
        tokio::time::sleep(Duration::from_millis(plan.delay_ms)).await;
    }
    let answer = shared.with(|world, now| world.serve(now, &request, &plan));
    match plan.loss {
        Loss::Nothing => Ok(reply_of(&answer, plan.slow_body_ms)),
        Loss::Request | Loss::Response => Err(Lost),
        // It ends with the connection: when the client hangs up, or the simulator stops.
        Loss::StalledRequest | Loss::StalledResponse => std::future::pending().await,
    }
}

fn header(headers: &HeaderMap, name: &HeaderName) -> Option<String> {
    headers
        .get(name)
        .and_then(|value| value.to_str().ok())
        .map(str::to_owned)
}

fn reply_of(answer: &Answer, slow_ms: Option<u64>) -> Reply {
    let (content_type, bytes) = match &answer.body {
        Body::Empty => (None, Bytes::new()),
        Body::Json(text) => (Some("application/json"), Bytes::from(text.clone())),
        Body::Html(page) => (Some("text/html; charset=UTF-8"), Bytes::from(page.clone())),
    };
    let body = match slow_ms {
        Some(ms) => in_two_halves(bytes, ms),
        None => full(bytes),
    };
    let mut reply = Response::new(body);
    let Ok(status) = StatusCode::from_u16(answer.status) else {
        return text(
            StatusCode::INTERNAL_SERVER_ERROR,
            "A fault asked for an impossible status.",
        );
    };
    *reply.status_mut() = status;
    if let Some(content_type) = content_type {
        reply
            .headers_mut()
            .insert(CONTENT_TYPE, HeaderValue::from_static(content_type));
    }
    for (name, value) in &answer.headers {
        let name = HeaderName::from_bytes(name.as_bytes());
        if let (Ok(name), Ok(value)) = (name, HeaderValue::from_str(value)) {
            reply.headers_mut().insert(name, value);
        }
    }
    reply
}

/// The first half at once, the second after a wait.
fn in_two_halves(bytes: Bytes, ms: u64) -> ReplyBody {
    let mut first = bytes;
    let second = first.split_off(first.len() / 2);
    let parts = stream::unfold(vec![second, first], move |mut left| async move {
        let part = left.pop()?;
        if left.is_empty() {
            tokio::time::sleep(Duration::from_millis(ms)).await;
        }
        Some((Ok::<_, Lost>(Frame::data(part)), left))
    });
    StreamBody::new(BoxedStream(Box::pin(parts))).boxed()
}

type Parts = dyn futures_util::Stream<Item = Result<Frame<Bytes>, Lost>> + Send + Sync;

/// A stream behind a pointer, so that the body's type has a name.
struct BoxedStream(std::pin::Pin<Box<Parts>>);

impl futures_util::Stream for BoxedStream {
    type Item = Result<Frame<Bytes>, Lost>;

    fn poll_next(
        mut self: std::pin::Pin<&mut Self>,
        cx: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Option<Self::Item>> {
        self.0.as_mut().poll_next(cx)
    }
}
