//! What a seat's tools stand on, put together once.
//!
//! In: the policy, the data root, the demo's stand-in where there is one. Out: the tool host and the
//! book of its asks. Never: a tool that the binding does not enable, a second host in one seat.

use super::stand_in::StandIn;
use crate::{
    exit::{ExitReason, Failure},
    home::{self, Home, private_failure},
};
use guildhall_authority::{ask::AskBook, permit};
use guildhall_binding::Policy;
use guildhall_journal::{check_private, ensure_private_folder};
use guildhall_tools::{GitParts, Host, HostParts};
use guildhall_web::{Fence, FenceParts};
use std::{env, path::Path, sync::Arc};

/// Opens everything that the binding's tools need.
///
/// # Errors
/// The first field of the binding that cannot be served, with what to do.
pub(crate) fn host(
    home: &Home,
    policy: &Arc<Policy>,
    stand_in: Option<&Path>,
) -> Result<(Host, AskBook), Failure> {
    let (judge, book) = permit::found();
    for root in policy.tools.iter().flat_map(|tools| &tools.roots) {
        if let Some(git) = &root.git {
            check_private(&git.token_file).map_err(|error| {
                let what = format!("cannot use the git token of root {}", root.name);
                private_failure(ExitReason::Invalid, &what, &error)
            })?;
        }
    }
    let git_state = home.folder(policy.name.as_str()).join("git");
    if has_git(policy) {
        ensure_private_folder(&git_state).map_err(|error| {
            private_failure(ExitReason::Failed, "cannot make the folder of git", &error)
        })?;
    }
    let program = env::current_exe()
        .map_err(|error| Failure::failed(format!("cannot find this program: {error}")))?;
    let user_home = env::var_os("HOME").map(std::path::PathBuf::from);
    let host = Host::new(HostParts {
        judge,
        policy,
        data_root: home.root(),
        home: user_home.as_deref(),
        web: web(policy, stand_in)?,
        git: GitParts {
            state: &git_state,
            credential_program: &program,
            trial: guildhall_git::Trial::default(),
        },
    })
    .map_err(|error| {
        Failure::invalid(error.to_string())
            .hint("correct that field of the binding, or what it names on this machine")
    })?;
    Ok((host, book))
}

/// Has every look at what tools read and write, and at what is said, know this binding's secrets by
/// value. One that is exchanged later is known from the next reload on.
pub(super) fn know_secrets(policy: &Policy) {
    let secrets = home::secrets(policy);
    guildhall_confine::know_secrets(secrets.iter().map(String::as_str));
}

fn has_git(policy: &Policy) -> bool {
    let roots = policy.tools.iter().flat_map(|tools| &tools.roots);
    roots.into_iter().any(|root| root.git.is_some())
}

fn web(policy: &Policy, stand_in: Option<&Path>) -> Result<Option<Fence>, Failure> {
    let enabled = policy
        .tools
        .as_ref()
        .is_some_and(|tools| tools.web.is_some());
    match (enabled, stand_in) {
        (false, _) => Ok(None),
        (true, None) => Ok(Some(Fence::new(FenceParts::system()))),
        (true, Some(file)) => StandIn::read(file)?.fence().map(Some),
    }
}
