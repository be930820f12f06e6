//! What this machine says: context files, the engine, roots, keys, brakes.
//!
//! In: a checked policy, the disk. Out: facts. Never: a look through a link, a file's contents.

use super::Findings;
use crate::{
    exit::{ExitReason, Failure, chain},
    home::{Home, private_failure},
    seat,
};
use guildhall_authority::{offer::offered_to, scope::Origin};
use guildhall_binding::{Policy, Root, RootWrite, Standing, Tools};
use guildhall_engine::{EngineParts, Secret, build};
use guildhall_journal::{
    PrivateError, check_private,
    lock::{self, Holder, LockState},
    read_private,
};
use std::{path::Path, sync::Arc};

/// Longest key file that is looked at, in bytes: the readers of keys take far less.
const KEY_FILE_MAX_BYTES: u64 = 64 * 1024;

/// Looks at everything that needs no network.
pub(super) async fn look(home: &Home, policy: &Arc<Policy>, repo: &Path, findings: &mut Findings) {
    start(home, policy, findings);
    let context = seat::context(policy, repo);
    if let Some(context) = findings.take("context files", context) {
        let (count, bytes) = (policy.context_files.len(), context.len());
        findings.ok("context files", format!("{count} files, {bytes} bytes"));
        engine(home, policy, context, findings).await;
    }
    unserved(policy, findings);
    if let Some(tools) = &policy.tools {
        roots(policy, tools, findings);
        keys(tools, findings);
        host(home, policy, findings);
    }
}

/// Whether a start would be let through.
fn start(home: &Home, policy: &Policy, findings: &mut Findings) {
    let name = policy.name.as_str();
    if let Some(brake) = home.brakes(name).set() {
        let why = brake.why.unwrap_or_else(|| "no reason given".to_owned());
        findings.warn(
            "brakes",
            &format!("{} is set: {why}", brake.path.display()),
            "`run` refuses until that file is removed",
        );
    }
    match lock::inspect(&home.folder(name)) {
        Ok(LockState::Free) => {}
        Ok(LockState::Held {
            record,
            holder: Holder::Live,
        }) => findings.ok("run.lock", format!("process {} serves it", record.pid)),
        Ok(LockState::Held {
            holder: Holder::Dead(_),
            ..
        })
        | Ok(LockState::NoRecord) => findings.warn(
            "run.lock",
            "its owner is gone",
            &format!("`guildhall unlock {name}` clears it, and so does a supervised start"),
        ),
        Ok(LockState::Held {
            record,
            holder: Holder::Unverifiable(_),
        }) => findings.warn(
            "run.lock",
            &format!("it cannot be known whether process {} holds it", record.pid),
            "`run` refuses until that process has ended",
        ),
        Ok(LockState::Unparsable(_) | LockState::NotAFolder | LockState::Unreadable(_)) => {
            findings.bad(
                "run.lock",
                &Failure::failed("what stands there cannot be understood")
                    .hint("look at the folder run.lock and its owner.json"),
            );
        }
        Err(error) => findings.bad(
            "data root",
            &private_failure(
                ExitReason::Invalid,
                "cannot use the binding's folder",
                &error,
            ),
        ),
    }
}

async fn engine(home: &Home, policy: &Policy, context: String, findings: &mut Findings) {
    let mut parts = EngineParts::new(home.sessions(policy.name.as_str()));
    parts.system_prompt = context;
    parts.search_path = std::env::var_os("PATH");
    parts.has_tools = policy.tools.is_some();
    let variable = policy.engine.key_env.as_deref();
    parts.key_env_value = variable
        .and_then(|name| std::env::var(name).ok())
        .and_then(|value| Secret::new(&value).ok());
    let made = home.make_folders(policy.name.as_str());
    let built = made.and_then(|()| {
        build(&policy.engine, parts).map_err(|error| Failure::invalid(chain(&error)))
    });
    let Some(engine) = findings.take("engine", built) else {
        return;
    };
    let checked = engine.check().await.map_err(Failure::failed);
    if findings.take("engine", checked).is_some() {
        let told = engine.describe();
        let model = told
            .model
            .as_deref()
            .map(|model| format!(", model {model}"));
        findings.ok(
            "engine",
            format!("{}{}", told.kind, model.unwrap_or_default()),
        );
    }
}

/// Settings that have no effect.
fn unserved(policy: &Policy, findings: &mut Findings) {
    for found in crate::unserved::unserved(policy) {
        findings.warn(found.setting, found.what, found.hint);
    }
}

fn roots(policy: &Policy, tools: &Tools, findings: &mut Findings) {
    for root in &tools.roots {
        let about = format!("root {}", root.name);
        match root_fault(root) {
            None => findings.ok(&about, root.path.display()),
            Some((what, hint)) => {
                let what = format!("{} {what}", root.path.display());
                findings.bad(&about, &Failure::invalid(what).hint(hint));
            }
        }
    }
    let has_operator = policy
        .users
        .values()
        .any(|user| user.standing == Standing::Operator);
    let workspaces = tools
        .roots
        .iter()
        .filter(|root| root.write == RootWrite::Ask);
    for root in workspaces.filter(|_| !has_operator) {
        findings.warn(
            &format!("root {}", root.name),
            "it is a workspace, and no listed user is an operator: every write is denied",
            "give somebody \"operator\": true in users, so that they can allow a write",
        );
    }
}

/// Opens what `run` would open: roots that reach each other, git that is not there, a search service
/// that may not be asked.
fn host(home: &Home, policy: &Arc<Policy>, findings: &mut Findings) {
    let made = home.make_folders(policy.name.as_str());
    let opened = made.and_then(|()| seat::host(home, policy, None));
    let opened = findings.take("tools", opened);
    if opened.is_some() {
        let names: Vec<_> = offered_to(policy, Origin::User)
            .into_iter()
            .map(|name| name.as_str())
            .collect();
        findings.ok("tools", names.join(", "));
    }
    for git in opened.iter().flat_map(|(host, _)| host.gits()) {
        let about = format!("root {}, git", git.root);
        match git.fault {
            None => findings.ok(&about, format!("{}, {}", git.program, git.remote)),
            Some(fault) => findings.warn(
                &about,
                &fault,
                "its git verbs refuse until that is mended; everything else works",
            ),
        }
    }
}

/// What is wrong with a root on disk, and what to do.
fn root_fault(root: &Root) -> Option<(String, &'static str)> {
    let found = match std::fs::symlink_metadata(&root.path) {
        Ok(found) => found,
        Err(error) => {
            let hint = "make the folder, or correct tools.roots in the binding";
            return Some((format!("cannot be used: {error}"), hint));
        }
    };
    if found.is_symlink() {
        let hint = "name the folder that it points to: a link could be pointed elsewhere";
        return Some(("is a symbolic link".to_owned(), hint));
    }
    if !found.is_dir() {
        return Some(("is no folder".to_owned(), "a root is a folder"));
    }
    match std::fs::canonicalize(&root.path) {
        Ok(real) if real == root.path => {}
        Ok(real) => {
            let hint =
                "write that path into the binding: a link on the way could be pointed elsewhere";
            return Some((
                format!("stands behind a link: it is {}", real.display()),
                hint,
            ));
        }
        Err(error) => {
            return Some((
                format!("cannot be used: {error}"),
                "look at its permissions",
            ));
        }
    }
    let (needs, words) = match root.write {
        RootWrite::No => (
            rustix::fs::Access::READ_OK | rustix::fs::Access::EXEC_OK,
            "may not be read by this user",
        ),
        RootWrite::Yes | RootWrite::Ask => (
            rustix::fs::Access::READ_OK
                | rustix::fs::Access::EXEC_OK
                | rustix::fs::Access::WRITE_OK,
            "may not be written by this user",
        ),
    };
    rustix::fs::access(&root.path, needs)
        .err()
        .map(|_| (words.to_owned(), "change the folder's owner or mode"))
}

/// Files with keys that tools read: private, and there.
fn keys(tools: &Tools, findings: &mut Findings) {
    for root in &tools.roots {
        if let Some(git) = &root.git {
            let about = format!("root {}, git token file", root.name);
            file(
                &about,
                &git.token_file,
                check_private(&git.token_file),
                findings,
            );
        }
    }
    if let Some(records) = &tools.setspark {
        let read = read_private(&records.key_file, KEY_FILE_MAX_BYTES).map(drop);
        file("tools.setspark key file", &records.key_file, read, findings);
    }
}

fn file(about: &str, path: &Path, looked: Result<(), PrivateError>, findings: &mut Findings) {
    let looked =
        looked.map_err(|error| private_failure(ExitReason::Invalid, "cannot be used", &error));
    if findings.take(about, looked).is_some() {
        findings.ok(about, path.display());
    }
}
