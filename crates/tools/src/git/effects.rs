//! Git verbs, prepared and not done.
//!
//! In: what git prepared. Out: what the authority judges and a person is shown. Never: a verb that
//! could send something else than what its digest covers.

use super::Bound;
use crate::{
    effect::{Place, Target},
    shown,
};
use guildhall_authority::{
    ask::{Content, Shown},
    offer::ToolName,
    permit::{Effect, EffectDigest, Subject},
};
use guildhall_git::{PreparedCommit, PreparedPush};

/// Looks how a root stands.
pub(super) struct GitRead(pub(super) Bound);

/// Makes a commit and pushes it.
pub(super) struct CommitEffect {
    pub(super) bound: Bound,
    pub(super) prepared: PreparedCommit,
}

/// Pushes the branch.
pub(super) struct PushEffect {
    pub(super) bound: Bound,
    pub(super) prepared: PreparedPush,
}

/// Takes what the server has.
pub(super) struct PullEffect(pub(super) Bound);

/// Reserves an id.
pub(super) struct ReserveEffect {
    pub(super) bound: Bound,
    pub(super) prefix: String,
    pub(super) title: String,
}

impl Bound {
    fn changes(&self) -> Subject<'_> {
        Subject::Changes {
            root: &self.ground.name,
        }
    }

    /// Digest of a verb: the root, the branch, and the fields that it is about.
    fn digest(&self, verb: &str, fields: &[(&str, String)]) -> EffectDigest {
        let mut all: Vec<&[u8]> = vec![self.git.branch().as_bytes()];
        for (name, value) in fields {
            all.extend([name.as_bytes(), value.as_bytes()]);
        }
        Place::of(&self.ground).digest(verb, &all)
    }

    fn target(&self, target: String) -> Target {
        Target {
            root: Some(self.ground.name.clone()),
            target,
            after: None,
        }
    }

    /// What a person is shown of any verb.
    fn facts(&self) -> Vec<(String, String)> {
        let remote = self.git.remote().map(ToString::to_string);
        vec![
            ("root".to_owned(), self.ground.name.clone()),
            ("branch".to_owned(), shown::line(self.git.branch())),
            (
                "server".to_owned(),
                remote.map_or_else(
                    |_| "none that can be used".to_owned(),
                    |url| shown::line(&url),
                ),
            ),
        ]
    }
}

impl Effect for GitRead {
    fn tool(&self) -> ToolName {
        ToolName::GitStatus
    }

    fn subject(&self) -> Subject<'_> {
        Subject::Reads {
            root: &self.0.ground.name,
        }
    }

    fn digest(&self) -> EffectDigest {
        self.0.digest("git status", &[])
    }
}

impl Effect for CommitEffect {
    fn tool(&self) -> ToolName {
        ToolName::GitCommit
    }

    fn subject(&self) -> Subject<'_> {
        self.bound.changes()
    }

    fn digest(&self) -> EffectDigest {
        self.bound
            .digest("git commit", &self.prepared.digest_fields())
    }
}

impl CommitEffect {
    pub(super) fn target(&self) -> Target {
        let summary = self.prepared.summary();
        self.bound
            .target(format!("{} {}", summary.branch, summary.commit))
    }

    pub(super) fn card(&self) -> Shown {
        let summary = self.prepared.summary();
        let mut facts = self.bound.facts();
        facts.push(("message".to_owned(), shown::fact(&summary.message)));
        facts.push(("commit".to_owned(), summary.commit.to_string()));
        for file in &summary.files {
            let path = shown::fact(&file.path);
            facts.push((
                "file".to_owned(),
                match file.lines {
                    Some(_) => path,
                    // Its changes are not among those shown.
                    None => format!(
                        "{path}, no text: {} bytes, object {}",
                        file.bytes, file.blob
                    ),
                },
            ));
        }
        Shown {
            what: format!("Commit {} and push", count(summary.files.len(), "file")),
            facts,
            content: Some(Content {
                name: "commit.diff".to_owned(),
                text: summary.diff.as_str().to_owned(),
            }),
            read: Vec::new(),
        }
    }
}

impl Effect for PushEffect {
    fn tool(&self) -> ToolName {
        ToolName::GitPush
    }

    fn subject(&self) -> Subject<'_> {
        self.bound.changes()
    }

    fn digest(&self) -> EffectDigest {
        self.bound
            .digest("git push", &self.prepared.digest_fields())
    }
}

impl PushEffect {
    /// Whether the server has it all, by what was last heard of it: then nobody is asked.
    pub(super) fn is_idle(&self) -> bool {
        self.prepared.summary().ahead == Some(0)
    }

    pub(super) fn target(&self) -> Target {
        let summary = self.prepared.summary();
        self.bound
            .target(format!("{} {}", summary.branch, summary.commit))
    }

    pub(super) fn card(&self) -> Shown {
        let summary = self.prepared.summary();
        let mut facts = self.bound.facts();
        facts.push(("commit".to_owned(), summary.commit.to_string()));
        let ahead = summary.ahead.and_then(|ahead| usize::try_from(ahead).ok());
        let what = match ahead {
            Some(ahead) => format!("Push {}", count(ahead, "commit")),
            None => "Push the branch".to_owned(),
        };
        Shown {
            what,
            facts,
            content: Some(Content {
                name: "commits.txt".to_owned(),
                text: summary.commits.as_str().to_owned(),
            }),
            read: Vec::new(),
        }
    }
}

impl Effect for PullEffect {
    fn tool(&self) -> ToolName {
        ToolName::GitPull
    }

    fn subject(&self) -> Subject<'_> {
        self.0.changes()
    }

    fn digest(&self) -> EffectDigest {
        self.0.digest("git pull", &[])
    }
}

impl PullEffect {
    pub(super) fn target(&self) -> Target {
        self.0.target(self.0.git.branch().to_owned())
    }

    pub(super) fn card(&self) -> Shown {
        Shown {
            what: "Pull what the server has, fast-forward only".to_owned(),
            facts: self.0.facts(),
            ..Shown::default()
        }
    }
}

impl Effect for ReserveEffect {
    fn tool(&self) -> ToolName {
        ToolName::ReserveId
    }

    fn subject(&self) -> Subject<'_> {
        self.bound.changes()
    }

    fn digest(&self) -> EffectDigest {
        let fields = [
            ("prefix", self.prefix.clone()),
            ("title", self.title.clone()),
        ];
        self.bound.digest("reserve id", &fields)
    }
}

impl ReserveEffect {
    pub(super) fn target(&self) -> Target {
        self.bound.target(shown::line(&self.prefix))
    }

    pub(super) fn card(&self) -> Shown {
        let mut facts = self.bound.facts();
        facts.push(("title".to_owned(), shown::fact(&self.title)));
        Shown {
            what: format!("Reserve an id for {}", shown::line(&self.prefix)),
            facts,
            ..Shown::default()
        }
    }
}

fn count(number: usize, what: &str) -> String {
    if number == 1 {
        format!("1 {what}")
    } else {
        format!("{number} {what}s")
    }
}
