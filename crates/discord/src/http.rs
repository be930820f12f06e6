//! One HTTP exchange, and the few connections that are kept open for the next one.
//!
//! In: a request. Out: an answer with its body, or a statement whether the request can have been
//! read by the other side. Never: a second try of anything that may have been written, a redirect,
//! a body beyond its cap, a wait beyond the deadline.

use crate::{
    address::Target,
    net::{DialFault, Dialer, Stream},
};
use bytes::Bytes;
use http_body_util::{BodyExt as _, Full, Limited};
use hyper::{
    HeaderMap, Method, Request,
    client::conn::http1::{self, SendRequest},
    header,
};
use hyper_util::rt::TokioIo;
use std::{
    sync::{Mutex, PoisonError},
    time::Duration,
};
use tokio::{
    task::AbortHandle,
    time::{Instant, timeout_at},
};

/// Connecting, part of the exchange and never longer than it. Shorter, so that a connect that hangs
/// is told from an answer that never came.
const CONNECT_DEADLINE: Duration = Duration::from_secs(10);
/// Connections that are kept for the next exchange.
const IDLE_COUNT: usize = 4;
/// How long a connection is kept. Shorter than servers keep theirs: a request into a connection
/// that the server has just closed ends as unknown.
const IDLE_AGE: Duration = Duration::from_secs(30);

/// A request before it has headers of its own.
pub(crate) struct Outgoing {
    pub(crate) method: Method,
    /// Path with query; it may hold an interaction's token, so it is never logged.
    pub(crate) path: String,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
    /// Largest answer that is read, in bytes.
    pub(crate) body_cap: usize,
    /// The whole exchange, from connecting to the last byte of the body.
    pub(crate) within: Duration,
}

/// An answer that was read.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Body,
}

/// The body of an answer.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Body {
    /// All of it.
    Whole(Bytes),
    /// It stalled, broke off or was over the cap.
    Broken,
}

impl Answer {
    /// The bytes, none where the body broke off.
    pub(crate) fn bytes(&self) -> &[u8] {
        match &self.body {
            Body::Whole(bytes) => bytes,
            Body::Broken => &[],
        }
    }

    /// A header as text.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name)?.to_str().ok()
    }
}

/// How an exchange without an answer ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Loss {
    /// Nothing of the request was written.
    Unsent(DialFault),
    /// It may have been read.
    Unanswered,
    /// It may have been read, and the deadline passed.
    TimedOut,
}

/// A connection; dropped, it is closed, whatever the other side still owes.
struct Connection {
    sender: SendRequest<Full<Bytes>>,
    driver: AbortHandle,
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.driver.abort();
    }
}

struct Idle {
    connection: Connection,
    since: Instant,
}

/// The connections to one origin.
pub(crate) struct Pool {
    target: Target,
    dialer: Dialer,
    idle: Mutex<Vec<Idle>>,
}

impl Pool {
    pub(crate) fn new(target: Target, dialer: Dialer) -> Self {
        Self {
            target,
            dialer,
            idle: Mutex::new(Vec::new()),
        }
    }

    /// Makes one exchange.
    ///
    /// # Cancel safety
    /// A dropped future closes its connection; whether the request was read is then unknown.
    pub(crate) async fn exchange(&self, outgoing: Outgoing) -> Result<Answer, Loss> {
        let deadline = Instant::now() + outgoing.within;
        let body_cap = outgoing.body_cap;
        let mut request = self.request(outgoing);
        while let Some(mut connection) = self.take_idle() {
            let sending = connection.sender.try_send_request(request);
            match timeout_at(deadline, sending).await {
                Ok(Ok(response)) => {
                    return Ok(self.read(response, connection, body_cap, deadline).await);
                }
                Ok(Err(mut error)) => match error.take_message() {
                    // The connection had been closed before a byte was written.
                    Some(unsent) => request = unsent,
                    None => return Err(Loss::Unanswered),
                },
                Err(_) => return Err(Loss::TimedOut),
            }
        }
        let mut connection = self.connect(deadline).await.map_err(Loss::Unsent)?;
        match timeout_at(deadline, connection.sender.try_send_request(request)).await {
            Ok(Ok(response)) => Ok(self.read(response, connection, body_cap, deadline).await),
            Ok(Err(mut error)) => Err(match error.take_message() {
                Some(_) => Loss::Unsent(DialFault::Unreachable),
                None => Loss::Unanswered,
            }),
            Err(_) => Err(Loss::TimedOut),
        }
    }

    fn request(&self, outgoing: Outgoing) -> Request<Full<Bytes>> {
        let mut request = Request::new(Full::new(outgoing.body));
        *request.method_mut() = outgoing.method;
        *request.uri_mut() = outgoing
            .path
            .parse()
            .expect("paths are built from ids, constants and percent-encoded text");
        *request.headers_mut() = outgoing.headers;
        let host = self
            .target
            .authority()
            .parse()
            .expect("a host that was parsed from a URI");
        request.headers_mut().insert(header::HOST, host);
        request
    }

    async fn read(
        &self,
        response: hyper::Response<hyper::body::Incoming>,
        connection: Connection,
        body_cap: usize,
        deadline: Instant,
    ) -> Answer {
        let (head, body) = response.into_parts();
        let whole = timeout_at(deadline, Limited::new(body, body_cap).collect()).await;
        let body = match whole {
            Ok(Ok(collected)) => {
                self.keep(connection);
                Body::Whole(collected.to_bytes())
            }
            Ok(Err(_)) | Err(_) => Body::Broken,
        };
        Answer {
            status: head.status.as_u16(),
            headers: head.headers,
            body,
        }
    }

    async fn connect(&self, deadline: Instant) -> Result<Connection, DialFault> {
        let deadline = deadline.min(Instant::now() + CONNECT_DEADLINE);
        let stream = timeout_at(deadline, self.dialer.dial(&self.target))
            .await
            .map_err(|_| DialFault::TimedOut)??;
        handshake(stream).await
    }

    fn take_idle(&self) -> Option<Connection> {
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        let now = Instant::now();
        idle.retain(|kept| !kept.connection.sender.is_closed() && now - kept.since < IDLE_AGE);
        // A connection whose last answer is not quite finished is left for the next caller.
        let ready = idle
            .iter()
            .rposition(|kept| kept.connection.sender.is_ready())?;
        Some(idle.remove(ready).connection)
    }

    fn keep(&self, connection: Connection) {
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        if idle.len() < IDLE_COUNT && !connection.sender.is_closed() {
            idle.push(Idle {
                connection,
                since: Instant::now(),
            });
        }
    }
}

async fn handshake(stream: Stream) -> Result<Connection, DialFault> {
    let (sender, driver) = http1::handshake(TokioIo::new(stream))
        .await
        .map_err(|_| DialFault::Unreachable)?;
    let driver = tokio::spawn(async move {
        // How a connection ends is told by the exchange that used it.
        drop(driver.await);
    });
    Ok(Connection {
        sender,
        driver: driver.abort_handle(),
    })
}
