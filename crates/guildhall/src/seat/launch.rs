//! What a process was started with.
//!
//! In: the binding, the context files. Out: the system prompt that a person's turn begins with, kept
//! with its digest for each start. Never: a context file outside the repository, or through a link.

use crate::{
    exit::{ExitReason, Failure},
    home::private_failure,
};
use guildhall_authority::{
    offer::offered,
    scope::{Origin, TurnKey, TurnScope, workspace_of},
};
use guildhall_binding::Policy;
use guildhall_connector::moment::Wall;
use guildhall_engine::{EngineDescription, Ground, system_prompt};
use guildhall_journal::{ensure_private_folder, replace};
use guildhall_tools::ToolSpec;
use sha2::{Digest as _, Sha256};
use std::{path::Path, sync::Arc};

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

/// One start of a binding.
pub(super) struct Launch<'a> {
    /// Which start.
    pub(super) epoch: u64,
    pub(super) policy: &'a Arc<Policy>,
    pub(super) engine: EngineDescription,
    /// The context files' text.
    pub(super) context: &'a str,
    pub(super) at: Wall,
}

impl Launch<'_> {
    /// Keeps the prompt, and its digest beside what else tells two starts apart.
    pub(super) fn keep(self, folder: &Path) -> Result<(), Failure> {
        let folder = folder.join("launches");
        let launch = folder.join(self.epoch.to_string());
        let fail = |error| private_failure(ExitReason::Failed, "cannot keep the launch", &error);
        ensure_private_folder(&folder).map_err(fail)?;
        ensure_private_folder(&launch).map_err(fail)?;
        let prompt = prompt(self.policy, self.context);
        let digest = data_encoding::HEXLOWER.encode(&Sha256::digest(prompt.as_bytes()));
        let record = serde_json::json!({
            "v": 1,
            "at": self.at,
            "epoch": self.epoch,
            "policy": self.policy.digest.as_str(),
            "engine": self.engine,
            "systemPromptSha256": digest,
        });
        replace(&launch.join("system-prompt.txt"), prompt.as_bytes()).map_err(fail)?;
        replace(&launch.join("launch.json"), record.to_string().as_bytes()).map_err(fail)
    }
}

/// What a turn of a person begins with that names no workspace.
fn prompt(policy: &Arc<Policy>, context: &str) -> String {
    let scope = TurnScope::of(
        TurnKey::new("launch"),
        Origin::User,
        None,
        workspace_of(policy, ""),
        Arc::clone(policy),
    );
    let specs: Vec<_> = offered(&scope)
        .into_iter()
        .map(|name| ToolSpec {
            name,
            description: "",
            schema: serde_json::Value::Null,
        })
        .collect();
    system_prompt(context, &Ground::of(&scope).words(&specs))
}
