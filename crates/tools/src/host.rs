//! The host of a process: what every turn's tools stand on.
//!
//! In: the judge, the policy, where its roots lie. Out: the tools of a turn. Never: a second host's
//! decisions, a root that was not there at the start.

use crate::{
    contract::Gate,
    ground::{Ground, HostError},
    pool::Pool,
    turn::{Turn, TurnTools},
};
use guildhall_authority::{
    offer::{ToolName, Toolset},
    permit::{Denied, Judge, Subject},
    scope::TurnScope,
};
use guildhall_binding::{Policy, RootWrite};
use guildhall_confine::{Refusal, RelPath, Swept, WalkBounds};
use guildhall_git::Trial;
use guildhall_web::{Fence, judge_search_base};
use std::{
    path::Path,
    sync::{Arc, Mutex, PoisonError},
};

/// Git verbs at once, over all turns: each may take minutes, and roots have one verb at a time anyway.
const GIT_THREADS: usize = 1;
/// Calls that work on files at once, over all turns. They take threads of the runtime's, which are few
/// and which engines and clean-up need as well; look-ups of names have their own.
const FILE_THREADS: usize = 2;

/// What a host is made of.
pub struct HostParts<'p> {
    /// The one judge of the process.
    pub judge: Judge,
    /// The policy at the start. A reload only narrows it.
    pub policy: &'p Arc<Policy>,
    /// The data root, which no root may reach.
    pub data_root: &'p Path,
    /// The home of the user, which no root may be.
    pub home: Option<&'p Path>,
    /// The way to the web; only a policy with web tools needs one.
    pub web: Option<Fence>,
    /// What git verbs need; only a policy with git in a root looks at it.
    pub git: GitParts<'p>,
}

/// What git verbs need beside the policy.
pub struct GitParts<'p> {
    /// A folder under the data root. Each root with git has one of its own name in it.
    pub state: &'p Path,
    /// The program that git asks for the credential: this one.
    pub credential_program: &'p Path,
    /// What tests may change; production has the default.
    pub trial: Trial,
}

/// How git stood in a root when the host began.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GitStand {
    /// The root's name.
    pub root: String,
    /// Git's place and version, such as `/usr/bin/git 2.47.3`.
    pub program: String,
    /// The server's address, or that there is none.
    pub remote: String,
    /// Why its verbs refuse, where they do.
    pub fault: Option<String>,
}

/// The tool host. One a process.
#[derive(Clone)]
pub struct Host(Arc<Shared>);

/// What turns share.
pub(crate) struct Shared {
    pub(crate) judge: Judge,
    pub(crate) grounds: Vec<Arc<Ground>>,
    pub(crate) pool: Pool,
    git_pool: Pool,
    pub(crate) web: Option<Fence>,
    /// In force now; a turn keeps the policy that it was claimed with.
    in_force: Mutex<Arc<Policy>>,
}

/// Whether a file holds what a call meant to put there, as a later process finds it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Holds {
    /// Exactly that.
    Yes,
    /// Something else, or there is no such file.
    No,
    /// It cannot be said.
    Unknown,
}

impl Host {
    /// Opens everything that tools need, once.
    ///
    /// # Errors
    /// The first root, or other setting, that cannot be served, by the binding's field.
    pub fn new(parts: HostParts<'_>) -> Result<Self, HostError> {
        let (data_root, home) = (parts.data_root, parts.home);
        let grounds = Ground::open_all(parts.policy, data_root, home, &parts.git)?;
        refuse_web(parts.policy, parts.web.as_ref())?;
        Ok(Self(Arc::new(Shared {
            judge: parts.judge,
            grounds,
            pool: Pool::new(FILE_THREADS),
            git_pool: Pool::new(GIT_THREADS),
            web: parts.web,
            in_force: Mutex::new(Arc::clone(parts.policy)),
        })))
    }

    /// How git stands in each root that has it.
    #[must_use]
    pub fn gits(&self) -> Vec<GitStand> {
        let grounds = self.0.grounds.iter();
        grounds.filter_map(|ground| ground.git_stand()).collect()
    }

    /// Begins a turn's tools: exactly those of its scope.
    #[must_use]
    pub fn turn(&self, scope: TurnScope, gate: Arc<dyn Gate>) -> TurnTools {
        TurnTools::of(Turn::begin(Arc::clone(&self.0), scope, gate))
    }

    /// A reload put another policy in force. Turns that run keep theirs, but what it does not let
    /// anybody change any more is not changed by them either, whatever a person has decided.
    pub fn reloaded(&self, policy: &Arc<Policy>) {
        let mut in_force = self
            .0
            .in_force
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        *in_force = Arc::clone(policy);
    }

    /// Removes temporary files that a crash left in roots that may be written: those that no process
    /// holds. Where a file system has no locks, only those older than `started`, in milliseconds since
    /// 1970. Gives each root's name with what was done.
    ///
    /// Blocking, some seconds at most for a large tree.
    #[expect(
        clippy::disallowed_methods,
        reason = "what a dead process left is nobody's effect"
    )]
    #[must_use]
    pub fn sweep(&self, started: i64) -> Vec<(String, Result<Swept, Refusal>)> {
        let writable = self
            .0
            .grounds
            .iter()
            .filter(|ground| ground.root.access() == guildhall_confine::Access::Write);
        writable
            .map(|ground| {
                let swept = ground.root.sweep(started, WalkBounds::default());
                (ground.name.clone(), swept)
            })
            .collect()
    }

    /// Whether the file at `path` of a root has this hex SHA-256: for a call that had begun when its
    /// process died.
    ///
    /// Blocking.
    #[must_use]
    pub fn holds(&self, root: &str, path: &str, after: &str) -> Holds {
        let Some(ground) = self.0.grounds.iter().find(|ground| ground.name == root) else {
            return Holds::Unknown;
        };
        let Ok(path) = RelPath::parse(path) else {
            return Holds::Unknown;
        };
        match ground.root.content_digest(&path) {
            Ok(digest) if crate::effect::hex(&digest) == after => Holds::Yes,
            Ok(_) | Err(Refusal::NotFound) => Holds::No,
            Err(_) => Holds::Unknown,
        }
    }
}

/// Refuses web settings that cannot be served.
fn refuse_web(policy: &Policy, fence: Option<&Fence>) -> Result<(), HostError> {
    let Some(web) = policy.tools.as_ref().and_then(|tools| tools.web.as_ref()) else {
        return Ok(());
    };
    let fault = |field: &str, why: String| HostError {
        field: format!("tools.web{field}"),
        name: "the web tools".to_owned(),
        why,
    };
    if fence.is_none() {
        return Err(fault("", "this process has no way to the web".to_owned()));
    }
    match &web.searxng {
        None => Ok(()),
        Some(base) => {
            judge_search_base(base).map_err(|refusal| fault(".searxng", refusal.to_string()))
        }
    }
}

impl Shared {
    /// Refuses a change that the policy in force does not let anybody make any more.
    pub(crate) fn refuse_narrowed(&self, subject: Subject<'_>) -> Result<(), Denied> {
        let Subject::Changes { root } = subject else {
            return Ok(());
        };
        let in_force = self.in_force.lock().unwrap_or_else(PoisonError::into_inner);
        let roots = in_force.tools.iter().flat_map(|tools| &tools.roots);
        match roots
            .into_iter()
            .find(|now| now.name == root)
            .map(|now| now.write)
        {
            None => Err(Denied::UnknownRoot),
            Some(RootWrite::No) => Err(Denied::RootReadonly),
            Some(RootWrite::Yes | RootWrite::Ask) => Ok(()),
        }
    }

    /// Where a tool's blocking work is done.
    pub(crate) fn pool_of(&self, tool: ToolName) -> &Pool {
        match tool.toolset() {
            Toolset::Git => &self.git_pool,
            Toolset::Files | Toolset::Workspace | Toolset::Web => &self.pool,
        }
    }

    /// The root of a name, where the turn's policy still has it as it was opened.
    pub(crate) fn ground(&self, scope: &TurnScope, name: &str) -> Option<&Arc<Ground>> {
        let tools = scope.policy().tools.as_ref()?;
        let declared = tools.roots.iter().find(|root| root.name == name)?;
        let ground = self.grounds.iter().find(|ground| ground.name == name)?;
        let writes = ground.root.access() == guildhall_confine::Access::Write;
        let fits = ground.path == declared.path && (writes || declared.write == RootWrite::No);
        fits.then_some(ground)
    }
}
