//! A root with git: what the operator's policy says about it, held.
//!
//! In: the policy's values, once. Out: the handle whose methods are the verbs.
//! Never: a value from a call; another address than the first one that the root could be bound to.

use std::{
    fmt,
    path::{Path, PathBuf},
    sync::{Arc, Mutex},
};

use guildhall_confine::{Access, Refusal, Root};

use crate::{
    bound::Bound,
    keys::KeyCheck,
    private,
    programs::{OLDEST_GIT, Programs, version},
    refusal::{GitRefusal, GitVersion, RemoteFault},
    remote::RemoteUrl,
    spawn::{Cancel, Run, Spy, run},
    verb::Verb,
    words::{author, is_branch, is_identity},
};

/// Whether changes take the vault's locks and checks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Protocol {
    /// Git alone.
    Plain,
    /// The vault protocol.
    Vault,
}

/// What a root with git is made of: values of the operator's policy.
#[derive(Clone)]
pub struct GitSettings {
    /// The root, open for writing.
    pub root: Arc<Root>,
    /// Its absolute path, as the root was opened.
    pub path: PathBuf,
    /// A folder under the data root for this root's verbs alone; made when it is missing, mode 0700.
    pub state: PathBuf,
    /// The only branch that the verbs work on.
    pub branch: String,
    /// The seat's name at the server; it owns the vault's locks too.
    pub identity: String,
    /// Absolute path of the seat's token. It is handed on and never opened here.
    pub token_file: PathBuf,
    /// `Name <address>` of its commits.
    pub author: String,
    /// Whether the root has the vault protocol.
    pub protocol: Protocol,
    /// The program whose subcommand [`crate::CREDENTIAL_COMMAND`] calls [`crate::answer`].
    pub credential_program: PathBuf,
    /// The address that the credential is for; without it, what `remote.origin.url` was when the root
    /// was first opened, which is noted in `state`.
    pub remote: Option<String>,
    /// The programs to run.
    pub programs: Programs,
}

/// What tests may change about a root. Production has [`Trial::default`].
#[derive(Clone, Default)]
pub struct Trial {
    /// A certificate authority for a server of the test.
    pub ca_file: Option<PathBuf>,
    /// Sees every start of a program.
    pub spy: Option<Arc<dyn Spy>>,
    pub(crate) keys: KeyCheck,
}

impl Trial {
    /// Lets a repository have any key, so that a test sees what the private directory keeps away
    /// without the list.
    #[must_use]
    pub fn with_keys_unchecked(mut self) -> Self {
        self.keys = KeyCheck::Unchecked;
        self
    }
}

/// A root with git. Its verbs run one at a time.
#[derive(Clone)]
pub struct GitRoot(pub(crate) Arc<Held>);

pub(crate) struct Held {
    pub(crate) settings: GitSettings,
    pub(crate) trial: Trial,
    pub(crate) bound: Bound,
    /// Why the repository could not be served when the root was opened.
    fault: Option<GitRefusal>,
    version: GitVersion,
    /// One verb at a time.
    pub(crate) turn: Mutex<()>,
}

impl GitRoot {
    /// Opens a root with git: the programs are there, the settings fit, there is a repository, and the
    /// address of its origin is bound.
    ///
    /// A repository that cannot be served as it is now, or without an address that can be used, is
    /// opened: [`GitRoot::fault`] tells why, and its verbs refuse with the reason until a person mends
    /// it. One key in a configuration is no ground to keep a seat from everything else.
    ///
    /// # Errors
    /// [`GitRefusal::NoProgram`], [`GitRefusal::OldGit`], [`GitRefusal::OtherBranch`] for a branch or a
    /// name that git would take for something else, [`GitRefusal::Remote`] for settings with a bad
    /// address, [`GitRefusal::Owner`] for a state folder that others may read, a root without a
    /// repository, and what the system says.
    pub fn open(settings: GitSettings, cancel: &Cancel) -> Result<Self, GitRefusal> {
        Self::open_for_trial(settings, Trial::default(), cancel)
    }

    /// [`GitRoot::open`] as a test has it.
    ///
    /// # Errors
    /// As there.
    pub fn open_for_trial(
        settings: GitSettings,
        trial: Trial,
        cancel: &Cancel,
    ) -> Result<Self, GitRefusal> {
        let fits = is_branch(&settings.branch)
            && is_identity(&settings.identity)
            && author(&settings.author).is_some();
        if !fits {
            return Err(GitRefusal::OtherBranch);
        }
        if settings.root.access() != Access::Write {
            return Err(GitRefusal::Root(Refusal::RootReadonly));
        }
        if settings.protocol == Protocol::Vault && settings.programs.python.is_none() {
            return Err(GitRefusal::NoProgram("python3"));
        }
        private::open_state(&settings.state)?;
        let bound = match &settings.remote {
            Some(text) => Bound::given(RemoteUrl::parse(text).map_err(GitRefusal::Remote)?),
            None => Bound::default(),
        };
        let mut held = Held {
            settings,
            trial,
            bound,
            fault: None,
            version: OLDEST_GIT,
            turn: Mutex::new(()),
        };
        held.version = held.refuse_old_git(cancel)?;
        let bound = Verb::ground(&held, cancel).and_then(|verb| held.bind(&verb).map(drop));
        held.fault = match bound {
            Ok(()) => None,
            Err(refusal) if refusal.is_of_repository() => Some(refusal),
            Err(refusal) => return Err(refusal),
        };
        Ok(Self(Arc::new(held)))
    }

    /// Why the repository could not be served when the root was opened; its verbs say what is so now.
    #[must_use]
    pub fn fault(&self) -> Option<&GitRefusal> {
        self.0.fault.as_ref()
    }

    /// The git that serves it: where it is, and its version.
    #[must_use]
    pub fn program(&self) -> (&Path, GitVersion) {
        (&self.0.settings.programs.git, self.0.version)
    }

    /// The address that the credential is for.
    ///
    /// # Errors
    /// [`GitRefusal::Remote`] while the root is bound to none.
    pub fn remote(&self) -> Result<&RemoteUrl, GitRefusal> {
        let missing = GitRefusal::Remote(RemoteFault::Missing);
        self.0.bound.get().ok_or(missing)
    }

    /// The branch that the verbs work on.
    #[must_use]
    pub fn branch(&self) -> &str {
        &self.0.settings.branch
    }

    /// Whether the root has the vault protocol.
    #[must_use]
    pub fn protocol(&self) -> Protocol {
        self.0.settings.protocol
    }
}

impl fmt::Debug for GitRoot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("GitRoot")
            .field("branch", &self.branch())
            .field("protocol", &self.protocol())
            .finish_non_exhaustive()
    }
}

impl Held {
    pub(crate) fn spy(&self) -> Option<&dyn Spy> {
        self.trial.spy.as_deref()
    }

    /// Places of the host with the words that stand for them.
    pub(crate) fn places(&self) -> [(&Path, &'static str); 2] {
        [
            (&self.settings.path, "<root>"),
            (&self.settings.state, "<private>"),
        ]
    }

    /// The bound address; the first one is what the repository says.
    pub(crate) fn bind(&self, verb: &Verb<'_>) -> Result<&RemoteUrl, GitRefusal> {
        let settings = &self.settings;
        self.bound
            .bind(&settings.state, &settings.path, &verb.keys.origin)
    }

    fn refuse_old_git(&self, cancel: &Cancel) -> Result<GitVersion, GitRefusal> {
        let asked = Run {
            program: self.settings.programs.git.clone(),
            args: vec!["version".into()],
            env: vec![("LC_ALL".into(), "C.UTF-8".into())],
            folder: "/".into(),
            input: Vec::new(),
            keep: 256,
            deadline: crate::spawn::CHILD_MAX,
        };
        let said = run(&asked, cancel, self.spy())?;
        let found = version(&String::from_utf8_lossy(&said.out));
        match found {
            Some(found) if found >= OLDEST_GIT => Ok(found),
            Some(found) => Err(GitRefusal::OldGit(found)),
            None => Err(GitRefusal::NoProgram("git")),
        }
    }
}
