//! A TLS server on loopback, and a fence whose public addresses all lead to it.

use crate::reply::Reply;
use guildhall_web::{
    Boxed, Dial, Fence, FenceParts, FetchLimits, NameKind, Page, Resolve, SystemResolver,
    TcpDialer, WebRefusal,
};
use rcgen::{CertifiedKey, generate_simple_self_signed};
use rustls::{RootCertStore, ServerConfig, pki_types::PrivateKeyDer};
use std::{
    collections::BTreeMap,
    io,
    net::{IpAddr, SocketAddr},
    sync::{Arc, Mutex},
    time::Duration,
};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{TcpListener, TcpStream},
};
use tokio_rustls::TlsAcceptor;

/// A deadline for what must end long before it.
pub(crate) const AMPLE: Duration = Duration::from_secs(60);

/// What one name answers.
#[derive(Clone, Debug)]
pub(crate) enum Answers {
    /// These in turn; the last one again and again.
    InTurn(Vec<Vec<IpAddr>>),
    /// Nothing, ever.
    Never,
}

/// Names that answer from a script. A name that is not in it does not exist.
#[derive(Default)]
pub(crate) struct Script {
    names: BTreeMap<String, Answers>,
    asked: Mutex<Vec<String>>,
}

impl Script {
    pub(crate) fn with(mut self, name: &str, answers: Answers) -> Self {
        self.names.insert(name.to_owned(), answers);
        self
    }

    pub(crate) fn of(names: &BTreeMap<String, Vec<IpAddr>>) -> Self {
        names
            .iter()
            .fold(Self::default(), |script, (name, addresses)| {
                script.with(name, Answers::InTurn(vec![addresses.clone()]))
            })
    }

    pub(crate) fn public(names: &[&str]) -> Self {
        let address = vec!["93.184.215.14".parse().expect("an address")];
        names.iter().fold(Self::default(), |script, name| {
            script.with(name, Answers::InTurn(vec![address.clone()]))
        })
    }
}

impl Resolve for Script {
    fn resolve<'a>(&'a self, host: &'a str, _: NameKind) -> Boxed<'a, io::Result<Vec<IpAddr>>> {
        let mut asked = self.asked.lock().expect("no panic under it");
        let before = asked.iter().filter(|name| *name == host).count();
        asked.push(host.to_owned());
        let answers = self.names.get(host).cloned();
        Box::pin(async move {
            match answers {
                None => Err(io::ErrorKind::NotFound.into()),
                Some(Answers::Never) => std::future::pending().await,
                Some(Answers::InTurn(turns)) => {
                    let last = turns.len().saturating_sub(1);
                    Ok(turns.get(before.min(last)).cloned().unwrap_or_default())
                }
            }
        })
    }
}

/// Connects to one server, whatever the address, and notes the address.
struct ToServer {
    server: SocketAddr,
    dialled: Mutex<Vec<SocketAddr>>,
}

impl Dial for ToServer {
    fn dial(&self, address: SocketAddr) -> Boxed<'_, io::Result<TcpStream>> {
        self.dialled
            .lock()
            .expect("no panic under it")
            .push(address);
        Box::pin(TcpStream::connect(self.server))
    }
}

/// What the server was asked, as it came over the wire.
pub(crate) type Heard = Arc<Mutex<Vec<String>>>;

/// Server, names and fence of one test.
pub(crate) struct Stage {
    pub(crate) fence: Fence,
    script: Arc<Script>,
    dialer: Arc<ToServer>,
    heard: Heard,
    roots: RootCertStore,
}

/// Gives the answer to the request with a number, counted from 0, and a head.
type Answering = Arc<dyn Fn(usize, &str) -> Reply + Send + Sync>;

impl Stage {
    /// A server that gives one answer to everything.
    pub(crate) async fn that_says(script: Script, reply: Reply) -> Self {
        Self::new(script, move |_, _| reply.clone()).await
    }

    pub(crate) async fn new(
        script: Script,
        answering: impl Fn(usize, &str) -> Reply + Send + Sync + 'static,
    ) -> Self {
        let mut names: Vec<String> = script.names.keys().cloned().collect();
        // Literal addresses that tests fetch from.
        names.extend(["93.184.215.14", "2606:4700:4700::1111", "localhost"].map(str::to_owned));
        let (acceptor, roots) = identity(names);
        let heard = Heard::default();
        let server = serve(acceptor, Arc::new(answering), Arc::clone(&heard)).await;
        let script = Arc::new(script);
        let dialer = Arc::new(ToServer {
            server,
            dialled: Mutex::default(),
        });
        let fence = Fence::new(FenceParts {
            resolver: Arc::clone(&script) as Arc<dyn Resolve>,
            dialer: Arc::clone(&dialer) as Arc<dyn Dial>,
            roots: roots.clone(),
        });
        Self {
            roots,
            fence,
            script,
            dialer,
            heard,
        }
    }

    /// The product's own resolver and dialer, and the URL by which they find the server.
    pub(crate) fn in_earnest(&self) -> (Fence, String) {
        let fence = Fence::new(FenceParts {
            resolver: Arc::new(SystemResolver::default()),
            dialer: Arc::new(TcpDialer),
            roots: self.roots.clone(),
        });
        let port = self.dialer.server.port();
        (fence, format!("https://localhost:{port}/"))
    }

    pub(crate) async fn fetch(&self, url: &str) -> Result<Page, WebRefusal> {
        self.fetch_within(url, AMPLE).await
    }

    pub(crate) async fn fetch_within(
        &self,
        url: &str,
        deadline: Duration,
    ) -> Result<Page, WebRefusal> {
        let limits = FetchLimits {
            deadline,
            ..FetchLimits::default()
        };
        self.fence.fetch(url, limits).await
    }

    /// Names that were looked up.
    pub(crate) fn lookups(&self) -> Vec<String> {
        self.script.asked.lock().expect("no panic under it").clone()
    }

    /// Addresses that were connected to.
    pub(crate) fn dialled(&self) -> Vec<SocketAddr> {
        self.dialer
            .dialled
            .lock()
            .expect("no panic under it")
            .clone()
    }

    /// Heads of requests.
    pub(crate) fn heard(&self) -> Vec<String> {
        self.heard.lock().expect("no panic under it").clone()
    }
}

fn identity(names: Vec<String>) -> (TlsAcceptor, RootCertStore) {
    let made = generate_simple_self_signed(names).expect("a certificate");
    let CertifiedKey { cert, signing_key } = made;
    let mut roots = RootCertStore::empty();
    roots.add(cert.der().clone()).expect("a root");
    let key = PrivateKeyDer::try_from(signing_key.serialize_der()).expect("a key");
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .expect("versions")
        .with_no_client_auth()
        .with_single_cert(vec![cert.der().clone()], key)
        .expect("a certificate and its key");
    (TlsAcceptor::from(Arc::new(config)), roots)
}

async fn serve(acceptor: TlsAcceptor, answering: Answering, heard: Heard) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    let address = listener.local_addr().expect("an address");
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let (acceptor, answering) = (acceptor.clone(), Arc::clone(&answering));
            let heard = Arc::clone(&heard);
            tokio::spawn(async move {
                // A client that does not trust us leaves here.
                let Ok(mut stream) = acceptor.accept(stream).await else {
                    return;
                };
                let Some(head) = head_of(&mut stream).await else {
                    return;
                };
                let number = {
                    let mut heard = heard.lock().expect("no panic under it");
                    heard.push(head.clone());
                    heard.len() - 1
                };
                // A client that has enough leaves in the middle.
                if answering(number, &head).send(&mut stream).await.is_ok() {
                    stream.shutdown().await.ok();
                }
            });
        }
    });
    address
}

/// Reads to the end of a request's head.
pub(crate) async fn head_of<S: tokio::io::AsyncRead + Unpin>(stream: &mut S) -> Option<String> {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        head.push(stream.read_u8().await.ok()?);
    }
    String::from_utf8(head).ok()
}
