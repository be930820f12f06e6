//! A git server behind TLS: git's own `http-backend`, with a private certificate authority and one
//! user.
//!
//! It notes every request with what it was told about the user, and can be told to redirect, to
//! refuse, to be silent, or to look around while the client waits.

use crate::scene::git_program;
use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair};
use rustls::{ServerConfig, ServerConnection, StreamOwned, pki_types::PrivateKeyDer};
use std::{
    io::{BufRead, BufReader, Read, Write},
    net::{TcpListener, TcpStream},
    path::{Path, PathBuf},
    process::{Command, Stdio},
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering},
    },
    thread,
    time::Duration,
};

/// A certificate authority and the certificate of `localhost` that it signed.
pub(crate) struct Authority {
    config: Arc<ServerConfig>,
    pem: String,
}

impl Authority {
    pub(crate) fn new() -> Self {
        let key = KeyPair::generate().expect("a key");
        let mut params = CertificateParams::default();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let certificate = params.self_signed(&key).expect("a certificate");
        let body = data_encoding::BASE64_MIME.encode(certificate.der());
        let pem = format!("-----BEGIN CERTIFICATE-----\n{body}-----END CERTIFICATE-----\n")
            .replace("\r\n", "\n");
        let issuer = Issuer::new(params, key);
        let own = KeyPair::generate().expect("a key");
        let names = vec!["localhost".to_owned(), "127.0.0.1".to_owned()];
        let params = CertificateParams::new(names).expect("names");
        let certificate = params.signed_by(&own, &issuer).expect("a certificate");
        let key = PrivateKeyDer::try_from(own.serialize_der()).expect("a key");
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .expect("versions")
            .with_no_client_auth()
            .with_single_cert(vec![certificate.der().clone()], key)
            .expect("a certificate and its key");
        Self {
            config: Arc::new(config),
            pem,
        }
    }

    /// Writes what a client has to trust.
    pub(crate) fn write(&self, file: &Path) {
        std::fs::write(file, &self.pem).expect("a file");
    }
}

/// What the server does with a request.
#[derive(Clone, Debug)]
pub(crate) enum Mode {
    /// What `http-backend` does.
    Serve,
    /// Sends the client elsewhere.
    Redirect(String),
    /// Serves fetches and answers pushes with a status and a text.
    RefusePush(u16, String),
    /// Answers nothing.
    Silent,
}

/// One request.
#[derive(Clone, Debug)]
pub(crate) struct Seen {
    pub(crate) line: String,
    pub(crate) authorization: Option<String>,
    /// All of it as it came, without the body.
    pub(crate) head: String,
}

type Look = Box<dyn Fn() + Send + Sync>;

struct Shared {
    folder: PathBuf,
    /// `user:token`, in base 64.
    credential: String,
    mode: Mutex<Mode>,
    seen: Mutex<Vec<Seen>>,
    look: Mutex<Option<Look>>,
    is_done: AtomicBool,
}

pub(crate) struct Server {
    shared: Arc<Shared>,
    port: u16,
}

impl Server {
    /// Serves the repositories of `folder` to whoever says `user` and `token`.
    pub(crate) fn start(authority: &Authority, folder: &Path, user: &str, token: &str) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let port = listener.local_addr().expect("an address").port();
        let pair = format!("{user}:{token}");
        let shared = Arc::new(Shared {
            folder: folder.to_owned(),
            credential: data_encoding::BASE64.encode(pair.as_bytes()),
            mode: Mutex::new(Mode::Serve),
            seen: Mutex::default(),
            look: Mutex::default(),
            is_done: AtomicBool::new(false),
        });
        let (ours, config) = (Arc::clone(&shared), Arc::clone(&authority.config));
        thread::spawn(move || {
            for stream in listener.incoming() {
                if ours.is_done.load(Ordering::SeqCst) {
                    return;
                }
                let (shared, config) = (Arc::clone(&ours), Arc::clone(&config));
                thread::spawn(move || serve(&shared, config, stream.expect("a connection")));
            }
        });
        Self { shared, port }
    }

    pub(crate) fn host(&self) -> String {
        format!("localhost:{}", self.port)
    }

    pub(crate) fn url(&self, repository: &str) -> String {
        format!("https://{}/{repository}", self.host())
    }

    pub(crate) fn set(&self, mode: Mode) {
        *self.shared.mode.lock().expect("a mode") = mode;
    }

    /// What it was asked so far.
    pub(crate) fn seen(&self) -> Vec<Seen> {
        self.shared.seen.lock().expect("requests").clone()
    }

    pub(crate) fn forget(&self) {
        self.shared.seen.lock().expect("requests").clear();
    }

    /// Calls `look` at each request, while the client waits for its answer.
    pub(crate) fn look_at_each(&self, look: impl Fn() + Send + Sync + 'static) {
        *self.shared.look.lock().expect("a look") = Some(Box::new(look));
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.shared.is_done.store(true, Ordering::SeqCst);
        // Wakes the thread that waits for connections.
        drop(TcpStream::connect(("127.0.0.1", self.port)));
    }
}

type Stream = BufReader<StreamOwned<ServerConnection, TcpStream>>;

fn serve(shared: &Shared, config: Arc<ServerConfig>, stream: TcpStream) {
    stream
        .set_read_timeout(Some(Duration::from_secs(30)))
        .expect("a socket");
    let connection = ServerConnection::new(config).expect("a connection");
    let mut stream: Stream = BufReader::new(StreamOwned::new(connection, stream));
    // A client that does not trust the certificate goes away before it asks.
    let Some(head) = read_head(&mut stream) else {
        return;
    };
    let header = |name: &str| {
        head.lines().skip(1).find_map(|line| {
            let (of, value) = line.split_once(':')?;
            of.eq_ignore_ascii_case(name)
                .then(|| value.trim().to_owned())
        })
    };
    let line = head.lines().next().unwrap_or("").to_owned();
    let authorization = header("authorization");
    shared.seen.lock().expect("requests").push(Seen {
        line: line.clone(),
        authorization: authorization.clone(),
        head: head.clone(),
    });
    if let Some(look) = &*shared.look.lock().expect("a look") {
        look();
    }
    if header("expect").is_some() {
        send(&mut stream, b"HTTP/1.1 100 Continue\r\n\r\n");
    }
    let body = read_body(
        &mut stream,
        header("content-length"),
        header("transfer-encoding"),
    );
    let mode = shared.mode.lock().expect("a mode").clone();
    let is_push = line.contains("git-receive-pack");
    let answer = match mode {
        Mode::Silent => {
            let mut byte = [0];
            // Until the client goes away.
            drop(stream.read(&mut byte));
            return;
        }
        Mode::Redirect(to) => {
            let path = line.split(' ').nth(1).unwrap_or("/");
            plain(302, &format!("Location: {to}{path}\r\n"), "")
        }
        _ if authorization != Some(format!("Basic {}", shared.credential)) => plain(
            401,
            "WWW-Authenticate: Basic realm=\"the stand-in\"\r\n",
            "who are you?\n",
        ),
        Mode::RefusePush(status, text) if is_push => {
            plain(status, "Content-Type: text/plain\r\n", &text)
        }
        Mode::Serve | Mode::RefusePush(..) => backend(shared, &line, &header, &body),
    };
    send(&mut stream, &answer);
    stream.get_mut().conn.send_close_notify();
    drop(stream.get_mut().flush());
}

fn send(stream: &mut Stream, bytes: &[u8]) {
    // A client that was ended does not listen.
    drop(
        stream
            .get_mut()
            .write_all(bytes)
            .and_then(|()| stream.get_mut().flush()),
    );
}

fn plain(status: u16, headers: &str, text: &str) -> Vec<u8> {
    let length = text.len();
    format!("HTTP/1.1 {status} x\r\n{headers}Content-Length: {length}\r\nConnection: close\r\n\r\n{text}")
        .into_bytes()
}

fn read_head(stream: &mut Stream) -> Option<String> {
    let mut head = String::new();
    loop {
        let before = head.len();
        let count = stream.read_line(&mut head).ok()?;
        if count == 0 {
            return None;
        }
        if head[before..].trim_end().is_empty() {
            return Some(head);
        }
    }
}

fn read_body(stream: &mut Stream, length: Option<String>, encoding: Option<String>) -> Vec<u8> {
    let mut body = Vec::new();
    if encoding.is_some_and(|encoding| encoding.contains("chunked")) {
        loop {
            let mut line = String::new();
            stream.read_line(&mut line).expect("a chunk's length");
            let size = usize::from_str_radix(line.trim(), 16).expect("a length");
            let mut chunk = vec![0; size + 2];
            stream.read_exact(&mut chunk).expect("a chunk");
            if size == 0 {
                return body;
            }
            body.extend_from_slice(&chunk[..size]);
        }
    }
    let length = length.map_or(0, |length| length.parse().expect("a length"));
    body.resize(length, 0);
    stream.read_exact(&mut body).expect("the body");
    body
}

/// `git http-backend`, as a web server starts it.
fn backend(
    shared: &Shared,
    line: &str,
    header: &dyn Fn(&str) -> Option<String>,
    body: &[u8],
) -> Vec<u8> {
    let mut words = line.split(' ');
    let method = words.next().unwrap_or("GET");
    let target = words.next().unwrap_or("/");
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    let mut child = Command::new(git_program())
        .arg("http-backend")
        .env_clear()
        .env("PATH", "/usr/bin:/bin")
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .env("GIT_PROJECT_ROOT", &shared.folder)
        .env("GIT_HTTP_EXPORT_ALL", "1")
        .env("REMOTE_USER", "seat")
        .env("REMOTE_ADDR", "127.0.0.1")
        .env("REQUEST_METHOD", method)
        .env("PATH_INFO", path)
        .env("QUERY_STRING", query)
        .env("CONTENT_TYPE", header("content-type").unwrap_or_default())
        .env("CONTENT_LENGTH", body.len().to_string())
        .env(
            "HTTP_CONTENT_ENCODING",
            header("content-encoding").unwrap_or_default(),
        )
        .env(
            "HTTP_GIT_PROTOCOL",
            header("git-protocol").unwrap_or_default(),
        )
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("git's own backend");
    let mut input = child.stdin.take().expect("a pipe");
    let text = body.to_vec();
    let writer = thread::spawn(move || drop(input.write_all(&text)));
    let said = child.wait_with_output().expect("it ends").stdout;
    writer.join().expect("it was written");
    let end = said
        .windows(4)
        .position(|four| four == b"\r\n\r\n")
        .expect("headers");
    let headers = String::from_utf8_lossy(&said[..end]).into_owned();
    let body = &said[end + 4..];
    let status = headers
        .lines()
        .find_map(|line| line.strip_prefix("Status: "))
        .unwrap_or("200 OK");
    let others: Vec<&str> = headers
        .lines()
        .filter(|l| !l.starts_with("Status: "))
        .collect();
    let mut answer = format!(
        "HTTP/1.1 {status}\r\n{}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
        others.join("\r\n"),
        body.len()
    )
    .into_bytes();
    answer.extend_from_slice(body);
    answer
}
