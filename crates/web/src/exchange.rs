//! One GET over one connection.
//!
//! In: an open stream, a host and a path. Out: a status, headers, and a body that is read piece by
//! piece. Never: cookies, credentials, a referrer, a proxy, a second request on the connection.

use std::sync::{
    Arc,
    atomic::{AtomicU16, AtomicUsize, Ordering},
};

use bytes::Bytes;
use http_body_util::{BodyExt as _, Empty};
use hyper::{
    HeaderMap, Request,
    body::Incoming,
    client::conn::http1::{self, SendRequest},
    header::{self, HeaderName},
};
use hyper_util::rt::TokioIo;
use rustls::{ClientConfig, RootCertStore, client::Resumption, pki_types::ServerName};
use tokio::{
    io::{AsyncRead, AsyncWrite},
    net::TcpStream,
    task::JoinHandle,
};
use tokio_rustls::TlsConnector;

use crate::WebRefusal;

/// The one name under which we ask.
pub const USER_AGENT: &str = concat!("guildhall/", env!("CARGO_PKG_VERSION"));
/// Largest head of an answer, in bytes, and so also the read buffer of a connection.
const HEAD_MAX_BYTES: usize = 64 * 1024;
/// Most header lines in an answer.
const HEADERS_MAX: usize = 100;

/// How far a call came: what there is to record of it, also where it is refused or given up.
#[derive(Debug, Default)]
pub struct Heard {
    /// 0 where no head of an answer has come; no status is.
    status: AtomicU16,
    bytes: AtomicUsize,
}

impl Heard {
    /// The status of the last answer whose head came.
    #[must_use]
    pub fn status(&self) -> Option<u16> {
        Some(self.status.load(Ordering::Relaxed)).filter(|status| *status != 0)
    }

    /// How many bytes of its body were read, after unpacking.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.bytes.load(Ordering::Relaxed)
    }

    fn head(&self, status: u16) {
        self.status.store(status, Ordering::Relaxed);
    }

    /// So many bytes of the body are read by now.
    pub(crate) fn body(&self, bytes: usize) {
        self.bytes.store(bytes, Ordering::Relaxed);
    }
}

/// What is asked for.
pub(crate) struct Asked<'a> {
    /// Told how far it came.
    pub(crate) heard: &'a Heard,
    /// The host as it stands in the URL, with its port where that is not the scheme's own.
    pub(crate) host: &'a str,
    /// Path and query, percent-encoded.
    pub(crate) path: &'a str,
    /// The media types that can be read.
    pub(crate) accept: &'static str,
}

/// A TLS set-up that trusts `roots` and remembers nothing from one connection to the next.
pub(crate) fn tls_config(roots: RootCertStore) -> Arc<ClientConfig> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let mut config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .expect("ring serves the default protocol versions")
        .with_root_certificates(roots)
        .with_no_client_auth();
    // A ticket would let a server know us again, as a cookie does.
    config.resumption = Resumption::disabled();
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Arc::new(config)
}

/// Encrypts a stream and asks over it.
///
/// # Errors
/// [`WebRefusal::Tls`], and those of [`ask`].
pub(crate) async fn ask_over_tls(
    tls: &Arc<ClientConfig>,
    server: ServerName<'static>,
    stream: TcpStream,
    asked: &Asked<'_>,
) -> Result<Answer, WebRefusal> {
    let connector = TlsConnector::from(Arc::clone(tls));
    let secured = connector.connect(server, stream).await;
    ask(secured.map_err(|_| WebRefusal::Tls)?, asked).await
}

/// Asks over a stream.
///
/// # Cancel safety
/// Dropping the future, or the answer, closes the connection.
///
/// # Errors
/// [`WebRefusal::HeaderLimit`] or [`WebRefusal::BadResponse`].
pub(crate) async fn ask<S>(stream: S, asked: &Asked<'_>) -> Result<Answer, WebRefusal>
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let (sender, connection) = http1::Builder::new()
        .max_buf_size(HEAD_MAX_BYTES)
        .max_headers(HEADERS_MAX)
        .handshake(TokioIo::new(stream))
        .await
        .map_err(|_| WebRefusal::BadResponse)?;
    let driver = tokio::spawn(async move {
        // The other half of the exchange sees the same error.
        drop(connection.await);
    });
    let mut connection = Connection { sender, driver };
    let request = Request::get(asked.path)
        .header(header::HOST, asked.host)
        .header(header::USER_AGENT, USER_AGENT)
        .header(header::ACCEPT, asked.accept)
        .header(header::ACCEPT_ENCODING, "gzip")
        .header(header::CONNECTION, "close")
        .body(Empty::new())
        .map_err(|_| WebRefusal::BadUrl)?;
    let response = connection.sender.send_request(request).await;
    let (head, body) = response.map_err(|error| refusal(&error))?.into_parts();
    asked.heard.head(head.status.as_u16());
    // Two lengths: whoever stands between us and the server may have believed the other one.
    let lengths = [header::CONTENT_LENGTH, header::TRANSFER_ENCODING];
    if lengths.iter().all(|name| head.headers.contains_key(name)) {
        return Err(WebRefusal::BadResponse);
    }
    Ok(Answer {
        status: head.status.as_u16(),
        headers: head.headers,
        body,
        _connection: connection,
    })
}

fn refusal(error: &hyper::Error) -> WebRefusal {
    match error.is_parse_too_large() {
        true => WebRefusal::HeaderLimit,
        false => WebRefusal::BadResponse,
    }
}

/// A connection of one exchange. Dropping it ends the task that drives it.
struct Connection {
    sender: SendRequest<Empty<Bytes>>,
    driver: JoinHandle<()>,
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.driver.abort();
    }
}

/// The head of an answer, and its body to be read.
pub(crate) struct Answer {
    /// The status.
    pub(crate) status: u16,
    headers: HeaderMap,
    body: Incoming,
    _connection: Connection,
}

impl Answer {
    /// The one value of a header; `None` where there is none.
    ///
    /// # Errors
    /// When there are several, or it is not plain ASCII.
    pub(crate) fn header(&self, name: HeaderName) -> Result<Option<&str>, NotOne> {
        let mut values = self.headers.get_all(name).iter();
        let Some(first) = values.next() else {
            return Ok(None);
        };
        match (values.next(), first.to_str()) {
            (None, Ok(text)) => Ok(Some(text)),
            (_, _) => Err(NotOne),
        }
    }

    /// The next piece of the body; `None` at its proper end.
    ///
    /// # Errors
    /// [`WebRefusal::BadResponse`].
    pub(crate) async fn piece(&mut self) -> Result<Option<Bytes>, WebRefusal> {
        loop {
            match self.body.frame().await {
                None => return Ok(None),
                Some(Err(_)) => return Err(WebRefusal::BadResponse),
                // Trailers carry nothing for us.
                Some(Ok(frame)) => {
                    if let Ok(bytes) = frame.into_data() {
                        return Ok(Some(bytes));
                    }
                }
            }
        }
    }
}

/// A header that says several things, or nothing that can be read.
pub(crate) struct NotOne;
