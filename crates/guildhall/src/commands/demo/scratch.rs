//! The scratch data root: a binding that fits the stand-in, gone when the demo ends.
//!
//! In: the stand-in's ids. Out: a private folder with a binding and a token. Never: a folder that
//! somebody else's files are in.

use super::BINDING;
use crate::{
    exit::{ExitReason, Failure},
    home::private_failure,
};
use guildhall_journal::{ensure_private_folder, replace};
use guildhall_sim::Sim;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// The folder, and what happens to it at the end.
pub(super) struct Scratch {
    root: PathBuf,
    fate: Fate,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Fate {
    Removed,
    Kept,
}

impl Scratch {
    /// Makes the folder: `keep`, or a fresh one among the temporary files.
    pub(super) fn make(keep: Option<Option<&Path>>) -> Result<Self, Failure> {
        let (root, fate) = match keep {
            Some(Some(folder)) => (folder.to_owned(), Fate::Kept),
            kept => {
                let name = format!(
                    "guildhall-demo-{}-{:08x}",
                    std::process::id(),
                    fastrand::u32(..)
                );
                let fate = if kept.is_some() {
                    Fate::Kept
                } else {
                    Fate::Removed
                };
                (std::env::temp_dir().join(name), fate)
            }
        };
        let occupied = std::fs::read_dir(&root).is_ok_and(|mut entries| entries.next().is_some());
        if occupied {
            let what = format!("{} is not empty", root.display());
            return Err(
                Failure::new(ExitReason::Usage, what).hint("--keep takes a new or an empty folder")
            );
        }
        let root = std::path::absolute(&root).unwrap_or(root);
        for folder in [root.clone(), root.join("discord"), root.join("secrets")] {
            ensure_private_folder(&folder).map_err(|error| {
                private_failure(ExitReason::Failed, "cannot make the scratch folder", &error)
            })?;
        }
        Ok(Self { root, fate })
    }

    pub(super) fn root(&self) -> &Path {
        &self.root
    }

    /// Writes the binding and the token.
    pub(super) fn bind(&self, sim: &Sim, engine: Value) -> Result<(), Failure> {
        let fail = |error| private_failure(ExitReason::Failed, "cannot write the binding", &error);
        let token = self.root.join("secrets").join("bot.token");
        replace(&token, sim.token().as_bytes()).map_err(fail)?;
        let text =
            serde_json::to_vec_pretty(&binding(sim, &token, engine)).map_err(Failure::failed)?;
        let file = self.root.join("discord").join(format!("{BINDING}.json"));
        replace(&file, &text).map_err(fail)
    }
}

/// Removes the folder, unless it is to be kept.
impl Drop for Scratch {
    fn drop(&mut self) {
        if self.fate == Fate::Kept {
            return;
        }
        if let Err(error) = std::fs::remove_dir_all(&self.root) {
            tracing::warn!(%error, folder = %self.root.display(), "the scratch folder stays");
        }
    }
}

fn binding(sim: &Sim, token: &Path, engine: Value) -> Value {
    let channels: Vec<_> = sim
        .channels()
        .into_iter()
        .filter(|channel| ["general", "help", "questions"].contains(&channel.name.as_str()))
        .map(|channel| json!({"id": channel.id, "name": channel.name, "mode": "open"}))
        .collect();
    let users: Vec<_> = sim
        .users()
        .into_iter()
        .filter(|user| user.name != "Eve")
        .map(|user| match user.name.as_str() {
            "Olga" => json!({"id": user.id, "name": user.name, "operator": true}),
            _ => json!({"id": user.id, "name": user.name}),
        })
        .collect();
    json!({
        "bindingVersion": 1,
        "name": BINDING,
        "seat": "Seat",
        "guildId": sim.guild(),
        "guildName": "Guildhall",
        "botUserId": sim.bot(),
        "tokenFile": token,
        "channels": channels,
        "users": users,
        "engine": engine,
        "limits": {"turnsPerDay": 10_000},
        "sessions": {"scope": "thread"},
        "discord": {"apiUrl": sim.origin()},
    })
}
