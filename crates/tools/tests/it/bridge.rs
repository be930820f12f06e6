//! An engine's own process at the socket.

use crate::scene::Scene;
use guildhall_authority::offer::ToolName;
use guildhall_tools::{
    Bridge, BridgeError, CALLS_AT_ONCE, CallTools, Outcome, ToolCall, ToolResult, ToolSpec,
    TurnTools, Work,
};
use serde_json::{Value, json};
use std::{
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};
use tokio::{
    io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader},
    net::UnixStream,
    time::timeout,
};

const SOON: Duration = Duration::from_secs(20);

/// Tools that answer at once, but for `search`, which never does. They count what is open.
struct Open {
    specs: Vec<ToolSpec>,
    open: Arc<AtomicUsize>,
}

struct Counted(Arc<AtomicUsize>);

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

fn tools() -> (Arc<Open>, Arc<AtomicUsize>) {
    let open = Arc::new(AtomicUsize::new(0));
    let tools = Open {
        specs: specs(),
        open: Arc::clone(&open),
    };
    (Arc::new(tools), open)
}

fn specs() -> Vec<ToolSpec> {
    let names = [ToolName::Read, ToolName::Search];
    let specs = names.iter().map(|name| ToolSpec {
        name: *name,
        description: "A tool.",
        schema: json!({"type": "object"}),
    });
    specs.collect()
}

impl CallTools for Open {
    fn arguments_max(&self) -> usize {
        64 * 1024
    }

    fn specs(&self) -> &[ToolSpec] {
        &self.specs
    }

    fn call(&self, call: ToolCall) -> Work<'_, ToolResult> {
        Box::pin(async move {
            self.open.fetch_add(1, Ordering::SeqCst);
            let _counted = Counted(Arc::clone(&self.open));
            if call.name == "search" {
                std::future::pending::<()>().await;
            }
            ToolResult {
                outcome: Outcome::Done,
                text: format!("{} {} {}", call.id, call.name, call.arguments),
            }
        })
    }
}

fn own_group() -> u32 {
    let stat = std::fs::read_to_string("/proc/self/stat").expect("proc");
    let (_, after) = stat.rsplit_once(')').expect("a name");
    let group = after.split_ascii_whitespace().nth(2).expect("a group");
    group.parse().expect("a number")
}

fn bridge(root: &Path) -> Bridge {
    Bridge::listen(&root.join("b"), &specs()).expect("a socket")
}

struct Client(BufReader<UnixStream>);

impl Client {
    async fn of(bridge: &Bridge) -> Self {
        let stream = UnixStream::connect(bridge.path()).await.expect("a socket");
        Self(BufReader::new(stream))
    }

    async fn say(&mut self, line: &str) {
        let line = format!("{line}\n");
        // A closed connection shows itself when it is read.
        drop(self.0.get_mut().write_all(line.as_bytes()).await);
    }

    /// The next line; `None` once the connection is closed.
    async fn hear(&mut self) -> Option<Value> {
        let mut line = String::new();
        let read = timeout(SOON, self.0.read_line(&mut line)).await;
        match read.expect("in time") {
            Ok(0) | Err(_) => None,
            Ok(_) => Some(serde_json::from_str(&line).expect("JSON")),
        }
    }

    async fn asks(&mut self, line: &str) -> Option<Value> {
        self.say(line).await;
        self.hear().await
    }
}

async fn until(what: impl Fn() -> bool) {
    let waits = async {
        while !what() {
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
    };
    timeout(SOON, waits).await.expect("in time");
}

const CALL: &str = r#"{"call":1,"name":"workspace_read","arguments":{"path":"a b"}}"#;

#[tokio::test]
async fn tools_are_told_by_their_wire_names_and_calls_reach_the_turn() {
    let root = tempfile::tempdir().expect("a folder");
    let bridge = bridge(root.path());
    bridge.expect(own_group());
    let (tools, _) = tools();
    let _turn = bridge.attach(tools);
    let mut client = Client::of(&bridge).await;
    let told = client.asks(r#"{"tools":true}"#).await.expect("a list");
    let names: Vec<&str> = told["tools"]
        .as_array()
        .expect("a list")
        .iter()
        .filter_map(|tool| tool["name"].as_str())
        .collect();
    assert_eq!(names, ["workspace_read", "search"]);
    let result = client.asks(CALL).await.expect("a result");
    let text = r#"bridge-1 workspace_read {"path":"a b"}"#;
    assert_eq!(
        result,
        json!({"result": 1, "outcome": "done", "text": text})
    );
}

#[tokio::test]
async fn between_turns_and_after_them_calls_are_revoked() {
    let root = tempfile::tempdir().expect("a folder");
    let bridge = bridge(root.path());
    bridge.expect(own_group());
    let mut client = Client::of(&bridge).await;
    let before = client.asks(CALL).await.expect("an answer");
    assert_eq!(before["outcome"], "refused");
    let (tools, open) = tools();
    let first = bridge.attach(Arc::clone(&tools) as Arc<dyn CallTools>);
    client
        .say(r#"{"call":2,"name":"search","arguments":{}}"#)
        .await;
    until(|| open.load(Ordering::SeqCst) == 1).await;
    drop(first);
    let cut = client.hear().await.expect("an answer");
    assert_eq!(
        (&cut["result"], &cut["outcome"]),
        (&json!(2), &json!("unknown"))
    );
    until(|| open.load(Ordering::SeqCst) == 0).await;
    let late = client.asks(CALL).await.expect("an answer");
    assert_eq!(late["outcome"], "refused");
    assert!(
        late["text"]
            .as_str()
            .is_some_and(|text| text.starts_with("revoked:"))
    );
}

#[tokio::test]
async fn an_older_turn_does_not_detach_a_newer_one() {
    let root = tempfile::tempdir().expect("a folder");
    let bridge = bridge(root.path());
    bridge.expect(own_group());
    let (tools, _) = tools();
    let first = bridge.attach(Arc::clone(&tools) as Arc<dyn CallTools>);
    let _second = bridge.attach(tools);
    drop(first);
    let mut client = Client::of(&bridge).await;
    assert_eq!(
        client.asks(CALL).await.expect("an answer")["outcome"],
        "done"
    );
}

#[tokio::test]
async fn a_cancelled_call_and_a_lost_connection_end_their_calls() {
    let root = tempfile::tempdir().expect("a folder");
    let bridge = bridge(root.path());
    bridge.expect(own_group());
    let (tools, open) = tools();
    let _turn = bridge.attach(tools);
    let mut client = Client::of(&bridge).await;
    for number in 0..CALLS_AT_ONCE {
        let line = format!(r#"{{"call":{number},"name":"search","arguments":{{}}}}"#);
        client.say(&line).await;
    }
    let extra = client
        .asks(r#"{"call":99,"name":"search","arguments":{}}"#)
        .await;
    assert_eq!(extra.expect("an answer")["outcome"], "refused");
    until(|| open.load(Ordering::SeqCst) == CALLS_AT_ONCE).await;
    client.say(r#"{"cancel":3}"#).await;
    assert_eq!(client.hear().await.expect("an answer")["result"], 3);
    until(|| open.load(Ordering::SeqCst) == CALLS_AT_ONCE - 1).await;
    drop(client);
    until(|| open.load(Ordering::SeqCst) == 0).await;
}

#[tokio::test]
async fn a_peer_outside_the_group_hears_nothing() {
    let root = tempfile::tempdir().expect("a folder");
    let bridge = bridge(root.path());
    bridge.expect(own_group() + 1);
    let (tools, _) = tools();
    let _turn = bridge.attach(tools);
    assert_eq!(Client::of(&bridge).await.asks(CALL).await, None);
}

#[tokio::test]
async fn what_is_not_of_the_protocol_ends_the_connection() {
    let root = tempfile::tempdir().expect("a folder");
    let bridge = bridge(root.path());
    bridge.expect(own_group());
    for line in [
        "",
        "null",
        "7",
        "{}",
        "{\"tools\":false}",
        "{\"call\":-1}",
        "x",
    ] {
        let heard = Client::of(&bridge).await.asks(line).await;
        assert_eq!(heard, None, "{:.40}", line);
    }
    let mut whole = Client::of(&bridge).await;
    assert!(whole.asks(r#"{"tools":true}"#).await.is_some());
}

/// Tools of a host whose files may have so many bytes.
fn hosted(file_max_bytes: u64) -> (Scene, TurnTools) {
    let scene = Scene::with(move |place| {
        json!({"maxFileBytes": file_max_bytes, "roots": [
            {"name": "notes", "path": place.join("notes"), "write": true},
        ]})
    });
    let turn = scene.turn();
    (scene, turn.tools)
}

#[tokio::test]
async fn a_call_with_too_much_is_refused_and_the_others_go_on() {
    let root = tempfile::tempdir().expect("a folder");
    let bridge = bridge(root.path());
    bridge.expect(own_group());
    let (tools, open) = tools();
    let turn = bridge.attach(tools);
    let mut client = Client::of(&bridge).await;
    client
        .say(r#"{"call":1,"name":"search","arguments":{}}"#)
        .await;
    until(|| open.load(Ordering::SeqCst) == 1).await;
    drop(turn);
    let (scene, tools) = hosted(256 * 1024);
    assert_eq!(client.hear().await.expect("revoked")["result"], 1);
    let max = tools.arguments_max();
    let _turn = bridge.attach(Arc::new(tools.clone()));
    let write = |number: u32, size: usize| {
        let text = "x".repeat(size);
        let arguments = json!({"root": "notes", "path": "a.txt", "text": text});
        format!(r#"{{"call":{number},"name":"write_file","arguments":{arguments}}}"#)
    };
    let fits = client.asks(&write(2, 200_000)).await.expect("an answer");
    assert_eq!(fits["outcome"], "done", "{fits}");
    let many = client.asks(&write(3, max)).await.expect("an answer");
    let code = many["text"]
        .as_str()
        .and_then(|text| text.split(':').next());
    assert_eq!(
        (&many["result"], code),
        (&json!(3), Some("arguments-too-large"))
    );
    let uses = tools.uses();
    let reasons: Vec<_> = uses.iter().map(|one| one.reason.as_deref()).collect();
    assert_eq!(reasons, [None, Some("arguments-too-large")]);
    let x = "x".repeat(max + 8192);
    let nameless = format!(r#"{{"call":4,"arguments":"{x}","name":"write_file"}}"#);
    assert_eq!(
        client.asks(&nameless).await.expect("an answer")["result"],
        4
    );
    let numberless = format!(r#"{{"arguments":"{x}","call":5}}"#);
    let told = client.asks(&numberless).await.expect("an answer");
    assert!(told["error"].is_string(), "{told}");
    let after = client.asks(&write(6, 10)).await.expect("an answer");
    assert_eq!(after["outcome"], "done", "the connection stays");
    assert_eq!(scene.text("notes/a.txt"), "x".repeat(10));
}

#[tokio::test]
async fn an_open_call_outlives_the_long_line_of_another() {
    let root = tempfile::tempdir().expect("a folder");
    let bridge = bridge(root.path());
    bridge.expect(own_group());
    let (tools, open) = tools();
    let _turn = bridge.attach(tools);
    let mut client = Client::of(&bridge).await;
    client
        .say(r#"{"call":1,"name":"search","arguments":{}}"#)
        .await;
    until(|| open.load(Ordering::SeqCst) == 1).await;
    let long = format!(r#"{{"arguments":"{}"}}"#, "x".repeat(600 * 1024));
    let told = client.asks(&long).await.expect("an answer");
    assert!(told["error"].is_string(), "{told}");
    assert_eq!(open.load(Ordering::SeqCst), 1);
    client.say(r#"{"cancel":1}"#).await;
    assert_eq!(client.hear().await.expect("an answer")["result"], 1);
}

#[tokio::test]
async fn the_socket_is_private_and_goes_with_the_bridge() {
    use std::os::unix::fs::PermissionsExt as _;
    let root = tempfile::tempdir().expect("a folder");
    let bridge = bridge(root.path());
    let mode = |path: &Path| {
        let data = std::fs::metadata(path).expect("there");
        data.permissions().mode() & 0o777
    };
    let folder = root.path().join("b");
    assert_eq!((mode(&folder), mode(bridge.path())), (0o700, 0o600));
    let taken = Bridge::listen(&folder, &[]);
    assert!(matches!(taken.err(), Some(BridgeError::Io(_))));
    drop(bridge);
    assert!(!folder.exists());
    let deep = root.path().join("d".repeat(120));
    assert!(matches!(
        Bridge::listen(&deep, &[]).err(),
        Some(BridgeError::TooDeep)
    ));
}
