//! The format of `paths.jsonl`. An unknown field, step or tool fails the run.

use serde::Deserialize;
use std::collections::BTreeMap;

#[derive(Deserialize, Clone, Debug)]
#[serde(deny_unknown_fields)]
pub(super) struct Line {
    pub(super) id: String,
    #[expect(dead_code, reason = "for people")]
    class: String,
    pub(super) setup: Vec<Step>,
    pub(super) tool: Tool,
    pub(super) args: Args,
    pub(super) expect: Expect,
    pub(super) reason: String,
    #[serde(default)]
    pub(super) reason_any: Vec<String>,
    #[serde(default)]
    #[expect(dead_code, reason = "for people")]
    note: Option<String>,
    #[serde(default)]
    #[expect(dead_code, reason = "no decision is inverted here")]
    policy: bool,
    #[serde(default)]
    pub(super) expect_hits: Option<Vec<String>>,
    #[serde(default)]
    pub(super) expect_entries: Option<Vec<String>>,
    #[serde(default)]
    pub(super) expect_max_entries: Option<usize>,
    #[serde(default)]
    pub(super) expect_skipped: BTreeMap<String, usize>,
    #[serde(default)]
    pub(super) expect_absent: Vec<String>,
    #[serde(default)]
    pub(super) expect_unchanged: Vec<String>,
    #[serde(default)]
    pub(super) expect_after: BTreeMap<String, String>,
    #[serde(default)]
    pub(super) expect_mode: BTreeMap<String, String>,
    #[serde(default)]
    pub(super) expect_no_temp: bool,
    #[serde(default)]
    pub(super) expect_never: Option<String>,
    #[serde(default)]
    pub(super) expect_any: Vec<String>,
    #[serde(default)]
    pub(super) race: bool,
    #[serde(default)]
    pub(super) runs: Option<usize>,
    #[serde(default)]
    pub(super) deadline_ms: Option<u64>,
    #[serde(default)]
    pub(super) needs: Option<Needs>,
    #[serde(default)]
    pub(super) platform: Option<Platform>,
    #[serde(default)]
    #[expect(
        dead_code,
        reason = "approvals are another crate's; here a change is prepared, then published"
    )]
    approval: Option<Approval>,
}

#[derive(Deserialize, Clone, Copy, Debug, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub(super) enum Tool {
    ReadFile,
    ListDir,
    Search,
    WriteFile,
    CreateFile,
    EditFile,
    GitCommit,
    BindRoot,
}

#[derive(Deserialize, Clone, Copy, Debug, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub(super) enum Expect {
    Allow,
    Refuse,
}

#[derive(Deserialize, Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Needs {
    #[serde(rename = "root")]
    Root,
    #[serde(rename = "non-root")]
    NonRoot,
}

#[derive(Deserialize, Clone, Copy, Debug, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Platform {
    CaseInsensitive,
}

#[derive(Deserialize, Clone, Copy, Debug, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Approval {
    AllowOnce,
    Replayed,
    ForOtherText,
}

#[derive(Deserialize, Clone, Debug, Default)]
#[serde(deny_unknown_fields, default)]
pub(super) struct Args {
    pub(super) root: Option<String>,
    /// Text, or something else where the line is about arguments.
    pub(super) path: serde_json::Value,
    pub(super) text: Option<String>,
    pub(super) text_parts: Option<Vec<String>>,
    pub(super) size: Option<usize>,
    pub(super) old: Option<String>,
    pub(super) new: Option<String>,
    pub(super) new_parts: Option<Vec<String>>,
    pub(super) query: Option<String>,
    pub(super) query_parts: Option<Vec<String>>,
    pub(super) message: Option<String>,
    pub(super) message_parts: Option<Vec<String>>,
    pub(super) paths: Vec<String>,
    pub(super) name: Option<String>,
    pub(super) write: Option<bool>,
    pub(super) roots: Vec<RootArgs>,
    /// An argument that no tool knows.
    pub(super) follow: Option<bool>,
}

#[derive(Deserialize, Clone, Debug)]
#[serde(deny_unknown_fields)]
pub(super) struct RootArgs {
    #[expect(dead_code, reason = "names are the policy's")]
    name: String,
    pub(super) path: String,
    #[serde(default)]
    pub(super) write: bool,
}

impl Args {
    pub(super) fn text(&self) -> String {
        let sized = self.size.map(|size| "a".repeat(size));
        joined(&self.text, &self.text_parts)
            .or(sized)
            .expect("a text")
    }

    pub(super) fn new_text(&self) -> String {
        joined(&self.new, &self.new_parts).expect("a replacement")
    }

    pub(super) fn query(&self) -> String {
        joined(&self.query, &self.query_parts).expect("a query")
    }

    pub(super) fn message(&self) -> String {
        joined(&self.message, &self.message_parts).expect("a message")
    }

    pub(super) fn path(&self) -> &str {
        self.path.as_str().expect("a path that is text")
    }
}

fn joined(whole: &Option<String>, parts: &Option<Vec<String>>) -> Option<String> {
    whole
        .clone()
        .or_else(|| parts.as_ref().map(|parts| parts.concat()))
}

#[derive(Deserialize, Clone, Debug)]
#[serde(tag = "op", rename_all = "snake_case", deny_unknown_fields)]
pub(super) enum Step {
    Dir {
        path: String,
        mode: Option<String>,
    },
    File {
        path: String,
        text: Option<String>,
        text_parts: Option<Vec<String>>,
        b64: Option<String>,
        size: Option<u64>,
        fill: Option<String>,
        sparse: Option<bool>,
        mode: Option<String>,
    },
    Symlink {
        path: String,
        target: String,
    },
    Hardlink {
        path: String,
        to: String,
    },
    Fifo {
        path: String,
    },
    Socket {
        path: String,
    },
    Device {
        path: String,
        major: u32,
        minor: u32,
    },
    BindMount {
        path: String,
        source: String,
    },
    TmpfsMount {
        path: String,
    },
    RootOn {
        fs: String,
    },
    Append {
        path: String,
        size: usize,
    },
    Chmod {
        path: String,
        mode: String,
    },
    Replace {
        path: String,
        text: String,
    },
    Remove {
        path: String,
    },
    SwapSymlink {
        path: String,
        target: String,
    },
    Rename {
        path: String,
        to: String,
    },
    ReplaceRoot {},
    RemoveRoot {},
    ManyFiles {
        dir: String,
        count: usize,
        text: Option<String>,
    },
    Deep {
        path: String,
        depth: usize,
    },
    FileRawName {
        dir: String,
        name_b64: String,
    },
    GitInit {},
    ConfigReload {
        change: String,
    },
    Deny {},
    Timeout {},
    CallsBefore {
        #[expect(dead_code, reason = "calls are counted by the tool host")]
        count: usize,
    },
    Fault {
        call: String,
        errno: String,
    },
    Crash {
        at: String,
    },
    WatchTempHardlink {
        dir: String,
    },
    RaceExchange {
        a: String,
        b: String,
    },
    During {
        at: At,
        step: Box<Step>,
    },
}

#[derive(Deserialize, Clone, Copy, Debug, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub(super) enum At {
    AfterStat,
    AfterPrepare,
    BeforePublish,
}

pub(super) fn corpus() -> Vec<Line> {
    include_str!("../../../../testdata/corpora/paths.jsonl")
        .lines()
        .map(|line| serde_json::from_str(line).expect("a line of the corpus"))
        .collect()
}
