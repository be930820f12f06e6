//! The coding agent `pi` as a child process, over its RPC mode.
//!
//! In: a prompt, and the turn's tools. Out: what pi's model answered. Never: a tool of pi's own, a
//! process that outlives its engine, an environment but the one that is written here.
//!
//! One process serves one route, and stays warm between turns. It is started with exactly one
//! offer of tools; a turn with another offer starts another one over the same session. An abort, a
//! time-out or a failure kills the whole process group, and the next turn starts afresh.

mod child; // the process and its lines
mod install; // which pi there is
mod launch; // files and command line
mod turn; // start here: one run

use crate::{
    contract::{Abort, Engine, EngineDescription, Report, RunRequest, Work},
    native::{Api, system_prompt},
    secret::Secret,
    session::{self, SessionFile},
    start::{Finished, Signs, start_with_grace},
};
use child::{Heard, Process};
use guildhall_authority::offer::ToolName;
use guildhall_binding::Price;
use guildhall_connector::run::RunFailure;
use guildhall_tools::{Bridge, ToolSpec};
use install::Install;
use serde_json::{Value, json};
use std::{
    collections::HashMap,
    ffi::OsString,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};
use tokio::time::Instant;

/// What a pi engine is made of.
pub struct PiParts {
    /// The binding's session folder; each route has a folder in it.
    pub sessions_folder: PathBuf,
    /// The context files' text, in order.
    pub context: String,
    /// `engine.command`: nothing, `pi`, an entry file, or node and an entry file.
    pub command: Vec<String>,
    /// Where programs without a slash are looked for: the value of `PATH`.
    pub search_path: Option<OsString>,
    /// The provider, by pi's own name where there is no `base_url`.
    pub provider: Option<String>,
    /// Which interface is spoken at `base_url`.
    pub api: Api,
    /// A provider that pi does not know.
    pub base_url: Option<String>,
    /// The model's name at the provider.
    pub model: String,
    /// pi's word for how hard to think.
    pub thinking: Option<String>,
    /// The provider's key.
    pub key: Option<Secret>,
    /// The file that it was read from, where there is one: pi reads it there. Otherwise a private file
    /// is made for as long as a process lives.
    pub key_file: Option<PathBuf>,
    /// Whether turns get tools at all; without them pi is never started with any.
    pub has_tools: bool,
    /// What the provider takes; without it pi says what it knows.
    pub price: Option<Price>,
    /// How long a process stays without a turn.
    pub idle: Duration,
    /// How long a start may take.
    pub start: Duration,
    /// How long pi may show no sign of work, but while a tool is called.
    pub silence: Duration,
}

/// A process that waits for the next turn of its route.
struct Warm {
    process: Process,
    offer: String,
    says_settled: bool,
    uses: u64,
}

/// What a route has.
#[derive(Default)]
struct Seat {
    warm: Option<Warm>,
    /// Starts that failed, one after the other.
    failed: u32,
    /// Until when no other start is tried.
    not_before: Option<Instant>,
}

type Slot = Arc<tokio::sync::Mutex<Seat>>;

/// The wait after the first start that failed; each next one is twice as long.
const WAIT_FIRST: Duration = Duration::from_secs(1);
/// The longest wait between two starts.
const WAIT_MAX: Duration = Duration::from_secs(60);
/// How long an aborted run has to tell pi so.
const ABORT_GRACE: Duration = Duration::from_secs(8);

struct Shared {
    parts: PiParts,
    routes: Mutex<HashMap<String, Slot>>,
}

/// The engine that runs pi.
pub struct Pi {
    shared: Arc<Shared>,
}

impl Pi {
    /// Makes one; nothing is started yet.
    #[must_use]
    pub fn new(parts: PiParts) -> Self {
        Self {
            shared: Arc::new(Shared {
                parts,
                routes: Mutex::default(),
            }),
        }
    }
}

impl Engine for Pi {
    fn describe(&self) -> EngineDescription {
        EngineDescription {
            kind: "pi".to_owned(),
            provider: self.shared.parts.provider.clone(),
            model: Some(self.shared.parts.model.clone()),
        }
    }

    /// Starts pi without a model call: with every tool that there is, to see that exactly ours are
    /// active and come from our file, and with none. Where no turn gets tools, with none alone.
    fn check<'a>(&'a self) -> Work<'a, Result<(), String>> {
        Box::pin(async move {
            let parts = &self.shared.parts;
            session::usable(parts.sessions_folder.clone()).await?;
            let probe = probe_folder(&parts.sessions_folder);
            let specs: Vec<ToolSpec> = ToolName::ALL.iter().copied().map(stand_in).collect();
            let mut checked = Ok(());
            let offers: &[&[ToolSpec]] = match parts.has_tools {
                true => &[&specs, &[]],
                false => &[&[]],
            };
            for offer in offers {
                if checked.is_ok() {
                    checked = launch(parts, &probe, offer, "A check.").await.map(drop);
                }
            }
            // What stays of it is empty of conversations.
            drop(std::fs::remove_dir_all(&probe));
            checked
        })
    }

    fn run(&self, request: RunRequest, report: Report) -> Box<dyn Abort> {
        let shared = Arc::clone(&self.shared);
        start_with_grace(report, ABORT_GRACE, |signs| answer(signs, request, shared))
    }
}

/// A folder beside the routes that no route has the name of.
fn probe_folder(sessions: &Path) -> PathBuf {
    sessions.join(format!(".check-{:08x}", fastrand::u32(..)))
}

/// A tool of the check; nobody calls it.
fn stand_in(name: ToolName) -> ToolSpec {
    ToolSpec {
        name,
        description: "A tool.",
        schema: json!({"type": "object", "properties": {}}),
    }
}

async fn answer(signs: Signs, request: RunRequest, shared: Arc<Shared>) -> Finished {
    let slot = {
        let mut routes = shared.routes.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(routes.entry(request.route.clone()).or_default())
    };
    let mut seat = slot.lock().await;
    let specs = request.tools.specs();
    let parts = &shared.parts;
    let Some(mut warm) = warmed(&mut seat, &request, parts).await else {
        return Finished::failed(RunFailure::EngineUnavailable);
    };
    let attached = warm
        .process
        .bridge
        .as_ref()
        .map(|bridge| bridge.attach(Arc::clone(&request.tools)));
    let run = turn::Run {
        process: &mut warm.process,
        signs: &signs,
        silence: parts.silence,
        price: parts.price,
        says_settled: warm.says_settled,
        offered: specs.iter().map(|spec| spec.name).collect(),
    };
    let text = format!(
        "{}\n{}",
        request.prompt.envelope,
        request.prompt.text.as_str()
    );
    let ran = run.prompt(&text).await;
    drop(attached);
    match ran {
        Ok(finished) => {
            warm.uses += 1;
            let uses = warm.uses;
            seat.warm = Some(warm);
            drop(seat);
            drop(tokio::spawn(cool(Arc::downgrade(&slot), uses, parts.idle)));
            finished
        }
        Err(why) => Finished::failed(why),
    }
}

/// The process that is warm, where it has this turn's offer, or a new one over the same session.
async fn warmed(seat: &mut Seat, request: &RunRequest, parts: &PiParts) -> Option<Warm> {
    let kept = seat.warm.take();
    let specs = request.tools.specs();
    let words = request.ground.words(specs);
    let offer = format!("{words}\n{specs:?}");
    if let Some(mut warm) = kept.filter(|warm| warm.offer == offer) {
        if warm.process.is_idle() {
            return Some(warm);
        }
        tracing::warn!(
            turn = request.turn,
            "pi ended or spoke while nobody asked; it is started anew"
        );
    }
    if let Some(wait) = seat.not_before.filter(|until| Instant::now() < *until) {
        let seconds = wait.duration_since(Instant::now()).as_secs();
        tracing::warn!(
            turn = request.turn,
            seconds,
            "pi did not start lately; it is not tried yet"
        );
        return None;
    }
    let made = SessionFile::of(&parts.sessions_folder, &request.route, "pi.route")
        .and_then(|file| file.bytes());
    if let Err(error) = made {
        tracing::error!(turn = request.turn, %error, "pi's session folder cannot be used");
        return None;
    }
    let route = parts.sessions_folder.join(&request.route);
    match launch(parts, &route, specs, &words).await {
        Ok((process, says_settled)) => {
            (seat.failed, seat.not_before) = (0, None);
            Some(Warm {
                process,
                offer,
                says_settled,
                uses: 0,
            })
        }
        Err(error) => {
            tracing::error!(turn = request.turn, error, "pi did not start");
            let wait = WAIT_FIRST
                .saturating_mul(1 << seat.failed.min(8))
                .min(WAIT_MAX);
            seat.failed = seat.failed.saturating_add(1);
            seat.not_before = Some(Instant::now() + wait);
            None
        }
    }
}

/// Ends a process that had no turn for so long.
async fn cool(slot: std::sync::Weak<tokio::sync::Mutex<Seat>>, uses: u64, idle: Duration) {
    tokio::time::sleep(idle).await;
    if let Some(slot) = slot.upgrade() {
        let mut seat = slot.lock().await;
        if let Some(warm) = seat.warm.take_if(|warm| warm.uses == uses) {
            // The route waits: two processes must not share its session.
            warm.process.end().await;
        }
    }
}

/// Starts pi and proves what it is: model, and tools with their sources.
async fn launch(
    parts: &PiParts,
    route: &Path,
    offer: &[ToolSpec],
    words: &str,
) -> Result<(Process, bool), String> {
    let install = install::find(&parts.command, parts.search_path.as_deref())?;
    let system = system_prompt(&parts.context, "");
    let ground = launch::prepare(parts, route, &system, words)
        .map_err(|error| format!("pi's folder cannot be written: {error}"))?;
    let bridge = match offer {
        [] => None,
        offer => Some(bridge(route, offer)?),
    };
    let socket = bridge.as_ref().map(Bridge::path);
    let command = launch::command(parts, &install, &ground, offer, socket);
    let mut process = Process::start(command, bridge, ground.key)
        .map_err(|error| format!("pi cannot be started: {error}"))?;
    // Nobody's turn: a call before the first one is refused.
    let ready = ready(&mut process, parts, &install);
    let active = tokio::time::timeout(parts.start, ready)
        .await
        .map_err(|_| "pi did not answer after its start".to_owned())?;
    let active = match active {
        Ok(active) => active,
        Err(NotReady::Says(what)) => return Err(what),
        Err(NotReady::Ended) => {
            let ended = format!("pi {} ended at its start", install.version);
            let complaint = process
                .complaint()
                .await
                .map(|said| said_safely(parts, &said));
            return Err(complaint.map_or(ended.clone(), |said| format!("{ended}: {said}")));
        }
    };
    proven(offer, &ground.extension, active.as_ref())?;
    tracing::info!(
        version = install.version,
        tools = offer.len(),
        "pi is ready"
    );
    Ok((process, install.says_settled))
}

fn bridge(route: &Path, offer: &[ToolSpec]) -> Result<Bridge, String> {
    let name = format!("b{:08x}", fastrand::u32(..));
    match Bridge::listen(&route.join("pi").join(&name), offer) {
        // Sockets have short paths.
        Err(guildhall_tools::BridgeError::TooDeep) => {
            Bridge::listen(&Path::new("/tmp").join(format!("guildhall-{name}")), offer)
        }
        listens => listens,
    }
    .map_err(|error| error.to_string())
}

/// Why a pi is of no use.
enum NotReady {
    /// It is gone; its stderr may say why.
    Ended,
    /// This.
    Says(String),
}

/// What pi complained of, without the key.
fn said_safely(parts: &PiParts, said: &str) -> String {
    match &parts.key {
        Some(key) => said.replace(key.reveal(), "<masked>"),
        None => said.to_owned(),
    }
}

/// Waits for the first answer. Gives what the extension said of the active tools.
async fn ready(
    process: &mut Process,
    parts: &PiParts,
    install: &Install,
) -> Result<Option<Value>, NotReady> {
    let asked = process.say(json!({"type": "get_state"})).await;
    let id = asked.map_err(|_| NotReady::Ended)?;
    let mut active = None;
    loop {
        let line = match process.hear().await.ok_or(NotReady::Ended)? {
            Heard::Line(line) => line,
            Heard::Delta => continue,
            Heard::Rubbish => {
                let version = &install.version;
                let what = format!("pi {version} said what is not of its protocol");
                return Err(NotReady::Says(what));
            }
        };
        if line["statusKey"] == "guildhall-tools" {
            let text = line["statusText"].as_str().unwrap_or_default();
            active = serde_json::from_str(text).ok();
        }
        if line["id"] == id.as_str() {
            return match taken(parts, &line["data"]) {
                Ok(()) => Ok(active),
                Err(what) => Err(NotReady::Says(what.to_owned())),
            };
        }
    }
}

/// Whether pi's state is the one that the binding asks for.
fn taken(parts: &PiParts, state: &Value) -> Result<(), &'static str> {
    let model = &state["model"];
    if model["id"] != parts.model.as_str() {
        return Err("pi did not take the model of the binding");
    }
    let provider = model["provider"].as_str();
    if provider.is_some_and(|found| found != launch::provider(parts)) {
        return Err("pi took the model from another provider than the binding's");
    }
    let (level, wanted) = (state["thinkingLevel"].as_str(), parts.thinking.as_deref());
    if wanted.is_some() && level.is_some() && level != wanted {
        return Err(
            "pi did not take engine.thinking: it does not know the level, or the model has none",
        );
    }
    Ok(())
}

/// Whether exactly the offer is active, each tool from our own file.
fn proven(offer: &[ToolSpec], extension: &Path, active: Option<&Value>) -> Result<(), String> {
    if offer.is_empty() {
        return Ok(());
    }
    let listed = active.and_then(Value::as_array);
    let listed = listed.ok_or("pi did not say which tools are active")?;
    let extension = extension
        .canonicalize()
        .map_err(|error| error.to_string())?;
    let mut names = Vec::new();
    for tool in listed {
        let name = tool[0].as_str().unwrap_or_default();
        let source = Path::new(tool[1].as_str().unwrap_or_default());
        if source.canonicalize().ok().as_ref() != Some(&extension) {
            return Err(format!("pi has a tool that is not ours: {name}"));
        }
        names.push(name);
    }
    let mut wanted: Vec<&str> = offer.iter().map(|spec| spec.name.wire()).collect();
    names.sort_unstable();
    wanted.sort_unstable();
    if names == wanted {
        Ok(())
    } else {
        Err("pi's active tools are not the ones that it was given".to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tools_count_by_source_and_not_only_by_name() {
        let root = tempfile::tempdir().expect("a folder");
        let ours = root.path().join("tools.mjs");
        std::fs::write(&ours, "").expect("room");
        let path = ours.display().to_string();
        let offer = [stand_in(ToolName::Read), stand_in(ToolName::Search)];
        let both = json!([["search", path], ["workspace_read", path]]);
        for (offer, active, is_fine) in [
            (&offer[..], Some(both.clone()), true),
            (&offer[..], Some(json!([["search", path]])), false),
            (
                &offer[..],
                Some(json!([
                    ["search", path],
                    ["workspace_read", "builtin:read"]
                ])),
                false,
            ),
            (
                &offer[..],
                Some(json!([["search", path], ["read", path]])),
                false,
            ),
            (&offer[..1], Some(both), false),
            (&offer[..], None, false),
            (&offer[..0], None, true),
        ] {
            assert_eq!(
                proven(offer, &ours, active.as_ref()).is_ok(),
                is_fine,
                "{active:?}"
            );
        }
    }
}
