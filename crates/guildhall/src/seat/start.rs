//! From a binding to a running seat.
//!
//! In: a binding's name and how to start. Out: a seat that serves until it is told to end. Never: a
//! lock that is taken over, a start over a journal that does not fit together.

use super::{
    control::Control,
    driver::Driver,
    gate::Waiting,
    keep::{GATEWAY_FILE, Keep, Kept},
    launch::{Launch, context},
    notify::Notifier,
    recovery,
    signals::Signals,
    watch::Watch,
    workshop, writer,
};
use crate::exit::ExitReason;
use crate::{
    clock::Clocks,
    exit::{Failure, chain},
    home::{self, Home, private_failure},
    unserved::unserved,
};
use guildhall_authority::ask::AskBook;
use guildhall_binding::{ChannelMode, Policy};
use guildhall_connector::{Connector, input::Start, outbound::Outbound};
use guildhall_discord::{ApiBase, Rest, gateway::Intents, rest::Outcome};
use guildhall_engine::{Engine, EngineParts, Secret, build};
use guildhall_journal::{
    Spool, Spooled,
    lock::{self, ClaimError, LockError, Owner, RunLock, Verdict},
    read_replaced,
};
use guildhall_tools::Host;
use std::{
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};
use tokio::sync::mpsc::unbounded_channel;

/// Threads for blocking work: three of the tools, the journal's and the spool's stand apart, as do the
/// web's look-ups, which may hang, and the rest is for clean-up and what libraries need.
const BLOCKING_THREADS: usize = 8;

/// Whether a supervisor started us.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Supervision {
    /// A person did.
    None,
    /// A supervisor did: a dead lock is cleared first.
    Supervised,
}

/// How to run.
#[derive(Debug)]
pub(crate) struct Plan {
    /// The binding.
    pub(crate) binding: String,
    /// The repository that context files are in.
    pub(crate) repo: PathBuf,
    /// Whether a supervisor started us.
    pub(crate) supervision: Supervision,
    /// How long the practice engine pretends to think.
    pub(crate) practice_delay: Duration,
    /// The demo's pages in place of the web.
    pub(crate) stand_in: Option<PathBuf>,
    /// The way to the supervisor.
    pub(crate) notifier: Notifier,
}

/// Runs a seat until it is told to end.
pub(crate) fn run(home: &Home, plan: Plan) -> Result<(), Failure> {
    let name = plan.binding.as_str();
    let brakes = home.brakes(name);
    // A brake comes first: what else is wrong must not make a supervisor try again.
    if let Some(brake) = brakes
        .set()
        .filter(|_| plan.supervision == Supervision::None)
    {
        return Err(braked(&brake));
    }
    let policy = home.policy(name)?;
    let token = home::token(&policy)?;
    home.make_folders(name)?;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .max_blocking_threads(BLOCKING_THREADS)
        .build()
        .map_err(|error| Failure::failed(format!("cannot start the runtime: {error}")))?;
    // From here on a signal waits for the driver: once the lock names this process, others may
    // signal it at any time.
    let signals = {
        let _within = runtime.enter();
        Signals::listen()?
    };
    let folder = home.folder(name);
    if plan.supervision == Supervision::Supervised {
        lock::recover(&folder, &brakes).map_err(|error| recover_failure(&error, name))?;
    }
    let lock = RunLock::claim(&folder, &brakes, &Owner::current())
        .map_err(|error| claim_failure(&error, name))?;
    let ended = runtime.block_on(serve(home, plan, &policy, token, signals));
    runtime.shutdown_timeout(Duration::from_secs(1));
    match lock.release() {
        Ok(()) => ended,
        Err(error) => {
            tracing::warn!(%error, "the lock could not be given back");
            ended
        }
    }
}

async fn serve(
    home: &Home,
    plan: Plan,
    policy: &Arc<Policy>,
    token: guildhall_discord::Token,
    signals: Signals,
) -> Result<(), Failure> {
    let base = ApiBase::of(policy.discord.api_url.as_deref())
        .map_err(|error| Failure::invalid(format!("discord.apiUrl: {error}")))?;
    let context = context(policy, &plan.repo)?;
    let parts = engine_parts(home, policy, &plan, context.clone())?;
    let engine = build(&policy.engine, parts).map_err(|error| Failure::invalid(chain(&error)))?;
    engine
        .check()
        .await
        .map_err(|error| Failure::failed(format!("the engine cannot start: {error}")))?;
    for found in unserved(policy) {
        tracing::warn!(setting = found.setting, "{}", found.what);
    }
    workshop::know_secrets(policy);
    let (host, book) = workshop::host(home, policy, plan.stand_in.as_deref())?;
    for git in host.gits() {
        let program = &git.program;
        match &git.fault {
            None => tracing::info!(root = git.root, %program, "git is ready"),
            Some(fault) => tracing::warn!(root = git.root, %program, "git verbs refuse: {fault}"),
        }
    }
    sweep(&host).await;
    let outside = Outside {
        host,
        book,
        rest: Rest::new(&base, token, policy.bot),
        engine,
        signals,
        notifier: plan.notifier,
    };
    serve_on(home, policy, outside, &context).await
}

/// What a seat is in touch with.
struct Outside {
    host: Host,
    book: AskBook,
    rest: Rest,
    engine: Arc<dyn Engine>,
    signals: Signals,
    notifier: Notifier,
}

async fn serve_on(
    home: &Home,
    policy: &Arc<Policy>,
    outside: Outside,
    context: &str,
) -> Result<(), Failure> {
    let Outside {
        host,
        book,
        rest,
        engine,
        mut signals,
        notifier,
    } = outside;
    let name = policy.name.as_str();
    let folder = home.folder(name);
    let clocks = Clocks::default();
    let intents = intents(policy, &rest).await;
    let started = clocks.wall();
    let (journal, durable) = recovery::open(&folder, &started.rfc3339())?;
    let (spool, spooled) = open_spool(home, name)?;
    let parts = recovery::open_parts(spooled, &durable);
    let kept: Kept = read_replaced(&folder.join(GATEWAY_FILE)).unwrap_or_default();
    let (answer, answers) = unbounded_channel();
    let (jobs, journal_thread) = writer::start_journal(journal, answer.clone());
    let (spool_jobs, spool_thread) = writer::start_spool(spool, parts.lines, answer);
    let connector = Connector::new(Arc::clone(policy), durable, book);
    let launch = Launch {
        epoch: connector.next_epoch(),
        policy,
        engine: engine.describe(),
        context,
        at: started,
    };
    launch.keep(&folder)?;
    let start = Start {
        spool: parts.texts,
        cursors: kept.cursors.into_iter().collect(),
        dropped: recovery::lately_dropped(&folder),
    };
    let driver = Driver {
        home: home.clone(),
        policy: Arc::clone(policy),
        connector,
        outbound: Outbound::default(),
        rest,
        keep: Keep::new(&folder, started, engine.describe()),
        engine,
        host,
        waiting: Waiting::default(),
        clocks,
        intents,
        brakes: home.brakes(name),
        jobs,
        spool_jobs,
        answers,
        session: kept.session,
        watch: Watch::new(notifier),
        control: control(&folder),
    };
    tracing::info!(binding = name, "started");
    let ended = driver.run(start, &mut signals).await;
    writer::join([journal_thread, spool_thread]);
    ended
}

fn open_spool(home: &Home, name: &str) -> Result<(Spool, Spooled), Failure> {
    Spool::open(&home.sessions(name).join("spool.jsonl"))
        .map_err(|error| private_failure(ExitReason::Failed, "cannot open the spool", &error))
}

/// Removes what a dead process left half written in roots. A root where that fails is served all the
/// same: nothing reads those files.
async fn sweep(host: &Host) {
    let (host, started) = (host.clone(), Clocks::default().wall());
    let swept = tokio::task::spawn_blocking(move || host.sweep(started.0));
    for (root, outcome) in swept.await.unwrap_or_default() {
        match outcome {
            Ok(swept) => tracing::debug!(%root, ?swept, "swept"),
            Err(refusal) => tracing::warn!(%root, %refusal, "temporary files were not looked for"),
        }
    }
}

/// The way in for other commands; a seat serves without one where there can be none.
fn control(folder: &Path) -> Option<Control> {
    Control::open(folder)
        .inspect_err(|error| tracing::error!(%error, "there is no control socket"))
        .ok()
}

/// A seat that only listens to mentions works without the privileged intent; it is asked for where
/// the application has it, or where it is needed.
pub(crate) async fn intents(policy: &Policy, rest: &Rest) -> Intents {
    const CONTENT: u64 = 1 << 18 | 1 << 19;
    if policy
        .channels
        .values()
        .any(|channel| channel.mode == ChannelMode::Open)
    {
        return Intents::CHANNELS;
    }
    match rest.application().await {
        Outcome::Done(application) if application.flags & CONTENT == 0 => Intents::MENTIONS_ONLY,
        Outcome::Done(_) | Outcome::Refused(_) | Outcome::NotSent(_) | Outcome::Unknown(_) => {
            Intents::CHANNELS
        }
    }
}

fn engine_parts(
    home: &Home,
    policy: &Policy,
    plan: &Plan,
    system_prompt: String,
) -> Result<EngineParts, Failure> {
    let mut parts = EngineParts::new(home.sessions(policy.name.as_str()));
    parts.system_prompt = system_prompt;
    parts.practice_delay = plan.practice_delay;
    parts.search_path = std::env::var_os("PATH");
    parts.has_tools = policy.tools.is_some();
    if let Some(variable) = &policy.engine.key_env
        && let Ok(value) = std::env::var(variable)
    {
        let secret = Secret::new(&value)
            .map_err(|error| Failure::invalid(format!("the key in {variable}: {error}")))?;
        parts.key_env_value = Some(secret);
    }
    Ok(parts)
}

/// A lock that was not taken.
pub(crate) fn claim_failure(error: &ClaimError, name: &str) -> Failure {
    match error {
        ClaimError::Braked(brake) => braked(brake),
        ClaimError::Held(state) => {
            let failure = Failure::braked(format!("the binding {name} is held"));
            hinted(failure, lock::verdict(lock::Action::Claim, state), name)
        }
        ClaimError::Busy => Failure::braked("another start or clean-up of this binding is at work"),
        ClaimError::Private(error) => {
            private_failure(ExitReason::Failed, "cannot take the lock", error)
        }
    }
}

/// What to do about a lock that is in the way.
fn hinted(failure: Failure, verdict: Verdict, name: &str) -> Failure {
    match verdict {
        Verdict::UnlockFirst => failure.hint(format!(
            "its owner is gone: `guildhall unlock {name}` clears it, or start with --supervised"
        )),
        Verdict::OwnerRuns => {
            failure.hint(format!("it runs already: `guildhall stop {name}` ends it"))
        }
        Verdict::InDoubt => {
            failure.hint("a process has its id, and it cannot be known whether it is the owner")
        }
        Verdict::PersonMustLook | Verdict::Go | Verdict::NothingThere => {
            failure.hint("look at the folder run.lock and its owner.json before anything else")
        }
    }
}

/// A lock that a supervised start must leave alone.
fn recover_failure(error: &LockError, name: &str) -> Failure {
    let failure = lock_failure(error, name);
    match error {
        LockError::Refused { verdict, .. } => hinted(failure, *verdict, name),
        LockError::Braked(_)
        | LockError::ForeignEntry(_)
        | LockError::Busy
        | LockError::Private(_) => failure,
    }
}

/// A brake that is set.
pub(crate) fn braked(brake: &guildhall_journal::BrakeFound) -> Failure {
    let why = brake.why.as_deref().filter(|why| !why.is_empty());
    let why = why.map(|why| format!(": {why}")).unwrap_or_default();
    Failure::braked(format!("a brake is set, {}{why}", brake.path.display()))
        .hint("remove that file when the reason is gone")
}

/// A lock that may not be cleared or signalled.
pub(crate) fn lock_failure(error: &LockError, name: &str) -> Failure {
    match error {
        LockError::Braked(brake) => braked(brake),
        LockError::Refused { verdict, .. } => {
            let failure = Failure::braked(format!("the binding {name}: run.lock is left alone"));
            match verdict {
                Verdict::OwnerRuns => failure.hint(format!("it runs: `guildhall stop {name}` ends it")),
                Verdict::InDoubt => failure.hint("a process has its owner's id, and it cannot be known whether it is the owner; once it has ended, try again"),
                Verdict::PersonMustLook => failure.hint("look at the folder run.lock and its owner.json: what stands there cannot be understood"),
                Verdict::Go | Verdict::NothingThere | Verdict::UnlockFirst => failure,
            }
        }
        LockError::ForeignEntry(entry) => Failure::braked(format!(
            "the binding {name}: run.lock holds {entry:?}, which does not belong there"
        ))
        .hint("look at the folder run.lock before anything else"),
        LockError::Busy | LockError::Private(_) => {
            Failure::braked(format!("the binding {name}, run.lock: {}", chain(error)))
        }
    }
}
