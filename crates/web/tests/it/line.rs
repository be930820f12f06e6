//! The format of `urls.jsonl`. An unknown field, kind or part fails the run.

use serde::Deserialize;
use std::{collections::BTreeMap, net::IpAddr};

/// One line.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Line {
    pub(crate) id: String,
    pub(crate) kind: Kind,
    pub(crate) expect: Expect,
    pub(crate) reason: String,
    #[serde(default)]
    pub(crate) reason_any: Vec<String>,
    #[serde(default)]
    #[expect(dead_code, reason = "for people")]
    note: Option<String>,
    #[serde(default)]
    #[expect(dead_code, reason = "no decision is inverted here")]
    policy: bool,
    #[serde(default)]
    pub(crate) addr: Option<IpAddr>,
    #[serde(default)]
    pub(crate) url: String,
    #[serde(default)]
    pub(crate) resolve: BTreeMap<String, Vec<IpAddr>>,
    #[serde(default)]
    pub(crate) hops: Vec<Hop>,
    #[serde(default)]
    pub(crate) answers: Option<LookUps>,
    #[serde(default)]
    pub(crate) env: BTreeMap<String, String>,
    #[serde(default)]
    pub(crate) status: Option<u16>,
    #[serde(default)]
    pub(crate) headers: BTreeMap<String, String>,
    #[serde(default)]
    pub(crate) body: Option<String>,
    #[serde(default)]
    pub(crate) body_b64: Option<String>,
    #[serde(default)]
    pub(crate) body_size: Option<usize>,
    #[serde(default)]
    pub(crate) body_repeat: Option<Repeat>,
    #[serde(default)]
    pub(crate) body_bomb: Option<String>,
    #[serde(default)]
    pub(crate) header_flood: Option<Flood>,
    #[serde(default)]
    pub(crate) drip: Option<Drip>,
    #[serde(default)]
    pub(crate) raw: Option<String>,
    #[serde(default)]
    pub(crate) deadline_ms: Option<u64>,
    #[serde(default)]
    pub(crate) expect_connect: Option<IpAddr>,
    #[serde(default)]
    pub(crate) expect_lookups: Option<usize>,
    #[serde(default)]
    pub(crate) expect_text: Option<String>,
    #[serde(default)]
    pub(crate) expect_max_chars: Option<usize>,
    #[serde(default)]
    pub(crate) expect_absent: Vec<String>,
}

#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq, PartialOrd, Ord)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Kind {
    Address,
    Url,
    Redirect,
    Dns,
    Response,
    Env,
}

#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Expect {
    Allow,
    Refuse,
}

/// The Location headers of one answer.
#[derive(Clone, Debug, Deserialize)]
#[serde(untagged)]
pub(crate) enum Hop {
    One(String),
    Several(Vec<String>),
    None,
}

/// The answers of successive look-ups.
#[derive(Clone, Debug, Deserialize)]
#[serde(untagged)]
pub(crate) enum LookUps {
    InTurn(Vec<Vec<IpAddr>>),
    Named(Named),
}

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Named {
    Hang,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Repeat {
    pub(crate) text: String,
    pub(crate) count: usize,
}

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Flood {
    pub(crate) count: usize,
    pub(crate) size: usize,
}

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Drip {
    pub(crate) part: DripPart,
    pub(crate) ms: u64,
}

#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub(crate) enum DripPart {
    Headers,
    Body,
}

/// All lines of the corpus.
pub(crate) fn all() -> Vec<Line> {
    let text = include_str!("../../../../testdata/corpora/urls.jsonl");
    let lines = text.lines();
    lines
        .map(|line| serde_json::from_str(line).expect(line))
        .collect()
}
