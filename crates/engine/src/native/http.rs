//! One HTTP exchange with a provider.
//!
//! In: a base URL, a request, a deadline for the connection. Out: a status, headers and a body that
//! is read piece by piece. Never: a proxy, a redirect, plain http to another machine, a connection
//! that lives on after an answer that was not read to its end.

mod pool; // connections between exchanges

use super::problem::{Problem, retry_after};
use bytes::Bytes;
use http_body_util::{BodyExt as _, Full};
use hyper::{
    Request, Response, Uri,
    body::Incoming,
    header::{self, HeaderMap, HeaderName, HeaderValue},
};
use pool::{Came, Connection, Pool};
use rustls::{RootCertStore, pki_types::ServerName};
use std::{net::IpAddr, sync::Arc, time::Duration};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;

/// Longest time that an idle connection is kept. Servers and what stands between close one that is
/// older, and some of that goes unseen.
const KEEP_MAX: Duration = Duration::from_secs(60);
/// How long the end of a body is waited for behind its last event.
const TAIL: Duration = Duration::from_millis(20);
/// Largest error body that is looked at, in bytes.
const ERROR_BODY_MAX_BYTES: usize = 64 * 1024;

/// Why a base URL cannot be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a base URL is https://host[:port][/path], or http:// on loopback, without user or query")]
pub struct BadBaseUrl;

/// Where a provider is.
#[derive(Clone)]
pub(super) struct Target {
    host: String,
    port: u16,
    authority: String,
    /// Without a slash at its end; empty where the URL has no path.
    path: String,
    tls: Option<TlsConnector>,
    pool: Arc<Pool>,
}

impl Target {
    /// Reads a base URL. Connections are kept for `keep` after an exchange.
    ///
    /// # Errors
    /// [`BadBaseUrl`].
    pub(super) fn parse(base: &str, keep: Duration) -> Result<Self, BadBaseUrl> {
        let uri: Uri = base.parse().map_err(|_| BadBaseUrl)?;
        let authority = uri.authority().ok_or(BadBaseUrl)?;
        if authority.as_str().contains('@') || uri.query().is_some() || base.contains('#') {
            return Err(BadBaseUrl);
        }
        let host = uri.host().ok_or(BadBaseUrl)?;
        let host = host
            .trim_start_matches('[')
            .trim_end_matches(']')
            .to_owned();
        let tls = match uri.scheme_str() {
            Some("https") => Some(tls(public_roots())?),
            Some("http") if is_loopback(&host) => None,
            Some(_) | None => return Err(BadBaseUrl),
        };
        Ok(Self {
            port: uri
                .port_u16()
                .unwrap_or(if tls.is_some() { 443 } else { 80 }),
            authority: authority.as_str().to_owned(),
            path: uri.path().trim_end_matches('/').to_owned(),
            host,
            tls,
            pool: Pool::new(keep.min(KEEP_MAX)),
        })
    }

    /// Whether it is this machine.
    pub(super) fn is_loopback(&self) -> bool {
        is_loopback(&self.host)
    }

    /// The base URL's own path, without a slash at its end.
    pub(super) fn base_path(&self) -> &str {
        &self.path
    }

    /// Posts `body` to `path` and gives the answer's head; its body comes later.
    ///
    /// A connection of an earlier exchange is used where one stands. Where it turns out to be stale,
    /// and not a byte of an answer came over it, the request is sent once more over a new one.
    ///
    /// # Cancel safety
    /// Dropping the future, or the answer, closes the connection.
    ///
    /// # Errors
    /// [`Problem::Unreachable`] before a connection stands, [`Problem::Broken`] after that.
    pub(super) async fn post(
        &self,
        path: &str,
        headers: &[(HeaderName, HeaderValue)],
        body: Bytes,
        connect: Duration,
    ) -> Result<Answer, Problem> {
        let request = self.request(path, headers, body)?;
        if let Some(mut kept) = self.pool.take() {
            match kept.send(request.clone()).await {
                Ok(response) => return Ok(self.answer(response, kept)),
                Err(Came::Nothing) => {}
                Err(Came::Bytes) => return Err(Problem::Broken),
            }
        }
        let connected = tokio::time::timeout(connect, self.connect()).await;
        let mut connection = connected.map_err(|_| Problem::Unreachable)??;
        let response = connection.send(request).await;
        let response = response.map_err(|_| Problem::Broken)?;
        Ok(self.answer(response, connection))
    }

    fn request(
        &self,
        path: &str,
        headers: &[(HeaderName, HeaderValue)],
        body: Bytes,
    ) -> Result<Request<Full<Bytes>>, Problem> {
        let mut request = Request::post(path)
            .header(header::HOST, &self.authority)
            .header(header::CONTENT_TYPE, "application/json")
            .header(header::ACCEPT, "text/event-stream, application/json")
            .header(
                header::USER_AGENT,
                concat!("guildhall/", env!("CARGO_PKG_VERSION")),
            );
        for (name, value) in headers {
            request = request.header(name, value);
        }
        request.body(Full::new(body)).map_err(|_| Problem::Refused)
    }

    fn answer(&self, response: Response<Incoming>, connection: Connection) -> Answer {
        let (head, body) = response.into_parts();
        Answer {
            status: head.status.as_u16(),
            headers: head.headers,
            body,
            connection,
            pool: Arc::clone(&self.pool),
        }
    }

    async fn connect(&self) -> Result<Connection, Problem> {
        let stream = TcpStream::connect((self.host.as_str(), self.port))
            .await
            .map_err(|_| Problem::Unreachable)?;
        // Small pieces either way; without it a request may wait for an acknowledgement.
        stream.set_nodelay(true).map_err(|_| Problem::Unreachable)?;
        match &self.tls {
            None => Connection::over(stream).await,
            Some(tls) => {
                let name =
                    ServerName::try_from(self.host.clone()).map_err(|_| Problem::Unreachable)?;
                let secured = tls.connect(name, stream).await;
                Connection::over(secured.map_err(|_| Problem::Unreachable)?).await
            }
        }
    }
}

fn is_loopback(host: &str) -> bool {
    host.eq_ignore_ascii_case("localhost")
        || host
            .parse::<IpAddr>()
            .is_ok_and(|address| address.is_loopback())
}

fn public_roots() -> RootCertStore {
    RootCertStore::from_iter(webpki_roots::TLS_SERVER_ROOTS.iter().cloned())
}

fn tls(roots: RootCertStore) -> Result<TlsConnector, BadBaseUrl> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let mut config = rustls::ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|_| BadBaseUrl)?
        .with_root_certificates(roots)
        .with_no_client_auth();
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(TlsConnector::from(Arc::new(config)))
}

fn handshake_failed(_: hyper::Error) -> Problem {
    Problem::Unreachable
}

/// The head of an answer, and its body to be read.
pub(super) struct Answer {
    /// The status.
    pub(super) status: u16,
    headers: HeaderMap,
    body: Incoming,
    connection: Connection,
    pool: Arc<Pool>,
}

impl Answer {
    /// When the provider asks us to come back.
    pub(super) fn retry_after(&self) -> Option<Duration> {
        retry_after(|name| {
            let value = self.headers.get(name)?;
            value.to_str().ok().map(str::to_owned)
        })
    }

    /// The next piece of the body; `None` at its proper end.
    ///
    /// # Cancel safety
    /// A dropped future loses nothing.
    ///
    /// # Errors
    /// [`Problem::Broken`].
    pub(super) async fn piece(&mut self) -> Result<Option<Bytes>, Problem> {
        loop {
            match self.body.frame().await {
                None => return Ok(None),
                Some(Err(_)) => return Err(Problem::Broken),
                // Trailers carry nothing for us.
                Some(Ok(frame)) => {
                    if let Ok(bytes) = frame.into_data() {
                        return Ok(Some(bytes));
                    }
                }
            }
        }
    }

    /// Keeps the connection for the next exchange, where the body's end is here or right behind.
    pub(super) async fn finish(mut self) {
        let ended = async {
            loop {
                match self.piece().await {
                    Ok(Some(_)) => {}
                    Ok(None) => return true,
                    Err(_) => return false,
                }
            }
        };
        if tokio::time::timeout(TAIL, ended).await == Ok(true) {
            self.pool.put(self.connection);
        }
    }

    /// The body of an error, as much of it as is looked at. What breaks off is left out.
    pub(super) async fn error_body(&mut self) -> Vec<u8> {
        let mut body = Vec::new();
        while let Ok(Some(piece)) = self.piece().await {
            let room = ERROR_BODY_MAX_BYTES - body.len();
            body.extend_from_slice(&piece[..piece.len().min(room)]);
            if body.len() == ERROR_BODY_MAX_BYTES {
                break;
            }
        }
        body
    }
}

#[cfg(test)]
mod tests;
