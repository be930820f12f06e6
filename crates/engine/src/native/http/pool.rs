//! Connections that outlive an exchange, so that the next one needs no handshake.
//!
//! In: connections whose answer was read to its end. Out: the newest of them that still stands.
//! Never: a connection with bytes of an older answer on it, one past its time, more than a few.

use super::handshake_failed;
use crate::native::problem::Problem;
use bytes::Bytes;
use http_body_util::Full;
use hyper::{
    Request, Response,
    body::Incoming,
    client::conn::http1::{self, SendRequest},
};
use hyper_util::rt::TokioIo;
use std::{
    pin::Pin,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    task::{Context, Poll},
    time::Duration,
};
use tokio::{
    io::{AsyncRead, AsyncWrite, ReadBuf},
    task::JoinHandle,
    time::Instant,
};

/// Largest head of an answer, in bytes, and so also the read buffer of a connection.
const HEAD_MAX_BYTES: usize = 64 * 1024;
/// Most idle connections. As many turns are at work at once by default.
const IDLE_MAX: usize = 4;

/// A connection. Dropping it ends the task that drives it.
pub(super) struct Connection {
    sender: SendRequest<Full<Bytes>>,
    driver: JoinHandle<()>,
    /// Bytes that the other side has sent.
    came: Arc<AtomicU64>,
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.driver.abort();
    }
}

/// How much of an answer had come when an exchange failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Came {
    /// Not a byte.
    Nothing,
    /// Some.
    Bytes,
}

impl Connection {
    /// Begins to speak HTTP over a stream.
    pub(super) async fn over<S>(stream: S) -> Result<Self, Problem>
    where
        S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    {
        let came = Arc::new(AtomicU64::new(0));
        let counted = Counted {
            stream,
            came: Arc::clone(&came),
        };
        let (sender, connection) = http1::Builder::new()
            .max_buf_size(HEAD_MAX_BYTES)
            .handshake(TokioIo::new(counted))
            .await
            .map_err(handshake_failed)?;
        let driver = tokio::spawn(async move {
            // The other half of the exchange sees the same error as a broken body.
            drop(connection.await);
        });
        Ok(Self {
            sender,
            driver,
            came,
        })
    }

    /// Sends a request and waits for the head of its answer.
    pub(super) async fn send(
        &mut self,
        request: Request<Full<Bytes>>,
    ) -> Result<Response<Incoming>, Came> {
        let before = self.came.load(Ordering::SeqCst);
        let answer = match self.sender.ready().await {
            Ok(()) => self.sender.send_request(request).await,
            Err(error) => Err(error),
        };
        answer.map_err(|_| {
            if self.came.load(Ordering::SeqCst) == before {
                Came::Nothing
            } else {
                Came::Bytes
            }
        })
    }
}

/// The idle connections to one place.
pub(super) struct Pool {
    keep: Duration,
    idle: Mutex<Vec<(Instant, Connection)>>,
}

impl Pool {
    /// A pool whose connections are kept for so long; zero keeps none.
    pub(super) fn new(keep: Duration) -> Arc<Self> {
        Arc::new(Self {
            keep,
            idle: Mutex::default(),
        })
    }

    /// The newest idle connection.
    pub(super) fn take(&self) -> Option<Connection> {
        self.expire();
        self.idle().pop().map(|(_, connection)| connection)
    }

    /// Keeps a connection whose last answer was read to its end.
    pub(super) fn put(self: &Arc<Self>, connection: Connection) {
        if self.keep.is_zero() || connection.sender.is_closed() {
            return;
        }
        let mut idle = self.idle();
        if idle.len() < IDLE_MAX {
            idle.push((Instant::now(), connection));
            let (pool, keep) = (Arc::downgrade(self), self.keep);
            // It ends by itself, and sooner when the runtime does.
            drop(tokio::spawn(async move {
                tokio::time::sleep(keep).await;
                pool.upgrade().iter().for_each(|pool| pool.expire());
            }));
        }
    }

    fn expire(&self) {
        let keep = self.keep;
        self.idle()
            .retain(|(since, connection)| since.elapsed() < keep && !connection.sender.is_closed());
    }

    fn idle(&self) -> MutexGuard<'_, Vec<(Instant, Connection)>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A stream that counts what comes.
struct Counted<S> {
    stream: S,
    came: Arc<AtomicU64>,
}

impl<S: AsyncRead + Unpin> AsyncRead for Counted<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<std::io::Result<()>> {
        let before = buffer.filled().len();
        let read = Pin::new(&mut self.stream).poll_read(context, buffer);
        let more = buffer.filled().len() - before;
        self.came.fetch_add(more as u64, Ordering::SeqCst);
        read
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Counted<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<std::io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(context, bytes)
    }

    fn poll_flush(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<std::io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<std::io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}
