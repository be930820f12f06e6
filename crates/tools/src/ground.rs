//! The roots of a process: opened once, held.
//!
//! In: the policy's roots, the data root, the home. Out: each with its name and its descriptor, or
//! the field of the binding that is wrong and why. Never: a root that is opened in the middle of a
//! turn; a name that leads to another directory than at the start.

use crate::host::{GitParts, GitStand};
use guildhall_binding::{Policy, RootGit, RootWrite};
use guildhall_confine::{Access, Refusal, Root};
use guildhall_git::{Cancel, GitRefusal, GitRoot, GitSettings, Programs, Protocol};
use std::{
    fmt,
    path::{Path, PathBuf},
    sync::Arc,
};

/// A root that is held open.
pub(crate) struct Ground {
    pub(crate) name: String,
    pub(crate) path: PathBuf,
    pub(crate) root: Arc<Root>,
    pub(crate) git: Option<GitRoot>,
}

/// Why the host cannot begin: a field of the binding, and what is wrong with it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostError {
    /// The field's path, such as `tools.roots[1].path`.
    pub field: String,
    /// What it is about, by the name that the binding gives it.
    pub name: String,
    /// Why, in plain words.
    pub why: String,
}

impl fmt::Display for HostError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {} ({})", self.name, self.why, self.field)
    }
}

impl std::error::Error for HostError {}

impl Ground {
    /// Opens every root of a policy.
    pub(crate) fn open_all(
        policy: &Policy,
        data_root: &Path,
        home: Option<&Path>,
        git: &GitParts<'_>,
    ) -> Result<Vec<Arc<Self>>, HostError> {
        let roots = policy.tools.iter().flat_map(|tools| &tools.roots);
        let mut open: Vec<Arc<Self>> = Vec::new();
        for (index, declared) in roots.enumerate() {
            let fault = |refusal: Refusal| HostError {
                field: format!("tools.roots[{index}].path"),
                name: format!("root {}", declared.name),
                why: refusal.to_string(),
            };
            let access = match declared.write {
                RootWrite::No => Access::Read,
                RootWrite::Yes | RootWrite::Ask => Access::Write,
            };
            let root = Root::open_ambient(&declared.path, access).map_err(fault)?;
            if let Some(home) = home {
                root.refuse_home(home).map_err(fault)?;
            }
            root.refuse_data_root(data_root).map_err(fault)?;
            for other in &open {
                root.refuse_overlap(&other.root)
                    .map_err(|refusal| HostError {
                        why: format!("{refusal}; the other is {}", other.name),
                        ..fault(refusal)
                    })?;
            }
            let root = Arc::new(root);
            let git = match &declared.git {
                None => None,
                Some(settings) => {
                    let opened = open_git(declared, settings, &root, git);
                    Some(opened.map_err(|refusal| HostError {
                        field: format!("tools.roots[{index}].git"),
                        name: format!("root {}", declared.name),
                        why: refusal.text(),
                    })?)
                }
            };
            open.push(Arc::new(Self {
                name: declared.name.clone(),
                path: declared.path.clone(),
                root,
                git,
            }));
        }
        Ok(open)
    }

    /// How its git stood at the start, where it has git.
    pub(crate) fn git_stand(&self) -> Option<GitStand> {
        let git = self.git.as_ref()?;
        let (program, version) = git.program();
        let remote = git.remote().map(ToString::to_string);
        Some(GitStand {
            root: self.name.clone(),
            program: format!("{} {version}", program.display()),
            remote: remote.unwrap_or_else(|_| "no server".to_owned()),
            fault: git.fault().map(GitRefusal::text),
        })
    }

    /// Its git, where it has the vault protocol.
    pub(crate) fn vault(&self) -> Option<&GitRoot> {
        self.git
            .as_ref()
            .filter(|git| git.protocol() == Protocol::Vault)
    }
}

fn open_git(
    declared: &guildhall_binding::Root,
    settings: &RootGit,
    root: &Arc<Root>,
    parts: &GitParts<'_>,
) -> Result<GitRoot, GitRefusal> {
    let protocol = match &settings.protocol {
        None => Protocol::Plain,
        Some(_) => Protocol::Vault,
    };
    let settings = GitSettings {
        root: Arc::clone(root),
        path: declared.path.clone(),
        state: parts.state.join(&declared.name),
        branch: settings.branch.clone(),
        identity: settings.identity.clone(),
        token_file: settings.token_file.clone(),
        author: settings.author.clone(),
        protocol,
        credential_program: parts.credential_program.to_owned(),
        remote: None,
        programs: Programs::find()?,
    };
    GitRoot::open_for_trial(settings, parts.trial.clone(), &Cancel::new())
}
