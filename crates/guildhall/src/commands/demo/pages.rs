//! The demo's web: three pages over https and a search service, on this machine alone.
//!
//! In: requests of the seat. Out: fixed pages. Never: a look at a file, an address beyond loopback.
//! The seat reaches them through the same fence as any page; only the last step, from a public
//! address to this port, is the stand-in's (`seat/stand_in.rs`).

use crate::exit::{Failure, chain};
use crate::seat::StandIn;
use rcgen::{CertifiedKey, generate_simple_self_signed};
use serde_json::json;
use std::{net::Ipv4Addr, sync::Arc, time::Duration};
use tokio::{
    io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _},
    net::TcpListener,
    time::timeout,
};
use tokio_rustls::{
    TlsAcceptor,
    rustls::{ServerConfig, crypto::ring, pki_types::PrivateKeyDer},
};

/// The name of the pages: one of those that stand for any name in documents, so that it is nobody's.
pub(super) const HOST: &str = "pages.example.org";
/// Longest head of a request, in bytes.
const HEAD_MAX_BYTES: usize = 16 * 1024;
/// How long a client may take.
const CLIENT_WAIT: Duration = Duration::from_secs(10);

/// Path, title for the search, and content.
const PAGES: [(&str, &str, &str); 3] = [
    (
        "/",
        "The hall's pages",
        include_str!("files/pages/index.html"),
    ),
    (
        "/opening-hours",
        "Opening hours",
        include_str!("files/pages/opening-hours.html"),
    ),
    (
        "/beeswax",
        "How to make beeswax polish",
        include_str!("files/pages/beeswax.html"),
    ),
];

/// The pages, served until this is dropped.
pub(super) struct Pages {
    search: u16,
    stand_in: StandIn,
    servers: [tokio::task::JoinHandle<()>; 2],
}

impl Pages {
    /// Starts to serve.
    pub(super) async fn start() -> Result<Self, Failure> {
        let listen = || TcpListener::bind((Ipv4Addr::LOCALHOST, 0));
        let (pages, search) = (
            listen().await.map_err(Failure::failed)?,
            listen().await.map_err(Failure::failed)?,
        );
        let port = |listener: &TcpListener| listener.local_addr().map(|it| it.port());
        let (pages_port, search_port) = (
            port(&pages).map_err(Failure::failed)?,
            port(&search).map_err(Failure::failed)?,
        );
        let CertifiedKey { cert, signing_key } = generate_simple_self_signed([HOST.to_owned()])
            .map_err(|error| Failure::failed(chain(&error)))?;
        let key = PrivateKeyDer::Pkcs8(signing_key.serialize_der().into());
        let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .and_then(|builder| {
                let builder = builder.with_no_client_auth();
                builder.with_single_cert(vec![cert.der().clone()], key)
            })
            .map_err(|error| Failure::failed(chain(&error)))?;
        let acceptor = TlsAcceptor::from(Arc::new(config));
        let secured = tokio::spawn(async move {
            while let Ok((stream, _)) = pages.accept().await {
                let acceptor = acceptor.clone();
                tokio::spawn(async move {
                    if let Ok(Ok(stream)) = timeout(CLIENT_WAIT, acceptor.accept(stream)).await {
                        serve(stream, page).await;
                    }
                });
            }
        });
        let plain = tokio::spawn(async move {
            while let Ok((stream, _)) = search.accept().await {
                tokio::spawn(serve(stream, found));
            }
        });
        Ok(Self {
            search: search_port,
            stand_in: StandIn {
                host: HOST.to_owned(),
                port: pages_port,
                certificate: data_encoding::BASE64.encode(cert.der()),
            },
            servers: [secured, plain],
        })
    }

    /// Base URL of the search service.
    pub(super) fn search(&self) -> String {
        format!("http://127.0.0.1:{}", self.search)
    }

    /// What the seat has to know to reach the pages.
    pub(super) const fn stand_in(&self) -> &StandIn {
        &self.stand_in
    }
}

impl Drop for Pages {
    fn drop(&mut self) {
        self.servers.iter().for_each(tokio::task::JoinHandle::abort);
    }
}

/// Status, kind and body.
type Reply = (u16, &'static str, String);

fn page(target: &str) -> Reply {
    let path = target.split(['?', '#']).next().unwrap_or(target);
    match PAGES.iter().find(|(known, _, _)| *known == path) {
        Some((_, _, text)) => (200, "text/html; charset=utf-8", (*text).to_owned()),
        None => (404, "text/plain; charset=utf-8", "no such page".to_owned()),
    }
}

fn found(target: &str) -> Reply {
    let query = target.split_once("q=").map_or("", |(_, rest)| rest);
    let query = query.split('&').next().unwrap_or(query).to_lowercase();
    let words: Vec<&str> = query
        .split(['+', '%', ' '])
        .filter(|word| word.len() > 2)
        .collect();
    let hits: Vec<_> = PAGES
        .iter()
        .filter(|(_, title, text)| {
            let whole = format!("{title} {text}").to_lowercase();
            words.iter().any(|word| whole.contains(word))
        })
        .map(|(path, title, _)| {
            json!({"title": title, "url": format!("https://{HOST}{path}"), "content": format!("A page of the hall: {title}.")})
        })
        .collect();
    let body = json!({"query": query, "results": hits}).to_string();
    (200, "application/json", body)
}

/// One request, one answer.
async fn serve<S: AsyncRead + AsyncWrite + Unpin>(mut stream: S, answer: fn(&str) -> Reply) {
    let told = timeout(CLIENT_WAIT, async {
        let mut head = Vec::new();
        while !head.windows(4).any(|end| end == b"\r\n\r\n") && head.len() < HEAD_MAX_BYTES {
            let mut some = [0; 2048];
            match stream.read(&mut some).await? {
                0 => break,
                count => head.extend_from_slice(&some[..count]),
            }
        }
        let head = String::from_utf8_lossy(&head);
        let target = head.split(' ').nth(1).unwrap_or("/");
        let (status, kind, body) = answer(target);
        let head = format!(
            "HTTP/1.1 {status} -\r\ncontent-type: {kind}\r\ncontent-length: {}\r\nconnection: close\r\n\r\n",
            body.len()
        );
        stream.write_all(head.as_bytes()).await?;
        stream.write_all(body.as_bytes()).await?;
        stream.shutdown().await
    });
    if !matches!(told.await, Ok(Ok(()))) {
        tracing::debug!("a client of the demo's pages went away");
    }
}
