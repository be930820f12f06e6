//! Temporary folders, a binding over them, a host, and a gate that answers by a script.

use guildhall_authority::{
    ask::{Answer, AskBook, AskId, AskSpec, Decision},
    call::{CallBegun, CallEnded},
    permit::found,
    scope::{Origin, Requester, TurnKey, TurnScope, workspace_of},
};
use guildhall_binding::{Expect, Policy};
use guildhall_git::Trial;
use guildhall_tools::{
    CallTools, Gate, GateClosed, GitParts, Host, HostParts, Outcome, ToolCall, ToolResult,
    TurnTools, Work,
};
use guildhall_web::Fence;
use serde_json::{Value, json};
use std::{
    fs,
    path::{Path, PathBuf},
    sync::{
        Arc, Mutex, MutexGuard,
        atomic::{AtomicU32, Ordering},
    },
    time::Duration,
};
use tokio::sync::Notify;

/// How long a test waits for something that must come.
pub(crate) const PATIENCE: Duration = Duration::from_secs(20);

/// What the gate does with an ask.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Says {
    /// Gives this answer.
    Answer(Answer),
    /// Waits until [`Desk::decide`].
    Waits,
    /// Is closed.
    Closed,
}

/// What the gate saw, in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Seen {
    Asked(AskSpec),
    Gone(AskId),
    Begun(CallBegun),
    Ended(CallEnded),
}

/// What a test does in a moment of the gate.
type Act = Box<dyn FnMut() + Send>;

/// The connector's place: the book of asks, and what was said to it.
pub(crate) struct Desk {
    book: Mutex<AskBook>,
    says: Mutex<Says>,
    seen: Mutex<Vec<Seen>>,
    ready: Mutex<Vec<(AskId, Decision)>>,
    begins: Mutex<Begins>,
    on_ask: Mutex<Option<Act>>,
    on_begin: Mutex<Option<Act>>,
    news: Notify,
}

/// Whether a call's beginning comes to be on disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Begins {
    Durable,
    Never,
    Closed,
}

pub(crate) fn held<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().expect("no test panics with it")
}

impl Desk {
    fn new(book: AskBook) -> Arc<Self> {
        Arc::new(Self {
            book: Mutex::new(book),
            says: Mutex::new(Says::Answer(Answer::Once)),
            seen: Mutex::default(),
            ready: Mutex::default(),
            begins: Mutex::new(Begins::Durable),
            on_ask: Mutex::default(),
            on_begin: Mutex::default(),
            news: Notify::new(),
        })
    }

    pub(crate) fn says(&self, says: Says) {
        *held(&self.says) = says;
    }

    pub(crate) fn begins(&self, begins: Begins) {
        *held(&self.begins) = begins;
    }

    pub(crate) fn on_ask(&self, act: impl FnMut() + Send + 'static) {
        *held(&self.on_ask) = Some(Box::new(act));
    }

    pub(crate) fn on_begin(&self, act: impl FnMut() + Send + 'static) {
        *held(&self.on_begin) = Some(Box::new(act));
    }

    pub(crate) fn seen(&self) -> Vec<Seen> {
        held(&self.seen).clone()
    }

    /// Forgets what was seen: for tests of many calls.
    pub(crate) fn forget(&self) {
        held(&self.seen).clear();
    }

    pub(crate) fn asked(&self) -> Vec<AskSpec> {
        let seen = self.seen();
        seen.into_iter()
            .filter_map(|seen| match seen {
                Seen::Asked(spec) => Some(spec),
                Seen::Gone(_) | Seen::Begun(_) | Seen::Ended(_) => None,
            })
            .collect()
    }

    pub(crate) fn begun(&self) -> Vec<CallBegun> {
        let seen = self.seen();
        seen.into_iter()
            .filter_map(|seen| match seen {
                Seen::Begun(begun) => Some(begun),
                Seen::Asked(_) | Seen::Gone(_) | Seen::Ended(_) => None,
            })
            .collect()
    }

    pub(crate) fn ended(&self) -> Vec<CallEnded> {
        let seen = self.seen();
        seen.into_iter()
            .filter_map(|seen| match seen {
                Seen::Ended(ended) => Some(ended),
                Seen::Asked(_) | Seen::Gone(_) | Seen::Begun(_) => None,
            })
            .collect()
    }

    /// Decides an ask that waits.
    pub(crate) fn decide(&self, ask: AskId, answer: Answer) {
        let decision = held(&self.book).decide(ask, answer).expect("it is open");
        self.hand(ask, decision);
    }

    /// Hands the decision about one ask to the call that waits for another.
    pub(crate) fn hand(&self, to: AskId, decision: Decision) {
        held(&self.ready).push((to, decision));
        self.news.notify_waiters();
    }

    pub(crate) fn decision(&self, ask: AskId, answer: Answer) -> Decision {
        held(&self.book).decide(ask, answer).expect("it is open")
    }

    /// Waits until the gate has seen what `found` looks for.
    pub(crate) async fn until<T>(&self, found: impl Fn(&[Seen]) -> Option<T>) -> T {
        let wait = async {
            loop {
                let news = self.news.notified();
                if let Some(found) = found(&held(&self.seen)) {
                    return found;
                }
                news.await;
            }
        };
        tokio::time::timeout(PATIENCE, wait)
            .await
            .expect("it comes in time")
    }

    fn note(&self, seen: Seen) {
        held(&self.seen).push(seen);
        self.news.notify_waiters();
    }

    async fn waits_for(&self, ask: AskId) -> Decision {
        loop {
            let news = self.news.notified();
            {
                let mut ready = held(&self.ready);
                if let Some(at) = ready.iter().position(|(to, _)| *to == ask) {
                    return ready.remove(at).1;
                }
            }
            news.await;
        }
    }
}

/// A gate of one turn to the desk.
pub(crate) struct TestGate(Arc<Desk>);

impl Gate for TestGate {
    fn ask(&self, spec: AskSpec) -> Work<'_, Result<Decision, GateClosed>> {
        Box::pin(async move {
            let ask = spec.id;
            held(&self.0.book).open(&spec).expect("it is new");
            self.0.note(Seen::Asked(spec));
            if let Some(act) = held(&self.0.on_ask).as_mut() {
                act();
            }
            let says = *held(&self.0.says);
            match says {
                Says::Closed => Err(GateClosed),
                Says::Answer(answer) => Ok(self.0.decision(ask, answer)),
                Says::Waits => {
                    let mut open = Open {
                        desk: &self.0,
                        ask: Some(ask),
                    };
                    let decision = self.0.waits_for(ask).await;
                    open.ask = None;
                    Ok(decision)
                }
            }
        })
    }

    fn begin(&self, begun: CallBegun) -> Work<'_, Result<(), GateClosed>> {
        Box::pin(async move {
            self.0.note(Seen::Begun(begun));
            if let Some(act) = held(&self.0.on_begin).as_mut() {
                act();
            }
            let begins = *held(&self.0.begins);
            match begins {
                Begins::Durable => Ok(()),
                Begins::Closed => Err(GateClosed),
                Begins::Never => std::future::pending().await,
            }
        })
    }

    fn end(&self, ended: CallEnded) {
        self.0.note(Seen::Ended(ended));
    }
}

struct Open<'d> {
    desk: &'d Desk,
    ask: Option<AskId>,
}

impl Drop for Open<'_> {
    fn drop(&mut self) {
        if let Some(ask) = self.ask {
            self.desk.note(Seen::Gone(ask));
        }
    }
}

/// A place with three roots: `docs` to read, `notes` to write, `site` as a workspace.
pub(crate) struct Scene {
    place: tempfile::TempDir,
    pub(crate) policy: Arc<Policy>,
    pub(crate) host: Host,
    pub(crate) desk: Arc<Desk>,
    turns: AtomicU32,
}

/// The binding's `tools` for a place.
pub(crate) fn three_roots(place: &Path) -> Value {
    json!({"maxCallsPerTurn": 1000, "roots": [
        {"name": "docs", "path": place.join("docs")},
        {"name": "notes", "path": place.join("notes"), "write": true},
        {"name": "site", "path": place.join("site"), "write": "ask"},
    ]})
}

/// A binding with these fields beside the usual ones.
pub(crate) fn policy(place: &Path, more: &Value) -> Arc<Policy> {
    let mut binding = json!({
        "bindingVersion": 1, "name": "hall", "seat": "Seat",
        "guildId": "100000000000000001", "guildName": "Hall", "botUserId": "100000000000000002",
        "tokenFile": place.join("keys/token"),
        "channels": [{"id": "100000000000000010", "name": "general", "mode": "open"}],
        "users": [{"id": "100000000000000020", "name": "Ana", "operator": true}],
        "engine": {"kind": "practice"},
        "platformToolsets": {"cotal": ["files", "workspace", "git"]},
    });
    let fields = binding.as_object_mut().expect("an object");
    fields.extend(more.as_object().expect("an object").clone());
    let data_root = place.join("data");
    let expect = Expect {
        name: None,
        data_root: &data_root,
        home: None,
    };
    let text = binding.to_string();
    Arc::new(guildhall_binding::read(text.as_bytes(), expect).expect("a good binding"))
}

impl Scene {
    pub(crate) fn new() -> Self {
        Self::with(three_roots)
    }

    pub(crate) fn with(tools: impl FnOnce(&Path) -> Value) -> Self {
        Self::over(&["docs", "notes", "site"], tools)
    }

    /// A scene with these folders for roots.
    pub(crate) fn over(roots: &[&str], tools: impl FnOnce(&Path) -> Value) -> Self {
        Self::made(roots, None, tools)
    }

    /// A scene with a way to the web. `tools` may put things into the folders before they are opened.
    pub(crate) fn made(
        roots: &[&str],
        web: Option<Fence>,
        tools: impl FnOnce(&Path) -> Value,
    ) -> Self {
        let place = tempfile::Builder::new()
            .prefix("tools-")
            .tempdir()
            .expect("a folder");
        for folder in roots.iter().chain(&["data", "out", "home"]) {
            fs::create_dir(place.path().join(folder)).expect("a folder");
        }
        let policy = policy(place.path(), &json!({"tools": tools(place.path())}));
        let (judge, book) = found();
        let host = Host::new(HostParts {
            judge,
            policy: &policy,
            data_root: &place.path().join("data"),
            home: Some(&place.path().join("home")),
            web,
            git: GitParts {
                state: &place.path().join("data/git"),
                credential_program: Path::new("/nowhere"),
                trial: Trial::default(),
            },
        });
        Self {
            host: host.expect("a host"),
            desk: Desk::new(book),
            turns: AtomicU32::new(0),
            place,
            policy,
        }
    }

    pub(crate) fn at(&self, path: &str) -> PathBuf {
        self.place.path().join(path)
    }

    pub(crate) fn put(&self, path: &str, text: impl AsRef<[u8]>) {
        let path = self.at(path);
        let folder = path.parent().expect("a folder");
        fs::create_dir_all(folder).expect("folders");
        fs::write(path, text).expect("writes");
    }

    pub(crate) fn text(&self, path: &str) -> String {
        fs::read_to_string(self.at(path)).expect("it is there")
    }

    pub(crate) fn scope(&self, origin: Origin) -> TurnScope {
        let number = self.turns.fetch_add(1, Ordering::SeqCst);
        let requester = (origin == Origin::User).then(|| Requester {
            id: "100000000000000020".parse().expect("an id"),
            name: "Ana".to_owned(),
        });
        let workspace = workspace_of(&self.policy, "hi");
        let turn = TurnKey::new(&format!("{}", 9000 + number));
        TurnScope::of(turn, origin, requester, workspace, Arc::clone(&self.policy))
    }

    pub(crate) fn gate(&self) -> Arc<dyn Gate> {
        Arc::new(TestGate(Arc::clone(&self.desk)))
    }

    /// A turn of a person.
    pub(crate) fn turn(&self) -> TestTurn {
        self.turn_of(Origin::User)
    }

    pub(crate) fn turn_of(&self, origin: Origin) -> TestTurn {
        TestTurn {
            tools: self.host.turn(self.scope(origin), self.gate()),
            calls: AtomicU32::new(0),
        }
    }
}

/// A turn whose calls have ids of their own.
pub(crate) struct TestTurn {
    pub(crate) tools: TurnTools,
    calls: AtomicU32,
}

impl TestTurn {
    pub(crate) fn call_of(&self, name: &str, arguments: &str) -> ToolCall {
        let number = self.calls.fetch_add(1, Ordering::SeqCst);
        ToolCall {
            id: format!("call-{number}"),
            name: name.to_owned(),
            arguments: arguments.to_owned(),
        }
    }

    pub(crate) async fn call(&self, name: &str, arguments: Value) -> ToolResult {
        let call = self.call_of(name, &arguments.to_string());
        let work = self.tools.call(call);
        let done = tokio::time::timeout(PATIENCE, work).await;
        done.expect("it answers in time")
    }

    /// The text of a call that is done.
    pub(crate) async fn done(&self, name: &str, arguments: Value) -> String {
        let result = self.call(name, arguments).await;
        assert_eq!(result.outcome, Outcome::Done, "{name}: {}", result.text);
        result.text
    }

    /// The code of a call that is refused.
    pub(crate) async fn refused(&self, name: &str, arguments: Value) -> String {
        let result = self.call(name, arguments).await;
        assert_eq!(result.outcome, Outcome::Refused, "{name}: {}", result.text);
        code(&result)
    }
}

/// The code at the beginning of a refusal.
pub(crate) fn code(result: &ToolResult) -> String {
    let (code, _) = result.text.split_once(": ").expect("a code and a sentence");
    code.to_owned()
}
