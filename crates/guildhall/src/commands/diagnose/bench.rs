//! The scratch workspace of a diagnosis, and tools over it.
//!
//! In: the binding's policy, of which the engine's part counts. Out: the workspace's four tools, with
//! an operator who allows every change, or for one task denies each. Never: a folder of the binding,
//! a card, a record.

use crate::{
    exit::{ExitReason, Failure},
    home::private_failure,
};
use guildhall_authority::{
    ask::{Answer, AskBook, AskSpec, Decision},
    call::{CallBegun, CallEnded},
    permit,
    scope::{Origin, Requester, TurnKey, TurnScope},
};
use guildhall_binding::{Platform, Policy, Root, RootWrite, Tools};
use guildhall_engine::diagnose::{FILE, Scratch, Task};
use guildhall_journal::ensure_private_folder;
use guildhall_tools::{CallTools, Gate, GateClosed, GitParts, Host, HostParts, Work};
use std::{
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
};

/// The workspace's name towards the model.
const WORKSPACE: &str = "scratch";
/// Largest file that a task takes, in bytes, and calls of one: far more than the tasks need.
const FILE_MAX_BYTES: u64 = 64 * 1024;
const CALLS_MAX_COUNT: u32 = 8;

/// A scratch folder, its tools, and who allows what.
pub(super) struct Bench {
    folder: Folder,
    policy: Arc<Policy>,
    host: Host,
    book: Arc<Mutex<AskBook>>,
}

/// A folder that goes with its owner.
struct Folder(PathBuf);

impl Drop for Folder {
    fn drop(&mut self) {
        if let Err(error) = std::fs::remove_dir_all(&self.0) {
            tracing::warn!(%error, folder = %self.0.display(), "the scratch folder stays");
        }
    }
}

impl Bench {
    /// Makes the folder and opens it.
    pub(super) fn new(policy: &Arc<Policy>) -> Result<Self, Failure> {
        let name = format!(
            "guildhall-diagnose-{}-{:08x}",
            std::process::id(),
            fastrand::u32(..)
        );
        // Roots are named by their real path.
        let among = std::fs::canonicalize(std::env::temp_dir()).map_err(Failure::failed)?;
        let folder = among.join(name);
        make(&folder)?;
        let folder = Folder(folder);
        let inside = |name: &str| folder.0.join(name);
        for name in ["workspace", "sessions", "state"] {
            make(&inside(name))?;
        }
        let policy = Arc::new(on_the_bench(policy, inside("workspace")));
        let (judge, book) = permit::found();
        let host = Host::new(HostParts {
            judge,
            policy: &policy,
            data_root: &inside("state"),
            home: None,
            web: None,
            git: GitParts {
                state: &inside("state"),
                credential_program: Path::new("/dev/null"),
                trial: guildhall_git::Trial::default(),
            },
        })
        .map_err(|error| Failure::failed(format!("the scratch workspace: {error}")))?;
        Ok(Self {
            folder,
            policy,
            host,
            book: Arc::new(Mutex::new(book)),
        })
    }

    /// Where the engine keeps what it has to keep.
    pub(super) fn sessions(&self) -> PathBuf {
        self.folder.0.join("sessions")
    }
}

fn make(folder: &Path) -> Result<(), Failure> {
    ensure_private_folder(folder).map_err(|error| {
        private_failure(ExitReason::Failed, "cannot make the scratch folder", &error)
    })
}

/// The policy with one workspace and nothing else to work on.
fn on_the_bench(policy: &Policy, workspace: PathBuf) -> Policy {
    let root = Root {
        name: WORKSPACE.to_owned(),
        path: workspace,
        write: RootWrite::Ask,
        git: None,
    };
    Policy {
        tools: Some(Tools {
            roots: vec![root],
            max_file_bytes: FILE_MAX_BYTES,
            max_calls_per_turn: CALLS_MAX_COUNT,
            web: None,
            setspark: None,
        }),
        platform_toolsets: [(Platform::Discord, ["workspace".to_owned()].into())].into(),
        ..policy.clone()
    }
}

impl Scratch for Bench {
    fn tools(&self, task: Task) -> Arc<dyn CallTools> {
        // The table comes at the end; until then a person sees that something goes on.
        eprintln!("{}: {} ...", task.code(), task.shows());
        let requester = Requester {
            id: self.policy.bot,
            name: "diagnosis".to_owned(),
        };
        let scope = TurnScope::of(
            TurnKey::new(&format!("diagnose-{}", task.code())),
            Origin::User,
            Some(requester),
            Some(WORKSPACE.to_owned()),
            Arc::clone(&self.policy),
        );
        let gate = Operator {
            book: Arc::clone(&self.book),
            says: match task {
                Task::Refusal => Answer::Denied,
                Task::Create | Task::Edit | Task::Unicode | Task::ReadBack => Answer::Once,
            },
        };
        Arc::new(self.host.turn(scope, Arc::new(gate)))
    }

    fn holds(&self) -> Option<String> {
        std::fs::read_to_string(self.folder.0.join("workspace").join(FILE)).ok()
    }
}

/// Somebody who says the same to every ask of a task, and keeps no records.
struct Operator {
    book: Arc<Mutex<AskBook>>,
    says: Answer,
}

impl Gate for Operator {
    fn ask(&self, spec: AskSpec) -> Work<'_, Result<Decision, GateClosed>> {
        let mut book = self.book.lock().unwrap_or_else(PoisonError::into_inner);
        let decision = book
            .open(&spec)
            .ok()
            .and_then(|()| book.decide(spec.id, self.says));
        Box::pin(std::future::ready(decision.ok_or(GateClosed)))
    }

    fn begin(&self, _: CallBegun) -> Work<'_, Result<(), GateClosed>> {
        Box::pin(std::future::ready(Ok(())))
    }

    fn end(&self, _: CallEnded) {}
}
