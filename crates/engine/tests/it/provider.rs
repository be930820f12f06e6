//! A provider that plays a script: one list of steps for each request, in order. A connection ends with
//! its script, but where the last step is to wait for the next request.

use std::{
    collections::VecDeque,
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
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
    /// Waits for the next request on the same connection, and plays the next script for it.
    Next,
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
    opened: Arc<AtomicUsize>,
    closed: Arc<Mutex<usize>>,
}

impl Provider {
    /// Starts one on a free port. Connections past the last script are closed at once.
    pub(crate) async fn play(scripts: Vec<Vec<Step>>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let address = listener.local_addr().expect("an address");
        let seen = Arc::new(Mutex::new(Vec::new()));
        let closed = Arc::new(Mutex::new(0));
        let opened = Arc::new(AtomicUsize::new(0));
        let (requests, ends) = (Arc::clone(&seen), Arc::clone(&closed));
        let connections = Arc::clone(&opened);
        tokio::spawn(async move {
            let scripts = Arc::new(Mutex::new(VecDeque::from(scripts)));
            while let Ok((stream, _)) = listener.accept().await {
                connections.fetch_add(1, Ordering::SeqCst);
                let scripts = Arc::clone(&scripts);
                let (requests, ends) = (Arc::clone(&requests), Arc::clone(&ends));
                tokio::spawn(async move {
                    serve(stream, &scripts, &requests).await;
                    *ends.lock().expect("whole") += 1;
                });
            }
        });
        Self {
            base_url: format!("http://{address}/v1"),
            seen,
            opened,
            closed,
        }
    }

    /// The requests so far.
    pub(crate) fn seen(&self) -> Vec<Seen> {
        self.seen.lock().expect("whole").clone()
    }

    /// How many connections were opened so far.
    pub(crate) fn connections(&self) -> usize {
        self.opened.load(Ordering::SeqCst)
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

async fn serve(
    mut stream: TcpStream,
    scripts: &Mutex<VecDeque<Vec<Step>>>,
    seen: &Mutex<Vec<Seen>>,
) {
    loop {
        let Some(request) = read_request(&mut stream).await else {
            return;
        };
        let script = scripts.lock().expect("whole").pop_front();
        seen.lock().expect("whole").push(request);
        match play(&mut stream, script.unwrap_or_default()).await {
            Then::Close => return,
            Then::Next => {}
        }
    }
}

enum Then {
    Next,
    Close,
}

async fn play(stream: &mut TcpStream, script: Vec<Step>) -> Then {
    for step in script {
        match step {
            Step::Send(bytes) => {
                if stream.write_all(&bytes).await.is_err() {
                    return Then::Close;
                }
            }
            Step::Wait(time) => {
                let mut byte = [0];
                // The other side may leave meanwhile.
                let left = tokio::time::timeout(time, stream.read(&mut byte)).await;
                if matches!(left, Ok(Ok(0) | Err(_))) {
                    return Then::Close;
                }
            }
            Step::Reset => {
                let reset = Some(Duration::ZERO);
                #[expect(deprecated, reason = "a linger of zero does not block: it resets")]
                stream.set_linger(reset).expect("a socket");
                return Then::Close;
            }
            Step::Hold => {
                let mut rest = Vec::new();
                drop(stream.read_to_end(&mut rest).await);
                return Then::Close;
            }
            Step::Next => return Then::Next,
        }
    }
    Then::Close
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

/// The same answer in chunks, over a connection that is kept for the next request.
pub(crate) fn kept(answer: Vec<Step>) -> Vec<Step> {
    let head =
        "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n";
    let mut steps = vec![raw(head)];
    for step in answer.into_iter().skip(1) {
        steps.push(match step {
            Step::Send(bytes) => {
                let mut chunk = format!("{:x}\r\n", bytes.len()).into_bytes();
                chunk.extend_from_slice(&bytes);
                chunk.extend_from_slice(b"\r\n");
                Step::Send(chunk)
            }
            other @ (Step::Wait(_) | Step::Reset | Step::Hold | Step::Next) => other,
        });
    }
    steps.extend([raw("0\r\n\r\n"), Step::Next]);
    steps
}

/// A whole message that calls tools: id, name and arguments of each, whole in one piece.
pub(crate) fn calls(text_before: &str, calls: &[(&str, &str, &str)]) -> Vec<Step> {
    let calls: Vec<serde_json::Value> = (0..)
        .zip(calls)
        .map(|(index, (id, name, arguments))| {
            serde_json::json!({"index": index, "id": id, "type": "function",
                "function": {"name": name, "arguments": arguments}})
        })
        .collect();
    pieces(text_before, &[serde_json::json!(calls)])
}

/// A whole message whose tool calls come in these pieces: each the `tool_calls` of one chunk.
pub(crate) fn pieces(text_before: &str, pieces: &[serde_json::Value]) -> Vec<Step> {
    let mut steps = vec![stream_head()];
    if !text_before.is_empty() {
        steps.push(text(text_before));
    }
    for piece in pieces {
        steps.push(chunk(
            &serde_json::json!({"choices": [{"delta": {"tool_calls": piece}}]}),
        ));
    }
    steps.push(chunk(
        &serde_json::json!({"choices": [{"delta": {}, "finish_reason": "tool_calls"}]}),
    ));
    steps.push(chunk(&serde_json::json!({
        "choices": [], "usage": {"prompt_tokens": 40, "completion_tokens": 7},
    })));
    steps.push(raw("data: [DONE]\n\n"));
    steps
}
