//! One HTTP exchange with a provider.
//!
//! In: a base URL, a request, a deadline for the connection. Out: a status, headers and a body that
//! is read piece by piece. Never: a proxy, a redirect, plain http to another machine, a connection
//! that lives on after its answer was dropped.

use super::problem::{Problem, retry_after};
use bytes::Bytes;
use http_body_util::{BodyExt as _, Full};
use hyper::{
    Request, Uri,
    body::Incoming,
    client::conn::http1::{self, SendRequest},
    header::{self, HeaderMap, HeaderName, HeaderValue},
};
use hyper_util::rt::TokioIo;
use rustls::{RootCertStore, pki_types::ServerName};
use std::{net::IpAddr, sync::Arc, time::Duration};
use tokio::{
    io::{AsyncRead, AsyncWrite},
    net::TcpStream,
    task::JoinHandle,
};
use tokio_rustls::TlsConnector;

/// Largest head of an answer, in bytes, and so also the read buffer of a connection.
const HEAD_MAX_BYTES: usize = 64 * 1024;
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
}

impl Target {
    /// Reads a base URL.
    ///
    /// # Errors
    /// [`BadBaseUrl`].
    pub(super) fn parse(base: &str) -> Result<Self, BadBaseUrl> {
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
        let connected = tokio::time::timeout(connect, self.connect()).await;
        let mut connection = connected.map_err(|_| Problem::Unreachable)??;
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
        let request = request
            .body(Full::new(body))
            .map_err(|_| Problem::Refused)?;
        let response = connection.sender.send_request(request).await;
        let (head, body) = response.map_err(|_| Problem::Broken)?.into_parts();
        Ok(Answer {
            status: head.status.as_u16(),
            headers: head.headers,
            body,
            _connection: connection,
        })
    }

    async fn connect(&self) -> Result<Connection, Problem> {
        let stream = TcpStream::connect((self.host.as_str(), self.port))
            .await
            .map_err(|_| Problem::Unreachable)?;
        // Small pieces either way; without it a request may wait for an acknowledgement.
        stream.set_nodelay(true).map_err(|_| Problem::Unreachable)?;
        match &self.tls {
            None => handshake(stream).await,
            Some(tls) => {
                let name =
                    ServerName::try_from(self.host.clone()).map_err(|_| Problem::Unreachable)?;
                let secured = tls.connect(name, stream).await;
                handshake(secured.map_err(|_| Problem::Unreachable)?).await
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

/// A connection of one exchange. Dropping it ends the task that drives it.
struct Connection {
    sender: SendRequest<Full<Bytes>>,
    driver: JoinHandle<()>,
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.driver.abort();
    }
}

async fn handshake<S>(stream: S) -> Result<Connection, Problem>
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let (sender, connection) = http1::Builder::new()
        .max_buf_size(HEAD_MAX_BYTES)
        .handshake(TokioIo::new(stream))
        .await
        .map_err(|_| Problem::Unreachable)?;
    let driver = tokio::spawn(async move {
        // The other half of the exchange sees the same error as a broken body.
        drop(connection.await);
    });
    Ok(Connection { sender, driver })
}

/// The head of an answer, and its body to be read.
pub(super) struct Answer {
    /// The status.
    pub(super) status: u16,
    headers: HeaderMap,
    body: Incoming,
    _connection: Connection,
}

impl Answer {
    /// When the provider asks us to come back.
    pub(super) fn retry_after(&self) -> Option<Duration> {
        retry_after(|name| {
            let value = self.headers.get(name)?;
            value.to_str().ok().map(str::to_owned)
        })
    }

    /// Whether the body is one JSON document and no stream of events.
    pub(super) fn is_whole(&self) -> bool {
        let media = self.headers.get(header::CONTENT_TYPE);
        media
            .and_then(|media| media.to_str().ok())
            .is_some_and(|media| {
                media
                    .trim_start()
                    .to_lowercase()
                    .starts_with("application/json")
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
