//! From a binding to a running seat.
//!
//! In: a binding's name and how to start. Out: a seat that serves until it is told to end. Never: a
//! lock that is taken over, a start over a journal that does not fit together.

use super::{
    control::Control,
    driver::Driver,
    keep::{GATEWAY_FILE, Keep, Kept},
    notify::Notifier,
    recovery,
    signals::Signals,
    watch::Watch,
    writer,
};
use crate::exit::ExitReason;
use crate::{
    clock::Clocks,
    exit::{Failure, chain},
    home::{self, Home, private_failure},
};
use guildhall_binding::{ChannelMode, Policy};
use guildhall_connector::{Connector, input::Start, outbound::Outbound};
use guildhall_discord::{ApiBase, Rest, gateway::Intents, rest::Outcome};
use guildhall_engine::{Engine, EngineParts, Secret, build};
use guildhall_journal::{
    Spool, ensure_private_folder,
    lock::{self, ClaimError, LockError, Owner, RunLock, Verdict},
    read_replaced, replace,
};
use sha2::{Digest as _, Sha256};
use std::{
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};
use tokio::sync::mpsc::unbounded_channel;

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
        .max_blocking_threads(4)
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
    let outside = Outside {
        rest: Rest::new(&base, token, policy.bot),
        engine,
        signals,
        notifier: plan.notifier,
    };
    serve_on(home, policy, outside, &context).await
}

/// What a seat is in touch with.
struct Outside {
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
    let spool_path = home.sessions(name).join("spool.jsonl");
    let (spool, spooled) = Spool::open(&spool_path)
        .map_err(|error| private_failure(ExitReason::Failed, "cannot open the spool", &error))?;
    let parts = recovery::open_parts(spooled, &durable);
    let kept: Kept = read_replaced(&folder.join(GATEWAY_FILE)).unwrap_or_default();
    let (answer, answers) = unbounded_channel();
    let (jobs, journal_thread) = writer::start_journal(journal, answer.clone());
    let (spool_jobs, spool_thread) = writer::start_spool(spool, parts.lines, answer);
    let connector = Connector::new(Arc::clone(policy), durable);
    launch(
        &folder,
        connector.next_epoch(),
        policy,
        &engine,
        context,
        started,
    )?;
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
    if let Some(variable) = &policy.engine.key_env
        && let Ok(value) = std::env::var(variable)
    {
        let secret = Secret::new(&value)
            .map_err(|error| Failure::invalid(format!("the key in {variable}: {error}")))?;
        parts.key_env_value = Some(secret);
    }
    Ok(parts)
}

/// The context files' text, in order.
pub(crate) fn context(policy: &Policy, repo: &Path) -> Result<String, Failure> {
    const MAX_BYTES: u64 = 256 * 1024;
    let mut whole = String::new();
    for file in &policy.context_files {
        let path = repo.join(file);
        let fail = |why: &str| {
            Failure::invalid(format!("context file {}: {why}", file.display()))
                .hint("context files are regular files inside the repository, which --repo names")
        };
        // Every component is looked at: a link anywhere on the way could lead out of the repository.
        let mut walked = repo.to_owned();
        for part in file.components() {
            walked.push(part);
            let found =
                std::fs::symlink_metadata(&walked).map_err(|error| fail(&error.to_string()))?;
            if found.is_symlink() {
                return Err(fail("is, or stands behind, a symbolic link"));
            }
        }
        let found = std::fs::symlink_metadata(&path).map_err(|error| fail(&error.to_string()))?;
        if !found.is_file() {
            return Err(fail("is no regular file"));
        }
        if std::os::unix::fs::MetadataExt::nlink(&found) > 1 {
            return Err(fail("has more than one link"));
        }
        if found.len() > MAX_BYTES {
            return Err(fail("is longer than 262144 bytes"));
        }
        let text = std::fs::read_to_string(&path).map_err(|error| fail(&error.to_string()))?;
        whole.push_str(text.trim_end());
        whole.push_str("\n\n");
    }
    Ok(whole)
}

/// Keeps what this process was started with: the context, and its digest.
fn launch(
    folder: &Path,
    epoch: u64,
    policy: &Policy,
    engine: &Arc<dyn Engine>,
    context: &str,
    at: guildhall_connector::moment::Wall,
) -> Result<(), Failure> {
    let folder = folder.join("launches");
    let launch = folder.join(epoch.to_string());
    let fail = |error| private_failure(ExitReason::Failed, "cannot keep the launch", &error);
    ensure_private_folder(&folder).map_err(fail)?;
    ensure_private_folder(&launch).map_err(fail)?;
    let digest = data_encoding::HEXLOWER.encode(&Sha256::digest(context.as_bytes()));
    let record = serde_json::json!({
        "v": 1,
        "at": at,
        "epoch": epoch,
        "policy": policy.digest.as_str(),
        "engine": engine.describe(),
        "contextSha256": digest,
    });
    replace(&launch.join("context.txt"), context.as_bytes()).map_err(fail)?;
    replace(&launch.join("launch.json"), record.to_string().as_bytes()).map_err(fail)
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
