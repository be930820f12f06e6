//! The scratch folder: a data root with a binding that fits the stand-in, and beside it a few files
//! for the tools. It is gone when the demo ends.
//!
//! In: the stand-in's ids. Out: a private folder with a binding, a token and files. Never: a folder
//! that somebody else's files are in.

use super::{BINDING, desk, pages::Pages};
use crate::{
    exit::{ExitReason, Failure},
    home::{Home, private_failure},
    seat,
};
use guildhall_journal::{ensure_private_folder, replace};
use guildhall_sim::Sim;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// Files that the seat may read.
const HANDBOOK: [(&str, &str); 2] = [
    ("welcome.md", include_str!("files/handbook/welcome.md")),
    (
        "tools/loans.md",
        include_str!("files/handbook/tools/loans.md"),
    ),
];
/// Files that it may change, after a person's Once.
const DESK: [(&str, &str); 1] = [("todo.md", include_str!("files/desk/todo.md"))];

/// The folder, and what happens to it at the end.
pub(super) struct Scratch {
    top: PathBuf,
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
        let (top, fate) = match keep {
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
        let occupied = std::fs::read_dir(&top).is_ok_and(|mut entries| entries.next().is_some());
        if occupied {
            let what = format!("{} is not empty", top.display());
            return Err(
                Failure::new(ExitReason::Usage, what).hint("--keep takes a new or an empty folder")
            );
        }
        ensure(&top)?;
        // Roots are named by their real path: a link on the way is a fault of a binding.
        let top = std::fs::canonicalize(&top).map_err(Failure::failed)?;
        let root = top.join("data");
        let made = Self { top, root, fate };
        for folder in ["data", "data/discord", "data/secrets", "files"] {
            ensure(&made.top.join(folder))?;
        }
        made.lay_out("handbook", &HANDBOOK)?;
        made.lay_out("desk", &DESK)?;
        Ok(made)
    }

    /// The whole folder.
    pub(super) fn top(&self) -> &Path {
        &self.top
    }

    /// The data root.
    pub(super) fn root(&self) -> &Path {
        &self.root
    }

    /// A folder of the tools.
    fn files(&self, name: &str) -> PathBuf {
        self.top.join("files").join(name)
    }

    fn lay_out(&self, name: &str, files: &[(&str, &str)]) -> Result<(), Failure> {
        for (path, text) in files {
            let file = self.files(name).join(path);
            let folder = file.parent().unwrap_or(&self.top);
            std::fs::create_dir_all(folder).map_err(Failure::failed)?;
            std::fs::write(&file, text).map_err(Failure::failed)?;
        }
        Ok(())
    }

    /// Writes the binding, the token and how the pages are reached. Where git can be used here, the
    /// desk gets it; where it cannot, the demo goes on without.
    pub(super) fn bind(&self, sim: &Sim, pages: &Pages, engine: Value) -> Result<(), Failure> {
        let secrets = self.root.join("secrets");
        keep(&secrets.join("bot.token"), sim.token().as_bytes())?;
        keep(&secrets.join("desk.token"), b"nobody-asks-for-it")?;
        let pages_known = serde_json::to_vec(pages.stand_in()).map_err(Failure::failed)?;
        keep(&self.stand_in(), &pages_known)?;
        let mut binding = self.binding(sim, pages, engine);
        if let Err(failure) = desk::make(&self.files("desk")) {
            tracing::warn!(why = failure.what, "the desk is without git");
            return self.write(&binding);
        }
        binding["tools"]["roots"][1]["git"] = json!({
            "branch": desk::BRANCH,
            "identity": "seat",
            "tokenFile": secrets.join("desk.token"),
            "author": "Seat <seat@example.org>",
        });
        self.write(&binding)?;
        let home = Home::find(Some(&self.root), None)?;
        home.make_folders(BINDING)?;
        if let Err(failure) = seat::host(&home, &home.policy(BINDING)?, Some(&self.stand_in())) {
            tracing::warn!(why = failure.what, "the desk is without git");
            binding["tools"]["roots"][1]
                .as_object_mut()
                .map(|desk| desk.remove("git"));
            self.write(&binding)?;
        }
        Ok(())
    }

    fn write(&self, binding: &Value) -> Result<(), Failure> {
        let text = serde_json::to_vec_pretty(binding).map_err(Failure::failed)?;
        keep(
            &self.root.join("discord").join(format!("{BINDING}.json")),
            &text,
        )
    }

    /// Where the seat reads how the demo's pages are reached.
    pub(super) fn stand_in(&self) -> PathBuf {
        self.root.join("stand-in.json")
    }

    fn binding(&self, sim: &Sim, pages: &Pages, engine: Value) -> Value {
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
            "tokenFile": self.root.join("secrets").join("bot.token"),
            "channels": channels,
            "users": users,
            "engine": engine,
            "limits": {"turnsPerDay": 10_000},
            "sessions": {"scope": "thread"},
            "tools": {
                "roots": [
                    {"name": "handbook", "path": self.files("handbook")},
                    {"name": "desk", "path": self.files("desk"), "write": "ask"},
                ],
                "web": {"searxng": pages.search()},
            },
            "discord": {"apiUrl": sim.origin()},
        })
    }
}

/// Removes the folder, unless it is to be kept.
impl Drop for Scratch {
    fn drop(&mut self) {
        if self.fate == Fate::Kept {
            return;
        }
        if let Err(error) = std::fs::remove_dir_all(&self.top) {
            tracing::warn!(%error, folder = %self.top.display(), "the scratch folder stays");
        }
    }
}

fn keep(file: &Path, bytes: &[u8]) -> Result<(), Failure> {
    replace(file, bytes)
        .map_err(|error| private_failure(ExitReason::Failed, "cannot lay out the demo", &error))
}

fn ensure(folder: &Path) -> Result<(), Failure> {
    ensure_private_folder(folder).map_err(|error| {
        private_failure(ExitReason::Failed, "cannot make the scratch folder", &error)
    })
}
