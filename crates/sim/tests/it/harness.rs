//! A simulator, a plain HTTP client and a plain gateway client.

use std::time::Duration;

use bytes::Bytes;
use futures_util::{SinkExt, StreamExt};
use guildhall_sim::{ClockStart, Scenario, Sim, SimConfig};
use http_body_util::{BodyExt, Full};
use hyper::{HeaderMap, Request};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use serde_json::{Value, json};
use tokio::net::TcpStream;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::{MaybeTlsStream, WebSocketStream};

/// How long anything may take before a test gives up.
pub(crate) const DEADLINE: Duration = Duration::from_secs(20);
/// 2026-11-30T12:00:00Z, where fixed clocks start.
pub(crate) const START_MS: u64 = 1_796_040_000_000;
/// Guilds, guild messages, reactions, typing, direct messages and message content.
pub(crate) const INTENTS: u64 = 1 | 1 << 9 | 1 << 10 | 1 << 11 | 1 << 12 | 1 << 15;

/// A simulator under test.
pub(crate) struct Hall {
    pub(crate) sim: Sim,
    http: Client<HttpConnector, Full<Bytes>>,
}

/// One HTTP answer.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) headers: HeaderMap,
    pub(crate) text: String,
}

impl Answer {
    pub(crate) fn json(&self) -> Value {
        match self.text.as_str() {
            "" => Value::Null,
            text => serde_json::from_str(text).expect("a JSON answer"),
        }
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers
            .get(name)
            .map(|value| value.to_str().expect("a text header"))
    }

    /// Status and Discord's error code.
    pub(crate) fn refusal(&self) -> (u16, u64) {
        (self.status, self.json()["code"].as_u64().unwrap_or(0))
    }
}

impl Hall {
    /// The demo's server with lenient numbers and the system's clock.
    pub(crate) async fn open() -> Self {
        Self::with(Scenario::for_tests()).await
    }

    pub(crate) async fn with(scenario: Scenario) -> Self {
        Self::start(SimConfig::new(scenario)).await
    }

    /// A server whose clock stands still until a test moves it.
    pub(crate) async fn frozen(scenario: Scenario) -> Self {
        let clock = ClockStart::FixedMs(START_MS);
        Self::start(SimConfig {
            clock,
            ..SimConfig::new(scenario)
        })
        .await
    }

    pub(crate) async fn start(config: SimConfig) -> Self {
        let sim = guildhall_sim::start(config).await.expect("a free port");
        Self {
            sim,
            http: Client::builder(TokioExecutor::new()).build_http(),
        }
    }

    /// Any request.
    ///
    /// # Errors
    ///
    /// Gives the client's words when there was no whole answer.
    pub(crate) async fn request(&self, request: Request<Full<Bytes>>) -> Result<Answer, String> {
        let exchange = async {
            let reply = self
                .http
                .request(request)
                .await
                .map_err(|e| format!("{e:?}"))?;
            let (head, body) = reply.into_parts();
            let body = body
                .collect()
                .await
                .map_err(|e| format!("{e:?}"))?
                .to_bytes();
            let text = String::from_utf8(body.to_vec()).map_err(|e| e.to_string())?;
            Ok(Answer {
                status: head.status.as_u16(),
                headers: head.headers,
                text,
            })
        };
        tokio::time::timeout(DEADLINE, exchange)
            .await
            .expect("an answer in time")
    }

    /// A REST request as the first bot.
    pub(crate) async fn try_bot(
        &self,
        method: &str,
        path: &str,
        body: Option<Value>,
    ) -> Result<Answer, String> {
        let mut request = Request::builder()
            .method(method)
            .uri(format!("{}/api/v10{path}", self.sim.origin()))
            .header("authorization", format!("Bot {}", self.sim.token()));
        if body.is_some() {
            request = request.header("content-type", "application/json");
        }
        let body = body.map(|body| body.to_string()).unwrap_or_default();
        let request = request
            .body(Full::new(Bytes::from(body)))
            .expect("a valid request");
        let answer = self.request(request).await?;
        crate::schema::check(method, path, &answer);
        Ok(answer)
    }

    /// A REST request whose body may be no JSON, and whose answer is not held against the
    /// description.
    pub(crate) async fn try_bot_unchecked(
        &self,
        method: &str,
        path: &str,
        body: &str,
    ) -> Result<Answer, String> {
        let request = Request::builder()
            .method(method)
            .uri(format!("{}/api/v10{path}", self.sim.origin()))
            .header("authorization", format!("Bot {}", self.sim.token()))
            .header("content-type", "application/json")
            .body(Full::new(Bytes::from(body.to_owned())))
            .expect("a valid request");
        self.request(request).await
    }

    pub(crate) async fn bot(&self, method: &str, path: &str, body: Option<Value>) -> Answer {
        self.try_bot(method, path, body)
            .await
            .expect("a whole answer")
    }

    pub(crate) async fn get(&self, path: &str) -> Answer {
        self.bot("GET", path, None).await
    }

    /// The bot sends a message with this body.
    pub(crate) async fn post(&self, channel: &str, body: Value) -> Answer {
        self.bot(
            "POST",
            &format!("/channels/{}/messages", self.channel(channel)),
            Some(body),
        )
        .await
    }

    /// A control request. It must succeed.
    pub(crate) async fn control(&self, method: &str, path: &str, body: Value) -> Value {
        let answer = self.try_control(method, path, body).await;
        assert_eq!(answer.status, 200, "{method} {path}: {}", answer.text);
        answer.json()
    }

    pub(crate) async fn try_control(&self, method: &str, path: &str, body: Value) -> Answer {
        let request = Request::builder()
            .method(method)
            .uri(format!("{}{path}", self.sim.control()))
            .header("content-type", "application/json")
            .body(Full::new(Bytes::from(body.to_string())))
            .expect("a valid request");
        self.request(request).await.expect("a whole answer")
    }

    /// A person says something. Gives the message.
    pub(crate) async fn say(&self, channel: &str, author: &str, content: &str) -> Value {
        let body = json!({ "channel": channel, "author": author, "content": content });
        self.control("POST", "/messages", body).await
    }

    pub(crate) async fn arm(&self, fault: Value) {
        self.control("POST", "/faults", fault).await;
    }

    pub(crate) async fn advance(&self, ms: i64) {
        self.control("POST", "/clock", json!({ "advance_ms": ms }))
            .await;
    }

    pub(crate) fn channel(&self, name: &str) -> String {
        let found = self
            .sim
            .channels()
            .into_iter()
            .find(|channel| channel.name == name);
        found.expect("a channel of the scenario").id.to_string()
    }

    pub(crate) fn user(&self, name: &str) -> String {
        let found = self.sim.users().into_iter().find(|user| user.name == name);
        found.expect("a person of the scenario").id.to_string()
    }

    /// A gateway connection that has read HELLO.
    pub(crate) async fn connect(&self) -> Gateway {
        let mut gateway = self.dial().await;
        assert_eq!(gateway.next().await["op"], 10);
        gateway
    }

    /// A gateway connection that has read nothing.
    pub(crate) async fn dial(&self) -> Gateway {
        let url = format!(
            "{}/?v=10&encoding=json",
            self.sim.origin().replace("http", "ws")
        );
        let (socket, _) = tokio_tungstenite::connect_async(url)
            .await
            .expect("an upgrade");
        Gateway {
            socket,
            token: self.sim.token(),
        }
    }

    /// A bot that is logged in and has read READY and GUILD_CREATE.
    pub(crate) async fn login(&self) -> (Gateway, Value) {
        let mut gateway = self.connect().await;
        gateway.identify(INTENTS).await;
        let ready = gateway.event("READY").await;
        gateway.event("GUILD_CREATE").await;
        (gateway, ready)
    }
}

/// A plain gateway client.
pub(crate) struct Gateway {
    socket: WebSocketStream<MaybeTlsStream<TcpStream>>,
    pub(crate) token: String,
}

/// What came next.
#[derive(Debug, PartialEq)]
pub(crate) enum Heard {
    Frame(Value),
    Closed(u16),
    /// TCP ended without a close frame.
    Lost,
}

impl Gateway {
    pub(crate) async fn send(&mut self, frame: Value) {
        self.socket
            .send(Message::text(frame.to_string()))
            .await
            .expect("an open socket");
    }

    pub(crate) async fn send_text(&mut self, text: &str) {
        self.socket
            .send(Message::text(text.to_owned()))
            .await
            .expect("an open socket");
    }

    pub(crate) async fn identify(&mut self, intents: u64) {
        let data = json!({
            "token": self.token, "intents": intents,
            "properties": { "os": "linux", "browser": "test", "device": "test" },
        });
        self.send(json!({ "op": 2, "d": data })).await;
    }

    pub(crate) async fn resume(&mut self, session: &Value, seq: u64) {
        let data = json!({ "token": self.token, "session_id": session, "seq": seq });
        self.send(json!({ "op": 6, "d": data })).await;
    }

    pub(crate) async fn hear(&mut self) -> Heard {
        let read = tokio::time::timeout(DEADLINE, self.socket.next())
            .await
            .expect("a frame in time");
        match read {
            Some(Ok(Message::Text(text))) => {
                Heard::Frame(serde_json::from_str(text.as_str()).expect("JSON frames"))
            }
            Some(Ok(Message::Close(Some(frame)))) => Heard::Closed(frame.code.into()),
            Some(Ok(Message::Close(None)) | Err(_)) | None => Heard::Lost,
            Some(Ok(other)) => unreachable!("the simulator never sends {other:?}"),
        }
    }

    pub(crate) async fn next(&mut self) -> Value {
        let heard = self.hear().await;
        let Heard::Frame(frame) = heard else {
            unreachable!("no frame, but {heard:?}")
        };
        frame
    }

    /// The data of the next dispatch with this name; others in between are skipped.
    pub(crate) async fn event(&mut self, name: &str) -> Value {
        loop {
            let frame = self.next().await;
            if frame["t"] == name {
                return frame["d"].clone();
            }
        }
    }

    /// The names of the dispatches that are here before the ACK of a heartbeat.
    pub(crate) async fn drain(&mut self) -> Vec<Value> {
        self.send(json!({ "op": 1, "d": null })).await;
        let mut seen = Vec::new();
        loop {
            let frame = self.next().await;
            if frame["op"] == 11 {
                return seen;
            }
            seen.push(frame);
        }
    }

    pub(crate) async fn close(mut self, code: u16) {
        use tokio_tungstenite::tungstenite::protocol::CloseFrame;
        let frame = CloseFrame {
            code: code.into(),
            reason: "".into(),
        };
        self.socket
            .close(Some(frame))
            .await
            .expect("an open socket");
        while let Some(Ok(_)) = self.socket.next().await {}
    }
}
