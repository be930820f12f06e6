//! A line of the corpus; whatever is not known fails.

use serde::Deserialize;
use std::fs;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Line {
    pub(super) id: String,
    pub(super) title: String,
    pub(super) setup: Vec<Step>,
    triggers: Vec<String>,
    #[expect(dead_code, reason = "what an unprotected run shows, in words")]
    effect: String,
    pub(super) expect: Expect,
    #[expect(dead_code, reason = "a recommendation, in words")]
    how: String,
    pub(super) reason: String,
    #[expect(
        dead_code,
        reason = "what others saw, in words; the control sees for itself"
    )]
    #[serde(default)]
    measured: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Expect {
    Refuse,
    Neutralise,
}

#[derive(Debug, Deserialize)]
#[serde(tag = "op", rename_all = "snake_case", deny_unknown_fields)]
pub(super) enum Step {
    Config {
        file: String,
        key: String,
        value: String,
    },
    Write {
        path: String,
        text: String,
        mode: String,
    },
    CommitFile {
        path: String,
        text: String,
    },
    Move {
        from: String,
        to: String,
    },
    Symlink {
        path: String,
        target: String,
    },
    Server {
        status: u16,
        location: String,
    },
    Submodule {
        path: String,
    },
    NestedRepo {
        path: String,
    },
    BareRepo {
        path: String,
    },
    DropObject {
        rev: String,
    },
    Chown {
        path: String,
        user: String,
    },
    IndexFlag {
        path: String,
        flag: String,
    },
    UpstreamCommit {
        symlink: Option<String>,
        target: Option<String>,
        path: Option<String>,
    },
    ReplaceWithSymlink {
        path: String,
        target: String,
    },
    Stage {
        path: String,
    },
}

/// Our verb for a trigger of the corpus. There is no verb for a difference, a log or a fetch alone:
/// a state and a pull stand for them.
const VERBS: [(&str, &str); 13] = [
    ("status", "status"),
    ("status with cwd dir/x", "status"),
    ("diff", "status"),
    ("log", "status"),
    ("show", "status"),
    ("clone --recurse-submodules", "status"),
    ("commit", "commit"),
    ("commit --trailer", "commit"),
    ("fetch", "pull"),
    ("pull", "pull"),
    ("push", "push"),
    ("push without remote", "push"),
    ("commit paths", "commit"),
];

impl Line {
    /// The verbs that reach it.
    pub(super) fn verbs(&self) -> Vec<&'static str> {
        let verb = |trigger: &String| {
            let name = trigger.split(" [").next().unwrap_or(trigger);
            let known = VERBS.iter().find(|(of, _)| *of == name);
            known.expect(name).1
        };
        let mut verbs: Vec<_> = self.triggers.iter().map(verb).collect();
        verbs.sort_unstable();
        verbs.dedup();
        verbs
    }

    /// The paths that are committed.
    pub(super) fn paths(&self) -> Vec<String> {
        let named = self
            .triggers
            .iter()
            .find_map(|t| t.strip_prefix("commit paths "));
        match named {
            Some(list) => serde_json::from_str(list).expect("a list of paths"),
            None => vec!["a.txt".to_owned()],
        }
    }
}

pub(super) fn corpus() -> Vec<Line> {
    let file = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../testdata/corpora/git-hostile.jsonl"
    );
    let text = fs::read_to_string(file).expect("the corpus");
    let lines = text.lines();
    lines
        .map(|line| serde_json::from_str(line).expect(line))
        .collect()
}
