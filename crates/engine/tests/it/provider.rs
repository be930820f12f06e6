//! A provider that plays a script: one list of steps for each connection, in order.

use std::{
    collections::VecDeque,
    sync::{Arc, Mutex},
    time::Duration,
};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{TcpListener, TcpStream},
};

/// What the provider does next on a connection, after it has read the request.
#[derive(Clone, Debug)]
pub(crate) enum Step {
    /// Sends these bytes.
    Send(Vec<u8>),
    /// Does nothing for so long.
    Wait(Duration),
    /// Resets the connection, so that the other side sees an error and no end.
    Reset,
    /// Says nothing more and keeps the connection until the other side closes it.
    Hold,
}

/// A request as it came.
#[derive(Clone, Debug)]
pub(crate) struct Seen {
    pub(crate) head: String,
    pub(crate) body: serde_json::Value,
}

/// A running provider. It stops with its runtime.
pub(crate) struct Provider {
    pub(crate) base_url: String,
    seen: Arc<Mutex<Vec<Seen>>>,
    closed: Arc<Mutex<usize>>,
}

impl Provider {
    /// Starts one on a free port. Connections past the last script are closed at once.
    pub(crate) async fn play(scripts: Vec<Vec<Step>>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let address = listener.local_addr().expect("an address");
        let seen = Arc::new(Mutex::new(Vec::new()));
        let closed = Arc::new(Mutex::new(0));
        let (requests, ends) = (Arc::clone(&seen), Arc::clone(&closed));
        tokio::spawn(async move {
            let mut scripts = VecDeque::from(scripts);
            while let Ok((stream, _)) = listener.accept().await {
                let script = scripts.pop_front().unwrap_or_default();
                let (requests, ends) = (Arc::clone(&requests), Arc::clone(&ends));
                tokio::spawn(async move {
                    serve(stream, script, &requests).await;
                    *ends.lock().expect("whole") += 1;
                });
            }
        });
        Self {
            base_url: format!("http://{address}/v1"),
            seen,
            closed,
        }
    }

    /// The requests so far.
    pub(crate) fn seen(&self) -> Vec<Seen> {
        self.seen.lock().expect("whole").clone()
    }

    /// Waits until so many connections have ended.
    pub(crate) async fn ended(&self, connections: usize) {
        let all = async {
            while *self.closed.lock().expect("whole") < connections {
                tokio::task::yield_now().await;
            }
        };
        tokio::time::timeout(Duration::from_secs(30), all)
            .await
            .expect("the connections end");
    }
}

async fn serve(mut stream: TcpStream, script: Vec<Step>, seen: &Mutex<Vec<Seen>>) {
    let Some(request) = read_request(&mut stream).await else {
        return;
    };
    seen.lock().expect("whole").push(request);
    for step in script {
        match step {
            Step::Send(bytes) => {
                if stream.write_all(&bytes).await.is_err() {
                    return;
                }
            }
            Step::Wait(time) => {
                let mut byte = [0];
                // The other side may leave meanwhile.
                let left = tokio::time::timeout(time, stream.read(&mut byte)).await;
                if matches!(left, Ok(Ok(0) | Err(_))) {
                    return;
                }
            }
            Step::Reset => {
                let reset = Some(Duration::ZERO);
                #[expect(deprecated, reason = "a linger of zero does not block: it resets")]
                stream.set_linger(reset).expect("a socket");
                return;
            }
            Step::Hold => {
                let mut rest = Vec::new();
                drop(stream.read_to_end(&mut rest).await);
                return;
            }
        }
    }
}

async fn read_request(stream: &mut TcpStream) -> Option<Seen> {
    let mut bytes = Vec::new();
    let mut buffer = [0; 4_096];
    loop {
        if let Some(request) = whole_request(&bytes) {
            return Some(request);
        }
        match stream.read(&mut buffer).await {
            Ok(0) | Err(_) => return None,
            Ok(read) => bytes.extend_from_slice(&buffer[..read]),
        }
    }
}

fn whole_request(bytes: &[u8]) -> Option<Seen> {
    let text = std::str::from_utf8(bytes).ok()?;
    let (head, body) = text.split_once("\r\n\r\n")?;
    let length = head.lines().find_map(|line| {
        let (name, value) = line.split_once(": ")?;
        name.eq_ignore_ascii_case("content-length")
            .then(|| value.parse::<usize>().ok())?
    })?;
    (body.len() >= length).then(|| Seen {
        head: head.to_owned(),
        body: serde_json::from_str(&body[..length]).expect("a JSON body"),
    })
}

/// The head of a stream of events that ends with the connection.
pub(crate) fn stream_head() -> Step {
    let head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n";
    Step::Send(head.into())
}

/// Bytes as they stand.
pub(crate) fn raw(bytes: impl Into<Vec<u8>>) -> Step {
    Step::Send(bytes.into())
}

/// A chunk with this text.
pub(crate) fn text(text: &str) -> Step {
    chunk(&serde_json::json!({"choices": [{"index": 0, "delta": {"content": text}}]}))
}

/// A chunk.
pub(crate) fn chunk(chunk: &serde_json::Value) -> Step {
    Step::Send(format!("data: {chunk}\n\n").into())
}

/// The model's stop, its usage, and the end of the stream.
pub(crate) fn the_end() -> Vec<Step> {
    vec![
        stopped(),
        chunk(&serde_json::json!({
            "choices": [],
            "usage": {"prompt_tokens": 40, "completion_tokens": 7},
        })),
        raw("data: [DONE]\n\n"),
    ]
}

/// The model's stop.
pub(crate) fn stopped() -> Step {
    chunk(&serde_json::json!({"choices": [{"delta": {}, "finish_reason": "stop"}]}))
}

/// A whole answer.
pub(crate) fn answers(with: &str) -> Vec<Step> {
    let mut steps = vec![stream_head(), text(with)];
    steps.extend(the_end());
    steps
}

/// A whole answer that is no stream.
pub(crate) fn status(line: &str, headers: &str, body: &str) -> Vec<Step> {
    vec![raw(format!(
        "HTTP/1.1 {line}\r\nContent-Type: application/json\r\n{headers}Content-Length: {}\r\n\
         Connection: close\r\n\r\n{body}",
        body.len()
    ))]
}
