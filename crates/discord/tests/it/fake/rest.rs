//! The REST half: one closure answers every request.

use serde_json::Value;
use std::{
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};
use tokio::{
    io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader},
    net::{TcpListener, TcpStream},
    time::sleep,
};

/// A request that came.
#[derive(Clone, Debug)]
pub(crate) struct Asked {
    pub(crate) method: String,
    pub(crate) path: String,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: String,
}

impl Asked {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let found = self.headers.iter().find(|(other, _)| other == name);
        found.map(|(_, value)| value.as_str())
    }

    pub(crate) fn json(&self) -> Value {
        let parts = self.parts();
        let body = parts.first().map_or(self.body.as_str(), |part| &part.body);
        serde_json::from_str(body).expect("a JSON body")
    }

    /// The parts of a form; none where the body is none.
    pub(crate) fn parts(&self) -> Vec<Part> {
        let media = self.header("content-type").unwrap_or_default();
        let Some(boundary) = media.strip_prefix("multipart/form-data; boundary=") else {
            return Vec::new();
        };
        let end = format!("\r\n--{boundary}--\r\n");
        let body = format!("\r\n{}", self.body);
        let body = body.strip_suffix(&end).expect("a form ends");
        let between = format!("\r\n--{boundary}\r\n");
        let mut parts = body.split(&between);
        assert_eq!(parts.next(), Some(""), "nothing stands before the parts");
        let read = |part: &str| {
            let (head, body) = part.split_once("\r\n\r\n").expect("a part has a head");
            Part {
                head: head.to_owned(),
                body: body.to_owned(),
            }
        };
        parts.map(read).collect()
    }
}

/// One part of a form.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Part {
    pub(crate) head: String,
    pub(crate) body: String,
}

/// What the fake does with a request.
pub(crate) enum Answer {
    /// A JSON answer with more headers.
    Json(u16, Value, Vec<(&'static str, String)>),
    /// Any other answer: status, content type, body, more headers.
    Page(u16, &'static str, String, Vec<(&'static str, String)>),
    /// No body.
    Empty(u16),
    /// The request was read; the connection breaks.
    Lost,
    /// The request was read; nothing comes.
    Silence,
    /// The head comes, with a status; the body never does.
    HeadOnly(u16),
    /// A text, one byte after each wait.
    Drip(String, Duration),
    /// The answer, after a wait.
    Late(Duration, Box<Answer>),
}

impl Answer {
    pub(crate) fn ok(body: Value) -> Self {
        Self::Json(200, body, Vec::new())
    }

    pub(crate) fn failure(status: u16, code: u64) -> Self {
        let body = serde_json::json!({ "message": "words that nobody repeats", "code": code });
        Self::Json(status, body, Vec::new())
    }
}

type Handler = dyn FnMut(&Asked) -> Answer + Send;

/// A REST server on loopback.
pub(crate) struct Api {
    origin: String,
    asked: Arc<Mutex<Vec<Asked>>>,
    connections: Arc<AtomicUsize>,
}

impl Api {
    pub(crate) async fn start(handler: impl FnMut(&Asked) -> Answer + Send + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let origin = format!("http://{}", listener.local_addr().expect("an address"));
        let asked = Arc::new(Mutex::new(Vec::new()));
        let log = Arc::clone(&asked);
        let connections = Arc::new(AtomicUsize::new(0));
        let count = Arc::clone(&connections);
        let handler: Arc<Mutex<Handler>> = Arc::new(Mutex::new(handler));
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                count.fetch_add(1, Ordering::SeqCst);
                tokio::spawn(serve(stream, Arc::clone(&log), Arc::clone(&handler)));
            }
        });
        Self {
            origin,
            asked,
            connections,
        }
    }

    pub(crate) fn origin(&self) -> &str {
        &self.origin
    }

    pub(crate) fn connections(&self) -> usize {
        self.connections.load(Ordering::SeqCst)
    }

    pub(crate) fn asked(&self) -> Vec<Asked> {
        self.asked.lock().expect("no panic in the fake").clone()
    }
}

async fn serve(stream: TcpStream, log: Arc<Mutex<Vec<Asked>>>, handler: Arc<Mutex<Handler>>) {
    let mut stream = BufReader::new(stream);
    while let Some(asked) = read(&mut stream).await {
        log.lock()
            .expect("no panic in the fake")
            .push(asked.clone());
        let mut answer = (handler.lock().expect("no panic in the fake"))(&asked);
        while let Answer::Late(wait, later) = answer {
            sleep(wait).await;
            answer = *later;
        }
        let (status, media, body, headers) = match answer {
            Answer::Json(status, body, headers) => {
                (status, "application/json", body.to_string(), headers)
            }
            Answer::Page(status, media, body, headers) => (status, media, body, headers),
            Answer::Empty(status) => (status, "", String::new(), Vec::new()),
            Answer::Lost => return,
            Answer::Silence => {
                std::future::pending::<()>().await;
                return;
            }
            Answer::HeadOnly(status) => {
                let head = format!(
                    "HTTP/1.1 {status} x\r\ncontent-type: application/json\r\ncontent-length: 9\r\n\r\n"
                );
                stream.write_all(head.as_bytes()).await.expect("a reader");
                stream.flush().await.expect("a reader");
                std::future::pending::<()>().await;
                return;
            }
            Answer::Drip(body, wait) => {
                if drip(&mut stream, &body, wait).await.is_err() {
                    return;
                }
                continue;
            }
            Answer::Late(..) => unreachable!("unwrapped above"),
        };
        let mut head = format!("HTTP/1.1 {status} x\r\ncontent-length: {}\r\n", body.len());
        if !media.is_empty() {
            head += &format!("content-type: {media}\r\n");
        }
        for (name, value) in headers {
            head += &format!("{name}: {value}\r\n");
        }
        let text = format!("{head}\r\n{body}");
        if stream.write_all(text.as_bytes()).await.is_err() {
            return;
        }
    }
}

async fn drip(
    stream: &mut BufReader<TcpStream>,
    body: &str,
    wait: Duration,
) -> std::io::Result<()> {
    let length = body.len();
    let head =
        format!("HTTP/1.1 200 x\r\ncontent-type: text/plain\r\ncontent-length: {length}\r\n\r\n");
    stream.write_all(head.as_bytes()).await?;
    for byte in body.bytes() {
        sleep(wait).await;
        stream.write_u8(byte).await?;
    }
    stream.flush().await
}

async fn read(stream: &mut BufReader<TcpStream>) -> Option<Asked> {
    let mut line = String::new();
    stream
        .read_line(&mut line)
        .await
        .ok()
        .filter(|read| *read > 0)?;
    let mut parts = line.split_whitespace();
    let (method, path) = (parts.next()?.to_owned(), parts.next()?.to_owned());
    let mut headers = Vec::new();
    loop {
        let mut line = String::new();
        stream
            .read_line(&mut line)
            .await
            .ok()
            .filter(|read| *read > 0)?;
        let Some((name, value)) = line.trim_end().split_once(": ") else {
            break;
        };
        headers.push((name.to_ascii_lowercase(), value.to_owned()));
    }
    let length = headers.iter().find(|(name, _)| name == "content-length");
    let length = length.map_or(0, |(_, value)| value.parse().expect("a length"));
    let mut body = vec![0; length];
    stream.read_exact(&mut body).await.ok()?;
    let body = String::from_utf8(body).expect("text");
    Some(Asked {
        method,
        path,
        headers,
        body,
    })
}
